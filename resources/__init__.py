"""Files that ship with the program: icons, themes, weights, models and their credits."""
