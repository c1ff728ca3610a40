"""Rows in half precision: their products, in exact arithmetic, are the exponents that the engines sum."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from vwkde._compute.engines import halves  # noqa: E402

POWERS = torch.tensor([1.0, 7.3, 55.0])


def draw(rows, columns, seed):
    return torch.as_tensor(np.random.default_rng(seed).normal(size=(rows, columns)), dtype=torch.float32)


def exponents_of(x, y, columns):
    """Return the exponents by the rows, and those by differences in double precision: (powers, queries, points)."""
    queries, points = halves.of_queries(x, POWERS, 16), halves.of_points(y, POWERS, columns, 32)
    products = queries.rows.double() @ points.double().transpose(1, 2)
    found = products[:, : len(x), : len(y)] + queries.outside[:, :, None]
    exact = columns[:, None] - POWERS.double()[:, None, None] * torch.cdist(x.double(), y.double()).square()
    return queries, points, found, exact


def largest_error(queries, found, exact):
    """Return the largest error of the exponents that count, at near queries."""
    counts = queries.near[:, :, None] & (exact > -30)
    assert counts.any()
    return (found - exact)[counts].abs().max()


@pytest.mark.parametrize("columns", [1, 4, 16, 41, 90])
def test_products_of_rows_are_exponents(columns):
    x, y = draw(50, columns, 0) / columns**0.5, draw(70, columns, 1) / columns**0.5
    weight = torch.as_tensor(np.random.default_rng(2).normal(size=(3, 70)))
    queries, points, found, exact = exponents_of(x, y, weight)
    assert queries.near[0].all()
    assert largest_error(queries, found, exact) < 6e-5
    assert queries.rows.shape == (3, 64, halves.width(columns))
    assert points.shape == (3, 96, halves.width(columns))


def test_points_left_out_and_padding_have_exponents_that_count_as_none():
    x, y = draw(10, 3, 0), draw(20, 3, 1)
    y[0] = 1e6
    weight = torch.zeros((3, 20), dtype=torch.float64)
    weight[:, 1] = -2e38
    queries, points, found, exact = exponents_of(x, y, weight)
    assert (found[:, :, :2] < halves.LOWEST).all()
    beyond = queries.rows.double() @ points[:, 20:].double().transpose(1, 2)
    assert (beyond[:, :10] < halves.LOWEST).all()
    assert largest_error(queries, found, exact) < 6e-5


def test_a_level_is_subtracted_from_all_exponents_of_a_query():
    x, y, weight = draw(10, 3, 0) / 4, draw(20, 3, 1) / 4, torch.zeros((3, 20), dtype=torch.float64)
    queries, points, found, _ = exponents_of(x, y, weight)
    level = torch.linspace(-300, 40, 48).reshape(3, 16)
    lower = queries.at_level(level).double() @ points.double().transpose(1, 2)
    expected = found - queries.outside[:, :, None] - level[:, :10, None]
    assert (lower[:, :10, :20] - expected).abs().max() < 1e-6


def test_queries_too_far_for_half_precision_are_told():
    x = torch.tensor([[0.0, 0.0], [1e7, 0.0], [0.0, 30.0]])
    near = halves.of_queries(x, POWERS, 16).near
    assert near[:, 0].all()
    assert not near[:, 1:].any()
    assert halves.of_queries(x, POWERS, 16).rows.isfinite().all()


@pytest.mark.parametrize(("columns", "width"), [(1, 16), (3, 16), (4, 32), (16, 64), (20, 128), (40, 128), (41, 256)])
def test_rows_are_a_power_of_two_or_some_chunks_long(columns, width):
    assert halves.width(columns) == width
