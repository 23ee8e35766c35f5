"""Names remain apart where they are cut, and do not cover each other; legends are read line by line."""

import numpy as np
import pytest

import discrim
from discrim import plots
from discrim.plots.labels import label_points
from discrim.plots.lettering import all_shortened
from discrim.plots.style import LIGHT, panels

LONG = [f"a quite long name of class number {k} of the survey" for k in range(4)]


@pytest.mark.parametrize(
    ("names", "cut"),
    [
        (["a", "b"], ["a", "b"]),
        (["abcdefghijkl", "xyz"], ["abcdefghi…", "xyz"]),
        (["monthly_income_a", "monthly_income_b"], ["mont…ome_a", "mont…ome_b"]),
        (["the same beginning 1 and end", "the same beginning 2 and end"], ["…1 and end", "…2 and end"]),
        (["same", "same"], ["same", "same"]),
        ([], []),
    ],
)
def test_names_that_are_cut_remain_different(names, cut):
    assert all_shortened(names, 10) == cut


def test_long_classes_can_be_distinguished_wherever_they_are_named(iris):
    X = iris[0]
    y = np.array(LONG[:3])[np.repeat([0, 1, 2], 50)]
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    keys = [text.get_text() for text in model.plot(X, y).get_legend().texts]
    assert len(set(keys)) == 3
    ticks = plots.confusion([[1, 0, 0], [0, 1, 0], [0, 0, 1]], LONG[:3]).get_yticklabels()
    assert len({text.get_text() for text in ticks}) == 3


def test_labels_of_points_that_coincide_do_not_cover_each_other():
    (ax,), look = panels(1, None)
    label_points(ax, look, np.array([[0.5, 0.5], [0.5, 0.5], [0.51, 0.5]]), ["first", "second", "third"])
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert (
                min(one.x1, other.x1) - max(one.x0, other.x0) < 1 or min(one.y1, other.y1) - max(one.y0, other.y0) < 1
            )


def test_legends_are_read_line_by_line_and_fit(iris):
    (ax,), look = panels(1, None)
    names = [f"model {k}" for k in range(9)]
    plots.roc({name: discrim.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) for name in names[:2]}, ax=ax)
    ax = plots.lines({name: ([0, 1], [0, k]) for k, name in enumerate(names)})
    assert ax.figure.canvas is not None
    rng = np.random.default_rng(0)
    y = np.repeat([f"kind {k}" for k in range(7)], 6)
    legend = plots.points(rng.normal(size=(42, 2)), y).get_legend()
    legend.figure.canvas.draw()
    at = {text.get_text(): text.get_window_extent() for text in legend.texts}
    lines = sorted(at, key=lambda name: (-round(at[name].y0), at[name].x0))
    assert lines == sorted(at)
    assert max(box.x1 for box in at.values()) <= legend.figure.bbox.x1
    assert look is LIGHT
