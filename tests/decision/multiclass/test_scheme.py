"""One pass over the rows gives the two-class models that separate fits give."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import discrim
from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LassoClassifier,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
)
from discrim.decision.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from discrim.decision.multiclass import scheme as shared
from discrim.statistics import ClassMoments

MODELS = [
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage=0.3, normalization="unbiased"),
    LinearDiscriminantAnalysis(shrinkage="oas", solver="eigen", priors=[0.3, 0.7]),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    RegularizedDiscriminantAnalysis(0.4, 0.7),
    GaussianNB(methods="all"),
    BayesianLinearDiscriminantAnalysis(),
    BayesianQuadraticDiscriminantAnalysis(psi=0.5, class_prior_alpha=1.0),
    LeastSquaresClassifier(),
    LeastSquaresClassifier(basis="quadratic"),
    LeastSquaresClassifier(priors=[0.3, 0.7]),
    RidgeClassifier(methods="all"),
    RidgeClassifier(class_weight="balanced", alpha=3.0, methods="all"),
    RidgeClassifier(fit_intercept=False, methods="all"),
    LassoClassifier(0.05),
    LassoClassifier(0.02, fit_intercept=False),
]
LINEAR = (LinearDiscriminantAnalysis, LeastSquaresClassifier, RidgeClassifier, LassoClassifier)
SCHEMES = [
    OneVsRestClassifier(None),
    OneVsOneClassifier(None),
    OutputCodeClassifier(None, code="exhaustive"),
    OutputCodeClassifier(None, random_state=3),
]


def rows_of(n, p, classes=4):
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(n) % classes)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 2.0
    X += rng.normal(size=(classes, p))[y]
    return X, np.array(["ant", "bee", "cat", "dog"])[y], rng.uniform(0.5, 2.0, n)


LONG, PAIRS_WITH_FEWER_ROWS_THAN_COLUMNS, WIDE = (90, 5), (40, 24), (24, 40)


def cases():
    """Every model with every scheme on long rows, and with two schemes on each of the others; every other one weighted.

    A scheme says which classes are on which side and a model what is made of their statistics, whatever the scheme.
    """
    for i, model in enumerate(MODELS):
        for j, scheme in enumerate(SCHEMES):
            yield scheme, model, LONG, (i + j) % 2 == 0
            other = PAIRS_WITH_FEWER_ROWS_THAN_COLUMNS if (i + j) % 4 < 2 else WIDE
            yield scheme, model, other, (i + j) % 2 == 1


def sides(scheme, y):
    """The labels of every problem, NaN for rows that stay away, by the definition of the scheme."""
    classes = np.unique(y)
    if isinstance(scheme, OneVsRestClassifier):
        return [(y == label).astype(float) for label in classes]
    if isinstance(scheme, OneVsOneClassifier):
        pairs = [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]
        return [np.where(y == b, 1.0, np.where(y == a, 0.0, np.nan)) for a, b in pairs]
    return [column[np.searchsorted(classes, y)] for column in scheme.code_book_.T]


def refused(call):
    """The error that a fit ends in, or None."""
    try:
        call()
    except ValueError as error:
        return type(error)
    return None


@pytest.mark.filterwarnings("ignore::discrim.errors.CollinearWarning")
@pytest.mark.parametrize(("scheme", "model", "shape", "weighted"), list(cases()), ids=str)
def test_sharing_equals_fitting_each_problem(scheme, model, shape, weighted):
    X, y, weight = rows_of(*shape)
    weights = {"sample_weight": weight} if weighted else {}
    scheme = clone(scheme).set_params(estimator=model)
    assert shared.shares(model)
    scheme.fit(X, y, **weights)
    for found, side in zip(scheme.estimators_, sides(scheme, y), strict=True):
        kept = ~np.isnan(side)
        part = {name: value[kept] for name, value in weights.items()}
        if len(np.unique(side[kept])) == 1:
            assert_array_equal(found.predict(X), side[kept][0])
            continue
        alone = clone(model).fit(X[kept], side[kept].astype(int), **part)
        assert_array_equal(found.classes_, alone.classes_)
        score = alone.decision_function(X)
        assert_allclose(found.decision_function(X), score, rtol=0, atol=1e-10 * np.abs(score).max())
        assert_allclose(found.predict_proba(X), alone.predict_proba(X), rtol=0, atol=1e-10)


def test_the_rows_are_read_once(monkeypatch):
    X, y, _ = rows_of(90, 5)
    read = []
    plain = ClassMoments.of.__func__
    monkeypatch.setattr(ClassMoments, "of", classmethod(lambda cls, b, d: read.append(len(b)) or plain(cls, b, d)))
    OneVsOneClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    assert sum(read) == 90


def test_a_model_that_needs_the_rows_again_is_fitted_problem_by_problem():
    X, y, _ = rows_of(90, 5)
    for model in (LinearDiscriminantAnalysis(shrinkage="auto"), LogisticRegression()):
        assert not shared.shares(model)
        scheme = OneVsRestClassifier(model).fit(X, y)
        alone = clone(model).fit(X, (y == "ant").astype(int))
        assert_allclose(scheme.estimators_[0].predict_proba(X), alone.predict_proba(X), rtol=0, atol=1e-12)


def test_classes_too_many_for_the_memory_are_fitted_problem_by_problem(monkeypatch):
    X, y, _ = rows_of(90, 5)
    expected = OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(X, y).decision_function(X)
    monkeypatch.setattr(shared, "MOST_NUMBERS", 10)
    found = OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(X, y).decision_function(X)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_nearly_collinear_columns_keep_the_digits_of_separate_fits():
    X, y, _ = rows_of(90, 5)
    X[:, 4] = X[:, 0] + 1e-7 * np.random.default_rng(0).normal(size=90)
    scheme = OneVsOneClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    pair = np.isin(y, ["ant", "bee"])
    alone = LinearDiscriminantAnalysis().fit(X[pair], (y[pair] == "bee").astype(int))
    score = alone.decision_function(X)
    assert_allclose(scheme.estimators_[0].decision_function(X), score, rtol=0, atol=1e-7 * np.abs(score).max())


def test_a_singular_class_is_refused_as_by_a_separate_fit():
    X, y, _ = rows_of(40, 15)
    model = QuadraticDiscriminantAnalysis()
    expected = refused(lambda: clone(model).fit(X, (y == "ant").astype(int)))
    assert expected is not None
    assert refused(lambda: OneVsRestClassifier(model).fit(X, y)) is expected


def test_a_nan_is_named_by_its_column():
    X, y, _ = rows_of(90, 5)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.loc[3, "d"] = np.nan
    with pytest.raises(ValueError, match="column 'd' has 1 NaN"):
        OneVsRestClassifier(LinearDiscriminantAnalysis()).fit(frame, y)


@pytest.mark.parametrize("scheme", [OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier])
def test_every_container_gives_the_same_answers(scheme, tmp_path):
    X, y, weight = rows_of(90, 5)
    names = list("abcde")
    frame = pd.DataFrame(X, columns=names)
    frame.assign(y=y, w=weight).to_parquet(tmp_path / "rows.parquet")
    scan = discrim.scan(tmp_path / "rows.parquet", target="y", weight="w")

    def model(*arguments, **weights):
        options = {"random_state": 0} if scheme is OutputCodeClassifier else {}
        return scheme(LinearDiscriminantAnalysis(), **options).fit(*arguments, **weights)

    expected = model(X, y, sample_weight=weight)
    scores = np.column_stack([part.decision_function(X) for part in expected.estimators_])
    for train, test in [
        ((np.asfortranarray(X), y), X),
        ((frame, pd.Series(y)), frame),
        ((sparse.csr_array(X), list(y)), sparse.csr_array(X)),
        ((scan,), scan),
    ]:
        weights = {} if len(train) == 1 else {"sample_weight": weight}
        found = model(*train, **weights)
        assert_array_equal(found.predict(test), expected.predict(X))
        again = np.column_stack([part.decision_function(test) for part in found.estimators_])
        assert_allclose(again, scores, rtol=0, atol=1e-10 * np.abs(scores).max())


def test_a_scan_for_other_models_is_refused_with_the_reason(tmp_path):
    X, y, _ = rows_of(90, 5)
    pd.DataFrame(X, columns=list("abcde")).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    scan = discrim.scan(tmp_path / "rows.parquet", target="y")
    with pytest.raises(ValueError, match="reads a scan only for estimators that share one pass"):
        OneVsRestClassifier(LogisticRegression()).fit(scan)


def test_partial_fit_continues_what_a_shared_fit_began():
    X, y, _ = rows_of(90, 5)
    for scheme in (OneVsRestClassifier(GaussianNB()), OneVsOneClassifier(GaussianNB(), methods="all")):
        parts = clone(scheme).fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
        whole = clone(scheme).fit(X, y)
        assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-10)


def test_nothing_is_said_where_nothing_is_wrong():
    X, y, _ = rows_of(90, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scheme in (OneVsRestClassifier, partial(OneVsOneClassifier, methods="all")):
            scheme(LinearDiscriminantAnalysis()).fit(X, y).predict_proba(X)


@pytest.mark.parametrize("model", [m for m in MODELS if isinstance(m, LINEAR)], ids=str)
def test_linear_models_are_asked_together_and_answer_as_alone(model):
    X, y, _ = rows_of(90, 5)
    scheme = OneVsOneClassifier(model).fit(X, y)
    models = scheme.estimators_
    assert scheme._fits_in_memory(X)
    alone = np.column_stack([part.decision_function(X) for part in models])
    assert_allclose(scheme._all_scores(X), alone, rtol=0, atol=1e-12 * np.abs(alone).max())
    shares = np.column_stack([part.predict_proba(X)[:, 1] for part in models])
    assert_allclose(scheme._all_probabilities(X), shares, rtol=0, atol=1e-12)


def test_scores_too_many_for_the_memory_are_found_pair_by_pair(monkeypatch):
    X, y, _ = rows_of(90, 5)
    scheme = OneVsOneClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    expected = scheme.decision_function(X)
    monkeypatch.setattr(shared, "MOST_SCORES", 10)
    assert_allclose(scheme.decision_function(X), expected, rtol=1e-10, atol=1e-10)


def test_a_class_without_weight_loses_every_pair_without_a_warning():
    X, y, _ = rows_of(90, 5)
    weight = (y != "bee").astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scheme in (OneVsRestClassifier, OneVsOneClassifier):
            model = scheme(LinearDiscriminantAnalysis()).fit(X, y, sample_weight=weight)
            assert "bee" not in set(model.predict(X))


def test_a_fit_that_fails_leaves_the_old_model():
    X, y, _ = rows_of(90, 5)
    for scheme in (OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier):
        model = scheme(LinearDiscriminantAnalysis()).fit(X, y)
        before = model.predict(X)
        with pytest.raises(ValueError, match="column 'x0' has 1 NaN"):
            model.fit(np.where(np.arange(90)[:, None] + np.arange(5) == 0, np.nan, X), y)
        np.testing.assert_array_equal(model.predict(X), before)
