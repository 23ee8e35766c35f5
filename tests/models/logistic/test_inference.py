"""The questions that a fitted logistic regression answers, asked as a user does."""

from __future__ import annotations

import builtins
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from discrim.engines import RowPasses
from discrim.errors import ParameterError
from discrim.families.logistic.objective import Coordinates, Objective, newton
from discrim.inference.fitted import Fitted
from discrim.inference.summary import Table
from discrim.models.logistic.inference import LogisticInference
from discrim.sources import open_rows


class Model(LogisticInference, BaseEstimator):
    """As little of a model as the questions need: maximum likelihood of two classes."""

    _fitted = None

    def fit(self, X, y, names=None):
        names = names or [f"x{j}" for j in range(X.shape[1])]
        objective = Objective(RowPasses(open_rows(X, y)), np.unique(y), Coordinates(X.mean(axis=0), X.std(axis=0)))
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

    def kept_summary(self):
        return None

    def _refit_on(self, terms, criterion):
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


def test_tables_name_their_terms(model):
    table = model.drop1()
    assert list(table.index) == ["<none>", "x0", "x1", "x2", "x3"]
    smaller = model._refit_on(["x0", "x2"], "aic")
    assert_allclose(model.anova(smaller), model.anova(["x0", "x2"]), rtol=1e-6)


def tables(model):
    yield model.drop1()
    yield model.anova(["x0", "x2"])
    yield model.odds_ratios()
    yield model.step(criterion="bic").steps_


@pytest.mark.parametrize("pandas", [True, False])
def test_tables_are_of_one_type_whatever_is_installed(model, monkeypatch, pandas):
    importing = builtins.__import__

    def refuse(name, *rest):
        if name == "pandas":
            raise ImportError(name)
        return importing(name, *rest)

    if not pandas:
        monkeypatch.setattr(builtins, "__import__", refuse)
    for table in tables(model):
        assert type(table) is Table
        assert repr(table) == str(table)
        assert str(table).startswith(table.title)
        assert "<table>" in table._repr_html_()
        assert list(table) == list(table.columns)
        assert len(table) == len(table.index)
        for j, name in enumerate(table.columns):
            assert name in table
            assert_array_equal(table[name], np.asarray(table)[:, j])
            assert_array_equal(table[table.index[-1], name], table[name][-1])
        if pandas:
            assert_array_equal(table.to_frame().to_numpy(), np.asarray(table))
        else:
            with pytest.raises(ImportError, match=r"to_frame\(\) needs the package 'pandas'"):
                table.to_frame()


def test_a_column_or_row_that_a_table_lacks_is_refused_by_those_it_has(model):
    with pytest.raises(ParameterError, match="'column' parameter is 'LR'; it must be one of 'Df', 'Deviance'"):
        model.drop1()["LR"]
    with pytest.raises(ParameterError, match="'row' parameter is 'x9'; it must be one of '<none>', 'x0'"):
        model.drop1()["x9", "LRT"]


def test_the_chosen_model_is_fitted_and_tells_its_steps(model):
    chosen = model.step(criterion="bic")
    assert chosen.summary().names == ["(Intercept)", "x0", "x2"]
    assert_allclose(chosen.steps_["BIC"][-1], chosen.summary().bic, rtol=1e-8)
    assert (np.diff(chosen.steps_["BIC"]) < 0).all()


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
