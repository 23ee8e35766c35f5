"""What goes with the rows of a comparison: labels, groups and times, as values or by the names of columns."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score

import discrim
from discrim.errors import DataError, FewRowsWarning, ParameterError

N = 120
RNG = np.random.default_rng(0)
LABELS = np.where(RNG.random(N) < 0.5, "no", "yes")
FRAME = pd.DataFrame({
    "number": np.arange(N) + 1000,
    "day": pd.date_range("2026-01-01", periods=N).astype(str),
    "age": RNG.normal(size=N) + 2.0 * (LABELS == "yes"),
    "job": RNG.choice(["clerk", "smith"], N),
    "town": RNG.choice(list("uvwxyz"), N),
})  # fmt: skip
FORMS = {
    "pandas": (lambda frame, y: (frame, y)),
    "polars": (lambda frame, y: (pl.from_pandas(frame), pl.Series(y))),
    "scan": (lambda frame, y: (discrim.scan(frame.assign(label=y), target="label"),)),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_name_in_the_place_of_groups_or_times_is_that_of_a_column_which_is_no_feature(form):
    rows = FORMS[form](FRAME, LABELS)
    for name, values in (("groups", FRAME["town"]), ("time", FRAME["day"])):
        found = discrim.compare(*rows, models=["LDA"], cv=4, **{name: values.name})
        without = FORMS[form](FRAME.drop(columns=values.name), LABELS)
        plain = discrim.compare(*without, models=["LDA"], cv=4, **{name: values})
        np.testing.assert_array_equal(found["LDA"].posterior, plain["LDA"].posterior)
        assert found.folds.tolist() == plain.folds.tolist()
        assert f"Column '{values.name}' holds the {name if name == 'groups' else 'times'}" in " ".join(found.remarks)
        assert found.best.predict(rows[0]).tolist() == plain.best.predict(rows[0]).tolist()


def test_a_name_that_is_none_of_the_columns_is_refused():
    with pytest.raises(ParameterError, match="groups names the column 'city'; the columns are 'number', 'day'"):
        discrim.compare(FRAME, LABELS, ["LDA"], groups="city")
    with pytest.raises(ParameterError, match="time names the column 'x0', and X has no named columns"):
        discrim.compare(FRAME[["age"]].to_numpy(), LABELS, ["LDA"], time="x0")


@pytest.mark.parametrize("form", FORMS)
def test_rows_without_a_label_are_dropped_with_those_that_lack_values(form):
    labels, frame = LABELS.astype(object), FRAME.copy()
    labels[3] = None
    frame.loc[[3, 5], "age"] = np.nan
    rows = FORMS[form](frame, pd.Series(labels) if form == "pandas" else labels)
    found = discrim.compare(*rows, models=["LDA"], missing="drop", time="day", cv=4)
    keep = np.setdiff1d(np.arange(N), [3, 5])
    plain = discrim.compare(FRAME.iloc[keep], LABELS[keep], ["LDA"], time="day", cv=4)
    assert found.n == N - 2
    assert found["LDA"].predicted.tolist() == plain["LDA"].predicted.tolist()
    assert {"1 row without a label was left out.", "1 row with a missing value was left out, and 118 remain."} <= {
        *found.remarks
    }
    with pytest.raises(DataError, match=r"1 of 120 are missing.* missing='drop', or --missing drop, leaves them out"):
        discrim.compare(*rows, models=["LDA"])


def test_best_needs_the_columns_that_it_uses_and_no_others():
    best = discrim.compare(FRAME, LABELS, ["Logistic"]).best
    expected = best.predict_proba(FRAME)
    for rows in (
        FRAME.drop(columns=["number", "day"]),
        FRAME.assign(label=LABELS)[["label", "town", "job", "age"]],
        pl.from_pandas(FRAME.drop(columns="day")),
        discrim.scan(FRAME.assign(label=LABELS).drop(columns="number")),
    ):
        assert best.predict_proba(rows).tolist() == expected.tolist()
    with pytest.raises(DataError, match=r"X lacks 'age', which the model was fitted on. It has 'number', 'day'"):
        best.predict(FRAME.drop(columns="age"))
    with pytest.raises(DataError, match=r"X has no names of columns.* with categories \('job', 'town'\)"):
        best.predict(FRAME.to_numpy())


def test_columns_of_an_array_are_those_of_their_places():
    x = np.column_stack([np.ones(N), FRAME["age"], RNG.normal(size=N)])
    best = discrim.compare(x, LABELS, ["LDA"]).best
    assert best.predict(x).tolist() == best.predict(x).tolist()
    with pytest.raises(ValueError, match="X has 2 features, but PreparedClassifier is expecting 3"):
        best.predict(x[:, 1:])


def test_a_formula_brings_its_labels():
    frame = FRAME.assign(label=LABELS)
    model = discrim.LogisticRegression.from_formula("label ~ age + job", frame)
    plain = discrim.cross_validate(discrim.FormulaClassifier("age + job", model.model), FRAME, LABELS)
    for result in (
        discrim.cross_validate(model, frame),
        discrim.cross_validate(model, frame, LABELS),
        discrim.cross_validate(model, FRAME, LABELS),
    ):
        assert result.posterior.tolist() == plain.posterior.tolist()
    assert np.isfinite(cross_val_score(model, frame)).all()
    assert cross_val_score(model, frame, LABELS).tolist() == cross_val_score(model, FRAME, LABELS).tolist()
    assert model.score(frame) == model.score(FRAME, LABELS)
    found = discrim.compare(frame, models=[model, "LDA"])
    alone = discrim.compare(FRAME, LABELS, [model, "LDA"])
    assert found.table["error"].to_dict() == alone.table["error"].to_dict()
    assert found.best.predict(frame).tolist() == found.best.predict(FRAME).tolist()


def test_numbers_with_fractions_are_no_classes():
    meant = "'age' holds numbers with fractions: it looks like a number, not like classes. Did you mean 'job' or 'town'"
    with pytest.raises(DataError, match=meant):
        discrim.compare(FRAME.drop(columns="age"), FRAME["age"])


def test_more_folds_than_there_can_be_are_fewer_with_a_sentence():
    with pytest.warns(FewRowsWarning):
        found = discrim.compare(FRAME[["age"]], LABELS, ["LDA"], cv=1000)
    largest = np.unique(LABELS, return_counts=True)[1].max()
    assert f"There are {largest} folds instead of 1,000, because the largest class has {largest} rows." in found.remarks


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("target", "Give the labels as y; for a column of a table or a file: compare(scan(X, target='name'))."),
        ("folds", "Give the number of folds as cv."),
        ("seed", "Give the seed as random_state."),
        ("postive", "Did you mean 'positive'?"),
        ("zzz", "It has 'X', 'y', 'models', 'cv'"),
    ],
)
def test_a_parameter_by_another_name_is_pointed_out(name, hint):
    with pytest.raises(TypeError, match=re.escape(f"compare has no parameter '{name}'. {hint}")) as raised:
        discrim.compare(FRAME, LABELS, **{name: 3})
    assert isinstance(raised.value, ParameterError)
    assert "positive" in inspect.signature(discrim.compare).parameters


def test_classes_and_levels_that_may_be_one_are_pointed_out():
    labels = LABELS.astype(object)
    labels[:9], labels[9:15] = "Yes ", "?"
    job = np.where(np.arange(N) < 9, "Clerk", FRAME["job"])
    said = " ".join(discrim.compare(FRAME.assign(job=job), labels, ["LDA"], reference=None).remarks)
    yes = (labels == "yes").sum()
    assert (
        f"Classes 'Yes ' (9 rows) and 'yes' ({yes} rows) differ in spaces or capitals alone: if they mean one, write "
        "them alike." in said
    )
    assert "'?' (6 rows) counts as a class: if it marks a missing label, leave these rows out." in said
    assert "Its levels 'Clerk' and 'clerk' differ in spaces or capitals alone: they may be one." in said
    assert "differ in spaces" not in " ".join(discrim.compare(FRAME, LABELS, ["LDA"], reference=None).remarks)
