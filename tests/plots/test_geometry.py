"""Half-spaces, spheres, cells, schemes, scores along a line, maps of features."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import discrim
from discrim import plots
from discrim.errors import ParameterError


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    cov = [[1, 0.7], [0.7, 1]]
    X = np.vstack([rng.multivariate_normal(mean, cov, 60) for mean in ((0, 0), (4, 0), (2, 3.5))])
    return X, np.repeat([0, 1, 2], 60)


def test_the_distance_of_a_point_is_that_of_the_formula(clouds):
    X, y = clouds[0][:120], clouds[1][:120]
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    ax = plots.half_space(model, X, y, point=(3.0, 3.0))
    d = float(model.decision_function([[3.0, 3.0]])[0] / np.linalg.norm(model.coef_))
    assert f"distance {d:.3g}" in [text.get_text() for text in ax.texts]
    (x0, x1), (y0, y1) = ax.lines[1].get_data()
    assert np.hypot(x0 - x1, y0 - y1) == pytest.approx(abs(d))
    assert model.decision_function([[x1, y1]])[0] == pytest.approx(0, abs=1e-9)
    assert ax.get_aspect() == 1.0


def test_after_sphering_classes_are_round_and_directions_follow_lda(clouds):
    axes = plots.sphering(*clouds)
    points = [c.get_offsets() for c in axes[1].collections]
    pooled = np.mean([np.cov(part.T, bias=True) for part in points], axis=0)
    assert np.allclose(pooled, np.eye(2), atol=1e-6)
    turned = np.array([c.get_offsets().mean(axis=0) for c in axes[2].collections])
    assert turned[:, 0] @ turned[:, 1] == pytest.approx(0, abs=1e-6)


def test_sphered_cells_are_the_regions_of_lda_with_equal_priors(clouds):
    X, y = clouds
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    image = plots.voronoi(model, X, y).images[0]
    left, right, bottom, top = image.get_extent()
    a, b = np.meshgrid(np.linspace(left, right, 200), np.linspace(bottom, top, 200))
    z = np.column_stack([a.ravel(), b.ravel()])
    back = model.xbar_ + z @ np.linalg.pinv(model.scalings_)
    pixels = np.asarray(image.get_array()).reshape(-1, 4)
    codes = np.unique(pixels.round(6), axis=0, return_inverse=True)[1].ravel()
    answers = model.predict(back)
    agreement = max(np.mean(np.array(order)[codes] == answers) for order in permutations(range(3)))
    assert agreement > 0.999


def test_raw_cells_need_two_columns(iris, lda, clouds):
    assert plots.voronoi(discrim.LinearDiscriminantAnalysis().fit(*clouds), *clouds, sphered=False).images
    with pytest.raises(ParameterError, match="two columns"):
        plots.voronoi(lda, *iris, sphered=False, columns=(0, 1))


def test_a_scheme_shows_the_border_of_each_model(clouds):
    X, y = clouds
    model = discrim.OneVsRestClassifier(discrim.LeastSquaresClassifier(), rule="positive-only").fit(X, y)
    few, many = plots.regions(model, X, y), plots.scheme(model, X, y)
    assert len(many.collections) == len(few.collections) + 3
    with pytest.raises(ParameterError, match="estimators_"):
        plots.scheme(discrim.GaussianNB().fit(X, y), X, y)


def test_a_masked_class_is_named():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(mean, 1, (200, 2)) for mean in (-3, 0, 3)])
    y = np.repeat([0, 1, 2], 200)
    masked = plots.scores(discrim.LeastSquaresClassifier().fit(X, y), X, y)
    assert "never the largest on this line: '1'" in masked.texts[-1].get_text()
    assert not plots.scores(discrim.LinearDiscriminantAnalysis().fit(X, y), X, y).texts


def test_xor_is_separated_by_a_plane_in_three_dimensions():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    features = PolynomialFeatures(interaction_only=True, include_bias=False)
    model = make_pipeline(features, discrim.LogisticRegression(C=100)).fit(X, y)
    left, right = plots.feature_map(model, X, y)
    assert right.name == "3d"
    assert len(left.images) == 1


def test_one_column_and_its_square():
    x = np.linspace(-2.5, 2.5, 30)[:, None]
    y = (np.abs(x[:, 0]) < 1).astype(int)
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), discrim.LogisticRegression(C=100)).fit(x, y)
    right = plots.feature_map(model, x, y)[1]
    drawn = np.vstack([c.get_offsets() for c in right.collections])
    assert np.allclose(drawn[:, 1], drawn[:, 0] ** 2)


def test_maps_and_half_spaces_of_more_columns_are_refused(iris, two_irises, logistic):
    with pytest.raises(ParameterError, match="the model has 4"):
        plots.half_space(logistic, *two_irises)
    wide = make_pipeline(PolynomialFeatures(2), discrim.LogisticRegression()).fit(*two_irises)
    with pytest.raises(ParameterError, match="from 4 to 15"):
        plots.feature_map(wide, *two_irises)
    with pytest.raises(ParameterError, match="labels y of at least two"):
        plots.sphering(two_irises[0][:, :2], None)


def test_feet_are_the_projections_and_their_variances_add_up(clouds):
    X, y = clouds
    w = np.array([0.6, 0.8])
    ax = plots.feet(X, y, 5 * w, threshold=1.0)
    within, between = (float(part.split()[-1]) for part in ax.get_title(loc="left").split(","))
    assert within + between == pytest.approx(np.var(X @ w), rel=0.01)
    ticks = next(line.get_xydata() for line in ax.lines if len(line.get_xdata()) == (y == 0).sum())
    assert np.allclose(ticks @ w, X[y == 0] @ w)
    assert np.ptp(ticks @ [-0.8, 0.6]) < 1e-9
    with pytest.raises(ParameterError, match="'direction' parameter"):
        plots.feet(X, y, (0, 0))
    with pytest.raises(ParameterError, match="need labels"):
        plots.feet(X, None, w)


def test_distances_of_several_points_are_those_of_the_model(two_irises):
    X, y = two_irises[0][:, 2:], two_irises[1]
    model = discrim.LogisticRegression().fit(X, y)
    points = [[4.0, 1.0], [6.0, 2.4]]
    said = [text.get_text() for text in plots.half_space(model, X, y, point=points).texts]
    assert [f"{d:+#.3g}" for d in model.distance(points)] == said[:2]
    with pytest.raises(ParameterError, match="rows of two numbers"):
        plots.half_space(model, X, y, point="here")
