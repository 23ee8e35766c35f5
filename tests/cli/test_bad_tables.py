"""What the command says of tables that cannot be what was meant: the column, line or file, and what to do."""

from __future__ import annotations

import pytest

from .conftest import said

HEAD = "sl,sw,pl,pw,species"


@pytest.fixture
def rows(flowers):
    return flowers.rename(dict(zip(flowers.columns, HEAD.split(","), strict=True))).write_csv().splitlines()


@pytest.fixture
def model(discrim, rows, tmp_path):
    (tmp_path / "good.csv").write_text("\n".join(rows))
    done = discrim("fit", "LDA", tmp_path / "good.csv", "-t", "species", "-o", tmp_path / "m.discrim")
    assert done.exit_code == 0
    return tmp_path / "m.discrim"


def with_line(rows, line):
    return "\n".join([*rows[:20], line, *rows[20:]])


MISTAKES = {
    "a name twice": (lambda rows: "\n".join(rows).replace("sl,sw", "sl,sl", 1), "has 'sl' more than once"),
    "a long line": (lambda rows: with_line(rows, "1,2,3,4,5,6,7"), "line 21 has 7 fields, and the header has 5"),
    "UTF-16": (lambda rows: "\n".join(rows).encode("utf-16"), "in the encoding UTF-16. Save it as UTF-8."),
    "a NUL": (lambda rows: with_line(rows, "1,2,\0,4,5"), "line 21 has a NUL byte"),
    "no header": (lambda rows: "\n".join(rows[1:]), "The first line looks like data: put a line with the names"),
    "spaces": (lambda rows: "\n".join(rows).replace(",", " "), "say what separates them: sep=' ' (--sep ' ')"),
    "words": (
        lambda rows: "\n".join([rows[0], *(f"abc{row}" for row in rows[1:])]),
        "Column 'sl' was numeric when the model was fitted and is text now, such as 'abc",
    ),
    "gaps": (lambda rows: with_line(rows, ",,1,2,x"), "lacks numbers in 'sl' (1 row), 'sw' (1 row), and the model"),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("verb", ["predict", "evaluate"])
def test_a_table_that_the_model_cannot_use_is_refused_with_the_place_and_what_to_do(
    discrim, model, rows, tmp_path, name, verb
):
    make, sentence = MISTAKES[name]
    content = make(rows)
    (tmp_path / "bad.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = discrim(verb, model, tmp_path / "bad.csv", *(["-t", "species"] if verb == "evaluate" else []))
    assert done.exit_code == 2, done.output
    assert sentence in said(done)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("t.xlsx", "PK", "Save the sheet as CSV."),
        ("t.db", "SQLite", "A table of a database is written"),
        ("t.txt", "Dear all", "give it a name that ends in .csv."),
        ("t.discrim", "m", "It holds a model, and no rows."),
        ("t.jsonl", '{"a": 1}\n{"a": oops}\n', "line 2 is not JSON: Expecting value at character 7"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_what_to_do(discrim, tmp_path, name, content, sentence):
    (tmp_path / name).write_text(content)
    done = discrim("fit", "LDA", tmp_path / name, "-t", "y")
    assert done.exit_code == 2
    assert sentence in said(done)


def test_a_target_of_measurements_is_refused_in_the_words_of_the_command(discrim, tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i},{i / 7}\n" for i in range(30)))
    done = discrim("fit", "LDA", tmp_path / "t.csv", "-t", "y", "--features", "x")
    assert done.exit_code == 2
    assert "numbers with fractions" in said(done)
    assert said(done).endswith("Cut them into ranges, in a column of its own, and pass that as --target.")
    assert "pandas" not in said(done)


def test_scores_of_text_and_rows_of_one_class_have_no_curve(discrim, tmp_path):
    (tmp_path / "t.csv").write_text("s,w,y\n1,a,u\n2,b,u\n3,c,u\n")
    done = discrim("roc", tmp_path / "t.csv", "-t", "y", "--score", "w")
    assert (done.exit_code, "holds text, and scores are numbers." in said(done)) == (2, True)
    done = discrim("roc", tmp_path / "t.csv", "-t", "y", "--score", "s")
    assert done.exit_code == 2
    assert "A curve needs rows of 'u' and of another class; the rows are of 'u'." in said(done)


def test_one_of_several_classes_is_set_against_the_others_by_a_score(discrim, tmp_path):
    (tmp_path / "t.csv").write_text("s,y\n" + "".join(f"{i},{'uvw'[i % 3]}\n" for i in range(30)))
    done = discrim("roc", tmp_path / "t.csv", "-t", "y", "--score", "s")
    assert "There are 3 classes: name one by --positive." in said(done)
    done = discrim("roc", tmp_path / "t.csv", "-t", "y", "--score", "s", "--positive", "w")
    assert done.exit_code == 0, done.output
    assert "10 positive, 20 negative" in done.stdout


def test_what_was_left_is_no_model_where_one_class_stays(discrim, model, rows, tmp_path):
    gone = [rows[0], *(row for row in rows[1:] if not row.endswith("setosa"))]
    (tmp_path / "gone.csv").write_text("\n".join(gone))
    again = discrim("fit", "LDA", tmp_path / "good.csv", "-t", "species", "-o", model, "--keep-statistic")
    assert again.exit_code == 0
    before = model.read_bytes()
    done = discrim("forget", model, tmp_path / "gone.csv", "-t", "species")
    assert done.exit_code == 2
    assert said(done).endswith("Got 1 class. Add rows of another class.")
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "sentence"), [(b"a,y\n1,u\n", "it is no gzip file, or is damaged"), (b"\x1f\x8b\x08", "it is cut off")]
)
def test_a_packed_file_that_is_none_is_named(discrim, tmp_path, content, sentence):
    (tmp_path / "t.csv.gz").write_bytes(content)
    done = discrim("fit", "LDA", tmp_path / "t.csv.gz", "-t", "y")
    assert done.exit_code == 2
    assert f"t.csv.gz' cannot be read: {sentence}. Pack or copy it again." in said(done)


def test_the_first_line_of_json_lines_that_is_broken_is_named(discrim, tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": 1, "y": "u"}\n{"a" 2, "y": "v"}\n')
    assert "line 2 is not JSON" in said(discrim("fit", "LDA", tmp_path / "t.jsonl", "-t", "y"))
