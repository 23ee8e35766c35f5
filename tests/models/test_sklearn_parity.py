"""The same parameters give the same answer as scikit-learn, on scikit-learn's own data.

Where the two differ, the test says who is right and compares ours with an independent formula.
"""

import warnings

import numpy as np
import pytest
import sklearn.discriminant_analysis as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse, special
from sklearn import covariance, datasets, linear_model, naive_bayes
from sklearn.preprocessing import StandardScaler

import discrim
from discrim.errors import CollinearWarning, PriorsWarning


def _data(name):
    if name == "make_classification":
        return datasets.make_classification(400, 12, n_informative=8, n_redundant=0, n_classes=3, random_state=0)
    if name == "make_blobs":
        return datasets.make_blobs(300, 5, centers=4, cluster_std=4.0, random_state=0)
    return getattr(datasets, f"load_{name}")(return_X_y=True)


DATA = ["iris", "wine", "breast_cancer", "make_classification", "make_blobs"]


@pytest.fixture(scope="module", params=DATA)
def data(request):
    return _data(request.param)


@pytest.fixture(scope="module")
def iris():
    return _data("iris")


def uneven(y):
    priors = np.arange(1.0, len(np.unique(y)) + 1)
    return priors / priors.sum()


def same(found, expected, tol=1e-8):
    """Equal to ``tol`` of the largest number."""
    expected = np.asarray(expected)
    finite = np.isfinite(expected)
    assert_array_equal(np.isfinite(found), finite)
    assert_allclose(found[finite], expected[finite], rtol=tol, atol=tol * max(1.0, np.abs(expected[finite]).max()))


def same_up_to_sign(found, expected, tol=1e-8):
    assert found.shape == expected.shape
    signs = np.sign(np.sum(found * expected, axis=0))
    same(found * signs, expected, tol)


def same_answers(ours, other, X, tol=1e-8):
    same(ours.predict_proba(X), other.predict_proba(X), tol)
    assert_array_equal(ours.predict(X), other.predict(X))
    if hasattr(other, "decision_function"):
        scores = other.decision_function(X)
        same(ours.decision_function(X), scores, tol)
        # scikit-learn's own logarithms come from the posteriors: they end at -36, and at -708 where these vanish.
        scores = np.column_stack([np.zeros(len(X)), scores]) if scores.ndim == 1 else scores
        same(ours.predict_log_proba(X), special.log_softmax(scores, axis=1), tol)
    else:
        same(ours.predict_log_proba(X), other.predict_log_proba(X), tol)


def both(ours, other, X, y, **parameters):
    return ours(**parameters).fit(X, y), other(**parameters).fit(X, y)


