"""What the program takes for failure modes: shown apart from tags, to be accepted or rejected."""
