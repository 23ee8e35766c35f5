"""Oxford, first part: the data of the examples, decision theory, LDA and QDA on iris and crabs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

import discrim
from discrim import plots
from discrim.decision import BayesClassifier
from discrim.gallery import recipes
from discrim.gallery.item import Items, Page

ITEMS = Items()

BOSTON = {
    "crim": "crimes per head, by town",
    "zn": "share of residential land in lots over 25,000 square feet",
    "indus": "share of land of non-retail business",
    "chas": "1 at the Charles River, else 0",
    "nox": "nitrogen oxides, parts per 10 million",
    "rm": "mean number of rooms",
    "age": "share of owner-occupied homes from before 1940",
    "dis": "weighted distance to five employment centres",
    "rad": "access to radial highways",
    "tax": "property tax per 10,000 dollars",
    "ptratio": "pupils per teacher",
    "black": "1000 (B − 0.63)², B the share of black residents",
    "lstat": "percentage of lower status",
    "medv": "median value of owner-occupied homes, 1000 dollars",
}
NAMES = ("BF", "OF", "BM", "OM")
PETALS = ("petal length (cm)", "petal width (cm)")


@ITEMS.item("O1", "Boston housing: 14 variables", "n = 506, X: 13 variables, Y: medv")
def boston_variables(page: Page) -> None:
    page.check("variables, 13 and medv", 14, len(BOSTON))
    page.misprint("b", "black", "the next slide calls the variable by its name in R")
    page.table(["name", "meaning"], list(BOSTON.items()))


@ITEMS.item("O2", "Boston housing: str(X), str(Y)", "regression: predict Y from X")
def boston_rows(page: Page) -> None:
    rows = page.data("boston")
    page.check("columns", 13, rows.X.shape[1])
    page.check("Y", [24.0, 21.6, 34.7, 33.4, 36.2], rows.y[:5].astype(float))
    page.check("crim", [0.00632, 0.02731, 0.02729, 0.03237, 0.06905], rows.X[:5, 0], tol=5e-6)
    page.table(
        ["", *map(str, range(1, 6))],
        [[name, *rows.X[:5, j]] for j, name in enumerate(rows.names)] + [["Y", *rows.y[:5].astype(float)]],
        digits=5,
    )


@ITEMS.item("O3", "Lymphoma: 62 patients, 4026 genes", "n = 62, p = 4026")
def lymphoma(page: Page) -> None:
    rows = page.data("lymphoma")
    page.check("rows and columns", [62, 4026], list(rows.X.shape))
    page.check("rows of the classes", [42, 9, 11], np.bincount(np.unique(rows.y, return_inverse=True)[1]))
    page.misprint(
        "Y in {0, 1}, first value −.344",
        "three classes 42/9/11, first value −.378",
        "the data of this size known to us have three subtypes and another scaling",
    )
    model = discrim.LinearDiscriminantAnalysis(shrinkage=0.5).fit(rows.X, rows.y)
    page.table(
        ["gene", *map(str, range(1, 6))],
        [[name, *rows.X[:5, j]] for j, name in enumerate(rows.names[:15])],
        "first 5 patients, 15 genes",
    )
    page.note(f"Shrunken LDA puts {recipes.wrong(model, rows.X, rows.y)} of the 62 into another class.")


def two_normals(second: float) -> BayesClassifier:
    return BayesClassifier({1: stats.norm(-1, 1), 2: stats.norm(1, second)})


@ITEMS.item("O4", "The Bayes classifier: densities and their mixture", "f(x) = Σ π_k f_k(x), π = (½, ½)")
def mixture(page: Page) -> None:
    x = np.linspace(-4, 4, 300)
    f1, f2 = stats.norm(-1, 1).pdf(x), stats.norm(1, 1).pdf(x)
    total = np.exp(two_normals(1).predict_joint_log_proba(x[:, None])).sum(axis=1)
    page.check("f = f1/2 + f2/2, largest difference", 0.0, float(np.abs(total - f1 / 2 - f2 / 2).max()), tol=1e-12)
    axes = plots.gaussians([-1, 1], labels=["f1", "f2"], mixture=True)
    page.show(axes, "Two weighted normal densities and their mixture.")


@ITEMS.item("O5", "How is x = 0.1 classified?", "argmax π_k f_k(x)")
def point_one(page: Page) -> None:
    rule = two_normals(1)
    page.check("border", 0.0, float(rule.regions()[0].high), tol=1e-9)
    page.check("class of x = 0.1", 2, int(rule.predict([[0.1]])[0]))
    page.check("its posterior", 0.550, float(rule.predict_proba([[0.1]])[0, 1]), tol=5e-4)
    page.check("Bayes error", 0.1587, float(rule.risk()), tol=5e-5)
    axes = plots.gaussians([-1, 1])
    axes.plot([0.1], [0.0], "v", color=axes.lines[1].get_color(), clip_on=False, zorder=5, markersize=8)
    page.show(axes, "Two weighted densities, the border at zero and the point 0.1 just right of it.")


@ITEMS.item("O6", "Standard deviations 1 and 1/3", "f1 = N(−1, 1), f2 = N(1, 1/9)")
def two_widths(page: Page) -> None:
    rule = two_normals(1 / 3)
    page.check("means", [-1.0, 1.0], [float(f.mean()) for f in rule.densities.values()])
    page.check("standard deviations", [1.0, 1 / 3], [float(f.std()) for f in rule.densities.values()], tol=1e-12)
    page.show(plots.gaussians([-1, 1], [1, 1 / 3]), "A wide and a narrow normal density.")


@ITEMS.item("O7", "The same on a log scale: class 2 wins on an interval", "4x² − 10x + 4 − log 3 = 0")
def log_scale(page: Page) -> None:
    rule = two_normals(1 / 3)
    low, high = rule.regions()[1].low, rule.regions()[1].high
    page.check("interval of class 2", [0.335, 2.165], [low, high], tol=5e-4)
    page.check("roots of 4x² − 10x + 4 − log 3", np.sort(np.roots([4, -10, 4 - np.log(3)])), [low, high], tol=1e-9)
    page.check("Bayes error", 0.0567, float(rule.risk()), tol=5e-5)
    page.misprint("[−0.39, 2.15]", "[0.335, 2.165]", "the roots of 4x² − 10x + 4 − log 3")
    axes = plots.gaussians([-1, 1], [1, 1 / 3], log=True)
    page.show(axes, "Two parabolas, the narrow one above the wide one on an interval whose ends are marked.")


@ITEMS.item("O8", "Iris: pairs plot of four variables", "3 species, 50 flowers each")
def iris_pairs(page: Page) -> None:
    iris = discrim.datasets.load_iris()
    page.check("rows of each species", [50, 50, 50], np.unique(iris.target, return_counts=True)[1])
    names = [name.replace("_", " ") for name in iris.feature_names]
    page.show(plots.pairs(*iris.xy, names=names), "All pairs of four measurements, coloured by species.")


def petals() -> tuple[Any, Any]:
    """Petal length and width, and the species."""
    iris = discrim.datasets.load_iris()
    return iris.data[:, 2:], iris.target


@ITEMS.item("O9", "Iris: two predictors", "petal length and width")
def two_predictors(page: Page) -> None:
    X = discrim.datasets.load_iris().data[:, 2:]
    page.check("range of petal length", [1.0, 6.9], [X[:, 0].min(), X[:, 0].max()], tol=1e-9)
    page.check("range of petal width", [0.1, 2.5], [X[:, 1].min(), X[:, 1].max()], tol=1e-9)
    axes = plots.points(*petals(), names=PETALS)
    page.show(axes, "Petal length and width of three species.")


@ITEMS.item("O10", "LDA on a grid: the code", "predict on a lattice, contours between the numbers of the classes")
def lda_on_grid(page: Page) -> None:
    iris = discrim.datasets.load_iris()
    lda = discrim.LinearDiscriminantAnalysis().fit(iris.data[:, 2:], iris.target)
    a, b = np.meshgrid(np.arange(-6, 6, 0.02), np.arange(-6, 6, 0.02))
    number = np.searchsorted(lda.classes_, lda.predict(np.column_stack([a.ravel(), b.ravel()]))) + 1
    page.check("classes on the lattice", 3, len(np.unique(number)))
    page.check("petals longer than the lattice reaches", 9, int((iris.data[:, 2] > 6).sum()))
    page.misprint(
        "lattice −6 … 6", "1 … 7", "it is that of the crabs: 9 petals are longer than 6; and a bracket is misplaced"
    )
    axes = plots.regions(lda, *petals())
    page.show(plots.titled(axes, None, *PETALS), "The predictions at all points of a lattice, as areas.")


@ITEMS.item("O11", "Iris: borders of LDA", "straight lines in petal length and width")
def iris_lda(page: Page) -> None:
    iris = discrim.datasets.load_iris()
    X, y = iris.data[:, 2:], iris.target
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    planes = [lda.hyperplane(*pair) for pair in (("setosa", "versicolor"), ("versicolor", "virginica"))]
    lines = [[-plane.b / plane.w[1], -plane.w[0] / plane.w[1]] for plane in planes]
    page.check("width = 3.309 − .882 length", [3.309, -0.882], lines[0], tol=5e-4)
    page.check("width = 3.272 − .325 length", [3.272, -0.325], lines[1], tol=5e-4)
    page.check("errors", 6, recipes.wrong(lda, X, y))
    page.misprint("(x − μ)′Σ⁻¹(x − μ) as Mahalanobis distance", "its square", "the distance is the root")
    axes = plots.borders({"LDA": lda}, X, y, formats={"LDA": "k--"})
    page.show(plots.titled(axes, None, *PETALS), "Three species with the borders of LDA, broken.")


def log_crabs() -> tuple[Any, Any]:
    """Log measurements with the lecture's labels ct = sp + 2 sex: 0 is BF, 1 OF, 2 BM, 3 OM."""
    crabs = discrim.datasets.load_crabs(log=True)
    return crabs.data, (crabs.extra["sp"] == "O").astype(int) + 2 * (crabs.extra["sex"] == "M")


