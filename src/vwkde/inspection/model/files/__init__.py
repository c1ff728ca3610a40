"""Model files: how what was learnt is written, read and checked."""
