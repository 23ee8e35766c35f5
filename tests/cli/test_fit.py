"""``discrim fit``: which model, with which parameters, on which columns."""

from __future__ import annotations

import json

import pytest

import discrim as library

from .conftest import said

pl = pytest.importorskip("polars")


@pytest.mark.parametrize("name", ["LDA", "lda", "LinearDiscriminantAnalysis", "linear discriminant analysis"])
def test_it_prints_the_summary_of_the_model(discrim, table, name):
    done = discrim("fit", name, table, "-t", "species")
    assert done.exit_code == 0, done.output
    fitted = library.LinearDiscriminantAnalysis().fit(library.scan(table, target="species"))
    assert done.stdout == f"{fitted.summary()}\n"
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["C=inf"], {"C": float("inf")}),
        (["C=0.5", "max_iter=7"], {"C": 0.5, "max_iter": 7}),
        (["bias_reduction=firth", "C=np.inf"], {"bias_reduction": "firth"}),
        (["fit_intercept=false"], {"fit_intercept": False}),
        (["class_weight={'kind setosa': 2}"], {"class_weight": {"kind setosa": 2}}),
    ],
)
@pytest.mark.filterwarnings("ignore::discrim.errors.DiscrimWarning")
def test_parameters_are_python_values(discrim, table, settings, expected):
    options = [part for setting in settings for part in ("--set", setting)]
    columns = ["--features", "sepal width,sepal length"]
    done = discrim("fit", "logistic", table, "-t", "species", "--json", *columns, *options)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["parameters"]
    assert {name: found[name] if found[name] != "inf" else float("inf") for name in expected} == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["LDB"], "There is no model 'LDB'. Did you mean 'LDA'"),
        (["naive"], "There is no model 'naive'. The models are"),
        (["ridg"], "There is no model 'ridg'. Did you mean 'RidgeClassifier' or 'Ridge'?"),
        (
            ["LDA", "--set", "shrinkge=auto"],
            "has no parameter 'shrinkge'. Did you mean 'shrinkage'? It has",
        ),
        (["LDA", "--set", "shrinkage=lots"], "The 'shrinkage' parameter is 'lots'; it must be"),
        (["LDA", "--set", "shrinkage"], "--set takes a parameter and its value, as in --set C=0.5; found 'shrinkage'."),
    ],
)
def test_a_wrong_model_or_parameter_is_named(discrim, table, arguments, message):
    done = discrim("fit", arguments[0], table, "-t", "species", *arguments[1:])
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in said(done)


def test_a_table_without_a_name_of_ours_in_compare_has_the_parameters_of_it(discrim, table):
    done = discrim("fit", "Ridge", table, "-t", "species", "--json")
    assert json.loads(done.stdout)["parameters"]["methods"] == "all"


def test_columns_that_are_no_features_are_left_out_and_gaps_filled_in(discrim, tmp_path, flowers):
    odd = flowers.with_columns(
        pl.Series("sepal width", [None] * 6 + flowers["sepal width"].to_list()[6:]),
        plant_id=pl.Series(range(150)),
        size=pl.Series(["?", *(str(i / 7) for i in range(149))]),
    )
    odd.write_parquet(tmp_path / "odd.parquet")
    done = discrim("fit", "LDA", tmp_path / "odd.parquet", "-t", "species")
    assert done.exit_code == 0, done.output
    assert "Column 'plant_id' counts the rows (0 to 149 in 150 rows) and is left out." in said(done)
    assert "Column 'size' holds numbers besides '?' (1 row) and is read as numbers" in said(done)
    assert "missing values in 'sepal width' (6), 'size' (1) were filled in" in said(done)
    assert "sepal width missing" in done.stdout
    assert "plant_id" not in done.stdout
    # With a covariance matrix for each class they are not marked: none of 'kind virginica' is missing.
    assert "sepal width missing" not in discrim("fit", "QDA", tmp_path / "odd.parquet", "-t", "species").output


