"""Prepare a record of a figure of the paper for running one method again: python tools/forget_method.py METHOD FOLDER …

FOLDER has the `results.json` of fig4 or fig5. A journal is written beside it, with the estimates of all other methods,
so that `vwkde reproduce fig4 -o docs/results` computes those of METHOD only, and writes the record, page and picture.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def entries(record: dict[str, Any], forgotten: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of the journal: the versions that computed it, and the outcome of each task."""
    yield from ({"versions": versions} for versions in record["versions"])
    for panel, result in record["results"].items():
        for method, found in result["methods"].items():
            for x, values, seconds in zip(result["x"], found["kl"], found["seconds"], strict=True):
                if method == forgotten or len(values) < record["repetitions"]:  # which repetitions failed is not known
                    continue
                for seed, value in enumerate(values):
                    yield {"task": f"{panel}/{x:g}/{seed}/{method}", "value": value, "seconds": seconds}


def main(forgotten: str, *folders: str) -> None:
    """Write the journals."""
    for folder in map(Path, folders):
        record = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        lines = [json.dumps(entry) for entry in entries(record, forgotten)]
        (folder / "journal.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")
        print(f"{folder / 'journal.jsonl'}: {len(lines)} lines")


if __name__ == "__main__":
    main(*sys.argv[1:])
