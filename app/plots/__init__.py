"""Curves of scores over steps, and the heat map of score gaps."""