class TestLinearDiscriminantAnalysis:
    @pytest.mark.parametrize("given", [False, True], ids=["estimated priors", "given priors"])
    @pytest.mark.parametrize(
        "parameters",
        [
            {"solver": "svd"},
            {"solver": "svd", "store_covariance": True},
            {"solver": "lsqr"},
            {"solver": "eigen"},
            {"solver": "lsqr", "shrinkage": 0.2},
            {"solver": "eigen", "shrinkage": 0.2},
            {"solver": "lsqr", "shrinkage": 1},
            {"solver": "lsqr", "shrinkage": "auto"},
            {"solver": "eigen", "shrinkage": "auto"},
            {"solver": "lsqr", "covariance_estimator": covariance.LedoitWolf()},
            {"solver": "eigen", "covariance_estimator": covariance.OAS()},
        ],
        ids=str,
    )
    def test_posteriors_and_scores(self, data, parameters, given):
        X, y = data
        X = StandardScaler().fit_transform(X)  # scikit-learn's lsqr and eigen lose digits on unscaled columns
        priors = uneven(y) if given else None
        ours, other = both(
            discrim.LinearDiscriminantAnalysis, theirs.LinearDiscriminantAnalysis, X, y, priors=priors, **parameters
        )
        same_answers(ours, other, X)
        for name in ("coef_", "intercept_", "means_", "priors_"):
            same(getattr(ours, name), getattr(other, name))
        if hasattr(other, "xbar_"):
            same(ours.xbar_, other.xbar_)
        if hasattr(other, "covariance_") and not (given and parameters["solver"] == "svd"):
            same(ours.covariance_, other.covariance_)

    def test_covariance_is_the_one_that_the_rule_uses(self, iris):
        """With given priors scikit-learn's svd rule pools by counts, but its covariance_ is weighted by the priors."""
        X, y = iris
        model = discrim.LinearDiscriminantAnalysis(priors=uneven(y), store_covariance=True).fit(X, y)
        centred = X - model.means_[y]
        same(model.covariance_, centred.T @ centred / 150, 1e-12)
        expected = np.linalg.solve(model.covariance_, (model.means_ - model.xbar_).T).T
        same(model.coef_, expected, 1e-10)
        same(model.coef_, theirs.LinearDiscriminantAnalysis(priors=uneven(y)).fit(X, y).coef_)

    @pytest.mark.parametrize("given", [False, True], ids=["estimated priors", "given priors"])
    def test_directions_of_svd(self, data, given):
        X, y = data
        ours, other = both(
            discrim.LinearDiscriminantAnalysis,
            theirs.LinearDiscriminantAnalysis,
            X,
            y,
            priors=uneven(y) if given else None,
        )
        same_up_to_sign(ours.scalings_, other.scalings_)
        same_up_to_sign(ours.transform(X), other.transform(X))
        same(ours.explained_variance_ratio_, other.explained_variance_ratio_)

    def test_directions_of_eigen(self, data):
        X, y = data
        X = StandardScaler().fit_transform(X)
        ours, other = both(discrim.LinearDiscriminantAnalysis, theirs.LinearDiscriminantAnalysis, X, y, solver="eigen")
        same_up_to_sign(ours.transform(X), other.transform(X))
        same_up_to_sign(ours.scalings_, other.scalings_[:, : len(ours.classes_) - 1])
        same(ours.explained_variance_ratio_, other.explained_variance_ratio_)

    @pytest.mark.parametrize("shrinkage", [0.3, 0.9, "auto"])
    def test_directions_with_shrinkage_solve_the_generalised_eigenproblem(self, data, shrinkage):
        """scikit-learn takes B as the shrunk total minus the shrunk within: neither lies between the classes."""
        X, y = data
        model = discrim.LinearDiscriminantAnalysis(solver="eigen", shrinkage=shrinkage).fit(X, y)
        gaps = np.sqrt(model.priors_)[:, None] * (model.means_ - model.xbar_)
        values, vectors = linalg.eigh(gaps.T @ gaps, model.covariance_)
        most = model.scalings_.shape[1]
        values, vectors = values[::-1][:most], vectors[:, ::-1][:, :most]
        same_up_to_sign(model.scalings_, vectors, 1e-7)
        same(model.explained_variance_ratio_, values / values.sum())

    @pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
    def test_scores_are_centred_as_each_solver_of_scikit_learn_does(self, data, solver):
        """svd at the mean, the others at zero: on data that are not centred the scores differ, the posteriors not."""
        X, y = data
        ours, other = both(discrim.LinearDiscriminantAnalysis, theirs.LinearDiscriminantAnalysis, X, y, solver=solver)
        same(ours.decision_function(X), other.decision_function(X), 1e-7)
        same(ours.coef_, other.coef_, 1e-6)
        same(ours.intercept_, other.intercept_, 1e-6)

    def test_digits_have_constant_pixels_and_still_agree(self):
        X, y = _data("digits")
        with pytest.warns(CollinearWarning, match=r"'x0', 'x32', 'x39'"):
            ours = discrim.LinearDiscriminantAnalysis().fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = theirs.LinearDiscriminantAnalysis().fit(X, y)
        same_answers(ours, other, X)
        same(ours.explained_variance_ratio_, other.explained_variance_ratio_)

    @pytest.mark.parametrize("n_components", [1, 2])
    def test_n_components(self, iris, n_components):
        X, y = iris
        ours, other = both(
            discrim.LinearDiscriminantAnalysis, theirs.LinearDiscriminantAnalysis, X, y, n_components=n_components
        )
        assert ours.transform(X).shape == (150, n_components)
        same(ours.explained_variance_ratio_, other.explained_variance_ratio_)
        same_answers(ours, other, X)

    def test_priors_that_do_not_sum_to_one_are_rescaled_with_a_warning(self, iris):
        X, y = iris
        with pytest.warns(PriorsWarning, match=r"sum to 2, not to 1"):
            ours = discrim.LinearDiscriminantAnalysis(priors=[0.5, 0.5, 1.0]).fit(X, y)
        other = theirs.LinearDiscriminantAnalysis(priors=[0.25, 0.25, 0.5]).fit(X, y)
        same_answers(ours, other, X)

    def test_single_precision_is_kept(self, iris):
        X, y = iris
        ours = discrim.LinearDiscriminantAnalysis().fit(X.astype(np.float32), y)
        double = discrim.LinearDiscriminantAnalysis().fit(X, y)
        for name in ("coef_", "intercept_", "means_", "priors_", "scalings_", "explained_variance_ratio_"):
            assert getattr(ours, name).dtype == np.float32, name
            same(getattr(ours, name), getattr(double, name), 1e-4)
        single = X.astype(np.float32)
        for method in ("predict_proba", "decision_function", "predict_log_proba", "transform"):
            assert getattr(ours, method)(single).dtype == np.float32, method


