"""One L1 fit as a user sees it: the same objective as scikit-learn's, offsets of any size, and a limit of the steps."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer

from discrim import LogisticRegression

pytestmark = pytest.mark.every_version


def sample(n=300, p=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1.0
    return X, (X[:, 0] + rng.normal(size=n) > 1.5).astype(int)


@pytest.mark.parametrize("intercept_scaling", [1.0, 3.0, 0.1])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_liblinear_penalises_the_intercept_by_l1_as_it_does_in_scikit_learn(form, intercept_scaling):
    X, y = sample()
    settings = {"solver": "liblinear", "l1_ratio": 1.0, "C": 0.5, "intercept_scaling": intercept_scaling}
    peer = Peer(**settings, tol=1e-10, max_iter=10_000).fit(X, y)
    model = LogisticRegression(**settings).fit(form(X), y)
    assert_allclose(model.intercept_, peer.intercept_, atol=1e-6)
    assert_allclose(model.coef_, peer.coef_, atol=1e-6)
    assert (model.intercept_ == 0.0).all() == (intercept_scaling == 0.1)


@pytest.mark.parametrize("form", [np.asarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize("shape", [(300, 8), (60, 90)], ids=["tall", "wide"])
def test_an_intercept_that_l1_sets_to_zero_is_exactly_zero(form, shape):
    """Whatever the columns' means are, and in the coefficients, the table of them and the rule alike."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = sample(*shape, seed=seed)
        X = X + rng.normal(size=shape[1])
        model = LogisticRegression(solver="liblinear", l1_ratio=1.0, C=0.5, intercept_scaling=0.01).fit(form(X), y)
        assert model.coef_.any()
        assert model.intercept_[0] == 0.0
        assert model.summary().coef[0] == 0.0
        assert model.decision_function(form(0 * X[:1]))[0] == 0.0


@pytest.mark.parametrize("shape", [(300, 8), (60, 90)], ids=["tall", "wide"])
def test_an_offset_that_is_the_same_for_all_rows_moves_the_intercept_alone(shape):
    X, y = sample(*shape)
    plain = LogisticRegression(l1_ratio=1.0).fit(X, y)
    moved = LogisticRegression(l1_ratio=1.0).fit(X, y, offset=np.full(len(y), 100.0))
    assert_allclose(moved.intercept_, plain.intercept_ - 100.0, rtol=1e-9)
    assert_allclose(moved.coef_, plain.coef_, atol=1e-7)
    assert plain.coef_.any()


@pytest.mark.parametrize("shape", [(300, 8), (60, 90)], ids=["tall", "wide"])
@pytest.mark.parametrize("most", [0, 1, 2])
def test_max_iter_limits_the_steps_and_a_warning_tells_it(shape, most):
    X, y = sample(*shape)
    with pytest.warns(ConvergenceWarning, match=f"after {most} steps.*max_iter is {most}"):
        model = LogisticRegression(l1_ratio=1.0, C=10.0, max_iter=most).fit(X, y)
    assert model.n_iter_.tolist() == [most]
    assert model.coef_.any() == (most > 0)


def test_with_thousands_of_words_a_summary_does_not_wait_for_standard_errors():
    rng = np.random.default_rng(0)
    x = sparse.random(6000, 3500, 0.002, format="csr", random_state=0, data_rvs=lambda n: rng.integers(1, 4, n) * 1.0)
    model = LogisticRegression().fit(x, rng.integers(0, 2, 6000))
    told = model.summary()
    assert np.isnan(told.std_error).all()
    assert np.isnan([told.aic, told.bic]).all()
    assert told.coef[1:] == pytest.approx(model.coef_[0])
    assert "left out, with AIC and BIC: of 3,501 coefficients" in " ".join(str(told).split())
