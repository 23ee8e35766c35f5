"""Steps of learners, ways of weights, losses."""

import numpy as np
import pytest

import discrim
from discrim import plots
from discrim.errors import ParameterError


@pytest.fixture(scope="module")
def separable():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal((0, 0), 0.4, (30, 2)), rng.normal((2, 2), 0.4, (30, 2))])
    return X, np.repeat([0, 1], 30)


@pytest.fixture(scope="module")
def perceptron(separable):
    return discrim.RosenblattPerceptron(rule="batch", eta0=0.1, trace="step").fit(*separable)


def test_each_panel_counts_the_rows_that_are_wrong_at_its_step(separable, perceptron):
    trace = perceptron.learned_[0].trace
    places = np.linspace(0, len(trace) - 1, 3).round().astype(int)
    axes = plots.steps(perceptron, *separable, count=3)
    titles = [f"step {trace.step[i]}: {trace.mistakes[i]} wrong" for i in places]
    assert [ax.get_title(loc="left") for ax in axes] == titles
    assert axes[-1].get_title(loc="left").endswith(": 0 wrong")
    assert not axes[0].get_title(loc="left").endswith(": 0 wrong")


@pytest.mark.parametrize("ending", ["gif", "html"])
def test_an_animation_is_a_file(separable, perceptron, tmp_path, ending):
    path = plots.animate(perceptron, *separable, tmp_path / f"steps.{ending}", seconds=2)
    start = path.read_bytes()[:6]
    assert start == (b"GIF89a" if ending == "gif" else b"<!doct")
    assert path.stat().st_size < 1_000_000


def test_an_animation_of_another_kind_is_refused(separable, perceptron, tmp_path):
    with pytest.raises(ParameterError, match=r"\.gif or \.html"):
        plots.animate(perceptron, *separable, tmp_path / "steps.mp4")


def test_a_way_that_diverges_does_not_hide_the_others():
    ways = {}
    for rate in (0.02, 0.21):
        w = [np.array([4.0, 1.0])]
        for _ in range(60):
            w.append(w[-1] - rate * np.array([1.0, 10.0]) * w[-1])
        ways[str(rate)] = np.array(w)
    ax = plots.descent(ways, lambda a, b: a**2 / 2 + 5 * b**2)
    assert max(np.abs(ax.get_ylim())) < 10 < np.abs(ways["0.21"]).max()
    assert np.allclose(ax.lines[0].get_ydata(), ways["0.02"][:, 1])
    with pytest.raises(ParameterError, match=r"two weights .* shape \(3,\)"):
        plots.descent([1.0, 2.0, 3.0])


def test_convergence_draws_what_the_trace_has_and_says_the_bound(separable, perceptron):
    model = discrim.RosenblattPerceptron(rule="chicago", shuffle=False, trace="step").fit(*separable)
    ax = plots.convergence({"chicago": model, "batch": perceptron}, what="mistakes")
    assert np.allclose(ax.lines[1].get_ydata(), perceptron.learned_[0].trace.mistakes)
    part = model.learned_[0]
    assert f"{part.updates} updates, of at most {part.bound:,.0f}" in ax.texts[-1].get_text()
    for what in ("loss", "norm"):
        assert plots.convergence(model, what=what).lines


def test_a_cycle_is_named():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    with pytest.warns(discrim.errors.NotSeparatedWarning):
        model = discrim.RosenblattPerceptron(rule="chicago", shuffle=False, trace="step").fit(X, y)
    assert "came back after" in plots.convergence(model).texts[-1].get_text()


def test_losses_have_the_values_of_the_lecture_at_zero():
    lines = {line.get_label(): line for line in plots.losses().lines}
    at_zero = sorted(float(np.interp(0.0, *line.get_data())) for line in list(lines.values())[1:-1])
    assert np.allclose(at_zero, [0.0, 0.5, np.log(2), 1.0], atol=1e-6)


def test_what_cannot_be_drawn_is_refused_in_words(iris, lda, separable):
    with pytest.raises(ParameterError, match="Fit it with trace"):
        plots.convergence(lda)
    wide = discrim.GradientDescentClassifier(trace=True, max_iter=3, tol=1.0).fit(iris[0][:100], iris[1][:100])
    with pytest.raises(ParameterError, match="for two columns and two classes; here are 4 and 2"):
        plots.steps(wide, iris[0][:100], iris[1][:100])
    with pytest.raises(ParameterError, match="There is no loss 'hing'"):
        plots.losses(["hing"])


def test_coefficients_by_step_are_those_of_the_trace(two_irises):
    model = discrim.LogisticRegression(C=np.inf).fit(*two_irises)
    ax = plots.convergence(model, what="coefficients")
    assert np.allclose(ax.lines[0].get_ydata(), np.ravel(model.trace_.intercept))
    assert np.allclose([line.get_ydata()[-1] for line in ax.lines[1:5]], model.trace_.coef[-1])
    with pytest.raises(ParameterError, match="of one learner; there are 2"):
        plots.convergence({"a": model, "b": model}, what="coefficients")


def test_the_descent_of_one_weight_has_its_tangents(tmp_path):
    way = [4.0]
    for _ in range(6):
        way.append(way[-1] - 0.4 * (way[-1] - 1))
    axes = plots.downhill(way, lambda w: (w - 1) ** 2, count=4)
    for i, ax in enumerate(axes):
        tangent, point = ax.lines[1].get_xydata(), ax.lines[2].get_xydata()[0]
        assert np.allclose(point, [way[i], (way[i] - 1) ** 2])
        assert np.diff(tangent[:, 1])[0] / np.diff(tangent[:, 0])[0] == pytest.approx(2 * (way[i] - 1), abs=1e-6)
    assert plots.animate_descent(way, np.cosh, tmp_path / "way.gif").read_bytes()[:6] == b"GIF89a"
    for wrong in ([1.0], [[1.0, 2.0]], [1.0, np.nan], "abc"):
        with pytest.raises(ParameterError, match="descent of one weight has two or more finite numbers"):
            plots.downhill(wrong, np.cosh)
    with pytest.raises(ParameterError, match="'count' parameter"):
        plots.downhill(way, np.cosh, count=0)


def test_positions_outside_of_the_trace_are_refused(separable, perceptron, tmp_path):
    with pytest.raises(ParameterError, match="positions in a trace"):
        plots.animate(perceptron, *separable, tmp_path / "a.gif", at=[10_000])
    with pytest.raises(ParameterError, match="positions in a trace"):
        plots.steps(perceptron, *separable, at=[0.5])
