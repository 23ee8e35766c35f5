"""Functions of columns, from the plain description of a basis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from discrim.exports.program import Node, affine, apply, const, distances, exp, join, no_export, take
from discrim.typing import Floats

Fields = Mapping[str, Any]


def mapped(described: tuple[str, Fields], x: Node) -> Node:
    """The functions of a described basis."""
    kind, fields = described
    if kind not in MAPS:
        raise no_export(f"A map of the kind '{kind}'", f"Those of the kinds {', '.join(MAPS)} can.")
    result = MAPS[kind](fields, x)
    return result.called(f"{kind}_columns".replace(" ", "_"), "functions of the columns")


def _products(fields: Fields, x: Node) -> Node:
    """A product is its first factors' product, of one degree less, times the last."""
    terms: list[tuple[int, ...]] = fields["terms"]
    parts: list[Node] = []
    below: dict[tuple[int, ...], int] = {}
    for degree in range(1, max(map(len, terms)) + 1):
        here = [term for term in terms if len(term) == degree]
        last = take(x, [term[-1] for term in here])
        if degree > 1:
            last = apply("multiply", take(parts[-1], [below[term[:-1]] for term in here]), last)
        parts.append(last.called(f"degree_{degree}", "products of so many columns") if degree > 1 else last)
        below = {term: place for place, term in enumerate(here)}
    return join(parts)


def _joined(fields: Fields, x: Node) -> Node:
    return join([x if part is None else mapped(part, x).called(f"part_{i}") for i, part in enumerate(fields["parts"])])


def _columns_of_each(lists: list[Floats]) -> np.ndarray[Any, Any]:
    """The place of the column that each of the numbers of all lists belongs to."""
    return np.repeat(np.arange(len(lists)), [len(each) for each in lists])


def _steps(fields: Fields, x: Node) -> Node:
    knots = const(np.concatenate(fields["knots"]), "knots")
    own = take(x, _columns_of_each(fields["knots"]))
    if fields["values"] == "sign":
        return apply("sign", apply("subtract", own, knots))
    return apply("above", own, knots)


def _radial(fields: Fields, x: Node) -> Node:
    z = apply("divide", x, const(fields["scale"], "scale")).called("scaled")
    if not fields["per_column"]:
        squares = distances(z, fields["centres"][0], np.ones((1, z.width)))
        return exp(apply("multiply", squares.called("squares"), -0.5 / float(fields["width"]) ** 2))
    centres = [each[:, 0] for each in fields["centres"]]
    gap = apply("subtract", take(z, _columns_of_each(centres)), const(np.concatenate(centres), "centre"))
    half = np.repeat(-0.5 / np.asarray(fields["width"]) ** 2, [len(each) for each in centres])
    return exp(apply("multiply", apply("square", gap), const(half, "minus_half_precision")))


def _waves(fields: Fields, x: Node) -> Node:
    angle = affine(x, fields["directions"].T, fields["phases"], ("directions", "phases")).called("angle")
    return apply("multiply", apply("cos", angle), float(fields["height"]))


def _splines(fields: Fields, x: Node) -> Node:
    """De Boor's recursion for all columns side by side; beyond the ends straight lines or constants."""
    degree, how = int(fields["degree"]), fields["extrapolation"]
    low, high = fields["ranges"].T
    inside = x
    if how != "continue":
        inside = apply("smaller", apply("larger", x, const(low, "low")), const(high, "high")).called("inside")
    knots = [np.concatenate([np.full(degree + 1, a), t, np.full(degree + 1, b)]) for t, a, b in zip(
        fields["knots"], low, high, strict=True
    )]  # fmt: skip
    values = _pieces(knots, degree, inside)
    for order in range(1, degree + 1):
        values = _raised(knots, order, values, inside)
    starts = np.cumsum([0, *(len(t) - degree - 1 for t in knots)])
    wanted = np.concatenate([np.arange(a + 1, b) for a, b in pairwise(starts.tolist())])
    values = take(values, wanted)
    if how != "linear":
        return values
    own = np.repeat(np.arange(len(knots)), [len(t) - degree - 2 for t in knots])
    below = apply("smaller", apply("subtract", x, const(low, "low")), 0.0).called("below", "how far below the range")
    above = apply("larger", apply("subtract", x, const(high, "high")), 0.0).called("beyond", "how far above it")
    slopes = [
        const(np.concatenate(part), name)
        for part, name in zip(fields["slopes"], ("rise_low", "rise_high"), strict=True)
    ]
    for far, slope in zip((below, above), slopes, strict=True):
        values = apply("add", values, apply("multiply", take(far, own), slope))
    return values


def _pieces(knots: list[Floats], degree: int, x: Node) -> Node:
    """1 in the interval between two knots, 0 elsewhere; the first and last go on for ever."""
    starts, stops = [], []
    for t in knots:
        first, last = degree, len(t) - degree - 2
        start, stop = t[:-1].copy(), t[1:].copy()
        start[first], stop[last] = -np.inf, np.inf
        empty = np.r_[0:first, last + 1 : len(start)]
        start[empty] = stop[empty] = np.inf
        starts.append(start)
        stops.append(stop)
    own = take(x, _columns_of_each(starts))
    low, high = const(np.concatenate(starts), "start"), const(np.concatenate(stops), "stop")
    inside = apply("subtract", apply("at_least", own, low), apply("at_least", own, high))
    # What is missing has no interval.
    return apply("add", inside, apply("subtract", own, own)).called("pieces", "1 for the interval between two knots")


def _raised(knots: list[Floats], order: int, values: Node, x: Node) -> Node:
    """B-splines of one degree more: (x - t_i) / (t_i+d - t_i) B_i + (t_i+d+1 - x) / (t_i+d+1 - t_i+1) B_i+1."""
    left, right, places, own, start = [], [], [], [], 0
    for column, t in enumerate(knots):
        count = len(t) - order - 1
        left.append(np.column_stack([t[:count], t[order : order + count]]))
        right.append(np.column_stack([t[1 : count + 1], t[order + 1 : order + 1 + count]]))
        places.append(start + np.arange(count))
        own.append(np.full(count, column))
        start += len(t) - order
    (a, b), (c, d), place = np.concatenate(left).T, np.concatenate(right).T, np.concatenate(places)
    with np.errstate(divide="ignore"):
        up, down = np.where(b > a, 1.0 / (b - a), 0.0), np.where(d > c, 1.0 / (d - c), 0.0)
    z = take(x, np.concatenate(own))
    rising = apply("multiply", apply("subtract", z, const(a, f"from_{order}")), const(up, f"up_{order}"))
    falling = apply("multiply", apply("subtract", const(d, f"to_{order}"), z), const(down, f"down_{order}"))
    result = apply(
        "add", apply("multiply", rising, take(values, place)), apply("multiply", falling, take(values, place + 1))
    )
    return result.called(f"splines_{order}", "B-splines of this degree")


def _standardised(fields: Fields, x: Node) -> Node:
    if fields["centre"] is not None:
        x = apply("subtract", x, const(fields["centre"], "centre"))
    return x if fields["scale"] is None else apply("divide", x, const(fields["scale"], "scale"))


MAPS: dict[str, Callable[[Fields, Node], Node]] = {
    "products": _products,
    "joined": _joined,
    "steps": _steps,
    "radial": _radial,
    "waves": _waves,
    "splines": _splines,
    "standardised": _standardised,
}
