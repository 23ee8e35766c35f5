"""Tables as people bring them, with one defect each: the plain call chooses as well as without it, and says so.

Each is a small table of the shape and the defect of a public one on which a first comparison may go wrong.
"""

from __future__ import annotations

import io
import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import discrim
from discrim import compare
from discrim.comparison.compared_rows import read_rows
from discrim.comparison.comparing import candidates_for
from discrim.comparison.given import Given
from discrim.comparison.plan import plan
from discrim.errors import DataError

N = 400


def credit():
    """Amounts beside codes and a category, and whether a client paid."""
    rng = np.random.default_rng(0)
    late = rng.integers(0, 3, (N, 3))
    table = pd.DataFrame(
        {
            "LIMIT": np.exp(rng.normal(11.0, 1.0, N)),
            "SEX": np.where(rng.random(N) < 0.5, "f", "m"),
            "AGE": rng.integers(21, 70, N),
            "PAY_1": late[:, 0],
            "PAY_2": late[:, 1],
            "PAY_3": late[:, 2],
            "BILL": np.exp(rng.normal(9.0, 1.5, N)),
            "PAID": np.exp(rng.normal(8.0, 1.5, N)),
        }
    )
    score = 1.6 * late[:, 0] + 0.8 * late[:, 1] - 0.08 * (table["AGE"] - 45) + (table["SEX"] == "f") - 3.4
    return table, np.where(rng.random(N) < 1 / (1 + np.exp(-2 * score)), "default", "paid")


TABLE, PAID = credit()
BY_CLASS = np.argsort(PAID, kind="stable")
DAYS = pd.date_range("2019-01-01", periods=N)
IDS = np.random.default_rng(1).choice(9000, N, replace=False) + 10_000


def sorted_by_class(**more):
    return TABLE.iloc[BY_CLASS].reset_index(drop=True).assign(**more), PAID[BY_CLASS]


def written_with_its_index():
    file = io.StringIO()
    table, y = sorted_by_class()
    table.to_csv(file)
    file.seek(0)
    return pd.read_csv(file), y


def age(values):
    return TABLE.assign(AGE=values), PAID


def gaps():
    return age(TABLE["AGE"].where(np.random.default_rng(0).random(N) >= 0.03))


def unknown_age():
    return age(["unknown" if i == 7 else str(value) for i, value in enumerate(TABLE["AGE"])])


def figures(found):
    return found.chosen, found.table.loc[found.chosen, "error"]


@pytest.fixture(scope="module")
def plain(quick_comparisons):
    """The table without a defect, and the same in the order of the classes."""
    return compare(TABLE, PAID), compare(*sorted_by_class())


# What is left out changes nothing, so all figures are those of the table without it.
LEFT_OUT = {
    "index of pandas": (written_with_its_index, True, "Column 'Unnamed: 0' counts the rows (0 to 399 in 400 rows)"),
    "integer id": (
        lambda: sorted_by_class(customer_id=np.sort(IDS)),
        True,
        "Column 'customer_id' identifies the rows (400 different whole numbers in 400 rows) and is left out",
    ),
    "dates": (lambda: (TABLE.assign(since=DAYS), PAID), False, "Column 'since' holds dates or times and is left out"),
    "dates as text": (
        lambda: (TABLE.assign(since=DAYS.strftime("%d.%m.%Y")), PAID),
        False,
        "Column 'since' holds dates or times and is left out",
    ),
}


@pytest.mark.parametrize("defect", list(LEFT_OUT))
def test_columns_that_are_no_features_change_nothing(defect, plain):
    make, in_order, sentence = LEFT_OUT[defect]
    (table, y), without = make(), plain[int(in_order)]
    found = compare(table, y)
    assert figures(found) == figures(without)
    assert any(remark.startswith(sentence) for remark in found.remarks)
    # The best model takes rows as they were given.
    assert found.best.predict(table).tolist() == without.best.predict(table[list(TABLE)]).tolist()


# What is mended may cost a little.
MENDED = {
    "amounts in any unit": (
        lambda: (TABLE.assign(LIMIT=TABLE["LIMIT"] * 1e9, BILL=TABLE["BILL"] * 1e-21), PAID),
        0.0,
        "Ridge, Lasso and Logistic were fitted to standardised columns, so units do not matter.",
    ),
    "sorted by class": (sorted_by_class, 0.01, "The rows are sorted by class"),
    "3% missing": (gaps, 0.02, "Missing values in 'AGE' (12 of 400) were filled in inside the folds"),
    "one unknown": (
        unknown_age,
        0.01,
        "Column 'AGE' holds numbers besides 'unknown' (1 row) and is read as numbers; the others count as missing.",
    ),
}


