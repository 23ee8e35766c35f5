"""Losses of a whole grid over folds, and the setting chosen from them."""

from __future__ import annotations

import numpy as np
import pytest

from discrim.errors import ParameterError
from discrim.solvers.regularized import Grid, Moments
from discrim.solvers.regularized_search import choose, cross_validated_loss

GRID = Grid(np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.6, 1.0]))


def data(n=120, p=5, k=3, seed=2):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, n).astype(np.int32)
    x = rng.normal(size=(n, p)) * (1 + 0.5 * codes[:, None]) + rng.normal(size=(k, p))[codes]
    return x, codes, rng.permutation(n) % 4, rng.uniform(0.5, 2, n)


def training_moments(x, codes, fold, w, k):
    parts = []
    for f in range(fold.max() + 1):
        for j in range(k):
            rows = (fold != f) & (codes == j)
            mean = np.average(x[rows], axis=0, weights=w[rows])
            parts.append((w[rows].sum(), mean, (x[rows] - mean).T @ (w[rows, None] * (x[rows] - mean))))
    n_folds, p = fold.max() + 1, x.shape[1]
    weight, mean, scatter = (np.array(column) for column in zip(*parts, strict=True))
    return Moments(weight.reshape(n_folds, k), mean.reshape(n_folds, k, p), scatter.reshape(n_folds, k, p, p))


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_equal_refitting_every_setting_in_every_fold(weighted, given):
    x, codes, fold, w = data()
    w = w if weighted else np.ones(len(x))
    moments = training_moments(x, codes, fold, w, 3)
    log_priors = np.log([0.5, 0.2, 0.3]) if given else None
    error, log_loss, n_test = cross_validated_loss(moments, x, codes, fold, GRID, log_priors, w if weighted else None)
    for f in range(4):
        test = fold == f
        n_k, mean, scatter = (part[f] for part in moments)
        priors = np.exp(log_priors) if given else n_k / n_k.sum()
        assert n_test[f] == pytest.approx(w[test].sum())
        for a, alpha in enumerate(GRID.alphas):
            for g, gamma in enumerate(GRID.gammas):
                density = np.empty((test.sum(), 3))
                for k in range(3):
                    sigma = alpha * scatter[k] / n_k[k] + (1 - alpha) * scatter.sum(axis=0) / n_k.sum()
                    sigma = gamma * sigma + (1 - gamma) * np.trace(sigma) / 5 * np.eye(5)
                    d = x[test] - mean[k]
                    square = np.sum(d * np.linalg.solve(sigma, d.T).T, axis=1)
                    density[:, k] = priors[k] * np.exp(-square / 2) / np.sqrt(np.linalg.det(sigma))
                posterior = density / density.sum(axis=1, keepdims=True)
                own = posterior[np.arange(test.sum()), codes[test]]
                wrong = posterior.argmax(axis=1) != codes[test]
                assert error[a, g, f] == pytest.approx(np.average(wrong, weights=w[test]), abs=1e-12)
                assert log_loss[a, g, f] == pytest.approx(np.average(-np.log(own), weights=w[test]), rel=1e-9)


def test_a_class_missing_from_a_training_part_costs_its_rows_a_finite_loss():
    x, codes, fold, w = data()
    codes[codes == 2] = 0
    codes[fold == 0] = np.where(np.arange((fold == 0).sum()) < 3, 2, codes[fold == 0])
    moments = training_moments(x, np.where(codes == 2, 1, codes), fold, w, 2)
    padded = Moments(
        np.pad(moments.weight, ((0, 0), (0, 1))),
        np.pad(moments.mean, ((0, 0), (0, 1), (0, 0))),
        np.pad(moments.scatter, ((0, 0), (0, 1), (0, 0), (0, 0))),
    )
    error, log_loss, _ = cross_validated_loss(padded, x, codes, fold, GRID)
    assert (error[..., 0] >= 3 / (fold == 0).sum()).all()
    assert np.isfinite(log_loss).all()


