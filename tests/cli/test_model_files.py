"""From a table to a model file and on, as it is typed: predict, evaluate, explain, update, forget, merge."""

from __future__ import annotations

import json
import os
import sqlite3

import numpy as np
import pytest

import discrim as library

from .conftest import said

pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")
FEATURES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture
def model(discrim, table, tmp_path):
    """LDA on the flowers, with its statistic."""
    path = tmp_path / "m.discrim"
    done = discrim("fit", "LDA", table, "-t", "species", "-o", path, "--keep-statistic")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, f"Model: {path}"), done.output
    return path


@pytest.fixture
def fitted(table):
    return library.LinearDiscriminantAnalysis().fit(library.scan(table, target="species"))


def test_a_comparison_saves_its_choice(discrim, table, tmp_path, flowers):
    done = discrim("compare", table, "-t", "species", "--folds", 3, "--save", tmp_path / "best.discrim")
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith(f"\nModel: {tmp_path / 'best.discrim'}\n")
    best = library.compare(library.scan(table, target="species"), cv=3).best
    done = discrim("predict", tmp_path / "best.discrim", table)
    found = pl.read_csv(done.stdout.encode())
    np.testing.assert_array_equal(found["class"], best.predict(library.scan(table, target="species")))


def test_a_comparison_of_columns_that_were_prepared_is_saved_too(discrim, tmp_path, flowers):
    odd = flowers.with_columns(
        pl.Series("sepal width", [None] * 9 + flowers["sepal width"].to_list()[9:]),
        plant_id=pl.Series([f"plant{i}" for i in range(150)]),
        colour=pl.Series(["blue", "red", None] * 50),
    )
    odd.write_parquet(tmp_path / "odd.parquet")
    arguments = ["-t", "species", "--folds", 2, "--save", tmp_path / "best.discrim"]
    assert discrim("compare", tmp_path / "odd.parquet", *arguments).exit_code == 0
    done = discrim("evaluate", tmp_path / "best.discrim", tmp_path / "odd.parquet", "-t", "species", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["error"] < 0.1
    done = discrim("predict", tmp_path / "best.discrim", tmp_path / "odd.parquet", "--id", "plant_id")
    assert done.stdout.splitlines()[1].startswith("plant0,kind setosa,")


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_predictions_are_those_of_the_library_whatever_the_file(discrim, model, table, fitted, tmp_path, kind):
    done = discrim("predict", model, table, "--id", "species,petal width", "-o", tmp_path / f"out.{kind}")
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    assert f"150 rows written to '{tmp_path}/out.{kind}': 50 kind setosa, 49 kind versicolor, 51" in said(done)
    read = {"csv": pl.read_csv, "tsv": lambda p: pl.read_csv(p, separator="\t"), "parquet": pl.read_parquet,
            "arrow": pl.read_ipc, "jsonl": pl.read_ndjson}[kind]  # fmt: skip
    found, rows = read(tmp_path / f"out.{kind}"), library.scan(table, target="species")
    classes = [f"p_{label}" for label in fitted.classes_]
    assert found.columns == ["species", "petal width", "class", *classes]
    np.testing.assert_array_equal(found["class"], fitted.predict(rows))
    np.testing.assert_allclose(found.select(classes), fitted.predict_proba(rows), rtol=1e-14)
    assert found["petal width"].to_list() == pl.read_csv(table)["petal width"].to_list()
    assert list(tmp_path.glob(".*")) == []


def test_columns_are_matched_by_name_in_any_order(discrim, model, table, flowers, tmp_path):
    flowers.select(reversed(flowers.columns)).with_columns(extra=pl.lit(1)).write_csv(tmp_path / "other.csv")
    done = discrim("predict", model, tmp_path / "other.csv")
    assert done.stdout == discrim("predict", model, table).stdout
    assert said(done) == "Note: the model does not use 'species', 'extra'."


def test_a_table_that_does_not_go_with_the_model_is_refused_and_nothing_written(discrim, model, flowers, tmp_path):
    tables = {
        "lacks 2 columns that the model was fitted on: 'sepal width', 'petal width'": flowers.drop(FEATURES[1::2]),
        "'sepal width'": flowers.with_columns(pl.lit("wide").alias("sepal width")),
        "lacks numbers in 'petal width' (150 rows)": flowers.with_columns(
            pl.lit(None, pl.Float64).alias("petal width")
        ),
        "holds no rows": flowers.head(0),
    }
    for message, frame in tables.items():
        frame.write_parquet(tmp_path / "t.parquet")
        done = discrim("predict", model, tmp_path / "t.parquet", "-o", tmp_path / "out.csv")
        assert done.exit_code == 2, message
        assert message in said(done)
    assert not (tmp_path / "out.csv").exists()
    assert list(tmp_path.glob(".*")) == []


def test_a_category_among_numbers_is_named(discrim, flowers, tmp_path):
    colours = flowers.with_columns(colour=pl.Series(["blue", "red"] * 75))
    colours.write_parquet(tmp_path / "t.parquet")
    discrim("fit", "LDA", tmp_path / "t.parquet", "-t", "species", "-o", tmp_path / "m.discrim")
    colours.with_columns(colour=pl.lit(1)).write_parquet(tmp_path / "t.parquet")
    done = discrim("predict", tmp_path / "m.discrim", tmp_path / "t.parquet")
    assert done.exit_code == 2
    assert "Column 'colour' was categorical when the model was fitted and is numeric now." in said(done)


def test_output_goes_to_the_terminal_or_a_pipe_as_csv_or_json_lines(discrim, model, table):
    lines = discrim("predict", model, table, "--json").stdout.splitlines()
    assert len(lines) == 150
    assert list(json.loads(lines[0])) == ["row", "class", "p_kind setosa", "p_kind versicolor", "p_kind virginica"]
    assert json.loads(lines[149])["row"] == 150
    given = table.read_bytes()
    assert discrim("predict", model, "-", "-o", "-", given=given).stdout == discrim("predict", model, table).stdout


def test_a_model_without_posteriors_gives_scores_or_classes_alone(discrim, table, tmp_path):
    discrim("fit", "Perceptron", table, "-t", "species", "-o", tmp_path / "m.discrim")
    head = discrim("predict", tmp_path / "m.discrim", table).stdout.splitlines()[0]
    assert head == "row,class,score_kind setosa,score_kind versicolor,score_kind virginica"
    found = json.loads(discrim("evaluate", tmp_path / "m.discrim", table, "-t", "species", "--json").stdout)
    assert "log_loss" not in found
    assert set(found["auc_of_classes"]) == {"kind setosa", "kind versicolor", "kind virginica"}


def test_the_summary_is_that_of_the_fit(discrim, model, table):
    assert discrim("summary", model).stdout == discrim("fit", "LDA", table, "-t", "species").stdout
    assert json.loads(discrim("summary", model, "--json").stdout)["title"] == "Linear discriminant analysis"


def test_an_evaluation_has_the_figures_of_the_library(discrim, model, table, fitted):
    done = discrim("evaluate", model, table, "-t", "species", "--json")
    found, rows = json.loads(done.stdout), library.scan(table, target="species")
    labels = pl.read_csv(table)["species"].to_numpy()
    confusion = library.confusion(labels, fitted.predict(rows))
    posterior = fitted.predict_proba(rows)
    assert found["error"] == confusion.error
    assert found["error_interval"] == list(confusion.error_ci())
    assert found["baseline_error"] == pytest.approx(2 / 3)
    assert found["log_loss"] == pytest.approx(library.evaluation.log_loss(labels, posterior), rel=1e-12)
    assert found["auc"] == pytest.approx(library.evaluation.multiclass_auc(labels, posterior), rel=1e-12)
    assert found["tables"][0]["values"][1] == [0, 48, 2, 50]
    printed = discrim("evaluate", model, table, "-t", "species").stdout
    assert "Error:                 0.02 (95%" in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_an_evaluation_of_two_classes_has_the_area_with_its_interval(discrim, table, flowers, tmp_path):
    flowers.slice(50).write_csv(tmp_path / "two.csv")
    discrim("fit", "logistic", tmp_path / "two.csv", "-t", "species", "-o", tmp_path / "m.discrim")
    done = discrim("evaluate", tmp_path / "m.discrim", tmp_path / "two.csv", "-t", "species", "--json")
    fitted = library.LogisticRegression().fit(rows := library.scan(tmp_path / "two.csv", target="species"))
    curve = library.roc(flowers["species"][50:].to_list(), fitted.predict_proba(rows)[:, 1])
    found = json.loads(done.stdout)
    assert found["auc"] == pytest.approx(curve.auc)
    assert found["auc_interval"] == pytest.approx(curve.auc_ci())
    done = discrim("roc", tmp_path / "m.discrim", tmp_path / "two.csv", "-t", "species", "--json")
    assert json.loads(done.stdout)["auc"] == pytest.approx(curve.auc)


def test_classes_that_the_model_does_not_know_count_as_errors(discrim, flowers, table, tmp_path):
    flowers.slice(50).write_csv(tmp_path / "two.csv")
    discrim("fit", "LDA", tmp_path / "two.csv", "-t", "species", "-o", tmp_path / "m.discrim")
    done = discrim("evaluate", tmp_path / "m.discrim", table, "-t", "species", "--json")
    assert json.loads(done.stdout)["error"] == pytest.approx(53 / 150)
    assert "50 rows of classes that the model does not know ('kind setosa') count as errors" in said(done)
    flowers.with_columns(pl.lit("rose").alias("species")).write_csv(tmp_path / "rose.csv")
    done = discrim("evaluate", tmp_path / "m.discrim", tmp_path / "rose.csv", "-t", "species")
    assert done.exit_code == 2
    assert "No row of" in said(done)
    assert "the model knows 'kind versicolor', 'kind virginica'" in said(done)


def test_a_curve_of_more_classes_needs_the_name_of_one(discrim, model, table):
    done = discrim("roc", model, table, "-t", "species")
    assert done.exit_code == 2
    assert "There are 3 classes: name one by --positive. They are 'kind setosa'," in said(done)
    done = discrim("roc", model, table, "-t", "species", "--positive", "kind setosa")
    assert "50 positive, 100 negative" in done.stdout
    assert "1.0000 (95%" in done.stdout


def test_updating_forgetting_and_merging_are_exact(discrim, flowers, tmp_path):
    parts = {"a": flowers[::3], "b": flowers[1::3], "c": flowers[2::3], "ab": pl.concat([flowers[::3], flowers[1::3]])}
    for name, part in parts.items():
        part.write_csv(tmp_path / f"{name}.csv")
        arguments = ["-t", "species", "-o", tmp_path / f"{name}.discrim", "--keep-statistic"]
        assert discrim("fit", "QDA", tmp_path / f"{name}.csv", *arguments).exit_code == 0

    def posterior(name):
        return library.load(tmp_path / name).predict_proba(library.scan(tmp_path / "c.csv", target="species"))

    done = discrim("update", tmp_path / "a.discrim", tmp_path / "b.csv", "-t", "species", "-o", tmp_path / "1.discrim")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, f"Model: {tmp_path / '1.discrim'}"), done.output
    np.testing.assert_allclose(posterior("1.discrim"), posterior("ab.discrim"), atol=1e-9)
    done = discrim("merge", tmp_path / "a.discrim", tmp_path / "b.discrim", "-o", tmp_path / "2.discrim", "--json")
    assert json.loads(done.stdout)["model"] == "QuadraticDiscriminantAnalysis"
    np.testing.assert_allclose(posterior("2.discrim"), posterior("ab.discrim"), atol=1e-9)
    before = posterior("a.discrim")
    assert discrim("forget", tmp_path / "2.discrim", tmp_path / "b.csv", "-t", "species").exit_code == 0
    np.testing.assert_allclose(posterior("2.discrim"), before, atol=1e-9)


