"""Utilities that know nothing of the domain: progress, files, optional packages, process-wide state."""
