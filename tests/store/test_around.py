"""Estimators around others, and bases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeClassifier as Foreign

import discrim
from discrim import GaussianNB, LinearDiscriminantAnalysis, LogisticRegression, Perceptron, basis, decision
from discrim.errors import DataError, ModelFileError, RowsInFileWarning
from discrim.store.files import to_bytes

from .conftest import again, assert_same_answers

X, Y = discrim.datasets.load_iris().xy
PAIR = X[50:], Y[50:]
WRAPPERS = {
    "costs": decision.CostSensitiveClassifier(GaussianNB(), costs={("setosa", "virginica"): 5.0}),
    "actions": decision.CostSensitiveClassifier(GaussianNB(), costs=[[0, 1, 0.2]] * 3, actions=["a", "b", "ask"]),
    "priors": decision.PriorShiftClassifier(GaussianNB(), [0.2, 0.3, 0.5]),
    "rejection": decision.RejectingClassifier(GaussianNB(), 0.05),
    "one against one": discrim.OneVsOneClassifier(LinearDiscriminantAnalysis()),
    "one against rest": discrim.OneVsRestClassifier(Perceptron()),
    "output codes": discrim.OutputCodeClassifier(LogisticRegression(), random_state=0),
    "both": decision.CostSensitiveClassifier(discrim.OneVsRestClassifier(GaussianNB())),
}
BASES = [
    basis.PolynomialBasis(3), basis.QuadraticBasis(interaction_only=True), basis.FourierBasis(20), basis.RadialBasis(5),
    basis.RadialBasis(5, per_column=True), basis.SplineBasis(3), basis.StepBasis(4),
    basis.JoinedBasis([None, basis.SplineBasis(2)]),
]  # fmt: skip


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_and_schemes_answer_the_same_bits_after_a_file(name):
    model = WRAPPERS[name].fit(X, Y)
    loaded = again(model)
    assert_same_answers(model, loaded, X)
    assert to_bytes(loaded) == to_bytes(model)


def test_thresholds_of_fitted_and_frozen_estimators_are_kept():
    frozen = FrozenEstimator(LinearDiscriminantAnalysis().fit(*PAIR))
    for estimator in (LinearDiscriminantAnalysis(), Perceptron(), frozen):
        model = decision.ThresholdClassifier(estimator, cv=3).fit(*PAIR)
        loaded = again(model)
        assert_same_answers(model, loaded, PAIR[0])
        assert loaded.threshold_ == model.threshold_
        assert loaded.apparent_.error == model.apparent_.error


def test_adapted_priors_and_several_labels_are_kept():
    shifted = decision.PriorShiftClassifier(GaussianNB()).fit(X, Y).adapt(X[20:])
    assert again(shifted).shift_.p_value == shifted.shift_.p_value
    several = discrim.OneVsRestClassifier(GaussianNB()).fit(X, np.column_stack([Y == "setosa", X[:, 0] > 5.8]))
    assert np.array_equal(again(several).predict(X), several.predict(X))


@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, discrim.RegularizedDiscriminantAnalysis])
def test_rows_of_one_class_are_kept_until_others_come(kind):
    model = kind().partial_fit(X[:50], Y[:50])
    with pytest.raises(ModelFileError, match=r"has no rule yet: The number of classes .*keep_statistic=True"):
        to_bytes(model)
    loaded = again(model, keep_statistic=True)
    assert to_bytes(loaded, keep_statistic=True) == to_bytes(model, keep_statistic=True)
    with pytest.raises(DataError, match="number of classes has to be greater than one"):
        loaded.predict(X)
    assert_same_answers(model.partial_fit(X[50:], Y[50:]), loaded.partial_fit(X[50:], Y[50:]), X)


@pytest.mark.parametrize("each", BASES, ids=lambda each: type(each).__name__)
def test_bases_map_to_the_same_bits_after_a_file(each):
    each.fit(X)
    loaded = again(each)
    assert np.array_equal(loaded.transform(X), each.transform(X))
    assert loaded.get_feature_names_out().tolist() == each.get_feature_names_out().tolist()


def test_the_best_of_a_comparison_takes_the_same_table_after_a_file():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(["u", "v", "w"], 200)})
    y = np.where(table.a + (table.b == "u") + rng.normal(size=200) / 3 > 0.3, "yes", "no")
    table.loc[3:20, "a"] = np.nan
    for name in ("LDA", "Logistic", "Mixed NB"):
        best = discrim.compare(table, y, [name]).best
        assert_same_answers(best, again(best), table)


@pytest.mark.parametrize("wrapper", [discrim.OneVsRestClassifier, decision.ThresholdClassifier])
def test_a_foreign_estimator_inside_is_named(wrapper):
    with pytest.raises(ModelFileError, match=r"is of the type sklearn.*Use discrim.RidgeClassifier"):
        to_bytes(wrapper(Foreign()).fit(*PAIR))


def test_a_basis_of_a_function_is_refused():
    with pytest.raises(ModelFileError, match="whose function is code"):
        to_bytes(basis.FunctionBasis(np.abs).fit(X))


def test_what_is_made_of_rows_is_said():
    with pytest.warns(RowsInFileWarning, match="centres are rows that were drawn"):
        to_bytes(basis.RadialBasis(5, placement="data").fit(X))
    with pytest.warns(RowsInFileWarning, match="A kernel density has the values of its column"):
        to_bytes(discrim.MixedNB(likelihoods={"x0": "kernel"}).fit(X, Y))


def test_a_formula_with_a_level_for_each_row_keeps_its_summary():
    """Of so many columns a file has no fit to ask for it again."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.random(48), "b": rng.random(48), "y": np.array(["u", "v"])[np.arange(48) % 2]})
    model = LogisticRegression.from_formula("y ~ poly(a, 2) + C(b)", table, C=1.0)
    assert_same_answers(model, again(model), table)
    loaded = again(model).fit(table.iloc[::-1].assign(b=table["a"]))
    assert str(loaded.summary()) != str(model.summary())


def test_averages_over_the_folds_are_kept():
    model = discrim.LogisticRegressionCV(Cs=3, cv=3, refit=False, use_legacy_attributes=False, scoring="accuracy").fit(
        X, Y
    )
    assert_same_answers(model, again(model), X)


@pytest.mark.parametrize("asked", ["before", "after"])
def test_a_fit_that_tol_ended_early_has_one_summary(asked):
    """Inference goes on to the minimum, whether it is asked for before the file is written or from the file."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(0, 5, (48, 4)), rng.integers(0, 3, 48)
    model = discrim.LogisticRegression(solver="quasi-newton").fit(X, y)
    if asked == "before":
        model.summary()
    assert str(again(model).summary()) == str(model.summary())
