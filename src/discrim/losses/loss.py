"""A loss: what a score costs, row by row, and how fast the cost changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discrim.typing import Floats

Pointwise = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Loss:
    """The cost of score h for target r, entry by entry.

    ``value(h, r)`` is the cost and ``slope(h, r)`` its derivative by h; at a kink the one that still corrects, so that
    a row on the boundary counts as wrong, as in the lectures. Targets are ``targets[0]`` for the first class and
    ``targets[1]`` for the second.

    ``convex`` says whether the cost is convex in h. ``curvature`` bounds the change of the slope, |slope(a) - slope(b)|
    <= curvature |a - b|, which gives safe steps; None where there is a kink. ``error_factor`` is the least c for which
    c value is at least 1 on every wrong row (r h <= 0), None where no c will do: with c = 1 the cost itself bounds the
    number of errors.
    """

    name: str
    value: Pointwise
    slope: Pointwise
    curvature: float | None
    error_factor: float | None
    convex: bool = True
    targets: tuple[float, float] = (-1.0, 1.0)

    @property
    def smooth(self) -> bool:
        return self.curvature is not None

    @property
    def bounds_error(self) -> bool:
        """Is the cost at least the 0/1 error?"""
        return self.error_factor is not None and self.error_factor <= 1.0


def of_margin(value: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]) -> tuple[Pointwise, Pointwise]:
    """Value and slope by (h, r) of a cost that depends on the margin m = r h alone, for r = +-1."""
    return lambda h, r: value(r * h), lambda h, r: r * slope(r * h)
