"""
More rows than memory
=====================

Two files that are never read as a whole. Some rows of each sample are kept in memory; the kernel sums use all rows, and
read the files in pieces.
"""

# %%
# The samples: one file each, a million rows of 8 columns. With hundreds of gigabytes, only the time would change: it
# grows with the number of rows.

import tempfile
from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

import vwkde

folder = tempfile.TemporaryDirectory()
p_path, q_path = Path(folder.name, "p.npy"), Path(folder.name, "q.npy")
rows, columns = 1_000_000, 8
rng = np.random.default_rng(0)
for path, mean in ((p_path, 0.0), (q_path, 0.35)):
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, columns))
    for start in range(0, rows, 50_000):
        file[start : start + 50_000] = rng.normal(mean, 1.0, (50_000, columns))
    del file
truth = columns * 0.35**2 / 2

# %%
# The estimator only needs the paths. It keeps 2,000 rows of each sample in memory, over which the divergence is
# averaged; the kernel sums run over all rows.

start = perf_counter()
estimate = vwkde.kl_divergence(p_path, q_path, method="vwkde-mb", max_held=2_000, max_basis=300)
print(f"truth {truth:.3f}, {perf_counter() - start:.0f} s")
estimate

# %%
# More rows make the kernel narrower and its bias smaller. A slice of a mapped file is a sample too.

p, q = np.load(p_path, mmap_mode="r"), np.load(q_path, mmap_mode="r")
sizes = [1_000, 10_000, 100_000, 1_000_000]
settings = {"max_held": 2_000, "max_basis": 300}
by_method = {
    method: [vwkde.kl_divergence(p[:n], q[:n], method=method, **settings) for n in sizes]
    for method in ("kde", "vwkde-mb")
}
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (method, estimates), colour in zip(by_method.items(), ("#d1495b", "#00798c"), strict=True):
    values, errors = ([getattr(each, name) for each in estimates] for name in ("value", "standard_error"))
    ax.errorbar(sizes, values, yerr=2 * np.array(errors), fmt="o-", capsize=3, color=colour, label=method)
ax.axhline(truth, color="black", lw=1, label="truth")
ax.set(xscale="log", xlabel="rows of each sample", ylabel="KL divergence in nats", ylim=(0, None))
legend = ax.legend(frameon=False)

# %%
# Dask arrays work in the same way; the passes are then tasks of a cluster. ``device="cuda"`` runs the sums on a GPU.
# :doc:`/scale` explains both.

del p, q
folder.cleanup()
