"""Draw the pictures of drift.md, for light pages and dark ones: python docs/drift_picture.py. It needs Chromium.

The report of a wrong join in scikit-learn's breast cancer data, as the example on drift makes it.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import vwkde

IMAGES = Path(__file__).parent / "images"
SCHEMES = {"drift-report.png": 1, "drift-report-dark.png": 0}
"""Files, and the numbers by which Chromium knows light and dark."""
COLUMNS = ["mean radius", "mean texture", "mean smoothness", "mean compactness", "mean symmetry"]
SIZE = "1040,1180"


def main() -> None:
    """Write the pictures."""
    data = load_breast_cancer(as_frame=True)
    table = data.data[COLUMNS].assign(diagnosis=data.target.map(dict(enumerate(data.target_names))))
    rows = np.random.default_rng(0).permutation(len(table))
    reference, _, changed = (table.iloc[part].reset_index(drop=True) for part in np.array_split(rows, [269, 419]))
    changed["mean smoothness"] = changed["mean smoothness"].sample(frac=1, random_state=0).to_numpy()
    page = vwkde.drift(reference, changed).to_html()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        options += [
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/user",
        ]
        for name, scheme in SCHEMES.items():
            own = [f"--blink-settings=preferredColorScheme={scheme}", f"--window-size={SIZE}"]
            own += [f"--screenshot={IMAGES / name}"]
            subprocess.run(["chromium", *options, *own, path.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