class TestQuadraticDiscriminantAnalysis:
    @pytest.mark.parametrize("given", [False, True], ids=["estimated priors", "given priors"])
    @pytest.mark.parametrize(
        "parameters",
        [
            {"solver": "svd"},
            {"solver": "svd", "reg_param": 0.3},
            {"solver": "svd", "reg_param": 1},
            {"solver": "eigen"},
            {"solver": "eigen", "shrinkage": 0.2},
            {"solver": "eigen", "shrinkage": 1.0},
            {"solver": "eigen", "shrinkage": "auto"},
            {"solver": "eigen", "covariance_estimator": covariance.OAS()},
        ],
        ids=str,
    )
    def test_posteriors_and_scores(self, data, parameters, given):
        X, y = data
        X = StandardScaler().fit_transform(X)
        priors = uneven(y) if given else None
        ours, other = both(
            discrim.QuadraticDiscriminantAnalysis,
            theirs.QuadraticDiscriminantAnalysis,
            X,
            y,
            priors=priors,
            store_covariance=True,
            tol=0.0,  # scikit-learn's is an absolute variance, and calls breast_cancer singular
            **parameters,
        )
        same_answers(ours, other, X)
        same(ours.means_, other.means_)
        same(ours.priors_, other.priors_)
        for k in range(len(ours.classes_)):
            same(ours.scalings_[k], other.scalings_[k])
            same(ours.covariance_[k], other.covariance_[k])

    def test_reg_param_is_heeded_by_both_solvers(self, iris):
        """scikit-learn's eigen solver ignores it without a word."""
        X, y = iris
        svd, eigen = (
            discrim.QuadraticDiscriminantAnalysis(solver=name, reg_param=0.3).fit(X, y) for name in ("svd", "eigen")
        )
        assert_array_equal(svd.predict_proba(X), eigen.predict_proba(X))
        same_answers(eigen, theirs.QuadraticDiscriminantAnalysis(reg_param=0.3).fit(X, y), X)

    def test_rotations_are_the_principal_axes_of_each_class(self, iris):
        X, y = iris
        ours, other = both(discrim.QuadraticDiscriminantAnalysis, theirs.QuadraticDiscriminantAnalysis, X, y)
        for mine, its in zip(ours.rotations_, other.rotations_, strict=True):
            same_up_to_sign(mine, its)

    def test_single_precision_is_kept(self, iris):
        X, y = iris
        single = X.astype(np.float32)
        ours = discrim.QuadraticDiscriminantAnalysis(store_covariance=True).fit(single, y)
        assert {ours.means_.dtype, ours.priors_.dtype, ours.covariance_[0].dtype} == {np.dtype(np.float32)}
        assert ours.predict_proba(single).dtype == np.float32
        same(ours.predict_proba(single), discrim.QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X), 1e-3)