@ITEMS.item("O12", "Crabs: lda(log(crabs[, 4:8]), ct)", "a_l with a′Sa = 1, S with the divisor n − K")
def crabs_lda(page: Page) -> None:
    lda = discrim.LinearDiscriminantAnalysis(normalization="unbiased").fit(*log_crabs())
    printed = np.array(
        [
            [-31.217207, -2.851488, 25.719750],
            [-9.485303, -24.652581, -6.067361],
            [-9.822169, 38.578804, -31.679288],
            [65.950295, -21.375951, 30.600428],
            [-17.998493, 6.002432, -14.541487],
        ]
    )
    means = [
        [2.564985, 2.475174, 3.312685, 3.462327, 2.441351],
        [2.852455, 2.683831, 3.529370, 3.649555, 2.733273],
        [2.672724, 2.443774, 3.437968, 3.578077, 2.560806],
        [2.787885, 2.489921, 3.490431, 3.589426, 2.701580],
    ]
    ours = lda.scalings_ * np.sign(lda.scalings_[0] * printed[0])
    page.check("priors", [0.25] * 4, lda.priors_, tol=1e-12)
    page.check("group means", means, lda.means_, tol=5e-7)
    page.check("coefficients, up to sign", printed, ours, tol=5e-7)
    page.check("proportion of trace", [0.6891, 0.3018, 0.0091], lda.explained_variance_ratio_, tol=5e-5)
    page.check("FL with the divisor n − 1", -31.455, float(ours[0, 0] * np.sqrt(199 / 196)), tol=5e-4)
    page.misprint("divisor n − 1; μ of Y_i in B", "n − K; μ_k", "n − 1 would give FL −31.455, the slide prints −31.217")
    page.table(
        ["", "LD1", "LD2", "LD3"],
        [[name, *row] for name, row in zip(("FL", "RW", "CL", "CW", "BD"), ours, strict=True)],
        "coefficients, with the signs of the lecture",
        digits=8,
    )
    page.session(lda.renamed(["FL", "RW", "CL", "CW", "BD"]).summary())


