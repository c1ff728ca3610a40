"""Input samples: checked, opened, read in pieces, and kept as rows with weights."""
