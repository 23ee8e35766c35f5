"""Discriminant coordinates, projections, ellipses."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as PeerLda
from sklearn.linear_model import LogisticRegression as Peer

import discrim
from discrim import plots
from discrim.errors import ParameterError
from discrim.plots.plane import discriminant_plane


def test_points_are_those_of_transform(iris, lda):
    ax = plots.discriminants(lda, *iris)
    drawn = np.vstack([c.get_offsets() for c in ax.collections if c.get_offsets().shape[0] == 50])
    assert np.allclose(np.sort(drawn, axis=0), np.sort(lda.transform(iris[0])[:, :2], axis=0))


def test_directions_from_the_statistic_are_those_of_lda(iris, lda):
    own = discriminant_plane(lda)
    other = discriminant_plane(discrim.QuadraticDiscriminantAnalysis().fit(*iris))
    assert np.allclose(np.abs(other.scalings), np.abs(own.scalings), rtol=1e-6)
    assert np.allclose(other.share, lda.explained_variance_ratio_)


def test_the_way_back_from_the_plane_leads_to_the_same_point(iris, qda):
    plane = discriminant_plane(qda)
    z = np.array([[1.0, -2.0], [0.5, 3.0]])
    assert np.allclose(plane.project(plane.origin + z @ plane.back.T), z)


@pytest.mark.parametrize("model", [discrim.GaussianNB(), PeerLda(), Peer(max_iter=1000), discrim.NearestCentroid()])
def test_any_classifier_of_three_classes_is_drawn_in_the_plane(iris, model):
    assert plots.discriminants(model.fit(*iris), *iris).get_xlabel().startswith("LD1")


def test_without_rows_the_picture_shows_what_the_model_remembers(lda):
    ax = plots.discriminants(lda)
    assert {"setosa", "versicolor", "virginica", "x0", "x3"} <= {text.get_text() for text in ax.texts}


def test_what_is_missing_is_said(iris, two_irises, lda, logistic):
    with pytest.raises(ParameterError, match="Pass rows and their labels"):
        plots.discriminants(Peer(max_iter=1000).fit(*iris))
    with pytest.raises(ParameterError, match=r"single discriminant coordinate.*plots.projection"):
        plots.discriminants(logistic, *two_irises)
    with pytest.raises(ParameterError, match="two of the 2 discriminant coordinates"):
        plots.discriminants(lda, *iris, axes=(0, 2))
    with pytest.raises(ParameterError, match="separates two classes"):
        plots.projection(lda, *iris)


def test_fisher_has_the_largest_separation(two_irises):
    model = discrim.LinearDiscriminantAnalysis().fit(*two_irises)
    axes = plots.projection(model, *two_irises, directions=["means", "pca"])
    j = [float(ax.get_title(loc="left").split("= ")[1]) for ax in axes]
    assert len(j) == 3
    assert j[0] == max(j)
    X, y = two_irises
    w = model.coef_[0] / np.linalg.norm(model.coef_)
    a, b = (X[y == label] @ w for label in model.classes_)
    assert j[0] == pytest.approx((b.mean() - a.mean()) ** 2 / (a.var() + b.var()), rel=5e-3)
    assert axes[0].lines[0].get_xdata()[0] == pytest.approx(-model.intercept_[0] / np.linalg.norm(model.coef_))


def test_the_threshold_of_a_rule_that_is_not_linear_is_where_its_answer_changes(two_irises):
    model = discrim.QuadraticDiscriminantAnalysis().fit(*two_irises)
    ax = plots.projection(model, *two_irises)
    plane = discriminant_plane(model)
    cut = ax.lines[0].get_xdata()[0] * np.linalg.norm(plane.scalings)
    sign = np.sign(plane.means[1, 0] - plane.means[0, 0])
    z = sign * cut - plane.origin @ plane.scalings[:, 0]
    sides = [model.predict((plane.origin + (z + step) * plane.back[:, 0])[None])[0] for step in (-0.01, 0.01)]
    assert len(set(sides)) == 2


def test_eigenvalues_carry_their_share_and_test(lda):
    ax = plots.eigenvalues(lda)
    assert ax.patches[0].get_width() == pytest.approx(32.19193 * 1.0, rel=0.03)
    assert ax.texts[0].get_text() == "99.1%, p < 0.001"


def test_ellipses_of_a_class_hold_their_share(iris, qda):
    X, y = iris
    ax = plots.ellipses(qda, X, y, columns=(2, 3), levels=(0.9,))
    assert len(ax.patches) == 3
    inside = ax.patches[2].get_path().transformed(ax.patches[2].get_patch_transform())
    assert 0.8 <= inside.contains_points(X[y == "virginica"][:, 2:]).mean() <= 1.0


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2000)), np.repeat([0, 1, 2], 10)
    X[y == 1, :5] += 4
    model = discrim.LinearDiscriminantAnalysis(shrinkage=0.5).fit(X, y)
    assert model.plot(X, y).get_ylabel().startswith("LD2")


def test_the_plane_is_shaded_by_posterior_or_not_at_all(iris, lda):
    plain, deep = (plots.discriminants(lda, *iris, shade=shade).images[0] for shade in ("class", "posterior"))
    colours = [len(np.unique(np.asarray(image.get_array()).reshape(-1, 4).round(3), axis=0)) for image in (plain, deep)]
    assert colours[0] == 3
    assert colours[1] > 20
    assert not plots.discriminants(lda, *iris, shade=None).images


def test_three_classes_of_one_column_are_projected(iris):
    X, y = iris[0][:, 2:3], iris[1]
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    ax = model.plot(X, y)
    lines = [line.get_xdata()[0] for line in ax.lines]
    assert len(lines) == 2
    assert all(len({*model.predict([[cut - 0.02], [cut + 0.02]])}) == 2 for cut in lines)
    assert len(model.plot().get_legend().texts) == 3
