"""
Inspection of a texture
=======================

Learn what a surface looks like from good images alone, then judge other images. Each gets a verdict at a chosen
false-reject rate, and a map that shows the defect.
"""

# %%
# Synthetic woven cloth, so that the true defects are known. The model learns 60 good images.

import matplotlib.pyplot as plt
import numpy as np

from vwkde.inspection import SurfaceInspector, make_surfaces

surfaces = make_surfaces("woven", n_good=80, n_bad=4, size=256)
good, others = surfaces.images[:60], surfaces.images[60:]
inspector = SurfaceInspector(features="texture", false_reject_rate=0.05).fit(good)
inspector

# %%
# Judge twenty other good images and four with a defect. Good images alone have set the threshold.

results = [inspector.check(image, name=f"image {place}") for place, image in enumerate(others)]
print("good images rejected:", sum(each.rejected for each in results[:20]), "of 20")
print("defects found:", sum(each.rejected for each in results[20:]), "of 4")

# %%
# One result, as a notebook shows it.

results[20]

# %%
# Top: the images. Bottom: where they differ from good ones. Blue lines are the true defects. The first image is good.

columns = [0, 20, 21, 22, 23]
figure, axes = plt.subplots(2, 5, figsize=(11, 4.8), layout="constrained")
for (above, below), place in zip(axes.T, columns, strict=True):
    mask, name = surfaces.masks[60 + place], surfaces.defects[60 + place] or "good"
    above.imshow(others[place], cmap="gray", vmin=0, vmax=1)
    above.set_title(f"{name}: {results[place].verdict}, p = {results[place].p_value:.2f}", fontsize="medium")
    limit = results[place].map_threshold
    below.imshow(results[place].log_ratio, cmap="magma", vmin=0, vmax=3 * limit)
    if mask.any():
        below.contour(mask, levels=[0.5], colors="#00e5ff", linewidths=1.2)
for ax in np.ravel(axes):
    ax.set_axis_off()
