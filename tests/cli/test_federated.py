"""Sites that hand on the statistic of their rows alone, and a model of them all."""

from __future__ import annotations

import json

import numpy as np
import pytest

import discrim as library

from .conftest import said

pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")


ONLY = ["-t", "outcome", "--without", "id", "--statistic-only"]


@pytest.fixture
def wards(tmp_path):
    rng = np.random.default_rng(3)
    n = 120
    frame = pl.DataFrame({
        "id": np.arange(n) * 7 + 11, "age": rng.normal(60, 9, n), "pulse": rng.normal(80, 12, n),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
        "outcome": np.array(["home", "stay"])[rng.integers(0, 2, n)],
    })  # fmt: skip
    frame.write_csv(tmp_path / "all.csv")
    parts = [frame.filter(pl.col("outcome") == "home").head(20), None]
    parts[1] = frame.join(parts[0], on="id", how="anti")
    for i, part in enumerate(parts):
        part.write_csv(tmp_path / f"{i}.csv")
    return tmp_path


@pytest.mark.parametrize("name", ["LDA", "QDA", "Gaussian NB"])
def test_the_model_of_all_sites_is_that_of_all_rows(discrim, wards, name):
    files = [wards / "0.discrim", wards / "1.discrim"]
    for i, file in enumerate(files):
        # The first site has rows of one class, which no model can be fitted to.
        done = discrim(
            "fit", name, wards / f"{i}.csv", "-t", "outcome", "--without", "id", "--statistic-only", "-o", file
        )
        assert done.exit_code == 0, done.output
        assert "statistic of" in done.stdout
        assert b'"rule"' not in file.read_bytes()
        assert b'"summary"' not in file.read_bytes()
    done = discrim("merge", *files, "-o", wards / "all.discrim")
    assert done.exit_code == 0, done.output
    merged = library.load(wards / "all.discrim")
    rows = library.scan(wards / "all.csv", target="outcome", without=["id"])
    alone = type(merged)(**merged.get_params()).fit(rows)
    np.testing.assert_allclose(merged.predict_proba(rows), alone.predict_proba(rows), atol=1e-12)
    assert str(merged.summary()).splitlines()[:4] == str(alone.summary()).splitlines()[:4]


def test_small_cells_are_named(discrim, wards):
    lines = (wards / "0.csv").read_text().splitlines()
    (wards / "0.csv").write_text("\n".join([*lines, "9000,50.5,71.2,x,home", "9001,50.6,71.3,f,stay"]))
    arguments = ["fit", "LDA", wards / "0.csv", *ONLY]
    done = discrim(*arguments, "-o", wards / "m.discrim")
    assert done.exit_code == 0, done.output
    assert "small cells, of fewer than 5 rows" in said(done)
    assert "class 'stay' (1 row), class 'home' with 'x' in 'sex' (1 row)" in said(done)
    found = json.loads(discrim(*arguments, "-o", wards / "m.discrim", "--json").stdout)
    assert {"label": "stay", "rows": 1, "column": None, "level": None} in found["small_cells"]
    done = discrim(
        "fit", "LDA", wards / "1.csv", "-t", "outcome", "--without", "id", "--statistic-only", "-o", wards / "n"
    )
    assert "small cells" not in said(done)
    done = discrim("merge", wards / "m.discrim", wards / "n", "-o", wards / "o")
    assert done.exit_code == 2
    assert "'sex[x]' is not in all of them" in said(done)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["logistic", "-o", "m"], "LogisticRegression does not follow from a statistic of its rows"),
        (["LDA"], "--statistic-only needs a file to write"),
        (["LDA", "-o", "m", "--text", "sex"], "--statistic-only is for tables"),
    ],
)
def test_what_has_no_statistic_is_refused(discrim, wards, monkeypatch, arguments, message):
    monkeypatch.chdir(wards)
    done = discrim("fit", arguments[0], "0.csv", "-t", "outcome", "--statistic-only", *arguments[1:])
    assert done.exit_code == 2
    assert message in said(done)


def test_gaps_are_not_filled_in_where_other_sites_would_fill_in_others(discrim, wards):
    lines = (wards / "1.csv").read_text().splitlines()
    (wards / "1.csv").write_text("\n".join([*lines, "9000,,71.2,f,home"]))
    done = discrim("fit", "LDA", wards / "1.csv", "-t", "outcome", "--statistic-only", "-o", wards / "m")
    assert done.exit_code == 2
    assert "missing values in 'age' (1 row). With --statistic-only they are not filled in" in said(done)


def test_a_model_whose_gaps_were_filled_in_learns_on_with_its_columns_prepared_as_they_were(discrim, wards):
    frame = pl.read_csv(wards / "all.csv").with_columns(age=pl.when(pl.col("id") % 5 > 0).then("age"))
    frame.head(80).write_csv(wards / "first.csv")
    frame.tail(40).write_csv(wards / "later.csv")
    path, other = wards / "m.discrim", wards / "n.discrim"
    for keep in ([], ["--keep-statistic"]):
        arguments = ["fit", "LDA", wards / "first.csv", "-t", "outcome", "--without", "id", "-o", path, *keep]
        done = discrim(*arguments)
        assert done.exit_code == 0, done.output
        assert "cannot learn" not in said(done)
        done = discrim("update", path, wards / "later.csv", "-t", "outcome", "-o", other)
        if not keep:
            assert done.exit_code == 2
            assert "--keep-statistic, which 'discrim fit' and 'discrim compare --save' take" in said(done)
    assert done.exit_code == 0, done.output
    first = library.load(path)
    ready, updated = first.preparation_, library.load(other)
    np.testing.assert_array_equal(updated.preparation_.fill, ready.fill)
    assert updated.model_.statistic_.rows.sum() == 120
    assert "Rows:          120" in str(updated.summary())
    before = discrim("predict", path, wards / "all.csv").stdout
    done = discrim("forget", other, wards / "later.csv", "-t", "outcome")
    assert done.exit_code == 0, done.output
    frames = [pl.read_csv(text.encode()) for text in (before, discrim("predict", other, wards / "all.csv").stdout)]
    np.testing.assert_allclose(frames[0]["p_stay"], frames[1]["p_stay"], atol=1e-9)
    done = discrim("merge", path, other, "-o", wards / "o.discrim")
    assert done.exit_code == 2
    assert "PreparedClassifier cannot be merged" in said(done)


def test_what_compare_saved_says_whether_it_can_learn_on(discrim, wards):
    path = wards / "m.discrim"
    done = discrim("compare", wards / "all.csv", "-t", "outcome", "--folds", 2, "--save", path, "--keep-statistic")
    assert done.exit_code == 0, done.output
    best = library.load(path)
    able = hasattr(best, "partial_fit")
    assert ("cannot learn from more rows by update or forget" in said(done)) != able
    done = discrim("update", path, wards / "all.csv", "-t", "outcome", "-o", wards / "n.discrim")
    assert done.exit_code == (0 if able else 2), done.output
