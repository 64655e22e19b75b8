"""Joining copies of the project that came back from annotators."""
