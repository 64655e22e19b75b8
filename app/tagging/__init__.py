"""Tags: which failure mode holds in a run, from which step on."""
