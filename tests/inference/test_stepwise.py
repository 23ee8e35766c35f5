"""Stepwise choice against the same choice made by separate fits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim.errors import ParameterError
from discrim.inference.deviance_tests import stepwise


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
    found = stepwise(fit(*rows), criterion, direction)
    terms, path = by_hand(fit, *rows, price, direction)
    assert found.terms == terms
    assert 0 < len(terms) < 8
    assert_allclose(found.table.values[:, -1], path, rtol=1e-8)


def test_the_table_tells_every_step(fit, rows):
    table = stepwise(fit(*rows), "bic", "backward").table
    assert table.columns == ["Df", "Deviance", "Resid. Df", "Resid. Dev", "BIC"]
    assert table.index[0] == ""
    assert all(name.startswith("- x") for name in table.index[1:])
    assert_allclose(np.diff(table.values[:, 3]), table.values[1:, 1], rtol=1e-8)
    assert_allclose(np.diff(table.values[:, 2]), 1)


def test_a_term_may_come_back(fit):
    rng = np.random.default_rng(37)
    x = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
    y = (rng.random(60) < 1 / (1 + np.exp(-x @ (0.4 * rng.normal(size=6))))).astype(int)
    found = stepwise(fit(x, y), "aic", "both")
    assert "- x4" in found.table.index
    assert found.table.index[-1] == "+ x4"
    assert found.terms == by_hand(fit, x, y, 2.0, "both")[0]
    assert stepwise(fit(x, y), "aic", "backward").terms == [name for name in found.terms if name != "x4"]


def test_an_aliased_column_goes_first_and_costs_nothing(fit, rows):
    x, y = rows
    found = stepwise(fit(np.column_stack([x, x[:, 0] - x[:, 1]]), y, aliased=[8]))
    assert found.table.index[1] == "- x8"
    assert_allclose(found.table.values[1][0], 0)
    assert found.terms == stepwise(fit(x, y)).terms


def test_three_classes_are_chosen_for_together(fit, three):
    x, y = three
    noise = np.random.default_rng(0).normal(size=(len(x), 1))
    found = stepwise(fit(np.column_stack([x, noise]), y), "bic")
    assert found.terms == ["x0", "x1"]
    assert_allclose(found.table.values[1][0], 2)


def test_unknown_choices_are_refused(fit, rows):
    fitted = fit(*rows)
    with pytest.raises(ParameterError, match="'criterion' parameter is 'cp'; it must be 'aic' or 'bic'"):
        stepwise(fitted, "cp")
    with pytest.raises(ParameterError, match="'direction' parameter is 'up'"):
        stepwise(fitted, "aic", "up")
