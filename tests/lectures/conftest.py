import json
from pathlib import Path

import numpy as np
import pytest

from discrim.datasets import load_crabs

TESTS = Path(__file__).resolve().parents[1]
SHARED = TESTS.parents[1] / "shared" / "data"


@pytest.fixture(scope="session")
def vowel():
    """The vowel data: X and y for training, X and y for testing."""
    folder = SHARED / "vowel"
    if not folder.is_dir():
        pytest.skip("needs vowel/train.csv and vowel/test.csv in the folder shared/data beside the repository")
    tables = [np.loadtxt(folder / f"{part}.csv", delimiter=",", skiprows=1) for part in ("train", "test")]
    return tuple(part for table in tables for part in (table[:, :10], table[:, 10].astype(int)))


@pytest.fixture(scope="session")
def spam_table():
    """The spam data: 57 named columns, and the labels 'spam' and 'nonspam'."""
    pd = pytest.importorskip("pandas", reason="the table has named columns")
    path = SHARED / "spam" / "data.csv"
    if not path.is_file():
        pytest.skip("needs spam/data.csv in the folder shared/data beside the repository")
    table = pd.read_csv(path)
    return table.drop(columns="y"), table["y"].to_numpy()


@pytest.fixture(scope="session")
def vowel_in_r():
    """R's numbers for the vowel data, made by tests/reference/make_reference.R."""
    return json.loads((TESTS / "reference" / "mass.json").read_text())["vowel"]


@pytest.fixture(scope="session")
def log_crabs():
    """Log measurements with the lecture's labels ct = sp + 2 sex: 0 is BF, 1 OF, 2 BM, 3 OM."""
    crabs = load_crabs(log=True)
    ct = (crabs.extra["sp"] == "O").astype(int) + 2 * (crabs.extra["sex"] == "M")
    return crabs.data, ct
