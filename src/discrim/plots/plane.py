"""The plane in which the classes of a model are furthest apart, for any model and any number of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from discrim.errors import ParameterError, name_list, plural
from discrim.plots.rows import MOST_ROWS, column_names, fitted_classes, lacks, points_of
from discrim.typing import Floats

# Columns for which p x p matrices are made.
MOST_SQUARE = 1500


@dataclass(frozen=True, eq=False)
class Moments:
    """Of each class: its ``weight``, ``mean`` (K x p) and covariance ``sigma`` (K x p x p, or p x p for all)."""

    weight: Floats
    mean: Floats
    sigma: Floats

    @property
    def centre(self) -> Floats:
        return np.asarray(self.weight @ self.mean / self.weight.sum(), dtype=np.float64)

    @property
    def within(self) -> Floats:
        if self.sigma.ndim == 2:
            return self.sigma
        return np.asarray(np.einsum("k,kij->ij", self.weight, self.sigma) / self.weight.sum())

    @property
    def between(self) -> Floats:
        gaps = self.mean - self.centre
        return np.asarray((gaps.T * self.weight) @ gaps / self.weight.sum())

    def of_class(self, k: int) -> Floats:
        return self.sigma if self.sigma.ndim == 2 else self.sigma[k]


@dataclass(frozen=True, eq=False)
class DiscriminantPlane:
    """z = A'(x - origin), and back x = origin + ``back`` z for the point of the plane; ``names`` of the columns.

    ``remark`` is what a picture says of directions that are not the usual ones.
    """

    origin: Floats
    scalings: Floats
    back: Floats
    share: Floats
    moments: Moments | None
    means: Floats
    names: list[str]
    remark: str = ""

    def project(self, x: Floats) -> Floats:
        return np.asarray((x - self.origin) @ self.scalings)

    def covariance(self, k: int, pair: list[int]) -> Floats:
        """Of a class in two of the coordinates; spherical where only the directions are known."""
        if self.moments is None:
            return np.eye(2)
        a = self.scalings[:, pair]
        return np.asarray(a.T @ self.moments.of_class(k) @ a)

    @property
    def loadings(self) -> Floats:
        """Correlations within classes of the columns with the coordinates, p x L; scalings where that is unknown."""
        if self.moments is None:
            return self.scalings
        sigma = self.moments.within
        deviations = np.sqrt(np.diag(sigma))[:, None] * np.sqrt(np.diag(self.scalings.T @ sigma @ self.scalings))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.nan_to_num(sigma @ self.scalings / deviations))


def discriminant_plane(model: Any, X: Any = None, y: Any = None) -> DiscriminantPlane:
    """Of the model's own directions where it has some, else of its statistic, else of the rows."""
    classes = fitted_classes(model)
    moments = moments_of(model) if X is None or y is None else None
    own = own_scalings(model)
    if moments is None and X is not None and y is not None:
        rows = points_of(X, y, classes=classes, most=MOST_ROWS)
        moments = moments_of_rows(rows.x, rows.codes, len(classes)) if rows.x.shape[1] <= MOST_SQUARE else None
        moments = moments_of(model) or moments
    if own is None and moments is None:
        found = _columnwise(model, X, y)
        if found is not None:
            return _independent_plane(found, column_names(model, X))
        raise lacks(
            model, "discriminant directions (scalings_), nor class means and covariances (statistic_)",
            "Pass rows and their labels: (model, X, y).",
        )  # fmt: skip
    if own is None:
        assert moments is not None
        scalings, values = directions(moments)
        origin = moments.centre
    else:
        scalings, origin = own, np.asarray(getattr(model, "xbar_", np.zeros(len(own))), dtype=float)
        values = np.asarray(getattr(model, "explained_variance_ratio_", np.ones(own.shape[1])), dtype=float)
    if not scalings.shape[1]:
        raise ParameterError("The class means are equal in all columns, so that there is no direction to draw.")
    means = getattr(model, "means_", None) if moments is None else moments.mean
    if means is None:
        raise lacks(model, "class means (means_)")
    share = np.full(scalings.shape[1], np.nan)
    share[: len(values)] = (values / values.sum())[: len(share)] if values.sum() > 0 else np.nan
    back = np.linalg.pinv(scalings).T if moments is None else _back(moments.within, scalings)
    return DiscriminantPlane(
        origin,
        scalings,
        np.asarray(back, dtype=np.float64),
        share,
        moments,
        (np.asarray(means) - origin) @ scalings,
        column_names(model, X),
    )


def _columnwise(model: Any, X: Any, y: Any) -> tuple[Floats, Floats, Floats] | None:
    """Weights and means (K x p) of the classes and variances within them, of the statistic or of the rows."""
    statistic: Any = getattr(model, "statistic_", None)
    if getattr(statistic, "scatter", None) is not None and str(getattr(statistic, "depth", "")) == "diagonal":
        weight = np.asarray(statistic.weight, dtype=float)
        return weight, np.asarray(statistic.mean, dtype=float), statistic.scatter.sum(axis=0) / weight.sum()
    if X is None or y is None:
        return None
    classes = fitted_classes(model)
    rows = points_of(X, y, classes=classes)
    weight, mean = means_of_rows(rows.x, rows.codes, len(classes))
    return weight, mean, ((rows.x - mean[rows.codes]) ** 2).mean(axis=0)


