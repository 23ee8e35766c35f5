"""Regions and borders: what is drawn is what the model says."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Peer

import discrim
from discrim import plots
from discrim.errors import DataError, ParameterError


def contour_points(ax):
    """All points of the contour lines."""
    from matplotlib.contour import ContourSet

    parts = [path.vertices for c in ax.collections if isinstance(c, ContourSet) for path in c.get_paths()]
    return np.vstack([part for part in parts if len(part)])


def test_the_border_of_lda_is_where_two_scores_are_equal(iris):
    X, y = iris[0][:, 2:], iris[1]
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    ax = plots.borders(model, X, y)
    scores = np.sort(model.decision_function(contour_points(ax)), axis=1)
    gap = scores[:, -1] - scores[:, -2]
    spread = np.ptp(model.decision_function(X))
    # A cell or two beyond a corner, where three regions meet, a third class may lead.
    assert np.median(gap) < 1e-9 * spread
    assert gap.max() < 0.05 * spread


def test_the_areas_have_the_colours_of_the_answers(iris):
    X, y = iris[0][:, 2:], iris[1]
    model = discrim.QuadraticDiscriminantAnalysis().fit(X, y)
    image = plots.regions(model, X, y).images[0]
    left, right, bottom, top = image.get_extent()
    a, b = np.meshgrid(np.linspace(left, right, 200), np.linspace(bottom, top, 200))
    answers = model.predict(np.column_stack([a.ravel(), b.ravel()]))
    pixels = np.asarray(image.get_array()).reshape(-1, 4)
    for label in model.classes_:
        assert len(np.unique(pixels[answers == label].round(6), axis=0)) == 1
    assert len(np.unique(pixels.round(6), axis=0)) == 3


def test_a_hyperplane_stands_where_the_border_of_its_model_does(two_irises):
    X, y = two_irises[0][:, 2:], two_irises[1]
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    ax = plots.borders({"model": model, "plane": model.hyperplane()}, X, y)
    drawn = np.vstack([path.vertices for path in ax.collections[0].get_paths()])
    assert np.abs(model.hyperplane().distance(drawn)).max() < 0.01
    assert [text.get_text() for text in ax.get_legend().texts][-2:] == ["model", "plane"]
    with pytest.raises(ParameterError, match="A hyperplane is drawn in two columns; it has 4"):
        plots.borders({"plane": discrim.LogisticRegression().fit(*two_irises).hyperplane()}, *two_irises)


def test_a_picture_on_the_same_axes_keeps_the_legend_and_the_remarks(two_irises):
    X, y = two_irises[0][:, 2:], two_irises[1]
    qda = discrim.QuadraticDiscriminantAnalysis().fit(X, y)
    ax = plots.borders({"QDA": qda}, X, y)
    plots.ellipses(qda, ax=ax)
    said = [text.get_text() for text in ax.get_legend().texts]
    assert sorted(said) == ["QDA", "versicolor", "virginica"]
    plots.ellipses(qda, levels=[0.1], ax=ax)
    notes = [text.get_text().replace("\n", " ") for text in ax.texts if "ellipses" in text.get_text()]
    assert len(notes) == 1
    assert "50% and 95%" in notes[0]
    assert "10%" in notes[0]


def test_two_columns_are_never_chosen_silently(iris, lda):
    with pytest.raises(ParameterError, match=r"X has 4 columns .* columns=\(a, b\).*plots.discriminants"):
        plots.regions(lda, *iris)
    with pytest.raises(ParameterError, match="others='hold' holds them at their means"):
        plots.regions(lda, *iris, columns=(0, 1))


def test_other_columns_are_held_at_their_means(iris, lda):
    X, y = iris
    ax = plots.regions(lda, X, y, columns=(2, 3), others="hold")
    at = contour_points(ax)
    rows = np.tile(X.mean(axis=0), (len(at), 1))
    rows[:, 2:] = at
    scores = np.sort(lda.decision_function(rows), axis=1)
    assert np.median(scores[:, -1] - scores[:, -2]) < 1e-6
    assert "held at the mean" in " ".join(text.get_text() for text in ax.texts)


def test_marginal_regions_differ_and_say_so(iris, qda):
    ax = plots.regions(qda, *iris, columns=(0, 1), others="marginal")
    assert "averaged over rows" in " ".join(text.get_text() for text in ax.texts)


def test_answers_that_are_no_class_are_hatched_and_named(iris):
    X, y = iris[0][:, :2], iris[1]
    model = discrim.OneVsRestClassifier(discrim.LeastSquaresClassifier(), rule="positive-only").fit(X, y)
    ax = plots.regions(model, X, y)
    assert [text.get_text() for text in ax.get_legend().texts][-1] == "no class: ambiguous"


def test_a_model_fitted_on_named_columns_is_asked_with_names(iris, recwarn):
    X = pd.DataFrame(iris[0][:, :2], columns=["length", "width"])
    ax = plots.regions(discrim.LogisticRegression().fit(X, iris[1]), X, iris[1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    assert not [w for w in recwarn if "feature names" in str(w.message)]


def test_models_of_other_libraries_are_drawn(iris):
    X, y = iris[0][:, :2], iris[1]
    assert len(plots.regions(Peer().fit(X, y), X, shade="posterior").images) == 1


def test_lines_have_the_formats_that_are_given(iris):
    X, y = iris[0][:, 2:], iris[1]
    models = {
        "LDA": discrim.LinearDiscriminantAnalysis().fit(X, y),
        "QDA": discrim.QuadraticDiscriminantAnalysis().fit(X, y),
    }
    lines = plots.borders(models, X, y, formats={"LDA": "k--", "QDA": "C2"}).get_legend().get_lines()[-2:]
    assert [line.get_label() for line in lines] == ["LDA", "QDA"]
    from discrim.plots.style import LIGHT

    assert [line.get_color() for line in lines] == [LIGHT.ink, LIGHT.colour(2)]
    for wrong in ({"LDA": "red"}, {"LDA": 3}):
        with pytest.raises(ParameterError, match="formats"):
            plots.borders(models, X, y, formats=wrong)


def test_many_rows_are_sampled_and_the_picture_says_so(lda, iris):
    X, y = np.tile(iris[0], (100, 1)), np.tile(iris[1], 100)
    ax = plots.regions(lda, X, y, columns=(0, 1), others="hold")
    assert sum(len(c.get_offsets()) for c in ax.collections if c.get_offsets().size > 2) <= 4000 + 3
    assert "4,000 of 15,000 rows drawn" in " ".join(text.get_text() for text in ax.texts).replace("\n", " ")


@pytest.mark.parametrize(
    ("X", "y", "text"),
    [
        (np.zeros(3), None, "a table of rows and columns"),
        (np.array([[0.0, np.nan], [1, np.nan]]), None, "NaN"),
        (pd.DataFrame({"a": [1.0, 2], "b": ["u", "v"]}), None, "'b' holds something else"),
        (np.zeros((3, 2)), [0, 1], "of equal length"),
    ],
)
def test_tables_that_cannot_be_drawn_are_refused_in_words(X, y, text):
    with pytest.raises(DataError, match=text):
        plots.points(X, y)


def test_strange_labels_and_columns_are_named(iris, lda):
    with pytest.raises(DataError, match=r"'rose'.*knows 'setosa'"):
        plots.regions(lda, iris[0][:2], ["setosa", "rose"], columns=(0, 1), others="hold")
    with pytest.raises(ParameterError, match="There is no column 'petal'"):
        plots.points(*iris, columns=("petal", 1))


def test_only_the_columns_that_are_drawn_must_be_numbers():
    X = pd.DataFrame({"kind": ["u", "v", "w"], "a": [1.0, 2, 3], "b": [3.0, 1, 2]})
    assert plots.points(X, columns=("a", "b")).get_ylabel() == "b"
    assert plots.pairs(X, columns=["b", "a"])[0, 0].get_ylabel() == "b"
    assert plots.points([[0, 1], [2, 3]]).get_xlabel() == "x0"


def test_the_file_of_a_picture_of_many_rows_is_small():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200_000)
    X = rng.normal(size=(len(y), 2)) + y[:, None]
    file = io.BytesIO()
    plots.regions(discrim.LinearDiscriminantAnalysis().fit(X, y), X, y).figure.savefig(file, format="svg")
    assert len(file.getvalue()) < 2_000_000
