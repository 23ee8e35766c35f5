"""Formulas in model files: the same columns without code."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from discrim import LinearDiscriminantAnalysis, LogisticRegression, scan
from discrim.basis.formula_plan import FormulaPlan
from discrim.errors import DataError, ModelFileError
from discrim.store.fields import Incoming
from discrim.store.files import from_bytes, to_bytes

pytest.importorskip("formulaic")


@pytest.fixture(scope="module")
def table():
    rng, n = np.random.default_rng(0), 150
    found = pd.DataFrame({
        "x": rng.normal(5, 1, n), "z": rng.normal(size=n), "j": rng.choice(["a", "b", "c"], n),
        "h": rng.choice(["u", "v"], n), "my col": rng.normal(size=n), "yr": rng.integers(1, 4, n),
    })  # fmt: skip
    return found.assign(y=np.where(found.x + found.z + rng.normal(size=n) > 5, "yes", "no"))


def again(model, **options):
    return from_bytes(bytearray(to_bytes(model, **options)))


@pytest.mark.parametrize("formula", [
    "x * C(j, ref='b') + poly(log(x), 2) + center(x):scale(z) + I(x**2) + C(yr)", "j - 1 + x:j", "x * j * h + yr",
    "bs(z, df=5) + standardize(x) + np.exp(z)", "poly(x, 3, raw=True) + np.maximum(z, 0) + np.sqrt(x)",
    "bs(x, df=6, degree=2, include_intercept=True, extrapolation='clip')", "C(j, contr.sum) + x:z:yr + {x / z}",
    "np.log(`my col`**2) + j:yr + I(-z * 2.5)", "np.floor(x) + abs(z)", "poly(x, 2):j", ".",
])  # fmt: skip
def test_a_formula_answers_the_same_bits_after_a_file(formula, table):
    model = LogisticRegression.from_formula(f"y ~ {formula}", table, C=1.0)
    loaded, new = again(model), table.sample(60, random_state=1)
    assert np.array_equal(loaded.predict_proba(new), model.predict_proba(new))
    assert np.array_equal(loaded.basis_.transform(new), model.basis_.transform(new))
    assert str(loaded.summary()) == str(model.summary())
    assert to_bytes(loaded) == to_bytes(model)


def test_any_model_and_container_and_the_smaller_model_of_step(table, tmp_path):
    model = LinearDiscriminantAnalysis.from_formula("y ~ x + j + z", table)
    table.to_csv(tmp_path / "t.csv", index=False)
    rows = scan(tmp_path / "t.csv")
    assert np.array_equal(again(model).predict(rows), model.predict(rows))
    chosen = LogisticRegression.from_formula("y ~ x + j + z + h", table, C=np.inf).step()
    assert np.array_equal(again(chosen).predict_proba(table), chosen.predict_proba(table))
    assert again(chosen).formula == chosen.formula


def test_levels_that_are_new_and_columns_that_lack_are_named(table):
    loaded = again(LogisticRegression.from_formula("y ~ x + j + C(yr)", table))
    with pytest.raises(DataError, match="Column 'j' holds 1 level that the model has not seen: 'd'"):
        loaded.predict(table.assign(j="d"))
    with pytest.raises(DataError, match=r"holds levels that the model has not seen: \{9\}"):
        loaded.predict(table.assign(yr=9))
    with pytest.raises(DataError, match="The formula uses 'x', which these rows lack"):
        loaded.predict(table.drop(columns="x"))
    splines = again(LogisticRegression.from_formula("y ~ bs(x, df=4)", table))
    with pytest.raises(DataError, match="Values of a spline of the formula lie outside of"):
        splines.predict(table.assign(x=99.0))


def test_a_function_that_is_code_is_named(table):
    for part in ("cs(x, df=4)", "np.linalg.norm(x)", "x.clip(0)"):
        try:
            model = LogisticRegression.from_formula(f"y ~ z + {part}", table)
        except DataError:
            continue
        with pytest.raises(ModelFileError, match="of the formula cannot be saved: a model file holds no code"):
            to_bytes(model)
    model = LogisticRegression.from_formula("y ~ z + C(x > 5)", table)
    with pytest.raises(ModelFileError, match=r"The part 'C.x > 5.' of the formula cannot be saved"):
        to_bytes(model)


@pytest.mark.parametrize("node", [
    ["function", "load", ["column", "x"]], ["call", "os.system"], ["column"], ["column", 3], ["number", 1 << 40],
    ["sign", "add", ["column", "x"]], ["powers", ["column", "x"], 10**6], ["levels", "j", ["a"], [[1.0]]], [], "x",
    ["splines", ["column", "x"], np.array([0.0, 1.0]), 3, 1, "raise"], ["units", ["column", "x"], 0.0, 0],
    ["poly", ["column", "x"], np.array([1.0]), np.array([1.0, -1.0])],
])  # fmt: skip
def test_what_is_no_description_is_refused(node):
    with pytest.raises(ModelFileError):
        FormulaPlan([node], [[1.0, [0]]]).check_stored(Incoming({}))
    with pytest.raises(ModelFileError):
        FormulaPlan([["column", "x"]], [[1.0, [1]]]).check_stored(Incoming({}))
