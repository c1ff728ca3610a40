"""The size limit of one request."""

MOST_MEBIBYTES = 32
"""Default maximum size of a request, in MiB."""
MOST_BYTES = MOST_MEBIBYTES * 2**20
