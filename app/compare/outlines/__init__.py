"""Outlines of regions on the pictures: which there are, how they are drawn, and how they are edited."""
