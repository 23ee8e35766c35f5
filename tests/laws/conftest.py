"""Every statistic, and what it means that two are the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from discrim.statistics import ClassFactors, ClassMoments, Depth

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Kind:
    """One statistic, its merge of many parts, and its scatter as one array per class or for all."""

    name: str
    type: Any
    depth: Depth
    merge: Any

    def of(self, block):
        return self.type.of(block, self.depth)

    def from_bytes(self, buffer):
        return self.type.from_bytes(buffer)

    def scatter(self, statistic):
        """K x p x p of what is known: zeros off the diagonal, and K = 1 where classes are pooled."""
        p = statistic.n_features
        if isinstance(statistic, ClassFactors):
            return np.array([r.T @ r for r in statistic.factors]).reshape(-1, p, p)
        if self.depth is Depth.DIAGONAL:
            return np.array([np.diag(row) for row in statistic.scatter]).reshape(-1, p, p)
        return statistic.scatter.reshape(-1, p, p)

    def arrays(self, statistic):
        shared = [statistic.classes, statistic.weight, statistic.rows, statistic.mean]
        spread = statistic.factors if isinstance(statistic, ClassFactors) else [statistic.scatter]
        return [*shared, *spread]

    def same_bits(self, a, b):
        pairs = zip(self.arrays(a), self.arrays(b), strict=True)
        return all(x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes() for x, y in pairs)

    def assert_same(self, found, expected, *, before=None):
        """Equal to the rounding of the numbers that are kept, those ``before`` a subtraction if one was made.

        A mean m is kept to eps |m|, and a merge adds n (m_1 - m_2)^2 to the scatter, so the rounding of
        the means enters it at eps |m| sqrt(n), on the scale of the deviations sqrt(S_jj). That is the
        rounding of the rows themselves: nothing computed from doubles knows S better. What remains of a
        weight n is w: a mean of the remainder is known to eps |m| n / w.
        """
        found, expected = without_empty_classes(found), without_empty_classes(expected)
        assert found.classes.tolist() == expected.classes.tolist()
        assert found.rows.tolist() == expected.rows.tolist()
        if not len(found.classes):
            return
        before = expected if before is None else before
        at = np.searchsorted(before.classes, expected.classes)
        size, amplified = np.abs(before.mean[at]), (before.weight[at] / expected.weight)[:, None]
        assert (np.abs(found.weight - expected.weight) <= 1e-14 * before.weight[at]).all()
        rounding = EPS * size * np.sqrt(before.weight[at][:, None] * amplified)
        scatter = self.scatter(before)
        if self.depth is Depth.POOLED:
            at = [0]
            rounding = np.sqrt((rounding**2).sum(axis=0, keepdims=True) + pooled_rounding(before) ** 2)
        deviation = np.sqrt(np.diagonal(scatter[at], axis1=1, axis2=2))
        bound = 16 * (outer(deviation + rounding) - outer(deviation)) + 1e-13 * outer(deviation + rounding)
        assert (np.abs(self.scatter(found) - self.scatter(expected)) <= bound).all()
        spread = deviation / np.sqrt(expected.weight.min())
        assert (np.abs(found.mean - expected.mean) <= 8 * EPS * amplified * (size + 8 * spread)).all()


def pooled_rounding(statistic):
    """What the rounding of all class means brings into the root of the pooled scatter."""
    return EPS * np.sqrt((statistic.mean**2 * statistic.weight[:, None]).sum(axis=0, keepdims=True))


def outer(rows):
    return rows[:, :, None] * rows[:, None, :]


def without_empty_classes(statistic):
    """A class without rows says nothing, whether it is listed or not."""
    present = statistic.classes[statistic.weight > 0]
    if len(present) == len(statistic.classes):
        return statistic
    keep = statistic.weight > 0
    parts = {"classes": present, "weight": statistic.weight[keep], "rows": statistic.rows[keep]}
    parts |= {"mean": statistic.mean[keep], "depth": statistic.depth}
    if isinstance(statistic, ClassFactors):
        full = statistic.depth is Depth.FULL
        kept = [f for f, here in zip(statistic.factors, keep, strict=True) if here] if full else statistic.factors
        return ClassFactors(**parts, factors=tuple(kept))
    scatter = statistic.scatter if statistic.depth is Depth.POOLED else statistic.scatter[keep]
    return ClassMoments(**parts, scatter=scatter)


KINDS = [
    Kind("diagonal moments", ClassMoments, Depth.DIAGONAL, ClassMoments.merged),
    Kind("pooled moments", ClassMoments, Depth.POOLED, ClassMoments.merged),
    Kind("full moments", ClassMoments, Depth.FULL, ClassMoments.merged),
    Kind("pooled factors", ClassFactors, Depth.POOLED, ClassFactors.merged),
    Kind("full factors", ClassFactors, Depth.FULL, ClassFactors.merged),
]


@pytest.fixture(scope="session", params=KINDS, ids=lambda kind: kind.name)
def kind(request):
    return request.param
