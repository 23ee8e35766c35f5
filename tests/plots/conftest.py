"""Data and fitted models that pictures are drawn of."""

import numpy as np
import pytest

import discrim


@pytest.fixture(scope="session")
def iris():
    return discrim.datasets.load_iris().xy


@pytest.fixture(scope="session")
def two_irises(iris):
    X, y = iris
    return X[50:], y[50:]


@pytest.fixture(scope="session")
def lda(iris):
    return discrim.LinearDiscriminantAnalysis().fit(*iris)


@pytest.fixture(scope="session")
def qda(iris):
    return discrim.QuadraticDiscriminantAnalysis().fit(*iris)


@pytest.fixture(scope="session")
def logistic(two_irises):
    return discrim.LogisticRegression(C=np.inf).fit(*two_irises)


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    """Figures belong to nobody but those who have the axes: pyplot keeps none of them."""
    from matplotlib import pyplot as plt

    before = plt.get_fignums()
    yield
    assert plt.get_fignums() == before
