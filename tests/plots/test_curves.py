"""Curves: what is drawn are the numbers of the objects that are given."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

import discrim
from discrim import plots
from discrim.errors import ParameterError
from discrim.evaluation import calibration, learning_curve, precision_recall


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    return y, y + rng.normal(size=300)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_roc_curve_is_that_of_the_object_with_its_area(scored):
    curve = discrim.roc(*scored)
    ax = curve.plot()
    x, y = ax.lines[1].get_data()
    assert np.trapezoid(y, x) == pytest.approx(curve.auc)
    low, high = curve.auc_ci()
    assert legend(ax) == [f"AUC {curve.auc:.3f} ({low:.3f} to {high:.3f})"]
    assert len(ax.collections) == 1  # its band


def test_several_curves_are_named_and_dashed_apart(scored):
    y, score = scored
    curves = {"a": discrim.roc(y, score), "b": discrim.roc(y, -score), "c": discrim.roc(y, score**2)}
    ax = plots.roc(curves)
    assert [text.split(":")[0] for text in legend(ax)] == ["a", "b", "c"]
    assert len({str(line.get_linestyle()) + to_hex(line.get_color()) for line in ax.lines[1:]}) == 3


def test_curves_of_weighted_rows_have_no_band(scored):
    y, score = scored
    assert not plots.roc(discrim.roc(y, score, sample_weight=np.linspace(1, 2, 300))).collections


def test_a_million_scores_are_drawn_by_a_thousand_points():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200_000)
    curve = discrim.roc(y, y + rng.normal(size=len(y)))
    line = plots.roc(curve, band=False).lines[1]
    assert len(line.get_xdata()) <= 1500
    assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(curve.auc, abs=1e-3)


def test_precision_and_recall(scored):
    curve = precision_recall(*scored)
    ax = curve.plot()
    assert legend(ax) == [f"average precision {curve.average_precision:.3f}"]
    assert "share of positives" in ax.texts[0].get_text()


def test_the_confusion_matrix_has_its_counts(iris):
    found = discrim.cross_validate(discrim.LinearDiscriminantAnalysis(), *iris)
    ax = found.plot()
    table = discrim.confusion(iris[1], found.predicted).table
    assert [float(text.get_text()) for text in ax.texts] == table.ravel().tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["setosa", "versicolor", "virginica"]
    assert ax.get_title(loc="left") == "2.0% wrong of 150"
    assert not plots.confusion(np.eye(20)).texts


@pytest.mark.parametrize(
    ("table", "classes"), [([[1, 2, 3]], None), ([[1, 2], [3, 4]], ["a"]), ([[-1, 2], [3, 4]], None)]
)
def test_what_is_no_confusion_matrix_is_refused(table, classes):
    with pytest.raises(ParameterError, match=r"confusion matrix|classes for a table"):
        plots.confusion(table, classes)


def test_calibration_has_a_point_for_each_group(scored):
    y, score = scored
    curve = calibration(y, 1 / (1 + np.exp(1 - 2 * score)), bins=5)
    ax = curve.plot()
    assert np.allclose(ax.collections[-1].get_offsets(), np.column_stack([curve.predicted, curve.observed]))


def test_the_cheapest_threshold_is_that_of_brute_force(scored):
    y, score = scored
    ax = plots.threshold_costs(discrim.roc(y, score), costs=(1, 4))
    cost = [np.mean((score >= t) & (y == 0)) + 4 * np.mean((score < t) & (y == 1)) for t in score]
    x, height = (values[0] for values in ax.lines[-1].get_data())
    assert height == pytest.approx(min(cost))
    assert x == pytest.approx(score[np.argmin(cost)])
    with pytest.raises(ParameterError, match="two numbers of at least 0"):
        plots.threshold_costs(discrim.roc(y, score), costs=(1, -4))


def test_cost_curves_are_the_lower_envelope(scored):
    curve = discrim.roc(*scored)
    x, height = plots.cost_curves(curve).lines[0].get_data()
    at = 100
    assert height[at] == pytest.approx(min((1 - curve.tpr) * x[at] + curve.fpr * (1 - x[at])))


def test_rejection_marks_the_least_cost(scored):
    y, score = scored
    p = 1 / (1 + np.exp(1 - 2 * score))
    curve = discrim.decision.accuracy_rejection(y, np.column_stack([1 - p, p]))
    ax = plots.rejection(curve, reject_cost=0.2)
    assert ax.lines[1].get_xdata()[0] == pytest.approx(curve.coverage[np.argmin(curve.cost(0.2))])


def test_the_learning_curve_is_labelled_at_its_ends(iris):
    curve = learning_curve(discrim.LinearDiscriminantAnalysis(), *iris, sizes=4)
    ax = curve.plot()
    assert np.allclose(ax.lines[0].get_ydata(), curve.test_error)
    assert {text.get_text() for text in ax.texts} == {"out of fold", "training"}


def test_a_comparison_shows_its_rows_and_its_choice(iris):
    found = discrim.compare(*iris, models=["LDA", "QDA", "Gaussian NB"], cv=3)
    names = [label.get_text() for label in found.plot().get_yticklabels()]
    assert f"{found.chosen} (chosen)" in names
    assert "Baseline" in names
    texts = found.plot("roc").get_legend().get_texts()
    own = found[found.chosen].posterior[:, 0]
    assert texts[0].get_text() == f"setosa: AUC {discrim.roc(iris[1] == 'setosa', own, positive=True).auc:.3f}"
    assert len(texts) == 3
    error = float((found[found.chosen].predicted != iris[1]).mean())
    assert found.plot("confusion").get_title(loc="left").startswith(f"{error:.1%} wrong of 150")
    assert found.plot("calibration").get_xlabel() == "predicted probability"
    with pytest.raises(ParameterError, match="'what' parameter is 'lift'; it must be one of 'errors', 'roc', 'precis"):
        found.plot("lift")


def test_of_two_classes_every_model_has_a_curve_the_chosen_one_first(two_irises):
    found = discrim.compare(*two_irises, models=["LDA", "QDA", "Nearest centroid"], cv=3)
    ax = found.plot("roc")
    assert ax.get_legend().get_texts()[0].get_text().startswith(found.chosen)
    assert len(found.plot("precision_recall").get_legend().get_texts()) == len(ax.get_legend().get_texts()) >= 3


def test_curves_after_the_sixth_are_grey():
    curve = discrim.roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    ax = plots.roc({f"model {i}": curve for i in range(9)})
    assert len(ax.get_legend().get_texts()) == 6
    assert [text.get_text() for text in ax.texts] == ["grey: 3 further curves"]


@pytest.mark.parametrize(
    "draw", [plots.roc, plots.precision_recall, plots.calibration, plots.threshold_costs, plots.cost_curves,
             plots.rejection, plots.learning_curve, plots.compared],
)  # fmt: skip
def test_what_is_no_such_curve_is_refused_in_words(draw, lda):
    with pytest.raises(ParameterError, match=r"LinearDiscriminantAnalysis has no .* Pass what discrim"):
        draw(lda)


def test_lines_have_their_names_at_the_last_number():
    ax = plots.lines({"a": ([1, 2, 3], [0.3, 0.2, np.nan]), "b": [1.0, 2.0]}, x="p", y="error")
    assert [text.get_text() for text in ax.texts] == ["a", "b"]
    assert np.allclose(ax.lines[1].get_xdata(), [0, 1])
    with pytest.raises(ParameterError, match="The series 'a' must be numbers"):
        plots.lines({"a": ([1, 2], [3.0])})
    with pytest.raises(ParameterError, match="The series 'a' must be numbers"):
        plots.lines({"a": "text"})
