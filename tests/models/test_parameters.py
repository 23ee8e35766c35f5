"""A parameter that cannot be used is named, with what was found and what is expected."""

import numpy as np
import pytest

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
)
from discrim.errors import ParameterError, PriorsWarning
from discrim.models.beyond import posteriors_of

L, Q, R, S = (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    LeastSquaresClassifier,
)
X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3


class Stranger:
    def __repr__(self):
        return "Stranger()"


WORD, LIST = "nonsense", [0.5, 0.5, 0.0]
SHARE = [-0.1, 1.1, np.nan, np.inf, WORD, Stranger(), LIST, True]
POSITIVE = [-1.0, np.nan, np.inf, WORD, Stranger(), LIST, None]
CHOICE = [WORD, 1, None, Stranger(), LIST]
WHOLE = [0, -1, 1.5, np.nan, WORD, Stranger(), True]
FLAG = ["yes", 1, None, Stranger()]
PRIORS = [0.5, WORD, {"a": 1}, Stranger(), [0.5, 0.5], [[0.2, 0.3, 0.5]], ["a", "b", "c"], [-0.5, 0.5, 1.0],
          [np.nan, 0.5, 0.5], [np.inf, 0.5, 0.5], [0.0, 0.0, 0.0], []]  # fmt: skip
GRID = [0.5, WORD, Stranger(), [], [[0.5]], [-0.1, 0.5], [0.5, 1.1], [np.nan], ["a"]]
BAYESIAN = {
    "psi": [-1.0, np.nan, np.inf, WORD, Stranger(), None, True, [1.0, 2.0], [1.0, 0.0, 1.0], [np.nan] * 3, ["a"], [],
            np.ones((3, 3)), np.triu(np.ones((3, 3))), np.eye(2)],
    "nu": [-1.0, np.nan, np.inf, WORD, Stranger(), LIST, True],
    "target": CHOICE,
    "priors": PRIORS,
    "class_prior_alpha": POSITIVE,
}  # fmt: skip
BAD = {
    L: {
        "solver": CHOICE,
        "predict_method": CHOICE,
        "shrinkage": SHARE,
        "priors": PRIORS,
        "n_components": [*WHOLE, 3],
        "store_covariance": FLAG,
        "tol": POSITIVE,
        "covariance_estimator": [WORD, 1.0],
        "normalization": CHOICE,
        "target": CHOICE,
        "rank": [*WHOLE, 3],
        "selection": CHOICE,
    },
    Q: {
        "predict_method": CHOICE,
        "solver": [*CHOICE, "lsqr"],
        "shrinkage": [*SHARE, "nonlinear"],
        "priors": PRIORS,
        "reg_param": [*SHARE, None],
        "store_covariance": FLAG,
        "tol": POSITIVE,
        "covariance_estimator": [WORD, 1.0],
        "normalization": CHOICE,
        "target": CHOICE,
        "selection": CHOICE,
    },
    R: {
        "alpha": [*SHARE, None],
        "gamma": [*SHARE, None],
        "alphas": GRID,
        "gammas": GRID,
        "target": CHOICE,
        "selection": CHOICE,
        "priors": PRIORS,
        "normalization": CHOICE,
        "tol": POSITIVE,
    },
    BayesianLinearDiscriminantAnalysis: BAYESIAN,
    BayesianQuadraticDiscriminantAnalysis: BAYESIAN,
    GaussianNB: {
        "priors": [*PRIORS, [0.2, 0.2, 0.2]],
        "var_smoothing": POSITIVE,
        "smoothing": CHOICE,
        "normalization": CHOICE,
        "methods": CHOICE,
    },
    S: {"basis": [WORD, 1, Stranger()], "priors": PRIORS, "tol": POSITIVE, "normalization": CHOICE},
    RidgeClassifier: {
        "alpha": [-1.0, np.nan, np.inf, WORD, Stranger(), None, [0.1, 0.2], [-1.0, 1.0, 1.0], [np.nan] * 3, ["a"], []],
        "alphas": [WORD, [-1.0], [np.nan], ["a"], Stranger()],
        "fit_intercept": FLAG,
        "copy_X": FLAG,
        "max_iter": WHOLE,
        "tol": POSITIVE,
        "class_weight": [WORD, 1.0, [1, 2, 3]],
        "solver": [*CHOICE, "lbfgs"],
        "positive": FLAG,
        "random_state": [WORD, -1, 1.5, Stranger()],
        "priors": PRIORS,
        "methods": CHOICE,
    },
}
CASES = [(kind, name, value) for kind, table in BAD.items() for name, values in table.items() for value in values]