@pytest.mark.parametrize("defect", list(MENDED))
def test_what_is_mended_costs_little(defect, plain):
    make, most, sentence = MENDED[defect]
    table, y = make()
    found = compare(table, y)
    assert figures(found)[1] == pytest.approx(figures(plain[0])[1], abs=most + 1e-12)
    assert figures(found)[1] < found.table.loc["Baseline", "error"] - 0.25
    assert all(row.done for row in found.rows)
    assert any(remark.startswith(sentence) for remark in found.remarks)
    assert set(found.best.predict(table.iloc[:5])) <= {"default", "paid"}


def test_different_numbers_that_give_the_class_away_are_named_where_nothing_says_that_they_are_ids():
    verdict = compare(*sorted_by_class(customer=np.sort(IDS))).verdict
    assert "Column 'customer' (0.25% errors) alone predicts the class almost without error" in verdict


@pytest.mark.parametrize(
    ("values", "kind"), [(np.random.default_rng(0).integers(0, 5000, N), "number"), (DAYS.to_numpy(), "date")]
)
def test_a_target_in_a_table_that_is_no_class_is_named_with_what_may_be_meant(values, kind):
    rows = discrim.scan(
        pa.table({**{name: pa.array(TABLE[name]) for name in TABLE}, "AMOUNT": values}), target="AMOUNT"
    )
    found = f"The target 'AMOUNT' holds .* different {kind}s in 400 rows: it looks like a {kind}, not like classes."
    with pytest.raises(DataError, match=rf"{found} Did you mean 'SEX'\?"):
        compare(rows)


def test_speech_with_more_columns_than_rows_in_units_from_1e_minus_21_to_1e9():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    x = rng.normal(size=(60, 120)) + 1.4 * y[:, None] * (np.arange(120) < 12)
    units = 10.0 ** rng.integers(-21, 10, 120)
    first, second = (compare(rows, y, ["Ridge", "Lasso", "Logistic", "LDA"], cv=4) for rows in (x, x * units))
    assert figures(first) == figures(second)
    assert figures(second)[1] < 0.2


def test_expressions_of_few_patients_are_tuned_without_a_matrix_of_the_genes_and_a_tie_is_said_to_be_one():
    """Leukemia, 85 x 12,625: a matrix of all genes for each class would take gigabytes."""
    rng, p = np.random.default_rng(0), 3000
    y = np.repeat(["B", "T"], [30, 10])
    x = rng.normal(size=(40, p)) + 3.0 * (y == "T")[:, None] * (np.arange(p) < 300)
    tracemalloc.start()
    found = compare(x, y, ["LDA, shrunken", "Bayesian LDA", "RDA", "Nearest centroid"], cv=5, reference=None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * p * p
    assert found.table.loc[found.chosen, "error"] == 0.0
    assert "makes no error on held-out rows" in found.verdict
    assert f"{found.chosen} is chosen: like " in found.verdict


@pytest.mark.parametrize("shape", ["pictures", "news"])
def test_many_columns_and_classes_are_planned_within_the_budget(shape):
    """Pictures of 3,000 x 784 in ten classes; word counts of 3,000 x 10,684 in eight."""
    rng, y = np.random.default_rng(0), np.arange(3000) % 10
    x = rng.integers(0, 255, (3000, 784)).astype(float)
    if shape == "news":
        words, y = rng.integers(0, 10_684, 3000 * 45), np.arange(3000) % 8
        x = sparse.csr_matrix((np.ones(len(words)), words, np.arange(0, len(words) + 1, 45)), shape=(3000, 10_684))
    rows = read_rows(Given(x, y))
    planned = plan(candidates_for(None, rows), rows, 60)
    take_part = [one for one in planned if not one.why_not]
    assert {"Multinomial NB", "Complement NB"} <= {one.name for one in take_part}
    assert 1 < sum(one.seconds for one in take_part) <= 60
    left_out = {one.name: one.why_not for one in planned if one.why_not}
    if shape == "pictures":
        assert left_out["RDA"].startswith("it would take about 2 min here, too much beside the others for the budget")
    else:
        assert "Logistic" not in left_out


def test_rda_is_tuned_where_a_rare_column_has_one_value_in_the_rows_that_choose(quick_comparisons):
    """Of many rows some choose the setting, and a column may have no variance in a training part of these."""
    rng, n = np.random.default_rng(0), 24_000
    codes = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 3)) @ np.array([[1, 0.9, 0], [0, 0.3, 0], [0, 0, 1]]) + 0.4 * codes[:, None] * [1, -1, 0]
    rare = np.zeros(n)
    rare[rng.choice(n, 8, replace=False)] = 1
    found = compare(np.column_stack([x, rare]), codes, ["LDA", "RDA"])
    assert found.table.loc["RDA", "error"] <= found.table.loc["LDA", "error"] + 0.005
    assert found.table.loc["RDA", "tuned"] == "alpha=0, gamma=1"
