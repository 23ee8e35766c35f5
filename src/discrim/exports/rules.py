"""Scores of the classes, from the plain description of a rule: its kind, and its arrays by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.exports.program import (
    Node,
    affine,
    apply,
    const,
    distances,
    first_largest,
    join,
    largest,
    no_export,
    positive_part,
    quadratic,
    take,
    total,
)
from discrim.exports.terms import Columns, additive_scores
from discrim.typing import Floats

# A kind, and fields by name.
Described = tuple[str, Mapping[str, Any]]
Fields = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Scores:
    """Log posteriors up to a constant, of the classes that can occur: ``possible`` are their numbers.

    ``best`` is the place of the answer among the classes ``among``, and ``by`` what it was chosen by, which need not be
    ``values``. ``has_posterior`` is False for values that are no log posteriors.
    """

    values: Node
    possible: NDArray[np.intp]
    best: Node
    by: Node
    among: NDArray[np.intp]
    top: Node
    has_posterior: bool = True


def scores_of(rule: Described, columns: Columns) -> Scores:
    """The scores of a described rule."""
    kind, fields = rule
    if kind == "centroid":
        return _centroid(fields, columns.dense)
    if kind == "median":
        return _median(fields, columns.dense)
    if kind == "additive":
        values, possible, finite = additive_scores(fields, columns)
        return _largest(values, possible, finite=finite)
    if kind == "counts without smoothing":
        return _limit(fields, columns.dense)
    values, possible = _plain(rule, columns.dense)
    return _largest(values, possible)


def raw_scores(rule: Described, x: Node) -> Node:
    """All scores of a rule none of which is of a class that cannot occur."""
    values, possible = _plain(rule, x)
    size = constant_size(rule)
    if len(possible) < size:
        raise no_export(
            "A multi-class scheme in which a class has the prior zero", "Fit it without this class, or with priors."
        )
    return values


def constant_size(rule: Described) -> int:
    """The number of scores."""
    _, fields = rule
    return len(fields["offset"]) if "offset" in fields else constant_size(fields["inner"])


def _plain(rule: Described, x: Node) -> tuple[Node, NDArray[np.intp]]:
    kind, fields = rule
    if kind not in PLAIN:
        raise no_export(f"A rule of the kind '{kind}'", f"Rules of the kinds {', '.join(PLAIN)} can.")
    return PLAIN[kind](fields, x)


def _largest(values: Node, possible: NDArray[np.intp], *, has_posterior: bool = True, finite: bool = True) -> Scores:
    values = values if values.name else values.called("scores", "log posteriors, up to a constant of the row")
    top = largest(values, finite=finite).called("top", "the largest score")
    return Scores(values, possible, first_largest(values, top).called("best"), values, possible, top, has_posterior)


def possible_of(offset: Floats) -> NDArray[np.intp]:
    """The classes that can occur."""
    return np.flatnonzero(~np.isneginf(offset))


def indicators(x: Node, threshold: float | None) -> Node:
    """1 where x is above the threshold, 0 where it is not, NaN where it is missing; without a threshold x itself."""
    if threshold is None:
        return x
    return apply("above", x, float(threshold)).called("present", f"1 where a column is above {threshold:g}")


def _linear(fields: Fields, x: Node) -> tuple[Node, NDArray[np.intp]]:
    possible = possible_of(fields["offset"])
    coef, offset, origin = fields["coef"][possible], fields["offset"][possible], fields["origin"]
    used = np.flatnonzero((coef != 0).any(axis=0))
    if len(used) < coef.shape[1]:
        # Columns that do not matter are not read; one stays, for a row must be known to say anything.
        used = used if len(used) else np.arange(1)
        x, coef, origin = take(x, used), coef[:, used], origin[used]
    x = indicators(x, fields.get("threshold"))
    if origin.any():
        x = apply("subtract", x, const(origin, "origin")).called("centred")
    return affine(x, coef, offset), possible


def _diagonal(fields: Fields, x: Node) -> tuple[Node, NDArray[np.intp]]:
    possible = possible_of(fields["offset"])
    distance = distances(x, fields["mean"][possible], fields["precision"][possible])
    distance = distance.called("distance", "squared, from the mean of each class in units of its deviations")
    return _minus_half(fields["offset"][possible], distance), possible


def _quadratic(fields: Fields, x: Node) -> tuple[Node, NDArray[np.intp]]:
    possible = possible_of(fields["offset"])
    distance = quadratic(x, fields["mean"][possible], fields["factor"][possible])
    distance = distance.called("distance", "squared Mahalanobis distance from the mean of each class")
    return _minus_half(fields["offset"][possible], distance), possible


def _minus_half(offset: Floats, distance: Node) -> Node:
    return apply("subtract", const(offset, "offset"), apply("multiply", distance, 0.5))


def _projected(fields: Fields, x: Node) -> tuple[Node, NDArray[np.intp]]:
    basis: Floats = fields["basis"]
    centred = apply("subtract", x, const(fields["origin"], "origin")).called("centred")
    z = affine(centred, basis.T, 0.0, ("basis", "nothing")).called("z", "coordinates in the basis")
    squares = total(apply("square", centred)), total(apply("square", z))
    residual = positive_part(apply("subtract", *squares)).called("residual", "squared length of what lies outside")
    inner, possible = _plain(fields["inner"], z)
    precision = np.broadcast_to(fields["residual_precision"], (constant_size(fields["inner"]),))[possible]
    outside = apply("multiply", const(0.5 * precision, "half_precision"), residual)
    return apply("subtract", inner, outside), possible


def _low_rank(fields: Fields, x: Node) -> tuple[Node, NDArray[np.intp]]:
    possible = possible_of(fields["offset"])
    parts = []
    for number, k in enumerate(possible.tolist()):
        with np.errstate(divide="ignore"):
            inverse = 1.0 / np.broadcast_to(fields["root"], fields["mean"].shape)[k]
        u = apply("subtract", x, const(fields["mean"][k], f"mean_{number}"))
        u = apply("multiply", u, const(inverse, f"inverse_root_{number}")).called(f"u_{number}")
        directions: Floats = fields["directions"][k]
        if directions.shape[1]:
            along = affine(u, (directions * fields["gain"][k]).T, 0.0, (f"down_{number}", "nothing"))
            back = affine(along.called(f"along_{number}"), directions, 0.0, (f"up_{number}", "nothing"))
            u = apply("add", u, back)
        parts.append(total(apply("square", u)))
    return _minus_half(fields["offset"][possible], join(parts).called("distance")), possible


def _student(fields: Fields, x: Node) -> tuple[Node, NDArray[np.intp]]:
    inner, among = _plain(fields["inner"], x)
    possible = np.intersect1d(possible_of(fields["offset"]), among)
    inner = take(inner, np.searchsorted(among, possible)).called("inner", "minus half a squared distance")
    stretched = apply("log1p", apply("multiply", inner, const(-2.0 * fields["rate"][possible], "rate")))
    tails = apply("multiply", const(fields["power"][possible], "power"), stretched)
    return apply("subtract", const(fields["offset"][possible], "offset"), tails), possible


def _quadratic_basis(fields: Fields, x: Node) -> tuple[Node, NDArray[np.intp]]:
    first, second = np.triu_indices(x.width)
    products = apply("multiply", take(x, first), take(x, second))
    return _plain(fields["inner"], join([x, products]).called("expanded", "columns, squares and products"))


PLAIN: dict[str, Callable[[Fields, Node], tuple[Node, NDArray[np.intp]]]] = {
    "linear": _linear,
    "diagonal": _diagonal,
    "quadratic": _quadratic,
    "projected": _projected,
    "low rank": _low_rank,
    "student": _student,
    "quadratic basis": _quadratic_basis,
}


def _centroid(fields: Fields, x: Node) -> Scores:
    """Posteriors by one rule, and the answer by another where centroids are compared in the columns' own units."""
    values, possible = _plain(fields["posterior"], x)
    found = _largest(values, possible)
    if fields["nearest"] is None:
        return found
    nearest, among = _plain(fields["nearest"], x)
    nearest = nearest.called("nearness", "grows as the distance from the centroid falls")
    other = _largest(nearest, among)
    return Scores(found.values, possible, other.best.called("nearest"), other.by, among, found.top)


