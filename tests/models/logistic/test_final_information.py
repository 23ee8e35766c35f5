"""Standard errors belong to the final estimate, not to the point before the last Newton step."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from discrim import LogisticRegression, scan


def table(n, columns, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns)) * rng.uniform(0.5, 3.0, columns)
    eta = 0.4 * x[:, 0] - 0.7 * x[:, 1] - 0.5
    return x, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)


def textbook_errors(x, model, weight=1.0, ridge=0.0):
    """Square roots of the diagonal of H^-1 I H^-1 at the coefficients that the model reports."""
    z = np.column_stack([np.ones(len(x)), x])
    eta = z @ np.concatenate([model.intercept_, model.coef_[0]])
    mu = 1 / (1 + np.exp(-eta))
    information = z.T @ ((weight * mu * (1 - mu))[:, None] * z)
    inverse = np.linalg.inv(information + np.diag([0.0] + [ridge] * x.shape[1]))
    return np.sqrt(np.diag(inverse @ information @ inverse))


def test_spector_agrees_with_statsmodels_to_rounding():
    sm = pytest.importorskip("statsmodels.api", reason="statsmodels has the data and the reference")
    data = sm.datasets.spector.load()
    x, y = np.asarray(data.exog, float), np.asarray(data.endog, int)
    known = sm.Logit(y, sm.add_constant(x)).fit(disp=0, tol=1e-14)
    found = LogisticRegression(C=np.inf).fit(x, y).summary()
    assert_allclose(found.coef, known.params, rtol=1e-12)
    assert_allclose(found.std_error, known.bse, rtol=1e-12)


@pytest.mark.parametrize("n", [40, 200, 1_000, 30_000, 200_000])
def test_standard_errors_are_those_of_the_reported_coefficients_at_any_size(n):
    x, y = table(n, 12 if n > 100 else 3, seed=n)
    model = LogisticRegression(C=np.inf).fit(x, y)
    assert_allclose(model.summary().std_error, textbook_errors(x, model), rtol=1e-10)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_so_are_those_of_a_penalised_fit(C):
    x, y = table(3_000, 6)
    model = LogisticRegression(C=C).fit(x, y)
    assert_allclose(model.summary().std_error, textbook_errors(x, model, ridge=1 / C), rtol=1e-10)


def test_so_are_those_of_a_scan(tmp_path):
    pl = pytest.importorskip("polars", reason="the file is written by polars")
    x, y = table(120_000, 4)
    frame = pl.DataFrame({f"x{j}": x[:, j] for j in range(4)} | {"y": y})
    frame.write_parquet(tmp_path / "rows.parquet")
    model = LogisticRegression(C=np.inf).fit(scan(tmp_path / "rows.parquet", target="y"))
    assert_allclose(model.summary().std_error, textbook_errors(x, model), rtol=1e-10)


def test_several_classes_are_read_again_too():
    x, y = table(400, 3)
    y = y + (np.random.default_rng(1).random(400) < 0.3)
    model = LogisticRegression(C=np.inf).fit(x, y)
    fitted = model._fitted
    z = np.column_stack([np.ones(len(x)), x])
    eta = np.column_stack([np.zeros(len(x)), *(z @ b for b in fitted.coef.reshape(2, -1))])
    p = np.exp(eta - eta.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    blocks = [[z.T @ ((p[:, i] * ((i == j) - p[:, j]))[:, None] * z) for j in (1, 2)] for i in (1, 2)]
    assert_allclose(fitted.std_error, np.sqrt(np.diag(np.linalg.inv(np.block(blocks)))), rtol=1e-10)


def test_a_copy_has_the_same_standard_errors_before_anybody_asked_for_them():
    x, y = table(200_000, 3)
    model = LogisticRegression(C=np.inf).fit(x, y)
    copied = pickle.loads(pickle.dumps(model))
    assert_allclose(copied.summary().std_error, textbook_errors(x, model), rtol=1e-10)
    assert_allclose(copied.vcov, model.vcov, rtol=1e-13)
