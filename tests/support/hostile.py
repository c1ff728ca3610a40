"""What a hostile client might send, and what a task might do with it."""

import io
import os
import struct
import time
import zlib

import numpy as np
from PIL import Image


def jpeg_of_many_scans(side, scans):
    """Return a progressive JPEG whose last scan is repeated: each makes the decoder go over all pixels again."""
    file = io.BytesIO()
    Image.fromarray(np.zeros((side, side), np.uint8)).save(file, "JPEG", progressive=True, quality=30)
    data = file.getvalue()
    last, end = data.rfind(b"\xff\xda"), data.rfind(b"\xff\xd9")
    return data[:end] + data[last:end] * scans + data[end:]


def png_of_size(width, height):
    """Return a small PNG with a large image of zeros."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(bytes(height * (width + 1)), 9)
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def png_of_many_chunks(data, count):
    """Return a PNG with many empty chunks before its pixels."""
    empty = struct.pack(">I", 0) + b"teSt" + struct.pack(">I", zlib.crc32(b"teSt"))
    return data[:33] + empty * count + data[33:]


def answer(_, decoded, value):
    """Return the value: a task that goes well."""
    decoded()
    return value


def compute_while_decoding(*_):
    while True:
        pass


def sleep_while_decoding(*_):
    time.sleep(60)


def sleep_after_decoding(_, decoded):
    decoded()
    time.sleep(60)


def take_memory(_, decoded, size):
    decoded()
    return np.ones(size // 8).sum()


def end_the_process(_, decoded):
    decoded()
    os._exit(1)


def count_good(inspector, decoded):
    decoded()
    return len(inspector.names_)
