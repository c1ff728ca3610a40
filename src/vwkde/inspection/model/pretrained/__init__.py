"""Networks that others have trained."""