def test_equal_classes_tie_and_the_first_is_predicted():
    x, codes, fold, _ = data(k=2)
    codes[:] = np.arange(len(x)) % 2
    one = training_moments(x, np.zeros_like(codes), fold, np.ones(len(x)), 1)
    twins = Moments(*(np.repeat(part, 2, axis=1) for part in one))
    error, log_loss, _ = cross_validated_loss(twins, x, codes, fold, GRID)
    share = [codes[fold == f].mean() for f in range(4)]
    np.testing.assert_allclose(error, np.broadcast_to(share, error.shape))
    np.testing.assert_allclose(log_loss, np.log(2))


def test_an_empty_fold_counts_for_nothing():
    x, codes, fold, w = data()
    moments = training_moments(x, codes, fold, w, 3)
    more = Moments(*(np.concatenate([part, part[:1]]) for part in moments))
    plain, padded = (cross_validated_loss(m, x, codes, fold, GRID) for m in (moments, more))
    assert padded[2].tolist() == [*plain[2].tolist(), 0.0]
    first, second = choose(GRID, *plain), choose(GRID, *padded)
    assert first[:2] == second[:2]
    for name, surface in first[2].items():
        np.testing.assert_allclose(second[2][name], surface, rtol=1e-12)


def surfaces(error, log_loss=None):
    """A 3 x 3 surface in four folds of unequal size whose fold errors spread by 0.1 around the mean."""
    error = np.asarray(error, dtype=float)
    n_test = np.array([10.0, 20.0, 10.0, 20.0])
    folds = error[..., None] + np.array([0.1, 0.1, -0.1, -0.1]) * np.array([1.0, 0.5, 1.0, 0.5])
    loss = np.zeros((3, 3)) if log_loss is None else np.asarray(log_loss, dtype=float)
    return folds, np.repeat(loss[..., None], 4, axis=-1), n_test


def test_the_surface_is_weighted_by_fold_sizes():
    error, log_loss, n_test = surfaces(np.arange(9).reshape(3, 3) / 10)
    _, _, table = choose(GRID, error, log_loss, n_test)
    np.testing.assert_allclose(table["mean_error"], np.arange(9).reshape(3, 3) / 10, atol=1e-15)
    rows = np.repeat(error, n_test.astype(int), axis=-1)
    expected = np.sqrt(((rows - rows.mean(axis=-1, keepdims=True)) ** 2).mean(axis=-1) / 3)
    np.testing.assert_allclose(table["std_error"], expected)


def test_the_smallest_error_wins_then_the_log_loss_then_the_stronger_regularisation():
    error = [[0.5, 0.5, 0.5], [0.5, 0.2, 0.2], [0.2, 0.5, 0.2]]
    assert choose(GRID, *surfaces(error))[:2] == (1, 1)
    log_loss = [[0, 0, 0], [0, 0.7, 0.6], [0.6, 0, 0.7]]
    assert choose(GRID, *surfaces(error, log_loss))[:2] == (1, 2)
    backwards = Grid(GRID.alphas[::-1], GRID.gammas[::-1])
    assert choose(backwards, *surfaces(error))[:2] == (2, 2)


def test_one_standard_error_takes_the_most_regularised_setting_that_is_close_enough():
    error = np.array([[0.5, 0.5, 0.24], [0.23, 0.5, 0.5], [0.5, 0.2, 0.5]])
    assert choose(GRID, *surfaces(error), "min")[:2] == (2, 1)
    assert choose(GRID, *surfaces(error), "one-se")[:2] == (0, 2)
    error[0, 2] = 0.3
    assert choose(GRID, *surfaces(error), "one-se")[:2] == (1, 0)


def test_a_setting_that_fails_in_one_fold_is_not_chosen():
    error, log_loss, n_test = surfaces([[0.5, 0.4, 0.1]] * 3)
    error[:, 2, 1] = np.nan
    a, g, table = choose(GRID, error, log_loss, n_test)
    assert (a, g) == (0, 1)
    assert np.isnan(table["mean_error"][:, 2]).all()


def test_no_feasible_setting_is_an_error_that_says_what_to_do():
    error, log_loss, n_test = surfaces(np.full((3, 3), np.nan))
    with pytest.raises(ParameterError, match=r"No setting of alpha and gamma .* Add values of gamma below 1"):
        choose(GRID, error, log_loss, n_test)
