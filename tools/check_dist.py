"""Check what `make dist` built: look into both archives, install the wheel in a fresh environment, and run the demo.

Run with `python tools/check_dist.py dist [--tag v0.1.0]`.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

WANTED = ("README.md", "LICENSE", "Makefile", "src/vwkde/py.typed", "tests/test_docs.py", "docs/index.md", "examples/")
"""What the source archive must contain; a name that ends in a slash stands for any file in that folder."""
UNWANTED = (".npy", ".npz", ".parquet", ".csv", ".zip", ".safetensors", ".vwkde", ".pyc", ".ipynb")
"""Endings of data and build files, which do not belong in the source archive."""
PAGES = ("vwkde/py.typed", "vwkde/inspection/server/page/index.html", "vwkde/inspection/report/style.css")
"""What the wheel must contain in addition to Python files."""


def main() -> None:
    """Check the wheel and the source archive in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tag", help="The tag to release: v and the version.")
    options = parser.parse_args()
    (wheel,), (source,) = options.folder.glob("*.whl"), options.folder.glob("*.tar.gz")
    version = wheel.name.split("-")[1]
    refuse(
        [] if options.tag in (None, f"v{version}") else [options.tag],
        f"the wheel is {version}, but the tag is",
    )
    check_source(source, version)
    check_wheel(wheel)
    run_demonstration(wheel.absolute(), version)
    print(f"{wheel.name} and {source.name} are in order.")


def check_source(source: Path, version: str) -> None:
    """Refuse a source archive that lacks something or contains data."""
    with tarfile.open(source) as archive:
        names = [name.removeprefix(f"vwkde-{version}/") for name in archive.getnames()]
    missing = [each for each in WANTED if not any(_is_at(each, name) for name in names)]
    data = [name for name in names if name.endswith(UNWANTED) or name.startswith(("docs/_build", "docs/examples"))]
    refuse(missing, f"{source.name} lacks")
    refuse(data, f"{source.name} should not contain")


def check_wheel(wheel: Path) -> None:
    """Refuse a wheel that lacks something or contains more than the package."""
    names = zipfile.ZipFile(wheel).namelist()
    refuse([each for each in PAGES if each not in names], f"{wheel.name} lacks")
    refuse([name for name in names if not name.startswith(("vwkde/", "vwkde-"))], f"{wheel.name} should not contain")


def run_demonstration(wheel: Path, version: str) -> None:
    """Install the wheel into a fresh environment, away from the checkout, and draw the demonstration's picture."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "fresh", with_pip=True)
        programs = folder / "fresh" / ("Scripts" if sys.platform == "win32" else "bin")
        subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", f"{wheel}[plot]"], cwd=name, check=True)
        shown = subprocess.run([programs / "vwkde", "--version"], cwd=name, check=True, capture_output=True, text=True)
        refuse([] if shown.stdout.strip() == version else [shown.stdout], f"the wheel is {version}, but shows")
        subprocess.run([programs / "vwkde", "demo"], cwd=name, check=True)
        refuse([] if (folder / "demo" / "demo.png").stat().st_size else ["demo.png"], "the demonstration did not draw")


def refuse(faults: list[str], what: str) -> None:
    """Exit with an error if there are faults."""
    if faults:
        raise SystemExit(f"{what}: {', '.join(faults)}")


def _is_at(wanted: str, name: str) -> bool:
    return name.startswith(wanted) if wanted.endswith("/") else name == wanted


if __name__ == "__main__":
    main()
