"""The laws of what naive Bayes keeps of mixed columns: cells with values missing, bins, and both beside counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from discrim.block import Block, Mixed, join
from discrim.errors import DataError, ForgetError
from discrim.statistics import CellMoments, ClassBins, MixedStatistic

LABELS = np.array(["a", "b", "c", "d"])
TOWNS = np.array(["Bern", "Genf", "Olten", "Thun", "Wil"])

worlds = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**16),
        "missing": st.sampled_from([0.0, 0.3, 0.9]),
        "offset": st.sampled_from([0.0, 1e8]),
        "weighted": st.booleans(),
    }
)
sizes = st.integers(1, 60)
examples = settings(max_examples=30, deadline=None)


class MixedBlock(Block):
    """A block of mixed columns, whose numbers are asked for."""

    __slots__ = ()

    @property
    def numbers(self):
        return self.x.numbers


def draw(world, n, part):
    """A block of two Gaussian columns, a kernel column, and a column of towns; some values are missing."""
    rng = np.random.default_rng([world["seed"], part])
    x = rng.normal(size=(n, 3)) * [1.0, 1e-3, 1e4] + world["offset"]
    x[rng.random((n, 3)) < world["missing"]] = np.nan
    towns = rng.integers(-1, 3 + part % 3, n)
    classes, codes = np.unique(rng.integers(0, 2 + part, n), return_inverse=True)
    # Quarters are exact in binary, so that sums of weights are the same in any order.
    weight = rng.integers(1, 8, n) / 4.0 if world["weighted"] else None
    known, place = np.unique(towns[towns >= 0], return_inverse=True)
    town = np.full(n, -1, dtype=np.int32)
    town[towns >= 0] = place
    return MixedBlock(Mixed(x, ((TOWNS[known], town),)), codes.astype(np.int32), LABELS[classes], weight)


def together(*blocks):
    return join(blocks)


def cells(block):
    return CellMoments.of(Block(block.x.numbers, block.codes, block.classes, block.weight))


def bins(block, j=2):
    return ClassBins.of(block.x.numbers[:, j], block.codes, block.classes, block.weight)


def mixed(block):
    return MixedStatistic.of(block, ("u", "v", "w", "town"), ("gaussian", "poisson", "kernel", "categorical"))


def assert_same_cells(found, expected, before=None):
    """Equal to the rounding of what is kept: means to eps |m|, scatter on the scale of deviations plus that."""
    keep, wanted = (s.rows.any(axis=1) for s in (found, expected))
    assert_array_equal(found.classes[keep], expected.classes[wanted])
    found, expected = found.select(keep), expected.select(wanted)
    before = expected if before is None else before.select(np.isin(before.classes, expected.classes))
    assert_array_equal(found.rows, expected.rows)
    assert_allclose(found.weight, expected.weight, rtol=1e-14)
    eps, size = np.finfo(float).eps, np.abs(before.mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        amplified = np.where(expected.weight > 0, before.weight / expected.weight, 1.0)
    spread = np.sqrt(before.scatter)
    assert (np.abs(found.mean - expected.mean) <= 16 * eps * amplified * (size + 8 * spread)).all()
    rounding = 8 * eps * size * np.sqrt(before.weight * amplified)
    bound = 4 * rounding * (2 * spread + rounding) + 1e-12 * before.scatter
    assert (np.abs(found.scatter - expected.scatter) <= bound).all()


def assert_same_bins(found, expected):
    assert found.exponent == expected.exponent
    assert_array_equal(found.place, expected.place)
    keep, wanted = found.weight.any(axis=1), expected.weight.any(axis=1)
    assert_array_equal(found.classes[keep], expected.classes[wanted])
    assert_allclose(found.weight[keep], expected.weight[wanted], rtol=1e-14)


@examples
@given(world=worlds, n=sizes)
def test_cells_are_the_moments_of_the_values_that_are_there(world, n):
    block = draw(world, n, 0)
    found = cells(block)
    w = np.ones(n) if block.weight is None else block.weight
    for k in range(len(block.classes)):
        for j in range(3):
            here = (block.codes == k) & ~np.isnan(block.numbers[:, j])
            assert found.rows[k, j] == here.sum()
            assert_allclose(found.weight[k, j], w[here].sum(), rtol=1e-14)
            if here.any():
                x = block.numbers[here, j].astype(np.longdouble)
                mean = (w[here] * x).sum() / w[here].sum()
                # Rounding is a share of the values, which may be far larger than their mean.
                assert abs(found.mean[k, j] - float(mean)) <= 8 * np.finfo(float).eps * np.abs(x).max()
                assert_allclose(found.scatter[k, j], float((w[here] * (x - mean) ** 2).sum()), rtol=1e-6, atol=1e-7)
            else:
                assert found.mean[k, j] == found.scatter[k, j] == 0


@examples
@given(world=worlds, n=sizes, m=sizes, o=sizes)
def test_merging_is_all_rows_together_in_any_order(world, n, m, o):
    a, b, c = (draw(world, size, part) for part, size in enumerate((n, m, o)))
    both, all_three = together(a, b), together(a, b, c)
    assert_same_cells(cells(a).merge(cells(b)), cells(both))
    assert_same_cells(cells(b).merge(cells(a)), cells(both))
    assert_same_cells(CellMoments.merged([cells(a), cells(b), cells(c)]), cells(all_three))
    assert_same_bins(bins(a).merge(bins(b)), bins(both))
    assert_same_bins(bins(a).merge(bins(b).merge(bins(c))), ClassBins.merged([bins(c), bins(a), bins(b)]))
    assert_same_bins(ClassBins.merged([bins(a), bins(b), bins(c)]), bins(all_three))


@examples
@given(world=worlds, n=sizes, m=sizes)
def test_subtracting_undoes_merging(world, n, m):
    a, b = draw(world, n, 0), draw(world, m, 1)
    whole = cells(a).merge(cells(b))
    assert_same_cells(whole.subtract(cells(b)), cells(a), before=whole)
    left = bins(a).merge(bins(b)).subtract(bins(b))
    assert_allclose(left.centres, bins(a).centres, rtol=0, atol=2.0**left.exponent)
    joint = mixed(a).merge(mixed(b))
    undone = joint.subtract(mixed(b))
    assert_array_equal(undone.classes, mixed(a).classes)
    assert_array_equal(undone.rows, mixed(a).rows)
    assert_same_cells(undone.cells, cells(a), before=joint.cells)
    assert [v.tolist() for v in undone.counts.levels] == [v.tolist() for v in mixed(a).counts.levels]


@examples
@given(world=worlds, n=sizes)
def test_bytes_give_the_statistic_back(world, n):
    a = mixed(draw(world, n, 1))
    again = MixedStatistic.from_bytes(a.to_bytes())
    assert again.to_bytes() == a.to_bytes()
    assert (again.names, again.likelihoods) == (a.names, a.likelihoods)
    assert_array_equal(again.cells.scatter, a.cells.scatter)
    assert_array_equal(again.counts.count, a.counts.count)
    assert_same_bins(again.bins[0], a.bins[0])


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e300])
def test_bins_hold_so_many_distinct_values_as_they_are(scale):
    x = scale * np.random.default_rng(0).normal(size=300)
    found = ClassBins.of(x, np.zeros(300, np.int32), np.array(["a"]), None)
    assert_allclose(found.centres, np.sort(x), rtol=0, atol=2.0**-51 * np.abs(x).max())


def test_many_values_share_bins_as_narrow_as_a_power_of_two_can_be():
    rng = np.random.default_rng(0)
    x = np.append(rng.normal(size=20_000), 1e9)
    found = ClassBins.of(x, np.zeros(len(x), np.int32), np.array(["a"]), None)
    width = 2.0**found.exponent
    assert len(found.place) <= 512 < len(np.unique(np.floor(x / (width / 2))))
    # One value far away costs one bin, not the resolution of all others.
    assert width < 0.05
    assert found.weight.sum() == len(x)
    parts = [ClassBins.of(p, np.zeros(len(p), np.int32), np.array(["a"]), None) for p in np.array_split(x, 7)]
    assert_same_bins(ClassBins.merged(parts), found)


def test_rows_that_were_never_there_cannot_be_forgotten():
    world = {"seed": 3, "missing": 0.3, "offset": 0.0, "weighted": False}
    a, b = draw(world, 20, 0), draw(world, 30, 2)
    with pytest.raises(ForgetError, match=r"only .* were seen|no such class"):
        cells(a).subtract(cells(b))
    with pytest.raises(ForgetError, match=r"were not seen|no such class"):
        bins(a).subtract(bins(b))
    with pytest.raises(ForgetError, match="no such class"):
        mixed(a).subtract(mixed(b))


def test_statistics_of_other_columns_do_not_mix():
    world = {"seed": 3, "missing": 0.0, "offset": 0.0, "weighted": False}
    a = draw(world, 20, 0)
    other = MixedStatistic.of(a, ("u", "v", "w", "city"), ("gaussian", "poisson", "kernel", "categorical"))
    with pytest.raises(DataError, match="different columns"):
        MixedStatistic.merged([mixed(a), other])
    text, numbers = mixed(a), mixed(replace(a, x=Mixed(a.x.numbers, ((np.array([1.0]), a.codes * 0),))))
    with pytest.raises(DataError, match="'town' holds text in some rows and numbers in others"):
        text.merge(numbers)
    empty = replace(a, x=Mixed(a.x.numbers, ((np.empty(0), a.codes * 0 - 1),)))
    assert text.merge(mixed(empty)).counts.levels[0].tolist() == text.counts.levels[0].tolist()