def test_without_its_statistic_a_model_does_not_go_on_learning(discrim, table, tmp_path, model):
    discrim("fit", "LDA", table, "-t", "species", "-o", tmp_path / "bare.discrim")
    for verb in (
        ["update", tmp_path / "bare.discrim", table, "-t", "species"],
        ["forget", tmp_path / "bare.discrim", table, "-t", "species"],
        ["merge", model, tmp_path / "bare.discrim", "-o", tmp_path / "c.discrim"],
    ):
        done = discrim(*verb)
        assert done.exit_code == 2, verb
        assert "bare.discrim' does not keep the statistic of its rows" in said(done)
        assert "--keep-statistic" in said(done)
    assert not (tmp_path / "c.discrim").exists()


def test_a_model_that_cannot_learn_on_says_so(discrim, table, tmp_path):
    discrim("fit", "logistic", table, "-t", "species", "-o", tmp_path / "m.discrim", "--keep-statistic")
    done = discrim("update", tmp_path / "m.discrim", table, "-t", "species")
    assert done.exit_code == 2
    assert "m.discrim' holds a LogisticRegression, which cannot learn from more rows." in said(done)


@pytest.mark.parametrize("name", ["LDA", "logistic", "ridge", "Gaussian NB", "Mixed NB", "QDA"])
def test_contributions_and_the_constant_sum_to_the_log_odds(discrim, flowers, tmp_path, name):
    frame = flowers if name == "Gaussian NB" else flowers.with_columns(colour=pl.Series(["blue", "red", "green"] * 50))
    frame.write_csv(tmp_path / "t.csv")
    discrim("fit", name, tmp_path / "t.csv", "-t", "species", "-o", tmp_path / "m.discrim", "--keep-statistic")
    done = discrim("explain", tmp_path / "m.discrim", tmp_path / "t.csv", "--row", 57, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    model = library.load(tmp_path / "m.discrim")
    posterior = model.predict_proba(library.scan(tmp_path / "t.csv", target="species"))[56]
    best, second = np.argsort(posterior)[:-3:-1]
    assert (found["facts"]["Class"], found["facts"]["Against"]) == (model.classes_[best], model.classes_[second])
    assert found["facts"]["Log odds"] == pytest.approx(np.log(posterior[best] / posterior[second]))
    table = found["tables"][0]
    assert sum(contribution for _, contribution in table["values"]) == pytest.approx(found["facts"]["Log odds"])
    assert set(table["rows"]) == {*frame.columns, "(constant)"} - {"species"}
    shown = dict(zip(table["rows"], table["values"], strict=True))
    assert float(shown["sepal width"][0]) == frame["sepal width"][56]
    if name != "Gaussian NB":
        assert shown["colour"][0] == frame["colour"][56]


def test_the_contribution_of_a_column_is_its_coefficient_times_its_distance_from_the_mean(
    discrim, table, flowers, tmp_path
):
    flowers.slice(50).write_csv(tmp_path / "two.csv")
    discrim("fit", "logistic", tmp_path / "two.csv", "-t", "species", "-o", tmp_path / "m.discrim")
    model = library.LogisticRegression().fit(library.scan(tmp_path / "two.csv", target="species"))
    done = discrim("explain", tmp_path / "m.discrim", tmp_path / "two.csv", "--row", 100, "--json")
    table = json.loads(done.stdout)["tables"][0]
    shown = {name: value[1] for name, value in zip(table["rows"], table["values"], strict=True)}
    row = flowers.row(149, named=True)
    mean = flowers.slice(50).select(FEATURES).mean().row(0, named=True)
    expected = {name: (row[name] - mean[name]) * c for name, c in zip(FEATURES, model.coef_[0], strict=True)}
    assert {name: shown[name] for name in FEATURES} == pytest.approx(expected)


def test_what_has_no_contributions_is_named(discrim, table, tmp_path):
    discrim("fit", "Bayesian QDA", table, "-t", "species", "-o", tmp_path / "m.discrim")
    done = discrim("explain", tmp_path / "m.discrim", table, "--row", 1)
    assert done.exit_code == 2
    assert "The scores of this BayesianQuadraticDiscriminantAnalysis are no sum over the columns." in said(done)


def test_a_row_that_does_not_exist_is_named(discrim, model, table):
    done = discrim("explain", model, table, "--row", 151)
    assert done.exit_code == 2
    assert "has 150 rows; there is no row 151." in said(done)


def test_words_go_to_a_file_and_back(discrim, tmp_path):
    texts = [f"win a free prize number {i}" if i % 2 else f"lunch at noon number {i}" for i in range(40)]
    kinds = ["spam" if i % 2 else "ham" for i in range(40)]
    pl.DataFrame({"mail": texts, "kind": kinds}).write_csv(tmp_path / "mails.csv")
    mails, words = tmp_path / "mails.csv", ["--text", "mail"]
    arguments = ["-t", "kind", *words, "-o", tmp_path / "m.discrim"]
    assert discrim("fit", "MultinomialNB", mails, *arguments).exit_code == 0
    found = pl.read_csv(discrim("predict", tmp_path / "m.discrim", mails, *words).stdout.encode())
    assert found["class"].to_list() == kinds
    done = discrim("evaluate", tmp_path / "m.discrim", mails, "-t", "kind", *words, "--json")
    assert json.loads(done.stdout)["error"] == 0
    # The column is remembered; where a table has it not, it is asked for.
    assert discrim("predict", tmp_path / "m.discrim", mails).stdout == found.write_csv()
    pl.DataFrame({"body": texts}).write_csv(tmp_path / "other.csv")
    done = discrim("predict", tmp_path / "m.discrim", tmp_path / "other.csv")
    assert done.exit_code == 2
    assert "learned from the words of the column 'mail'" in said(done)
    assert "Pass --text COLUMN; the columns are 'body'." in said(done)
    assert discrim("predict", tmp_path / "m.discrim", tmp_path / "other.csv", "--text", "body").exit_code == 0


@pytest.mark.parametrize("name", ["MultinomialNB", "logistic"])
def test_the_words_of_a_text_contribute_to_its_log_odds(discrim, tmp_path, name):
    pl.DataFrame({"mail": ["win win prize", "a prize", "lunch today", "at lunch"] * 5, "kind": ["s", "s", "h", "h"] * 5}
    ).write_csv(tmp_path / "m.csv")  # fmt: skip
    discrim("fit", name, tmp_path / "m.csv", "-t", "kind", "--text", "mail", "-o", tmp_path / "m.discrim")
    done = discrim("explain", tmp_path / "m.discrim", tmp_path / "m.csv", "--row", 1, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    values = dict(zip(found["tables"][0]["rows"], found["tables"][0]["values"], strict=True))
    assert (values["win"][0], values["prize"][0]) == ("2", "1")
    assert sum(each for _, each in values.values()) == pytest.approx(found["facts"]["Log odds"])
    if name == "MultinomialNB":
        model = library.load(tmp_path / "m.discrim")
        words = list(model.counts_.get_feature_names_out())
        ratio = model.model_.feature_log_prob_[1] - model.model_.feature_log_prob_[0]
        assert values["win"][1] == pytest.approx(2 * ratio[words.index("win")])


def test_a_folder_of_documents_is_a_table_for_every_verb(discrim, tmp_path):
    for i in range(12):
        for kind, text in (("ham", f"lunch at noon {i}"), ("spam", f"win a prize {i}")):
            (tmp_path / "mails" / kind).mkdir(parents=True, exist_ok=True)
            (tmp_path / "mails" / kind / f"{i:02}.txt").write_text(text)
    mails, path = tmp_path / "mails", tmp_path / "m.discrim"
    assert discrim("fit", "MultinomialNB", mails, "-o", path, "--keep-statistic").exit_code == 0
    found = pl.read_csv(discrim("predict", path, mails).stdout.encode())
    assert found["file"].to_list() == [f"{kind}/{i:02}.txt" for kind in ("ham", "spam") for i in range(12)]
    assert found["class"].to_list() == ["ham"] * 12 + ["spam"] * 12
    alone = pl.read_csv(discrim("predict", path, mails / "spam").stdout.encode())
    assert alone["class"].to_list() == ["spam"] * 12
    assert json.loads(discrim("evaluate", path, mails, "--json").stdout)["error"] == 0
    assert json.loads(discrim("roc", path, mails, "--json").stdout)["auc"] == 1
    done = discrim("update", path, mails, "-o", tmp_path / "twice.discrim", "--json")
    assert json.loads(done.stdout)["summary"]["facts"]["Rows"] == 48
    done = discrim("forget", tmp_path / "twice.discrim", mails)
    assert done.exit_code == 2
    assert "which cannot unlearn rows" in said(done)
    for arguments, sentence in (([mails / "spam"], "and they lie in none"), ([mails, "-t", "kind"], "omit --target")):
        done = discrim("evaluate", path, *arguments)
        assert done.exit_code == 2
        assert sentence in said(done)


def test_a_database_is_a_table_for_every_verb(discrim, flowers, tmp_path):
    with sqlite3.connect(tmp_path / "f.db") as connection:
        connection.execute("CREATE TABLE iris (a, b, c, d, species)")
        connection.executemany("INSERT INTO iris VALUES (?, ?, ?, ?, ?)", flowers.rows())
    connection.close()
    address, path = f"{tmp_path / 'f.db'}::iris", tmp_path / "m.discrim"
    assert discrim("fit", "LDA", address, "-t", "species", "-o", path).exit_code == 0
    query = f"{tmp_path / 'f.db'}::SELECT * FROM iris WHERE species = 'kind setosa'"
    assert pl.read_csv(discrim("predict", path, query).stdout.encode())["class"].to_list() == ["kind setosa"] * 50
    assert "Error:                 0.02" in discrim("evaluate", path, address, "-t", "species").stdout


BROKEN = {
    "missing.csv": None,
    "empty.csv": b"",
    "head.csv": b"sepal length,sepal width,petal length,petal width,species\n",
    "one.csv": b"sepal length,sepal width,petal length,petal width,species\n5,3,1,0.2,kind setosa\n",
    "class.csv": b"sepal length,sepal width,petal length,petal width,species\n"
    + b"".join(b"5.%d,3.1,1.%d,0.2,kind setosa\n" % (i, i) for i in range(9)),
    "twice.csv": b"sepal length,sepal length,petal length,petal width,species\n5,3,1,0.2,kind setosa\n",
    "ragged.csv": b"sepal length,sepal width,petal length,petal width,species\n5,3,1,0.2,kind setosa,7,8\n5,3\n",
    "latin.csv": "sepal length,sepal width,petal length,petal width,species\n5,3,1,0.2,kind ros\u00e9\n".encode(
        "latin-1"
    ),
    "bare.csv": b"5.1,3.5,1.4,0.2,kind setosa\n4.9,3.0,1.4,0.2,kind setosa\n",
}
# What can be done with a table that has a single row, or a single class.
FINE = {
    ("predict", "one.csv"), ("predict", "class.csv"), ("evaluate", "one.csv"), ("evaluate", "class.csv"),
    ("update", "one.csv"), ("update", "class.csv"), ("explain", "one.csv"), ("explain", "class.csv"),
    ("forget", "class.csv"), ("forget", "one.csv"),
    # The row is found before what comes after it is read.
    ("explain", "ragged.csv"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_every_verb_reports_a_table_that_cannot_be_used_in_a_sentence(discrim, model, tmp_path, name):
    path = tmp_path / name
    if BROKEN[name] is not None:
        path.write_bytes(BROKEN[name])
    target, output = ["-t", "species"], ["-o", tmp_path / "out.discrim"]
    verbs = {
        "compare": ["compare", path, *target],
        "fit": ["fit", "LDA", path, *target, *output],
        "predict": ["predict", model, path],
        "evaluate": ["evaluate", model, path, *target],
        "roc": ["roc", path, *target, "--score", "sepal length"],
        "update": ["update", model, path, *target, *output],
        "forget": ["forget", model, path, *target, *output],
        "explain": ["explain", model, path, "--row", 1],
    }
    for verb, arguments in verbs.items():
        done = discrim(*arguments)
        expected = {0, 2} if (verb, name) in FINE else {2}
        assert done.exit_code in expected, (verb, done.output, done.exception)
        if done.exit_code == 2:
            assert "Error: " in said(done), verb
            assert said(done).endswith((".", "?", "'")), (verb, said(done))


@pytest.mark.parametrize("verb", ["predict", "summary", "evaluate", "roc", "update", "forget", "merge", "explain"])
def test_a_file_that_holds_no_model_is_named(discrim, table, tmp_path, verb):
    (tmp_path / "other.discrim").write_bytes(b"no model at all, but some text that is long enough to be read")
    rest = {"merge": [table, "-o", tmp_path / "c.discrim"], "summary": [], "explain": [table, "--row", 1]}
    for path in (tmp_path / "other.discrim", table, tmp_path / "none.discrim"):
        done = discrim(verb, path, *rest.get(verb, [table, *(["-t", "species"] if verb != "predict" else [])]))
        assert done.exit_code == 2, done.output
        assert f"'{path}'" in said(done)


def test_an_output_that_cannot_be_written_is_refused_before_the_work(discrim, model, table, tmp_path):
    done = discrim("predict", model, table, "-o", tmp_path / "out.xlsx")
    assert done.exit_code == 2
    assert "must end in one of .csv, .tsv" in said(done)
    done = discrim("predict", model, table, "-o", tmp_path / "none" / "out.csv")
    assert done.exit_code == 2
    assert "there is no folder" in said(done)
    done = discrim("predict", model, table, "--id", "class")
    assert "--id cannot copy 'class': the output has columns of these names itself." in said(done)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["iris.csv", "m.discrim"]


@pytest.mark.slow
def test_a_file_larger_than_memory_is_predicted_and_learned_from(run_program, discrim, tmp_path):
    """The process may have 600 MB of data, less than the file has."""
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500_000, 10))
    columns = {**{f"x{j}": x[:, j] for j in range(10)}, "y": np.where(x[:, 0] > 0.1 * x[:, 1], "u", "v")}
    part, path = pa.table(columns), tmp_path / "large.parquet"
    pl.from_arrow(part.slice(0, 20_000)).write_parquet(tmp_path / "small.parquet")
    with pq.ParquetWriter(path, part.schema) as writer:
        for _ in range(17):
            writer.write_table(part)
    assert path.stat().st_size > 600 << 20
    discrim("fit", "LDA", tmp_path / "small.parquet", "-t", "y", "-o", tmp_path / "m.discrim", "--keep-statistic")
    code = """
        import resource
        resource.setrlimit(resource.RLIMIT_DATA, (600 << 20, 600 << 20))
        from discrim.cli import main
        main()
        """
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    for verb in (["predict", "-o", tmp_path / "out.parquet"], ["update", "-t", "y"]):
        done = run_program(code, environment, 300, arguments=[verb[0], tmp_path / "m.discrim", path, *verb[1:]])
        assert done.returncode == 0, (verb, done.stderr)
    assert pq.read_metadata(tmp_path / "out.parquet").num_rows == 17 * 500_000


def test_a_model_file_is_exported_to_every_form(discrim, model, table, fitted, tmp_path):
    predicted = fitted.predict(library.scan(table, target="species"))
    rows = pl.read_csv(table).select(FEATURES).rows()
    source = discrim("export", model, "--to", "python")
    assert source.exit_code == 0, source.output
    made = {}
    exec(source.stdout, made)
    assert [made["predict"](row) for row in rows] == predicted.tolist()
    with sqlite3.connect(tmp_path / "f.db") as connection:
        columns = ", ".join(f'"{name}"' for name in FEATURES)
        connection.execute(f"CREATE TABLE flowers ({columns})")
        connection.executemany("INSERT INTO flowers VALUES (?, ?, ?, ?)", rows)
        query = discrim("export", model, "--to", "sql", "--table", "flowers", "--dialect", "sqlite").stdout
        assert [row[0] for row in connection.execute(query.rstrip().rstrip(";"))] == predicted.tolist()
    connection.close()
    done = discrim("export", model, "--to", "c", "--name", "flower", "-o", tmp_path / "m.c", "--json")
    assert json.loads(done.stdout) == {
        "to": "c", "output": str(tmp_path / "m.c"), "bytes": (tmp_path / "m.c").stat().st_size,
    }  # fmt: skip
    assert "flower_predict" in (tmp_path / "m.c").read_text()


def test_onnx_goes_to_a_file(discrim, model, table, fitted, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    done = discrim("export", model, "--to", "onnx", "-o", tmp_path / "m.onnx")
    assert done.stdout == f"onnx: {tmp_path / 'm.onnx'}\n"
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    x = pl.read_csv(table).select(FEATURES).to_numpy()
    np.testing.assert_allclose(
        session.run(["probabilities"], {"X": x})[0], fitted.predict_proba(library.scan(table, target="species")), 1e-12
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "onnx"], "--to onnx needs a file to write: -o FILE."),
        (["--to", "sql"], "--to sql needs the name of a table: --table NAME."),
        (["--to", "python", "--table", "t"], "--table is not for --to python."),
        (["--to", "c", "--name", "a b"], "The 'name' parameter is 'a b'"),
        (["--to", "excel"], "'excel' is not one of"),
    ],
)
def test_an_export_that_cannot_be_made_is_refused(discrim, model, arguments, message):
    done = discrim("export", model, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in said(done)


def test_columns_are_read_as_they_were_for_the_fit(discrim, tmp_path, flowers):
    """Numbers that are codes of a category, with semicolons between columns and decimal commas."""
    codes = [str(i % 3) for i in range(150)]
    frame = flowers.with_columns(pl.all().cast(pl.String).str.replace(r"\.", ","), code=pl.Series(codes))
    frame.write_csv(tmp_path / "t.csv", separator=";")
    reading = ["--types", "code=category", "--sep", ";"]
    arguments = ["-t", "species", *reading, "-o", tmp_path / "m.discrim", "--keep-statistic"]
    done = discrim("fit", "LDA", tmp_path / "t.csv", *arguments)
    assert done.exit_code == 0, done.output
    assert "code[1" in done.stdout
    for verb in (
        ["predict", tmp_path / "m.discrim", tmp_path / "t.csv"],
        ["evaluate", tmp_path / "m.discrim", tmp_path / "t.csv", "-t", "species"],
        ["explain", tmp_path / "m.discrim", tmp_path / "t.csv", "--row", 2],
        ["roc", tmp_path / "m.discrim", tmp_path / "t.csv", "-t", "species", "--positive", "kind setosa"],
        ["update", tmp_path / "m.discrim", tmp_path / "t.csv", "-t", "species"],
    ):
        done = discrim(*verb, *reading)
        assert done.exit_code == 0, done.output
