"""What a fitted ratio says, and how reliable it is: divergences, errors, overlap, diagnostics."""