def _independent_plane(found: tuple[Floats, Floats, Floats], names: list[str]) -> DiscriminantPlane:
    """The directions in which the classes differ most, with the columns taken as independent within them."""
    weight, mean, variance = found
    centre = weight @ mean / weight.sum()
    with np.errstate(divide="ignore"):
        scale = np.where(variance > 0, 1.0 / np.sqrt(variance), 0.0)
    gaps = np.sqrt(weight / weight.sum())[:, None] * (mean - centre) * scale
    _, values, vectors = np.linalg.svd(gaps, full_matrices=False)
    keep = (values > 1e-7 * max(float(values[0]), 1e-300)) & (np.arange(len(values)) < len(weight) - 1)
    if not keep.any():
        raise ParameterError("The class means are equal in all columns, so that there is no direction to draw.")
    scalings = vectors[keep].T * scale[:, None]
    share = values[keep] ** 2 / (values[keep] ** 2).sum()
    said = "directions: columns taken as independent"
    return DiscriminantPlane(
        centre, scalings, variance[:, None] * scalings, share, None, (mean - centre) @ scalings, names, said
    )


def _back(within: Floats, scalings: Floats) -> Floats:
    """The most likely row of a given point of the plane: W A (A'WA)^-1 z."""
    return np.asarray(within @ scalings @ np.linalg.pinv(scalings.T @ within @ scalings))


def own_scalings(model: Any) -> Floats | None:
    """The directions of a fitted discriminant analysis, p x L."""
    found = getattr(model, "scalings_", None)
    if isinstance(found, np.ndarray) and found.ndim == 2 and found.dtype != object:
        rank = min(found.shape[1], len(model.classes_) - 1)
        return np.asarray(found[:, :rank], dtype=float)
    return None


def moments_of(model: Any) -> Moments | None:
    """What the statistic of a fitted model knows of the classes."""
    statistic: Any = getattr(model, "statistic_", None)
    if hasattr(statistic, "to_moments") and statistic.n_features <= MOST_SQUARE:
        statistic = statistic.to_moments()
    scatter = getattr(statistic, "scatter", None)
    if scatter is None or statistic is None or statistic.mean.shape[1] > MOST_SQUARE:
        return None
    weight, mean = np.asarray(statistic.weight, dtype=float), np.asarray(statistic.mean, dtype=float)
    if not (weight > 0).all():
        return None
    scatter = np.asarray(scatter, dtype=float)
    if scatter.ndim == 3:
        return Moments(weight, mean, scatter / weight[:, None, None])
    if str(getattr(statistic, "depth", "")) == "diagonal":
        return Moments(weight, mean, np.array([np.diag(row / n) for row, n in zip(scatter, weight, strict=True)]))
    return Moments(weight, mean, scatter / weight.sum())


def moments_of_rows(x: Floats, codes: Any, size: int) -> Moments:
    """Of labelled rows; every class must have some."""
    weight, mean = means_of_rows(x, codes, size)
    parts = [x[codes == k] for k in range(size)]
    sigma = np.array([(part - m).T @ (part - m) / len(part) for part, m in zip(parts, mean, strict=True)])
    return Moments(weight, mean, sigma)


def means_of_rows(x: Floats, codes: Any, size: int) -> tuple[Floats, Floats]:
    """How many rows each class has, and their means; every class must have some."""
    weight = np.bincount(codes, minlength=size).astype(float)
    if not (weight > 0).all():
        raise ParameterError(f"X has no rows of {plural(int((weight == 0).sum()), 'class', 'classes')} of the model.")
    return weight, np.array([x[codes == k].mean(axis=0) for k in range(size)])


def sphering_matrix(sigma: Floats) -> Floats:
    """Sigma^(-1/2), symmetric; directions without variance are left out."""
    values, vectors = linalg.eigh(sigma)
    keep = values > 1e-10 * max(float(values[-1]), 1e-300)
    return np.asarray((vectors[:, keep] / np.sqrt(values[keep])) @ vectors[:, keep].T)


def directions(moments: Moments) -> tuple[Floats, Floats]:
    """The A that makes A'WA = I and A'BA diagonal, the largest first; and this diagonal."""
    scale = np.sqrt(np.diag(moments.within))
    scale = np.where(scale > 0, scale, 1.0)
    sphere = sphering_matrix(moments.within / np.outer(scale, scale)) / scale[:, None]
    values, vectors = linalg.eigh(sphere.T @ moments.between @ sphere)
    order = np.argsort(values)[::-1][: len(moments.weight) - 1]
    order = order[values[order] > 1e-12 * max(float(values.max()), 1e-300)]
    return np.asarray(sphere @ vectors[:, order]), np.asarray(values[order])


def two_axes(axes: Any, plane: DiscriminantPlane) -> list[int]:
    """The coordinates of a picture, counted from 0."""
    size = plane.scalings.shape[1]
    chosen = np.ravel(np.asarray(axes)).tolist()
    whole = all(isinstance(a, int) and 0 <= a < size for a in chosen)
    if len(chosen) != 2 or chosen[0] == chosen[1] or not whole:
        names = name_list([f"LD{i + 1}" for i in range(size)])
        raise ParameterError(f"axes={axes!r} must be two of the {size} discriminant coordinates ({names}), from 0.")
    return chosen
