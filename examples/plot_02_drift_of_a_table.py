"""
Drift of a table
================

A table of measurements arrives every week. Has it changed, by how much, and in which columns?
"""

# %%
# The reference is 269 rows and five columns of scikit-learn's breast cancer data, with the diagnosis as a category. Two
# later weeks are made of other rows. In the second one the values of ``mean smoothness`` have been shuffled, as a wrong
# join would do: every column by itself is unchanged.

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
