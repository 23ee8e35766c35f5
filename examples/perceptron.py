"""Perceptron and gradient descent, step by step: ``python examples/perceptron.py``. Writes demo/perceptron.png."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from discrim.errors import DiscrimWarning
from discrim.families.online.rosenblatt import PerceptronOptions
from discrim.models.online.gradient_descent import GradientDescentClassifier
from discrim.models.online.rosenblatt import learn

BLUE, RED, GREY = "#1f6fb4", "#c0392b", "#666666"
RATES = {"too small": (0.03, GREY), "right": (0.5, BLUE), "too large": (1.04, RED)}


def main() -> None:
    figure = Figure(figsize=(10, 8), layout="constrained")
    (moving, falling), (valley, rates) = figure.subplots(2, 2)
    draw_boundary(moving)
    draw_losses(falling)
    draw_rates(valley, rates)
    for axes in (moving, falling, valley, rates):
        axes.spines[["top", "right"]].set_visible(False)
    path = Path("demo/perceptron.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"The pictures: {path}")


def draw_boundary(axes: Any) -> None:
    """The hyperplane after each correction of the Chicago rule, darker as it goes."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, size=(40, 2)) + np.array([0.3, 0.2])
    sign = np.where(x @ [1.0, 1.4] > 0.5, 1.0, -1.0)
    x += np.outer(0.05 * sign, [0.58, 0.81])
    learned = learn(x, sign, PerceptronOptions(rule="chicago", shuffle=False, trace="step"))
    print(learned.verdict, f"The theorem allows {learned.best_bound:.0f} updates.")
    across = np.linspace(-2, 3, 2)
    trace = learned.trace
    assert trace is not None
    for step in range(1, len(trace)):
        w, b = trace.coef[step], trace.intercept[step]
        last = step == len(trace) - 1
        axes.plot(
            across,
            -(b + w[0] * across) / w[1],
            color=BLUE,
            alpha=1.0 if last else 0.1 + 0.4 * step / len(trace),
            linewidth=1 + last,
        )
    for value, colour in ((1.0, RED), (-1.0, GREY)):
        axes.plot(*x[sign == value].T, "o", color=colour, markersize=5)
    axes.set(xlim=(-0.9, 1.5), ylim=(-1.0, 1.4), title=f"The boundary in {learned.updates} corrections")


def draw_losses(axes: Any) -> None:
    """Mean losses on the way down, on two overlapping clouds."""
    x, y = clouds()
    for loss, colour in (("cross_entropy", BLUE), ("squared", GREY), ("squared_hinge", "#27965a"), ("hinge", RED)):
        model = GradientDescentClassifier(loss, learning_rate="constant", eta0=0.1, max_iter=30, trace=True).fit(x, y)
        axes.plot(model.trace_.step, model.trace_.loss, color=colour, label=loss.replace("_", " "))
    axes.set(title="Losses fall (rate 0.1)", xlabel="step", ylabel="mean loss")
    axes.legend(frameon=False)


def draw_rates(valley: Any, rates: Any) -> None:
    """Three rates in the valley of least squares: the way of the weights, and the loss at each step."""
    x, y = clouds()
    x = x @ [[1.0, 0.55], [0.0, 0.6]]
    target = 2.0 * y - 1
    x = x - x.mean(axis=0)
    largest = np.linalg.eigvalsh(x.T @ x / len(x))[-1]
    for name, (part, colour) in RATES.items():
        model = GradientDescentClassifier(
            "squared", scale=False, fit_intercept=False, learning_rate="constant", eta0=2 * part / largest,
            max_iter=14, trace=True,
        ).fit(x, y)  # fmt: skip
        trace = model.trace_
        valley.plot(*trace.coef.T, ".-", color=colour, linewidth=1, markersize=4, label=f"{name}, {2 * part:.2f} / L")
        rates.plot(trace.step, trace.loss, color=colour, label=name)
    w0, w1 = np.meshgrid(np.linspace(-1.0, 2.2, 120), np.linspace(-2.2, 1.2, 120))
    loss = ((target[:, None, None] - x[:, 0, None, None] * w0 - x[:, 1, None, None] * w1) ** 2).mean(axis=0) / 2
    valley.contour(w0, w1, loss, levels=loss.min() + np.geomspace(0.002, 3, 9), colors="#cccccc", linewidths=0.8)
    valley.set(
        xlim=(-1.0, 2.2), ylim=(-2.2, 1.2), title="Rates in the valley of least squares", xlabel="w1", ylabel="w2"
    )
    valley.legend(frameon=False, loc="lower left")
    rates.set(title="A rate too small, right, too large", xlabel="step", ylabel="mean loss")
    rates.legend(frameon=False)


def clouds() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    return rng.normal(size=(300, 2)) + np.outer(y, [1.6, -0.8]), y


if __name__ == "__main__":
    # Steps are cut off on purpose.
    warnings.simplefilter("ignore", DiscrimWarning)
    main()