def test_a_column_whose_type_is_given_is_a_feature(discrim, tmp_path, flowers):
    flowers.with_columns(plant_id=pl.Series(range(150))).write_csv(tmp_path / "t.csv")
    assert "plant_id" not in discrim("fit", "LDA", tmp_path / "t.csv", "-t", "species").stdout
    done = discrim("fit", "LDA", tmp_path / "t.csv", "-t", "species", "--types", "plant_id=number")
    assert "plant_id" in done.stdout
    assert done.stderr == ""


def test_words_are_learned_from(discrim, tmp_path):
    texts = [f"win a free prize number {i}" if i % 2 else f"lunch at noon number {i}" for i in range(40)]
    kinds = ["spam" if i % 2 else "ham" for i in range(40)]
    pl.DataFrame({"mail": texts, "kind": kinds, "n": range(40)}).write_csv(tmp_path / "mails.csv")
    done = discrim("fit", "MultinomialNB", tmp_path / "mails.csv", "-t", "kind", "--text", "mail")
    assert done.exit_code == 0, done.output
    assert "prize" in done.stdout


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "jsonl"])
def test_the_standard_input_may_be_of_any_kind(discrim, table, flowers, kind, tmp_path):
    writers = {"csv": "csv", "tsv": "csv", "parquet": "parquet", "arrow": "ipc", "jsonl": "ndjson"}
    options = {"separator": "\t"} if kind == "tsv" else {}
    getattr(flowers, f"write_{writers[kind]}")(tmp_path / "file", **options)
    done = discrim("fit", "LDA", "-", "-t", "species", given=(tmp_path / "file").read_bytes())
    assert done.stdout == discrim("fit", "LDA", table, "-t", "species").stdout


def test_an_empty_standard_input_is_reported(discrim):
    done = discrim("fit", "LDA", "-", "-t", "species", given=b"")
    assert (done.exit_code, said(done)) == (2, "Error: The standard input is empty.")


def test_a_checkpoint_of_a_model_without_sums_is_refused(discrim, table, tmp_path):
    path = tmp_path / "run.ckpt"
    done = discrim("fit", "LDA", table, "-t", "species", "--checkpoint", path, "-o", tmp_path / "m.discrim")
    assert done.exit_code == 0
    assert not path.exists()
    done = discrim("fit", "SGDClassifier", table, "-t", "species", "--checkpoint", path)
    assert done.exit_code == 2
    assert "SGDClassifier learns in another way. Leave it out." in said(done)
    with_gap = table.read_text().replace("5.1,", ",", 1)
    table.write_text(with_gap)
    done = discrim("fit", "LDA", table, "-t", "species", "--checkpoint", path)
    assert "With --checkpoint they are not filled in" in said(done)
    assert not path.exists()


EMPTY = {"in a file of text": "csv", "of text": "parquet", "of numbers": "parquet"}


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("model", ["LDA", "mixed nb", "logistic"])
def test_columns_without_any_value_are_left_out_and_named(discrim, flowers, tmp_path, kind, model):
    path, column = tmp_path / f"t.{EMPTY[kind]}", pl.lit(None, float if kind == "of numbers" else str)
    table = flowers.with_columns(note=column, remark=column)
    getattr(table, f"write_{EMPTY[kind]}")(path)
    done = discrim("fit", model, path, "-t", "species", "-o", tmp_path / "m.discrim")
    assert done.exit_code == 0, done.output
    for name in ("note", "remark"):
        assert said(done).count(f"Column '{name}' has no value in any row and is left out.") == 1
    assert library.load(tmp_path / "m.discrim").n_features_in_ == 4
    assert discrim("predict", tmp_path / "m.discrim", path).exit_code == 0
    alone = discrim("fit", model, path, "-t", "species", "--features", "note,remark")
    assert alone.exit_code == 2
    assert "There is no column left to learn from. Column '" in said(alone)