def crab_scores() -> tuple[Any, Any, Any]:
    """The model, LD scores with the signs of the lecture's centroids, and the labels."""
    X, ct = log_crabs()
    lda = discrim.LinearDiscriminantAnalysis(normalization="unbiased").fit(X, ct)
    scores = lda.transform(X)
    return lda, scores * np.sign(scores[ct == 0].mean(axis=0) * [2.49, -2.10, 1.0]), ct


@ITEMS.item("O13", "Crabs: predictions in LD1 and LD2", "eqscplot(predict(cb.lda)$x)")
def crabs_scores(page: Page) -> None:
    _, scores, ct = crab_scores()
    centroids = np.array([scores[ct == k, :2].mean(axis=0) for k in range(4)])
    page.check(
        "centroids of BF, OF, BM, OM",
        [[2.49, -2.10], [-3.50, -1.95], [3.67, 1.44], [-2.66, 2.61]],
        centroids,
        tol=0.005,
    )
    X, ct = log_crabs()
    groups = np.array(NAMES)[ct]
    lda = discrim.LinearDiscriminantAnalysis(normalization="unbiased").fit(X, groups)
    axes = plots.discriminants(lda, X, groups, shade=None)
    page.show(axes, "Four groups of crabs in the first two discriminant coordinates, with equal scales.")


