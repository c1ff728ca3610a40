"""Torch settings that affect more than the code that sets them."""

from collections.abc import Iterator
from contextlib import contextmanager

from vwkde._runtime.shared import Shared


@contextmanager
def threads_of_torch(n_threads: int) -> Iterator[None]:
    """Limit torch, on the calling thread, to at most this many CPU threads.

    Networks use one thread: their matrices are small, and sums must not depend on the number of threads.
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
"""Compute float32 matrix products in full precision, even if torch is set to round to fewer bits."""
