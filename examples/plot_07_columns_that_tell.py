"""
Which columns tell about each other
===================================

A correlation matrix sees straight lines. Here is its counterpart for relations of any form, with numbers and categories
in one table: mutual information, in bits, with an interval for each entry. scikit-learn's estimate stands beside it.
"""

# %%
# A few columns of scikit-learn's diabetes data, and the disease's progression in words.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.feature_selection import mutual_info_regression

import vwkde

diabetes = load_diabetes(as_frame=True)
table = diabetes.data[["bmi", "s5", "sex"]].assign(progression=diabetes.target)
table["sex"] = np.where(table["sex"] > 0, "one", "other")

matrix = vwkde.mutual_information_matrix(table, unit="bits")
matrix

# %%
# The same as a table of pandas, and with the intervals.

print(matrix.to_frame().round(3))
print(matrix)

# %%
# Beside scikit-learn, which has values but no intervals. It returns nats.

names = ["bmi", "s5"]
theirs = mutual_info_regression(table[names], table["progression"], random_state=0) / np.log(2)
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for place, name in enumerate(names):
    ours = matrix[name, "progression"]
    low, high = ours.interval
    ax.errorbar(place, ours.value, [[ours.value - low], [high - ours.value]], fmt="o", color="#00798c", capsize=4)
    ax.plot(place + 0.1, theirs[place], "s", color="#d1495b")
ax.set_xticks(range(len(names)), names)
ax.set(
    ylabel="bits about the progression", ylim=(0, None), xlim=(-0.5, 1.5), title="vwkde with its interval, scikit-learn"
)

# %%
# What does the blood serum value s5 say if the sex is known? That is conditional information.

more = vwkde.conditional_mutual_information(table["s5"], table["progression"], table["sex"], unit="bits")
more

# %%
# For a paper:

print(more.to_latex(caption="What s5 says about the progression, given the sex."))
