"""The command as it is typed, run in this process, and small tables to run it on."""

from __future__ import annotations

import pytest

from discrim import datasets

pl = pytest.importorskip("polars")
testing = pytest.importorskip("click.testing")


@pytest.fixture(scope="session")
def discrim():
    """``discrim("fit", "LDA", path, ...)``: exit code, output and what is said beside it."""
    from discrim.cli.commands import discrim as command

    def run(*arguments, given=None):
        return testing.CliRunner().invoke(command, list(map(str, arguments)), input=given, prog_name="discrim")

    return run


@pytest.fixture(scope="session")
def flowers():
    X, y = datasets.load_iris().xy
    columns = dict(zip(("sepal length", "sepal width", "petal length", "petal width"), X.T, strict=True))
    return pl.DataFrame({**columns, "species": [f"kind {label}" for label in y]})


@pytest.fixture
def table(tmp_path, flowers):
    flowers.write_csv(tmp_path / "iris.csv")
    return tmp_path / "iris.csv"


def said(done):
    """What was printed beside the output, in one line."""
    return " ".join(done.stderr.split())
