"""Draw ``plots.png``, the contact sheet of ``plots.md``: ``python docs/draw_plots.py``."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import discrim
from discrim import plots
from discrim.evaluation import calibration, learning_curve, precision_recall

PAGE = Path(__file__).with_name("plots.png")
ACROSS, WIDTH, HEIGHT, COLOURS = 6, 250, 215, 256


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = [cell(axes) for axes in pictures()]
    sheet = Image.new("RGB", (ACROSS * WIDTH, -(-len(cells) // ACROSS) * HEIGHT), "white")
    for i, image in enumerate(cells):
        x, y = i % ACROSS * WIDTH, i // ACROSS * HEIGHT
        sheet.paste(image, (x + (WIDTH - image.width) // 2, y + (HEIGHT - image.height) // 2))
    sheet.quantize(COLOURS, Image.Quantize.FASTOCTREE).save(PAGE, optimize=True)


def cell(axes: Any) -> Image.Image:
    file = io.BytesIO()
    np.ravel(np.asarray(axes, dtype=object))[0].figure.savefig(file, format="png", dpi=110)
    image = Image.open(file).convert("RGB")
    image.thumbnail((WIDTH - 12, HEIGHT - 10), Image.Resampling.LANCZOS)
    return image


def pictures() -> list[Any]:
    """One of each kind, on the iris, the crabs and some drawn rows."""
    X, y = discrim.datasets.load_iris().xy
    crabs, group = discrim.datasets.load_crabs(log=True).xy
    orings = discrim.datasets.load_challenger().xy
    pair, two = X[50:], y[50:]
    rng = np.random.default_rng(1)
    label = rng.integers(2, size=400)
    score = label + rng.normal(size=400)
    p = 1 / (1 + np.exp(1 - 2 * score))
    curve = discrim.roc(label, score)
    lda, petals = discrim.LinearDiscriminantAnalysis(), X[:, 2:]
    models = {"LDA": lda.fit(petals, y), "QDA": discrim.QuadraticDiscriminantAnalysis().fit(petals, y)}
    far = np.repeat([0.0, 2.0], 30)[:, None] + 0.4 * rng.normal(size=(60, 2))
    side = np.repeat([0, 1], 30)
    perceptron = discrim.RosenblattPerceptron(rule="batch", eta0=0.1, trace="step").fit(far, side)
    logistic = discrim.LogisticRegression(C=np.inf).fit(*orings)
    xor = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    features = PolynomialFeatures(interaction_only=True, include_bias=False)
    mapped = make_pipeline(features, discrim.LogisticRegression(C=100)).fit(*xor)
    scheme = discrim.OneVsRestClassifier(discrim.LeastSquaresClassifier(), rule="positive-only").fit(X[:, :2], y)
    steep = {f"rate {rate}": way(rate) for rate in (0.02, 0.15, 0.21)}
    return [
        plots.points(petals, y), plots.pairs(X, y), plots.regions(models["QDA"], petals, y, shade="posterior"),
        plots.borders(models, petals, y), plots.scheme(scheme, X[:, :2], y),
        plots.half_space(discrim.LinearDiscriminantAnalysis().fit(far, side), far, side),
        plots.discriminants(discrim.LinearDiscriminantAnalysis().fit(crabs, group), crabs, group),
        plots.discriminants(discrim.LinearDiscriminantAnalysis().fit(crabs, group)),
        plots.projection(discrim.LinearDiscriminantAnalysis().fit(pair, two), pair, two, directions=["means", "pca"]),
        plots.ellipses(models["QDA"], petals, y), plots.voronoi(models["LDA"], petals, y, sphered=False),
        plots.sphering(petals, y), plots.coefficients(discrim.LogisticRegression().fit(X, y)),
        plots.path(discrim.logistic_path(pair, two, cv=5)),
        plots.tuning(discrim.RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv").fit(crabs, group)),
        plots.effect(logistic, *orings), plots.influence(logistic), plots.penalties(), plots.roc({"first": curve}),
        plots.precision_recall(precision_recall(label, score)), plots.calibration(calibration(label, p)),
        plots.confusion(discrim.confusion(group, discrim.cross_validate(lda, crabs, group).predicted)),
        plots.threshold_costs(curve, costs=(1, 2)),
        plots.learning_curve(learning_curve(discrim.LinearDiscriminantAnalysis(), crabs, group)),
        plots.steps(perceptron, far, side), plots.descent(steep, lambda a, b: a**2 / 2 + 5 * b**2), plots.losses(),
        plots.beta({"prior": (2, 2), "after 3 of 20": (5, 19)}, level=0.95), plots.gaussians([-1, 1], [1, 1 / 3]),
        plots.feature_map(mapped, *xor),
    ]  # fmt: skip


def way(rate: float) -> Any:
    """Gradient descent on w1^2 / 2 + 5 w2^2."""
    w = [np.array([4.0, 1.0])]
    for _ in range(25):
        w.append(w[-1] - rate * np.array([1.0, 10.0]) * w[-1])
    return np.array(w)


if __name__ == "__main__":
    main()
