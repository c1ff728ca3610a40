"""Mutual information: items 3 and 13, and the thin directions of item 8."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy import integrate, special, stats

from scenarios.scenario import Floats, Random, Scenario, mutual_information

Curve = Callable[[Floats], Floats]


def scenarios() -> Iterator[Scenario]:
    default, gaussian = mutual_information(), mutual_information(guide="gaussian")
    wide, truth = correlated([0.8], 20, 300), -0.5 * np.log(1 - 0.8**2)
    yield Scenario("20 × 20 columns, one pair ρ = 0.8, n = 300", 3, wide, truth, default, "0.413 for 0.511", slow=True)
    yield Scenario("the same by guide='gaussian'", 3, wide, truth, gaussian, "−0.216 for 0.511")
    yield Scenario("ring, n = 1,000", 3, ring, ring_truth, default, "RMSE 0.121")
    eight = [0.3] * 8
    yield gaussian_pairs("8 × 8 columns, all pairs ρ = 0.3, n = 300", eight, 8, 300)
    yield gaussian_pairs("15 × 15 columns, independent, n = 300", [], 15, 300)
    yield gaussian_pairs("1 × 1 column, ρ = 0.5, n = 300", [0.5], 1, 300)
    yield Scenario("checkerboard 2 × 2, n = 600", 3, checkerboard(2), np.log(2), default)

    yield wave("y = sin(8πx) + noise, n = 1,000", 4, 0.2, 1_000, "0.704 for 1.154")
    yield wave("y = sin(8πx) + noise, n = 5,000", 4, 0.2, 5_000, "0.811 for 1.154", slow=True)
    yield wave("y = sin(12πx) + noise, n = 800", 6, 0.3, 800)
    yield wave("y = triangle of 5 periods + noise, n = 800", 5, 0.15, 800, curve=triangle)
    yield Scenario("checkerboard 4 × 4, n = 1,000", 13, checkerboard(4), np.log(2), default)
    yield Scenario("y = x · noise, n = 800", 13, product, product_truth, default)
    yield Scenario("y = x + 0.2·noise, n = 800", 13, thin(0.2, 800), thin_truth(0.2), default)

    yield Scenario("y = x + 0.001·noise, n = 500", 8, thin(1e-3, 500), thin_truth(1e-3), default, "2.4 for 6.9")
    yield Scenario("y = x + 0.01·noise, n = 500", 8, thin(1e-2, 500), thin_truth(1e-2), default)
    cubic = thin(3e-3, 500, lambda x: x**3 + x)
    yield Scenario("y = x³ + x, x with noise 0.003, n = 500", 8, cubic, thin_truth(3e-3), default)


def gaussian_pairs(name: str, correlations: list[float], columns: int, rows: int) -> Scenario:
    truth = -0.5 * float(np.sum(np.log1p(-np.square(correlations))))
    return Scenario(name, 3, correlated(correlations, columns, rows), truth, mutual_information())


def correlated(correlations: list[float], columns: int, rows: int) -> Callable[[Random], tuple[Floats, Floats]]:
    """Return what draws columns of X and Y with these correlations in pairs; the other columns are noise."""
    rho = np.zeros(columns)
    rho[: len(correlations)] = correlations

    def draw(random: Random) -> tuple[Floats, Floats]:
        x, noise = random.normal(size=(2, rows, columns))
        return x, rho * x + np.sqrt(1 - rho**2) * noise

    return draw


_RADIUS = stats.norm(1.0, 0.1)


def ring(random: Random) -> tuple[Floats, Floats]:
    radius, angle = _RADIUS.rvs(1_000, random_state=random), random.uniform(0, 2 * np.pi, 1_000)
    return radius * np.cos(angle), radius * np.sin(angle)


def ring_truth() -> float:
    """Return 2·h(x) − h(x, y), from the density of the radius divided by the length of the circle."""
    joint = integrate.quad(lambda r: -_RADIUS.pdf(r) * (_RADIUS.logpdf(r) - np.log(2 * np.pi * r)), 0.3, 1.7)[0]
    grid = np.linspace(-1.7, 1.7, 1_701)
    radius = np.hypot(grid[:, None], grid)
    plane = _RADIUS.pdf(radius) / (2 * np.pi * np.maximum(radius, 1e-3))
    return float(2 * _entropy(integrate.simpson(plane, x=grid), grid) - joint)


def _entropy(density: Floats, grid: Floats) -> float:
    return float(integrate.simpson(special.entr(density), x=grid))


def sine(turns: Floats) -> Floats:
    return np.sin(2 * np.pi * turns)


def triangle(turns: Floats) -> Floats:
    return 4 * np.abs(turns % 1 - 0.5) - 1


def wave(
    name: str, periods: int, noise: float, rows: int, reported: str = "", *, slow: bool = False, curve: Curve = sine
) -> Scenario:
    """Return a periodic curve of a uniform x, with Gaussian noise."""

    def draw(random: Random) -> tuple[Floats, Floats]:
        x = random.uniform(size=rows)
        return x, curve(periods * x) + noise * random.normal(size=rows)

    def truth() -> float:
        centre = curve((np.arange(4_000) + 0.5) / 4_000)
        grid = np.linspace(-1 - 9 * noise, 1 + 9 * noise, 2_001)
        density = np.mean([stats.norm.pdf(grid, middle, noise) for middle in centre], axis=0)
        return _entropy(density, grid) - stats.norm(scale=noise).entropy()

    return Scenario(name, 13, draw, truth, mutual_information(), reported, slow=slow)


def checkerboard(cells: int) -> Callable[[Random], tuple[Floats, Floats]]:
    """Return what draws from the black squares of a board; one bit is shared."""

    def draw(random: Random) -> tuple[Floats, Floats]:
        rows = 600 if cells == 2 else 1_000
        column = random.integers(0, cells, rows)
        row = 2 * random.integers(0, cells // 2, rows) + column % 2
        within = random.uniform(size=(2, rows))
        return column + within[0], row + within[1]

    return draw


def product(random: Random) -> tuple[Floats, Floats]:
    x, noise = random.normal(size=(2, 800))
    return x, x * noise


def product_truth() -> float:
    """Return h(y) − h(y | x): y has density K₀(|y|)/π, and given x it is normal with deviation |x|."""

    def term(y: float) -> float:
        density = special.k0(y) / np.pi
        return -2 * density * np.log(density)

    marginal = sum(integrate.quad(term, *part)[0] for part in ((0, 1e-3), (1e-3, 1), (1, 30)))
    mean_log = -0.5 * (np.euler_gamma + np.log(2))
    return float(marginal - stats.norm.entropy() - mean_log)


def thin(noise: float, rows: int, curve: Curve = lambda x: x) -> Callable[[Random], tuple[Floats, Floats]]:
    def draw(random: Random) -> tuple[Floats, Floats]:
        x = random.normal(size=rows)
        return x, curve(x + noise * random.normal(size=rows))

    return draw


def thin_truth(noise: float) -> float:
    return float(0.5 * np.log1p(noise**-2))
