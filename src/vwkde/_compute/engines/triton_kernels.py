"""The Triton kernels: log kernel sums in tiles that never leave the chip.

A program processes a block of queries and a part of the points. It keeps, for each query, the largest exponent so far
and the sum of 2^(exponent − largest), and writes both; parts are joined afterwards. So no exponent can overflow, and a
query far from all points keeps its sum. `NOTHING` stands for the logarithm of zero: it is finite, so that the
difference of two is a number.

Exponents have two forms. With differences, each thread owns queries and loops over the points: threads exchange
nothing. With products, whole exponents come from the tensor cores. Numbers are split into parts of 11 bits, in half
precision, which the cores multiply exactly; see `halves`. A tile then costs little more than its powers of two: instead
of the largest exponent so far, a query subtracts the largest one at some points, which the cores do as well. A sum that
overflows for that, or in which half precision shows, is computed again with differences.
"""

import triton
import triton.language as tl

NOTHING = tl.constexpr(-1e38)
EXCLUDED = tl.constexpr(-2e38)


@triton.jit
def _join(largest, total, exponent, axis: tl.constexpr):
    """Add a tile of exponents to the sums, one sum for each position along the other axis."""
    higher = tl.maximum(largest, tl.max(exponent, axis))
    terms = tl.exp2(exponent - tl.expand_dims(higher, axis))
    return higher, total * tl.exp2(largest - higher) + tl.sum(terms, axis)


