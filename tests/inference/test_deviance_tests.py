"""Terms left out: a constrained fit equals a separate fit on the other columns; so do the steps of a choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from discrim.errors import DataError, ParameterError
from discrim.families.logistic.firth import firth
from discrim.inference.deviance_tests import anova, drop1, restricted, sequential, stepwise


def columns_of(x, *left_out):
    return np.delete(x, left_out, axis=1)


def test_leaving_out_a_term_equals_fitting_without_it(fit, binary):
    x, y = binary
    fitted, table = fit(x, y), drop1(fit(x, y))
    assert list(table.index) == ["<none>", "x0", "x1", "x2"]
    assert table.columns == ["Df", "Deviance", "AIC", "LRT", "Pr(>Chi)"]
    assert_allclose(table.values[0], [np.nan, fitted.deviance, fitted.deviance + 8, np.nan, np.nan])
    for j in range(3):
        alone = fit(columns_of(x, j), y)
        lrt = alone.deviance - fitted.deviance
        expected = [1, alone.deviance, alone.deviance + 6, lrt, stats.chi2.sf(lrt, 1)]
        assert_allclose(table.values[j + 1], expected, rtol=1e-6)


def test_three_classes_lose_two_coefficients_a_column(fit, three):
    x, y = three
    fitted, table = fit(x, y, reference=2), drop1(fit(x, y, reference=2))
    for j in range(2):
        lrt = fit(columns_of(x, j), y).deviance - fitted.deviance
        assert_allclose(table.values[j + 1][[0, 3, 4]], [2, lrt, stats.chi2.sf(lrt, 2)], rtol=1e-6)


def test_grouped_rows_with_offsets_are_compared_by_their_deviance(fit, grouped):
    x, successes, trials, offset = grouped
    fitted = fit(x, successes, trials=trials, offset=offset, loglik_constant=5.0)
    table = drop1(fitted)
    alone = fit(x[:, :1], successes, trials=trials, offset=offset)
    assert_allclose(table.values[2][1], alone.deviance, rtol=1e-9)
    assert_allclose(table.values[2][2], 2 * alone.solution.loss - 10.0 + 4, rtol=1e-9)


def test_a_term_of_several_columns_is_tested_as_one(fit, binary):
    x, y = binary
    fitted = replace(fit(x, y), terms=[("x0", [0]), ("group", [1, 2])])
    table = drop1(fitted)
    lrt = fit(x[:, :1], y).deviance - fitted.deviance
    assert list(table.index) == ["<none>", "x0", "group"]
    assert_allclose(table.values[2][[0, 3, 4]], [2, lrt, stats.chi2.sf(lrt, 2)], rtol=1e-6)


def test_an_aliased_column_stands_in_for_the_one_that_is_left_out(fit, binary):
    x, y = binary
    table = drop1(fit(np.column_stack([x, x[:, 0] + 1e-3 * x[:, 1]]), y, aliased=[3]))
    # x0, x1 and x3 span a plane: any two of them say the same, so that leaving out one loses nothing.
    assert_allclose(table.values[[1, 2, 4], 0], 0)
    assert_allclose(table.values[[1, 2, 4], 3], 0, atol=1e-8)
    assert np.isnan(table.values[[1, 2, 4], 4]).all()
    assert table.values[3][0] == 1


def test_a_separating_column_can_be_tested(fit):
    rng = np.random.default_rng(0)
    x = np.column_stack([np.repeat([0.0, 1.0], 30), rng.normal(size=60)])
    y = (x[:, 0] == 1) | (rng.random(60) < 0.5)
    fitted = fit(x, y, infinite=np.array([0.0, 1.0, 0.0]))
    lrt = fit(x[:, 1:], y).deviance - fit(x[:30, 1:], y[:30]).deviance
    assert_allclose(drop1(fitted).values[1][3], lrt, rtol=1e-6)


def test_a_constrained_fit_begins_close_to_its_end(fit, binary):
    fitted = fit(*binary)
    before = fitted.objective.passes
    restricted(fitted, ["x0", "x1"])
    assert fitted.objective.passes - before <= 3


def test_without_a_test_there_is_no_p_value(fit, binary):
    assert drop1(fit(*binary), test=None).columns == ["Df", "Deviance", "AIC"]
    with pytest.raises(ParameterError, match="'test' parameter is 'f'; it must be 'chisq' or None"):
        drop1(fit(*binary), test="f")


def test_firths_test_compares_likelihoods_under_one_penalty(fit):
    """The penalised likelihood-ratio test holds the coefficient at 0 and keeps its column in the information."""
    x = np.repeat([0.0, 1.0], 10)[:, None]
    y = np.r_[np.tile([0, 1], 5), np.ones(10, int)]
    ordinary = fit(x, y)
    fitted = replace(ordinary, penalty="firth", solution=firth(ordinary.objective, np.zeros(2)))
    z = np.column_stack([np.ones(20), x])

    def penalised(beta):
        mu = 1 / (1 + np.exp(-z @ beta))
        loglik = np.sum(y * np.log(mu) + (1 - y) * np.log(1 - mu))
        return loglik + 0.5 * np.linalg.slogdet(z.T @ ((mu * (1 - mu))[:, None] * z))[1]

    least = max(penalised(np.array([b, 0.0])) for b in np.linspace(0.9, 1.2, 3001))
    assert_allclose(drop1(fitted).values[1][3], 2 * (penalised(fitted.coef) - least), rtol=1e-6)
    assert_allclose(anova(fitted, []).values[1][3], 2 * (penalised(fitted.coef) - least), rtol=1e-6)


def test_two_models_are_compared_by_their_deviances(fit, binary):
    x, y = binary
    large, small = fit(x, y), fit(x[:, :1], y)
    lrt = small.deviance - large.deviance
    expected = [[148, small.deviance, np.nan, np.nan, np.nan], [146, large.deviance, 2, lrt, stats.chi2.sf(lrt, 2)]]
    for table in (anova(large, small), anova(large, ["x0"])):
        assert table.columns == ["Resid. Df", "Resid. Dev", "Df", "Deviance", "Pr(>Chi)"]
        assert_allclose(table.values, expected, rtol=1e-6)


def test_models_that_cannot_be_compared_are_refused(fit, binary):
    x, y = binary
    large = fit(x, y)
    with pytest.raises(DataError, match="The smaller model has 'z', which this model lacks: they are not nested"):
        anova(large, replace(fit(x[:, :1], y), names=["z"]))
    with pytest.raises(DataError, match="fitted on other rows, labels, weights or offsets"):
        anova(large, fit(x[:-1, :1], y[:-1]))
    with pytest.raises(DataError, match="classes 'a', 'b', this one 'no', 'yes'"):
        anova(large, fit(x[:, :1], np.where(y == "yes", "b", "a")))
    with pytest.raises(DataError, match="fitted by 'l2', this one by 'none'"):
        anova(large, fit(x[:, :1], y, alpha=1.0))
    with pytest.raises(ParameterError, match=r"no term 'x7'\. Its terms are 'x0', 'x1', 'x2'"):
        anova(large, ["x7"])
    with pytest.raises(ParameterError, match="a fitted model or a list of terms"):
        anova(large, "x0")
    with pytest.raises(ParameterError, match=r"drop1\(\) compares maximum-likelihood fits"):
        drop1(fit(x, y, alpha=1.0))


@pytest.fixture(scope="module")
def rows():
    """Eight columns, correlated, of which some matter."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(180, 8)) @ (np.eye(8) + 0.4 * rng.normal(size=(8, 8)))
    return x, (rng.random(180) < 1 / (1 + np.exp(-x @ [1.0, 0, 0, 0.5, 0, 0, -0.4, 0]))).astype(int)


