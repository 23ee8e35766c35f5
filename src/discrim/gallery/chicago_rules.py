"""Chicago, second part: regularised discriminants, logistic regression, the perceptron, naive Bayes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import special

import discrim
from discrim import plots
from discrim.gallery import recipes
from discrim.gallery.item import Items, Page
from discrim.typing import Floats

ITEMS = Items()


def newton_steps(X: Any, y: Any, steps: int) -> Floats:
    """Coefficients (constant first) after each step β + (X′WX)⁻¹ X′(y − p), from zero."""
    Z = np.column_stack([np.ones(len(X)), X])
    path = [np.zeros(Z.shape[1])]
    for _ in range(steps):
        p = special.expit(Z @ path[-1])
        path.append(path[-1] + np.linalg.solve((Z.T * (p * (1 - p))) @ Z, Z.T @ (y - p)))
    return np.array(path)


@ITEMS.item(
    "C12",
    "Regularised discriminants: error over shrinkage, and ridge paths",
    "S_k(α, γ) = γ (α S_k + (1 − α) S) + (1 − γ) T",
)
def regularised(page: Page) -> None:
    X, y = discrim.datasets.load_crabs().xy
    rda: Any = discrim.RegularizedDiscriminantAnalysis
    page.check(
        "α = 1: rows that differ from QDA",
        0,
        int(
            (rda(alpha=1.0).fit(X, y).predict(X) != discrim.QuadraticDiscriminantAnalysis().fit(X, y).predict(X)).sum()
        ),
    )
    page.check(
        "α = 0: rows that differ from LDA",
        0,
        int((rda(alpha=0.0).fit(X, y).predict(X) != discrim.LinearDiscriminantAnalysis().fit(X, y).predict(X)).sum()),
    )
    half = rda(alpha=0.5, gamma=1.0, normalization="mle").fit(X, y)
    own = np.array([np.cov(X[y == k].T, bias=True) for k in half.classes_])
    mixed = 0.5 * own + 0.5 * own.mean(axis=0)
    away = X[:1] - half.means_
    page.check(
        "γ = 1: no shrinkage, d² with (S_k + S)/2",
        np.einsum("ki,kij,kj->k", away, np.linalg.inv(mixed), away),
        half.mahalanobis(X[:1])[0],
        tol=1e-6,
    )
    centred, response = X - X.mean(axis=0), (y == "BM") - 0.25
    lambdas = np.geomspace(1e-2, 1e5, 40)
    paths = np.array([np.ravel(discrim.RidgeClassifier(alpha=value).fit(X, y == "BM").coef_) / 2 for value in lambdas])
    ridge = np.linalg.solve(centred.T @ centred + lambdas[20] * np.eye(5), centred.T @ response)
    page.check("ridge solution for centred X and Y", ridge, paths[20], tol=1e-9)
    raw = np.linalg.solve(X.T @ X + lambdas[20] * np.eye(5), X.T @ (y == "BM"))
    page.misprint(
        "(X′X + λI)⁻¹X′Y for any X",
        "for centred X and Y only",
        f"raw X and Y give {raw[0]:.4f} for the first column instead of {ridge[0]:.4f}",
    )
    page.misprint("λ", "2λ with Laval's penalty", "Laval's penalty has 1/2 in front")
    shares = np.array([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0])
    errors = {}
    for target, alpha in itertools.product(("identity", "diagonal"), (0.0, 0.5)):
        folds = [discrim.cross_validate(rda(alpha=alpha, gamma=g, target=target), X, y, cv=10) for g in shares]
        errors[f"{target}, α = {alpha:g}"] = shares, [one.error for one in folds]
    page.show(plots.lines(errors, x="γ", y="error in 10 folds"), "Cross-validated error over γ, two targets, two α.")
    axes = plots.path(lambdas, paths, names=("FL", "RW", "CL", "CW", "BD"))
    page.show(axes, "Ridge coefficients of five columns over lambda.")


@ITEMS.item(
    "C13",
    "Logistic regression: probabilities of K classes, and Newton's steps",
    "P(k | x) = exp(w_k′x + b_k) / Σ exp(w_l′x + b_l);  β ← β + (X′WX)⁻¹X′(y − p) = (X′WX)⁻¹X′Wz",
)
def logistic_steps(page: Page) -> None:
    X, y = recipes.equal_covariances()
    path, Z = newton_steps(X, y, 8), np.column_stack([np.ones(len(X)), X])
    p = special.expit(Z @ path[2])
    W = p * (1 - p)
    least_squares = np.linalg.solve((Z.T * W) @ Z, Z.T @ (W * (Z @ path[2] + (y - p) / W)))
    page.check("both forms of the third step", path[3], least_squares, tol=1e-9)
    model = discrim.LogisticRegression(C=np.inf).fit(X, y)
    page.check("where the steps end", path[-1], np.array([*model.intercept_, *model.coef_[0]]), tol=1e-6)
    page.check("rows that are wrong", 28, recipes.wrong(model, X, y))
    iris = discrim.datasets.load_iris()
    width = iris.data[:, [3]]
    species = discrim.LogisticRegression(C=10.0).fit(width, iris.target)
    left, right = plots.side_by_side(2)
    plots.titled(plots.effect(species, width, iris.target, ax=left), "iris", "petal width (cm)")
    plots.titled(plots.convergence(model, what="coefficients", ax=right), "Newton's steps (A)")
    page.show(left, "Left: three class probabilities over petal width. Right: coefficients after each Newton step.")


@ITEMS.item(
    "C14",
    "LDA and logistic regression: the same form, different lines",
    "both have log odds w′x + b, fitted by different likelihoods",
)
def lda_and_logistic(page: Page) -> None:
    sets = {"Gaussian (A)": recipes.equal_covariances(), "with outliers (OUT)": recipes.outliers()}
    wrong = {}
    for name, (X, y) in sets.items():
        models = (discrim.LinearDiscriminantAnalysis().fit(X, y), discrim.LogisticRegression(C=np.inf).fit(X, y))
        wrong[name] = [recipes.wrong(model, X, y) for model in models]
    page.check("A: wrong by LDA and logistic regression", [28, 28], wrong["Gaussian (A)"])
    page.check("OUT: wrong by LDA and logistic regression", [8, 3], wrong["with outliers (OUT)"])
    page.check(
        "without outliers, LDA",
        3,
        recipes.wrong(
            discrim.LinearDiscriminantAnalysis().fit(*recipes.outliers(also=False)), *recipes.outliers(also=False)
        ),
    )
    page.misprint(
        "logistic regression is less robust than LDA",
        "on OUT the outliers move LDA, not logistic regression",
        "errors 3 to 8 against 3 to 3; the Oxford lecture says so too",
    )
    axes = plots.side_by_side(2)
    for ax, (name, (X, y)) in zip(axes, sets.items(), strict=True):
        lda, logistic = discrim.LinearDiscriminantAnalysis().fit(X, y), discrim.LogisticRegression(C=np.inf).fit(X, y)
        plots.titled(plots.borders({"LDA": lda, "logistic": logistic}, X, y, ax=ax), name)
    page.show(axes, "The lines of LDA and logistic regression on Gaussian rows, and on rows with far outliers.")


@ITEMS.item(
    "C15",
    "Separable classes: LDA errs, logistic coefficients grow without end",
    "no finite β maximises the likelihood of separated classes",
)
def separable(page: Page) -> None:
    X, y = recipes.far()
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    logistic = discrim.LogisticRegression(C=np.inf).fit(X, y)
    page.check("rows that LDA gets wrong", 16, recipes.wrong(lda, X, y))
    page.check(
        "rows that least squares gets wrong", 16, recipes.wrong(discrim.LeastSquaresClassifier().fit(X, y), X, y)
    )
    page.check("found to be separated", True, bool(logistic.separation_.complete))
    path = newton_steps(X, y.astype(float), 14)
    sizes = np.linalg.norm(path[:, 1:], axis=1)
    page.check("the coefficients grow at every step", True, bool((np.diff(sizes) > 0).all()))
    left, right = plots.side_by_side(2)
    plots.borders({"LDA": lda, "logistic": logistic}, X, y, ax=left)
    plots.titled(plots.convergence(logistic, what="norm", ax=right), "Newton's steps")
    page.show(left, "Left: the LDA line cuts through a separated class. Right: the growing length of w.")


@ITEMS.item(
    "C16", "The perceptron converges: steps and their bound", "w ← w + y x, b ← b + y R²; at most (2R/γ)² corrections"
)
def convergence(page: Page) -> None:
    X, y = recipes.separated()
    model = discrim.RosenblattPerceptron(rule="chicago", shuffle=False, trace="step").fit(X, y)
    learned: Any = model.learned_[0]
    page.check("corrections", 7, learned.updates)
    page.check("R", 3.651, learned.radius, tol=5e-4)
    page.check("largest margin γ", 0.549, float(2 * learned.radius / np.sqrt(learned.best_bound)), tol=5e-4)
    page.check("the bound with the largest margin", 177, int(learned.best_bound))
    page.check("what the formula gives for 100 w*, below 7", 0.018, learned.best_bound / 100**2, tol=5e-4)
    page.misprint(
        "(2R/γ)² for any w*",
        "only for |w*| = 1, |b*| ≤ R and a start at 0",
        "with 100 w* the bound is 0.018, and there are 7 corrections",
    )
    page.misprint(
        "D(w, b) over rows with y(w′x + b) < 0",
        "≤ 0",
        "from w = 0 nothing would be wrong, and nothing would start; and D/|w| is the total distance, not the average",
    )
    page.show(plots.steps(model, X, y), "Six panels: the line after corrections, with the rows that are still wrong.")
    page.note(f"{learned.updates} corrections, at most {learned.best_bound:.0f}.")


@ITEMS.item(
    "C17",
    "Classes that no line separates: the perceptron cycles",
    "XOR: the weights come back, so that the corrections never end",
)
def cycling(page: Page) -> None:
    X, y = recipes.xor()
    Z, sign = np.column_stack([np.ones(4), X]), 2 * y - 1
    w, seen = np.zeros(3), list[Floats]()
    while not any(np.array_equal(w, old) for old in seen):
        seen.append(w)
        row = int(np.argmax(sign * (Z @ w) <= 0))
        w = w + sign[row] * Z[row]
    first = next(i for i, old in enumerate(seen) if np.array_equal(w, old))
    page.check("period, correcting the first wrong row each time", 4, len(seen) - first)
    model = discrim.RosenblattPerceptron(shuffle=False, max_iter=100).fit(X, y)
    page.check("the model sees that it cycles", True, bool(model.learned_[0].cycling))
    path = np.array([*seen, *(seen[first:] * 2), w])
    axes = plots.lines(dict(zip(("b", "w1", "w2"), path.T, strict=True)), x="correction", y="weights on XOR")
    page.show(axes, "The weights of the perceptron on XOR go round a cycle of four.")


@ITEMS.item("C18", "Naive Bayes: the columns are independent given the class", "P(x1, …, xd, Y) = P(Y) ∏ P(xj | Y)")
def graphical_model(page: Page) -> None:
    X, y = discrim.datasets.load_iris().xy
    rows, labels = discrim.GaussianNB().fit(X, y).sample(20_000, random_state=0)
    within = [np.corrcoef(rows[labels == k].T)[np.triu_indices(4, 1)] for k in np.unique(y)]
    page.check(
        "largest correlation within a class of rows drawn from the model", 0.0, float(np.abs(within).max()), tol=0.04
    )
    page.misprint("joint P(Y | X)", "P(X, Y)", "a joint distribution is of both")
    page.show(plots.graph(["X1", "X2", "…", "Xd"]), "A node Y with arrows to the nodes X1, X2, and so on to Xd.")


@ITEMS.item(
    "C19",
    "Naive Bayes as an additive model: a term for each column",
    "log odds = a + Σ f_k(x_k); binary columns: a + Σ α_k x_k",
)
def additive(page: Page) -> None:
    X, y = discrim.datasets.load_crabs(log=True).data, discrim.datasets.load_crabs().extra["sex"]
    ones = (np.median(X, axis=0) < X).astype(float)
    binary, gaussian = discrim.BernoulliNB().fit(ones, y), discrim.GaussianNB(methods="all").fit(X, y)
    page.check(
        "binary: log odds of the first row",
        float(binary.predict_log_proba(ones[:1])[0] @ [-1, 1]),
        float(ones[0] @ binary.coef_[0] + binary.intercept_[0]),
        tol=1e-9,
    )

    def term(x: Floats, j: int) -> Floats:
        m, v = gaussian.theta_[:, j], gaussian.var_[:, j]
        return np.asarray(np.diff(-0.5 * np.log(v) - 0.5 * (x[:, None] - m) ** 2 / v, axis=1)[:, 0])

    total = np.sum([term(X[:, j], j) for j in range(5)], axis=0)
    page.check(
        "continuous: the sum of the curves is the log odds", gaussian.decision_function(X)[:5], total[:5], tol=1e-7
    )
    page.misprint("p_{i,1}", "p_{k,1}", "the probability belongs to column k")
    tuned = discrim.BernoulliNB(tune_intercept=True).fit(ones, y)
    page.check(
        "with a tuned separately there are no more errors",
        True,
        recipes.wrong(tuned, ones, y) <= recipes.wrong(binary, ones, y),
    )
    names = ("FL", "RW", "CL", "CW", "BD")
    left, right = plots.side_by_side(2)
    plots.titled(plots.coefficients(binary.renamed(list(names)), ax=left), "α of x > median")
    plots.titled(plots.terms(gaussian.renamed(list(names)), X, ax=right), "f of each column")
    page.show(left, "Left: alpha of five binary columns. Right: a curve for each continuous column.")
