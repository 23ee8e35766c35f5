"""The steps of Newton's method, against iteratively reweighted least squares written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import LogisticRegression, datasets
from discrim.errors import DataError

X, Y = datasets.load_iris().xy
X, LABELS = X[50:], (Y[50:] == Y[-1]).astype(int)


def reweighted(X, y, steps, ridge=0.0):
    """beta <- (X'WX + R)^-1 (X'W z) with z = X beta + (y - mu) / w, from zero."""
    design = np.column_stack([np.ones(len(X)), X])
    penalty = np.diag([0.0, *[ridge] * X.shape[1]])
    beta = np.zeros(design.shape[1])
    way = [beta]
    for _ in range(steps):
        mu = 1.0 / (1.0 + np.exp(-design @ beta))
        w = mu * (1.0 - mu)
        z = design @ beta + (y - mu) / w
        beta = np.linalg.solve(design.T @ (w[:, None] * design) + penalty, design.T @ (w * z))
        way.append(beta)
    return np.array(way)


@pytest.mark.parametrize("C", [np.inf, 0.5])
def test_each_step_is_one_of_reweighted_least_squares(C):
    model = LogisticRegression(C=C).fit(X, LABELS)
    trace = model.trace_
    way = reweighted(X, LABELS, len(trace) - 1, 0.0 if np.isinf(C) else 1.0 / C)
    assert_allclose(np.column_stack([trace.intercept, trace.coef]), way, rtol=1e-6, atol=1e-7)
    assert_allclose(trace.coef[-1], model.coef_[0], rtol=1e-5)
    assert trace.loss[0] == pytest.approx(len(X) * np.log(2.0))
    assert (np.diff(trace.loss) < 1e-9).all()


def test_the_deviance_at_the_end_is_that_of_the_summary():
    model = LogisticRegression(C=np.inf).fit(X, LABELS)
    assert 2.0 * model.trace_.loss[-1] == pytest.approx(model.summary().deviance, abs=1e-6)


def test_of_several_classes_the_way_ends_at_the_coefficients():
    rows, labels = datasets.load_iris().xy
    model = LogisticRegression(tol=0).fit(rows, labels)
    trace = model.trace_
    assert trace.coef.shape == (len(trace), 3, 4)
    assert_allclose(trace.coef[-1], model.coef_, atol=1e-6)


def test_it_is_refused_where_newton_did_not_find_the_fit_or_the_rows_are_gone():
    lasso = LogisticRegression(l1_ratio=1.0, solver="saga", C=0.5).fit(X, LABELS)
    with pytest.raises(DataError, match="penalty: l1"):
        _ = lasso.trace_
    import pickle

    copy = pickle.loads(pickle.dumps(LogisticRegression().fit(X, LABELS)))
    with pytest.raises(DataError, match="needs the rows"):
        _ = copy.trace_
