"""Rome: discriminant functions, outliers, Fisher's linear discriminant, the perceptron."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import stats

import discrim
from discrim import plots
from discrim.decision import BayesClassifier
from discrim.gallery import recipes
from discrim.gallery.item import Items, Page

ITEMS = Items()


@ITEMS.item(
    "R1", "A linear discriminant function: hyperplane, normal, signed distance", "y(x) = w′x + w0 = |w| · distance"
)
def binary_functions(page: Page) -> None:
    X, y = recipes.equal_covariances()
    model = discrim.LogisticRegression(C=np.inf).fit(X, y)
    plane = model.hyperplane()
    page.check(
        "y(x) = |w| · distance, first rows",
        model.decision_function(X[:4]),
        plane.norm * model.distance(X[:4]),
        tol=1e-9,
    )
    page.check(
        "foot points lie on the hyperplane, largest |y|", 0.0, float(np.abs(plane.score(plane.foot(X))).max()), tol=1e-9
    )
    page.misprint(
        "the gradient of the Lagrangian + 2λw", "− 2λw", "the constraint w′w = 1 enters with a minus; |w| is not w′w"
    )
    far = [[-2.5, 0.5], [0.5, -2.2], [-2.2, 2.4], [0.8, 4.6], [4.8, 3.2], [3.0, -2.6]]
    page.show(plots.half_space(model, X, y, point=far), "A line, its normal, and the signed distances of six points.")


@ITEMS.item(
    "R2",
    "First approach: K − 1 functions, each against the rest",
    "class k where only y_k(x) > 0; overlaps belong to nobody",
)
def first_approach(page: Page) -> None:
    X, y = recipes.pinwheel()
    model = discrim.OneVsRestClassifier(discrim.LeastSquaresClassifier(), rule="all-but-last", ambiguous_label=-1).fit(
        X, y
    )
    rows = np.random.default_rng(0).uniform(-6, 6, (20_000, 2))
    positive = model.decision_function(rows)[:, :2] > 0
    page.check("rows in the overlap have no class", 0, int(((model.predict(rows) == -1) != positive.all(axis=1)).sum()))
    page.check("there is an overlap", True, bool(positive.all(axis=1).any()))
    page.show(plots.scheme(model, X, y), "Regions of two one-versus-rest rules; the overlap is hatched.")


@ITEMS.item(
    "R3", "Second approach: K(K − 1)/2 functions and a majority vote", "class with most votes; three ways may tie"
)
def second_approach(page: Page) -> None:
    X, y = recipes.pinwheel()
    model = discrim.OneVsOneClassifier(discrim.LeastSquaresClassifier(), rule="majority").fit(X, y)
    rows = np.random.default_rng(0).uniform(-6, 6, (40_000, 2))
    first, second, third = (np.asarray(pair.decision_function(rows)) > 0 for pair in model.estimators_)
    circle = (~first & second & ~third) | (first & ~second & third)
    page.check("rules", 3, len(model.estimators_))
    page.check("rows with a three-way tie have no class", 0, int(((model.predict(rows) == -1) != circle).sum()))
    page.check("share of ties", 0.013, float(circle.mean()), tol=0.002)
    page.show(plots.scheme(model, X, y), "Regions of pairwise votes; a small hatched triangle has no majority.")


@ITEMS.item("R4", "Third approach: K functions and their largest", "regions are connected and convex")
def third_approach(page: Page) -> None:
    X, y = recipes.triangle()
    model = discrim.LogisticRegression(C=np.inf).fit(X, y)
    ends = np.random.default_rng(0).uniform(-4, 8, (2, 3000, 2))
    answers = [model.predict(part) for part in ends]
    same = answers[0] == answers[1]
    between = [model.predict(ends[0] + share * (ends[1] - ends[0]))[same] for share in (0.25, 0.5, 0.75)]
    page.check(
        "points between two of a region that leave it",
        0,
        int(sum((part != answers[0][same]).sum() for part in between)),
    )
    page.show(plots.regions(model, X, y), "Three regions, with straight borders that meet in one point.")


@ITEMS.item(
    "R5", "Outliers move least squares, not logistic regression", "the squared error punishes rows that are too right"
)
def outliers(page: Page) -> None:
    sets = {"without outliers": recipes.outliers(also=False), "with outliers": recipes.outliers()}
    kinds = {"least squares": discrim.LeastSquaresClassifier(), "logistic": discrim.LogisticRegression(C=np.inf)}
    planes, errors = {}, {}
    for name, (X, y) in sets.items():
        for kind, model in kinds.items():
            planes[kind, name] = model.fit(X, y).hyperplane()
            errors[kind, name] = recipes.wrong(model, X, y)
    page.check(
        "least squares: wrong without and with outliers", [3, 8], [errors["least squares", name] for name in sets]
    )
    page.check("logistic: wrong without and with", [3, 3], [errors["logistic", name] for name in sets])
    turns = []
    for kind in kinds:
        a, b = (planes[kind, name].w / planes[kind, name].norm for name in sets)
        turns.append(float(np.rad2deg(np.arccos(np.clip(a @ b, -1, 1)))))
    page.check("degrees by which the lines turn", [41, 0], turns, tol=0.5)
    axes = plots.side_by_side(2)
    formats = {"logistic": "C2-", "least squares": "C3--"}
    for ax, (name, (X, y)) in zip(axes, sets.items(), strict=True):
        lines = {kind: planes[kind, name] for kind in formats}
        plots.titled(plots.borders(lines, X, y, formats=formats, ax=ax), name)
    page.show(
        axes,
        "Logistic green, least squares magenta. Left both agree; right, with outliers, the magenta line has turned.",
    )


@ITEMS.item(
    "R6", "Three classes: least squares loses the one in the middle", "left least squares, right logistic regression"
)
def middle_class(page: Page) -> None:
    X, y = recipes.diagonal()
    models = {
        "least squares": discrim.LeastSquaresClassifier().fit(X, y),
        "logistic": discrim.LogisticRegression(C=np.inf).fit(X, y),
    }
    page.check("wrong of 600", [199, 13], [recipes.wrong(model, X, y) for model in models.values()])
    page.check(
        "rows put into the middle class by least squares", 1, int((models["least squares"].predict(X) == 1).sum())
    )
    axes = plots.side_by_side(2)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        plots.titled(plots.regions(model, X, y, ax=ax), name)
    page.show(axes, "Regions of least squares, without the middle class, and of logistic regression.")


@ITEMS.item("R7", "Projection on w and a threshold", "y = w′x, class 2 where y > ỹ")
def threshold(page: Page) -> None:
    X, y = recipes.elongated()
    rule = discrim.LinearDiscriminantAnalysis().fit(X, y).fisher()
    answers = rule.predict(X, np.array([0, 1]))
    page.check("class 2 has the larger projection", True, bool(rule.means[1] > rule.means[0]))
    page.check(
        "rows on the wrong side of the cut",
        int((((X @ rule.direction) > rule.threshold) != y).sum()),
        int((answers != y).sum()),
    )
    page.misprint("C1 for y > ỹ", "C2 for y > ỹ", "w = S_W⁻¹(m2 − m1) gives class 2 the larger projection")
    axes = plots.feet(X, y, rule.direction, threshold=rule.threshold)
    page.show(axes, "Two elongated clouds, Fisher's direction with the feet of the rows, and the cut.")


@ITEMS.item("R8", "The direction decides how separate the projections are", "J(w) = (m2 − m1)² / (s1² + s2²)")
def directions(page: Page) -> None:
    X, y = recipes.elongated()
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    ws = {
        "(1, 0)": np.array([1.0, 0.0]),
        "(1, 1)/√2": np.array([1.0, 1.0]) / np.sqrt(2),
        "Fisher": lda.fisher().direction,
    }
    J = [lda.criterion(w) / 50 for w in ws.values()]
    page.check("J grows from the first to the last", True, bool(np.ptp(J) > 0 and J[2] == max(J)))
    page.check("J of Fisher's direction", 0.0350, J[2], tol=5e-5)
    others = {name: w for name, w in ws.items() if name != "Fisher"}
    axes = plots.projection(lda, X, y, directions=others)
    page.show(axes, "Three directions; the projected classes overlap least on Fisher's.")
    page.note("The panels have variances for s1² and s2², a hundredth of the sums of squares of 100 rows a class.")


@ITEMS.item("R9", "The direction of the means: much overlap", "w = (m2 − m1) / |m2 − m1|")
def mean_direction(page: Page) -> None:
    X, y = recipes.elongated()
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    w = (lda.means_[1] - lda.means_[0]) / np.linalg.norm(lda.means_[1] - lda.means_[0])
    cut = float(lda.means_.mean(axis=0) @ w)
    page.check("length of w", 1.0, float(np.linalg.norm(w)), tol=1e-12)
    page.check("wrong with a cut midway", 45, int(((X @ w > cut) != y).sum()))
    page.check("J", 0.0125, lda.criterion(w) / 50, tol=5e-5)
    page.show(plots.feet(X, y, w, threshold=cut), "Elongated clouds dropped onto the line through their means.")


@ITEMS.item("R10", "The threshold of two Gaussians on the projection", "n2 N(y; m2, s2²) = n1 N(y; m1, s1²) at ỹ")
def gaussian_threshold(page: Page) -> None:
    rule = BayesClassifier({1: stats.norm(0, 1), 2: stats.norm(3, 0.5)})
    cut = rule.regions()[0].high
    page.check("N(0, 1) against N(3, .5), the cut", 1.888, float(cut), tol=5e-4)
    page.check(
        "ratio of the densities there", 1.0, float(stats.norm(3, 0.5).pdf(cut) / stats.norm(0, 1).pdf(cut)), tol=1e-6
    )
    page.check("with 1/σ_i left out, y² = (y − 3)²/.25", 2.0, float(min(np.roots([3, -24, 36]))), tol=5e-4)
    wide = BayesClassifier({1: stats.norm(0, 1), 2: stats.norm(3, 2)}).regions()
    page.check("N(3, 2): class 2 also below", -3.42, float(wide[0].high), tol=0.005)
    X, y = recipes.equal_covariances((30, 70))
    fisher = discrim.LinearDiscriminantAnalysis().fit(X, y).fisher()
    densities = [stats.norm(m, np.sqrt(v)) for m, v in zip(fisher.means, fisher.variances, strict=True)]
    ratio = 70 * densities[1].pdf(fisher.threshold) / (30 * densities[0].pdf(fisher.threshold))
    page.check("Fisher's threshold: ratio with priors n_i/n", 1.0, float(ratio), tol=1e-6)
    page.misprint("without 1/σ_i: 2.000", "1.888", "the factor 1/σ of each density was dropped")
    page.misprint(
        "the smallest y with ratio > 1", "the root between the means", "there is no smallest y where class 2 is wider"
    )
    page.misprint("variance with n_i − 1", "n_i for maximum likelihood", "n_i − 1 is the unbiased one")
    axes = plots.gaussians([0, 3], [1, 0.5])
    page.show(axes, "Two Gaussian densities of different width and the cut where they cross between the means.")


@ITEMS.item("R11", "The perceptron: a wrong row is added to w", "w ← w + η φ(x) t")
def perceptron(page: Page) -> None:
    X, y = recipes.separated()
    model = discrim.RosenblattPerceptron(rule="online", shuffle=False, eta0=1.0, trace="step").fit(X, y)
    trace: Any = model.learned_[0].trace
    sign = 2 * y - 1
    w = np.column_stack([trace.coef, trace.intercept])
    phi = np.column_stack([X, np.ones(len(X))])
    changed = []
    for before, after in itertools.pairwise(w):
        row = int(np.argmin(np.abs(after - before - sign[:, None] * phi).sum(axis=1)))
        changed.append(
            (row, float(np.abs(after - before - sign[row] * phi[row]).max()), float(sign[row] * (phi[row] @ before)))
        )
    page.check(
        "each step adds η φ t of one row, largest difference", 0.0, max(error for _, error, _ in changed), tol=1e-9
    )
    page.check("that row was wrong", True, all(margin <= 0 for *_, margin in changed))
    page.check("wrong at the end", 0, recipes.wrong(model, X, y))
    page.misprint("w + η φ", "w + η φ t", "rows of the other class are subtracted")
    page.misprint("the proof of convergence", "see C16", "the text ends inside it, and α is not given")
    axes = plots.steps(model, X, y, at=range(4))
    for ax, (row, *_) in zip(axes, changed, strict=True):
        ax.plot(*X[row], "o", color="red", markersize=9)
    page.show(axes, "Four steps: the line and w, wrong rows ringed, and in red the row that is added next.")
