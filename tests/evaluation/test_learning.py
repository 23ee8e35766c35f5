"""Learning curves, optimism and shuffled labels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Peer

from discrim import GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, datasets, scan
from discrim.errors import DataError, ParameterError
from discrim.evaluation import cross_validate, learning_curve, optimism, permutation_test


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    return rng.normal(size=(240, 8)) + 0.7 * np.eye(8)[y], np.array(["a", "b", "c"])[y]


class Refitted(LinearDiscriminantAnalysis):
    """The same model, of which nothing is known but that it can be fitted."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y, sample_weight)


def test_adding_rows_gives_the_curve_of_refitting(noisy):
    fast = learning_curve(LinearDiscriminantAnalysis(), *noisy, sizes=[30, 80, 190], cv=5)
    slow = learning_curve(Refitted(), *noisy, sizes=[30, 80, 190], cv=5)
    assert (fast.route, slow.route) == ("statistics", "refits")
    assert_allclose(fast.train_error, slow.train_error, atol=1e-12)
    assert_allclose(fast.test_error, slow.test_error, atol=1e-12)


def test_the_full_size_is_cross_validation(noisy):
    curve = learning_curve(GaussianNB(), *noisy, sizes=[1.0], cv=6)
    assert curve.sizes.tolist() == [200]
    assert_allclose(curve.test_error[-1], cross_validate(GaussianNB(), *noisy, cv=6).error)


def test_training_error_rises_and_test_error_falls_with_rows(noisy):
    curve = learning_curve(LinearDiscriminantAnalysis(), *noisy, sizes=[20, 200], cv=6)
    assert curve.train_error[0] < curve.train_error[1] < curve.test_error[1] < curve.test_error[0]
    assert (curve.optimism[0] > curve.optimism[1]) & (curve.optimism[1] > 0)


def test_so_few_rows_that_nothing_can_be_fitted_have_no_error(noisy):
    curve = learning_curve(QuadraticDiscriminantAnalysis(), *noisy, sizes=[6, 180], cv=4, random_state=1)
    assert np.isnan(curve.test_error[0])
    assert np.isfinite(curve.test_error[1])


def test_any_classifier_and_any_container_has_a_curve(noisy, tmp_path):
    pd = pytest.importorskip("pandas", reason="writes the file")
    frame = pd.DataFrame(noisy[0]).add_prefix("x")
    frame.assign(y=noisy[1]).to_csv(tmp_path / "rows.csv", index=False)
    expected = learning_curve(LinearDiscriminantAnalysis(), *noisy, sizes=3, cv=4)
    found = learning_curve(LinearDiscriminantAnalysis(), scan(tmp_path / "rows.csv", target="y"), sizes=3, cv=4)
    assert_allclose(found.test_error, expected.test_error)
    in_frame = learning_curve(LinearDiscriminantAnalysis(), frame, noisy[1], sizes=3, cv=4)
    assert_allclose(in_frame.test_error, expected.test_error)
    assert learning_curve(Peer(), *noisy, sizes=3, cv=4).route == "refits"


def test_sizes_that_cannot_be_are_refused(noisy):
    with pytest.raises(DataError, match="largest training part has 180 rows; 'sizes' asks for 500"):
        learning_curve(GaussianNB(), *noisy, sizes=[10, 500], cv=4)
    with pytest.raises(ParameterError, match="'sizes' parameter"):
        learning_curve(GaussianNB(), *noisy, sizes=[-1, 5])
    with pytest.raises(DataError, match="y is None"):
        learning_curve(GaussianNB(), noisy[0])


def test_optimism_is_the_difference_of_the_two_errors(noisy):
    X, y = noisy
    found = optimism(LinearDiscriminantAnalysis(), X, y)
    assert_allclose(found.train_error, 1 - LinearDiscriminantAnalysis().fit(X, y).score(X, y))
    assert_allclose(found.test_error, cross_validate(LinearDiscriminantAnalysis(), X, y).error)
    assert found.optimism == found.test_error - found.train_error


def test_real_structure_is_beyond_all_shuffles():
    X, y = datasets.load_iris().xy
    found = permutation_test(LinearDiscriminantAnalysis(), X, y, cv=5, shuffles=49)
    assert found.p_value == 1 / 50
    assert found.shuffled.mean() > 0.5


@pytest.mark.slow
def test_the_test_keeps_its_level_where_there_is_nothing_to_learn():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    model = LinearDiscriminantAnalysis()
    p = [permutation_test(model, rng.normal(size=(40, 2)), y, cv=4, shuffles=19).p_value for _ in range(60)]
    # At 5% the test rejects 3 of 60 on average; more than 9 happen once in a thousand.
    assert sum(value <= 0.05 for value in p) <= 9
    assert 0.4 < np.mean(p) < 0.7


def test_the_same_seed_shuffles_alike(noisy):
    a, b = (permutation_test(clone(GaussianNB()), *noisy, cv=3, shuffles=5, criterion="log_loss") for _ in range(2))
    assert_array_equal(a.shuffled, b.shuffled)
    with pytest.raises(ParameterError, match="'criterion' parameter is 'auc'"):
        permutation_test(GaussianNB(), *noisy, criterion="auc")
