"""Leave-one-out in closed form against refitting without each row: LDA, QDA, naive Bayes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from discrim.block import Block
from discrim.families.gaussian.leave_one_out import gaussian_scores, log_priors_without
from discrim.families.gaussian.naive import GaussianNBRecipe, nb_scores
from discrim.statistics import ClassMoments, Depth

PRIORS = np.array([0.2, 0.5, 0.3])


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def sample(n=50, p=4, k=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.repeat(np.arange(k), p + 4), rng.integers(0, k, n - k * (p + 4))])
    codes = rng.permutation(codes).astype(np.int32)
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) * (1 + codes[:, None])
    return x + rng.normal(size=(k, p))[codes] + 100.0, codes


def only(x, codes, k, keep):
    """The data with class k cut down to ``keep`` rows."""
    drop = np.flatnonzero(codes == k)[keep:]
    return np.delete(x, drop, axis=0), np.delete(codes, drop)


def moments_of(x, codes, k=3):
    groups = [x[codes == j] for j in range(k)]
    mean = np.array([g.mean(axis=0) if len(g) else np.zeros(x.shape[1]) for g in groups])
    scatter = np.array([(g - m).T @ (g - m) for g, m in zip(groups, mean, strict=True)])
    rows = np.array([len(g) for g in groups])
    return ClassMoments(np.arange(k), rows.astype(float), rows, mean, scatter, Depth.FULL)


def normalised(scores):
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


def refitted(x, codes, sigma_of, priors=None, k=3):
    """Log posteriors of each row by a rule fitted without it; ``sigma_of`` makes the class matrices."""
    out = np.full((len(x), k), -np.inf)
    for i in range(len(x)):
        xs, cs = np.delete(x, i, axis=0), np.delete(codes, i)
        m = moments_of(xs, cs, k)
        sigma = sigma_of(m)
        for j in np.flatnonzero(m.weight):
            d = x[i] - m.mean[j]
            prior = m.weight[j] / len(xs) if priors is None else priors[j]
            log_det = np.linalg.slogdet(sigma[j])[1]
            out[i, j] = np.log(prior) - (d @ np.linalg.solve(sigma[j], d) + log_det) / 2
    return normalised(out)


def pooled(normalization):
    def sigma_of(m):
        lost = np.count_nonzero(m.weight) if normalization == "unbiased" else 0
        return [m.scatter.sum(axis=0) / (m.weight.sum() - lost)] * len(m.weight)

    return sigma_of


def separate(normalization):
    lost = 1 if normalization == "unbiased" else 0
    return lambda m: m.scatter / (m.weight - lost)[:, None, None]


def lda(x, codes, priors=None, normalization="mle"):
    return gaussian_scores(moments_of(x, codes).pooled(), priors, normalization, Block(x, codes, np.arange(3)))


def qda(x, codes, priors=None, normalization="mle"):
    return gaussian_scores(moments_of(x, codes), priors, normalization, Block(x, codes, np.arange(3)))


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
def test_lda_without_each_row_equals_refitting(normalization, priors):
    x, codes = sample()
    expected = refitted(x, codes, pooled(normalization), priors)
    np.testing.assert_allclose(normalised(lda(x, codes, priors, normalization)), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
def test_qda_without_each_row_equals_refitting(normalization, priors):
    x, codes = sample()
    expected = refitted(x, codes, separate(normalization), priors)
    scores = qda(x, codes, priors, normalization)
    np.testing.assert_allclose(normalised(scores), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
@pytest.mark.parametrize("keep", [1, 2])
def test_lda_of_a_class_with_one_or_two_rows_equals_refitting(normalization, keep):
    x, codes = only(*sample(), 1, keep)
    scores = lda(x, codes, None, normalization)
    expected = refitted(x, codes, pooled(normalization))
    np.testing.assert_allclose(normalised(scores), expected, rtol=1e-9, atol=1e-9)
    assert (scores[codes == 1, 1] == -np.inf).all() == (keep == 1)


def test_scales_of_columns_cost_no_digits():
    x, codes = sample()
    scale = np.array([1e-8, 1.0, 1e6, 1e12])
    np.testing.assert_allclose(normalised(lda(x * scale, codes)), normalised(lda(x, codes)), rtol=1e-9)


def test_a_row_that_alone_keeps_the_matrix_regular_is_nan_and_no_other():
    x, codes = sample()
    x[:, 2] = 5.0
    x[7, 2] = 6.0
    scores = lda(x, codes)
    assert np.isnan(scores[7]).all()
    assert np.isfinite(np.delete(scores, 7, axis=0)).all()


def test_a_singular_scatter_is_nan_for_lda_and_for_the_class_of_qda():
    x, codes = sample()
    twice = np.column_stack([x, x[:, 0]])
    assert np.isnan(lda(twice, codes)).all()
    few, few_codes = only(x, codes, 2, 4)
    scores = qda(few, few_codes)
    assert np.isnan(scores[:, 2]).all()
    assert np.isfinite(scores[:, :2]).all()


@pytest.mark.parametrize(("keep", "normalization"), [(5, "mle"), (5, "unbiased")])
def test_qda_is_nan_where_the_rest_of_the_class_is_singular(keep, normalization):
    x, codes = only(*sample(), 2, keep)
    scores = qda(x, codes, None, normalization)
    assert np.isnan(scores[codes == 2, 2]).all()
    assert np.isfinite(scores[codes != 2]).all()


def test_two_rows_leave_no_unbiased_variance_when_one_goes():
    x, codes = only(*sample(p=1), 0, 2)
    scores = qda(x, codes, None, "unbiased")
    assert np.isnan(scores[codes == 0, 0]).all()
    assert np.isfinite(scores[codes != 0]).all()


def test_priors_follow_the_rows_unless_they_are_given():
    weight = np.array([1.0, 3.0, 6.0])
    with np.errstate(divide="ignore"):
        expected = np.log([[0, 3 / 9, 6 / 9], [1 / 9, 2 / 9, 6 / 9], [1 / 9, 3 / 9, 5 / 9]])
        given = np.log([[0, 0.5, 0.3], PRIORS, PRIORS])
    np.testing.assert_allclose(log_priors_without(weight), expected)
    np.testing.assert_allclose(log_priors_without(weight, PRIORS), given)


def nb(x, codes, priors=None, var_smoothing=1e-9):
    recipe = GaussianNBRecipe(var_smoothing=var_smoothing)
    return nb_scores(x, codes, moments_of(x, codes).diagonal(), priors, recipe.smooth)


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("var_smoothing", [0.0, 0.3])
def test_naive_bayes_without_each_row_equals_scikit_learn_refitted(var_smoothing, priors):
    x, codes = sample()
    # The row that decides the smoothing is among those that leave.
    x[3, 1] += 60.0
    expected = np.array(
        [
            GaussianNB(priors=priors, var_smoothing=var_smoothing)
            .fit(np.delete(x, i, axis=0), np.delete(codes, i))
            .predict_log_proba(x[i : i + 1])[0]
            for i in range(len(x))
        ]
    )
    got = normalised(nb(x, codes, priors, var_smoothing))
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-9)


def test_naive_bayes_of_a_class_with_one_row_vanishes_and_with_two_is_left_to_refitting():
    x, codes = only(*sample(), 1, 1)
    scores = nb(x, codes)
    assert (scores[codes == 1, 1] == -np.inf).all()
    assert np.isfinite(scores[codes != 1]).all()
    x, codes = only(*sample(), 1, 2)
    scores = nb(x, codes)
    assert np.isnan(scores[codes == 1]).all()
    assert np.isfinite(scores[codes != 1]).all()
