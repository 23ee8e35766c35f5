"""Random cosines, whose products average to a Gaussian kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.basis.base import Basis
from discrim.errors import ParameterError


class FourierBasis(Basis):
    """sqrt(2 / m) cos(w'x + b) with w ~ N(0, 2 gamma I) and b uniform: random Fourier features (Rahimi and Recht 2007).

    Inner products of mapped rows approach exp(-gamma |x - z|^2) as m = ``n_components`` grows, with an error of about
    1 / sqrt(m). Distances are taken in columns divided by their standard deviations, unless ``scale=False``.

    Parameters
    ----------
    n_components : int
    gamma : float or 'scale', which is 1 / (number of columns)
    scale : bool
    random_state : seed
    """

    def __init__(
        self, n_components: int = 100, *, gamma: Any = "scale", scale: bool = True, random_state: Any = 0
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.scale = scale
        self.random_state = random_state

    def _learn(self, x: NDArray[np.float64]) -> None:
        if not isinstance(self.n_components, int) or self.n_components < 1:
            raise ParameterError.bad_value("n_components", self.n_components, "an integer of at least 1")
        named = isinstance(self.gamma, str)
        if (named and self.gamma != "scale") or (not named and not self.gamma > 0):
            raise ParameterError.bad_value("gamma", self.gamma, "a positive number or 'scale'")
        p = x.shape[1]
        self.gamma_ = 1.0 / p if named else float(self.gamma)
        deviation = x.std(axis=0)
        self.scale_ = np.where(deviation > 0, deviation, 1.0) if self.scale else np.ones(p)
        rng = np.random.default_rng(self.random_state)
        self._directions = rng.normal(size=(p, self.n_components)) * np.sqrt(2.0 * self.gamma_) / self.scale_[:, None]
        self._phases = rng.uniform(0.0, 2.0 * np.pi, self.n_components)

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        waves = np.cos(x @ self._directions + self._phases)
        return np.asarray(np.sqrt(2.0 / self.n_components) * waves, dtype=x.dtype)

    def names_of(self, names: Sequence[str]) -> list[str]:  # noqa: ARG002 - every function is of all columns
        return [f"wave{i}" for i in range(self.n_components)]
