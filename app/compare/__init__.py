"""Steps side by side: panes with one linked view, the step slider and the filmstrip."""