class TestGaussianNB:
    @pytest.mark.parametrize("var_smoothing", [1e-9, 0.0, 1e-6, 1e-3, 0.1])
    @pytest.mark.parametrize("given", [False, True], ids=["estimated priors", "given priors"])
    def test_equal_with_and_without_smoothing(self, data, var_smoothing, given):
        X, y = data
        parameters = {"var_smoothing": var_smoothing, "priors": uneven(y) if given else None}
        ours, other = both(discrim.GaussianNB, naive_bayes.GaussianNB, X, y, **parameters)
        same_answers(ours, other, X)
        same(ours.predict_joint_log_proba(X), other.predict_joint_log_proba(X))
        for name in ("theta_", "var_", "class_prior_", "class_count_", "epsilon_"):
            same(getattr(ours, name), getattr(other, name))

    @pytest.mark.parametrize("columns", [slice(None), slice(48, 49)], ids=["all columns", "one column"])
    def test_columns_that_are_constant_within_a_class(self, columns):
        """Of the 64 pixels of a digit some are never black, and some only in some classes."""
        X, y = datasets.load_digits(return_X_y=True)
        X = X[:, columns]
        ours, other = both(discrim.GaussianNB, naive_bayes.GaussianNB, X[::2], y[::2])
        assert (ours.var_ == ours.epsilon_).any()
        np.testing.assert_array_equal(ours.predict(X), other.predict(X))
        same(ours.predict_joint_log_proba(X), other.predict_joint_log_proba(X))

    def test_smoothing_by_column_knows_no_units(self, iris):
        """It adds 1e-9 of each column's own variance, and no constant within a class rules all other values out."""
        X, y = iris
        X = np.column_stack([X, np.where(y == 0, 3.0, X[:, 1])])
        for smoothing, alike in (("column", True), ("scikit-learn", False)):
            ours = discrim.GaussianNB(smoothing=smoothing).fit(X, y)
            other = discrim.GaussianNB(smoothing=smoothing).fit(X * [1.0, 1e-9, 1.0, 1e6, 1.0], y)
            found = other.predict_proba(X * [1.0, 1e-9, 1.0, 1e6, 1.0])
            assert np.allclose(found, ours.predict_proba(X), rtol=1e-9, atol=1e-12) == alike
        ours = discrim.GaussianNB(smoothing="column").fit(X, y)
        same(ours.epsilon_, 1e-9 * X.var(axis=0), 1e-12)
        same(ours.var_[0, 4], X[:, 4].var() / 50, 1e-12)

    def test_weights(self, data):
        X, y = data
        weight = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
        ours = discrim.GaussianNB(var_smoothing=0.0).fit(X, y, weight)
        other = naive_bayes.GaussianNB(var_smoothing=0.0).fit(X, y, weight)
        same_answers(ours, other, X)
        same(ours.class_count_, other.class_count_)

    def test_single_precision_is_kept(self, iris):
        X, y = iris
        ours = discrim.GaussianNB().fit(X.astype(np.float32), y)
        assert {ours.theta_.dtype, ours.var_.dtype, ours.class_prior_.dtype} == {np.dtype(np.float32)}
        assert ours.predict_proba(X.astype(np.float32)).dtype == np.float32


