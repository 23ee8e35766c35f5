"""scikit-learn's own tests, which come with its wheel, pass with our classes in place of its own.

Left out are only tests that demand a missing feature or call private names (``swap_into_sklearn.LEFT_OUT``);
what else these tests say is said again below.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.covariance import LedoitWolf, ShrunkCovariance, ledoit_wolf
from sklearn.preprocessing import StandardScaler

import discrim
from discrim import GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

HERE = Path(__file__).parent
# Modules by the classes that are exchanged, so that each process is started for several where they do not meet.
SUITES = {
    "generative": (
        (
            "sklearn.tests.test_discriminant_analysis sklearn.tests.test_naive_bayes "
            "sklearn.neighbors.tests.test_nearest_centroid"
        ),
        " ".join(f"sklearn.discriminant_analysis:{name}DiscriminantAnalysis" for name in ("Linear", "Quadratic"))
        + "".join(
            f" sklearn.naive_bayes:{name}NB"
            for name in ("Gaussian", "Bernoulli", "Categorical", "Complement", "Multinomial")
        )
        + " sklearn.neighbors:NearestCentroid",
        "",
        {"passed": 142, "deselected": 14},
    ),
    "ridge": (
        "sklearn.linear_model.tests.test_ridge",
        "sklearn.linear_model:RidgeClassifier sklearn.linear_model._ridge:RidgeClassifier",
        "class_weight or multilabel or test_dense_sparse",
        {"passed": 8},
    ),
    "logistic": (
        "sklearn.linear_model.tests.test_logistic",
        " ".join(
            f"sklearn.linear_model{where}:LogisticRegression{cv}" for where in ("", "._logistic") for cv in ("", "CV")
        ),
        "",
        {"passed": 280, "deselected": 15},
    ),
    "sgd": (
        "sklearn.linear_model.tests.test_sgd",
        "sklearn.linear_model:SGDClassifier sklearn.linear_model._stochastic_gradient:SGDClassifier",
        "not Regressor and not OneClass and not reg and not ocsvm and not loky and not multi_core",
        {"passed": 118},
    ),
    "sgd in processes": (
        "sklearn.linear_model.tests.test_sgd",
        "sklearn.linear_model:SGDClassifier sklearn.linear_model._stochastic_gradient:SGDClassifier",
        "loky or multi_core",
        {"passed": 2},
    ),
    "perceptrons": (
        "sklearn.linear_model.tests.test_perceptron sklearn.linear_model.tests.test_passive_aggressive",
        "sklearn.linear_model:Perceptron sklearn.linear_model._perceptron:Perceptron "
        + " ".join(
            f"sklearn.linear_model{where}:PassiveAggressiveClassifier" for where in ("", "._passive_aggressive")
        ),
        "not Regressor and not regressor",
        {"passed": 26},
    ),
}


# Processes of joblib's start by importing scikit-learn again.
SLOW = {"sgd in processes"}


@pytest.mark.parametrize("suite", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in SUITES])
def test_the_tests_of_scikit_learn_pass_with_our_classes(suite, tmp_path):
    modules, swap, chosen, least = SUITES[suite]
    paths = [str(HERE), str(Path(discrim.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "DISCRIM_SWAP": swap, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment.pop("PYTEST_ADDOPTS", None)
    environment["OPENBLAS_NUM_THREADS"] = "1"  # these processes share the cores too
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "swap_into_sklearn"]
    command += [*(["-k", chosen] if chosen else []), "--pyargs", *modules.split()]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-1000:]
    counts = {what: int(count) for count, what in re.findall(r"(\d+) (passed|deselected)", result.stdout)}
    # A selection that finds nothing would pass too.
    assert all(counts[what] >= count for what, count in least.items()), result.stdout[-500:]


X = np.array([[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]], dtype=float)
X1 = np.array([[-2], [-1], [-1], [1], [1], [2]], dtype=float)
Y = np.array([1, 1, 1, 2, 2, 2])


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("shrinkage", [None, "auto", 0, 0.43])
def test_every_solver_of_lda_separates_what_can_be_separated(solver, shrinkage):
    model = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage)
    assert_array_equal(model.fit(X, Y).predict(X), Y)
    assert_array_equal(model.fit(X1, Y).predict(X1), Y)
    assert_array_equal((model.predict_proba(X1)[:, 1] > 0.5) + 1, Y)
    assert_allclose(np.exp(model.predict_log_proba(X1)), model.predict_proba(X1), rtol=1e-12)
    mixed = np.array([1, 1, 2, 2, 3, 3])
    assert (model.fit(X, mixed).predict(X) != mixed).any()


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_every_solver_of_lda_transforms_and_they_agree(solver):
    svd = LinearDiscriminantAnalysis(n_components=1).fit(X, Y)
    model = LinearDiscriminantAnalysis(solver=solver, n_components=1).fit(X, Y)
    assert model.transform(X).shape == (6, 1)
    assert_allclose(np.abs(model.transform(X)), np.abs(svd.transform(X)), rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "solvers"),
    [(LinearDiscriminantAnalysis, ["svd", "lsqr", "eigen"]), (QuadraticDiscriminantAnalysis, ["svd", "eigen"])],
    ids=["LDA", "QDA"],
)
class TestCovarianceOptions:
    def test_shrinkage_and_an_estimator_exclude_each_other(self, model, solvers):
        for solver in solvers:
            with pytest.raises(ValueError, match=r"Only one of the two can be set\."):
                model(solver=solver, shrinkage=0.1, covariance_estimator=ShrunkCovariance()).fit(X, Y)

    def test_something_that_estimates_no_covariance_is_refused_by_name(self, model, solvers):
        for solver in solvers:
            with pytest.raises(ValueError, match="KMeans does not have a covariance_ attribute"):
                model(solver=solver, covariance_estimator=KMeans(n_clusters=2, n_init=1)).fit(X, Y)

    def test_an_estimator_gives_the_same_with_every_solver(self, model, solvers):
        data = np.random.default_rng(0).normal(size=(60, 4))
        labels = np.arange(60) % 3
        expected, *others = (
            model(solver=solver, covariance_estimator=LedoitWolf()).fit(data, labels).predict_proba(data)
            for solver in solvers
        )
        for other in others:
            assert_allclose(other, expected, rtol=1e-12)

    def test_the_estimator_that_was_passed_is_not_changed(self, model, solvers):
        estimator = LedoitWolf()
        model(covariance_estimator=estimator).fit(X, Y)
        assert not hasattr(estimator, "covariance_")

    def test_weights_are_refused_rather_than_ignored(self, model, solvers):
        with pytest.raises(ValueError, match="takes no weights"):
            model(covariance_estimator=LedoitWolf()).fit(X, Y, sample_weight=[1, 2, 1, 1, 1, 1])

    def test_auto_with_svd_is_ledoit_and_wolf_after_standardising(self, model, solvers):
        class Standardised:
            def fit(self, data):
                scaler = StandardScaler().fit(data)
                shrunk = ledoit_wolf(scaler.transform(data))[0]
                self.covariance_ = scaler.scale_[:, None] * shrunk * scaler.scale_

        data = np.random.default_rng(0).normal(size=(60, 4)) * [1, 10, 0.1, 3]
        labels = np.arange(60) % 3
        auto = model(solver="svd", shrinkage="auto").fit(data, labels)
        by_hand = model(solver="svd", covariance_estimator=Standardised()).fit(data, labels)
        assert_allclose(auto.predict_proba(data), by_hand.predict_proba(data), rtol=1e-10)


def test_qda_without_regularisation_refuses_a_constant_column_and_reg_param_cures_it():
    constant = np.column_stack([X[:, 0], np.zeros(6)])
    labels = np.array([1, 1, 1, 2, 2, 2])
    model = QuadraticDiscriminantAnalysis()
    with pytest.raises(np.linalg.LinAlgError, match=r"class 1 is not full rank.* columns 'x1' are constant"):
        model.fit(constant, labels)
    with pytest.raises(AttributeError):
        model.predict(constant)
    assert_array_equal(QuadraticDiscriminantAnalysis(reg_param=0.01).fit(constant, labels).predict(constant), labels)


def test_qda_with_fewer_rows_than_columns_in_a_class_is_cured_by_reg_param():
    """scikit-learn's svd solver knows only as many variances as rows; (1 - r) Sigma_k + r I has them all."""
    data = np.random.default_rng(0).normal(size=(9, 4))
    labels = np.array([1, 1, 1, 1, 1, 1, 2, 2, 2])
    with pytest.raises(np.linalg.LinAlgError, match="When using `solver='svd'`"):
        QuadraticDiscriminantAnalysis().fit(data, labels)
    model = QuadraticDiscriminantAnalysis(reg_param=0.3, store_covariance=True).fit(data, labels)
    part = data[labels == 2]
    centred = part - part.mean(axis=0)
    sigma = 0.7 * centred.T @ centred / 3 + 0.3 * np.eye(4)
    assert_allclose(model.covariance_[1], sigma, rtol=1e-12, atol=1e-15)


def test_naive_bayes_needs_no_classes_in_the_first_part_but_keeps_to_those_given():
    rng = np.random.default_rng(0)
    data, labels = rng.integers(0, 5, size=(30, 4)).astype(float), np.arange(30) % 3
    model = GaussianNB().partial_fit(data, labels)
    assert_allclose(model.predict_proba(data), GaussianNB().fit(data, labels).predict_proba(data), rtol=1e-12)
    strict = GaussianNB().partial_fit(data, labels, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        strict.partial_fit(data, labels, classes=np.arange(42))
    with pytest.raises(ValueError, match=r"label\(s\) '7' in y do not exist in the initial classes"):
        strict.partial_fit(data[:1], [7])
    assert_allclose(strict.predict_proba(data), model.predict_proba(data), rtol=1e-12)


def test_a_part_without_rows_is_refused_and_changes_nothing():
    data, labels = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 3
    model = GaussianNB().fit(data, labels)
    before = model.predict_proba(data)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.partial_fit(np.empty((0, 4)), [])
    assert_array_equal(model.predict_proba(data), before)
