"""
Covariate shift
===============

A model is trained on one population and used on another. Importance weights make each training row count as often as
similar rows occur where the model is used.
"""

# %%
# The rule is the same everywhere: y is a sine of x plus noise. Training rows come from the left, the rows where the
# model is used from the right. A straight line cannot follow the sine, so where it fits depends on which rows count.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vwkde

rng = np.random.default_rng(0)


def outcome(x):
    """Return y for rows x: a sine of the first column, and noise."""
    return np.sin(1.5 * x[:, 0]) + 0.1 * x[:, 1] + rng.normal(0, 0.15, len(x))


train = np.column_stack([rng.normal(-0.4, 0.8, 600), rng.normal(0, 1, (600, 2))])
target = np.column_stack([rng.normal(0.9, 0.45, 400), rng.normal(0, 1, (400, 2))])
y_train, y_target = outcome(train), outcome(target)

# %%
# The target sample is the numerator, the training sample the denominator. No label of the target is used.

ratio = vwkde.DensityRatio().fit(target, train)
weights = ratio.importance_weights()
ratio

# %%
# The picture shows whether the weights can be trusted: how many rows share them.

display = vwkde.OverlapDisplay.from_estimator(ratio)

# %%
# In a scikit-learn pipeline the weights are passed to the last step as ``sample_weight``.

plain = make_pipeline(StandardScaler(), LinearRegression()).fit(train, y_train)
weighted = make_pipeline(StandardScaler(), LinearRegression())
weighted.fit(train, y_train, linearregression__sample_weight=weights)
errors = {
    name: mean_squared_error(y_target, model.predict(target))
    for name, model in (("trained without weights", plain), ("with importance weights", weighted))
}
for name, error in errors.items():
    print(f"{name}: mean squared error {error:.3f} where it is used")

# %%
# Large dots are rows with large weights.

grid = np.column_stack([np.linspace(-3, 2.5, 100), np.zeros((100, 2))])
figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.scatter(train[:, 0], y_train, s=3 + 12 * weights, color="#d1495b", alpha=0.4, lw=0, label="training rows")
ax.scatter(target[:, 0], y_target, s=6, color="#00798c", alpha=0.4, lw=0, label="rows where it is used")
ax.plot(grid[:, 0], plain.predict(grid), color="#d1495b", label="trained without weights")
ax.plot(grid[:, 0], weighted.predict(grid), color="#00798c", label="with importance weights")
ax.set(xlabel="first column", ylabel="y", ylim=(-2, 2))
_ = ax.legend(frameon=False, ncols=2)
