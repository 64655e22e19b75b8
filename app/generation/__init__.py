"""Plan runs, start them and follow them."""
