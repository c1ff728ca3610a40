"""KL divergence of the model-free variant (networks) against plain KDE: error, scatter and time over repetitions.

Run with `python benchmarks/model_free.py [--repetitions 30] [--rows 1000 2000] [--device cpu]`; it needs torch.
"""

import argparse
import warnings
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table

import vwkde
from vwkde import datasets

SETTINGS = {
    "Iso 20-D": datasets.isotropic(20),
    "NH 10-D": datasets.heteroscedastic(10),
    "NH 20-D": datasets.heteroscedastic(20),
    "three modes 2-D": datasets.three_modes(2),
    "three modes 20-D": datasets.three_modes(20),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000, 2_000])
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    warnings.simplefilter("ignore", vwkde.BiasWarning)  # plain KDE is here to show its bias
    table = Table(title=f"KL divergence, {options.repetitions} repetitions")
    for column in ("setting", "rows", "truth", "mean", "error", "rmse", "rmse of kde", "seconds"):
        table.add_column(column, justify="left" if column == "setting" else "right")
    for rows in options.rows:
        for name, pair in SETTINGS.items():
            samples = [pair.sample(rows, random_state=seed) for seed in range(options.repetitions)]
            start = perf_counter()
            estimates = [vwkde.kl_divergence(*s, method="vwkde-mf", device=options.device).value for s in samples]
            seconds = (perf_counter() - start) / len(samples)
            plain = [vwkde.kl_divergence(*s, method="kde").value for s in samples]
            errors = [np.sqrt(np.mean((np.array(values) - pair.kl) ** 2)) for values in (estimates, plain)]
            table.add_row(
                name,
                f"{rows:,}",
                f"{pair.kl:.3f}",
                f"{np.mean(estimates):.3f}",
                f"{np.mean(estimates) / pair.kl - 1:+.1%}",
                *(f"{error:.3f}" for error in errors),
                f"{seconds:.1f}",
            )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
