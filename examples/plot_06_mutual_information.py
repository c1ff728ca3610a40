"""
Mutual information
==================

How much does one set of columns tell about another? Mutual information answers in nats, whatever the relation looks
like; correlation only sees straight lines.
"""

# %%
# Four relations of y to x. The first has a known answer, −½ log(1 − ρ²).

import matplotlib.pyplot as plt
import numpy as np

import vwkde

rng = np.random.default_rng(0)
n = 300
x = rng.normal(size=n)
angle = rng.uniform(0, 2 * np.pi, n)
relations = {
    "a line": (x, 0.8 * x + 0.6 * rng.normal(size=n)),
    "a parabola": (x, x**2 + 0.5 * rng.normal(size=n)),
    "a ring": (np.cos(angle) + 0.15 * rng.normal(size=n), np.sin(angle) + 0.15 * rng.normal(size=n)),
    "none": (x, rng.normal(size=n)),
}
estimates = {name: vwkde.mutual_information(*both) for name, both in relations.items()}

figure, axes = plt.subplots(1, 4, figsize=(10, 3), layout="constrained")
for ax, (name, (a, b)) in zip(axes, relations.items(), strict=True):
    information, correlation = estimates[name], np.corrcoef(a, b)[0, 1]
    ax.scatter(a, b, s=4, color="#00798c", alpha=0.5, lw=0)
    ax.set(title=f"{name}\nI = {information.value:.2f} nats, r = {correlation:.2f}", xticks=[], yticks=[])

# %%
# Each has an interval. Without a relation, the interval contains zero.

display = vwkde.DivergenceDisplay.from_estimates(estimates)

# %%
# The line's true value is 0.511 nats.

print(f"truth {-0.5 * np.log(1 - 0.8**2):.3f}")
estimates["a line"]

# %%
# Both sides may have several columns. Here y is the sum of three columns and noise.

X = rng.normal(size=(n, 3))
y = X.sum(axis=1) + rng.normal(size=n)
several = vwkde.mutual_information(X, y)
print(f"truth {0.5 * np.log(4):.3f}, estimate {several.value:.3f}")
several

# %%
# **When something else is known.** A common cause z makes x and y alike; given z, they say nothing about each other.

z = rng.normal(size=n)
cause = z + 0.5 * rng.normal(size=n), z + 0.5 * rng.normal(size=n)
known = vwkde.conditional_mutual_information(*cause, z)
print(f"correlation {np.corrcoef(*cause)[0, 1]:.2f}, information given z {known.value:.3f} (truth 0)")

# %%
# **Beside ennemi**, if it is installed. It counts nearest neighbours, in milliseconds, and has no intervals. Version
# 1.5.0 finds 0.597 for the line (vwkde 0.558, truth 0.511), 0.027 for no relation (vwkde 0.002), and 0.020 for the
# common cause, given z (vwkde 0.003). ``python benchmarks/information_peers.py`` does so on 23 kinds of relations.

try:
    from ennemi import estimate_mi

    for name, (a, b) in relations.items():
        print(f"{name}: vwkde {estimates[name].value:.3f}, ennemi {np.ravel(estimate_mi(b, a))[0]:.3f}")
    given = np.ravel(estimate_mi(cause[1], cause[0], cond=z))[0]
    print(f"common cause, given z: vwkde {known.value:.3f}, ennemi {given:.3f}")
except ImportError:
    print("ennemi is not installed: skipped")
