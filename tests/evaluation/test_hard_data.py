"""Data on which a fast route could go wrong: rare classes, more columns than rows, columns without news."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
    cross_validate,
)
from discrim.errors import CollinearWarning, DataError, SingularClassError

LDA, QDA, RDA = LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, RegularizedDiscriminantAnalysis
NB = GaussianNB()
RIDGE = RidgeClassifier(methods="all")
PRIORS = [0.2, 0.5, 0.3]

RARE_CLASS_MODELS = [
    LDA(),
    LDA(normalization="unbiased"),
    LDA(shrinkage=0.3),
    RDA(),
    RDA(0.4, 0.5),
    RDA(0.4, 0.5, normalization="unbiased"),
    BayesianQuadraticDiscriminantAnalysis(),
    BayesianQuadraticDiscriminantAnalysis(1.0, target="identity"),
    BayesianLinearDiscriminantAnalysis(1.0, target="identity", class_prior_alpha=1.0),
    GaussianNB(),
    GaussianNB(smoothing="column"),
    GaussianNB(var_smoothing=0.1),
    GaussianNB(normalization="unbiased"),
    LeastSquaresClassifier(),
    RidgeClassifier(methods="all"),
    RidgeClassifier(class_weight="balanced", methods="all"),
]


def rare(sizes, seed=1):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(size=(len(y), 3))
    x[y == 1] += 1.0
    return x, y


@pytest.mark.parametrize("cv", [KFold(5), "loo"])
@pytest.mark.parametrize("sizes", [(15, 15, 1), (15, 14, 2)])
@pytest.mark.parametrize("model", RARE_CLASS_MODELS, ids=repr)
def test_a_class_of_one_or_two_rows_equals_refitting(model, sizes, cv, brute_force, equals_refitting):
    x, y = rare(sizes)
    result = cross_validate(model, x, y, cv)
    assert result.route != "refits"
    equals_refitting(result, brute_force(model, x, y, cv))


@pytest.mark.parametrize(
    "model",
    [
        LDA(priors=PRIORS),
        LDA(priors=PRIORS, solver="lsqr"),
        RDA(0.4, 0.5, priors=PRIORS),
        GaussianNB(priors=PRIORS),
    ],
    ids=repr,
)
@pytest.mark.parametrize("cv", [KFold(5), "loo"])
def test_given_priors_are_shared_by_the_classes_that_occur(model, cv):
    x, y = rare((15, 15, 1))
    result = cross_validate(model, x, y, cv)
    last = result.folds == result.folds[-1]
    alone = type(model)(**{**model.get_params(), "priors": [2 / 7, 5 / 7]}).fit(x[~last], y[~last])
    np.testing.assert_allclose(result.posterior[last][:, :2], alone.predict_proba(x[last]), atol=1e-12)
    assert (result.posterior[last, 2] == 0).all()


@pytest.mark.parametrize("model", [QDA(), QDA(shrinkage=0.2)], ids=repr)
@pytest.mark.parametrize("cv", [KFold(5), "loo"])
def test_one_row_has_no_covariance_held_out_or_not(model, cv):
    x, y = rare((15, 15, 1))
    with pytest.raises(DataError, match="only 1 sample in class 2"):
        cross_validate(model, x, y, cv)


@pytest.mark.parametrize(
    "model", [RDA(), RDA(0.4, 0.5), QDA(), QDA(shrinkage=0.2), LDA(), LDA(shrinkage=0.2)], ids=repr
)
def test_discriminant_analyses_need_two_classes_without_the_row_too(model):
    x, y = rare((30, 1))
    with pytest.raises(DataError, match=r"classes has to be greater than one|only 1 sample"):
        cross_validate(model, x, y, "loo")
    for cv in (3, "loo"):
        with pytest.raises(DataError, match="classes has to be greater than one"):
            cross_validate(model, x, np.zeros(len(x)), cv)


@pytest.mark.parametrize("model", [NB, LeastSquaresClassifier(), RIDGE], ids=repr)
@pytest.mark.parametrize("cv", [3, "loo"])
def test_one_class_is_always_predicted(model, cv):
    x, _ = rare((30, 1))
    result = cross_validate(model, x, np.full(len(x), "only"), cv)
    np.testing.assert_array_equal(result.posterior, np.ones((len(x), 1)))
    assert result.error == 0


ROTATED = [
    LDA(shrinkage=0.3),
    LDA(shrinkage=1.0),
    LDA(shrinkage=0.3, priors=PRIORS),
    LDA(shrinkage=0.3, normalization="unbiased"),
    QDA(shrinkage=0.3),
    RDA(0.5, 0.5),
    RDA(0.0, 0.3, priors=PRIORS),
    RDA(1.0, 0.3),
    RDA(0.5, 0.0),
    RidgeClassifier(methods="all"),
    RidgeClassifier(alpha=1e-3, methods="all"),
    RidgeClassifier(class_weight="balanced", priors=PRIORS, methods="all"),
]
NOT_ROTATED = [
    LDA(),
    LDA(shrinkage=0.3, target="diagonal"),
    LDA(shrinkage="auto"),
    QDA(reg_param=0.1),
    RDA(0.5, 0.5, target="diagonal"),
    LeastSquaresClassifier(),
    RidgeClassifier(fit_intercept=False, methods="all"),
]


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(24, 60)) * rng.uniform(0.1, 3.0, 60) + 2.0
    y = np.arange(24) % 3
    x[:, 0] += y
    return x, y, rng.uniform(0.5, 2.0, 24)


@pytest.mark.parametrize("columns", [22, 60])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", ROTATED, ids=repr)
def test_wide_folds_are_solved_in_the_space_of_the_rows(model, weighted, columns, wide, brute_force, equals_refitting):
    x, y, weight = wide
    x, weight = x[:, :columns], weight if weighted else None
    result = cross_validate(model, x, y, 4, sample_weight=weight)
    assert result.route == "statistics"
    equals_refitting(result, brute_force(model, x, y, 4, sample_weight=weight))


@pytest.mark.parametrize("model", ROTATED, ids=repr)
def test_wide_leave_one_out_equals_refitting(model, wide, brute_force, equals_refitting):
    x, y, _ = wide
    result = cross_validate(model, x, y, "loo")
    assert result.route != "refits"
    equals_refitting(result, brute_force(model, x, y, "loo"))


@pytest.mark.parametrize("cv", [4, "loo"])
@pytest.mark.parametrize("model", NOT_ROTATED, ids=repr)
def test_wide_models_that_see_the_columns_are_refitted(model, cv, wide, brute_force, equals_refitting):
    x, y, _ = wide
    result = cross_validate(model, x, y, cv)
    assert result.route == "refits"
    equals_refitting(result, brute_force(model, x, y, cv))


@pytest.mark.parametrize("cv", [4, "loo"])
@pytest.mark.parametrize("smoothing", [1e-9, 0.1])
def test_wide_naive_bayes_needs_no_rotation(cv, smoothing, wide, brute_force, equals_refitting):
    x, y, _ = wide
    model = GaussianNB(var_smoothing=smoothing)
    result = cross_validate(model, x, y, cv)
    assert result.route == ("closed form" if cv == "loo" else "statistics")
    equals_refitting(result, brute_force(model, x, y, cv))


def three_classes(n):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 4))
    x[:, 0] += y
    return x, y


@pytest.fixture(scope="module")
def narrow():
    return three_classes(40)


COLUMN_MODELS = [
    LDA(),
    LDA(shrinkage=0.3),
    LDA(shrinkage=0.3, target="diagonal"),
    RDA(),
    RDA(0.4, 0.5),
    GaussianNB(),
    GaussianNB(smoothing="column"),
    GaussianNB(var_smoothing=0.1),
    LeastSquaresClassifier(),
    RidgeClassifier(methods="all"),
    RidgeClassifier(alpha=1e-9, methods="all"),
    RidgeClassifier(alpha=0.0, methods="all"),
]


@pytest.mark.filterwarnings("ignore::discrim.errors.CollinearWarning")
@pytest.mark.parametrize("cv", [5, "loo"])
@pytest.mark.parametrize("column", ["constant", "class constant", "one row differs", "sum of others"])
@pytest.mark.parametrize("model", COLUMN_MODELS, ids=repr)
def test_columns_without_news_equal_refitting(model, column, cv, narrow, brute_force, equals_refitting):
    x, y = narrow
    more = {
        "constant": np.full(40, 3.3),
        "class constant": np.where(y == 1, 0.1, x[:, 1] ** 2),
        "one row differs": np.where(np.arange(40) == 5, 1.0, 0.1),
        "sum of others": x[:, 0] + x[:, 1],
    }[column]
    x = np.column_stack([x, more])
    equals_refitting(cross_validate(model, x, y, cv), brute_force(model, x, y, cv))


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("smoothing", [1e-9, 1e-3])
@pytest.mark.parametrize("by", ["scikit-learn", "column"])
def test_a_row_that_makes_all_the_variance_of_a_column(noise, smoothing, by, brute_force, equals_refitting):
    rng = np.random.default_rng(4)
    y = np.arange(40) % 3
    x = rng.normal(size=(40, 12))
    x[:, :10] = 0.1 + noise * rng.normal(size=(40, 10))
    x[np.arange(10), np.arange(10)] = rng.normal(size=10)
    model = GaussianNB(var_smoothing=smoothing, smoothing=by)
    result = cross_validate(model, x, y, "loo")
    assert result.route == "closed form"
    equals_refitting(result, brute_force(model, x, y, "loo"), atol=1e-8)


@pytest.mark.parametrize("cv", [5, "loo"])
@pytest.mark.parametrize(
    "model",
    [LDA(), QDA(), RDA(), RDA(1.0, 1.0), LeastSquaresClassifier(), RidgeClassifier(alpha=1e-9, methods="all")],
    ids=repr,
)
def test_nearly_collinear_columns_fall_back_to_refits(model, cv, narrow, brute_force, equals_refitting):
    x, y = narrow
    x = np.column_stack([x, x[:, 0] + 1e-7 * np.random.default_rng(0).normal(size=40)])
    result = cross_validate(model, x, y, cv)
    assert result.route == "refits"
    equals_refitting(result, brute_force(model, x, y, cv))


@pytest.mark.parametrize("cv", [5, "loo"])
def test_a_singular_class_is_named_with_the_users_columns(cv):
    x, y = three_classes(60)
    frame = pd.DataFrame(x, columns=["a", "b", "c", "d"]).assign(total=x[:, 0] + x[:, 1])
    with pytest.raises(SingularClassError, match=r"class 0 is not full rank.*'total'"):
        cross_validate(QDA(), frame, y, cv)


@pytest.mark.parametrize("cv", [5, "loo"])
def test_offsets_and_units_cost_no_digits(cv, narrow, brute_force, equals_refitting):
    x, y = narrow
    for model in (LDA(), QDA(), RDA(0.4, 1.0), GaussianNB(smoothing="column"), LeastSquaresClassifier()):
        scaled = x * np.array([1e-6, 1.0, 1e6, 1e3])
        equals_refitting(cross_validate(model, scaled, y, cv), brute_force(model, x, y, cv), atol=1e-9)
        moved = np.round(x, 3) + 2.0**27
        expected = brute_force(model, np.round(x, 3), y, cv)
        equals_refitting(cross_validate(model, moved, y, cv), expected, atol=1e-5)


def test_a_constant_column_is_warned_of(narrow):
    x, y = narrow
    with pytest.warns(CollinearWarning, match="'x4'"):
        cross_validate(LDA(), np.column_stack([x, np.ones(40)]), y, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_validate(GaussianNB(), np.column_stack([x, np.ones(40)]), y, 5)


def test_rows_of_weight_zero_are_predicted_but_teach_nothing(narrow, brute_force, equals_refitting):
    x, y = narrow
    weight = np.ones(40)
    weight[::4] = 0.0
    weight[y == 2] = 0.0
    for model in (
        LDA(),
        GaussianNB(),
        RDA(0.4, 0.5),
        LeastSquaresClassifier(),
        RidgeClassifier(methods="all"),
    ):
        for cv in (KFold(4), "loo"):
            result = cross_validate(model, x, y, cv, sample_weight=weight)
            equals_refitting(result, brute_force(model, x, y, cv, sample_weight=weight))