MISTAKES = {7: 0, 10: 0, 12: 0, 16: 0, 55: 2, 152: 3, 153: 3, 161: 3}


@ITEMS.item("O14", "Crabs: true and predicted classes", "predict(cb.lda)$class")
def crabs_classes(page: Page) -> None:
    X, ct = log_crabs()
    found = discrim.LinearDiscriminantAnalysis(normalization="unbiased").fit(X, ct).predict(X)
    rows = np.flatnonzero(found != ct) + 1
    page.check("rows that are wrong", list(MISTAKES), rows)
    page.check("what they are taken for", list(MISTAKES.values()), found[rows - 1])
    page.session(
        "> ct\n"
        + "\n".join(" ".join(map(str, ct[i : i + 40])) for i in range(0, 200, 40))
        + "\n> predict(cb.lda)$class\n"
        + "\n".join(" ".join(map(str, found[i : i + 40])) for i in range(0, 200, 40))
    )


@ITEMS.item("O15", "Crabs: posteriors of the first seven", "predict(cb.lda)$posterior")
def crabs_posteriors(page: Page) -> None:
    X, ct = log_crabs()
    found = discrim.LinearDiscriminantAnalysis(normalization="unbiased").fit(X, ct).predict_proba(X[:7])
    printed = np.array(
        [
            [4.058456e-02, 1.579991e-10, 9.594150e-01, 4.367517e-07],
            [4.912087e-01, 2.057493e-09, 5.087911e-01, 2.314634e-07],
            [2.001047e-02, 4.368642e-16, 9.799895e-01, 2.087757e-13],
            [7.867144e-04, 9.148327e-15, 9.992133e-01, 2.087350e-09],
            [2.094626e-03, 2.381970e-11, 9.979020e-01, 3.335500e-06],
            [3.740294e-03, 3.170411e-13, 9.962597e-01, 2.545022e-08],
            [7.291360e-01, 1.625743e-09, 2.708639e-01, 6.637005e-08],
        ]
    )
    page.check("row 1", [f"{v:.6e}" for v in printed[0]], [f"{v:.6e}" for v in found[0]])
    page.check("rows 1 to 7, ratio to the printed", np.ones((7, 4)), found / printed, tol=5e-7)
    page.table(["", *NAMES], [[str(i + 1), *(f"{v:.6e}" for v in row)] for i, row in enumerate(found)])


@ITEMS.item("O16", "Crabs: borders in LD1 and LD2, at LD3 = 0", "lda(cb.ldp$x, ct) on a lattice")
def crabs_borders(page: Page) -> None:
    lda, scores, ct = crab_scores()
    again = discrim.LinearDiscriminantAnalysis(normalization="unbiased").fit(scores, ct)
    page.check(
        "rows that LDA on the scores classifies as LDA does",
        200,
        int((again.predict(scores) == lda.predict(log_crabs()[0])).sum()),
    )
    page.check("largest LD1, smallest LD2", [6.07, -4.80], [scores[:, 0].max(), scores[:, 1].min()], tol=0.005)
    page.misprint(
        "x in −6 … 6, y in −4 … 4", "rows reach LD1 6.07 and LD2 −4.80", "some points lie outside of the lattice"
    )
    X, ct = log_crabs()
    groups = np.array(NAMES)[ct]
    axes = plots.discriminants(discrim.LinearDiscriminantAnalysis().fit(X, groups), X, groups)
    page.show(axes, "The groups in two discriminant coordinates with straight borders, at LD3 = 0.")


