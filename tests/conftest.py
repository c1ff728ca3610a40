"""The slow tests, which `make quick` leaves out.

They are listed here, not marked where they stand, so that what the quick tier costs is seen in one place. Add whatever
`pytest --durations=20 -m "not slow"` puts on top; some tests of every folder stay.
"""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent

SLOW = ()
"""Files, and tests as `file::name`, below the folder of the tests."""


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests."""
    stale = [entry for entry in SLOW if not _exists(*entry.split("::"))]
    if stale:
        raise pytest.UsageError(f"tests/conftest.py lists tests that do not exist: {', '.join(stale)}.")
    for item in items:
        file = item.path.relative_to(TESTS).as_posix()
        if file in SLOW or f"{file}::{getattr(item, 'originalname', None)}" in SLOW:
            item.add_marker(pytest.mark.slow)


def _exists(file: str, name: str = "") -> bool:
    return (TESTS / file).is_file() and f"def {name}" in (TESTS / file).read_text()
