"""Probabilities along a column, residuals, influence."""

import numpy as np
import pytest
from scipy import special

import discrim
from discrim import plots
from discrim.errors import ParameterError


@pytest.fixture(scope="module")
def orings():
    X, y = discrim.datasets.load_challenger().xy
    return discrim.LogisticRegression(C=np.inf).fit(X, y), X, y


def test_the_curve_and_its_band_are_those_of_the_formula(orings):
    model, X, y = orings
    ax = plots.effect(model, X, y)
    curve = next(line for line in ax.lines if len(line.get_xdata()) == 241)
    at = np.asarray(curve.get_xdata())
    assert np.allclose(curve.get_ydata(), model.predict_proba(at[:, None])[:, 1])
    variance = model.vcov[0, 0] + 2 * at * model.vcov[0, 1] + at**2 * model.vcov[1, 1]
    low = special.expit(15.0429 - 0.23216 * at - 1.959964 * np.sqrt(variance))
    edge = ax.collections[0].get_paths()[0].vertices
    lower = np.interp(at, edge[1:242, 0], edge[1:242, 1])
    assert min(np.abs(lower - low).max(), np.abs(np.interp(at, *edge[243:484][::-1].T) - low).max()) < 1e-3


def test_the_link_of_a_logistic_regression_is_a_straight_line(orings):
    line = plots.effect(*orings, scale="link").lines[0]
    assert np.allclose(line.get_ydata(), 15.0429 - 0.23216 * np.asarray(line.get_xdata()), atol=1e-3)


def test_labels_stand_as_ticks_below_and_above(orings):
    ax = plots.effect(*orings)
    assert [len(line.get_xdata()) for line in ax.lines if line.get_marker() == "|"] == [16, 7]


def test_a_column_is_asked_for_and_the_others_are_held(iris, lda):
    with pytest.raises(ParameterError, match="say column="):
        plots.effect(lda, *iris)
    ax = plots.effect(lda, *iris, column=2)
    at = np.asarray(ax.lines[0].get_xdata())
    rows = np.tile(iris[0].mean(axis=0), (len(at), 1))
    rows[:, 2] = at
    assert np.allclose(ax.lines[1].get_ydata(), lda.predict_proba(rows)[:, 1])
    assert "held at the mean" in ax.texts[-1].get_text()
    with pytest.raises(ParameterError, match="'link' for two classes"):
        plots.effect(lda, *iris, column=2, scale="link")


def test_residuals_are_those_of_the_model(orings):
    model, X, y = orings
    ax = plots.residuals(model, X, y)
    drawn = np.concatenate([c.get_offsets()[:, 1] for c in ax.collections if c.get_offsets().shape[1:] == (2,)][:2])
    assert np.allclose(np.sort(drawn[:23]), np.sort(model.residuals("deviance")), atol=1e-6)


def test_influence_names_the_rows_of_largest_distance(orings):
    model = orings[0]
    ax = plots.influence(model)
    largest = np.argsort(-model.cooks_distance())[:5]
    assert {text.get_text() for text in ax.texts[:5]} == {str(i) for i in largest}
    assert np.allclose(ax.collections[0].get_offsets()[:, 0], model.leverage())


def test_what_has_no_probabilities_is_refused(iris, two_irises, lda):
    with pytest.raises(ParameterError, match="no method predict_proba"):
        plots.effect(discrim.Perceptron().fit(*iris), *iris, column=0)
    with pytest.raises(ParameterError, match="for two classes"):
        plots.residuals(lda, *iris)
    with pytest.raises(ParameterError, match="A fitted logistic regression has them"):
        plots.influence(lda)
