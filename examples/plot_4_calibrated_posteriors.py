"""
Calibrated posteriors
=====================

Of the days for which a forecast says 70 % rain, seven in ten should be wet. ``RatioClassifier`` gets its probabilities
from density ratios, and is compared here with two other classifiers.
"""

# %%
# Two kinds of cell nuclei, four measurements each, from the breast cancer data of scikit-learn. Predictions are made
# for rows that the model has not seen.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import vwkde

data = load_breast_cancer(as_frame=True)
X = data.data[["mean texture", "mean smoothness", "mean symmetry", "mean concavity"]]
y = data.target

models = {
    "RatioClassifier": vwkde.RatioClassifier(),
    "naive Bayes": GaussianNB(),
    "boosted trees": HistGradientBoostingClassifier(random_state=0),
}
probability = {
    name: cross_val_predict(model, X, y, cv=3, method="predict_proba")[:, 1] for name, model in models.items()
}
for name, p in probability.items():
    print(f"{name}: log loss {log_loss(y, p):.3f}, Brier score {brier_score_loss(y, p):.3f}")

# %%
# A calibrated classifier follows the diagonal.

figure, ax = plt.subplots(figsize=(5.6, 5), layout="constrained")
colours = {"RatioClassifier": "#00798c", "naive Bayes": "#d1495b", "boosted trees": "#8a8a8a"}
for name, p in probability.items():
    CalibrationDisplay.from_predictions(y, p, n_bins=8, strategy="quantile", name=name, ax=ax, color=colours[name])
_ = ax.set(xlabel="predicted probability of a benign one", ylabel="share of benign ones")

# %%
# Fitted to all rows, it tells how far the classes are from one another.

classifier = vwkde.RatioClassifier().fit(X, data.target_names[y])
classifier

# %%
# The shares of the classes in the training rows are the priors. Where it is used they may differ. The fitted ratio of
# the two classes answers for any prior; ``RatioClassifier(priors=...)`` sets them once and for all.

ratio = classifier.ratios_[0, 1]  # benign against malignant
few = X.iloc[:3]
for share in (classifier.priors_[1], 0.05):
    print(f"malignant, if {share:.0%} are:", np.round(1 - ratio.posterior(few, prior=1 - share), 3))
