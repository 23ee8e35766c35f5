"""Intervals by their definitions: the profile is minimised by another program, and its ends are put to the test."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, special, stats

from discrim.datasets import load_iris
from discrim.errors import DataError, ParameterError
from discrim.families.logistic.firth import firth
from discrim.inference.intervals import Intervals, confint, coordinates_with, odds_ratios, profile_interval


def binary_loss(x, y):
    z = np.column_stack([np.ones(len(x)), x])
    return lambda beta: float(np.sum(np.logaddexp(0, z @ beta) - y * (z @ beta)))


def multinomial_loss(x, codes, classes):
    z = np.column_stack([np.ones(len(x)), x])

    def loss(beta):
        eta = np.column_stack([np.zeros(len(z)), z @ beta.reshape(classes - 1, -1).T])
        return float(np.sum(np.logaddexp.reduce(eta, axis=1) - eta[np.arange(len(z)), codes]))

    return loss


def profile_loss(loss, coef, i, b, scale):
    """The least loss with entry i held at b, by BFGS from the best of all."""
    others = np.arange(len(coef)) != i

    def of(free):
        beta = np.full(len(coef), float(b))
        beta[others] = coef[others] + free * scale[others]
        return loss(beta)

    options = {"gtol": 1e-7, "maxiter": 2000}
    found = optimize.minimize(of, np.zeros(others.sum()), method="BFGS", options=options)
    return optimize.minimize(of, found.x, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12}).fun


def test_wald_intervals_are_estimates_and_normal_quantiles(fit, binary):
    fitted = fit(*binary)
    found = confint(fitted, level=0.9)
    assert found.shape == (4, 2)
    assert_allclose(found.lower, fitted.coef - stats.norm.ppf(0.95) * fitted.std_error)
    assert_allclose(found.upper, fitted.coef + stats.norm.ppf(0.95) * fitted.std_error)


@pytest.mark.parametrize("level", [0.95, 0.5])
def test_the_ends_of_a_profile_interval_are_where_the_likelihood_ratio_test_turns(fit, level):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(60, 2)) * [1.0, 5.0] + [0.0, 20.0]
    y = (rng.random(60) < 1 / (1 + np.exp(-x[:, 0] - 0.2 * (x[:, 1] - 20)))).astype(int)
    fitted = fit(x, y)
    found, loss = confint(fitted, level=level, method="profile"), binary_loss(x, y)
    for i in range(3):
        for end in np.asarray(found)[i]:
            least = profile_loss(loss, fitted.coef, i, end, fitted.std_error)
            assert_allclose(2 * (least - fitted.solution.loss), stats.chi2.ppf(level, 1), rtol=1e-5)


def test_profile_intervals_of_three_classes_are_those_of_the_definition(fit, three):
    x, y = three
    fitted = fit(x, y, reference=0)
    found = confint(fitted, method="profile")
    loss = multinomial_loss(x, np.searchsorted(["a", "b", "c"], y), 3)
    for i in (0, 1, 5):
        for end in np.asarray(found)[i]:
            least = profile_loss(loss, fitted.coef, i, end, fitted.std_error)
            assert_allclose(2 * (least - fitted.solution.loss), stats.chi2.ppf(0.95, 1), rtol=1e-4)


def test_turning_the_reference_round_turns_the_interval_round(fit, binary):
    first, second = (confint(fit(*binary, reference=k), method="profile") for k in (0, 1))
    assert_allclose(np.asarray(second), -np.asarray(first)[:, ::-1], rtol=1e-6)


def test_far_columns_have_the_profile_of_near_ones(fit):
    rng = np.random.default_rng(11)
    x = rng.integers(-8, 9, size=(90, 2)) / 4.0
    y = rng.random(90) < 1 / (1 + np.exp(-x[:, 0]))
    near, far = (np.asarray(confint(fit(z, y), method="profile")) for z in (x, 1e6 * x + [1e6, 0.0]))
    assert_allclose(far[1:], near[1:] / 1e6, rtol=1e-7)
    # The intercept of far columns is that of x0 = -1 near zero: so is its interval.
    shifted = np.asarray(confint(fit(x + np.array([1.0, 0.0]), y), method="profile"))
    assert_allclose(far[0], shifted[0], rtol=1e-6)


def test_a_profile_costs_few_passes(fit, binary):
    fitted = fit(*binary)
    before = fitted.objective.passes
    confint(fitted, method="profile")
    assert fitted.objective.passes - before <= 8 * 2 * 4


def test_an_infinite_estimate_has_an_infinite_end_and_a_finite_one(fit):
    """Ten zeros of which half are ones, ten ones that all are: the rows with x = 0 fit 1/2 whatever the slope."""
    x = np.repeat([0.0, 1.0], 10)[:, None]
    y = np.r_[np.tile([0, 1], 5), np.ones(10, int)]

    def excess(b):
        least = optimize.minimize_scalar(lambda a: binary_loss(x, y)(np.array([a, b])), bounds=(-9, 9))
        return 2 * (least.fun - 10 * np.log(2)) - stats.chi2.ppf(0.95, 1)

    expected = optimize.brentq(excess, 0.0, 5.0, xtol=1e-10)
    upward = confint(fit(x, y, infinite=np.array([0.0, 1.0])), method="profile")[1]
    downward = confint(fit(-x, y, infinite=np.array([0.0, -1.0])), method="profile")[1]
    assert_allclose(upward, [expected, np.inf], rtol=1e-4)
    assert_allclose(downward, [-np.inf, -expected], rtol=1e-4)


def test_where_any_column_would_separate_alone_no_value_of_one_is_refuted(fit):
    """One class of iris stands apart in every column, so that only the other two have finite intervals."""
    data = load_iris()
    x, y = data.xy
    direction = np.zeros((3, 5))
    direction[0] = [1.0, 1.0, 2.0, -3.0, -1.0]
    fitted = fit(x, y, reference=1, infinite=direction)
    found = np.asarray(confint(fitted, method="profile"))
    assert_allclose(found[:5], np.repeat([[-np.inf, np.inf]], 5, axis=0))
    rest = np.asarray(confint(fit(x[y != y[0]], y[y != y[0]]), method="profile"))
    assert_allclose(found[5:], rest, rtol=1e-5)


def test_firths_intervals_profile_the_penalised_likelihood(fit):
    x = np.repeat([0.0, 1.0], 10)[:, None] + 3.0
    y = np.r_[np.tile([0, 1], 5), np.ones(10, int)]
    ordinary = fit(x, y)
    fitted = replace(ordinary, penalty="firth", solution=firth(ordinary.objective, np.zeros(2)))
    assert_allclose(fitted.coef[1], 3.0445, atol=1e-4)
    z = np.column_stack([np.ones(20), x])

    def penalised(beta):
        mu = 1 / (1 + np.exp(-z @ beta))
        return binary_loss(x, y)(beta) - 0.5 * np.linalg.slogdet(z.T @ ((mu * (1 - mu))[:, None] * z))[1]

    best = penalised(fitted.coef)
    found = confint(fitted, method="profile")
    for i in range(2):
        for end in np.asarray(found)[i]:
            least = profile_loss(penalised, fitted.coef, i, end, fitted.std_error)
            assert_allclose(2 * (least - best), stats.chi2.ppf(0.95, 1), rtol=1e-5)


def test_firths_intervals_of_three_classes_profile_their_penalised_likelihood(fit, three):
    x, y = three[0][:40], three[1][:40]
    ordinary = fit(x, y)
    fitted = replace(ordinary, penalty="firth", solution=firth(ordinary.objective, np.zeros((3, 3))))
    z, loss = np.column_stack([np.ones(40), x]), multinomial_loss(x, np.searchsorted(["a", "b", "c"], y), 3)

    def penalised(beta):
        mu = special.softmax(np.column_stack([np.zeros(40), z @ beta.reshape(2, 3).T]), axis=1)[:, 1:]
        W = mu[:, :, None] * np.eye(2) - mu[:, :, None] * mu[:, None, :]
        return loss(beta) - 0.5 * np.linalg.slogdet(np.einsum("ni,nkl,nj->kilj", z, W, z).reshape(6, 6))[1]

    best = penalised(fitted.coef)
    for i in (0, 4):
        for end in profile_interval(fitted, i, 1.0):
            assert_allclose(2 * (profile_loss(penalised, fitted.coef, i, end, fitted.std_error) - best), 1, rtol=1e-5)


def test_aliased_columns_have_no_interval(fit, binary):
    x, y = binary
    fitted = fit(np.column_stack([x, x[:, 0]]), y, aliased=[3])
    for method in ("wald", "profile"):
        found = np.asarray(confint(fitted, method=method))
        assert np.isnan(found[4]).all()
        assert_allclose(found[:4], np.asarray(confint(fit(x, y), method=method)), rtol=1e-6)


@pytest.mark.parametrize("i", range(6))
def test_in_coordinates_with_a_coefficient_the_likelihood_is_the_same_and_the_coefficient_is_one_entry(fit, three, i):
    fitted = fit(*three)
    mixed = np.random.default_rng(0).normal(size=(2, 2))
    basis = replace(fitted.coordinates, turned=mixed)
    for old in (fitted.coordinates, basis):
        theta = old.from_user(fitted.coordinates.to_user(fitted.theta))
        new = coordinates_with(old, fitted.functional(i, old))
        phi, c = new.from_user(old.to_user(theta)), fitted.functional(i, new)
        assert_allclose(new.to_user(phi), old.to_user(theta), atol=1e-12)
        m = np.argmax(np.abs(c))
        assert_allclose(np.delete(c, m), 0.0, atol=1e-12)
        assert_allclose(c.flat[m] * phi.flat[m], fitted.coef[i])
        assert_allclose(np.linalg.det(new.matrix()[1:, 1:]), np.linalg.det(old.matrix()[1:, 1:]))
        one, other = fitted.objective.with_coordinates(old), fitted.objective.with_coordinates(new)
        assert_allclose(other.at(phi).loss, one.at(theta).loss)


def test_odds_ratios_are_exponentials(fit, binary):
    fitted = fit(*binary)
    table = odds_ratios(fitted, confint(fitted, level=0.9))
    assert table.columns == ["estimate", "lower", "upper"]
    assert list(table.index) == fitted.labels
    assert_allclose(table.values[:, 0], np.exp(fitted.coef))
    assert_allclose(table.values[:, 1:], np.exp(np.asarray(confint(fitted, level=0.9))))


def test_intervals_are_an_array_that_prints_with_names():
    found = Intervals(np.array([[0.5, 1.5], [-2.0, np.inf]]), ["(Intercept)", "age"], 0.95)
    assert str(found).splitlines() == [
        "Intervals of level 0.95:",
        "            2.5 % 97.5 %",
        "(Intercept)   0.5    1.5",
        "age          -2.0    Inf",
    ]
    assert type(np.asarray(found)) is np.ndarray
    assert found[1, 0] == -2.0
    assert "age" not in repr(found[1])
    assert np.exp(found).names == ["(Intercept)", "age"]
    copy = pickle.loads(pickle.dumps(found))
    assert copy.names == found.names
    assert copy.level == 0.95


def test_what_cannot_be_answered_is_refused(fit, binary):
    fitted = fit(*binary)
    with pytest.raises(ParameterError, match="'level' parameter is 95; it must be a number between 0 and 1"):
        confint(fitted, level=95)
    with pytest.raises(ParameterError, match="'method' parameter is 'score'; it must be 'wald' or 'profile'"):
        confint(fitted, method="score")
    with pytest.raises(ParameterError, match="no answer after the penalty 'l1'"):
        confint(replace(fitted, penalty="l1"))
    with pytest.raises(ParameterError, match=r"penalty 'l2'\. Fit it with C=np.inf"):
        confint(fit(*binary, alpha=1.0), method="profile")
    with pytest.raises(DataError, match="A profile interval needs the rows"):
        confint(pickle.loads(pickle.dumps(fitted)), method="profile")


@pytest.mark.filterwarnings("error")
def test_odds_ratios_beyond_all_numbers_are_infinite(fit, binary):
    x, y = binary
    fitted = fit(x * 1e-4, y)
    table = odds_ratios(fitted, confint(fitted))
    assert np.isinf(table.values).any()
    assert not np.isnan(table.values).any()


def test_an_odds_ratio_of_one_is_not_written_as_zero_beside_an_endless_one(fit, binary):
    fitted = fit(*binary)
    ends = np.tile([[-1.0, 0.9557]], (len(fitted.labels), 1))
    ends[-1] = [0.4, 42.4]
    lines = str(odds_ratios(fitted, Intervals(ends, fitted.labels, 0.95, ""))).splitlines()
    assert all(float(cell) > 0 for line in lines[2:] for cell in line.split()[-3:])
    assert float(lines[2].split()[-1]) == pytest.approx(np.exp(0.9557), rel=1e-3)
