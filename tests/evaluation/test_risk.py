"""Empirical risk against the mean of the loss written out."""

import numpy as np
import pytest

from discrim import LinearDiscriminantAnalysis, LogisticRegression, datasets
from discrim.errors import DataError, ParameterError
from discrim.evaluation import empirical_risk

X, Y = datasets.load_iris().xy
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


@pytest.fixture(scope="module")
def model():
    return LinearDiscriminantAnalysis().fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(scope="module")
def two():
    return LogisticRegression(C=1.0).fit(X[50:], Y[50:])


def test_the_error_of_both_parts_stands_side_by_side(model):
    risk = empirical_risk(model, X[TRAIN], Y[TRAIN], X[TEST], Y[TEST])
    assert risk.train.mean == pytest.approx(1 - model.score(X[TRAIN], Y[TRAIN]))
    assert risk.test.mean == pytest.approx(1 - model.score(X[TEST], Y[TEST]))
    wrong = model.predict(X[TEST]) != Y[TEST]
    assert risk.test.std_error == pytest.approx(wrong.std(ddof=1) / np.sqrt(75))
    assert risk.optimism == pytest.approx(risk.test.mean - risk.train.mean)
    assert str(risk).splitlines()[2].startswith("train")
    assert "75" in str(risk)


def test_log_loss_is_minus_the_log_posterior_of_the_own_class(model):
    own = model.predict_proba(X)[np.arange(150), np.repeat([0, 1, 2], 50)]
    assert empirical_risk(model, X, Y, loss="log_loss").train.mean == pytest.approx(-np.log(own).mean())


@pytest.mark.parametrize(
    ("loss", "of"),
    [("hinge", lambda m: np.maximum(1 - m, 0)), ("log", lambda m: np.log1p(np.exp(-m))),
     ("squared", lambda m: 0.5 * (1 - m) ** 2), ("cross_entropy", lambda m: np.log1p(np.exp(-m)))],
)  # fmt: skip
def test_losses_of_scores_for_two_classes(two, loss, of):
    margin = two.decision_function(X[50:]) * np.where(Y[50:] == two.classes_[1], 1, -1)
    assert empirical_risk(two, X[50:], Y[50:], loss=loss).train.mean == pytest.approx(of(margin).mean())


def test_costs_and_functions_of_labels(model):
    cost = np.array([[0, 1, 5], [2, 0, 1], [4, 3, 0]])
    codes, answers = (np.searchsorted(model.classes_, part) for part in (Y, model.predict(X)))
    expected = cost[codes, answers].mean()
    assert empirical_risk(model, X, Y, loss=cost).train.mean == pytest.approx(expected)

    def dear(y, answer):
        return 3.0 * (y != answer)

    risk = empirical_risk(model, X, Y, loss=dear)
    assert risk.loss == "dear"
    assert risk.train.mean == pytest.approx(3 * (1 - model.score(X, Y)))


def test_weights_count_rows(model):
    weight = np.arange(150) % 3 + 1.0
    wrong = model.predict(X) != Y
    assert empirical_risk(model, X, Y, sample_weight=weight).train.mean == pytest.approx(weight @ wrong / weight.sum())


def test_what_cannot_be_used_is_named(model):
    with pytest.raises(ParameterError, match="X_test and y_test belong together"):
        empirical_risk(model, X, Y, X_test=X)
    with pytest.raises(ParameterError, match="'hinges'"):
        empirical_risk(model, X, Y, loss="hinges")
    with pytest.raises(DataError, match="the model has 3"):
        empirical_risk(model, X, Y, loss="hinge")
    with pytest.raises(ParameterError, match="3 x 3 finite costs"):
        empirical_risk(model, X, Y, loss=np.eye(2))
    with pytest.raises(ParameterError, match="150 numbers"):
        empirical_risk(model, X, Y, loss=lambda y, _: np.zeros(len(y) - 1))
    with pytest.raises(DataError, match="'tulip'"):
        empirical_risk(model, X[:1], ["tulip"], loss="log_loss")
    with pytest.raises(ParameterError, match="NaN for 150 of 150 rows"):
        empirical_risk(model, X, Y, loss=lambda y, _: np.full(len(y), np.nan))
    with pytest.raises(ParameterError, match="no numbers"):
        empirical_risk(model, X, Y, loss=lambda y, _: ["dear"] * len(y))
    with pytest.raises(ParameterError, match="'of' parameter is 'margins'"):
        empirical_risk(model, X, Y, loss=lambda y, _: np.zeros(len(y)), of="margins")
    with pytest.raises(ParameterError, match="of='scores' says what a function"):
        empirical_risk(model, X, Y, loss="log_loss", of="scores")


def test_a_loss_of_ones_own_may_be_of_scores_or_of_probabilities(two, model):
    sign = np.where(Y[50:] == two.classes_[1], 1, -1)

    def huber_hinge(y, score):
        margin = np.where(y == two.classes_[1], 1, -1) * score
        return np.where(margin < 0, 0.5 - margin, 0.5 * np.clip(1 - margin, 0, None) ** 2)

    margin = sign * two.decision_function(X[50:])
    expected = np.mean([0.5 - m if m < 0 else 0.5 * max(1 - m, 0) ** 2 for m in margin])
    found = empirical_risk(two, X[50:], Y[50:], X[60:80], Y[60:80], loss=huber_hinge, of="scores")
    assert found.train.mean == pytest.approx(expected)
    assert found.test.mean == pytest.approx(huber_hinge(Y[60:80], two.decision_function(X[60:80])).mean())

    def brier(y, p):
        return ((p - (y[:, None] == model.classes_)) ** 2).sum(axis=1)

    found = empirical_risk(model, X, Y, loss=brier, of="probabilities").train.mean
    assert found == pytest.approx(brier(Y, model.predict_proba(X)).mean())
