import json
from pathlib import Path

import pytest

from discrim.datasets import load_crabs, load_iris


@pytest.fixture(scope="session")
def mass():
    """The numbers that make_reference.R wrote."""
    return json.loads((Path(__file__).parent / "mass.json").read_text())


@pytest.fixture(scope="session", params=["iris", "crabs"])
def case(request, mass):
    """One data set and R's numbers for it: X, y, numbers."""
    dataset = load_iris() if request.param == "iris" else load_crabs(log=True)
    return *dataset.xy, mass[request.param]
