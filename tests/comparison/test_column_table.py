"""The table of decisions about columns: every kind is named, every decision can be taken otherwise."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discrim import compare

N = 240
RNG = np.random.default_rng(0)
Y = np.where(np.arange(N) % 3 == 0, "yes", "no")
SHIFT = (Y == "yes") * 1.5
NUMBER = np.round(RNG.normal(size=N) + SHIFT, 3)


def table():
    """A column of every kind."""
    return pd.DataFrame(
        {
            "Unnamed: 0": np.arange(N),
            "patient_id": RNG.permutation(N) + 4000,
            "dose": NUMBER,
            "grade": RNG.integers(1, 5, N),
            "site": np.where(np.arange(N) % 4 < 2, "north", "south"),
            "town": [f"t{i % 60}" if i % 2 else "t0" for i in range(N)],
            "size": [*(f"{v:.2f}" for v in RNG.normal(size=N - 2)), "unknown", "3.1"],
            "ward": np.where(np.arange(N) % 8 == 0, "?", np.where(np.arange(N) % 5 < 2, "a", "b")),
            "day": [dt.date(2026, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 300, N)],
            "letter": [f"patient {i} came early and left" for i in range(N)],
            "bed": [f"b{i}" for i in range(N)],
            "empty": np.full(N, np.nan),
            "same": np.ones(N),
            "again": NUMBER,
            "answer": (Y == "yes") * 1.0,
            "age": np.where(np.arange(N) % 12 == 0, np.nan, RNG.normal(size=N)),
        }
    )


KINDS = {
    "Unnamed: 0": ("row number", "left out"),
    "patient_id": ("identifier", "left out"),
    "dose": ("number", "used"),
    "grade": ("number, 4 whole values", "used"),
    "site": ("category, 2 levels", "1 column of 0 and 1"),
    "town": ("category, 2 levels", "1 column of 0 and 1, rare levels together"),
    "size": ("number", "used; 1 gap filled in"),
    "ward": ("category, 2 levels", "1 column of 0 and 1; 30 gaps filled in"),
    "day": ("date", "left out"),
    "letter": ("free text", "left out"),
    "bed": ("names or codes", "left out"),
    "empty": ("no value", "left out"),
    "same": ("one value", "left out"),
    "again": ("copy", "left out"),
    "answer": ("number", "used"),
    "age": ("number", "used; 20 gaps filled in and marked"),
}


@pytest.fixture(scope="module")
def found(quick_comparisons):
    return compare(table(), Y, ["LDA"])


def test_every_kind_of_column_is_named_with_what_was_done(found):
    assert {c.name: (c.taken_for, c.done) for c in found.columns} == KINDS


def test_many_alike_sentences_are_said_once(quick_comparisons):
    size = np.array([f"{v:.2f}" for v in RNG.normal(size=N)], dtype=object)
    texts = {f"s{j}": np.where(np.arange(N) == j, ".", size) for j in range(6)}
    texts["rare"] = np.array([f"level {i // 2}" for i in range(N)], dtype=object)
    remarks = compare(pd.DataFrame({"dose": NUMBER, **texts}), Y, ["LDA"], cv=3).remarks
    assert (
        "Column 's0' holds numbers besides '.' (1 row) and is read as numbers; the others count as missing." in remarks
    )
    assert "The same holds for 5 further columns: 's1', 's2', 's3', 's4', 's5'." in remarks
    assert any("levels: none has 5 rows, and all are one level, '(rare)'." in remark for remark in remarks)


def test_reasons_do_not_repeat_the_name(found):
    why = {c.name: c.why for c in found.columns}
    assert why["patient_id"].startswith("Identifies the rows (240 different whole numbers in 240 rows). types=")
    assert why["again"] == "Equals 'dose' in every row."
    assert why["answer"] == "Alone predicts the class with 0.0% errors."
    assert why["town"].startswith("Has 31 levels: the most frequent is kept")
    assert why["dose"] == ""


def test_it_prints_in_80_columns_and_is_a_frame_and_a_page(found, tmp_path):
    lines = str(found.columns).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split()[:2] == ["Unnamed:", "0"]
    assert found.columns.to_frame().loc["day", "taken_for"] == "date"
    page = found.report(tmp_path / "out.html").read_text()
    assert all(f"<th>{name}</th><td>{kind}</td>" in page for name, (kind, _) in KINDS.items())


def test_plain_numbers_are_counted_where_there_are_many():
    x = pd.DataFrame(RNG.normal(size=(90, 40)) + (np.arange(90) % 2)[:, None], columns=[f"c{j}" for j in range(40)])
    found = compare(x.assign(kind=np.where(x["c0"] > 0.5, "u", "v")), np.arange(90) % 2, ["LDA"])
    assert len(found.columns) == 41
    assert len(found.columns.shown) == 1
    assert "40 further columns are numbers and are used as they are." in " ".join(str(found.columns).split())


def test_every_decision_can_be_taken_otherwise():
    types = {"patient_id": "number", "Unnamed: 0": "number", "grade": "category", "day": "number", "ward": "category"}
    found = compare(table(), Y, ["LDA"], types=types, without=["answer", "site"])
    seen = {c.name: (c.taken_for, c.done) for c in found.columns}
    assert seen["patient_id"] == seen["Unnamed: 0"] == ("number", "used")
    assert seen["grade"] == ("category, 4 levels", "3 columns of 0 and 1")
    assert seen["day"] == ("date", "days since 1970")
    assert seen["ward"] == ("category, 3 levels", "2 columns of 0 and 1")
    assert seen["answer"] == seen["site"] == ("not asked", "left out")
    assert found.columns[1].why.startswith("Read as a number, as asked for.")


@pytest.mark.parametrize("mark", ["?", "N/A", ""])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_marks_of_missing_values_in_a_category_count_as_missing(mark, frame):
    gaps = np.arange(N) % 8 == 0
    ward = np.where(NUMBER > 0.4, "a", "b").astype(object)
    marked, missing = ward.copy(), ward.copy()
    marked[gaps], missing[gaps] = mark, None
    tables = (frame({"dose": NUMBER, "ward": values.tolist()}) for values in (marked, missing))
    ours, theirs = (compare(table, Y, ["LDA", "Mixed NB"]) for table in tables)
    assert ours.table["error"].to_dict() == theirs.table["error"].to_dict()
    assert ours.table["log_loss"].to_dict() == pytest.approx(theirs.table["log_loss"].to_dict(), rel=1e-12)
    assert f"Column 'ward': '{mark}' (30 rows) counts as missing; types= makes it a level." in ours.remarks
    assert (
        ours.best.predict(frame({"dose": [0.1], "ward": [mark]})).tolist()
        == theirs.best.predict(frame({"dose": [0.1], "ward": pd.Series([None], dtype=object).tolist()})).tolist()
    )


@pytest.mark.parametrize("level", ["unknown", "none", "-"])
def test_words_that_may_be_levels_stay_levels(level):
    ward = np.where(np.arange(N) % 8 == 0, level, np.where(NUMBER > 0.4, "a", "b"))
    found = compare(pd.DataFrame({"dose": NUMBER, "ward": ward}), Y, ["LDA"])
    assert found.columns[1].taken_for == "category, 3 levels"


def test_columns_of_an_array_keep_their_places_where_others_are_left_out():
    x = RNG.normal(size=(N, 6)) + SHIFT[:, None]
    x[:, 0], x[:, 3] = np.nan, 7.0
    found = compare(x, Y, ["LDA"], without=["x1"])
    kept = compare(x[:, [2, 4, 5]], Y, ["LDA"])
    assert [c.name for c in found.columns if c.done == "left out"] == ["x0", "x1", "x3"]
    assert found.table.loc["LDA", "error"] == kept.table.loc["LDA", "error"]
    assert set(found.best.without) == {"x0", "x1", "x3"}
    assert found.best.predict(x).tolist() == kept.best.predict(x[:, [2, 4, 5]]).tolist()
