"""Two samples and their files, for tests of data that are not in memory."""

import numpy as np

ROWS, COLUMNS = 700, 3


def samples(dtype=np.float64, rows=ROWS):
    random = np.random.default_rng(3)
    turn = random.normal(size=(COLUMNS, COLUMNS))
    p, q = random.normal(size=(rows, COLUMNS)) @ turn + 5, 0.7 * random.normal(size=(rows + 80, COLUMNS)) @ turn + 5.3
    return p.astype(dtype), q.astype(dtype)


def save_samples(folder):
    """Write both samples as NPY files, and return their paths."""
    paths = folder / "p.npy", folder / "q.npy"
    for path, sample in zip(paths, samples(), strict=True):
        np.save(path, sample)
    return paths
