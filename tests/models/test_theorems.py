"""What the lectures prove, the models show."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg
from sklearn import datasets

from discrim import (
    GaussianNB,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    RidgeClassifier,
)


@pytest.fixture(params=["iris", "wine", "breast_cancer"])
def data(request):
    return getattr(datasets, f"load_{request.param}")(return_X_y=True)


@pytest.fixture
def wine():
    return datasets.load_wine(return_X_y=True)


def cosine(a, b):
    return abs(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b))


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_for_two_classes_least_squares_has_the_direction_of_lda(share):
    rng = np.random.default_rng(0)
    y = (np.arange(200) < 200 * share).astype(int)
    X = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 5)) + np.outer(y, rng.normal(size=5))
    lda = LinearDiscriminantAnalysis().fit(X, y)
    directions = [
        LeastSquaresClassifier().fit(X, y).coef_[1],
        RidgeClassifier(alpha=0.0).fit(X, y).coef_,
        lda.scalings_[:, 0],
        lda.fisher().direction,
        np.linalg.solve(np.cov(X[y == 0].T) * (np.sum(y == 0) - 1) + np.cov(X[y == 1].T) * (np.sum(y == 1) - 1),
                        X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)),
    ]  # fmt: skip
    for direction in directions:
        assert cosine(direction, lda.coef_[0]) == pytest.approx(1.0, abs=1e-13)


def test_all_discriminant_coordinates_together_leave_the_posteriors_unchanged(data):
    X, y = data
    most = len(np.unique(y)) - 1
    full = LinearDiscriminantAnalysis().fit(X, y)
    reduced = LinearDiscriminantAnalysis(rank=most).fit(X, y)
    assert_allclose(reduced.predict_proba(X), full.predict_proba(X), atol=1e-9)
    in_coordinates = LinearDiscriminantAnalysis().fit(full.transform(X), y)
    assert_allclose(in_coordinates.predict_proba(full.transform(X)), full.predict_proba(X), atol=1e-9)


def test_fewer_coordinates_are_lda_on_the_transformed_rows(wine):
    X, y = wine
    z = LinearDiscriminantAnalysis(n_components=1).fit(X, y).transform(X)
    found = LinearDiscriminantAnalysis(rank=1).fit(X, y).predict_proba(X)
    assert_allclose(found, LinearDiscriminantAnalysis().fit(z, y).predict_proba(z), atol=1e-10)
    assert np.abs(found - LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)).max() > 0.1


def test_sphering_and_the_nearest_centroid_are_the_same_rule(data):
    X, y = data
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    sphering = linalg.inv(linalg.cholesky(model.covariance_, lower=True))
    distances = ((X @ sphering.T)[:, None] - model.means_ @ sphering.T) ** 2
    nearest = np.argmin(distances.sum(axis=2) - 2 * np.log(model.priors_), axis=1)
    assert_array_equal(model.predict(X), model.classes_[nearest])


def test_discriminant_coordinates_have_unit_variance_within_classes_and_none_in_common(data):
    X, y = data
    model = LinearDiscriminantAnalysis().fit(X, y)
    z = model.transform(X)
    within = sum(np.cov(z[y == k].T, bias=True) * (y == k).mean() for k in model.classes_)
    assert_allclose(np.atleast_2d(within), np.eye(z.shape[1]), atol=1e-8)
    between = np.cov(np.array([z[y == k].mean(axis=0) for k in y]).T, bias=True)
    assert_allclose(np.atleast_2d(between), np.diag(np.atleast_1d(np.diag(np.atleast_2d(between)))), atol=1e-7)


@pytest.mark.parametrize("normalization", ["mle", "unbiased"])
def test_rda_lies_between_qda_and_lda(wine, normalization):
    X, y = wine
    qda = QuadraticDiscriminantAnalysis(normalization=normalization).fit(X, y).predict_log_proba(X)
    lda = LinearDiscriminantAnalysis(normalization=normalization).fit(X, y).predict_log_proba(X)
    ends = {(1.0, 1.0): qda, (0.0, 1.0): lda}
    for (alpha, gamma), expected in ends.items():
        model = RegularizedDiscriminantAnalysis(alpha, gamma, normalization=normalization).fit(X, y)
        assert_allclose(model.predict_log_proba(X), expected, rtol=1e-8, atol=1e-8)


def test_rda_without_correlations_is_naive_bayes(wine):
    X, y = wine
    model = RegularizedDiscriminantAnalysis(1.0, 0.0, target="diagonal").fit(X, y)
    naive = GaussianNB(var_smoothing=0.0).fit(X, y)
    assert_allclose(model.predict_log_proba(X), naive.predict_log_proba(X), rtol=1e-10, atol=1e-10)


def test_rda_with_the_identity_alone_is_the_nearest_centroid_of_balanced_classes():
    X, y = datasets.load_iris(return_X_y=True)
    model = RegularizedDiscriminantAnalysis(0.0, 0.0).fit(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert_array_equal(model.predict(X), nearest)


@pytest.mark.parametrize("s", [0.2, 0.7])
@pytest.mark.parametrize("target", ["identity", "diagonal"])
def test_shrinkage_is_gamma_by_another_name(wine, s, target):
    X, y = wine
    pairs = [
        (LinearDiscriminantAnalysis(shrinkage=s, target=target), 0.0),
        (QuadraticDiscriminantAnalysis(shrinkage=s, target=target), 1.0),
    ]
    for model, alpha in pairs:
        rda = RegularizedDiscriminantAnalysis(alpha, 1 - s, target=target).fit(X, y)
        assert_allclose(model.fit(X, y).predict_proba(X), rda.predict_proba(X), atol=1e-9)


class TestMasking:
    """Three classes in a line: the regression function of the middle one is nowhere the largest."""

    y = np.repeat([0, 1, 2], 200)
    half = np.random.default_rng(0).normal(size=(100, 2))
    # The classes are copies of one symmetric cloud, so that the middle function is 1/3 exactly.
    X = np.column_stack([4.0 * (y - 1), 4.0 * (y - 1)]) + np.tile(np.vstack([half, -half]), (3, 1))

    def test_least_squares_never_predicts_the_middle_class(self):
        predicted = LeastSquaresClassifier().fit(self.X, self.y).predict(self.X)
        assert set(predicted) == {0, 2}

    def test_squares_and_products_cure_it(self):
        model = LeastSquaresClassifier(basis="quadratic").fit(self.X, self.y)
        assert model.score(self.X, self.y) > 0.97
        assert model.summary().names == ["(Intercept)", "x0", "x1", "x0^2", "x0:x1", "x1^2"]

    def test_lda_does_not_suffer_from_it(self):
        assert LinearDiscriminantAnalysis().fit(self.X, self.y).score(self.X, self.y) > 0.97

    def test_the_regression_functions_sum_to_one(self):
        for basis in (None, "quadratic"):
            model = LeastSquaresClassifier(basis=basis).fit(self.X, self.y)
            assert_allclose(model.decision_function(self.X).sum(axis=1), 1.0, atol=1e-12)

    def test_posteriors_keep_the_order_of_the_regression_functions(self):
        model = LeastSquaresClassifier().fit(self.X, self.y)
        scores, posterior = model.decision_function(self.X), model.predict_proba(self.X)
        assert_array_equal(scores.argsort(axis=1), posterior.argsort(axis=1))


class TestFisher:
    """Fisher's direction and the Gaussian threshold on the projection (Rome lecture)."""

    def test_equal_variances_put_the_threshold_in_the_middle(self):
        X = np.array([[0.0], [2.0], [10.0], [12.0]])
        found = LinearDiscriminantAnalysis().fit(X, [0, 0, 1, 1]).fisher()
        assert found.direction[0] == pytest.approx(1.0)
        assert found.threshold == pytest.approx(6.0)
        assert_array_equal(found.predict(X, np.array(["a", "b"])), ["a", "a", "b", "b"])

    def test_the_weighted_densities_cross_at_the_threshold(self):
        from scipy.stats import norm

        rng = np.random.default_rng(0)
        X = np.vstack([rng.normal(size=(80, 2)), 0.4 * rng.normal(size=(30, 2)) + 2.0])
        y = np.repeat([0, 1], [80, 30])
        found = LinearDiscriminantAnalysis().fit(X, y).fisher()
        z = X @ found.direction
        assert_allclose(found.variances, [z[y == 0].var(ddof=1), z[y == 1].var(ddof=1)], rtol=1e-10)
        densities = [
            n * norm.pdf(found.threshold, m, np.sqrt(v))
            for n, m, v in zip((80, 30), found.means, found.variances, strict=True)
        ]
        assert densities[0] == pytest.approx(densities[1], rel=1e-9)
        assert found.means[0] < found.threshold < found.means[1]

    def test_more_classes_have_no_such_direction(self, wine):
        with pytest.raises(ValueError, match="for two classes; the model has 3"):
            LinearDiscriminantAnalysis().fit(*wine).fisher()
