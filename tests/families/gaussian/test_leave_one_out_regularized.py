"""Leave-one-out over a grid of regularised rules against refitting without each row."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from discrim.block import Block
from discrim.families.gaussian.grid import GaussianGrid as Grid
from discrim.families.gaussian.leave_one_out import gaussian_scores
from discrim.families.recipe import Shape, Turned
from discrim.families.tuning import choose, table_of
from discrim.statistics import ClassMoments, Depth

ALPHAS = np.array([0.0, 0.3, 1.0])
GAMMAS = np.array([0.0, 0.2, 0.9, 1.0])
PRIORS = np.array([0.2, 0.5, 0.3])


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def sample(sizes=(14, 9, 17), p=4, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes)).astype(np.int32)
    x = rng.normal(size=(len(codes), p)) @ rng.normal(size=(p, p)) * (1 + codes[:, None])
    return x + 2 * rng.normal(size=(len(sizes), p))[codes] + 30.0, codes


def moments_of(x, codes, k=3):
    groups = [x[codes == j] for j in range(k)]
    mean = np.array([g.mean(axis=0) if len(g) else np.zeros(x.shape[1]) for g in groups])
    scatter = np.array([(g - m).T @ (g - m) for g, m in zip(groups, mean, strict=True)])
    rows = np.array([len(g) for g in groups])
    return ClassMoments(np.arange(k), rows.astype(float), rows, mean, scatter, Depth.FULL)


def rda_scores(x, codes, m, grid, priors=None):
    """For each alpha the scores (G, n, K) without each row."""
    for scores in replace(grid, priors=priors).scores_without_each(Block(x, codes, np.arange(len(m.weight))), m):
        yield np.moveaxis(scores, 0, -1)


def normalised(scores):
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


def refitted(x, codes, alpha, gamma, normalization, priors=None, k=3):
    out = np.full((len(x), k), -np.inf)
    p = x.shape[1]
    for i in range(len(x)):
        m = moments_of(np.delete(x, i, axis=0), np.delete(codes, i), k)
        n_k, mean, scatter = m.weight, m.mean, m.scatter
        lost, lost_pooled = (1, np.count_nonzero(n_k)) if normalization == "unbiased" else (0, 0)
        for j in np.flatnonzero(n_k):
            sigma = (1 - alpha) * scatter.sum(axis=0) / (n_k.sum() - lost_pooled)
            sigma = sigma + (alpha * scatter[j] / (n_k[j] - lost) if alpha else 0)
            sigma = gamma * sigma + (1 - gamma) * np.trace(sigma) / p * np.eye(p)
            d = x[i] - mean[j]
            prior = n_k[j] / n_k.sum() if priors is None else priors[j]
            log_det = np.linalg.slogdet(sigma)[1]
            out[i, j] = np.log(prior) - (d @ np.linalg.solve(sigma, d) + log_det) / 2
    return out


@pytest.mark.parametrize("priors", [None, PRIORS])
@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
def test_every_setting_without_each_row_equals_refitting(normalization, priors):
    x, codes = sample()
    grid = Grid(ALPHAS, GAMMAS, normalization=normalization)
    for alpha, scores in zip(ALPHAS, rda_scores(x, codes, moments_of(x, codes), grid, priors), strict=True):
        assert scores.shape == (4, 40, 3)
        for g, gamma in enumerate(GAMMAS):
            expected = refitted(x, codes, alpha, gamma, normalization, priors)
            np.testing.assert_allclose(scores[g], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
def test_classes_of_one_row_vanish_and_the_rest_equals_refitting(normalization):
    x, codes = sample(sizes=(14, 1, 17, 1))
    gammas = GAMMAS[:3]
    # A class of one row has no unbiased matrix of its own, so only alpha = 0 is left there.
    alphas = ALPHAS[:2] if normalization == "mle" else ALPHAS[:1]
    grid = Grid(alphas, gammas, normalization=normalization)
    for alpha, scores in zip(alphas, rda_scores(x, codes, moments_of(x, codes, 4), grid), strict=True):
        assert (scores[:, codes == 1, 1] == -np.inf).all()
        for g, gamma in enumerate(gammas):
            expected = refitted(x, codes, alpha, gamma, normalization, k=4)
            np.testing.assert_allclose(scores[g], expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
def test_the_corners_are_lda_and_qda(normalization):
    x, codes = sample()
    m = moments_of(x, codes)
    corners = Grid(np.array([0.0, 1.0]), np.array([1.0]), normalization=normalization)
    first, last = (scores[0] for scores in rda_scores(x, codes, m, corners))
    block = Block(x, codes, np.arange(3))
    pooled = gaussian_scores(m.pooled(), None, normalization, block)
    np.testing.assert_allclose(normalised(first), normalised(pooled), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(last, gaussian_scores(m, None, normalization, block), rtol=1e-10)


def test_rotated_dimensions_give_the_scores_of_all_columns():
    x, codes = sample(sizes=(5, 6, 7), p=40)
    centre = x.mean(axis=0)
    v = np.linalg.svd(x - centre, full_matrices=False)[2][:17].T
    gammas = np.array([0.0, 0.4, 0.95, 1.0])
    small = (x - centre) @ v
    reduced = rda_scores(small, codes, moments_of(small, codes), Grid(ALPHAS, gammas, n_columns=40))
    for alpha, scores in zip(ALPHAS, reduced, strict=True):
        for g, gamma in enumerate(gammas[:3]):
            expected = refitted(x, codes, alpha, gamma, "mle")
            np.testing.assert_allclose(scores[g], expected, rtol=1e-10)
        assert np.isnan(scores[3]).all()


def test_unequal_scales_keep_their_digits_where_no_target_enters():
    x, codes = sample()
    scale = np.array([1e-7, 1.0, 1e5, 1e8])
    grid = Grid(ALPHAS, np.array([0.5, 1.0]))
    scaled = rda_scores(x * scale, codes, moments_of(x * scale, codes), grid)
    for plain, other in zip(rda_scores(x, codes, moments_of(x, codes), grid), scaled, strict=True):
        np.testing.assert_allclose(other[1] + np.log(scale).sum(), plain[1], rtol=1e-8)


def test_a_matrix_that_is_singular_without_the_row_is_nan():
    x, codes = sample(sizes=(14, 5, 17))
    scores = list(rda_scores(x, codes, moments_of(x, codes), Grid(ALPHAS, GAMMAS)))
    assert np.isfinite(scores[0]).all()
    assert np.isfinite(scores[2][:3]).all()
    assert np.isnan(scores[2][3][codes == 1, 1]).all()
    assert np.isfinite(scores[2][3][codes != 1]).all()


def test_two_rows_leave_no_unbiased_matrix_when_one_goes():
    x, codes = sample(sizes=(14, 2, 17))
    grid = Grid(ALPHAS, GAMMAS[:3], normalization="unbiased")
    scores = list(rda_scores(x, codes, moments_of(x, codes), grid))
    assert np.isfinite(scores[0]).all()
    assert np.isnan(scores[1][:, codes == 1, 1]).all()
    assert np.isfinite(scores[1][:, codes != 1]).all()


def test_more_rows_than_a_block_holds_have_no_seam():
    x, codes = sample(sizes=(900, 1500, 700), p=12)
    m, grid = moments_of(x, codes), Grid(ALPHAS[1:2], GAMMAS)
    scores = next(iter(rda_scores(x, codes, m, grid)))
    row = int(np.flatnonzero(codes == 1)[-1])
    swapped = x.copy(), codes.copy()
    for part in swapped:
        part[[0, row]] = part[[row, 0]]
    np.testing.assert_allclose(next(iter(rda_scores(*swapped, m, grid)))[:, 0], scores[:, row], rtol=1e-10)
    left = moments_of(np.delete(x, row, axis=0), np.delete(codes, row))
    n_k, mean, scatter = left.weight, left.mean, left.scatter
    sigma = 0.3 * scatter[1] / n_k[1] + 0.7 * scatter.sum(axis=0) / n_k.sum()
    d = x[row] - mean[1]
    square = d @ np.linalg.solve(sigma, d)
    expected = np.log(n_k[1] / n_k.sum()) - (square + np.linalg.slogdet(sigma)[1]) / 2
    assert scores[3, row, 1] == pytest.approx(expected, rel=1e-10)


def test_the_loss_surface_is_that_of_the_scores_and_picks_what_folds_of_one_row_pick():
    x, codes = sample(sizes=(14, 5, 17))
    m, grid = moments_of(x, codes), Grid(ALPHAS, GAMMAS)
    flat_table = grid.left_out(Block(x, codes, np.arange(3)), Shape(Turned(4)))
    table = {name: values.reshape(3, 4) for name, values in flat_table.items()}
    scores = np.stack(list(rda_scores(x, codes, m, grid)))
    assert np.isnan(table["mean_error"][2, 3])
    scores[2, 3] = 0.0
    own = np.take_along_axis(normalised(scores), codes[None, None, :, None], axis=-1)[..., 0]
    wrong = (scores.argmax(axis=-1) != codes).astype(float)
    wrong[2, 3] = own[2, 3] = np.nan
    flat = (len(ALPHAS) * len(GAMMAS), len(x))
    by_folds = table_of(wrong.reshape(flat), -own.reshape(flat), np.ones(len(x)))
    for name, surface in by_folds.items():
        np.testing.assert_allclose(table[name].ravel(), surface, rtol=1e-9)
    assert choose(flat_table, "one-se", grid) == choose(by_folds, "one-se", grid)


def test_the_diagonal_target_is_left_to_refitting_unless_it_does_not_enter():
    x, codes = sample()
    m = moments_of(x, codes)
    pure = np.array([1.0])
    assert not Grid(ALPHAS, GAMMAS, "diagonal").has_closed_form
    assert Grid(ALPHAS, pure, "diagonal").has_closed_form
    same = zip(
        rda_scores(x, codes, m, Grid(ALPHAS, pure, "diagonal")),
        rda_scores(x, codes, m, Grid(ALPHAS, pure)),
        strict=True,
    )
    for diagonal, identity in same:
        np.testing.assert_allclose(diagonal, identity, rtol=1e-10)
