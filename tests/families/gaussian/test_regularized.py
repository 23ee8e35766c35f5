"""Scores of regularised discriminant analysis against densities of refitted class matrices."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from discrim.families.gaussian.grid import GaussianGrid as Grid
from discrim.families.gaussian.quadratic import class_matrices
from discrim.families.recipe import rotated
from discrim.statistics import ClassMoments, Depth

ALPHAS = np.array([0.0, 0.3, 1.0])
GAMMAS = np.array([0.0, 0.2, 0.9, 1.0])


def sample(n=90, p=4, k=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(k), rng.integers(0, k, n - k)]).astype(np.int32)
    x = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) * (1 + codes[:, None]) + rng.normal(size=(k, p))[codes]
    return x, codes


def moments_of(x, codes, k):
    groups = [x[codes == j] for j in range(k)]
    mean = np.array([g.mean(axis=0) if len(g) else np.zeros(x.shape[1]) for g in groups])
    scatter = np.array([(g - m).T @ (g - m) for g, m in zip(groups, mean, strict=True)])
    rows = np.array([len(g) for g in groups])
    return ClassMoments(np.arange(k), rows.astype(float), rows, mean, scatter, Depth.FULL)


def grid_scores(m, x, grid, log_priors):
    """The scores of all pieces, (A, G, n, K)."""
    out = np.empty((len(grid.alphas), len(m.weight), len(grid.gammas), len(x)))
    for alphas, rows, scores in grid.scores(m, x, log_priors):
        out[alphas, :, :, rows] = scores
    return np.moveaxis(out, 1, -1)


def refitted_sigma(x, codes, k, alpha, normalization):
    """Class covariance written with np.cov and a sum over all classes."""
    ddof = 1 if normalization == "unbiased" else 0
    size = len(x) - (codes.max() + 1 if normalization == "unbiased" else 0)
    pooled = sum(np.cov(x[codes == j].T, ddof=0) * (codes == j).sum() for j in range(codes.max() + 1)) / size
    return alpha * np.cov(x[codes == k].T, ddof=ddof) + (1 - alpha) * pooled


def shrunk(sigma, gamma, target):
    p = len(sigma)
    other = np.trace(sigma) / p * np.eye(p) if target == "identity" else np.diag(np.diag(sigma))
    return gamma * sigma + (1 - gamma) * other


@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
@pytest.mark.parametrize("target", ["identity", "diagonal"])
def test_scores_of_the_grid_are_log_densities_of_each_setting(target, normalization):
    x, codes = sample()
    new = np.random.default_rng(1).normal(size=(11, 4)) * 3
    log_priors = np.log([0.2, 0.5, 0.3])
    scores = grid_scores(moments_of(x, codes, 3), new, Grid(ALPHAS, GAMMAS, target, normalization), log_priors)
    assert scores.shape == (3, 4, 11, 3)
    for a, alpha in enumerate(ALPHAS):
        for g, gamma in enumerate(GAMMAS):
            for k in range(3):
                sigma = shrunk(refitted_sigma(x, codes, k, alpha, normalization), gamma, target)
                log_density = multivariate_normal(x[codes == k].mean(axis=0), sigma).logpdf(new)
                expected = log_density + 4 / 2 * np.log(2 * np.pi) + log_priors[k]
                np.testing.assert_allclose(scores[a, g, :, k], expected, rtol=1e-11, atol=1e-11)


def test_class_covariances_equal_their_definition():
    x, codes = sample()
    m = moments_of(x, codes, 3)
    for normalization in ("mle", "unbiased"):
        got = [own.values for own in class_matrices(m, normalization, 1e-16, 0.4).within]
        for k in range(3):
            np.testing.assert_allclose(got[k], refitted_sigma(x, codes, k, 0.4, normalization), rtol=1e-12)


def test_the_corners_of_the_grid_are_lda_and_qda():
    x, codes = sample(200)
    m = moments_of(x, codes, 3)
    scores = grid_scores(m, x, Grid(ALPHAS, GAMMAS, normalization="mle"), np.log(m.weight / m.weight.sum()))
    posterior = np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(x, codes)
    np.testing.assert_allclose(posterior[0, 3], lda.predict_proba(x), atol=1e-10)
    qda = QuadraticDiscriminantAnalysis(solver="eigen").fit(x, codes)
    np.testing.assert_allclose(posterior[2, 3], qda.predict_proba(x), atol=1e-10)


def test_scores_in_rotated_dimensions_equal_those_in_all_columns():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(15, 40))
    codes = (np.arange(15) % 2).astype(np.int32)
    x[codes == 1] *= 2
    small = rotated(x)
    grid = Grid(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 0.99]))
    log_priors = np.log([0.4, 0.6])
    full = grid_scores(moments_of(x, codes, 2), x, grid, log_priors)
    m = moments_of(small, codes, 2)
    np.testing.assert_allclose(grid_scores(m, small, replace(grid, n_columns=40), log_priors), full, rtol=1e-9)
    pure = Grid(grid.alphas, np.array([1.0, 0.5]), n_columns=40)
    scores = grid_scores(m, small, pure, log_priors)
    assert np.isnan(scores[:, 0]).all()
    assert np.isfinite(scores[:, 1]).all()


def test_a_singular_setting_is_nan_for_every_class_without_a_warning():
    x, codes = sample(60)
    few = np.flatnonzero(codes == 2)[3:]
    x, codes = np.delete(x, few, axis=0), np.delete(codes, few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = grid_scores(moments_of(x, codes, 3), x, Grid(ALPHAS, GAMMAS), np.log(np.full(3, 1 / 3)))
    nan = np.isnan(scores).any(axis=(2, 3))
    assert nan.tolist() == [[False] * 4, [False] * 4, [False, False, False, True]]
    assert np.isnan(scores[2, 3]).all()


def test_a_constant_column_is_infeasible_where_nothing_replaces_its_variance_and_lost_with_the_diagonal_target():
    x, codes = sample()
    x[:, 1] = 7.0
    m, log_priors = moments_of(x, codes, 3), np.log(np.full(3, 1 / 3))
    identity = np.isnan(grid_scores(m, x, Grid(ALPHAS, GAMMAS), log_priors)).all(axis=(2, 3))
    assert identity.tolist() == [[False, False, False, True]] * 3
    grid = Grid(ALPHAS, GAMMAS, "diagonal")
    scores, others = grid_scores(m, x, grid, log_priors), np.delete(x, 1, axis=1)
    alone = grid_scores(moments_of(others, codes, 3), others, grid, log_priors)
    pure = ALPHAS == 1.0
    np.testing.assert_allclose(scores[~pure], alone[~pure], rtol=1e-12)
    # A class by itself has no way to be without a direction.
    assert np.isnan(scores[pure]).all()


def test_one_row_has_no_unbiased_covariance_of_its_own():
    x, codes = sample(60)
    few = np.flatnonzero(codes == 2)[1:]
    x, codes = np.delete(x, few, axis=0), np.delete(codes, few)
    m = moments_of(x, codes, 3)
    scores = grid_scores(m, x, Grid(ALPHAS, GAMMAS, normalization="unbiased"), np.log(np.full(3, 1 / 3)))
    assert np.isfinite(scores[0]).all()
    assert np.isnan(scores[1:]).all()


@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
def test_a_class_without_rows_scores_minus_infinity_and_leaves_the_others_as_they_are(normalization):
    x, codes = sample()
    keep = codes != 1
    with_gap = moments_of(x[keep], codes[keep], 3)
    without = moments_of(x[keep], codes[keep] // 2, 2)
    grid = Grid(ALPHAS, GAMMAS, normalization=normalization)
    scores = grid_scores(with_gap, x, grid, np.log([0.3, 0.3, 0.4]))
    expected = grid_scores(without, x, grid, np.log([0.3, 0.4]))
    np.testing.assert_allclose(scores[..., [0, 2]], expected, rtol=1e-12)
    assert (scores[..., 1] == -np.inf).all()


def test_unequal_scales_keep_their_digits_where_no_target_enters():
    x, codes = sample(300)
    scale = np.array([1e-7, 1.0, 1e5, 1e8])
    grid, log_priors = Grid(ALPHAS, np.array([0.5, 1.0])), np.log(np.full(3, 1 / 3))
    plain = grid_scores(moments_of(x, codes, 3), x, grid, log_priors)[:, 1]
    scaled = grid_scores(moments_of(x * scale, codes, 3), x * scale, grid, log_priors)[:, 1]
    np.testing.assert_allclose(scaled + np.log(scale).sum(), plain, rtol=1e-9, atol=1e-9)


def test_many_rows_and_settings_are_scored_in_pieces_without_a_seam():
    x, codes = sample(3000, p=30)
    grid, log_priors = Grid(np.linspace(0, 1, 40), GAMMAS), np.log(np.full(3, 1 / 3))
    m = moments_of(x, codes, 3)
    whole = grid_scores(m, x, grid, log_priors)
    some = grid_scores(m, x[1000:1010], Grid(grid.alphas[7:8], GAMMAS), log_priors)
    np.testing.assert_allclose(whole[7:8, :, 1000:1010], some, rtol=1e-10)
