"""The laws of a mergeable statistic, written once and applied to all of them.

Rows are drawn with and without weights, around the origin and at 1e8 deviations from it, in columns whose
scales are equal or 1e12 apart, more and fewer than columns, with classes that only some parts know.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discrim.block import Block
from discrim.errors import DiscrimError

LABELS = np.array(["a", "b", "c", "d"])


@dataclass(frozen=True)
class World:
    """Where rows come from: p columns with means and scales of their own."""

    p: int
    offset: float
    spread: float
    weighted: bool
    dtype: str
    seed: int

    def block(self, n, labels, part):
        """n rows of the classes ``labels``, some of which may get none."""
        rng = np.random.default_rng([self.seed, part])
        scale = np.logspace(0, np.log10(self.spread), self.p) * 1e-3
        codes = rng.integers(0, len(labels), n).astype(np.int32)
        z = rng.normal(size=(n, self.p)) @ self._mixing() + codes[:, None]
        weight = rng.uniform(0.2, 3.0, n) * (rng.random(n) > 0.15) if self.weighted else None
        return Block(((self.offset + z) * scale).astype(self.dtype), codes, np.array(sorted(labels)), weight)

    def _mixing(self):
        rng = np.random.default_rng(self.seed)
        return np.eye(self.p) + 0.5 * rng.normal(size=(self.p, self.p)) / self.p


worlds = st.builds(
    World,
    p=st.integers(1, 12),
    offset=st.sampled_from([0.0, 3.0, -1e4, 1e8]),
    spread=st.sampled_from([1.0, 1e12]),
    weighted=st.booleans(),
    dtype=st.sampled_from(["float64", "float32"]),
    seed=st.integers(0, 2**16),
)
sizes = st.integers(0, 60)
labels = st.lists(st.sampled_from(LABELS.tolist()), min_size=1, max_size=4, unique=True)
examples = settings(max_examples=30, deadline=None)


def together(*blocks):
    """The rows of all blocks in one."""
    classes = np.unique(np.concatenate([b.classes for b in blocks]))
    codes = np.concatenate([np.searchsorted(classes, b.classes)[b.codes] for b in blocks]).astype(np.int32)
    weighted = blocks[0].weight is not None
    weight = np.concatenate([b.weight for b in blocks]) if weighted else None
    return Block(np.concatenate([b.x for b in blocks]), codes, classes, weight)


@examples
@given(world=worlds, sizes=st.tuples(sizes, sizes), known=st.tuples(labels, labels))
def test_merging_two_parts_gives_the_statistic_of_all_their_rows(kind, world, sizes, known):
    a, b = (world.block(n, names, part) for part, (n, names) in enumerate(zip(sizes, known, strict=True)))
    kind.assert_same(kind.of(a).merge(kind.of(b)), kind.of(together(a, b)))


@examples
@given(world=worlds, sizes=st.tuples(sizes, sizes), known=st.tuples(labels, labels))
def test_merging_is_commutative(kind, world, sizes, known):
    a, b = (kind.of(world.block(n, names, part)) for part, (n, names) in enumerate(zip(sizes, known, strict=True)))
    kind.assert_same(a.merge(b), b.merge(a))


@examples
@given(world=worlds, sizes=st.tuples(sizes, sizes, sizes), known=st.tuples(labels, labels, labels))
def test_merging_is_associative_in_pairs_and_all_at_once(kind, world, sizes, known):
    a, b, c = (kind.of(world.block(n, names, i)) for i, (n, names) in enumerate(zip(sizes, known, strict=True)))
    kind.assert_same(a.merge(b).merge(c), a.merge(b.merge(c)))
    kind.assert_same(kind.merge([a, b, c]), a.merge(b).merge(c))


@examples
@given(world=worlds, sizes=st.tuples(sizes, sizes), known=st.tuples(labels, labels))
def test_taking_away_what_was_merged_gives_back_the_first_part(kind, world, sizes, known):
    a, b = (kind.of(world.block(n, names, part)) for part, (n, names) in enumerate(zip(sizes, known, strict=True)))
    both = a.merge(b)
    kind.assert_same(both.subtract(b), a, before=both)


@examples
@given(world=worlds, n=sizes, names=labels)
def test_bytes_give_back_every_bit(kind, world, n, names):
    statistic = kind.of(world.block(n, names, 0))
    again = kind.from_bytes(statistic.to_bytes())
    assert again.depth is statistic.depth
    assert kind.same_bits(again, statistic)
    assert again.to_bytes() == statistic.to_bytes()


@examples
@given(world=worlds, n=sizes, names=labels)
def test_a_row_of_weight_two_counts_as_the_row_twice(kind, world, n, names):
    block = world.block(n, names, 0)
    times = np.random.default_rng(world.seed).integers(0, 4, n)
    repeated = Block(np.repeat(block.x, times, axis=0), np.repeat(block.codes, times), block.classes)
    weighted = Block(block.x, block.codes, block.classes, times.astype(np.float64))
    found, expected = kind.of(weighted), kind.of(repeated)
    # The number of rows is the one thing in which they differ.
    np.testing.assert_array_equal(expected.weight, expected.rows)
    np.testing.assert_array_equal(found.rows, np.bincount(block.codes[times > 0], minlength=len(names)))
    kind.assert_same(type(found)(**{**vars(found), "rows": expected.rows}), expected)


@examples
@given(world=worlds, n=st.integers(1, 80), cuts=st.lists(st.integers(0, 80), max_size=8))
def test_the_statistic_does_not_depend_on_how_the_rows_are_cut(kind, world, n, cuts):
    block = world.block(n, ["a", "b", "c"], 0)
    bounds = [0, *sorted(min(cut, n) for cut in cuts), n]
    parts = [kind.of(block.rows(i, j)) for i, j in pairwise(bounds)]
    kind.assert_same(kind.merge(parts), kind.of(block))


@examples
@given(world=worlds, n=sizes, names=labels)
def test_a_part_without_rows_changes_nothing(kind, world, n, names):
    statistic, nothing = kind.of(world.block(n, names, 0)), kind.of(world.block(0, names, 1))
    kind.assert_same(statistic.merge(nothing), statistic)
    kind.assert_same(nothing.merge(statistic), statistic)
    kind.assert_same(statistic.subtract(nothing), statistic)


@examples
@given(world=worlds, n=sizes, names=labels, more=labels)
def test_declaring_classes_adds_nothing_but_their_names(kind, world, n, names, more):
    statistic = kind.of(world.block(n, names, 0))
    wider = statistic.including(np.array(sorted(more)))
    assert wider.classes.tolist() == sorted({*names, *more})
    kind.assert_same(wider, statistic)
    kind.assert_same(wider.merge(statistic), statistic.merge(statistic))


@examples
@given(world=worlds, sizes=st.tuples(sizes, sizes), known=st.tuples(labels, labels))
def test_rows_that_were_never_there_are_refused_or_leave_a_proper_scatter(kind, world, sizes, known):
    a, b = (kind.of(world.block(n, names, part)) for part, (n, names) in enumerate(zip(sizes, known, strict=True)))
    try:
        left = a.subtract(b)
    except DiscrimError:
        return
    before, after = kind.scatter(a), kind.scatter(left)
    assert (left.weight > 0).all()
    for k in range(len(after)):
        at = 0 if kind.depth == "pooled" else int(np.flatnonzero(a.classes == left.classes[k])[0])
        rounding = 1e-15 * np.abs(a.mean).max(axis=0) * np.sqrt(a.weight.max())
        scale = np.sqrt(np.diagonal(before[at])) + rounding + 1e-300
        noise = float((rounding / scale).max())
        assert np.linalg.eigvalsh(after[k] / scale / scale[:, None]).min() > -1e-9 - 100 * noise
