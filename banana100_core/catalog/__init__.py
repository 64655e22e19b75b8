"""Data that the paper fixes, as TOML files and their loaders."""
