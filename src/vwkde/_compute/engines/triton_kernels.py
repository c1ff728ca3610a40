"""The Triton kernels: log kernel sums in tiles that never leave the chip.

A program processes a block of queries and a part of the points. It keeps, for each query, the largest exponent so far
and the sum of 2^(exponent − largest), and writes both; parts are joined afterwards. So no exponent can overflow, and a
query far from all points keeps its sum. `NOTHING` stands for the logarithm of zero: it is finite, so that the
difference of two is a number.

Exponents have two forms. With differences, each thread owns queries and loops over the points: threads exchange
nothing. With products, the tensor cores compute 2·x·y: numbers are split into a high and a low part of 11 bits each,
which the cores multiply exactly, and the smallest of the four products is left out.
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
def _multiply(product, x_high, x_low, y, WIDTH: tl.constexpr):
    """Add x·y, largest parts last."""
    y_high = tl.trans(tl.load(y))
    y_low = tl.trans(tl.load(y + WIDTH))
    product = tl.dot(x_low, y_high, product, input_precision="tf32")
    product = tl.dot(x_high, y_low, product, input_precision="tf32")
    return tl.dot(x_high, y_high, product, input_precision="tf32")


@triton.jit
def _products(
    largest, total, x_high, x_low, x, y, column, power, rows, own, first, last,
    WIDTH: tl.constexpr, CHUNK: tl.constexpr, LEAVE_OUT: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Loop over tiles of points: rows of x and y have the high parts of all columns, then the low parts."""
    within = tl.arange(0, CHUNK)
    for tile in range(first, last):
        places = tile * TILE + tl.arange(0, TILE)
        start = y + places[:, None].to(tl.int64) * (2 * WIDTH) + within[None, :]
        product = tl.zeros([rows.shape[0], TILE], tl.float32)
        if WIDTH == CHUNK:
            product = _multiply(product, x_high, x_low, start, WIDTH)
        else:
            for d in range(0, WIDTH, CHUNK):
                start_x = x + rows[:, None].to(tl.int64) * (2 * WIDTH) + d + within[None, :]
                # the cores truncate when they add, so they add only a few numbers; the rest is added with rounding
                nothing = tl.zeros([rows.shape[0], TILE], tl.float32)
                product += _multiply(nothing, tl.load(start_x), tl.load(start_x + WIDTH), start + d, WIDTH)
        exponent = product * power + tl.load(column + places)[None, :]
        if LEAVE_OUT:
            exponent = tl.where(places[None, :] == own[:, None], EXCLUDED, exponent)
        largest, total = _join(largest, total, exponent, 1)
    return largest, total


@triton.jit(do_not_specialize=["tiles", "tiles_of_part"])
def sums_by_products(
    x, y, column, power, excluded, largests, totals, n, m, tiles, tiles_of_part,
    WIDTH: tl.constexpr, CHUNK: tl.constexpr, LEAVE_OUT: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Do the same with matrix products; the exponents omit −‖x‖², which is the same for all terms of a sum."""
    part, problem = tl.program_id(1), tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first = part * tiles_of_part
    last = tl.minimum(first + tiles_of_part, tiles)
    own = tl.load(excluded + rows) if LEAVE_OUT else rows
    largest = tl.full([ROWS], NOTHING, tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    power = tl.load(power + problem)
    column += problem * m
    start_x = x + rows[:, None].to(tl.int64) * (2 * WIDTH) + tl.arange(0, CHUNK)[None, :]
    x_high = tl.load(start_x)
    x_low = tl.load(start_x + WIDTH)
    if LEAVE_OUT:
        start = tl.minimum(tl.maximum(tl.min(own) // TILE, first), last)
        stop = tl.minimum(tl.maximum(tl.max(own) // TILE + 1, start), last)
        largest, total = _products(
            largest, total, x_high, x_low, x, y, column, power, rows, own, first, start, WIDTH, CHUNK, False, TILE
        )
        largest, total = _products(
            largest, total, x_high, x_low, x, y, column, power, rows, own, start, stop, WIDTH, CHUNK, True, TILE
        )
        first = stop
    largest, total = _products(
        largest, total, x_high, x_low, x, y, column, power, rows, own, first, last, WIDTH, CHUNK, False, TILE
    )
    out = (problem * tl.num_programs(1) + part) * n + rows
    tl.store(largests + out, largest)
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
