"""The questions that a fitted logistic regression answers, asked as a user does."""

from __future__ import annotations

import builtins
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from discrim.engines.objective import Coordinates, Objective
from discrim.errors import ParameterError
from discrim.inference.fitted import Fitted
from discrim.inference.summary import Table
from discrim.models.logistic.inference import LogisticInference
from discrim.solvers.newton import newton
from discrim.sources import open_rows


class Model(LogisticInference, BaseEstimator):
    """As little of a model as the questions need: maximum likelihood of two classes."""

    _fitted = None

    def fit(self, X, y, names=None):
        names = names or [f"x{j}" for j in range(X.shape[1])]
        objective = Objective(open_rows(X, y), np.unique(y), Coordinates(X.mean(axis=0), X.std(axis=0)))
        start = np.zeros(objective.shape)
        solution = newton(objective, start)
        null = newton(objective, start, free=np.arange(len(start)) == 0)
        self._fitted = Fitted(
            objective=objective, coordinates=objective.coordinates, solution=solution, free=np.ones(len(start), bool),
            aliased=np.zeros(len(start), bool), ridge=start, names=names, terms=[(n, [j]) for j, n in enumerate(names)],
            classes=objective.classes, rows=len(X), weight=float(len(X)), null_loss=null.loss,
        )  # fmt: skip
        self.coef_ = objective.coordinates.to_user(solution.theta)[None, 1:]
        self.X, self.y = X, y
        return self

    def _refit_on(self, terms):
        return Model().fit(self.X[:, [int(name[1:]) for name in terms]], self.y, list(terms))


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return Model().fit(X, (rng.random(120) < 1 / (1 + np.exp(-X @ [1.0, 0, -0.8, 0]))).astype(int))


def test_answers_belong_together(model):
    summary = model.summary()
    assert_allclose(np.sqrt(np.diag(model.vcov)), summary.std_error)
    assert_allclose(model.confint().mean(axis=1), summary.coef)
    assert_allclose(model.odds_ratios()["estimate"], np.exp(summary.coef))
    assert_allclose(np.sum(model.residuals() ** 2), summary.deviance)
    assert_allclose(model.leverage().sum(), 5)
    h, pearson = model.leverage(), model.residuals("pearson")
    assert_allclose(model.cooks_distance(), pearson**2 * h / (1 - h) ** 2 / 5)
    assert model.loo_.log_loss > summary.deviance / 2 / 120


def test_tables_are_frames(model):
    frame = model.drop1()
    assert list(frame.index) == ["<none>", "x0", "x1", "x2", "x3"]
    smaller = model._refit_on(["x0", "x2"])
    assert_allclose(model.anova(smaller), model.anova(["x0", "x2"]), rtol=1e-6)


def test_without_pandas_tables_are_tables(model, monkeypatch):
    importing = builtins.__import__

    def refuse(name, *rest):
        if name == "pandas":
            raise ImportError(name)
        return importing(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert isinstance(model.drop1(), Table)


def test_the_chosen_model_is_fitted_and_tells_its_steps(model):
    chosen = model.step(criterion="bic")
    assert chosen.summary().names == ["(Intercept)", "x0", "x2"]
    assert_allclose(chosen.steps_["BIC"].iloc[-1], chosen.summary().bic, rtol=1e-8)
    assert chosen.steps_["BIC"].is_monotonic_decreasing


def test_leaving_one_out_is_computed_once_for_a_fit(model):
    assert model.loo_ is model.loo_
    other = Model().fit(model.X, model.y)
    before = other.loo_
    other.fit(model.X[:100], model.y[:100])
    assert other.loo_ is not before


def test_a_saved_model_answers_what_needs_no_rows(model):
    _ = model.loo_
    saved = pickle.loads(pickle.dumps(model))
    assert str(saved.summary()) == str(model.summary())
    assert saved.loo_.error == model.loo_.error
    assert saved._fitted.objective is None


def test_questions_before_fitting_and_without_inference_are_answered_by_a_sentence(model):
    with pytest.raises(NotFittedError):
        Model().summary()
    bare = Model().fit(model.X, model.y)
    bare._fitted = None
    with pytest.raises(ParameterError, match="Fit it with inference=True"):
        bare.confint()
