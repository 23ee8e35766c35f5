"""Laval, second part: lasso, several classes from two-class rules, XOR and basis functions, scikit-learn's names."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import discrim
from discrim import plots
from discrim.basis import PolynomialBasis
from discrim.gallery import recipes
from discrim.gallery.item import Items, Page
from discrim.typing import Floats

ITEMS = Items()


def square(points: int = 300) -> Floats:
    """Points of [-6, 6]², on a grid."""
    a, b = np.meshgrid(*[np.linspace(-6, 6, points)] * 2)
    return np.column_stack([a.ravel(), b.ravel()])


@ITEMS.item(
    "L14", "LASSO: the l1 diamond and the l2 disc", "E(w) + λ|w|₁ sets weights to exactly 0, E(w) + λ|w|² does not"
)
def lasso(page: Page) -> None:
    X, y = discrim.datasets.load_crabs().data, discrim.datasets.load_crabs().extra["sex"]
    strengths = np.geomspace(1e-4, 0.3, 30)
    paths = {
        "LASSO": [np.ravel(discrim.LassoClassifier(alpha=a).fit(X, y).coef_[-1:]) for a in strengths],
        "ridge": [np.ravel(discrim.RidgeClassifier(alpha=200 * a).fit(X, y).coef_) for a in strengths],
    }
    page.check(
        "weights that are exactly 0 somewhere on the LASSO path", True, bool((np.array(paths["LASSO"]) == 0).any())
    )
    page.check("weights of ridge that are exactly 0", 0, int((np.array(paths["ridge"]) == 0).sum()))
    page.misprint("the LASSO needs quadratic programming", "it does not", "coordinate descent solves it")
    A, centre = np.array([[1.0, 0.6], [0.6, 2.0]]), np.array([2.2, 0.1])
    turn = np.linspace(0, 2 * np.pi, 2001)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    balls = {"l1": circle / np.abs(circle).sum(axis=1, keepdims=True), "l2": circle * 0.9}
    E = {name: np.einsum("ij,jk,ik->i", ball - centre, A, ball - centre) for name, ball in balls.items()}
    best = {name: balls[name][E[name].argmin()] for name in balls}
    page.check("second weight at the least error in the l1 ball", 0.0, float(best["l1"][1]), tol=1e-9)
    page.check("in the l2 ball it is not 0", True, abs(float(best["l2"][1])) > 0.1)
    page.show(plots.penalties(centre, A, size=1.0), "Contours of an error with the l1 diamond and the l2 disc.")
    left, right = plots.side_by_side(2)
    for ax, (name, path) in zip((left, right), paths.items(), strict=True):
        plots.titled(plots.path(strengths, path, names=("FL", "RW", "CL", "CW", "BD"), ax=ax), f"{name}, sex of crabs")
    page.show(left, "Coefficient paths: those of the lasso reach zero one by one, those of ridge do not.")


@ITEMS.item(
    "L15",
    "One versus all: regions where none or two say yes",
    "class k where h_k(x) > 0 alone, or option 2: the largest h_k(x)",
)
def one_versus_all(page: Page) -> None:
    X, y = recipes.pinwheel()
    y = np.array(["0", "1", "2"])[y]
    scheme = discrim.OneVsRestClassifier
    strict = scheme(discrim.LeastSquaresClassifier(), rule="positive-only", ambiguous_label=("none", "two")).fit(X, y)
    answers = strict.predict(square())
    page.check("two-class rules", 3, len(strict.estimators_))
    page.check("share of [−6, 6]² where none is positive", 0.04, float((answers == "none").mean()), tol=0.005)
    page.check("share where two are", 0.24, float((answers == "two").mean()), tol=0.005)
    largest = scheme(discrim.LeastSquaresClassifier()).fit(X, y)
    page.check("answers of the largest score that are no class", 0, int((~np.isin(largest.predict(square()), y)).sum()))
    axes = plots.side_by_side(2, across=1)
    for ax, model, title in zip(axes, (strict, largest), ("1 exactly one positive", "2 the largest"), strict=True):
        plots.titled(plots.scheme(model, X, y, ax=ax), title)
    page.show(axes, "Regions of one versus all: hatched where none or two say yes, and regions of the largest score.")


@ITEMS.item(
    "L16",
    "One versus one: K(K − 1)/2 rules, and how they are combined",
    "class i where h_ij(x) > 0 for all j, or the largest Σ_j h_ij(x)",
)
def one_versus_one(page: Page) -> None:
    X, y = recipes.pinwheel()
    scheme, rows = discrim.OneVsOneClassifier, square()
    bases = {"least squares": discrim.LeastSquaresClassifier(), "logistic": discrim.LogisticRegression(C=np.inf)}
    strict = {name: scheme(base, rule="all-positive").fit(X, y) for name, base in bases.items()}
    page.check("two-class rules, K(K − 1)/2", 3, len(strict["logistic"].estimators_))
    ties = [float((model.predict(rows) == model.unassigned_label_).mean()) for model in strict.values()]
    page.check("share without a class, least squares", 0.013, ties[0], tol=5e-4)
    page.check("logistic regression", 0.022, ties[1], tol=1e-3)
    page.note(
        "Two of the classes can be separated, so that the logistic line between them depends on where a solver stops."
    )
    summed = scheme(bases["least squares"], rule="scores").fit(X, y)
    page.check("the sum leaves no row without a class", 0, int((~np.isin(summed.predict(rows), y)).sum()))
    page.misprint("index j from 1", "from i + 1", "else every pair is counted twice")
    axes = plots.side_by_side(2, across=1)
    for ax, model, title in zip(axes, (strict["least squares"], summed), ("unanimity", "sum of scores"), strict=True):
        plots.titled(plots.scheme(model, X, y, ax=ax), title)
    page.show(axes, "Regions of one versus one: unanimity leaves a hatched triangle, the sum of scores does not.")


@ITEMS.item("L17", "The XOR problem", "00: 0, 01: 1, 10: 1, 11: 0")
def xor_problem(page: Page) -> None:
    X, y = recipes.xor()
    turn = np.linspace(0, 2 * np.pi, 721)
    errors = [((X @ [np.cos(t), np.sin(t)] + b > 0) != y).sum() for t in turn for b in np.linspace(-2, 2, 81)]
    page.check("fewest errors of 58401 lines", 1, int(min(errors)))
    page.check(
        "separable",
        False,
        bool(discrim.RosenblattPerceptron(shuffle=False, max_iter=50).fit(X, y).learned_[0].separable),
    )
    page.table(["x1", "x2", "r"], [[int(a), int(b), int(r)] for (a, b), r in zip(X, y, strict=True)])
    axes = plots.points(X, y, names=("x1", "x2"))
    page.show(axes, "Four points at the corners of a square; opposite corners have the same class.")


@ITEMS.item("L18", "A basis function makes a line of points separable", "z = (x, x²): a line in z is an interval in x")
def basis_function(page: Page) -> None:
    x = np.random.default_rng(0).uniform(-2.5, 2.5, (60, 1))
    x = x[np.abs(np.abs(x[:, 0]) - 1) > 0.08]
    y = (np.abs(x[:, 0]) < 1).astype(int)
    z = PolynomialBasis(2).fit(x).transform(x)
    line = discrim.LinearDiscriminantAnalysis().fit(x, y)
    page.check(
        "separable by a point on the line",
        False,
        bool(discrim.RosenblattPerceptron(shuffle=False, max_iter=50).fit(x, y).learned_[0].separable),
    )
    model = discrim.RosenblattPerceptron(shuffle=False).fit(z, y)
    page.check("separable in (x, x²)", True, bool(model.learned_[0].separable))
    page.check("wrong in (x, x²)", 0, recipes.wrong(model, z, y))
    page.check("some rows are wrong on the line", True, recipes.wrong(line, x, y) > 0)
    mapped = make_pipeline(PolynomialBasis(2), discrim.RosenblattPerceptron(shuffle=False)).fit(x, y)
    axes = plots.feature_map(mapped, x, y)
    page.show(axes, "Points on a line with the inner ones of another class; on a parabola a line parts them.")


@ITEMS.item("L19", "XOR with a product", "z = (x1, x2, x1x2): w = (1, 1, −2), w0 = −½")
def xor_with_product(page: Page) -> None:
    X, y = recipes.xor()
    z = np.column_stack([X, X.prod(axis=1)])
    page.check("z of (1, 1)", [1, 1, 1], z[3].astype(int))
    page.check("sign of w′z + w0 with w = (1, 1, −2), w0 = −½", y, (z @ [1, 1, -2] - 0.5 > 0).astype(int))
    model = make_pipeline(PolynomialBasis(2), discrim.LogisticRegression(C=1e4)).fit(X, y)
    page.check("wrong with squares and products", 0, recipes.wrong(model, X, y))
    page.table(["x1", "x2", "x1x2", "r"], [[*map(int, row), int(r)] for row, r in zip(z, y, strict=True)])
    products = PolynomialFeatures(interaction_only=True, include_bias=False)
    axes = plots.feature_map(make_pipeline(products, discrim.LogisticRegression(C=1e4)).fit(X, y), X, y)
    page.show(axes, "The four points with curved regions, and in three dimensions with a plane between the classes.")


SCIKIT_LEARN = (
    "LinearDiscriminantAnalysis LinearRegression Ridge Lasso LogisticRegression Perceptron SGDClassifier SGDRegressor "
    "OneVsRestClassifier OneVsOneClassifier OutputCodeClassifier"
)


@ITEMS.item(
    "L20",
    "The models of scikit-learn that the lecture lists",
    "the same names here, unless they would promise something else",
)
def names(page: Page) -> None:
    lda = discrim.LinearDiscriminantAnalysis()
    ours: list[Any] = [
        lda,
        discrim.LeastSquaresClassifier(),
        discrim.RidgeClassifier(),
        discrim.LassoClassifier(),
        discrim.LogisticRegression(),
        discrim.Perceptron(),
        discrim.SGDClassifier(),
        discrim.GradientDescentClassifier(),
        discrim.OneVsRestClassifier(lda),
        discrim.OneVsOneClassifier(lda),
        discrim.OutputCodeClassifier(lda),
    ]
    wrappers = sum(hasattr(model, "estimators_") or hasattr(model, "estimator") for model in ours)
    page.check("model classes and multi-class wrappers", [8, 3], [len(ours) - wrappers, wrappers])
    X, y = discrim.datasets.load_iris().xy
    scores = [model.fit(X, y).score(X, y) for model in ours]
    page.check("models that fit", 11, len(scores))
    rows = [
        [name, type(model).__name__, f"{score:.3f}"]
        for name, model, score in zip(SCIKIT_LEARN.split(), ours, scores, strict=True)
    ]
    page.table(["in the lecture", "here", "share of iris right"], rows)
