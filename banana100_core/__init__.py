"""Banana100 Inspector's core: projects, images, scores, runs and analyses, without a window."""
