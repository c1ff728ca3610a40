"""
Drift of a table
================

A table of measurements arrives every week. Has it changed, by how much, and in which columns?
"""

# %%
# The reference is 269 rows and five columns of scikit-learn's breast cancer data, with the diagnosis as a category. Two
# later weeks are made of other rows. In the second one the values of ``mean smoothness`` have been shuffled, as a wrong
# join would do: every column by itself is unchanged.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import ks_2samp
from sklearn.datasets import load_breast_cancer

import vwkde

data = load_breast_cancer(as_frame=True)
table = data.data[["mean radius", "mean texture", "mean smoothness", "mean compactness", "mean symmetry"]].copy()
table["diagnosis"] = data.target.map(dict(enumerate(data.target_names)))
rows = np.random.default_rng(0).permutation(len(table))
reference, quiet, changed = (table.iloc[part].reset_index(drop=True) for part in np.array_split(rows, [269, 419]))
changed["mean smoothness"] = changed["mean smoothness"].sample(frac=1, random_state=0).to_numpy()

# %%
# **One column at a time**, as most tools look at a table, nothing is wrong: no Kolmogorov–Smirnov test of a column is
# significant in the changed week.

for column in table.columns[:-1]:
    print(f"{column}: p = {ks_2samp(reference[column], changed[column]).pvalue:.2f}")

# %%
# Two columns at a time, one can see it. Gray dots are the reference.

figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained", sharex=True, sharey=True)
for ax, (title, week) in zip(axes, {"quiet week": quiet, "changed week": changed}.items(), strict=True):
    for rows_of, colour, label in ((reference, "#b0b0b0", "reference"), (week, "#00798c", title)):
        ax.scatter(rows_of["mean smoothness"], rows_of["mean compactness"], s=8, color=colour, lw=0, label=label)
    ax.set(title=title, xlabel="mean smoothness")
_ = axes[0].set(ylabel="mean compactness")

# %%
# **All columns together**: one test decides, whose level is exact. The quiet week passes.

print(vwkde.drift(reference, quiet))

# %%
# The other week does not pass. No column shows it by itself, but ``mean smoothness`` no longer goes together with the
# others. The first lines say how much: the share of rows that would have to change, with its interval.

result = vwkde.drift(reference, changed)
print(result)

# %%
# In a notebook, the result is a card with pictures. ``result.to_html()`` is the whole report, in one file.

result

# %%
# **Which columns?** The shares add up to one. ``alone`` is what each column shows without the others.

result.to_frame()[["name", "change", "alone", "adjusted_p_value", "share"]]

# %%
# **Which rows?** Those that are most unlike the reference: here, a low smoothness with a high compactness, or the
# opposite, which the reference never has together.

for row in result.rows[:3]:
    print(row.index, row.values)

# %%
# **Beside other tools**, if they are installed. evidently tests one column at a time. alibi-detect's MMD looks at all
# columns, and takes numbers only. With evidently 0.7.23 the smallest p-value of a column is 0.42, so it finds no drift.
# alibi-detect 0.13.0 finds it, with p = 0.02, but does not say in which columns or rows. ``python benchmarks/drift.py``
# compares how often each tool finds drifts of nine kinds.


def by_evidently(first, second):
    """Return the smallest p-value of a column."""
    from evidently import Report
    from evidently.presets import DataDriftPreset

    _, *columns = Report([DataDriftPreset()]).run(second, first).dict()["metrics"]
    return f"smallest p-value of a column {min(column['value'] for column in columns):.2f}"


def by_alibi_detect(first, second):
    """Return the p-value of the maximum mean discrepancy of standardised numbers."""
    import pandas as pd
    import torch
    from alibi_detect.cd import MMDDrift

    torch.manual_seed(0)
    numbers = pd.get_dummies(pd.concat([first, second])).astype("float32")
    numbers = ((numbers - numbers.mean()) / numbers.std()).to_numpy()
    detector = MMDDrift(numbers[: len(first)], backend="pytorch", n_permutations=499, device="cpu")
    return f"p-value {detector.predict(numbers[len(first) :])['data']['p_val']:.2f}"


for name, find in {"evidently": by_evidently, "alibi-detect": by_alibi_detect}.items():
    try:
        print(f"{name}: {find(reference, changed)}")
    except ImportError:
        print(f"{name} is not installed: skipped")
