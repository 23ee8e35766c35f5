"""Laval, first part: generative and discriminative models, gradient descent, perceptron, least squares, logistic."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

import discrim
from discrim import plots
from discrim.decision import BayesClassifier
from discrim.gallery import recipes
from discrim.gallery.item import Items, Page
from discrim.losses import LOSSES
from discrim.typing import Floats

ITEMS = Items()


def descend(slope: Any, start: Any, rate: float, steps: int) -> Floats:
    """Points w ← w − η dE/dw from the start on."""
    path = [np.asarray(start, dtype=float)]
    for _ in range(steps):
        path.append(path[-1] - rate * np.asarray(slope(path[-1])))
    return np.array(path)


@ITEMS.item("L1", "Generative and discriminative: two densities and a cut", "P(C1 | x) = p(x | C1)P(C1) / p(x)")
def two_densities(page: Page) -> None:
    rule = BayesClassifier({"C0": stats.norm(-1, 1), "C1": stats.norm(1, 1)})
    regions = rule.regions()
    page.check("C1 from", 0.0, regions[1].low, tol=1e-9)
    page.check("probability of error", 0.1587, float(rule.risk()), tol=5e-5)
    axes = plots.gaussians([-1, 1], labels=["C0", "C1"], posterior=True)
    page.show(axes, "Above densities of two classes, below their posteriors, which cross at zero.")


@ITEMS.item("L2", "Geometry of a linear discriminant", "h(x) = w′x + w0: distance h/|w|, offset −w0/|w|")
def geometry(page: Page) -> None:
    X, y = recipes.triangle()
    keep = y < 2
    model = discrim.LinearDiscriminantAnalysis().fit(X[keep], y[keep])
    plane = model.hyperplane()
    page.check(
        "distance of (0, 0) from the line", plane.b / plane.norm, float(plane.distance([[0.0, 0.0]])[0]), tol=1e-9
    )
    page.check("offset −w0/|w|", -plane.b / plane.norm, plane.offset, tol=1e-9)
    page.check("h at the foot point", 0.0, float(plane.score(plane.foot([[5.0, 2.0]]))[0]), tol=1e-9)
    axes = plots.half_space(model, X[keep], y[keep], point=(5.0, 2.0))
    page.show(axes, "A line with its normal, the offset from zero, and the distance of a point.")


@ITEMS.item("L3", "Gradient descent: a path across contours", "w ← w − η dE/dw")
def contours(page: Page) -> None:
    A = np.array([[1.0, 0.6], [0.6, 2.0]])
    path = descend(lambda w: A @ w, (3.0, 2.5), 0.15, 25)
    steps, slopes = np.diff(path, axis=0), path[:-1] @ A
    cosines = (steps * slopes).sum(axis=1) / np.linalg.norm(steps, axis=1) / np.linalg.norm(slopes, axis=1)
    page.check("cosine between step and gradient (orthogonal to the contour)", -1.0, float(cosines.max()), tol=1e-9)
    page.check("E falls at every step", True, bool((np.diff(np.einsum("ij,jk,ik->i", path, A, path)) < 0).all()))
    rows = np.column_stack([np.ones(60), recipes.separated()[0]])
    limit = 2 / float(np.linalg.eigvalsh(rows.T @ rows)[-1])
    low, high = (
        float(np.abs(descend(lambda w: rows.T @ (rows @ w), (1.0, 1.0, 1.0), share * limit, 400)[-1]).max())
        for share in (0.95, 1.05)
    )
    page.check("least squares of L7: below 2/λmax it settles, above it diverges", [True, True], [low < 1, high > 1e6])
    page.misprint(
        "η in [0, 1]",
        "depends on the data",
        f"the gradient is a sum over N rows: least squares on the 60 rows of L7 diverges above 2/λmax = {limit:.4f}",
    )
    axes = plots.descent(path, lambda a, b: 0.5 * (a * a + 1.2 * a * b + 2 * b * b))
    axes.set_aspect("equal")
    page.show(axes, "Elliptic contours and a path of steps at right angles to them.")


@ITEMS.item("L4", "Gradient descent: tangent and step, in six frames", "Δw = −η dE/dw")
def downhill(page: Page) -> None:
    path = descend(lambda w: 2 * (w - 1), 4.0, 0.2, 6)
    page.check("first step, −η dE/dw", -1.2, float(path[1] - path[0]), tol=1e-9)
    page.check("E falls at every step", True, bool((np.diff((path - 1) ** 2) < 0).all()))
    page.show(plots.downhill(path, lambda w: (w - 1) ** 2), "Six frames: a parabola, tangents, and a point going down.")
    page.movie(plots.animate_descent, path, lambda w: (w - 1) ** 2)


@ITEMS.item("L5", "Perceptron on separable classes, five frames", "w ← w + η Σ_{wrong} r_t x_t, from w = 0")
def perceptron_separable(page: Page) -> None:
    X, y = recipes.separated()
    model = discrim.RosenblattPerceptron(rule="batch", eta0=0.1, shuffle=False, trace="epoch").fit(X, y)
    page.check("updates until no row is wrong", 11, model.learned_[0].updates)
    page.check("rows that are wrong at the end", 0, recipes.wrong(model, X, y))
    page.misprint(
        "x in the gradient; S_i",
        "x_t; S with its class",
        "the sum runs over rows t; the perceptron is of 1957 here, of the 1960s in Rome",
    )
    trace: Any = model.learned_[0].trace
    at = np.linspace(1, len(trace) - 1, 5).astype(int)
    axes = plots.steps(model, X, y, at=at)
    page.show(axes, "Five frames: the line of the batch perceptron moves until it separates.")
    page.movie(plots.animate, model, X, y)


@ITEMS.item(
    "L6", "Perceptron on classes that overlap, six frames", "no line has every row on its side: the corrections go on"
)
def perceptron_overlapping(page: Page) -> None:
    X, y = recipes.separated(1.0)
    model = discrim.RosenblattPerceptron(rule="batch", eta0=0.1, shuffle=False, max_iter=500, trace="epoch").fit(X, y)
    learned = model.learned_[0]
    page.check("settled", False, learned.converged)
    page.check("separable", False, bool(learned.separable))
    trace: Any = learned.trace
    at = np.linspace(len(trace) - 60, len(trace) - 1, 6).astype(int)
    page.check("the line still moves in the last epochs", True, bool(np.ptp(trace.intercept[-60:]) > 0))
    page.show(plots.steps(model, X, y, at=at), "Six frames: the line keeps moving between overlapping classes.")
    page.movie(plots.animate, model, X, y, at=np.arange(len(trace) - 24, len(trace)))


def squares(X: Any, y: Any, steps: int = 400) -> Any:
    """Batch descent on the squared loss, every step kept."""
    return discrim.GradientDescentClassifier(
        "squared", scale=False, learning_rate="constant", eta0=0.1, max_iter=steps, tol=0.0, trace=True
    ).fit(X, y)


@ITEMS.item(
    "L7",
    "Least squares on separable classes, six frames",
    "E = ½ Σ (r_t − h(x_t))²: far rows pull, though they are right",
)
def squares_separable(page: Page) -> None:
    X, y = recipes.separated()
    model, far = squares(X, y), recipes.far()
    page.check("wrong on SEP", 0, recipes.wrong(model, X, y))
    page.check(
        "wrong on FAR, where 20 rows are far on the right side",
        16,
        recipes.wrong(discrim.LeastSquaresClassifier().fit(*far), *far),
    )
    trace = model.trace_
    page.check("E falls at every step", True, bool((np.diff(trace.loss) <= 1e-15).all()))
    at = [1, 2, 5, 20, 100, len(trace) - 1]
    axes = plots.steps(model, X, y, at=at)
    page.show(axes, "Six frames: the least squares line turns and settles between the classes.")
    page.movie(plots.animate, model, X, y, at=np.geomspace(1, len(trace) - 1, 24).astype(int))
    lines = {"least squares": discrim.LeastSquaresClassifier().fit(*far)}
    lines["perceptron"] = discrim.RosenblattPerceptron().fit(*far)
    page.show(
        plots.borders(lines, *far), "Rows far on the right side pull the least squares line into the other class."
    )


@ITEMS.item("L8", "Least squares on classes that overlap, six frames", "the descent settles at the least squares line")
def squares_overlapping(page: Page) -> None:
    X, y = recipes.separated(1.0)
    model = squares(X, y, 800)
    line = discrim.LeastSquaresClassifier().fit(X, y).hyperplane()
    found = model.hyperplane()
    page.check("cosine with the closed form", 1.0, float(line.w @ found.w / line.norm / found.norm), tol=1e-6)
    page.check("offset of the closed form", line.offset, found.offset, tol=1e-4)
    page.check("wrong by LDA on the same rows", 7, recipes.wrong(discrim.LinearDiscriminantAnalysis().fit(X, y), X, y))
    trace = model.trace_
    at = [1, 2, 5, 20, 100, len(trace) - 1]
    page.show(
        plots.steps(model, X, y, at=at), "Six frames: the least squares line settles between overlapping classes."
    )
    page.movie(plots.animate, model, X, y, at=np.geomspace(1, len(trace) - 1, 24).astype(int))


@ITEMS.item("L9", "Learning rate: too low, medium, too high (FIG. 5.6)", "E = w1²/2 + 5w2²: converges for η < 2/10")
def rates(page: Page) -> None:
    paths = {eta: descend(lambda w: np.array([1.0, 10.0]) * w, (4.0, 1.0), eta, 25) for eta in (0.02, 0.15, 0.21)}
    E = {eta: 0.5 * path[:, 0] ** 2 + 5 * path[:, 1] ** 2 for eta, path in paths.items()}
    page.check(
        "the second weight after 25 steps",
        [0.8**25, (-0.5) ** 25, (-1.1) ** 25],
        [path[-1, 1] for path in paths.values()],
        tol=1e-9,
    )
    page.check("medium is lower than low", True, bool(E[0.15][-1] < E[0.02][-1]))
    page.check("too high diverges", True, bool(abs(paths[0.21][-1, 1]) > abs(paths[0.21][0, 1])))
    named = {
        f"{name}: {eta}": path for name, (eta, path) in zip(("low", "medium", "too high"), paths.items(), strict=True)
    }
    axes = plots.descent(named, lambda a, b: a * a / 2 + 5 * b * b, most=15)
    page.show(axes, "Three paths in a narrow valley: slow, direct, and growing from side to side.")


@ITEMS.item("L10", "Linear parametric methods: a shared covariance", "S = Σ P_i S_i")
def shared_covariance(page: Page) -> None:
    X, y = recipes.equal_covariances()
    lda = discrim.LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    own = [np.cov(X[y == k].T, bias=True) for k in (0, 1)]
    page.check("S = Σ P_i S_i", 0.5 * own[0] + 0.5 * own[1], lda.covariance_, tol=1e-9)
    m, inverse = lda.means_, np.linalg.inv(lda.covariance_)
    w0 = -0.5 * (m[0] + m[1]) @ inverse @ (m[1] - m[0]) + np.log(lda.priors_[1] / lda.priors_[0])
    page.check("w0 = −½(μ1 + μ2)′S⁻¹(μ1 − μ2) + log P1/P2", float(w0), lda.hyperplane().b, tol=1e-8)
    printed = -0.5 * (m[0] + m[1]) @ inverse @ (m[0] + m[1]) + np.log(lda.priors_[1] / lda.priors_[0])
    reason = f"these rows have w0 = {w0:.3f}, and {printed:.3f} as printed"
    page.misprint("w0 with (μ1 + μ2) twice", "second factor μ1 − μ2", reason)
    axes = plots.side_by_side(2)
    for ax, (X, y) in zip(axes, (recipes.equal_covariances(), recipes.triangle()), strict=True):
        model = discrim.LinearDiscriminantAnalysis().fit(X, y)
        plots.borders({"LDA": model}, X, y, ax=ax)
        plots.ellipses(model, levels=[0.68], ax=ax)
    page.show(axes, "Gaussian classes with equal ellipses and the straight borders of LDA.")


@ITEMS.item("L11", "Normal densities and the sigmoid of their posterior", "P(C1 | x) = 1 / (1 + exp(−(wx + w0)))")
def sigmoid(page: Page) -> None:
    rule = BayesClassifier({"C0": stats.norm(-1, 1), "C1": stats.norm(1, 1)})
    x = np.linspace(-4, 4, 81)
    log_odds = rule.predict_joint_log_proba(x[:, None]) @ [-1, 1]
    page.check("the logit is 2x, largest difference", 0.0, float(np.abs(log_odds - 2 * x).max()), tol=1e-9)
    page.check("posterior at 0", 0.5, float(rule.predict_proba([[0.0]])[0, 1]), tol=1e-12)
    density = stats.multivariate_normal([0, 0], [[2.0, 0.5], [0.5, 1.0]])
    grid = np.stack(np.meshgrid(np.linspace(-12, 12, 481), np.linspace(-8, 8, 321)), axis=-1)
    printed = density.pdf(grid).sum() * 0.05**2 * 1.75**0.5 / 1.75
    page.check("integral of the density as printed, D = 2, |Σ| = 1.75", 0.756, float(printed), tol=5e-4)
    page.misprint("|Σ|^(0.5 D)", "|Σ|^0.5", "else the density integrates to .756 for D = 2 and |Σ| = 1.75")
    axes = plots.gaussians([-1, 1], labels=["C0", "C1"], posterior=True)
    page.show(axes, "Above two normal densities, below the sigmoid posteriors, one half at zero.")


@ITEMS.item("L12", "Logistic regression by descent, from a random start", "E = −Σ [r log y + (1 − r) log(1 − y)]")
def logistic_descent(page: Page) -> None:
    X, y = recipes.separated(1.0)
    model = discrim.GradientDescentClassifier(
        "cross_entropy",
        start="random",
        scale=False,
        learning_rate="constant",
        eta0=0.5,
        max_iter=300,
        trace=True,
        random_state=0,
    ).fit(X, y)
    trace = model.trace_
    page.check("weights at the start lie within ±.01", True, bool(np.abs(trace.coef[0]).max() <= 0.01))
    page.check("the loss falls at every step", True, bool((np.diff(trace.loss) < 0).all()))
    page.check("wrong at the optimum", 5, recipes.wrong(discrim.LogisticRegression(C=np.inf).fit(X, y), X, y))
    page.misprint(
        "r log y + (1 − r) log 1 − y, an error to be maximised",
        "log(1 − y), an error to be minimised",
        "brackets and sign",
    )
    at = [1, 3, 10, 30, 100, len(trace) - 1]
    page.show(plots.steps(model, X, y, at=at), "Six frames: the logistic line turns into place as the loss falls.")
    w = trace.coef[-1] / np.linalg.norm(trace.coef[-1])
    middle = X.mean(axis=0)
    reach = float(np.abs((X - middle) @ w).max())
    along = np.linspace(-reach, reach, 121)
    rows = middle + along[:, None] * w
    curves = {f"step {i}": (along, 1 / (1 + np.exp(-(rows @ trace.coef[i] + trace.intercept[i])))) for i in at[::-1]}
    axes = plots.lines(curves, x="along the last w, from the mean of the rows", y="P(1)")
    page.show(axes, "The fitted probability over the steps: from a flat curve to a steep one.")


@ITEMS.item(
    "L13",
    "Error criteria over the margin r·h",
    "perceptron max(0, −m), squared ½(1 − m)², log log(1 + e^−m), hinge max(0, 1 − m)",
)
def criteria(page: Page) -> None:
    names, one, zero = ("perceptron", "squared", "log", "hinge"), np.ones(1), np.zeros(1)
    page.check(
        "at 0: perceptron, squared, log, hinge",
        [0.0, 0.5, 0.693, 1.0],
        [float(LOSSES[name].value(zero, one)[0]) for name in names],
        tol=5e-4,
    )
    page.check("cross entropy at 0", 0.693, float(LOSSES["cross_entropy"].value(zero, one)[0]), tol=5e-4)
    page.check("hinge from 1 on", 0.0, float(LOSSES["hinge"].value(np.linspace(1, 5, 9), np.ones(9)).max()))
    page.check(
        "squared rises beyond 1",
        True,
        bool((np.diff(LOSSES["squared"].value(np.linspace(1, 3, 9), np.ones(9))) > 0).all()),
    )
    page.show(plots.losses(names), "Losses over the margin: all fall, the squared one rises again beyond one.")