class TestRidgeClassifier:
    @pytest.mark.parametrize(
        "parameters",
        [
            {},
            {"alpha": 0.0},
            {"alpha": 10.0, "solver": "svd"},
            {"fit_intercept": False},
            {"class_weight": {0: 1.0, 1: 2.5, 2: 0.5, 3: 1.0}},
            {"solver": "cholesky", "alpha": 1e-3},
        ],
        ids=str,
    )
    @pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
    def test_coefficients_and_scores(self, data, parameters, weighted):
        X, y = data
        X = StandardScaler().fit_transform(X)
        parameters = dict(parameters)
        if isinstance(parameters.get("class_weight"), dict):
            parameters["class_weight"] = {k: parameters["class_weight"][k] for k in np.unique(y)}
        weight = np.random.default_rng(0).uniform(0.1, 3.0, len(y)) if weighted else None
        ours = discrim.RidgeClassifier(**parameters).fit(X, y, weight)
        other = linear_model.RidgeClassifier(**parameters).fit(X, y, weight)
        # For two classes coef_ is 1 x p here and in scikit-learn up to 1.8, and flat in 1.9.
        same(ours.coef_, np.reshape(other.coef_, ours.coef_.shape))
        same(np.asarray(ours.intercept_), other.intercept_)
        same(ours.decision_function(X), other.decision_function(X))
        assert_array_equal(ours.predict(X), other.predict(X))

    @pytest.mark.parametrize("fit_intercept", [True, False])
    def test_balanced_classes(self, data, fit_intercept):
        X, y = data
        ours, other = both(
            discrim.RidgeClassifier,
            linear_model.RidgeClassifier,
            X,
            y,
            class_weight="balanced",
            fit_intercept=fit_intercept,
        )
        same(ours.coef_, np.reshape(other.coef_, ours.coef_.shape), 1e-7)

    def test_balanced_classes_have_equal_weight_where_rows_are_weighted(self, iris):
        """scikit-learn balances the counts of the rows, after which the weights unbalance the classes again.

        Ours balances the weights, so that a weight of two is the same as the row twice.
        """
        X, y = iris
        weight = np.random.default_rng(0).integers(1, 4, len(y))
        ours = discrim.RidgeClassifier(class_weight="balanced").fit(X, y, weight)
        twice = linear_model.RidgeClassifier(class_weight="balanced").fit(X.repeat(weight, 0), y.repeat(weight))
        same(ours.coef_, twice.coef_)

    def test_one_penalty_a_class(self, iris):
        X, y = iris
        ours, other = both(
            discrim.RidgeClassifier, linear_model.RidgeClassifier, X, y, alpha=np.array([0.1, 1.0, 10.0])
        )
        same(ours.coef_, other.coef_)

    @pytest.mark.parametrize("fit_intercept", [True, False])
    def test_no_negative_coefficients(self, data, fit_intercept):
        X, y = data
        X = StandardScaler().fit_transform(X)
        parameters = {"positive": True, "fit_intercept": fit_intercept}
        ours = discrim.RidgeClassifier(**parameters).fit(X, y)
        other = linear_model.RidgeClassifier(tol=1e-12, **parameters).fit(X, y)
        assert (ours.coef_ >= 0).all()
        same(ours.coef_, np.reshape(other.coef_, ours.coef_.shape), 1e-5)  # scikit-learn iterates

    def test_no_negative_coefficients_exactly(self, iris):
        """Against an active-set solution of the stacked least-squares problem."""
        from scipy.optimize import nnls

        X, y = iris
        ours = discrim.RidgeClassifier(positive=True, alpha=0.5).fit(X, y)
        centred = X - X.mean(axis=0)
        for k in range(3):
            target = np.where(y == k, 1.0, -1.0)
            stacked = np.vstack([centred, np.sqrt(0.5) * np.eye(4)])
            expected, _ = nnls(stacked, np.concatenate([target - target.mean(), np.zeros(4)]))
            same(ours.coef_[k], expected, 1e-12)

    @pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
    def test_sparse_rows(self, container):
        X, y = _data("digits")
        ours = discrim.RidgeClassifier().fit(container(X), y)
        other = linear_model.RidgeClassifier(solver="cholesky").fit(X, y)
        same(ours.coef_, other.coef_)
        same(ours.decision_function(container(X)), other.decision_function(X))

    @pytest.mark.parametrize(
        "parameters",
        [{}, {"fit_intercept": False}, {"class_weight": "balanced"}, {"alpha": [0.1, 1.0, 2.0, 5.0]}],
        ids=str,
    )
    def test_several_labels(self, parameters):
        X, y = datasets.make_multilabel_classification(80, 6, n_classes=4, random_state=0)
        other = linear_model.RidgeClassifier(**parameters).fit(X, y)
        for labels in (y, y.tolist(), sparse.csr_array(y)):
            ours = discrim.RidgeClassifier(**parameters).fit(X, labels)
            same(ours.coef_, other.coef_)
            same(ours.decision_function(X), other.decision_function(X))
            assert_array_equal(ours.predict(X), other.predict(X))
            assert ours.score(X, y) == other.score(X, y)

    @pytest.mark.parametrize("fit_intercept", [True, False])
    def test_a_label_that_all_rows_have_or_none(self, fit_intercept):
        X, y = datasets.make_multilabel_classification(40, 5, n_classes=3, random_state=0)
        y[:, 0], y[:, 1] = 0, 1
        ours, other = both(discrim.RidgeClassifier, linear_model.RidgeClassifier, X, y, fit_intercept=fit_intercept)
        same(ours.decision_function(X), other.decision_function(X))
        assert_array_equal(ours.predict(X), other.predict(X))
        posterior = ours.set_params(methods="all").predict_proba(X)
        assert_array_equal(posterior[:, :2], np.tile([0.0, 1.0], (40, 1)))

    def test_single_precision_is_kept(self, iris):
        X, y = iris
        ours = discrim.RidgeClassifier().fit(X.astype(np.float32), y)
        assert ours.coef_.dtype == ours.intercept_.dtype == np.float32
        assert ours.decision_function(X.astype(np.float32)).dtype == np.float32


def test_least_squares_is_linear_regression_of_the_indicators(data):
    X, y = data
    ours = discrim.LeastSquaresClassifier().fit(X, y)
    other = linear_model.LinearRegression().fit(X, np.eye(len(ours.classes_))[y])
    same(np.atleast_2d(other.predict(X)).argmax(axis=1), ours.predict(X))
    same(ours.coef_, other.coef_, 1e-7)
    same(ours.intercept_, other.intercept_, 1e-7)