@triton.jit
def _differences(
    largest, total, x, y, column, power, rows, n, m, own, first, last,
    COLUMNS: tl.constexpr, UNROLLED: tl.constexpr, LEAVE_OUT: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Loop over tiles of points: x and y are transposed, (columns, n) and (columns, m)."""
    for tile in range(first, last):
        places = tile * TILE + tl.arange(0, TILE)
        squared = tl.zeros([TILE, rows.shape[0]], x.dtype.element_ty)
        if UNROLLED:
            for d in tl.static_range(COLUMNS):
                difference = tl.load(x + d * n + rows)[None, :] - tl.load(y + d * m + places)[:, None]
                squared += difference * difference
        else:
            for d in range(COLUMNS):
                difference = tl.load(x + d * n + rows)[None, :] - tl.load(y + d * m + places)[:, None]
                squared += difference * difference
        exponent = tl.load(column + places)[:, None] - power * squared
        if LEAVE_OUT:
            exponent = tl.where(places[:, None] == own[None, :], EXCLUDED, exponent)
        largest, total = _join(largest, total, exponent, 0)
    return largest, total


@triton.jit(do_not_specialize=["tiles", "tiles_of_part"])
def sums_by_differences(
    x, y, column, power, excluded, largests, totals, n, m, tiles, tiles_of_part,
    COLUMNS: tl.constexpr, UNROLLED: tl.constexpr, LEAVE_OUT: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Fill (problems, parts, n) with the largest exponents and the sums; problems differ in power and column."""
    part, problem = tl.program_id(1), tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    n, m = n.to(tl.int64), m.to(tl.int64)
    first = part * tiles_of_part
    last = tl.minimum(first + tiles_of_part, tiles)
    own = tl.load(excluded + rows) if LEAVE_OUT else rows
    largest = tl.full([ROWS], NOTHING, x.dtype.element_ty)
    total = tl.zeros([ROWS], x.dtype.element_ty)
    power = tl.load(power + problem)
    column += problem * m
    if LEAVE_OUT:
        start = tl.minimum(tl.maximum(tl.min(own) // TILE, first), last)
        stop = tl.minimum(tl.maximum(tl.max(own) // TILE + 1, start), last)
        largest, total = _differences(
            largest, total, x, y, column, power, rows, n, m, own, first, start, COLUMNS, UNROLLED, False, TILE
        )
        largest, total = _differences(
            largest, total, x, y, column, power, rows, n, m, own, start, stop, COLUMNS, UNROLLED, True, TILE
        )
        first = stop
    largest, total = _differences(
        largest, total, x, y, column, power, rows, n, m, own, first, last, COLUMNS, UNROLLED, False, TILE
    )
    out = (problem * tl.num_programs(1) + part) * n + rows
    tl.store(largests + out, largest)
    tl.store(totals + out, total)


@triton.jit
def _multiply(x_first, x, y, places, rows, WIDTH: tl.constexpr, CHUNK: tl.constexpr):
    """Return the exponents of a tile: rows of x times rows of y, some columns at a time."""
    within = tl.arange(0, CHUNK)
    start = y + places[:, None].to(tl.int64) * WIDTH + within[None, :]
    product = tl.dot(x_first, tl.trans(tl.load(start)))
    for d in range(CHUNK, WIDTH, CHUNK):
        more = tl.load(x + rows[:, None].to(tl.int64) * WIDTH + d + within[None, :])
        # the cores truncate when they add, so they add only some numbers; the rest is added with rounding
        product += tl.dot(more, tl.trans(tl.load(start + d)))
    return product


@triton.jit(do_not_specialize=["stride"])
def largest_at_some(
    x, some, excluded, levels, n, stride,
    WIDTH: tl.constexpr, CHUNK: tl.constexpr, LEAVE_OUT: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Fill (problems, n) with the largest exponent of each query at a tile of points, every `stride`-th of all."""
    problem = tl.program_id(1).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    places = tl.arange(0, TILE)
    x += problem * n * WIDTH
    x_first = tl.load(x + rows[:, None].to(tl.int64) * WIDTH + tl.arange(0, CHUNK)[None, :])
    exponent = _multiply(x_first, x, some + problem * TILE * WIDTH, places, rows, WIDTH, CHUNK)
    if LEAVE_OUT:
        own = tl.load(excluded + rows)
        exponent = tl.where(places[None, :] * stride == own[:, None], EXCLUDED, exponent)
    tl.store(levels + problem * n + rows, tl.max(exponent, 1))


@triton.jit
def _products(
    total, x_first, x, y, rows, own, first, last,
    WIDTH: tl.constexpr, CHUNK: tl.constexpr, LEAVE_OUT: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Loop over tiles of points, and add the powers of two."""
    for tile in range(first, last):
        places = tile * TILE + tl.arange(0, TILE)
        exponent = _multiply(x_first, x, y, places, rows, WIDTH, CHUNK)
        if LEAVE_OUT:
            exponent = tl.where(places[None, :] == own[:, None], EXCLUDED, exponent)
        total += tl.sum(tl.exp2(exponent), 1)
    return total


@triton.jit(do_not_specialize=["tiles", "tiles_of_part"])
def sums_by_products(
    x, y, excluded, totals, n, m, tiles, tiles_of_part,
    WIDTH: tl.constexpr, CHUNK: tl.constexpr, LEAVE_OUT: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Fill (problems, parts, n) with the sums by matrix products; see `halves` for the rows of x and y."""
    part, problem = tl.program_id(1), tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first = part * tiles_of_part
    last = tl.minimum(first + tiles_of_part, tiles)
    own = tl.load(excluded + rows) if LEAVE_OUT else rows
    x += problem * n * WIDTH
    y += problem * m * WIDTH
    x_first = tl.load(x + rows[:, None].to(tl.int64) * WIDTH + tl.arange(0, CHUNK)[None, :])
    total = tl.zeros([ROWS], tl.float32)
    if LEAVE_OUT:
        start = tl.minimum(tl.maximum(tl.min(own) // TILE, first), last)
        stop = tl.minimum(tl.maximum(tl.max(own) // TILE + 1, start), last)
        total = _products(total, x_first, x, y, rows, own, first, start, WIDTH, CHUNK, False, TILE)
        total = _products(total, x_first, x, y, rows, own, start, stop, WIDTH, CHUNK, True, TILE)
        first = stop
    total = _products(total, x_first, x, y, rows, own, first, last, WIDTH, CHUNK, False, TILE)
    out = (problem * tl.num_programs(1) + part) * n + rows
    tl.store(totals + out, total)


@triton.jit(do_not_specialize=["x_points", "tiles"])
def mean_sums_of_batches(
    x, y, column, means, x_points, n, m, tiles,
    COLUMNS: tl.constexpr, UNROLLED: tl.constexpr, LEAVE_OUT: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Fill (samples of x, samples of y, blocks) with the base-2 log kernel sums, summed over the rows of a block.

    With LEAVE_OUT a sample of x is compared with itself: each point is left out of its own sum.
    """
    block, sample = tl.program_id(0), tl.program_id(1).to(tl.int64)
    other = sample if LEAVE_OUT else tl.program_id(2).to(tl.int64)
    rows = block * ROWS + tl.arange(0, ROWS)
    largest = tl.full([ROWS], NOTHING, tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    largest, total = _differences(
        largest, total, x + sample * COLUMNS * n, y + other * COLUMNS * m, column, 1.0, rows, n, m, rows, 0, tiles,
        COLUMNS, UNROLLED, LEAVE_OUT, TILE,
    )  # fmt: skip
    logs = tl.where(rows < x_points, largest + tl.log2(total), 0.0)
    place = (sample * tl.num_programs(2) + tl.program_id(2)) * tl.num_programs(0) + block
    tl.store(means + place, tl.sum(logs))
