"""What holds for every verb: help, examples, JSON, exit codes; and the verbs that need no data."""

from __future__ import annotations

import json
import re
import shlex
import subprocess

import pytest

from discrim import datasets as library

pl = pytest.importorskip("polars")
click = pytest.importorskip("click")


def verbs():
    from discrim.cli.commands import VERBS

    return VERBS


def test_help_imports_nothing_heavy(run_program):
    code = """
        import sys
        before = set(sys.modules)
        from discrim.cli import main
        sys.argv[0] = "discrim"
        try:
            main()
        except SystemExit:
            pass
        heavy = {"numpy", "scipy", "sklearn", "polars", "pyarrow", "rich", "pandas", "duckdb"}
        print(heavy & {name.partition(".")[0] for name in set(sys.modules) - before})
        """
    done = run_program(code, arguments=["--help"])
    assert done.stdout.splitlines()[-1] == "set()"
    assert "compare" in done.stdout


@pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)
def test_every_verb_has_a_help_of_eighty_columns_with_examples_that_can_be_parsed(discrim, verb):
    done = discrim(verb.name, "--help")
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    examples = done.stdout.split("Examples:\n")[1].strip().splitlines()
    assert len(examples) >= 2
    for line in examples:
        for command in line.split(" | "):
            words = shlex.split(re.split(" (<|>|>>) ", command)[0])
            assert words[0] == "discrim"
            (used,) = [one for one in verbs() if one.name == words[1]]
            used.make_context("discrim", words[2:])  # raises where an option does not exist


@pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)
def test_every_verb_can_print_json(verb):
    assert "--json" in [flag for parameter in verb.params for flag in parameter.opts]


def test_the_list_of_verbs_has_a_sentence_for_each(discrim):
    done = discrim("--help")
    for verb in verbs():
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"  {verb.name} ")]
        assert line.rstrip().endswith(".")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_bug_has_an_exit_code_of_its_own_and_shows_its_traceback_on_request(discrim, monkeypatch):
    from discrim.cli import completion

    def broken(*_, **__):
        raise KeyError("here")

    monkeypatch.setattr(completion, "get_completion_class", broken)
    done = discrim("completion", "bash")
    assert (done.exit_code, done.stdout) == (70, "")
    message = " ".join(done.stderr.split())
    assert message.startswith("Error: This is a bug in discrim (KeyError: 'here'). Please report it")
    assert "DISCRIM_TRACEBACK=1" in message
    assert "Traceback" not in message
    monkeypatch.setenv("DISCRIM_TRACEBACK", "1")
    assert isinstance(discrim("completion", "bash").exception, KeyError)


@pytest.mark.parametrize("arguments", [["fit", "LDA"], ["fti"], ["fit", "LDA", "t.csv", "--colour"], []])
def test_a_usage_error_has_the_code_of_other_errors(discrim, arguments):
    done = discrim(*arguments)
    assert done.exit_code == 2
    assert "Usage: discrim" in done.output
    assert max(map(len, done.output.splitlines())) <= 80


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "LDA", "t.csv", "--tagret", "y"],
        ["export", "m.discrim", "--to", "sql", "--table", "t", "--dialect", "mysql"],
        ["compare", "t.csv", "-t", "y", "--metric", "eror"],
    ],
)
def test_what_click_says_of_arguments_fits_the_terminal(discrim, arguments):
    done = discrim(*arguments)
    assert done.exit_code == 2
    assert max(map(len, done.stderr.splitlines())) <= 80


def test_no_memory_is_no_bug(discrim, monkeypatch):
    from discrim.cli import completion

    def large(*_, **__):
        raise MemoryError

    monkeypatch.setattr(completion, "get_completion_class", large)
    done = discrim("completion", "bash")
    assert done.exit_code == 2
    assert "There is not enough memory" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_for_the_command_of_this_name(discrim, shell):
    source = discrim("completion", shell).stdout
    assert "_DISCRIM_COMPLETE" in source
    assert json.loads(discrim("completion", shell, "--json").stdout) == {"shell": shell, "source": source[:-1]}


def test_bash_completes_verbs_and_options(tmp_path, discrim):
    (tmp_path / "completion").write_text(discrim("completion", "bash").stdout)
    checked = subprocess.run(["bash", "-n", tmp_path / "completion"], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_data_sets_are_listed_and_written_as_csv(discrim, tmp_path):
    assert "iris          150         4        3" in discrim("datasets").stdout
    assert {"name": "crabs", "rows": 200, "features": 5, "classes": 4}.items() <= next(
        one for one in json.loads(discrim("datasets", "--json").stdout) if one["name"] == "crabs"
    ).items()
    done = discrim("datasets", "crabs", "-o", tmp_path / "crabs.csv")
    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / "crabs.csv").read_text() == discrim("datasets", "crabs").stdout
    written, crabs = pl.read_csv(tmp_path / "crabs.csv"), library.load_crabs()
    assert written.columns == ["FL", "RW", "CL", "CW", "BD", "target", "sp", "sex"]
    assert written["BD"].to_list() == crabs.data[:, 4].tolist()
    assert written["target"].to_list() == crabs.target.tolist()


def test_a_data_set_that_does_not_exist_is_named(discrim, tmp_path):
    done = discrim("datasets", "irises", "-o", tmp_path / "x.csv")
    assert done.exit_code == 2
    assert "There is no data set 'irises'. There are 'challenger', 'crabs'" in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []
