"""The figures of models whose answers are not all classes of theirs."""

from __future__ import annotations

import json

import numpy as np
import pytest

import discrim as library

from .conftest import said

pl = pytest.importorskip("polars")


def test_a_refused_answer_counts_as_an_error(table):
    from discrim.cli.answering import Question
    from discrim.cli.judging import judged

    rows = library.scan(table, target="species")
    model = library.decision.RejectingClassifier(library.LinearDiscriminantAnalysis(), reject_cost=0.05).fit(rows)
    refused = (model.predict(rows) == "reject").sum()
    found = judged(Question(model, str(table)), "species", None)
    assert refused > 2
    assert round(150 * found.figures["error"]) >= refused
    assert found.summary.tables[0]["kind versicolor", "reject"] > 0


@pytest.fixture
def many(tmp_path):
    """A table of 20,000 rows of three classes with a score, and a model of it."""
    rng = np.random.default_rng(0)
    k = rng.integers(3, size=20_000)
    x = rng.normal(size=(len(k), 2)) + k[:, None]
    w = rng.integers(1, 4, len(k)) / 2
    pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "w": w, "y": np.array(["u", "v", "w"])[k]}).write_csv(tmp_path / "t.csv")
    library.LinearDiscriminantAnalysis().fit(library.scan(tmp_path / "t.csv", target="y", features=["a", "b"])).save(
        tmp_path / "m.discrim"
    )
    return [tmp_path / "m.discrim", tmp_path / "t.csv", "-t", "y"]


@pytest.mark.parametrize("weighted", [False, True])
def test_of_many_rows_the_areas_are_those_of_a_sample_and_all_else_is_of_all_rows(discrim, many, monkeypatch, weighted):
    options = ["--weight", "w"] if weighted else []
    whole = discrim("evaluate", *many, *options, "--json")
    monkeypatch.setattr("discrim.cli.judged_rows.MOST_KEPT", 8_000)
    monkeypatch.setattr("discrim.cli.judged_rows.LEAST_ROWS", 1)
    monkeypatch.setattr("discrim.cli.answering.MOST_NUMBERS", 3_000)
    sampled = discrim("evaluate", *many, *options, "--json")
    assert "curves are those of 2,000 rows, drawn by a hash of the row number." in said(sampled)
    assert "drawn" not in said(whole)
    found, expected = json.loads(sampled.stdout), json.loads(whole.stdout)
    for name in ("rows", "error", "error_interval", "baseline_error", "kappa"):
        assert found[name] == expected[name]
    assert found["log_loss"] == pytest.approx(expected["log_loss"], rel=1e-12)
    assert found["auc"] != expected["auc"]
    assert found["auc"] == pytest.approx(expected["auc"], abs=0.03)
    # The sample does not depend on the parts in which the rows are read.
    monkeypatch.setattr("discrim.cli.answering.MOST_NUMBERS", 50_000)
    assert discrim("evaluate", *many, *options, "--json").stdout == sampled.stdout


@pytest.mark.parametrize("by_model", [True, False])
def test_a_curve_of_many_rows_is_that_of_a_sample(discrim, many, monkeypatch, by_model):
    arguments = [*many, "--positive", "w"] if by_model else [*many[1:], "--score", "a", "--positive", "w"]
    whole = discrim("roc", *arguments, "--json")
    monkeypatch.setattr("discrim.cli.judged_rows.MOST_KEPT", 8_000)
    monkeypatch.setattr("discrim.cli.judged_rows.LEAST_ROWS", 1)
    sampled = discrim("roc", *arguments, "--json")
    assert sampled.exit_code == 0, sampled.output
    assert f"curves are those of {2_000 if by_model else 4_000:,} rows" in said(sampled)
    assert json.loads(sampled.stdout)["auc"] == pytest.approx(json.loads(whole.stdout)["auc"], abs=0.03)


def test_a_column_of_too_many_classes_is_no_target(discrim, many):
    done = discrim("evaluate", *many[:2], "-t", "a")
    assert done.exit_code == 2
    pl.read_csv(many[1]).with_row_index("place", 1).write_csv(many[1])
    done = discrim("evaluate", *many[:2], "-t", "place")
    assert "has more than 1,000 classes that the model does not know, such as '1', '2', '3'" in said(done)
    assert "Which column holds the classes? Pass it as --target." in said(done)


def test_an_error_in_the_middle_of_a_parquet_file_is_all_that_is_said(run_program, many):
    path = many[1]
    rows = path.read_text().splitlines()
    path.write_text("\n".join([*(rows * 8)[: 8 * len(rows)], "x,y,1,u"]).replace("\na,b,w,y", ""))
    arguments = ["predict", *many[:2], "-o", path.with_name("out.parquet")]
    done = run_program("from discrim.cli import main; main()", arguments=arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert sorted(each.name for each in path.parent.iterdir()) == ["m.discrim", "t.csv"]