@pytest.mark.parametrize(
    ("kind", "name", "value"), CASES, ids=[f"{kind.__name__}-{name}-{value!r}" for kind, name, value in CASES]
)
@pytest.mark.filterwarnings("error")
def test_a_bad_value_is_refused_by_name(kind, name, value):
    model = kind(**{name: value})
    with pytest.raises(ParameterError) as caught:
        model.fit(X, Y)
    said = str(caught.value)
    assert name.lower() in said.lower()
    assert said.endswith(".")
    assert not hasattr(model, "statistic_")


def test_every_parameter_is_tried():
    chosen_by_splits = {"cv"}  # only read when something is chosen: see the tests of tuning
    for kind, table in BAD.items():
        assert set(kind().get_params()) - chosen_by_splits == set(table), kind


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (L(solver="qr"), "The 'solver' parameter is 'qr'; it must be one of 'svd', 'lsqr', 'eigen'."),
        (L(n_components=3), "n_components cannot be larger than min(n_features, n_classes - 1) = 2; it is 3."),
        (Q(reg_param=2), "The 'reg_param' parameter is 2; it must be a finite number of at least 0 and at most 1."),
        (
            L(priors=[0.5, 0.5]),
            "Number of priors must match number of classes: 2 priors are given for 3 classes.",
        ),
        (GaussianNB(priors=[0.2, 0.2, 0.2]), "The sum of the priors should be 1. It is 0.6; divide them by that."),
        (
            RidgeClassifier(alpha=[1.0, 2.0]),
            "The 'alpha' parameter is [1.0, 2.0]; it must be one number or 3 numbers, none negative.",
        ),
    ],
    ids=str,
)
def test_the_sentence(model, sentence):
    with pytest.raises(ParameterError) as caught:
        model.fit(X, Y)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("kind", [L, Q, R, S, RidgeClassifier])
def test_priors_that_do_not_sum_to_one_are_rescaled_with_a_warning(kind):
    with pytest.warns(PriorsWarning, match=r"The priors sum to 0\.6, not to 1, and were rescaled\."):
        found = kind(priors=[0.1, 0.2, 0.3]).fit(X, Y)
    expected = kind(priors=np.array([1, 2, 3]) / 6).fit(X, Y)
    np.testing.assert_allclose(posteriors_of(found)(X), posteriors_of(expected)(X), rtol=1e-10)


@pytest.mark.parametrize("kind", [L, Q, R, GaussianNB, S, RidgeClassifier])
@pytest.mark.filterwarnings("error")
def test_a_class_with_prior_zero_is_never_predicted(kind):
    shown = {"methods": "all"} if "methods" in kind().get_params() else {}
    model = kind(priors=[0.5, 0.5, 0.0], **shown).fit(X, Y)
    assert set(model.predict(X)) <= {0, 1}
    np.testing.assert_array_equal(model.predict_proba(X)[:, 2], 0.0)
    assert not np.isnan(model.decision_function(X)).any()
    assert str(model.summary())


def test_parameters_are_looked_at_in_fit_not_in_the_constructor():
    model = L(solver="nonsense").set_params(solver="svd")
    assert model.fit(X, Y).score(X, Y) > 0.3


def test_class_weights_must_know_the_classes():
    with pytest.raises(ValueError, match="not in class_weight"):
        RidgeClassifier(class_weight={"a": 1.0}).fit(X, Y)
