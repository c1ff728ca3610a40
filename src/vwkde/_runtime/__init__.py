"""What any program needs, whatever it computes: progress, files, optional packages, state of the whole process."""
