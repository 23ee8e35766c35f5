"""Pictures of data as they come: long names, many classes and columns, other scripts, dollars. All text is legible."""

import itertools
import warnings

import numpy as np
import pytest
from matplotlib.text import Text

import discrim
from discrim import plots
from discrim.errors import ParameterError
from discrim.plots.lettering import all_fitting, text_width, wrapped

CLASSES, ROWS = 14, 20
COLUMNS = ["mean corpuscular haemoglobin concentration a", "mean corpuscular haemoglobin concentration b",
           "monthly_income_before_taxes_$_and_after_$", "q"]  # fmt: skip


@pytest.fixture(scope="module")
def many():
    pandas = pytest.importorskip("pandas", reason="needs pandas for named columns")
    rng = np.random.default_rng(1)
    y = np.repeat([f"a rather long name of class {k} of the survey" for k in range(CLASSES)], ROWS)
    X = np.repeat(rng.normal(scale=6, size=(CLASSES, 4)), ROWS, axis=0) + rng.normal(size=(CLASSES * ROWS, 4))
    return pandas.DataFrame(X * [1, 1, 20_000, 1], columns=COLUMNS), y


@pytest.fixture(scope="module")
def wide():
    pandas = pytest.importorskip("pandas", reason="needs pandas for named columns")
    X = np.random.default_rng(2).normal(size=(200, 60))
    table = pandas.DataFrame(X, columns=[f"gene_{j:05d}_expression_level" for j in range(60)])
    return table, np.where(X[:, 0] + X[:, 1] > 0, "relapse within two years", "no relapse within two years")


def outside(figure):
    """Texts that leave the figure by more than a pixel; numbers of ticks beyond the ends of an axis are not drawn."""
    figure.draw_without_rendering()
    hidden = set()
    for ax in figure.axes:
        for axis, (low, high) in ((ax.xaxis, sorted(ax.get_xlim())), (ax.yaxis, sorted(ax.get_ylim()))):
            hidden |= {id(tick.label1) for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high}
    said = []
    for text in figure.findobj(Text):
        at = text.get_window_extent() if text.get_visible() and text.get_text().strip() else None
        if at is not None and id(text) not in hidden and not _within(at, figure.bbox):
            said.append(text.get_text())
    return said


def _within(at, box):
    return at.x0 >= -1 and at.y0 >= -1 and at.x1 <= box.x1 + 1 and at.y1 <= box.y1 + 1


