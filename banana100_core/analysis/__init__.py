"""What a project's scores say: gaps, failures, and their spread over repeats."""
