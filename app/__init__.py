"""The window of Banana100 Inspector: it shows and asks; `banana100_core` decides and stores."""
