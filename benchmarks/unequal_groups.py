"""Two-sample tests of rows in groups that differ in size: how often p ≤ 0.05, with and without a difference.

The groups share a normal shift with the standard deviation 0.3 or 1, in two columns. The last column of each case is
the test by permutations of whole groups, whatever their sizes.

    OMP_NUM_THREADS=1 python benchmarks/unequal_groups.py
"""

import argparse
import warnings
from contextlib import contextmanager

import numpy as np

import vwkde
from vwkde._answers import reassignments

CASES = {
    "30 of 10 rows, 300 rows of their own": ([10] * 30, [1] * 300),
    "10 of 10 rows, 100 rows of their own": ([10] * 10, [1] * 100),
    "20 of 20 rows, 10 of 4 rows": ([20] * 20, [4] * 10),
}
DIFFERENCES = ((0.3, 0.0), (1.0, 0.0), (0.3, 0.5))
"""Standard deviation of the groups' shifts, and the difference of the means of the first column."""


def main():
    """Print a line for each case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=400)
    repetitions = parser.parse_args().repetitions
    warnings.simplefilter("ignore")
    print(f"{'groups':<38}", *(f"sd {sd}, means {apart} apart, permuted".rjust(36) for sd, apart in DIFFERENCES))
    for name, sizes in CASES.items():
        shares = [(share(sizes, *each, repetitions), permuted_share(sizes, *each, repetitions)) for each in DIFFERENCES]
        print(f"{name:<38}", *(f"{found:.3f} {permuted:.3f}".rjust(36) for found, permuted in shares))


def share(sizes, deviation, apart, repetitions):
    """Return the share of tests with p ≤ 0.05."""
    found = 0
    for seed in range(repetitions):
        random = np.random.default_rng(seed)
        (p, group), (q, other) = (grouped(each, deviation, random) for each in sizes)
        q[:, 0] += apart
        groups = group, other + len(sizes[0])
        result = vwkde.two_sample_test(p, q, groups=groups, n_permutations=199, random_state=seed)
        found += result.p_value <= 0.05 + 1e-12
    return found / repetitions


def permuted_share(*case):
    """Return the same for a test in which all groups change places."""
    with all_alike():
        return share(*case)


@contextmanager
def all_alike():
    """Take all groups for similar in size."""
    given = reassignments._ALIKE
    reassignments._ALIKE = np.inf
    try:
        yield
    finally:
        reassignments._ALIKE = given


def grouped(sizes, deviation, random):
    """Return rows of groups that share a shift, and the group of each."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return random.normal(size=(len(sizes), 2))[group] * deviation + random.normal(size=(len(group), 2)), group


if __name__ == "__main__":
    main()
