"""Tags written to files for other programs, and brought in from them."""
