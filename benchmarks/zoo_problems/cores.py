"""What a problem is before its columns are dressed: two densities and the exact log ratio at every row drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit, logsumexp

from zoo_problems.densities import Density, Floats, Random
from zoo_problems.samplers import Sampler
from zoo_problems.tilts import Tilt

BLOCKS = 20
"""Independent parts of a reference, whose scatter tells the error of what is computed from it."""
_CHUNK = 20_000
"""Rows that are drawn at a time."""


class Rows(NamedTuple):
    """Rows of one side, with the log ratio at each of them."""

    x: Floats
    log_ratio: Floats


class Reference(NamedTuple):
    """Log ratios of many rows, and the weights with which they stand for P and for Q; they add up to about one."""

    log_ratio: Floats
    p_weight: Floats
    q_weight: Floats


class Sample(NamedTuple):
    """Rows of P and of Q, and more rows of either that no estimator is fitted to."""

    p: Rows
    q: Rows
    fresh_p: Rows
    fresh_q: Rows


class Core(Protocol):
    """Two densities with a known ratio."""

    def sample(self, rows: tuple[int, int], fresh: int, random: Random) -> Sample:
        """Return rows of P and of Q, which do not depend on how many fresh ones are asked for."""
        ...

    def references(self) -> list[Reference]:
        """Return independent references, or a single one that is exact."""
        ...


@dataclass(frozen=True)
class DensityPair:
    """Two densities in closed form; references have `reference_rows` rows in all, drawn from `seed`."""

    numerator: Density
    denominator: Density
    reference_rows: int
    seed: tuple[int, ...]

    def log_ratio(self, x: Floats) -> Floats:
        """Return the log ratio at points."""
        return self.numerator.log_density(x) - self.denominator.log_density(x)

    def sample(self, rows: tuple[int, int], fresh: int, random: Random) -> Sample:
        """Return rows of P and of Q."""
        drawn = [
            side.sample(count, random)
            for counts in (rows, (fresh, fresh))
            for side, count in zip((self.numerator, self.denominator), counts, strict=True)
        ]
        return Sample(*(Rows(x, self.log_ratio(x)) for x in drawn))

    def references(self) -> list[Reference]:
        """Return independent references: rows of both densities, each weighted by its share of the two."""
        random, rows = np.random.default_rng(self.seed), self.reference_rows // BLOCKS
        return [self._reference(rows // 2, random) for _ in range(BLOCKS)]

    def _reference(self, rows: int, random: Random) -> Reference:
        sides = (self.numerator, self.denominator)
        u = np.concatenate([self.log_ratio(side.sample(count, random)) for side in sides for count in chunks(rows)])
        return Reference(u, expit(u) / rows, expit(-u) / rows)


@dataclass(frozen=True)
class Tilted:
    """A base whose rows are accepted with chance ∝ exp(power · tilt(x)), with one power for P and one for Q."""

    base: Sampler
    tilt: Tilt
    powers: tuple[float, float]
    reference_rows: int
    seed: tuple[int, ...]

    def log_ratio(self, x: Floats) -> Floats:
        """Return the log ratio at points."""
        return self._log_ratio(self.tilt(x))

    def _log_ratio(self, tilt: Floats) -> Floats:
        (p, q), (log_p, log_q) = self.powers, self._log_means
        return (p - q) * tilt - log_p + log_q

    def sample(self, rows: tuple[int, int], fresh: int, random: Random) -> Sample:
        """Return rows of P and of Q."""
        drawn = [
            self._accepted(power, count, random)
            for counts in (rows, (fresh, fresh))
            for power, count in zip(self.powers, counts, strict=True)
        ]
        return Sample(*(Rows(x, self.log_ratio(x)) for x in drawn))

    def _accepted(self, power: float, rows: int, random: Random) -> Floats:
        parts, missing = [self.base(1, random)[:0]], rows
        while missing > 0:
            x = self.base(int(np.clip(2 * missing, 500, _CHUNK)), random)
            chance = np.exp(power * self.tilt(x) - 0.5 * abs(power))  # a tilt lies between −½ and ½
            parts.append(x[random.uniform(size=len(x)) < chance][:missing])
            missing -= len(parts[-1])
        return np.concatenate(parts)

    @cached_property
    def _reference_tilts(self) -> list[Floats]:
        random, size = np.random.default_rng(self.seed), self.reference_rows // BLOCKS
        return [np.concatenate([self.tilt(self.base(count, random)) for count in chunks(size)]) for _ in range(BLOCKS)]

    @cached_property
    def _log_means(self) -> tuple[float, float]:
        tilts = np.concatenate(self._reference_tilts)
        p, q = (float(logsumexp(power * tilts) - np.log(len(tilts))) for power in self.powers)
        return p, q

    def references(self) -> list[Reference]:
        """Return independent references: rows of the base, weighted."""
        return [_weighted(tilt, self.powers) for tilt in self._reference_tilts]


@dataclass(frozen=True)
class TableRows:
    """Rows of a real table, each used at most once; the truth is that of the table."""

    table: Floats
    tilt: Tilt
    powers: tuple[float, float]

    def sample(self, rows: tuple[int, int], fresh: int, random: Random) -> Sample:
        """Return rows of P and of Q, which have none in common, and as many fresh ones as the table has left."""
        order, half = random.permutation(len(self.table)), len(self.table) // 2
        parts = order[:half], order[half:]
        p, q = (
            part[random.uniform(size=len(part)) < self._chance(power)[part]]
            for power, part in zip(self.powers, parts, strict=True)
        )
        n, m = rows
        chosen = p[:n], q[:m], p[n : n + fresh], q[m : m + fresh]
        return Sample(*(Rows(self.table[part], self._log_ratio[part]) for part in chosen))

    def _chance(self, power: float) -> Floats:
        logs = power * self.tilt(self.table)
        return np.exp(logs - logs.max())

    def most_rows(self) -> tuple[int, int]:
        """Return half of the rows of P and of Q that there are on average, so that some are left."""
        p, q = (int(0.25 * self._chance(power).sum()) for power in self.powers)
        return p, q

    @cached_property
    def _log_ratio(self) -> Floats:
        return self.references()[0].log_ratio

    def references(self) -> list[Reference]:
        """Return the table, weighted."""
        return [_weighted(self.tilt(self.table), self.powers)]


def _weighted(tilt: Floats, powers: tuple[float, float]) -> Reference:
    """Return a reference of rows of a base with these tilts, normalised by themselves."""
    log_p, log_q = (power * tilt - logsumexp(power * tilt) for power in powers)
    return Reference(log_p - log_q, np.exp(log_p), np.exp(log_q))


def chunks(rows: int) -> Iterator[int]:
    """Yield numbers of rows, none of them large, that add up."""
    for start in range(0, rows, _CHUNK):
        yield min(_CHUNK, rows - start)
