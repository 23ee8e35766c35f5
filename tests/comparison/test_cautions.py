"""What makes figures too good: columns that give the class away, rows that belong together, rare classes."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from discrim import compare, datasets
from discrim.comparison.cautions import column_error
from discrim.errors import DataError

X, y = datasets.load_iris().xy


def drawn(n=300, seed=0, p=4):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    return rng.normal(size=(n, p)) + 0.7 * labels[:, None], labels, rng


def test_a_column_that_alone_predicts_the_class_is_named_in_the_verdict():
    x, labels, rng = drawn()
    assert "alone predicts" not in compare(x, labels, ["LDA"]).verdict
    x[:, 2] = 5.0 * labels + rng.random(300)
    verdict = compare(x, labels, ["LDA"]).verdict
    assert re.search(r"Column 'x2' \(0.*% errors\) alone predicts the class almost without error", verdict)


def test_a_category_or_gaps_may_give_the_class_away():
    pd = pytest.importorskip("pandas")
    x, labels, _ = drawn()
    frame = pd.DataFrame(x, columns=list("abcd"))
    frame["end"] = pd.Categorical(np.where(labels == 1, np.where(x[:, 0] > 0, "died", "left"), "stayed"))
    assert "Column 'end' (0.0% errors) alone predicts" in compare(frame, labels, ["LDA"]).verdict
    frame = pd.DataFrame(x, columns=list("abcd"))
    frame.loc[labels == 1, "c"] = np.nan
    assert "Column 'c' (0.0% errors) alone predicts" in compare(frame, labels, ["LDA"]).verdict


def test_no_row_counts_for_itself():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 400).astype(np.int32)
    assert column_error(rng.normal(size=400), codes, False) > 0.4
    assert column_error(np.arange(400.0), codes, True) > 0.9  # a level of its own for every row
    assert column_error(codes.astype(float), codes, True) == 0.0


def test_rows_in_an_order_that_predicts_the_class_are_noticed():
    x, labels, rng = drawn(600)
    assert "their order predicts" not in compare(x, labels, ["LDA"]).verdict
    runs = np.repeat(rng.integers(0, 2, 60), 10)
    assert "Rows next to each other are of one class more often than by chance" in compare(x, runs, ["LDA"]).verdict
    assert any(said.startswith("The rows are sorted by class") for said in compare(X, y, ["LDA"]).remarks)
    assert "their order" not in compare(x, runs, ["LDA"], groups=np.arange(600) // 10).verdict


def test_copies_are_counted_and_those_of_another_class_too():
    x, labels, _ = drawn()
    found = compare(np.vstack([x, x[:30]]), np.concatenate([labels, 1 - labels[:30]]), ["LDA"])
    text = "30 rows of 330 are copies of another in all columns, and copies stay in one fold; 30 of them have another"
    assert any(said.startswith(text) for said in found.remarks)
    assert not any("another in all columns" in said for said in compare(x, labels, ["LDA"]).remarks)


def test_a_number_of_the_row_in_an_array_is_worth_a_sentence():
    x, labels, rng = drawn()
    x[:, 1] = rng.permutation(300)
    assert any("'x1' looks like a number of the row" in said for said in compare(x, labels, ["LDA"]).remarks)


def test_a_rare_class_has_its_recall_in_the_verdict():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(1000) < 0.03, "ill", "well")
    x = rng.normal(size=(1000, 3)) + 1.5 * (labels == "ill")[:, None]
    found = compare(x, labels, ["LDA", "QDA"])
    row = found.table.loc[found.chosen]
    share = (labels == "ill").mean()
    assert f"finds {row['recall ill']:.0%} of 'ill' ({share:.1%} of the rows)" in found.verdict
    assert "metric='balanced_error'" in found.verdict
    assert "metric='balanced_error'" not in compare(x, labels, ["LDA"], metric="balanced_error").verdict
    assert "of the rows)" not in compare(X, y, ["LDA"]).verdict


def test_few_rows_and_leave_one_out_have_their_sentences():
    rows = np.r_[0:12, 50:62, 100:112]
    found = compare(X[rows], y[rows], ["LDA"], cv="loo")
    assert any("With 36 rows no interval here keeps its level" in said for said in found.remarks)
    assert any("Leaving out one row makes its class rarer" in said for said in found.remarks)
    assert not any("keeps its level" in said or "Leaving out" in said for said in compare(X, y, ["LDA"]).remarks)


def test_whole_numbers_that_differ_in_every_row_are_worth_a_sentence_whatever_their_name():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"ash": rng.normal(size=60), "customer": rng.permutation(900_000)[:60]})
    y = rng.integers(0, 2, 60)
    found = compare(frame, y, models=["LDA"], reference=None)
    (said,) = [remark for remark in found.remarks if "customer" in remark]
    assert "another whole number in every row" in said
    assert "without=['customer']" in said
    found = compare(frame.assign(customer=frame["customer"] // 100_000), y, models=["LDA"], reference=None)
    assert not any("every row" in remark for remark in found.remarks)


def test_a_model_that_is_not_better_than_the_baseline_is_called_the_best_nowhere():
    rng = np.random.default_rng(0)
    found = compare(rng.normal(size=(120, 6)), np.where(np.arange(120) < 18, "rare", "common"), ["LDA", "QDA"])
    assert found.chosen == "Baseline"
    assert found.table.loc["LDA", "error"] > found.table.loc["Baseline", "error"]
    assert "the nearest of 2, LDA, has" in found.verdict
    assert " best " not in str(found).replace("vs best", "").replace("the best;", "")


def test_groups_that_are_classes_are_refused_and_a_class_in_one_group_is_named():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 2)), np.repeat(["u", "v", "w"], 30)
    with pytest.raises(
        DataError, match=r"The groups hold whole classes \('u' in 'u', 'v' in 'v', 'w' in 'w'\): a model"
    ):
        compare(x, y, ["LDA"], groups=y)
    groups = np.where(y == "u", "first", np.array(["a", "b", "c"])[np.arange(90) % 3])
    found = compare(x, y, ["LDA"], groups=groups)
    assert "One class is in a single group ('u' in 'first'): no model judged there" in " ".join(found.remarks)
    assert found.table.loc["LDA", "recall u"] == 0.0


@pytest.mark.parametrize("form", ["frame", "array"])
def test_columns_that_all_have_one_value_are_an_error_in_words(form):
    x = np.ones((20, 2))
    with pytest.raises(DataError, match=r"There is no column left to learn from. Columns '.*' have one value in all"):
        compare(pd.DataFrame(x, columns=["a", "b"]) if form == "frame" else x, np.arange(20) % 2)


def test_numbers_that_are_read_as_one_are_not_said_to_be_one():
    x = pd.DataFrame({"a": np.random.default_rng(0).normal(size=40), "hash": 1e24, "same": 1.0})
    said = " ".join(compare(x, np.arange(40) % 2, ["LDA"]).remarks)
    assert "Column 'hash' has one value in all rows, to the 15 digits that numbers are read with, and is left" in said
    assert "Column 'same' has one value in all rows and is left out." in said


def test_classes_without_any_variance_around_their_means_take_part():
    found = compare(pd.DataFrame({"k": list("aabbcc")}), list("uuuvvv"), ["LDA", "LDA, shrunken"])
    assert all(row.done for row in found.rows)


def test_copies_of_one_class_count_as_rows_and_the_table_says_so():
    x, labels, _ = drawn()
    found = compare(np.vstack([x, x[:60]]), np.concatenate([labels, labels[:60]]), ["LDA"], reference=None)
    assert any(
        "All have the class of what they copy, yet intervals and tests count every row" in r for r in found.remarks
    )
    found = compare(np.vstack([x, x[:3]]), np.concatenate([labels, labels[:3]]), ["LDA"], reference=None)
    assert not any("count every row" in said for said in found.remarks)


@pytest.mark.parametrize(("count", "rough"), [(12, True), (60, False)])
def test_the_number_of_groups_is_said_to_be_what_counts(count, rough):
    x, labels, _ = drawn()
    found = compare(x, labels, ["LDA"], groups=np.arange(300) % count, reference=None)
    (said,) = [one for one in found.remarks if "variance between" in one]
    assert said.startswith(f"Intervals and tests go by the variance between the {count} groups, not by rows.")
    assert ("take intervals as rough" in said) == rough
