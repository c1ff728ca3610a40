"""How much may be sent to a server at a time."""

MOST_MEBIBYTES = 32
"""MiB in one request, at most, by default."""
MOST_BYTES = MOST_MEBIBYTES * 2**20