def touching(texts):
    """Pairs of texts that cover each other."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text().strip()]
    return [
        (one, other) for (one, a), (other, b) in itertools.combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]  # fmt: skip


OF_MANY = {
    "discriminants": lambda m, X, y: m.plot(X, y),
    "discriminants without rows": lambda m, X, y: m.plot(),
    "regions": lambda m, X, y: plots.regions(m, X, y, columns=(0, 2), others="hold"),
    "points": lambda m, X, y: plots.points(X, y, columns=(0, 1)),
    "pairs": lambda m, X, y: plots.pairs(X, y),
    "ellipses": lambda m, X, y: plots.ellipses(m, X, y, columns=(1, 2)),
    "voronoi": plots.voronoi,
    "scores": plots.scores,
    "effect": lambda m, X, y: plots.effect(m, X, y, column=2),
    "confusion": lambda m, X, y: discrim.confusion(y, m.predict(X)).plot(),
    "counts": lambda m, X, y: discrim.MultinomialNB().fit(abs(X), y).plot(),
    "centroids": lambda m, X, y: discrim.NearestCentroid(shrink_threshold=0.5).fit(X, y).plot(),
    "coefficients": lambda m, X, y: discrim.RidgeClassifier().fit(X, y).plot(),
    "graph": lambda m, X, y: plots.graph(discrim.GaussianNB().fit(X, y)),
}
OF_WIDE = {
    "coefficients": lambda m, X, y: m.plot(),
    "path": lambda m, X, y: discrim.logistic_path(X, y).plot(),
    "terms": lambda m, X, y: plots.terms(m, X),
    "graph": lambda m, X, y: plots.graph(discrim.GaussianNB().fit(X, y)),
    "regions": lambda m, X, y: plots.regions(m, X, y, columns=(0, 1), others="hold"),
    "residuals": plots.residuals,
    "pairs": lambda m, X, y: plots.pairs(X, y, columns=range(6)),
}


@pytest.mark.parametrize("name", OF_MANY)
def test_no_text_of_many_classes_leaves_the_figure(name, many):
    figure = _figure(OF_MANY[name](discrim.LinearDiscriminantAnalysis().fit(*many), *many))
    assert outside(figure) == []


@pytest.mark.parametrize("name", OF_WIDE)
def test_no_text_of_many_columns_leaves_the_figure(name, wide):
    figure = _figure(OF_WIDE[name](discrim.LogisticRegression().fit(*wide), *wide))
    assert outside(figure) == []


def _figure(made):
    return np.ravel(np.asarray(made, dtype=object))[0].figure


def test_names_of_panels_nodes_and_bars_do_not_touch(many, wide):
    matrix = plots.pairs(*many)
    matrix[0, 0].figure.draw_without_rendering()
    assert touching([ax.xaxis.label for ax in matrix[-1]] + [ax.yaxis.label for ax in matrix[:, 0]]) == []
    for table in (many, wide):
        ax = plots.graph(discrim.GaussianNB().fit(*table))
        ax.figure.draw_without_rendering()
        nodes = [text for text in ax.texts if text.get_bbox_patch() is not None]
        boxes = [text.get_bbox_patch().get_window_extent() for text in nodes[1:]]
        assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
    ax = discrim.NearestCentroid(shrink_threshold=0.5).fit(*many).plot()
    ax.figure.draw_without_rendering()
    assert touching(ax.get_xticklabels()) == []


def test_remarks_stand_below_the_name_of_the_axis():
    curves = {f"model {k}": discrim.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) for k in range(8)}
    ax = plots.roc(curves)
    ax.figure.draw_without_rendering()
    assert ax.texts[-1].get_text() == "grey: 2 further curves"
    assert touching([ax.xaxis.label, ax.texts[-1]]) == []


def test_a_picture_keeps_its_size_below_a_long_legend(many):
    X, y = many
    few = np.isin(y, np.unique(y)[:3])
    heights = []
    for rows in (few, np.ones(len(y), dtype=bool)):
        ax = plots.points(X[rows], y[rows], columns=(0, 1))
        ax.figure.draw_without_rendering()
        heights.append(ax.get_window_extent().height)
    assert heights[1] > 0.93 * heights[0]


def test_more_classes_than_colours_are_told_by_shape_and_depth(many):
    from discrim.plots.style import LIGHT

    ax = plots.effect(discrim.LinearDiscriminantAnalysis().fit(*many), *many, column=0)
    curves = ax.lines[:CLASSES]
    assert len({(line.get_color(), line.get_marker()) for line in curves}) == CLASSES
    assert LIGHT.depth(0) != LIGHT.depth(8)


def test_one_in_several_of_sixty_classes_is_named_at_a_confusion_matrix():
    ax = plots.confusion(np.eye(60), [f"class {k}" for k in range(60)])
    ax.figure.draw_without_rendering()
    assert touching(ax.get_yticklabels()) == touching(ax.get_xticklabels()) == []
    assert "one in 3 is named" in ax.get_title(loc="left").replace("\n", " ")


def test_dollars_in_names_begin_no_formula(many):
    X, y = many
    ax = plots.points(X, y, columns=("q", COLUMNS[2]))
    assert not ax.yaxis.label.get_parse_math()
    assert (
        outside(plots.points(np.eye(3), ["$x", "{$", "\\frac$"], names=["$\\", "}$", "c"], columns=(0, 1)).figure) == []
    )


def test_letters_that_the_font_lacks_come_from_another_one():
    from matplotlib.font_manager import FontProperties, findfont, get_font

    texts = plots.points(np.eye(3), ["日本", "中国", "x"], columns=(0, 1)).get_legend().get_texts()
    families = {text.get_text(): text.get_fontfamily() for text in texts}
    if len(families["日本"]) == 1:
        pytest.skip("needs an installed font with Chinese letters")
    assert ord("日") in get_font(findfont(FontProperties(family=[families["日本"][-1]]))).get_charmap()
    assert families["x"] == families["日本"][:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        texts[0].figure.draw_without_rendering()


def test_sentences_are_broken_between_words_else_where_words_have_joints():
    room = text_width("a word of two", 9)
    assert wrapped("a word of two and three", room, 9) == "a word of two\nand three"
    assert wrapped("first_part_second_part", text_width("second_part", 9), 9) == "first_part_\nsecond_part"
    assert all(text_width(line, 9) <= 30 for line in wrapped("日本語の長い文章です" * 3, 30, 9).split("\n"))


def test_names_are_cut_to_a_width_and_remain_different():
    room = text_width("monthly_", 9)
    cut = all_fitting(["monthly_income_a", "monthly_income_b", "i"], room, 9)
    assert len(set(cut)) == 3
    assert max(text_width(name, 9) for name in cut) <= room


@pytest.mark.parametrize("draw", [plots.points, plots.pairs, plots.sphering])
def test_a_single_column_is_refused_with_what_can_be_drawn_of_it(draw):
    with pytest.raises(ParameterError, match="effect"):
        draw(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1])


def test_several_classes_in_a_single_column_have_no_cells_of_a_plane(iris):
    X, y = iris[0][:, [2]], iris[1]
    with pytest.raises(ParameterError, match="single discriminant coordinate"):
        plots.voronoi(discrim.LinearDiscriminantAnalysis().fit(X, y), X, y)
