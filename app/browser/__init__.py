"""The list of runs: a tree by initial image, protocol and model."""
