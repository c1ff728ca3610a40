"""Defects that are drawn on good images, to learn from."""
