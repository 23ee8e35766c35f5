"""Which gaps get a column that marks them: those that are more frequent in some classes than in others.

A mark costs a coefficient for each class, and where gaps are at random it is noise. The test is Pearson's chi-squared
test of gaps against classes, in the rows that the preparation is learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from discrim.block import Block
from discrim.typing import Codes, Floats

# Level of the test.
LEVEL = 0.05


def telling_gaps(gaps: NDArray[np.bool_], codes: Codes, weight: Floats | None) -> NDArray[np.bool_]:
    """Of each column of ``gaps``, whether it depends on the class. Weights that are not all whole have mean 1."""
    w = np.ones(len(codes)) if weight is None else weight
    w = w if (w == np.floor(w)).all() else w / w.mean()
    present, code = np.unique(codes, return_inverse=True)
    indicators = np.zeros((len(present), len(codes)))
    indicators[code, np.arange(len(codes))] = w
    return depends(indicators @ gaps, indicators.sum(axis=1))


def depends(counts: Floats, size: Floats) -> NDArray[np.bool_]:
    """Whether shares differ between classes: ``counts`` of classes x columns, in classes of this ``size``."""
    counts, size = counts[size > 0], size[size > 0, None]
    share = counts.sum(axis=0) / max(size.sum(), 1e-300)
    between = np.square(counts - size * share) / size
    spread = np.where((share > 0) & (share < 1), share * (1.0 - share), np.inf)
    return np.asarray(chdtrc(max(len(size) - 1, 1), (between / spread).sum(axis=0)) < LEVEL)


@dataclass(frozen=True)
class Gaps:
    """Of rows that are read block by block: how many values each number lacks, and how many in each class.

    ``marks`` are sums that differ where other rows lack values, and ``whole`` says whether all weights are.
    """

    counts: NDArray[np.int64]
    marks: Floats
    rows: int
    classes: NDArray[np.object_]
    by_class: Floats
    size: Floats
    whole: bool

    @classmethod
    def of(cls, block: Block) -> Gaps:
        gaps = np.isnan(block.dense())
        # Of each block other numbers, drawn from what its rows hold, so that equal gaps alone have equal sums.
        seed = int(block.codes.sum()) + 7919 * len(block) + int(np.nansum(np.abs(block.dense()[:1])) * 1e6 % 2**40)
        draw = np.random.default_rng(seed).integers(0, 2**20, len(block)).astype(np.float64)
        weight = np.ones(len(block)) if block.weight is None else block.weight
        indicators = np.zeros((len(block.classes), len(block)))
        indicators[block.codes, np.arange(len(block))] = weight
        classes = np.array([*block.classes.tolist(), None], dtype=object)[:-1]
        whole = bool((weight == np.floor(weight)).all())
        return cls(gaps.sum(axis=0), draw @ gaps, len(block), classes, indicators @ gaps, indicators.sum(axis=1), whole)

    @classmethod
    def merged(cls, parts: Sequence[Gaps]) -> Gaps:
        """Of all parts, whose classes need not be the same."""
        counts, marks = (np.sum([getattr(part, name) for part in parts], axis=0) for name in ("counts", "marks"))
        place = {label: k for k, label in enumerate(dict.fromkeys(c for part in parts for c in part.classes.tolist()))}
        by_class, size = np.zeros((len(place), len(counts))), np.zeros(len(place))
        for part in parts:
            at = [place[label] for label in part.classes.tolist()]
            by_class[at] += part.by_class
            size[at] += part.size
        classes = np.array([*place, None], dtype=object)[:-1]
        rows, whole = sum(part.rows for part in parts), all(part.whole for part in parts)
        return cls(counts, marks, rows, classes, by_class, size, whole)

    def telling(self, places: Sequence[int]) -> NDArray[np.bool_]:
        """Of these columns, whether their gaps depend on the class."""
        unit = 1.0 if self.whole else self.rows / self.size.sum()
        return depends(self.by_class[:, list(places)] * unit, self.size * unit)
