"""All alphas at once against one after the other, and both against models made without the row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from discrim import BernoulliNB, MultinomialNB
from discrim.block import Block
from discrim.families.counts.held_out import LeftOutScores, counts_scores
from discrim.families.counts.rule import Bernoulli, Complement, Multinomial
from discrim.statistics import ClassCounts

ALPHAS = np.array([1e-3, 0.3, 1.0, 7.0, 20.0])
FAMILIES = pytest.mark.parametrize("family", [Multinomial(), Bernoulli(0.0), Bernoulli(1.5)], ids=str)


def block_of(n=40, p=9, classes=3, dtype=np.float64, index=np.int32):
    """Counts with an empty row, an empty column, a column in all rows, and a class of one row."""
    rng = np.random.default_rng(5)
    x = rng.poisson(0.8, (n, p))
    x[3], x[:, 4], x[:, 5] = 0, 0, 2
    x[3, 5] = 2
    rows = sparse.csr_array(x.astype(dtype))
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    codes = rng.integers(0, classes - 1, n).astype(np.int32)
    codes[7] = classes - 1
    return Block(rows, codes, np.arange(classes))


@FAMILIES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_scores_without_the_row_are_those_of_one_alpha_after_the_other(family, dtype, index):
    block = block_of(dtype=dtype, index=index)
    s = ClassCounts.of(block, family.threshold)
    assert LeftOutScores.can_serve(family, block, s)
    grid = LeftOutScores(family, block, s, ALPHAS)
    found = np.concatenate([grid.of(start, min(start + 7, 40)) for start in range(0, 40, 7)])
    others = block.codes != 2  # what a class scores that has no row left does not matter
    for m, alpha in enumerate(ALPHAS):
        expected = counts_scores(family, block, s, alpha)
        assert_allclose(found[others, :, m], expected[others], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("kind", "family"), [(MultinomialNB, Multinomial()), (BernoulliNB, Bernoulli(0.0))])
def test_scores_without_the_row_are_those_of_a_model_without_it(kind, family):
    block = block_of(classes=2)
    x, y = block.x.toarray(), block.codes
    y[:20] = 1
    grid = LeftOutScores(family, block, ClassCounts.of(block, family.threshold), ALPHAS)
    scores = grid.of(0, 40)
    for i in range(0, 40, 9):
        for m, alpha in enumerate(ALPHAS):
            model = kind(alpha=alpha, fit_prior=False).fit(np.delete(x, i, axis=0), np.delete(y, i))
            expected = model.predict_joint_log_proba(x[i : i + 1])[0] + np.log(2)
            assert_allclose(scores[i, :, m], expected, rtol=1e-10, atol=1e-12)


def test_weights_fractions_and_complements_are_left_to_the_slow_way():
    block = block_of()
    s = ClassCounts.of(block)
    assert not LeftOutScores.can_serve(Complement(), block, s)
    weighted = Block(block.x, block.codes, block.classes, np.full(40, 2.0))
    assert not LeftOutScores.can_serve(Multinomial(), weighted, s)
    halves = Block(block.x * 0.5, block.codes, block.classes)
    assert not LeftOutScores.can_serve(Multinomial(), halves, ClassCounts.of(halves))
    assert LeftOutScores.can_serve(Bernoulli(0.0), halves, ClassCounts.of(halves, 0.0))


@pytest.mark.parametrize("kind", [MultinomialNB, BernoulliNB])
def test_the_fast_and_the_slow_way_find_the_same_losses(kind, monkeypatch):
    block = block_of(n=2500)
    fast = kind(alpha="loo").fit(block.x, block.codes)
    monkeypatch.setattr(LeftOutScores, "can_serve", lambda *_: False)
    slow = kind(alpha="loo").fit(block.x, block.codes)
    assert_allclose(fast.alphas_, slow.alphas_)
    assert_allclose(fast.loo_log_loss_, slow.loo_log_loss_, rtol=1e-10)
    assert_allclose(fast.loo_error_, slow.loo_error_)
    assert fast.alpha_ == slow.alpha_
