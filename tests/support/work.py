"""Functions for other processes, which can import them from here."""

import os
import time
from pathlib import Path

import numpy as np

import vwkde


def double(x):
    return 2 * x


def fail(x):
    raise ValueError(f"no {x}")


def slow_the_first_time(block, block_info=None, folder=None):
    """Write down the process that works on a block and wait, but only the first time."""
    place = Path(folder) / str(block_info[0]["chunk-location"][0])
    if not place.exists():
        place.write_text(str(os.getpid()))
        time.sleep(1.0)
    return block


def kl_of(seed):
    """Return the divergence of two small samples, which takes more than one thread to compute."""
    random = np.random.default_rng(seed)
    p, q = random.normal(size=(400, 3)), random.normal(0.5, 1.2, size=(300, 3))
    return vwkde.kl_divergence(p, q, n_threads=2).value


def score_of(path, image):
    """Return what the inspection in a model file says of an image."""
    from vwkde.inspection import SurfaceInspector

    return SurfaceInspector.load(path, n_threads=2).check(image).score
