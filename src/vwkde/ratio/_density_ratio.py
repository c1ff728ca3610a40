"""The estimator: a ratio with the interface of scikit-learn."""

from typing import Any, Self

from sklearn.base import BaseEstimator, clone

from vwkde._display import html
from vwkde.ratio._card import ratio_card
from vwkde.ratio._plain import PlainRatio


class DensityRatio(PlainRatio, html.ShownWhenFitted, BaseEstimator):  # type: ignore[misc]
    """The ratio p₁/p₂ of two densities known by samples.

    Two kernel density estimates share a weight function that cancels the leading bias of their ratio. The samples are
    whitened first, so that the pooled within-class covariance is the identity; `bandwidth` and `length_scale` are in
    those units. Units and origin of the columns never change the answer. A rotation may change that of `guide="auto"`:
    columns mean something, and some of its candidates look at them one by one or in pairs.

    Parameters
    ----------
    guide : str, None, classifier or list, default="auto"
        A coarse log ratio that enters the weights. See the notes for the three forms.

        - "auto": chooses guide, bandwidth, weight and coordinates from the data.
        - None: the paper's form, without a guide.
        - "gaussian", "shared-gaussian" (with one covariance), "shrunk-gaussian", "student" (heavy tails), "independent"
          (linear mixtures of independent columns), "mixture", "paired-mixture" (both start from a common one),
          "shared-mixture" (the same clusters in both samples, in other proportions), "scatter" (the scatter of columns
          depends on those before), "bends" (columns follow curves of others), "windows" (columns are steps of one
          series), "lump" (a few rows, in clusters or far out, that one sample lacks): models of both densities.
        - "logistic", "line" (without a ridge), "waves" (sines along a few directions), "radial" (a curve of the
          distance from the centre), "additive", "curves" (a polynomial of each column, without a ridge), "dependence"
          (all products of two bent columns), "boosting", "tree" (one with large leaves), "boxes" (a table of cells
          between edges), "network" (two hidden layers), or any scikit-learn classifier: the log odds of a cross-fitted
          classifier.
        - a list of such names and classifiers: like "auto", with these guides alone to choose among.
    weighting : {"variational", "network", "closed-form", "uniform"}, default="variational"
        The weight function: the kernel expansion that minimises the bias, a network that does so, (p₁p₂)^(−½) of the
        fitted densities, or no weight, which is the plain kernel density estimate. With `guide="auto"` it must be
        "variational".
    derivatives : {"auto", "gaussian", "mixture", "kernel", "network"} or object, default="auto"
        The model of each density's score and Laplacian: one Gaussian per sample, a mixture of Gaussians, a kernel
        expansion around a Gaussian, or a network trained by score matching. "auto" takes the one of the first three
        that fits held-out rows best. An object needs a method `fit(x, weight)` that returns something with the methods
        `score` and `laplacian_over_density`; it gets whitened points. With `guide="auto"` it must be "auto".
    target : {"pooled", "posterior", "ratio", "kl"}, default="pooled"
        Where the weight makes the bias small: under the pooled density, the same weighted by P₁²P₂² or by (p₁/p₂)², or
        under the numerator. With `guide="auto"` it must be "pooled".
    bandwidth : {"auto", "scott", "silverman", "likelihood", "ise"} or float, default="auto"
        The kernel's width. "auto" chooses it together with the guide; with `guide=None` it maximises the leave-one-out
        likelihood on quarters of the samples.
    length_scale : "auto" or float, default="auto"
        The width of the expansion's basis functions. "auto" is the median distance between points.
    ridge : float, default=0.1
        The penalty on the expansion's coefficients.
    max_basis : int, default=3000
        Maximum number of the expansion's basis points, which are drawn from the samples.
    max_held : int, default=10000
        Maximum rows per sample kept in memory, for file or Dask input (see `fit`); they are drawn at random. Guide,
        bandwidth and coordinates are chosen by them, and divergences average over them. Kernel sums, the weight and
        moments use all rows.
    subspace : "auto" or bool, default="auto"
        Whether to look for a few directions that carry the ratio, and to leave the others out where held-out rows
        confirm the gain. "auto" does so with `guide="auto"` only.
    random_state : int, RandomState or None, default=0
        Seeds every random choice. The same call on the same data gives the same answer.
    memory_budget : int, default=2**28
        Bytes for temporary blocks. It changes memory use, not results.
    n_threads : int, optional
        Threads to use. By default, all that the machine and its environment allow.
    engine : {"auto", "numba", "numba-exact", "torch", "triton", "dask", "reference"}, default="auto"
        What computes kernel sums and weights: compiled loops on the CPU, torch on a device, fused kernels on a CUDA
        GPU, compiled loops on the workers of the current Dask client, or plain NumPy. "auto" depends on the device and
        on what is installed; passes over Dask arrays are always Dask tasks. It changes speed, not results: sums of
        many rows by "numba" may differ from those of the others by a part in 10⁶.
    device : str, optional
        Where to compute and to train networks: "cpu", "cuda" or another torch device. By default, the device of the
        tensors given to `fit`, and the CPU for other input.
    missing : {"refuse", "indicator"}, default="refuse"
        Missing values (NaN, None, null) raise an error, or they are information: "indicator" adds a 0/1 column for each
        column that has them, and fills in a value in the middle of the others.
    dates : {"refuse", "number", "drop"}, default="refuse"
        Columns of dates or times raise an error, become numbers (seconds since 1970), or are left out.

    Attributes
    ----------
    guide_ : str
        The guide with the largest share in averages, or "none".
    bandwidth_ : float
        The bandwidth that goes with it; infinite where the guide is used alone.
    weight_ : object
        The fitted weight function, in that guide's coordinates.
    held_rows_ : pair of arrays or None
        The numbers of the rows in memory, for file or Dask input; None where all rows are in memory.
    n_features_in_ : int
        The number of columns seen in `fit`, without those that were left out because they label rows.
    feature_names_in_ : array of str
        Their names. Set only if the columns have names.

    Notes
    -----
    The guide decides what is fitted:

    - `guide=None` is the paper's form [1]_: exactly the `weighting`, `derivatives` and `target` that are named.
    - A named guide or a classifier: kernel sums around that guide. The weight that is named is fitted to the bias that
      the guide leaves, and is kept only where it clearly lowers the held-out log loss. `diagnostics_["weighting"]` is
      the weight in use, `diagnostics_["weighting_tried"]` the one that was tried. A guide needs at least 20 rows of
      each sample; with fewer, the ratio is estimated without it and a warning is raised.
    - `guide="auto"` or a list: guide, bandwidth, weight and coordinates are those with the lowest held-out log loss;
      close candidates are averaged. The variational weight is one candidate among others. Coordinates are the whitened
      columns, their normal scores, a few directions, a few of the columns, or their first principal components. A
      classifier of the user gets the normal scores of the columns.

    Where kernel sums do not improve on a guide, it is used alone: without smoothing there is no bandwidth, no weight
    and no bias to cancel. Networks need `vwkde[torch]`.

    References
    ----------
    .. [1] S. Yoon, F. C. Park, G. Yun, I. Kim and Y.-K. Noh, "Variational Weighting for Kernel Density Ratios",
       NeurIPS 2023.

    Examples
    --------
    >>> import vwkde
    >>> from vwkde.datasets import isotropic
    >>> P, Q = isotropic(2).sample(300)
    >>> ratio = vwkde.DensityRatio().fit(P, Q)
    >>> ratio.log_ratio([[0.0, 0.0]]).shape
    (1,)

    The paper's form, with the weight that is named:

    >>> paper = vwkde.DensityRatio(guide=None, derivatives="gaussian").fit(P, Q)
    >>> paper.diagnostics_["weighting"]
    'variational'
    """

    def _card(self) -> str:
        """Return what a notebook shows, once fitted."""
        return ratio_card(self) if hasattr(self, "weight_") else ""

    def _unfitted(self, **changes: Any) -> Self:
        return clone(self).set_params(**changes)
