"""``discrim compare`` as it is typed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import discrim
from discrim import datasets

pl = pytest.importorskip("polars")
testing = pytest.importorskip("click.testing")


QUICK = ("--folds", 2)  # where the figures of the table do not matter


def run(*arguments):
    from discrim.cli.commands import discrim as command

    return testing.CliRunner().invoke(command, ["compare", *map(str, arguments)])


@pytest.fixture
def frame():
    X, y = datasets.load_iris().xy
    columns = dict(zip(("sepal length", "sepal width", "petal length", "petal width"), X.T, strict=True))
    return pl.DataFrame({**columns, "species": [f"kind {label}" for label in y]})


@pytest.fixture
def iris(tmp_path, frame):
    frame.write_csv(tmp_path / "iris.csv")
    return tmp_path / "iris.csv"


def test_it_prints_what_the_library_finds_in_eighty_columns(iris):
    done = run(iris, "--target", "species")
    assert done.exit_code == 0, done.output
    found = discrim.compare(discrim.scan(iris, target="species"))
    assert " ".join(found.verdict.split()) in " ".join(done.stdout.split())
    assert [name for name in found.table.index if name not in done.stdout] == []
    assert max(map(len, done.output.splitlines())) <= 80


def test_the_report_is_written_and_named(iris, tmp_path):
    done = run(iris, "-t", "species", "--report", tmp_path / "out.html", "--summary", *QUICK)
    assert f"Report: {tmp_path / 'out.html'}" in done.stdout
    found = discrim.compare(discrim.scan(iris, target="species"), cv=2)
    assert str(found.best.summary()).splitlines()[0] in done.stdout
    assert "<html" in (tmp_path / "out.html").read_text()


def test_columns_can_be_chosen_and_left_out(iris, frame):
    first, second, third, *_ = frame.columns
    chosen = run(iris, "-t", "species", "--features", f"{first},{second}", "--features", third, *QUICK)
    assert "x 3 columns" in chosen.stdout
    assert "x 3 columns" in run(iris, "-t", "species", "--without", first, *QUICK).stdout


def test_folds_seed_and_metric_are_passed_on(iris):
    done = run(iris, "-t", "species", "--folds", 4, "--seed", 1, "--metric", "log_loss")
    assert "4 folds" in done.stdout
    assert "cross-validated log loss" in " ".join(done.stdout.split())


def test_rows_are_held_out_in_the_order_of_a_column_of_times_which_is_no_feature(tmp_path, frame):
    shuffled = frame.sample(fraction=1, shuffle=True, seed=0).with_columns(day=pl.Series(range(150)) // 2 + 0.5)
    shuffled.write_csv(tmp_path / "t.csv")
    done = run(tmp_path / "t.csv", "-t", "species", "--time", "day", "--folds", 3, "--budget", 5)
    assert done.exit_code == 0, done.output
    assert "x 4 columns" in done.stdout
    day = shuffled["day"].to_numpy()
    found = discrim.compare(
        discrim.scan(tmp_path / "t.csv", target="species", without=["day"]), cv=3, time=day, budget=5
    )
    assert " ".join(found.verdict.split()) in " ".join(done.stdout.split())
    done = run(tmp_path / "t.csv", "-t", "species", "--time", "dya")
    assert "--time names the column 'dya'; the columns are" in " ".join(done.stderr.split())


def test_a_weight_column_is_no_feature(tmp_path, frame):
    frame.with_columns(times=pl.lit(2.0)).write_csv(tmp_path / "w.csv")
    assert "x 4 columns" in run(tmp_path / "w.csv", "-t", "species", "--weight", "times", *QUICK).stdout


def test_columns_that_are_no_categories_are_left_out_and_named(tmp_path, frame):
    odd = frame.with_columns(
        name=pl.Series([f"plant{i}" for i in range(150)]),
        remark=pl.Series([f"a plant found near place {i}" for i in range(150)]),
        day=pl.lit("2026-01-31").str.to_date(),
    )
    odd.write_parquet(tmp_path / "odd.parquet")
    done = run(tmp_path / "odd.parquet", "-t", "species", *QUICK)
    assert "(4 when coded)" in done.stdout
    said = " ".join(done.stdout.split())
    assert "Column 'name' has 150 different values in 150 rows and is left out" in said
    assert "Column 'remark' has 150 different values in 150 rows and is left out" in said
    assert "Column 'day' holds dates or times and is left out." in said
    assert "--text 'remark' classifies by its words" in " ".join(done.stderr.split())
    assert max(map(len, done.output.splitlines())) <= 80


def test_an_index_that_pandas_wrote_is_left_out_unless_it_is_asked_for(tmp_path, iris):
    lines = iris.read_text().splitlines()
    (tmp_path / "index.csv").write_text(
        "\n".join([f",{lines[0]}", *(f"{i},{line}" for i, line in enumerate(lines[1:]))])
    )
    done = run(tmp_path / "index.csv", "-t", "species", *QUICK)
    assert "x 4 columns" in done.stdout
    assert "The column without a name numbers the rows and is left out." in " ".join(done.stderr.split())


@pytest.fixture
def mails(tmp_path):
    texts = [f"win a free prize number {i}" if i % 2 else f"lunch at noon number {i}" for i in range(40)]
    frame = pl.DataFrame(
        {
            "mail": texts,
            "kind": ["spam" if i % 2 else "ham" for i in range(40)],
            "size": [i * i % 17 for i in range(40)],
        }
    )
    frame.write_csv(tmp_path / "mails.csv")
    return tmp_path / "mails.csv"


def test_a_column_of_text_is_classified_by_its_words(mails):
    done = run(mails, "-t", "kind", "--text", "mail", "--summary")
    assert done.exit_code == 0, done.output
    assert "40 documents x" in done.stdout
    assert "prize" in done.stdout


def test_a_table_of_text_alone_needs_no_option(mails):
    done = run(mails, "-t", "kind", "--without", "size")
    assert "the column 'mail' holds text; the models learn from its words." in " ".join(done.stderr.split())
    assert "40 documents x" in done.stdout


def test_a_folder_of_documents_brings_its_classes(tmp_path):
    for kind, words in {"spam": "win a prize", "ham": "lunch at noon"}.items():
        (tmp_path / "mail" / kind).mkdir(parents=True)
        for i in range(12):
            (tmp_path / "mail" / kind / f"{i}.txt").write_text(f"{words} {i}")
    done = run(tmp_path / "mail")
    assert "24 documents x" in done.stdout
    for option in ("--target", "--without"):
        refused = run(tmp_path / "mail", option, "kind")
        assert refused.exit_code == 2
        assert f"{option} is for tables" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{iris}"], "Which column holds the classes? Pass --target COLUMN; the columns are"),
        (["{iris}", "-t", "kind"], "There is no column 'kind'"),
        (["missing.csv", "-t", "kind"], "There is no file 'missing.csv'"),
        (["{iris}", "-t", "species", "--without", "colour"], "There is no column 'colour'"),
        (
            ["{iris}", "-t", "species", "--features", "sepal width", "--without", "colour"],
            "There is no column 'colour'",
        ),
        (
            ["{iris}", "-t", "species", "--text", "species", "--without", "petal width"],
            "the words of that column alone",
        ),
        (["{iris}", "-t", "species", "--features", "colour"], "There is no column 'colour'"),
        (["{iris}", "-t", "species", "--weight", "colour"], "There is no column 'colour'"),
        (["{iris}", "-t", "species", "--folds", "1"], "--folds is 1; it must be at least 2"),
        (["{iris}", "-t", "species", "--budget", "-5"], "--budget is -5; it must be at least 0"),
    ],
)
def test_a_mistake_is_reported_in_a_sentence(iris, arguments, message):
    done = run(*(argument.format(iris=iris) for argument in arguments))
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: ")
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,y\n" + "".join(f"{i % 9},{i / 7}\n" for i in range(30)),
            "The target 'y' holds numbers with fractions: it looks like a number, not like classes",
        ),
        ("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(30)), "There is no column left to learn from. Column 'a'"),
        ("a,y\n", "There are no rows in the file"),
        ("a,y\n" + "1,u\n" * 9 + ",\n" * 9, "9 of 18 are missing"),
    ],
)
def test_a_table_that_cannot_be_used_is_reported_in_lines_of_eighty_columns(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    done = run(tmp_path / "t.csv", "-t", "y")
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    # A path may be longer than a line by itself.
    assert all(len(line) <= 80 or str(tmp_path) in line for line in done.stderr.splitlines())


def test_a_word_among_numbers_is_named(tmp_path, frame):
    first = frame.columns[0]
    values = pl.Series(["oops", *(f"{i / 7}" for i in range(149))])
    frame.with_columns(values.alias(first)).write_csv(tmp_path / "t.csv")
    done = run(tmp_path / "t.csv", "-t", "species", *QUICK)
    said = " ".join(done.stdout.split())
    assert f"Column '{first}' holds numbers besides 'oops' (1 row) and is read as numbers" in said
    assert "x 4 columns" in said


def test_a_report_that_cannot_be_written_is_refused_before_the_work(iris, tmp_path):
    done = run(iris, "-t", "species", "--report", tmp_path / "none" / "out.html")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "there is no folder" in done.stderr


def test_a_report_of_before_outlives_a_run_that_fails(iris, tmp_path):
    (tmp_path / "out.html").write_text("before")
    assert run(iris, "-t", "kind", "--report", tmp_path / "out.html").exit_code == 2
    assert (tmp_path / "out.html").read_text() == "before"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_ctrl_c_ends_it_without_a_traceback(tmp_path):
    import numpy as np

    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=60_000) for j in range(40)}
    pl.DataFrame({**columns, "y": rng.integers(0, 5, 60_000)}).write_parquet(tmp_path / "large.parquet")
    command = [sys.executable, "-m", "discrim", "compare", str(tmp_path / "large.parquet"), "-t", "y"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=120)
    assert "Traceback" not in message
    # Either nothing was done yet, or what was done is compared, with a note.
    if "Stopped by the user" not in message:
        assert message == "Stopped.\n"
    # Python ends by the signal itself where that came while compiled code ran some Python; a shell calls both 130.
    assert process.returncode in {130, -signal.SIGINT}


def test_ctrl_c_before_any_model_is_tried_is_reported_alike(monkeypatch, iris):
    from discrim.cli import tables

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "open_table", interrupted)
    done = run(iris, "-t", "species")
    assert (done.exit_code, done.stderr) == (130, "Stopped.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of another kind")
@pytest.mark.parametrize("read", [0, 1])
def test_output_that_is_closed_early_ends_it_without_a_word(read, iris):
    command = [sys.executable, "-m", "discrim", "compare", str(iris), "-t", "species", "--summary", "--folds=2"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if read:
        assert "models on 150 rows" in process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    # As a shell reports it. What was written before the end was read may have been all there was.
    assert process.wait(timeout=120) in ({0, 141} if read else {141})


# The command as it is, with a line that is drawn at once.
IMPATIENT = (
    "from discrim.engines import progress; progress.PATIENCE, progress.PAUSE = 0.0, 0.01;"
    "from discrim.cli import main; main()"
)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_terminal_shows_how_far_a_comparison_of_texts_is(mails):
    import pty

    here, there = pty.openpty()
    command = [sys.executable, "-c", IMPATIENT, "compare", str(mails), "-t", "kind", "--text", "mail"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=there, text=True)
    os.close(there)
    shown = b""
    try:
        while chunk := os.read(here, 1 << 16):
            shown += chunk
    except OSError:
        pass  # what Linux reports at the end of a terminal
    os.close(here)
    assert "40 documents x" in process.communicate(timeout=120)[0]
    lines = shown.decode().split("\r\x1b[K")
    assert any(line.startswith("Reading words: ") for line in lines)
    assert any(line.startswith("comparing Logistic") and "] " in line and " s" in line for line in lines)
    assert max(map(len, lines)) <= 79
    assert lines[-1] == ""


def test_where_there_is_no_terminal_nothing_is_shown(mails, monkeypatch):
    from discrim.engines import progress

    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "PAUSE", 0.01)
    done = run(mails, "-t", "kind", "--text", "mail")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout


def test_without_click_it_says_what_to_install(monkeypatch):
    from discrim import cli

    monkeypatch.delitem(sys.modules, "discrim.cli.commands", raising=False)
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit, match=r"pip install 'discrim\[app\]'"):
        cli.main()


def test_the_baseline_that_was_chosen_is_saved_and_finds_its_columns(tmp_path):
    rng = np.random.default_rng(0)
    noise = pl.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80), "kind": rng.choice(["x", "y", "y"], 80)})
    noise.write_csv(tmp_path / "noise.csv")
    done = run(tmp_path / "noise.csv", "-t", "kind", "--save", tmp_path / "noise.discrim", *QUICK)
    assert "No model is significantly better than always predicting 'y'" in done.stdout
    from discrim.cli.commands import discrim as command

    arguments = ["evaluate", str(tmp_path / "noise.discrim"), str(tmp_path / "noise.csv"), "-t", "kind"]
    done = testing.CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    assert "Error of the baseline:" in done.output


def test_text_where_the_model_knows_numbers_is_refused_and_not_filled_in(tmp_path):
    rng = np.random.default_rng(0)
    width = np.round(rng.normal(size=80), 2)
    table = pl.DataFrame({"a": width, "b": rng.normal(size=80), "kind": np.where(width > 0, "x", "y")})
    table = table.with_columns(pl.when(pl.int_range(80) % 9 == 0).then(None).otherwise(pl.col("b")).alias("b"))
    table.write_csv(tmp_path / "train.csv")
    run(tmp_path / "train.csv", "-t", "kind", "--save", tmp_path / "m.discrim", *QUICK)
    (tmp_path / "new.csv").write_text("a,b\n" + "wide,0.5\n" * 5)
    from discrim.cli.commands import discrim as command

    done = testing.CliRunner().invoke(command, ["predict", str(tmp_path / "m.discrim"), str(tmp_path / "new.csv")])
    assert done.exit_code == 2
    said = " ".join(done.output.split())
    assert "Column 'a' was numeric when the model was fitted and is text now, such as 'wide'." in said


def test_the_table_of_columns_is_printed_on_request_and_part_of_the_data(iris):
    done = run(iris, "--target", "species", "--columns", "--types", "petal width=category", *QUICK)
    assert done.exit_code == 0
    assert "petal width   category, 22 levels" in done.output
    data = json.loads(run(iris, "--target", "species", "--json", *QUICK).output)
    assert [column["taken_for"] for column in data["column_table"]] == ["number"] * 4