def _median(fields: Fields, x: Node) -> Scores:
    possible = possible_of(fields["offset"])
    unit = np.ones_like(fields["unit"]) if fields["nearest"] else fields["unit"]
    with np.errstate(divide="ignore"):
        distance = distances(x, fields["centroids"][possible], 1.0 / unit, power=1)
    distance = distance.called("distance", "sum of absolute differences from the centroid of each class")
    if fields["nearest"]:
        return _largest(apply("negative", distance), possible, has_posterior=False)
    squared = apply("square", distance)
    return _largest(
        apply("subtract", const(fields["offset"][possible], "offset"), squared), possible, has_posterior=False
    )


def _limit(fields: Fields, x: Node) -> Scores:
    """Among the classes with the least of one sum, the largest of another."""
    possible = possible_of(fields["offset"])
    x = indicators(x, fields.get("threshold"))
    never = affine(x, fields["never"][possible], fields["never_offset"][possible], ("never", "never_offset"))
    never = never.called("never", "how often a row has what the class cannot have")
    least = largest(apply("negative", never)).called("least")
    gap = apply("add", never, least)
    among = affine(x, fields["coef"][possible], fields["offset"][possible])
    values = apply("select", apply("above", gap, 0.0), const(-np.inf), among)
    values = values.called("scores", "-inf for all classes but those with the least")
    return _largest(values, possible, finite=False)
