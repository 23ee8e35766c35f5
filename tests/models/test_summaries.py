"""summary(): text, notebook, frame, and the arrays that other programs read."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from discrim import (
    BayesianLinearDiscriminantAnalysis,
    BayesianQuadraticDiscriminantAnalysis,
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
    datasets,
)

FLOWERS = ["setosa", "versicolor", "virginica"]


@pytest.fixture(scope="module")
def iris():
    return datasets.load_iris().xy


@pytest.fixture(scope="module")
def r_numbers():
    path = Path(__file__).parents[1] / "reference" / "mass.json"
    return json.loads(path.read_text())["iris"]


TITLES = {
    LinearDiscriminantAnalysis: "Linear discriminant analysis",
    QuadraticDiscriminantAnalysis: "Quadratic discriminant analysis",
    RegularizedDiscriminantAnalysis: "Regularised discriminant analysis",
    BayesianQuadraticDiscriminantAnalysis: "Bayesian quadratic discriminant analysis",
    BayesianLinearDiscriminantAnalysis: "Bayesian linear discriminant analysis",
    GaussianNB: "Gaussian naive Bayes",
    LeastSquaresClassifier: "Least squares on class indicators",
    RidgeClassifier: "Ridge regression on class indicators",
}


@pytest.mark.parametrize("kind", TITLES)
def test_every_model_tells_what_it_learned(kind, iris):
    pytest.importorskip("pandas")
    X, y = iris
    summary = kind().fit(X, y).summary()
    text, page = str(summary), summary._repr_html_()
    assert text.startswith(TITLES[kind])
    assert repr(summary) == text
    assert "Rows:" in text
    for label in FLOWERS:
        assert label in text
        assert label in page
    assert "<table" in page
    assert "<script" not in page
    assert max(map(len, text.splitlines())) <= 110
    for table in summary.tables:
        frame = summary.to_frame(table.title)
        assert frame.shape == (len(table.index), len(table.columns))
        assert np.isfinite(frame.select_dtypes("number").to_numpy()).all()


def test_models_say_it_for_any_setting(model, rows):
    X, y, weight = rows
    fitted = clone(model).fit(X, y, weight)
    summary = fitted.summary()
    assert str(summary)
    assert summary._repr_html_()
    assert len(summary.names) in {X.shape[1], X.shape[1] + 1}


class TestLeastSquares:
    """R: summary(lm(indicator ~ ., iris)) for each of the three classes, and for the second in full."""

    def test_names_and_coefficients_are_those_of_lm(self, iris, r_numbers):
        summary = LeastSquaresClassifier().fit(*iris).summary()
        assert summary.names == ["(Intercept)", "x0", "x1", "x2", "x3"]
        assert summary.coef.shape == (5, 3)
        assert_allclose(summary.coef, r_numbers["indicator"]["coef"], rtol=1e-8, atol=1e-12)

    def test_standard_errors_and_tests_are_those_of_lm(self, iris, r_numbers):
        summary = LeastSquaresClassifier().fit(*iris).summary()
        expected = r_numbers["indicator"]["second_class"]
        for found, name in ((summary.std_error, "std_error"), (summary.statistic, "t"), (summary.p_value, "p")):
            assert found.shape == (5, 3)
            assert_allclose(found[:, 1], expected[name], rtol=1e-8)

    def test_against_the_normal_equations_with_weights(self):
        rng = np.random.default_rng(0)
        X, y, w = rng.normal(size=(50, 3)) + 5.0, np.arange(50) % 2, rng.integers(1, 4, 50)
        summary = LeastSquaresClassifier().fit(X, y, w).summary()
        design = np.column_stack([np.ones(50), X])
        inverse = np.linalg.inv(design.T @ (w[:, None] * design))
        coef = inverse @ design.T @ (w * (y == 1))
        residual = (y == 1) - design @ coef
        df = w.sum() - 4
        errors = np.sqrt(np.diag(inverse) * (w @ residual**2) / df)
        assert summary.df_residual == df
        assert_allclose(summary.coef[:, 1], coef, rtol=1e-9)
        assert_allclose(summary.std_error[:, 1], errors, rtol=1e-9)
        assert_allclose(summary.statistic[:, 1], coef / errors, rtol=1e-8)

    def test_more_columns_than_rows_leave_nothing_to_test_with(self):
        X = np.random.default_rng(0).normal(size=(10, 20))
        summary = LeastSquaresClassifier().fit(X, np.arange(10) % 2).summary()
        assert summary.df_residual == 0
        assert np.isnan(summary.std_error).all()
        assert str(summary)


class TestLinearDiscriminant:
    def test_wilks_and_the_canonical_correlations_are_those_of_r(self, iris, r_numbers):
        model = LinearDiscriminantAnalysis().fit(*iris)
        expected = r_numbers["canonical"]
        assert model.wilks_lambda_ == pytest.approx(expected["wilks"], rel=1e-10)
        assert_allclose(model.canonical_correlations_, expected["canonical_correlations"], rtol=1e-10)
        assert_allclose(np.abs(model.structure_), np.abs(expected["structure_within"]), rtol=1e-8)
        summary = model.summary()
        assert summary.wilks_lambda == pytest.approx(expected["wilks"], rel=1e-10)
        assert "LD1" in str(summary)

    @pytest.mark.parametrize("normalization", ["mle", "unbiased"])
    def test_the_tests_do_not_depend_on_the_divisor_or_the_priors(self, iris, normalization):
        plain = LinearDiscriminantAnalysis().fit(*iris)
        other = LinearDiscriminantAnalysis(normalization=normalization, priors=[0.6, 0.2, 0.2]).fit(*iris)
        assert other.wilks_lambda_ == pytest.approx(plain.wilks_lambda_, rel=1e-10)

    def test_shrinkage_is_that_of_the_last_fit(self, iris):
        model = LinearDiscriminantAnalysis(shrinkage=0.25).fit(*iris)
        assert model.summary().facts["Shrinkage"] == 0.25
        assert model.set_params(shrinkage=None).fit(*iris).summary().facts["Shrinkage"] == "none"


def test_ridge_names_the_class_that_its_one_function_is_for():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.where(np.arange(30) % 2, "yes", "no")
    summary = RidgeClassifier().fit(X, y).summary()
    assert list(summary.tables[0].columns) == ["yes"]
    assert summary.coef.shape == (3, 1)
    assert list(RidgeClassifier().fit(X, ["only"] * 30).summary().tables[0].columns) == ["only"]


def test_qda_gives_the_determinants_of_r(iris, r_numbers):
    summary = QuadraticDiscriminantAnalysis(normalization="unbiased").fit(*iris).summary()
    assert_allclose(summary.log_det, r_numbers["qda"]["ldet"], rtol=1e-9)
    assert "Box's M" in str(summary)


def test_naive_bayes_gives_means_and_variances(iris):
    X, y = iris
    summary = GaussianNB(var_smoothing=0.0).fit(X, y).summary()
    for k, label in enumerate(FLOWERS):
        assert_allclose(summary.means[k], X[y == label].mean(axis=0))
        assert_allclose(summary.variances[k], X[y == label].var(axis=0))


def test_rda_says_what_was_chosen(iris):
    model = RegularizedDiscriminantAnalysis("loo", "loo").fit(*iris)
    facts = model.summary().facts
    assert (facts["alpha"], facts["gamma"]) == (model.alpha_, model.gamma_)


def test_a_column_without_variance_does_not_spoil_the_others():
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[:, 1] = 3.0
    with pytest.warns(UserWarning, match="'x1'"):
        model = LinearDiscriminantAnalysis().fit(X, np.arange(30) % 2)
    summary = model.summary()
    assert np.isfinite(summary.scalings).all()
    assert_array_equal(np.isfinite(summary.f_statistic), [True, False, True])
    assert "NaN" in str(summary)
