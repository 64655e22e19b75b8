"""How far annotators agree, in a window beside the pictures."""
