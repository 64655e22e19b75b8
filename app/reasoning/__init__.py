"""What models said of their own pictures: read, searched, judged, and held against tags and scores."""
