"""Producing runs: plans made from protocols, editors, and the executor that works plans off."""
