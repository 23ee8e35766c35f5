"""A comparison of all models, of which several of these files look at one part each."""

from __future__ import annotations

import inspect

import pytest

from discrim import compare, datasets


@pytest.fixture(scope="module", autouse=True)
def quick_comparisons():
    """Boosted trees take ten times as long as all else together: only tests about them ask for them."""
    defaults = inspect.unwrap(compare).__kwdefaults__
    default, defaults["reference"] = defaults["reference"], None
    yield
    defaults["reference"] = default


@pytest.fixture(scope="session")
def iris_compared():
    return compare(*datasets.load_iris().xy, reference=None)
