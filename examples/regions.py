"""Regions of multi-class schemes and of basis functions: ``python examples/regions.py``. Writes demo/regions.png."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

import discrim
from discrim.basis import PolynomialBasis
from discrim.decision.multiclass import OneVsOneClassifier, OneVsRestClassifier

COLOURS = ["#b8b8b8", "#7fb1de", "#e8998d", "#93cfa5"]  # the first is for no answer
DOTS = ["#1f6fb4", "#c0392b", "#27965a"]


def main() -> None:
    figure = Figure(figsize=(11, 7.2), layout="constrained")
    top, bottom = figure.subplots(2, 3)
    X, y = triangle()
    linear = discrim.LeastSquaresClassifier()
    draw(
        top[0], OneVsRestClassifier(linear, rule="positive-only"), X, y, "One against the rest: none or several say yes"
    )
    draw(top[1], OneVsOneClassifier(linear, rule="all-positive"), X, y, "One against one: no class wins all its pairs")
    draw(top[2], discrim.LinearDiscriminantAnalysis(), X, y, "K linear functions: every point has an answer")
    X, y = row_of_three()
    draw(bottom[0], linear, X, y, "Least squares hardly sees the class between")
    draw(bottom[1], make_pipeline(PolynomialBasis(2), linear), X, y, "With squares and products it does")
    X, y = checkerboard()
    draw(
        bottom[2], make_pipeline(PolynomialBasis(2), discrim.LogisticRegression()), X, y, "XOR, by the product of both"
    )
    path = Path("demo/regions.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)
    print(f"The pictures: {path}")


def draw(axes: Any, model: Any, X: Any, y: Any, title: str) -> None:
    """The answer at every point, grey where there is none, and the share of rows that it gets right."""
    model.fit(X, y)
    low, high = X.min(axis=0) - 0.6, X.max(axis=0) + 0.6
    x0, x1 = np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300))
    answer = model.predict(np.column_stack([x0.ravel(), x1.ravel()])).reshape(x0.shape)
    axes.pcolormesh(
        x0, x1, np.clip(answer, -1, None), cmap=ListedColormap(COLOURS), vmin=-1.5, vmax=2.5, rasterized=True
    )
    for label in np.unique(y):
        axes.plot(*X[y == label].T, "o", color=DOTS[label], markersize=3.5, markeredgewidth=0)
    right = np.mean(model.predict(X) == y)
    axes.set_title(f"{title}\n{right:.0%} of the rows right", fontsize=10)
    axes.set(xticks=[], yticks=[])


def triangle() -> tuple[Any, Any]:
    """Each cloud is stretched towards the next, so that the boundaries of the pairs do not meet in one point."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    turns = 2 * np.pi * y / 3
    along = rng.normal(size=180) * 0.8
    across = rng.normal(size=180) * 0.2
    radial, tangent = (np.column_stack([np.cos(turns + t), np.sin(turns + t)]) for t in (0.0, 0.9))
    return 1.9 * radial + along[:, None] * tangent + across[:, None] * tangent[:, ::-1] * [-1, 1], y


def row_of_three() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 60)
    return rng.normal(size=(180, 2)) * 0.5 + np.array([[-2.2, -2.2], [0.0, 0.0], [2.2, 2.2]])[y], y


def checkerboard() -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(160, 2)) * 2
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


if __name__ == "__main__":
    main()
