"""Scores of images: metrics by backend, their weights, and the pool of worker processes."""
