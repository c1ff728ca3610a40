"""Samples as they come in: checked, opened, read in pieces, and held as rows with weights."""