def by_hand(fit, x, y, price, direction):
    """The textbook's loop, every model fitted on its own columns."""
    p = x.shape[1]
    known = {}

    def score(columns):
        if columns not in known:
            deviance = fit(x[:, sorted(columns)], y).deviance if columns else 2 * fit(x, y).null_loss
            known[columns] = deviance + price * (1 + len(columns))
        return known[columns]

    here = frozenset() if direction == "forward" else frozenset(range(p))
    path = [score(here)]
    while True:
        moves = [here ^ {j} for j in range(p) if direction == "both" or (j in here) == (direction == "backward")]
        best = min(moves, key=score)
        if score(best) >= path[-1]:
            return [f"x{j}" for j in sorted(here)], path
        here = best
        path.append(score(here))


@pytest.mark.parametrize("direction", ["both", "backward", "forward"])
@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_the_steps_are_those_of_separate_fits(fit, rows, criterion, direction):
    price = 2.0 if criterion == "aic" else np.log(180)
    kept, table = stepwise(fit(*rows), criterion, direction)
    terms, path = by_hand(fit, *rows, price, direction)
    assert kept == terms
    assert 0 < len(terms) < 8
    assert_allclose(table.values[:, -1], path, rtol=1e-8)


def test_the_table_tells_every_step(fit, rows):
    _, table = stepwise(fit(*rows), "bic", "backward")
    assert table.columns == ["Df", "Deviance", "Resid. Df", "Resid. Dev", "BIC"]
    assert table.index[0] == ""
    assert all(name.startswith("- x") for name in table.index[1:])
    assert_allclose(np.diff(table.values[:, 3]), table.values[1:, 1], rtol=1e-8)
    assert_allclose(np.diff(table.values[:, 2]), 1)


