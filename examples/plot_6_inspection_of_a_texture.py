"""
Inspection of a texture
=======================

Learn what a surface looks like from good images alone, then judge others: a verdict at a stated false-reject rate, and
where the defect is.
"""

# %%
# Woven cloth, drawn by the computer, so that the true defects are known. 60 good images are learnt.

import matplotlib.pyplot as plt
import numpy as np

from vwkde.inspection import SurfaceInspector, make_surfaces

surfaces = make_surfaces("woven", n_good=80, n_bad=4, size=256)
good, others = surfaces.images[:60], surfaces.images[60:]
inspector = SurfaceInspector(features="texture", false_reject_rate=0.05).fit(good)
inspector

# %%
# Twenty other good images and four with a defect are judged. The threshold was set by good images alone.

found = [inspector.check(image, name=f"image {place}") for place, image in enumerate(others)]
print("good images rejected:", sum(each.rejected for each in found[:20]), "of 20")
print("defects found:", sum(each.rejected for each in found[20:]), "of 4")

# %%
# One of them, as a notebook shows it.

found[20]

# %%
# Above the images, below where they differ from good ones. Blue lines are the true defects. The first image is good.

columns = [0, 20, 21, 22, 23]
figure, axes = plt.subplots(2, 5, figsize=(11, 4.8), layout="constrained")
for (above, below), place in zip(axes.T, columns, strict=True):
    mask, name = surfaces.masks[60 + place], surfaces.defects[60 + place] or "good"
    above.imshow(others[place], cmap="gray", vmin=0, vmax=1)
    above.set_title(f"{name}: {found[place].verdict}, p = {found[place].p_value:.2f}", fontsize="medium")
    limit = found[place].map_threshold
    below.imshow(found[place].log_ratio, cmap="magma", vmin=0, vmax=3 * limit)
    if mask.any():
        below.contour(mask, levels=[0.5], colors="#00e5ff", linewidths=1.2)
for ax in np.ravel(axes):
    ax.set_axis_off()
