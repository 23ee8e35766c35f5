"""Data that several of these files use."""

import numpy as np
import pytest

from discrim import datasets


@pytest.fixture(scope="session")
def iris():
    return datasets.load_iris().xy


@pytest.fixture(scope="session")
def two_classes():
    """Rows of two overlapping classes of unequal size, labels of text, and weights."""
    rng = np.random.default_rng(7)
    y = np.where(rng.uniform(size=240) < 0.3, "sick", "fit")
    X = rng.normal(size=(240, 3)) + 0.9 * (y == "sick")[:, None]
    return X, y, rng.uniform(0.2, 3.0, 240)
