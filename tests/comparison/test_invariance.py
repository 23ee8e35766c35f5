"""What a comparison must not depend on: the order and names of columns, the names of classes, columns that say nothing.

Units are in ``test_units``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from discrim import compare

N = 240
MODELS = ["LDA", "Bayesian QDA", "RDA", "Lasso", "Logistic", "Mixed NB"]
FIGURES = ["error", "log_loss", "auc", "parameters"]


def survey(seed=0):
    """Numbers, codes, a category and three classes, in no order."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, N)
    table = pd.DataFrame(
        {
            "income": np.exp(rng.normal(10, 1, N) + 0.5 * (codes == 1)),
            "age": rng.integers(18, 80, N) + 10 * (codes == 2),
            "visits": rng.poisson(2 + codes),
            "region": rng.choice(["north", "south", "west"], N),
            "score": rng.normal(size=N) + 1.2 * (codes == 0),
        }
    )
    return table, np.array(["stay", "leave", "wait"])[codes]


TABLE, Y = survey()


@pytest.fixture(scope="module")
def plain(quick_comparisons):
    return compare(TABLE, Y, MODELS)


def assert_same(found, plain, names=None):
    """To printed digits, of all models."""
    assert found.chosen == plain.chosen
    ours, theirs = found.table, plain.table
    for figure in FIGURES:
        np.testing.assert_allclose(
            ours.loc[theirs.index, figure].to_numpy(float), theirs[figure].to_numpy(float), rtol=1e-5, atol=1e-6
        )
    for old, new in (names or {label: label for label in plain.classes}).items():
        np.testing.assert_allclose(
            ours.loc[theirs.index, f"recall {new}"].to_numpy(float), theirs[f"recall {old}"].to_numpy(float), atol=1e-6
        )


def test_the_order_of_columns_changes_nothing(plain):
    assert_same(compare(TABLE[["region", "score", "visits", "income", "age"]], Y, MODELS), plain)


def test_the_names_of_columns_change_nothing(plain):
    found = compare(TABLE.rename(columns={"age": "z", "income": "Income (EUR)", "region": "0"}), Y, MODELS)
    assert_same(found, plain)


def test_the_names_of_levels_change_nothing_but_the_indicators(plain):
    region = TABLE["region"].map({"north": "a north", "south": "b south", "west": "c west"})
    assert_same(compare(TABLE.assign(region=region), Y, MODELS), plain)


def test_other_names_of_classes_in_the_same_order_change_nothing_else(plain):
    names = {"leave": "10 gone", "stay": "20 here", "wait": "30 ?"}
    found = compare(TABLE, np.array([names[label] for label in Y]), MODELS)
    assert_same(found, plain, names)
    assert found.best.predict(TABLE).tolist() == [names[label] for label in plain.best.predict(TABLE)]


@pytest.mark.parametrize(
    ("name", "values"),
    [("row", np.arange(1, N + 1)), ("Unnamed: 0", np.arange(N)), ("customer_id", np.arange(N)[::-1] * 7 + 10_000)],
)
def test_a_column_that_numbers_the_rows_changes_nothing(plain, name, values):
    assert_same(compare(TABLE.assign(**{name: values}), Y, MODELS), plain)


def test_a_constant_and_a_copy_change_nothing(plain):
    assert_same(compare(TABLE.assign(year=2026, again=TABLE["score"]), Y, MODELS), plain)


def test_the_order_of_classes_and_of_rows_changes_what_the_folds_change(plain):
    """Other folds are dealt then; the chosen error moves by less than its standard error."""
    chosen = plain.table.loc[plain.chosen]
    error = (chosen["error_high"] - chosen["error_low"]) / 4
    order = np.random.default_rng(1).permutation(N)
    for table, y in ((TABLE.iloc[order].reset_index(drop=True), Y[order]), (TABLE, np.char.add("x", Y[:]))):
        found = compare(table, np.where(y == "xwait", "a", y), MODELS)
        assert abs(found.table.loc[found.chosen, "error"] - chosen["error"]) < error


def test_one_value_in_twenty_missing_at_random_changes_little(plain):
    rng = np.random.default_rng(2)
    gaps = TABLE.mask(rng.random(TABLE.shape) < 0.05)
    found = compare(gaps, Y, MODELS)
    assert all(row.done for row in found.rows)
    chosen = plain.table.loc[plain.chosen]
    error = (chosen["error_high"] - chosen["error_low"]) / 4
    assert found.table.loc[found.chosen, "error"] - chosen["error"] < 2 * error
