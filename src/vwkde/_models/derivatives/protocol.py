"""What models of a density provide: its score and its Laplacian, and perhaps its logarithm."""

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray


class Derivatives(Protocol):
    """The derivatives of one density p that the bias of a kernel estimate depends on."""

    def score(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ∇log p, of shape (n, d)."""

    def laplacian_over_density(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ∇²p / p, of shape (n,)."""


class DensityModel(Derivatives, Protocol):
    """A fitted density in closed form, with its logarithm."""

    kind: ClassVar[str]

    @property
    def degenerate(self) -> bool:
        """Whether some direction hardly varies, so that there is no density."""

    def log_density(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p up to a constant, of shape (n,)."""