def test_a_term_may_come_back(fit):
    rng = np.random.default_rng(37)
    x = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
    y = (rng.random(60) < 1 / (1 + np.exp(-x @ (0.4 * rng.normal(size=6))))).astype(int)
    kept, table = stepwise(fit(x, y), "aic", "both")
    assert "- x4" in table.index
    assert table.index[-1] == "+ x4"
    assert kept == by_hand(fit, x, y, 2.0, "both")[0]
    assert stepwise(fit(x, y), "aic", "backward")[0] == [name for name in kept if name != "x4"]


def test_an_aliased_column_goes_first_and_costs_nothing(fit, rows):
    x, y = rows
    kept, table = stepwise(fit(np.column_stack([x, x[:, 0] - x[:, 1]]), y, aliased=[8]))
    assert table.index[1] == "- x8"
    assert_allclose(table.values[1][0], 0)
    assert kept == stepwise(fit(x, y))[0]


def test_three_classes_are_chosen_for_together(fit, three):
    x, y = three
    noise = np.random.default_rng(0).normal(size=(len(x), 1))
    kept, table = stepwise(fit(np.column_stack([x, noise]), y), "bic")
    assert kept == ["x0", "x1"]
    assert_allclose(table.values[1][0], 2)


def test_unknown_choices_are_refused(fit, rows):
    fitted = fit(*rows)
    with pytest.raises(ParameterError, match="'criterion' parameter is 'cp'; it must be 'aic' or 'bic'"):
        stepwise(fitted, "cp")
    with pytest.raises(ParameterError, match="'direction' parameter is 'up'"):
        stepwise(fitted, "aic", "up")


def test_terms_added_one_by_one_add_up_to_the_whole(fit, binary):
    """As R's anova(glm, test="Chisq")."""
    x, y = binary
    fitted = fit(x, y)
    table = sequential(fitted)
    assert list(table.index) == ["NULL", "x0", "x1", "x2"]
    deviances = [fit(x[:, :k], y).deviance if k else 2 * fitted.null_loss for k in range(4)]
    assert_allclose(table["Resid. Dev"], deviances, rtol=1e-9)
    assert_allclose(table["Deviance"][1:], -np.diff(deviances), rtol=1e-7)
    assert_allclose(table["Pr(>Chi)"][1:], stats.chi2.sf(-np.diff(deviances), 1), rtol=1e-7)
    assert_allclose(table["Resid. Df"], [149, 148, 147, 146])
    with pytest.raises(ParameterError, match=r"anova\(\) compares maximum-likelihood fits"):
        sequential(fit(x, y, alpha=1.0))
