"""Files of released versions: every later one reads them, and answers what they answered."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import discrim

from .golden.make import answer, models

FOLDER = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in FOLDER.glob("*.discrim"))


@pytest.fixture(scope="module")
def rows():
    return {name: rows for name, (_, rows) in models().items()}


def test_there_are_files():
    assert len(NAMES) >= 10


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_this_version_gives_what_it_gave(name, rows):
    model = discrim.load(FOLDER / f"{name}.discrim")
    with (FOLDER / f"{name}.csv").open() as file:
        expected = list(csv.reader(file))
    found = np.asarray(answer(model, rows[name]))
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-12, atol=1e-14)
    else:
        assert found.tolist() == [row[0] for row in expected]


def test_learning_goes_on_from_a_file_of_this_version(rows):
    model = discrim.load(FOLDER / "lda.discrim")
    assert int(model.partial_fit(rows["lda"], model.predict(rows["lda"])).statistic_.rows.sum()) == 156


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_read_where_nothing_was_imported_before(name, run_program):
    """Every kind of a file is found by way of its model."""
    path = str(FOLDER / f"{name}.discrim")
    done = run_program(f"import discrim\nassert type(discrim.load({path!r})).__module__.startswith('discrim.')\n")
    assert done.returncode == 0, done.stderr
