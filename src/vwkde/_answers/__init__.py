"""What a fitted ratio says, and how far to trust it: divergences, errors, overlap, diagnostics."""
