"""The limits of a server: how much a client may send, and how long and how much memory its work may take."""

MOST_MEBIBYTES = 32
"""Default maximum size of a request, in MiB."""
MOST_BYTES = MOST_MEBIBYTES * 2**20
MOST_BYTES_PER_PIXEL, MOST_BYTES_BESIDE = 16, 4 * 2**20
"""Maximum size of an image file: twice that of the largest pixels, and something for previews and profiles."""
MOST_TABLE_BYTES = 8 * 2**20
"""Maximum size of a table of scores: some 40,000 images."""

MOST_SECONDS = 60
"""Default maximum time of a check, after the image is decoded; an addition may take as long for each good image."""
LONGEST_SECONDS = 86_400
"""Largest time limit that can be chosen, a day: without any limit, two images could keep everybody out for good."""
DECODE_SECONDS = 0.5
"""Maximum processor time to decode an image of one megapixel; larger ones get more in proportion."""
BUSY_FACTOR = 10.0
"""How much longer decoding may take by the clock, since other work takes processors, too."""
MOST_MEMORY = 2 * 2**30
"""Memory that a worker may use in addition to what it needs for itself and the model, in bytes."""

MOST_WAITING = 32
"""Maximum number of images that are checked or wait for it; further ones are refused with status 503."""
RETRY_SECONDS = 2
"""When a client that was refused should try again."""

MOST_CONNECTIONS = 256
"""Maximum number of connections. If there are more, the one whose client is slowest is closed."""
HEADER_SECONDS = 10.0
"""Time for the first part of a request, from the connection or from the last reply."""
REQUEST_SECONDS = 60.0
"""Time for a whole request to arrive, and for a reply to be taken."""
