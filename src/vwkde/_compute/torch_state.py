"""States of torch that hold for more than the code that sets them."""

from collections.abc import Iterator
from contextlib import contextmanager

from vwkde._runtime.shared import Shared


@contextmanager
def threads_of_torch(n_threads: int) -> Iterator[None]:
    """Hold torch, on the calling thread, to this many threads on the CPU at most.

    For networks it is one: their matrices are small, and sums must not depend on how many threads share them.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(min(n_threads, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _in_full_precision() -> Iterator[None]:
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


exact_products = Shared(_in_full_precision)
"""Keep matrix products of float32 from being rounded to fewer bits, as torch may be set to."""
