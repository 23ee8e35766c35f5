"""Gaussian bumps around centres, and random Fourier features, whose products average to a Gaussian kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from discrim.basis.base import Basis, check_choice, check_count
from discrim.errors import DataError, ParameterError, plural
from discrim.store.fields import Array, Fields, Incoming, Many, Number, damaged
from discrim.store.values import Value
from discrim.typing import Floats

# A grid over many columns has points^columns centres; more than this are refused.
MOST_CENTRES = 10_000


@dataclass(eq=False, repr=False)
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

    learned: ClassVar[Fields] = {
        **Basis.learned, "gamma_": Number(0.0), "scale_": Array("p", low=5e-324), "_directions": Array("p q"),
        "_phases": Array("q"),
    }  # fmt: skip

    n_components: int = 100
    _: KW_ONLY
    gamma: Any = "scale"
    scale: bool = True
    random_state: Any = 0

    def check_functions(self, file: Incoming) -> None:
        """Raise where there are not so many functions."""
        file.bind("q", self.n_components, "n_components")

    def _learn(self, x: NDArray[np.float64]) -> None:
        check_count("n_components", self.n_components)
        named = isinstance(self.gamma, str)
        if (named and self.gamma != "scale") or (not named and not self.gamma > 0):
            raise ParameterError.bad_value("gamma", self.gamma, "a positive number or 'scale'")
        p = x.shape[1]
        self.gamma_ = 1.0 / p if named else float(self.gamma)
        self.scale_ = _scale(x, scale=self.scale)
        rng = np.random.default_rng(self.random_state)
        self._directions = rng.normal(size=(p, self.n_components)) * np.sqrt(2.0 * self.gamma_) / self.scale_[:, None]
        self._phases = rng.uniform(0.0, 2.0 * np.pi, self.n_components)

    def described(self) -> tuple[str, dict[str, Any]]:
        height = float(np.sqrt(2.0 / self.n_components))
        return "waves", {"directions": self._directions, "phases": self._phases, "height": height}

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        cosines = np.cos(x @ self._directions + self._phases)
        return np.asarray(np.sqrt(2.0 / self.n_components) * cosines, dtype=x.dtype)

    def names_of(self, names: Sequence[str]) -> list[str]:  # noqa: ARG002 - every function is of all columns
        return [f"wave{i}" for i in range(self.n_components)]


@dataclass(eq=False, repr=False)
class RadialBasis(Basis):
    """exp(-|x - c|^2 / (2 width^2)) for every centre c.

    Distances are taken in columns divided by their standard deviations, so that units do not matter; ``scale=False``
    takes them as they are. With ``per_column=True`` every column has bumps of its own (one-dimensional centres).

    Parameters
    ----------
    centres : int or array
        How many, or the centres themselves (m x p, in the units of the rows). On a grid it is the number along each
        column.
    placement : {'kmeans', 'grid', 'data'}
        Means of clusters; an even grid from the least to the largest value; or rows drawn from the data.
    width : float or None
        In the units of the distances; None takes the mean distance from a centre to the nearest other.
    per_column, scale : bool
    random_state : seed of the clusters and of the draw

    Attributes
    ----------
    centres_ : m x p in the units of the rows; with per_column a list of arrays
    width_ : float, or one for each column
    scale_ : p, what the columns are divided by
    """

    learned: ClassVar[Fields] = {
        **Basis.learned, "scale_": Array("p", low=5e-324), "_places": Many(Array("* *"), type=list), "width_": Value(),
    }  # fmt: skip

    centres: Any = 10
    _: KW_ONLY
    placement: str = "kmeans"
    width: float | None = None
    per_column: bool = False
    scale: bool = True
    random_state: Any = 0

    def rows_held(self) -> str:
        """The centres may be rows."""
        return "Its centres are rows that were drawn." if self.placement == "data" else ""

    def check_functions(self, file: Incoming) -> None:
        """Raise where centres and widths are not those of the columns."""
        p, each = file.letters["p"], bool(self.per_column)
        widths = np.asarray(self.width_)
        fits = widths.dtype == np.float64 and widths.shape == ((p,) if each else ())
        if (
            not fits
            or not (widths > 0).all()
            or not np.isfinite(widths).all()
            or len(self._places) != (p if each else 1)
        ):
            raise damaged("width_", "does not go with the columns")
        if any(centres.shape[1] != (1 if each else p) for centres in self._places):
            raise damaged("_places", "does not go with the columns")
        self._show_centres()

    def _show_centres(self) -> None:
        if self.per_column:
            self.centres_: Any = [c[:, 0] * s for c, s in zip(self._places, self.scale_, strict=True)]
        else:
            self.centres_ = self._places[0] * self.scale_

    def _learn(self, x: Floats) -> None:
        if self.width is not None and not self.width > 0:
            raise ParameterError.bad_value("width", self.width, "a positive number or None")
        check_choice("placement", self.placement, "kmeans", "grid", "data")
        self.scale_ = _scale(x, scale=self.scale)
        z = x / self.scale_
        if self.per_column:
            self._places = [self._centres(z[:, [j]], j) for j in range(x.shape[1])]
            self.width_: Any = np.array([self._width(c) for c in self._places])
        else:
            self._places = [self._centres(z, None)]
            self.width_ = self._width(self._places[0])
        self._show_centres()

    def described(self) -> tuple[str, dict[str, Any]]:
        fields = {"scale": self.scale_, "centres": self._places, "width": self.width_, "per_column": self.per_column}
        return "radial", fields

    def _map(self, x: NDArray[Any]) -> NDArray[Any]:
        z = np.asarray(x, dtype=np.float64) / self.scale_
        if not self.per_column:
            return _bumps(z, self._places[0], self.width_).astype(x.dtype, copy=False)
        columns = [_bumps(z[:, [j]], c, self.width_[j]) for j, c in enumerate(self._places)]
        return np.concatenate(columns, axis=1).astype(x.dtype, copy=False)

    def names_of(self, names: Sequence[str]) -> list[str]:
        if not self.per_column:
            return [f"rbf{i}" for i in range(len(self._places[0]))]
        return [f"{name}:rbf{i}" for name, c in zip(names, self._places, strict=True) for i in range(len(c))]

    def _centres(self, z: Floats, column: int | None) -> Floats:
        """Centres in scaled units, m x columns of z."""
        if not isinstance(self.centres, (int, np.integer)):
            return self._given(z.shape[1], column)
        wanted = int(self.centres)
        if wanted < 1:
            raise ParameterError.bad_value("centres", self.centres, "a number of at least 1, or an array")
        if self.placement == "grid":
            return _grid(z, wanted)
        distinct = np.unique(z, axis=0)
        if len(distinct) <= wanted:
            return distinct
        if self.placement == "data":
            rng = np.random.default_rng(self.random_state)
            return distinct[np.sort(rng.choice(len(distinct), wanted, replace=False))]
        from sklearn.cluster import KMeans

        means = KMeans(wanted, n_init=3, random_state=self.random_state).fit(z).cluster_centers_
        return np.asarray(means[np.lexsort(means.T[::-1])])

    def _given(self, p: int, column: int | None) -> Floats:
        try:
            given = np.asarray(self.centres, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError.bad_value("centres", self.centres, "a number or an array") from None
        given = given[:, None] if given.ndim == 1 else given
        if given.ndim != 2 or not len(given) or given.shape[1] != p or not np.isfinite(given).all():
            raise ParameterError(
                f"'centres' has the shape {np.shape(self.centres)}; {plural(p, 'column')} need an array of m x {p} "
                "finite numbers."
            )
        return given / (self.scale_ if column is None else self.scale_[column])

    def _width(self, centres: Floats) -> float:
        if self.width is not None:
            return float(self.width)
        if len(centres) < 2:
            return 1.0
        gaps = cdist(centres, centres)
        np.fill_diagonal(gaps, np.inf)
        nearest = gaps.min(axis=1)
        return float(nearest.mean()) or 1.0


def _bumps(z: Floats, centres: Floats, width: float) -> Floats:
    return np.asarray(np.exp(-0.5 * cdist(z, centres, "sqeuclidean") / width**2))


def _grid(z: Floats, points: int) -> Floats:
    if float(points) ** z.shape[1] > MOST_CENTRES:
        raise DataError(
            f"A grid of {points} points along each of {z.shape[1]} columns has more than {MOST_CENTRES} centres. "
            "Use placement='kmeans', fewer points, or per_column=True."
        )
    axes = [np.linspace(column.min(), column.max(), points) for column in z.T]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


def _scale(x: Floats, *, scale: bool) -> Floats:
    """What columns are divided by: their standard deviations, or 1."""
    deviation = x.std(axis=0)
    return np.where(deviation > 0, deviation, 1.0) if scale else np.ones(x.shape[1])
