"""``RidgeClassifier(alpha="loo")`` and ``"cv"`` choose the penalty that scikit-learn's alpha means."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import RidgeClassifier as Peer
from sklearn.linear_model import RidgeClassifierCV

from discrim import RidgeClassifier, datasets
from discrim.errors import ParameterError

ALPHAS = [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3]


def wide():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    return rng.normal(size=(40, 90)) + 0.8 * y[:, None] * (np.arange(90) < 6), y


@pytest.mark.parametrize("table", [lambda: load_wine(return_X_y=True), lambda: datasets.load_iris().xy, wide])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_leaving_one_out_chooses_as_scikit_learn_does(table, weighted, fit_intercept):
    x, y = table()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(x)) if weighted else None
    ours = RidgeClassifier(alpha="loo", alphas=ALPHAS, fit_intercept=fit_intercept).fit(x, y, weight)
    peer = RidgeClassifierCV(alphas=ALPHAS, fit_intercept=fit_intercept).fit(x, y, weight)
    assert ours.alpha_ == peer.alpha_
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-6, atol=1e-9)


def test_the_errors_without_each_row_are_those_of_refitting():
    x, y = (each[::5] for each in load_wine(return_X_y=True))
    found = RidgeClassifier(alpha="loo", alphas=[1.0, 100.0]).fit(x, y).cv_results_
    signs = 2.0 * np.eye(3)[y] - 1.0
    for alpha, error in zip(found["alphas"], found["squared_error"][:, 0], strict=True):
        others = [Peer(alpha=alpha).fit(np.delete(x, i, 0), np.delete(y, i)) for i in range(len(x))]
        scores = np.array([one.decision_function(x[[i]])[0] for i, one in enumerate(others)])
        assert error == pytest.approx(np.square(scores - signs).mean(), rel=1e-9)


@pytest.mark.parametrize("how", ["cv", "loo"])
def test_fitting_again_with_alpha_gives_the_same_coefficients(how):
    x, y = load_wine(return_X_y=True)
    model = RidgeClassifier(alpha=how).fit(x, y)
    np.testing.assert_allclose(model.coef_, Peer(alpha=model.alpha_).fit(x, y).coef_, rtol=1e-6, atol=1e-12)
    assert str(model.alpha_) in str(model.summary())


def test_units_of_all_columns_together_change_the_alphas_and_not_the_choice():
    x, y = load_wine(return_X_y=True)
    first, second = (RidgeClassifier(alpha="cv").fit(x * unit, y) for unit in (1.0, 1e6))
    assert second.alpha_ == pytest.approx(first.alpha_ * 1e12)
    np.testing.assert_array_equal(first.predict(x), second.predict(x * 1e6))


def test_what_cannot_be_searched_is_refused():
    x, y = load_wine(return_X_y=True)
    with pytest.raises(ParameterError, match="no closed form for 'loo'"):
        RidgeClassifier(alpha="loo", class_weight="balanced").fit(x, y)
    with pytest.raises(ParameterError, match="alpha='cv' is not available with positive=True"):
        RidgeClassifier(alpha="cv", positive=True).fit(x, y)
    with pytest.raises(ParameterError, match="The 'alpha' parameter"):
        RidgeClassifier(alpha="best").fit(x, y)
    assert RidgeClassifier(alpha="cv", class_weight="balanced").fit(x, y).alpha_ > 0


def test_several_labels_choose_each_its_own():
    x, y = load_wine(return_X_y=True)
    labels = np.column_stack([y == 0, (y == 1) ^ (np.arange(len(y)) % 3 == 0)]).astype(int)
    model = RidgeClassifier(alpha="loo", alphas=ALPHAS).fit(x, labels)
    for k in range(2):
        assert model.alpha_[k] == RidgeClassifierCV(alphas=ALPHAS).fit(x, labels[:, k]).alpha_