@ITEMS.item("O17", "Crabs: principal components, for comparison", "princomp(log(crabs[, 4:8]))")
def crabs_pca(page: Page) -> None:
    X, ct = log_crabs()
    centred = X - X.mean(axis=0)
    _, values, rows = np.linalg.svd(centred, full_matrices=False)
    page.check("shares of variance", [0.9689, 0.0202, 0.0083], (values**2 / (values**2).sum())[:3], tol=5e-5)
    axes = plots.pairs(centred @ rows[:3].T, np.array(NAMES)[ct], names=("PC1", "PC2", "PC3"))
    page.show(axes, "Pairs of three principal components; the groups overlap.")


@ITEMS.item("O18", "Crabs: discriminant coordinates beside the principal components", "separates better than O17")
def crabs_discriminants(page: Page) -> None:
    _, scores, ct = crab_scores()
    X, _ = log_crabs()
    components = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[0][:, :2]
    wrong = [recipes.wrong(discrim.LinearDiscriminantAnalysis().fit(Z, ct), Z, ct) for Z in (components, scores[:, :2])]
    page.check("two discriminant coordinates make fewer errors than two components", True, wrong[1] < wrong[0])
    page.note(f"LDA in two principal components: {wrong[0]} of 200 wrong, in two discriminant coordinates: {wrong[1]}.")
    axes = plots.pairs(scores, np.array(NAMES)[ct], names=("LD1", "LD2", "LD3"))
    page.show(axes, "Pairs of three discriminant coordinates; the groups stand apart.")


@ITEMS.item("O19", "LDA and QDA on a grid: the code", "qda beside lda, contours at 1.5 and 2.5")
def qda_on_grid(page: Page) -> None:
    iris = discrim.datasets.load_iris()
    X, y = iris.data[:, 2:], iris.target
    models = {
        "LDA": discrim.LinearDiscriminantAnalysis().fit(X, y),
        "QDA": discrim.QuadraticDiscriminantAnalysis().fit(X, y),
    }
    page.check("errors of LDA and QDA", [6, 3], [recipes.wrong(model, X, y) for model in models.values()])
    page.misprint("lattice −6 … 6", "1 … 7", "as in O10")
    axes = plots.side_by_side(2)
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        plots.titled(plots.regions(model, X, y, ax=ax), name, *PETALS)
    page.show(axes, "Regions of LDA and of QDA over petal length and width.")


@ITEMS.item("O20", "Iris: borders of LDA and QDA", "straight against curved")
def iris_qda(page: Page) -> None:
    iris = discrim.datasets.load_iris()
    X, y = iris.data[:, 2:], iris.target
    lda, qda = discrim.LinearDiscriminantAnalysis().fit(X, y), discrim.QuadraticDiscriminantAnalysis().fit(X, y)
    page.check("rows that QDA gets wrong", [71, 120, 134], np.flatnonzero(qda.predict(X) != y) + 1)
    page.check("LDA, errors", 6, recipes.wrong(lda, X, y))
    page.misprint(
        "p × p numbers of a covariance; singular if p > n",
        "p(p + 1)/2; if p > n − K, for QDA if p ≥ n_k",
        "the matrix is symmetric, and the means take degrees of freedom",
    )
    page.misprint(
        "X | Y = k ~ (μ_k, Σ_k)", "N(μ_k, Σ_k)", "the N of the normal distribution is missing in the model of QDA"
    )
    axes = plots.borders({"LDA": lda, "QDA": qda}, X, y)
    page.show(plots.titled(axes, None, *PETALS), "Three species with the borders of LDA and, broken, of QDA.")
