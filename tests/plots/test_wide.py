"""Pictures of many more columns than rows: no matrix of columns by columns is made."""

import tracemalloc

import numpy as np
import pytest

import discrim
from discrim import plots
from discrim.errors import ParameterError

COLUMNS = 3000


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 15)
    X = rng.normal(size=(45, COLUMNS))
    X[:, :40] += np.repeat(rng.normal(scale=2.0, size=(3, 40)), 15, axis=0)
    return X, y


def words(ax):
    return " ".join(text.get_text() for text in ax.texts).replace("\n", " ")


def test_naive_bayes_of_many_columns_has_a_plane_of_its_own(wide):
    ax = discrim.GaussianNB().fit(*wide).plot(*wide)
    assert "columns taken as independent" in words(ax)
    assert ax.get_xlabel().startswith("LD1 (")
    assert "largest weights" in words(discrim.GaussianNB().fit(*wide).plot())


def test_that_plane_is_the_one_of_independent_columns(wide):
    from discrim.plots.plane import discriminant_plane

    X, y = wide
    plane = discriminant_plane(discrim.GaussianNB().fit(X, y))
    means = np.array([X[y == label].mean(axis=0) for label in "abc"])
    within = np.mean([X[y == label].var(axis=0) for label in "abc"], axis=0)
    assert np.allclose(plane.scalings.T @ (within[:, None] * plane.scalings), np.eye(2))
    between = (means - means.mean(axis=0)) @ plane.scalings
    assert np.allclose((between.T @ between)[0, 1], 0, atol=1e-8)
    # No other direction separates better, with these variances.
    best = ((means - means.mean(axis=0)) ** 2 / within).sum() / 3
    assert plane.share.sum() == pytest.approx(1.0)
    assert (between**2).sum() / 3 == pytest.approx(best)


def test_models_without_a_diagonal_statistic_take_the_rows(wide):
    model = discrim.RegularizedDiscriminantAnalysis(gamma=0.5).fit(*wide)
    assert "columns taken as independent" in words(model.plot(*wide))
    with pytest.raises(ParameterError, match="Pass rows and their labels"):
        model.plot()


@pytest.mark.parametrize("name", ["projection", "ellipses"])
def test_rows_of_two_classes_are_drawn_without_a_matrix_of_the_columns(name, wide):
    X, y = wide[0][:30], wide[1][:30]
    model = discrim.LinearDiscriminantAnalysis(shrinkage="auto").fit(X, y)
    options = {"directions": ["means", "pca"]} if name == "projection" else {"columns": (0, 1)}
    tracemalloc.start()
    getattr(plots, name)(model, X, y, **options)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < COLUMNS * COLUMNS * 8 / 2
