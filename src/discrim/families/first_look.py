"""A first look at the rows: classes, location and scale of the columns, and a random part to start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.block import Block, join
from discrim.families.recipe import Passes, Sum
from discrim.statistics import ClassMoments, Depth
from discrim.statistics.moments import grand_mean
from discrim.typing import Floats

# Neighbouring rows that are drawn together.
RUN = 4


@dataclass(frozen=True)
class Overview:
    """``classes`` that occur, ``mean`` and ``deviation`` of the columns (of the sample where the rows lie in memory),
    ``sample``, a random part of the rows, or all of them, and the weight of every class where all rows were seen.
    """

    classes: NDArray[Any]
    n_rows: int
    mean: Floats
    deviation: Floats
    sample: Block
    class_weights: Floats | None = None

    @property
    def everything(self) -> bool:
        """Are all rows in the sample?"""
        return len(self.sample) >= self.n_rows


def look(rows: Passes, wanted: int) -> Overview:
    """A sample of about ``wanted`` rows. In memory this costs ``wanted`` rows, elsewhere one pass."""
    if rows.whole is not None:
        return _look_at_whole(rows.whole, wanted)
    # Where their number is known, blocks keep little more than their share of the sample.
    n = rows.count()
    share = 1.0 if n is None else min((wanted + 5.0 * wanted**0.5) / max(n, 1), 1.0)
    seen: _Seen = rows.reduce(Sum(partial(_Seen.of, wanted, share), _merge), title="first look")
    return seen.overview()


def _look_at_whole(block: Block, wanted: int) -> Overview:
    sample = block
    if len(block) > 2 * wanted:
        # A few neighbours out of every stretch of equal length: rows in any order are covered.
        runs = max(wanted // RUN, 1)
        steps = np.arange(runs) + np.random.default_rng(0).random(runs)
        first = (steps * ((len(block) - RUN) / runs)).astype(np.intp)
        sample = block.take((first[:, None] + np.arange(RUN)).ravel())
    mean, deviation = _columns(sample)
    return Overview(block.classes, len(block), mean, deviation, sample)


def _columns(block: Block) -> tuple[Floats, Floats]:
    """Mean and deviation of the columns; sparse ones are taken about zero, where they will stay."""
    if sparse.issparse(block.x):
        p = block.x.shape[1]
        # Squares that overflow are reported where the deviation is used.
        with np.errstate(over="ignore"):
            squares = np.bincount(block.x.indices, weights=block.x.data.astype(float) ** 2, minlength=p)
        return np.zeros(p), np.sqrt(squares / max(len(block), 1))
    one = Block(block.x, np.zeros(len(block), np.int32), np.zeros(1, np.int64), block.weight)
    moments = ClassMoments.of(one, Depth.DIAGONAL)
    return moments.mean[0], np.sqrt(moments.scatter[0] / max(moments.weight[0], 1e-300))


@dataclass(frozen=True)
class _Seen:
    """What was seen of some rows: moments of all, and the rows with the smallest random keys."""

    moments: ClassMoments
    sample: Block
    keys: Floats
    wanted: int

    @classmethod
    def of(cls, wanted: int, share: float, block: Block) -> _Seen:
        moments = ClassMoments.of(block, Depth.DIAGONAL)
        # The keys follow from the rows, so that every engine draws the same.
        first = np.nan_to_num(np.asarray(block.x[:1].todense() if sparse.issparse(block.x) else block.x[:1], float))
        seed = np.frombuffer(first.tobytes(), np.uint32).astype(np.uint64).sum() if first.size else np.uint64(0)
        keys = np.random.default_rng([int(seed), len(block)]).random(len(block))
        if share < 1.0:
            drawn = np.flatnonzero(keys < share)
            block, keys = block.take(drawn), keys[drawn]
        return cls(moments, block, keys, wanted).thinned()

    def thinned(self) -> _Seen:
        if len(self.keys) <= self.wanted:
            return self
        index = np.sort(np.argpartition(self.keys, self.wanted)[: self.wanted])
        return _Seen(self.moments, self.sample.take(index), self.keys[index], self.wanted)

    def overview(self) -> Overview:
        m = self.moments
        total = max(m.total_weight, 1e-300)
        mean = grand_mean(m.weight, m.mean)
        gaps = m.mean - mean
        deviation = np.sqrt((m.scatter.sum(axis=0) + m.weight @ gaps**2) / total)
        return Overview(m.classes, int(m.rows.sum()), mean, deviation, self.sample, m.weight)


def _merge(parts: Sequence[_Seen]) -> _Seen:
    moments = ClassMoments.merged([part.moments for part in parts])
    sample = join([part.sample for part in parts])
    return _Seen(moments, sample, np.concatenate([part.keys for part in parts]), parts[0].wanted).thinned()
