"""What estimators of recipes do besides fitting: states without a rule, parameters that change, merging."""

from __future__ import annotations

import traceback

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import discrim
from discrim.errors import DataError, ParameterError
from discrim.models import registry

LDA, RDA = discrim.LinearDiscriminantAnalysis, discrim.RegularizedDiscriminantAnalysis
X, y = discrim.datasets.load_iris().xy
ORDER = np.random.default_rng(0).permutation(150)
X, y = X[ORDER], y[ORDER]
MODELS = [
    LDA(), discrim.QuadraticDiscriminantAnalysis(), RDA(), discrim.GaussianNB(), discrim.NearestCentroid(),
    discrim.BayesianQuadraticDiscriminantAnalysis(),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_model_without_a_rule_can_be_listed_and_shown(model):
    model.partial_fit(X[:1], y[:1])
    assert "partial_fit" in dir(model)
    assert "<div" in model._repr_html_()


@pytest.mark.parametrize("model", [*MODELS, discrim.RidgeClassifier(), discrim.Perceptron()], ids=str)
def test_a_fit_of_lists_forgets_the_names_of_a_table_and_is_that_of_an_array(model):
    table = pd.DataFrame(X, columns=["sl", "sw", "pl", "pw"])
    again, array = clone(model).fit(table, y).fit(X.tolist(), y.tolist()), clone(model).fit(X, y)
    assert again.n_features_in_ == 4
    assert not hasattr(again, "feature_names_in_")
    assert again.classes_.dtype == array.classes_.dtype
    assert_array_equal(again.predict(X), array.predict(X))


def test_the_error_of_a_sum_that_cannot_be_solved_does_not_grow():
    model = LDA().partial_fit(X[:1], y[:1])
    lengths = []
    for _ in range(4):
        with pytest.raises(DataError) as caught:
            model.predict(X)
        lengths.append(len(traceback.extract_tb(caught.tb)))
    assert len(set(lengths)) == 1


def test_a_number_that_is_given_later_stands_against_what_was_chosen():
    model = RDA(alpha="cv", gamma=1.0).fit(X, y)
    chosen = model.alpha_
    model.set_params(gamma=0.5).partial_fit(X[:30], y[:30])
    assert (model.alpha_, model.gamma_) == (chosen, 0.5)
    both = RDA("cv", "cv").fit(X, y).set_params(alpha=0.37).partial_fit(X[:30], y[:30])
    assert both.alpha_ == 0.37


def test_parameters_that_need_a_deeper_statistic_are_refused_in_words():
    model = LDA().fit(X, y).set_params(shrinkage="oas")
    with pytest.raises(DataError, match=r"needs a statistic of depth 'full'.*Fit all rows again"):
        model.partial_fit(X[:30], y[:30])
    shallower = LDA(shrinkage="oas").fit(X, y).set_params(shrinkage=0.1).forget(X[:10], y[:10])
    assert_allclose(shallower.coef_, LDA(shrinkage=0.1).fit(X[10:], y[10:]).coef_, rtol=1e-8)


CHANGES = [
    (LDA(), {"shrinkage": "oas"}),
    (LDA(), {"shrinkage": "cv"}),
    (discrim.RidgeClassifier(), {"class_weight": "balanced"}),
    (discrim.LassoClassifier(0.1), {"priors": [0.2, 0.3, 0.5]}),
    (discrim.LeastSquaresClassifier(), {"priors": [0.2, 0.3, 0.5]}),
    (discrim.MultinomialNB(), {"alpha": "loo"}),
    (discrim.MixedNB(), {"likelihoods": {"x0": "poisson"}}),
]


@pytest.mark.parametrize(("model", "change"), CHANGES, ids=str)
def test_a_change_that_the_statistic_cannot_serve_is_refused_and_the_model_keeps_its_answers(model, change):
    rows = np.abs(X)
    model = clone(model).fit(rows, y)
    solution, statistic = model.solution(), model.statistic_
    model.set_params(**change)
    for call in (model.partial_fit, model.forget):
        with pytest.raises((DataError, ParameterError)):
            call(rows[:10], y[:10])
        assert model.statistic_ is statistic
        assert model.solution() is solution


def test_merging_keeps_what_one_of_the_models_chose_whatever_their_order():
    chose = LDA(shrinkage="cv").fit(X[:60], y[:60])
    part = LDA(shrinkage="cv").partial_fit(X[60:], y[60:])
    for merged in (discrim.merge(chose, part), discrim.merge(part, chose)):
        assert_allclose(merged.coef_, LDA(shrinkage=chose.shrinkage_).fit(X, y).coef_, rtol=1e-8)
    with pytest.raises(DataError, match="chose different settings"):
        discrim.merge(
            RDA("cv", "cv", alphas=[0.2]).fit(X, y), RDA("cv", "cv", alphas=[0.2], gammas=None).fit(-X, y[::-1])
        )


def test_nonlinear_shrinkage_of_columns_without_variance_is_a_rule_all_the_same():
    x = np.repeat(np.arange(3.0), 20)[:, None] * np.ones((1, 4))
    model = LDA(shrinkage="nonlinear").fit(x, np.repeat([0, 1, 2], 20))
    assert set(model.predict(x)) <= {0, 1, 2}


def test_priors_that_are_no_numbers_are_refused_by_every_model():
    for model in (LDA(priors=["a", "b", "c"]), discrim.NearestCentroid(priors=["a", "b", "c"])):
        with pytest.raises(ParameterError, match="'priors' parameter"):
            model.fit(X, y)
        with pytest.raises(ParameterError, match="'priors' parameter"):
            discrim.cross_validate(model, X, y, cv=3)


def test_an_entry_that_cannot_be_tuned_says_why(own_registry):
    model = discrim.GaussianNB()
    own_registry.enter(registry.Entry("No grid", discrim.GaussianNB, lambda _: model, cost=50, tuning="grid"))
    found = discrim.compare(X, y, ["No grid", "LDA"])
    assert "there is no such grid" in repr(found).replace("\n  ", " ")


def test_medians_have_no_log_loss_in_a_comparison_with_gaps_either():
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    found = discrim.compare(gaps, y, [discrim.NearestCentroid("manhattan")])
    assert np.isnan(found.table["log_loss"].iloc[0])


def test_weights_that_are_shares_count_as_rows_for_nearest_centroids():
    shares = discrim.NearestCentroid(shrink_threshold=0.5).fit(X, y, np.full(150, 1 / 150))
    plain = discrim.NearestCentroid(shrink_threshold=0.5).fit(X, y)
    assert_allclose(shares.predict_proba(X), plain.predict_proba(X), atol=1e-10)


def test_a_model_that_tunes_itself_takes_part_in_a_comparison_by_groups():
    found = discrim.compare(X, y, {"mine": RDA("loo", "loo")}, groups=np.arange(150) // 3)
    assert found.table.loc["mine", "error"] < 0.1


def test_tiny_shrinkage_is_not_solved_in_the_space_of_the_rows():
    assert LDA(shrinkage=0.3).recipe().rotation_invariant
    assert not LDA(shrinkage=1e-10).recipe().rotation_invariant


@pytest.mark.parametrize("model", [*MODELS, discrim.MixedNB()], ids=str)
def test_a_rule_is_a_kind_and_its_arrays(model):
    def arrays(value):
        """The arrays of a description, of what is nested too; anything else in it is a plain value."""
        if isinstance(value, tuple | dict):
            return [
                found for inner in (value.values() if isinstance(value, dict) else value) for found in arrays(inner)
            ]
        assert isinstance(value, np.ndarray | np.generic | str | float | int | None)
        return [value] if isinstance(value, np.ndarray) else []

    kind, by_name = model.fit(X, y).solution().rule.described()
    assert isinstance(kind, str)
    assert arrays(by_name)
