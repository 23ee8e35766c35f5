"""Notes on the geometry of linear discriminant analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

import discrim
from discrim import plots
from discrim.gallery import drawing as draw
from discrim.gallery import recipes
from discrim.gallery.item import Items, Page
from discrim.plots.style import LIGHT

ITEMS = Items()


@ITEMS.item(
    "N1", "The classification task: rows and their classes", "x₁, …, x_n in R^p, C_k the rows of class k, Σ n_k = n"
)
def task(page: Page) -> None:
    iris = discrim.datasets.load_iris()
    model = discrim.LinearDiscriminantAnalysis().fit(*iris.xy)
    page.check("Σ n_k = n", 150, int(model.statistic_.weight.sum()))
    page.misprint(
        "C_k ⊂ {1, …, K}; some sums to n",
        "C_k ⊂ {1, …, n}; sums over classes to K",
        "C_k numbers rows; b_k is a column",
    )
    page.table(
        [*iris.feature_names, "class"],
        [[*iris.data[i], str(iris.target[i])] for i in (0, 1, 50, 51, 100, 101)],
        "six of 150 rows",
    )
    axes = plots.points(iris.data, iris.target, columns=(2, 3), names=iris.feature_names)
    page.show(axes, "Petal length and width of 150 flowers, coloured by species.")


@ITEMS.item(
    "N2",
    "LDA: the border of two classes and its normal",
    "h_k(x) = α_k + b_k′x, b_k = Σ⁻¹μ_k, α_k = log π_k − μ_k′Σ⁻¹μ_k / 2",
)
def half_space(page: Page) -> None:
    X, y = recipes.equal_covariances()
    lda = discrim.LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    b = np.linalg.solve(lda.covariance_, lda.means_.T).T
    alpha = np.log(lda.priors_) - 0.5 * np.einsum("kj,kj->k", lda.means_, b)
    plane = lda.hyperplane()
    page.check("normal b_1 − b_0", b[1] - b[0], plane.w, tol=1e-8)
    page.check("constant α_1 − α_0", float(alpha[1] - alpha[0]), plane.b, tol=1e-8)
    page.check(
        "rows whose side is their predicted class",
        200,
        int(((X @ (b[1] - b[0]) + alpha[1] - alpha[0] > 0) == lda.predict(X)).sum()),
    )
    page.show(plots.half_space(lda, X, y), "Two clouds, the border between them, its normal, and a distance from it.")


@ITEMS.item("N3", "LDA: ellipses of one shape, straight borders", "Σ = (1/n) Σ_k Σ_{i ∈ k} (x_i − μ_k)(x_i − μ_k)′")
def one_shape(page: Page) -> None:
    X, y = recipes.triangle()
    lda = discrim.LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    away = X - lda.means_[y]
    page.check("Σ with the divisor n", away.T @ away / 300, lda.covariance_, tol=1e-9)
    page.check("rows that are wrong", 12, recipes.wrong(lda, X, y))
    axes = plots.borders({"LDA": lda}, X, y)
    page.show(plots.ellipses(lda, ax=axes), "Three clouds with ellipses of equal shape and straight borders.")


@ITEMS.item(
    "N4",
    "QDA: ellipses of different shape, curved borders",
    "h_k(x) = log π_k − log |Σ_k| / 2 − (x − μ_k)′Σ_k⁻¹(x − μ_k) / 2",
)
def own_shapes(page: Page) -> None:
    X, y = recipes.pinwheel()
    qda = discrim.QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    brute = [
        np.log(1 / 3) + stats.multivariate_normal(m, s).logpdf(X[:5])
        for m, s in zip(qda.means_, qda.covariance_, strict=True)
    ]
    shown = qda.decision_function(X[:5])
    page.check("score differences by the densities", np.diff(brute, axis=0).T, np.diff(shown, axis=1), tol=1e-8)
    page.check("rows that are wrong", 6, recipes.wrong(qda, X, y))
    two = discrim.QuadraticDiscriminantAnalysis(store_covariance=True).fit(*recipes.own_covariances())
    log_proba, (first, second) = two.predict_log_proba([[1.0, 1.0]])[0], np.linalg.slogdet(two.covariance_)[1]
    right = float(log_proba[0] - log_proba[1])
    printed = right + 0.5 * float(first - second)
    page.misprint(
        "log |Σ_k| twice, and R without −log(|Σ_k|/|Σ_k'|)/2",
        "log |Σ_k| and log |Σ_k'|",
        f"for the two classes below, halfway between (0, 0) and (2, 2), printed {printed:.3f} instead of {right:.3f}",
    )
    axes = plots.side_by_side(2)
    for ax, (X, y) in zip(axes, (recipes.own_covariances(), recipes.pinwheel()), strict=True):
        qda = discrim.QuadraticDiscriminantAnalysis().fit(X, y)
        plots.borders({"QDA": qda}, X, y, ax=ax)
        plots.ellipses(qda, levels=[0.68], ax=ax)
    page.show(axes, "Ellipses of different shapes and curved borders, for two and for three classes.")


@ITEMS.item(
    "N5",
    "Geometry of LDA: borders against the cells of the nearest centroid",
    "nearest centroid after x* = Σ^(−1/2) x, for equal priors",
)
def voronoi(page: Page) -> None:
    X, y = recipes.gaussian([(0, 0), (4, 0), (2, 3.5)], [[[1.0, 0.8], [0.8, 1.0]]] * 3, (100, 100, 100))
    lda = discrim.LinearDiscriminantAnalysis(priors=[1 / 3] * 3).fit(X, y)
    plane = lda.centroid_plane()
    nearest = ((plane.sphere(X)[:, None] - plane.sphere(lda.means_)) ** 2).sum(axis=2).argmin(axis=1)
    raw = ((X[:, None] - lda.means_) ** 2).sum(axis=2).argmin(axis=1)
    page.check("rows where LDA and the nearest sphered centroid differ", 0, int((nearest != lda.predict(X)).sum()))
    page.check("without sphering they differ", True, bool((raw != lda.predict(X)).any()))
    left, right = plots.side_by_side(2, across=1)
    plots.titled(plots.voronoi(lda, X, y, sphered=False, ax=left), "columns as they are")
    plots.titled(plots.voronoi(lda, X, y, ax=right), "sphered")
    page.show(left, "Above, LDA borders and cells of the centroids differ. Below, after sphering, they are the same.")


@ITEMS.item("N6", "The plane M of the sphered centroids", "M = {μ*_1 + Σ c_k (μ*_k − μ*_1)}, dim M ≤ K − 1")
def plane_of_centroids(page: Page) -> None:
    iris = discrim.datasets.load_iris()
    X, y = iris.data[:, [0, 2, 3]], iris.target
    lda = discrim.LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    plane = lda.centroid_plane()
    page.check("dimension of M for K = 3", 2, plane.basis.shape[1])
    page.check("W′ΣW", np.eye(3), plane.sphering.T @ lda.covariance_ @ plane.sphering, tol=1e-9)
    page.misprint(
        "cov(x*) = I", "within the classes only", "the covariance of all rows also holds the spread of the centroids"
    )
    ax = draw.in_space()
    rows, middles = plane.sphere(X), plane.sphere(lda.means_)
    for k, name in enumerate(lda.classes_):
        ax.plot(*rows[y == name].T, LIGHT.marker(k), color=LIGHT.colour(k), markersize=3, label=name)
    normal = np.cross(*plane.basis.T)
    ax.view_init(elev=np.rad2deg(np.arcsin(normal[2])) - 30, azim=np.rad2deg(np.arctan2(normal[1], normal[0])) + 20)
    corner = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * 6
    ax.plot(*(middles.mean(axis=0) + corner @ plane.basis.T).T, color=LIGHT.ink)
    ax.plot(*middles.T, "X", color=LIGHT.ink, markersize=8)
    ax.set_box_aspect(None, zoom=1.15)
    ax.legend(frameon=False, labelcolor=LIGHT.ink, ncols=3, loc="upper center")
    page.show(ax, "Sphered rows in three dimensions, with the plane through the three centroids.")


@ITEMS.item("N7", "The projection onto M", "P_M = QQ′ with Q from the QR decomposition of the centroids' differences")
def projection(page: Page) -> None:
    lda = discrim.LinearDiscriminantAnalysis().fit(*discrim.datasets.load_iris().xy)
    plane = lda.centroid_plane()
    differences = plane.sphere(lda.means_)[1:] - plane.sphere(lda.means_)[:1]
    Q = np.linalg.qr(differences.T)[0]
    page.check("P_M = QQ′", Q @ Q.T, plane.projection, tol=1e-9)
    page.check("P_M P_M = P_M", plane.projection, plane.projection @ plane.projection, tol=1e-9)
    page.check("differences of centroids stay", differences, differences @ plane.projection, tol=1e-8)
    page.show(_drop(), "A point above a plane and its foot point in the plane.")


@ITEMS.item("N8", "Pythagoras: distances to centroids in M", "|x* − μ*_k|² = |x* − P_M x*|² + |P_M x* − μ*_k|²")
def pythagoras(page: Page) -> None:
    X, y = discrim.datasets.load_iris().xy
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    plane = lda.centroid_plane()
    inside = ((plane.project(X)[:, None] - plane.project(lda.means_)) ** 2).sum(axis=2)
    outside = lda.mahalanobis(X) - inside
    page.check(
        "what lies outside of M is the same for all centroids, largest difference",
        0.0,
        float(np.ptp(outside, axis=1).max()),
        tol=1e-8,
    )
    page.check(
        "rows that the distances in M classify as LDA does",
        150,
        int((lda.classes_[inside.argmin(axis=1)] == lda.predict(X)).sum()),
    )
    page.misprint(
        "the identity with an uncentred M",
        "M through the centroids",
        "else it is off by one constant for all k; h is right",
    )
    page.show(_drop(centroid=True), "A right triangle of a point, its foot point in the plane M, and a centroid in M.")


def _drop(*, centroid: bool = False) -> Any:
    """A point, a plane below it and, if wanted, a centroid in the plane."""
    ax = draw.in_space((5.0, 3.4))
    corner = np.array([[-2, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0], [-2, -2, 0]], dtype=float)
    ax.plot(*corner.T, color=LIGHT.muted)
    x, foot, mu = np.array([0.6, 0.4, 2.2]), np.array([0.6, 0.4, 0.0]), np.array([-1.3, -1.0, 0.0])
    ax.plot(*np.array([x, foot]).T, color=LIGHT.colour(1), linestyle="--")
    ax.plot(*x, "o", color=LIGHT.colour(0))
    ax.plot(*foot, "o", color=LIGHT.colour(1))
    ax.text(*(x + 0.1), "x*", color=LIGHT.ink)
    ax.text(*(foot + 0.1), "P x*", color=LIGHT.ink)
    if centroid:
        ax.plot(*np.array([foot, mu, x]).T, color=LIGHT.colour(2))
        ax.plot(*mu, "X", color=LIGHT.ink)
        ax.text(*(mu - 0.3), "μ*", color=LIGHT.ink)
    ax.text(1.3, 1.8, 0, "M", color=LIGHT.ink)
    return ax


@ITEMS.item("N9", "Example with K = 3: the rows in the plane M", "x ↦ A(x − μ), A = Q′Σ^(−1/2), 2 × p")
def rows_in_plane(page: Page) -> None:
    iris = discrim.datasets.load_iris()
    lda = discrim.LinearDiscriminantAnalysis().fit(*iris.xy)
    plane = lda.centroid_plane()
    page.check("A is (K − 1) × p", [2, 4], list(plane.map.shape))
    page.check("A x = Q′x*", plane.sphere(iris.data) @ plane.basis, plane.project(iris.data), tol=1e-9)
    page.misprint("Aμ_k has p numbers like μ*_k", "K − 1 numbers", "A maps into the plane")
    axes = plots.discriminants(lda, *iris.xy, shade=None)
    page.show(axes, "150 flowers in the plane of the three sphered centroids.")


@ITEMS.item("N10", "The same plane with the borders of LDA", "borders are linear in M")
def borders_in_plane(page: Page) -> None:
    iris = discrim.datasets.load_iris()
    lda = discrim.LinearDiscriminantAnalysis().fit(*iris.xy)
    plane = lda.centroid_plane()
    inside = discrim.LinearDiscriminantAnalysis().fit(plane.project(iris.data), iris.target)
    page.check(
        "rows that LDA in M classifies as LDA does",
        150,
        int((inside.predict(plane.project(iris.data)) == lda.predict(iris.data)).sum()),
    )
    page.show(plots.discriminants(lda, *iris.xy), "The plane of the centroids with straight borders between species.")


@ITEMS.item("N11", "The variance of projections", "v′Sv = v′Wv + v′Bv")
def variances(page: Page) -> None:
    X, y = recipes.triangle()
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    v = np.array([0.8, 0.6])
    middles, mean = lda.means_ @ v, X.mean(axis=0) @ v
    within = sum(float(((X[y == k] @ v - middles[k]) ** 2).sum()) for k in range(3)) / 300
    between = float((100 * (middles - mean) ** 2).sum()) / 300
    page.check("v′Wv + v′Bv", float(np.var(X @ v)), within + between, tol=1e-9)
    page.check("v′Bv / v′Wv as the model has it", between / within, lda.criterion(v), tol=1e-9)
    twice = float((100 * 100 * (middles - mean) ** 2).sum()) / 300
    page.misprint(
        "the between-class sum over i and with n_k",
        "one of the two",
        f"else total − within − between is {np.var(X @ v) - within - twice:.1f} instead of 0 on these rows",
    )
    page.show(plots.feet(X, y, v), "Three clouds, a direction, and the rows and centroids dropped onto it.")


@ITEMS.item(
    "N12",
    "Large between, small within: a good and a poor direction",
    "maximise v′Bv / v′Wv: the first eigenvector of W⁻¹B",
)
def directions(page: Page) -> None:
    X, y = recipes.elongated()
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    good, poor = lda.scalings_[:, 0], np.array([1.0, 1.0])
    turn = np.linspace(0, np.pi, 361)
    J = lda.criterion(np.array([np.cos(turn), np.sin(turn)]))
    page.check(
        "the largest ratio is the first eigenvalue of W⁻¹B",
        float(lda.scatter_eigenvalues_[0]),
        lda.criterion(good),
        tol=1e-9,
    )
    page.check("no direction of 361 has a larger one", True, bool(J.max() <= lda.criterion(good) + 1e-12))
    page.misprint(
        "λ W^(−1/2) v; h_v reused for LDA",
        "λ W^(1/2) v",
        "the factor belongs to the other side of the eigenvalue problem",
    )
    axes = plots.lines({"": (np.rad2deg(turn), J)}, x="angle of v (degrees)", y="v′Bv / v′Wv")
    page.show(axes, "The ratio over the angle of the direction, with one maximum.")
    axes = plots.projection(lda, X, y, directions={"a poor direction": poor})
    page.show(axes, "Projections on the best and on a poor direction: apart, and overlapping.")
    page.note(
        "J of the panels is (m2 − m1)² / (s1² + s2²) with variances; for two classes of 100 rows twice the ratio."
    )
