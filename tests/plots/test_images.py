"""A dozen pictures against small images of them.

Fonts and antialiasing differ between versions of matplotlib, so that pixels are not compared one by one: both images
are averaged over squares of 8 x 8 pixels, whose colours may differ by TOLERANCE on average and by WORST anywhere, where
1 is the whole scale. ``python tests/plots/test_images.py`` writes the images anew: look at them before you commit them.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import discrim
from discrim import plots

BASELINE = Path(__file__).parent / "baseline"
TOLERANCE, WORST = 0.012, 0.25
DPI, SQUARE = 50, 8


def data():
    return discrim.datasets.load_iris().xy


def crabs():
    return discrim.datasets.load_crabs(log=True).xy


def two():
    X, y = data()
    return X[50:], y[50:]


def ways():
    found = {}
    for rate in (0.02, 0.15):
        w = [np.array([4.0, 1.0])]
        for _ in range(20):
            w.append(w[-1] - rate * np.array([1.0, 10.0]) * w[-1])
        found[f"rate {rate}"] = w
    return found


def separated():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal((0, 0), 0.4, (30, 2)), rng.normal((2, 2), 0.4, (30, 2))])
    return X, np.repeat([0, 1], 30)


def perceptron():
    return discrim.RosenblattPerceptron(rule="batch", eta0=0.1, trace="step").fit(*separated())


PICTURES = {
    "points": lambda: plots.points(*data(), columns=(2, 3), title="Petals"),
    "regions": lambda: plots.regions(
        discrim.QuadraticDiscriminantAnalysis().fit(data()[0][:, 2:], data()[1]), data()[0][:, 2:], data()[1],
        shade="posterior",
    ),
    "discriminants": lambda: plots.discriminants(discrim.LinearDiscriminantAnalysis().fit(*crabs()), *crabs()),
    "projection": lambda: plots.projection(
        discrim.LinearDiscriminantAnalysis().fit(*two()), *two(), directions=["means"]
    ),
    "coefficients": lambda: discrim.LogisticRegression(C=np.inf).fit(*two()).plot(),
    "roc": lambda: discrim.roc(two()[1], two()[0][:, 0]).plot(),
    "confusion": lambda: plots.confusion([[48, 2, 0], [3, 46, 1], [0, 0, 50]], ["a", "b", "c"]),
    "path": lambda: discrim.logistic_path(*two()).plot(),
    "descent": lambda: plots.descent(ways(), lambda a, b: a**2 / 2 + 5 * b**2),
    "steps": lambda: plots.steps(perceptron(), *separated())[0],
    "gaussians": lambda: plots.gaussians([-1, 1], [1, 1 / 3]),
    "predictive": lambda: plots.predictive({"prior": (2, 2), "posterior": (5, 19), "plug-in": 0.15}),
    "penalties": lambda: plots.penalties()[0],
}  # fmt: skip


def drawn(name, style):
    """The picture as an array of small size."""
    with plots.styled(style):
        axes = np.ravel(np.asarray(PICTURES[name](), dtype=object))
    file = io.BytesIO()
    axes[0].figure.savefig(file, format="png", dpi=DPI)
    return file.getvalue()


def averaged(image):
    """Mean colours of squares."""
    height, width = (size // SQUARE * SQUARE for size in image.shape[:2])
    parts = image[:height, :width, :3].reshape(height // SQUARE, SQUARE, width // SQUARE, SQUARE, 3)
    return parts.mean(axis=(1, 3))


def style_of(name):
    return "dark" if list(PICTURES).index(name) % 3 == 2 else "light"


@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_looks_like_its_baseline(name):
    found = imread(io.BytesIO(drawn(name, style_of(name))))
    known = imread(BASELINE / f"{name}.png")
    assert found.shape == known.shape
    difference = np.abs(averaged(found) - averaged(known))
    assert difference.mean() < TOLERANCE
    assert difference.max() < WORST


def test_another_picture_is_noticed():
    one, other = (averaged(imread(BASELINE / f"{name}.png")) for name in ("gaussians", "points"))
    size = min(one.shape, other.shape)
    assert np.abs(one[: size[0], : size[1]] - other[: size[0], : size[1]]).mean() > TOLERANCE


if __name__ == "__main__":
    BASELINE.mkdir(exist_ok=True)
    for each in PICTURES:
        (BASELINE / f"{each}.png").write_bytes(drawn(each, style_of(each)))
