"""A comparison of all models, of which several of these files look at one part each."""

from __future__ import annotations

import pytest

from discrim import compare, datasets


@pytest.fixture(scope="session")
def iris_compared():
    return compare(*datasets.load_iris().xy)
