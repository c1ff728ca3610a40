"""Rows that are not independent: exact and near copies, synthetic rows, groups (item 2)."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats
from sklearn.neighbors import NearestNeighbors

from scenarios.scenario import Floats, Random, Scenario, gaussians, kl

Change = Callable[[Floats, Random], Floats]


def scenarios() -> Iterator[Scenario]:
    yield changed("each row of P twice, 3-D, 300 rows", doubled, None, "1.77 ± 0.25")
    yield changed("both samples bootstrapped, 3-D, 500 rows", bootstrapped, bootstrapped, "1.07 ± 0.18", rows=500)
    yield changed("near copies of each row of P, 3-D, 300 rows", near_copies, None, "2.06")
    yield changed("30 % of P's rows are copies, 3-D, 700 rows", partly_doubled, None, "0.48", rows=700)
    yield changed("SMOTE in P, 3-D, 300 rows", smote, None, "0.94")
    yield changed("each row of both four times, 2-D, one apart", four_times, four_times, columns=2, distance=1.0)
    yield changed("each row of Q twice, 5-D, one apart", None, doubled, columns=5, distance=1.0)
    yield changed("P oversampled to balance, 4-D", oversampled, None, columns=4)
    yield changed("no copies at all, 3-D, 500 rows", None, None, rows=250)
    yield Scenario("counts, P = Q, 3 columns, 400 rows", 2, _counts(3.0, 3.0), 0.0, kl())
    yield Scenario("counts, Poisson 4 and 3, 2 columns, 400 rows", 2, _counts(4.0, 3.0, 2), _poisson(4.0, 3.0, 2), kl())


def changed(
    name: str,
    of_p: Change | None,
    of_q: Change | None,
    reported: str = "",
    *,
    columns: int = 3,
    rows: int = 300,
    distance: float = 0.0,
) -> Scenario:
    """Return Gaussians a distance apart with these many rows, some of which are copied; both end with equal sizes."""

    def draw(random: Random) -> tuple[Floats, Floats]:
        p, q = gaussians(columns, 4 * rows, distance)(random)
        p, q = (change(x[:rows], random) if change else x for change, x in ((of_p, p), (of_q, q)))
        least = min(len(p), len(q), 2 * rows)
        return p[:least], q[:least]

    return Scenario(name, 2, draw, distance**2 / 2, kl(), reported)


def doubled(x: Floats, random: Random) -> Floats:
    return random.permutation(np.concatenate([x, x]))


def four_times(x: Floats, random: Random) -> Floats:
    return random.permutation(np.repeat(x[: len(x) // 2], 4, axis=0))


def bootstrapped(x: Floats, random: Random) -> Floats:
    return x[random.integers(0, len(x), len(x))]


def near_copies(x: Floats, random: Random) -> Floats:
    return random.permutation(np.concatenate([x, x + 1e-4 * random.normal(size=x.shape)]))


def partly_doubled(x: Floats, random: Random) -> Floats:
    return random.permutation(np.concatenate([x, x[: 3 * len(x) // 7]]))


def oversampled(x: Floats, random: Random) -> Floats:
    """Return 100 rows drawn with replacement until there are 300, as one balances classes."""
    return np.concatenate([x[:100], x[random.integers(0, 100, 200)]])


def smote(x: Floats, random: Random) -> Floats:
    """Return the rows and as many on the lines between a row and one of its five neighbours (Chawla et al. 2002)."""
    near = NearestNeighbors(n_neighbors=6).fit(x).kneighbors(x, return_distance=False)
    other = x[near[np.arange(len(x)), random.integers(1, 6, len(x))]]
    return np.concatenate([x, x + random.uniform(size=(len(x), 1)) * (other - x)])


def _counts(p: float, q: float, columns: int = 3) -> Callable[[Random], tuple[Floats, Floats]]:
    """Return what draws counts, whose copies are genuine: both samples have them."""
    size = (400, columns)
    return lambda random: (random.poisson(p, size).astype(float), random.poisson(q, size).astype(float))


def _poisson(p: float, q: float, columns: int) -> float:
    k = np.arange(100)
    return float(columns * np.sum(stats.poisson.pmf(k, p) * (k * np.log(p / q) - p + q)))
