"""
Calibrated posteriors
=====================

If a forecast says 70 % rain, it should rain on seven of ten such days. ``RatioClassifier`` gets its probabilities from
density ratios, and is compared here with two other classifiers.
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
_ = ax.set(xlabel="predicted probability of benign", ylabel="share of benign")

# %%
# Fitted to all rows, the classifier shows how far apart the classes are.

classifier = vwkde.RatioClassifier().fit(X, data.target_names[y])
classifier

# %%
# The shares of the classes in the training rows are the priors. They may differ where the classifier is used. The
# fitted ratio of the two classes gives posteriors for any prior; ``RatioClassifier(priors=...)`` sets fixed ones.

ratio = classifier.ratios_[0, 1]  # benign against malignant
few = X.iloc[:3]
for share in (classifier.priors_[1], 0.05):
    print(f"malignant, if {share:.0%} are:", np.round(1 - ratio.posterior(few, prior=1 - share), 3))
