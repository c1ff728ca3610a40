"""
Drift of a table
================

A table of measurements arrives every week. Has it changed, by how much, and in which columns?
"""

# %%
# The reference is 269 rows and five columns of scikit-learn's breast cancer data. Two later weeks are made of other
# rows. In the second one the values of ``mean smoothness`` have been shuffled, as a wrong join would do: every column
# by itself looks unchanged.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import vwkde

table = load_breast_cancer(as_frame=True).data
table = np.log(table[["mean radius", "mean texture", "mean smoothness", "mean compactness", "mean symmetry"]])
rows = np.random.default_rng(0).permutation(len(table))
reference, quiet, changed = (table.iloc[part].reset_index(drop=True) for part in np.array_split(rows, [269, 419]))
changed["mean smoothness"] = changed["mean smoothness"].sample(frac=1, random_state=0).to_numpy()

# %%
# **Has it changed?** A permutation test, whose level is exact. The quiet week passes.

vwkde.two_sample_test(quiet, reference)

# %%
# The other week does not pass. The means show no change; the covariances do.

vwkde.two_sample_test(changed, reference)

# %%
# **By how much?** The Jensen–Shannon divergence lies between 0 and log 2 = 0.69 nats. For the quiet week no model of
# the ratio does better than a ratio of one, so the value is zero.

ratios = {name: vwkde.DensityRatio().fit(week, reference) for name, week in (("quiet", quiet), ("changed", changed))}
divergences = {f"{name} week": ratio.divergence("jensen-shannon") for name, ratio in ratios.items()}
display = vwkde.DivergenceDisplay.from_estimates(divergences)

# %%
# **In which columns?** Leave one column out at a time and test again. Without ``mean smoothness`` the change
# disappears; without any other column it remains.

p_values = {
    column: vwkde.two_sample_test(changed.drop(columns=column), reference.drop(columns=column)).p_value
    for column in table
}
figure, ax = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
ax.barh(list(p_values), list(p_values.values()), color="#00798c")
ax.axvline(0.05, color="black", ls="--", lw=1, label="0.05")
ax.set(xscale="log", xlabel="p-value without the column")
ax.invert_yaxis()
_ = ax.legend(frameon=False)
