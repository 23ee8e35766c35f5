"""Chicago, first part: linear and quadratic rules, masking, Fisher's discriminant."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from scipy import linalg
from sklearn.pipeline import make_pipeline

import discrim
from discrim import plots
from discrim.basis import PolynomialBasis
from discrim.gallery import recipes
from discrim.gallery.item import Items, Page
from discrim.plots.style import LIGHT

ITEMS = Items()


@ITEMS.item("C1", "Linear separation: two classes and a hyperplane", "predict class 1 where w′x + b > 0")
def linear_separation(page: Page) -> None:
    X, y = recipes.equal_covariances()
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    plane = model.hyperplane()
    page.check(
        "rows whose half-space is the predicted class", 200, int(((plane.score(X) > 0) == model.predict(X)).sum())
    )
    page.check("rows on the wrong side", 28, recipes.wrong(model, X, y))
    page.show(plots.half_space(model, X, y), "Two clouds of points with a straight line between them and its normal.")


@ITEMS.item("C2", "Several linear scores: regions of the largest", "predict the class with the largest w_k′x + b_k")
def several_scores(page: Page) -> None:
    X, y = recipes.triangle()
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    draws = np.random.default_rng(1).uniform(-4, 8, (2000, 2))
    inside = model.predict((draws[:1000] + draws[1000:]) / 2)
    same = model.predict(draws[:1000]) == model.predict(draws[1000:])
    page.check(
        "midpoints that leave a region (regions are convex)",
        0,
        int((same & (inside != model.predict(draws[:1000]))).sum()),
    )
    score = model.decision_function(draws)
    bend = score[:1000] + score[1000:] - 2 * model.decision_function((draws[:1000] + draws[1000:]) / 2)
    page.check("scores are linear (every border of two is straight), largest bend", 0.0, np.abs(bend).max(), tol=1e-9)
    page.check("rows that are wrong", 12, recipes.wrong(model, X, y))
    page.show(plots.regions(model, X, y), "Three clouds; three regions with straight borders meet in a point.")


@ITEMS.item(
    "C3",
    "Regression of Y on X: the fitted plane, cut at one half",
    "f(x) = w′x + b ≈ E(Y | x), class 1 where f(x) > 1/2",
)
def regression_of_y(page: Page) -> None:
    X, y = recipes.equal_covariances()
    model = discrim.LeastSquaresClassifier().fit(X, y)
    w, b = model.coef_[1], model.intercept_[1]
    brute = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0]
    page.check("the plane by the normal equations", brute, np.array([b, *w]), tol=1e-8)
    page.check("f on the border", 0.5, float(w @ model.hyperplane().foot(X[:1])[0] + b), tol=1e-9)
    along = X @ w / np.linalg.norm(w)
    left, right = plots.side_by_side(2)
    plots.points(np.column_stack([along, y]), y, names=("w′x / |w|", "y and f"), ax=left)
    ends = np.array([along.min(), along.max()])
    left.plot(ends, np.linalg.norm(w) * ends + b, color=LIGHT.ink)
    left.plot(np.full(2, (0.5 - b) / np.linalg.norm(w)), [-0.4, 0.5], color=LIGHT.muted)
    plots.titled(left, "the fit, cut at 1/2")
    plots.titled(plots.borders({"f(x) = 1/2": model}, X, y, ax=right), "the border")
    page.show(
        left, "Left: responses 0 and 1 with the fitted plane along w and its cut. Right: the rows with the border."
    )


@ITEMS.item(
    "C4", "Indicator regression: the class in the middle is masked", "predict argmax f_k(x), f_k fitted to 1(y = k)"
)
def masking(page: Page) -> None:
    X, y = recipes.diagonal()
    regression = discrim.LeastSquaresClassifier().fit(X, y)
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    page.check("rows that regression gets wrong", 199, recipes.wrong(regression, X, y))
    page.check("how often the middle class is predicted", 1, int((regression.predict(X) == 1).sum()))
    page.check("rows that LDA gets wrong", 14, recipes.wrong(lda, X, y))
    lines, areas, other = plots.side_by_side(3)
    plots.titled(plots.scores(regression, X, y, ax=lines), "regression: the middle is never on top")
    plots.titled(plots.regions(regression, X, y, ax=areas), "regression")
    plots.titled(plots.regions(lda, X, y, ax=other), "LDA")
    page.show(lines, "Fitted lines along the diagonal, and the regions of regression and of LDA.")


@ITEMS.item(
    "C5", "Masking: quadratic terms help three classes, not seven", "degree K − 1 is needed for K classes in a row"
)
def masking_cured(page: Page) -> None:
    few, many = recipes.diagonal(), recipes.diagonal(7)
    wrong, size = {}, {}
    for name, (X, y) in (("three", few), ("seven", many)):
        for degree in (1, 2, 3):
            model = make_pipeline(PolynomialBasis(degree), discrim.LeastSquaresClassifier()).fit(X, y)
            wrong[name, degree] = recipes.wrong(model, X, y)
            size[name, degree] = model[-1].coef_.size + model[-1].intercept_.size
    page.check("three classes, wrong of 600, degree 1 and 2", [199, 25], [wrong["three", 1], wrong["three", 2]])
    page.check("seven classes, wrong of 1400, degree 1, 2, 3", [943, 521, 105], [wrong["seven", d] for d in (1, 2, 3)])
    page.check(
        "coefficients of a class grow, degree 1, 2, 3: (d + 1)(d + 2)/2",
        [3, 6, 10],
        [size["three", d] // 3 for d in (1, 2, 3)],
    )
    page.check("seven classes, LDA", 1, recipes.wrong(discrim.LinearDiscriminantAnalysis().fit(*many), *many))
    page.table(
        ["degree", "wrong, K = 3", "coefficients", "wrong, K = 7", "coefficients"],
        [[d, wrong["three", d], size["three", d], wrong["seven", d], size["seven", d]] for d in (1, 2, 3)],
    )
    axes = plots.side_by_side(2)
    for ax, (X, y) in zip(axes, (few, many), strict=True):
        model = make_pipeline(PolynomialBasis(2), discrim.LeastSquaresClassifier()).fit(X, y)
        plots.titled(plots.regions(model, X, y, ax=ax), f"quadratic, K = {len(np.unique(y))}")
    page.show(axes, "Regions of quadratic indicator regression for three and for seven classes in a row.")


@ITEMS.item(
    "C6",
    "Separating two Gaussians: a conic, or a line where covariances are equal",
    "d²(x, m_k) = (x − m_k)′ S_k⁻¹ (x − m_k)",
)
def two_gaussians(page: Page) -> None:
    own, equal = recipes.own_covariances(), recipes.equal_covariances()
    page.check(
        "B: wrong by LDA and QDA",
        [16, 14],
        [
            recipes.wrong(M().fit(*own), *own)
            for M in (discrim.LinearDiscriminantAnalysis, discrim.QuadraticDiscriminantAnalysis)
        ],
    )
    page.check(
        "A: wrong by LDA and QDA",
        [28, 29],
        [
            recipes.wrong(M().fit(*equal), *equal)
            for M in (discrim.LinearDiscriminantAnalysis, discrim.QuadraticDiscriminantAnalysis)
        ],
    )
    X, y = equal
    pooled = discrim.LinearDiscriminantAnalysis(normalization="unbiased", store_covariance=True).fit(X, y)
    away = X - pooled.means_[y]
    page.check("pooled covariance has the divisor n − 2", away.T @ away / 198, pooled.covariance_, tol=1e-8)
    brute = np.einsum("ij,jk,ik->i", X - pooled.means_[0], np.linalg.inv(pooled.covariance_), X - pooled.means_[0])
    page.check(
        "largest Mahalanobis distance to class 0",
        float(brute.max()),
        float(pooled.mahalanobis(X)[:, 0].max()),
        tol=1e-8,
    )
    page.misprint("(1 − p) f2", "(1 − p) f0", "the second density of the mixture is that of class 0")
    axes = plots.side_by_side(2)
    for ax, (X, y), title in zip(axes, (own, equal), ("different covariances", "equal covariances"), strict=True):
        qda = discrim.QuadraticDiscriminantAnalysis().fit(X, y)
        plots.borders({"LDA": discrim.LinearDiscriminantAnalysis().fit(X, y), "QDA": qda}, X, y, ax=ax)
        plots.titled(plots.ellipses(qda, levels=[0.68], ax=ax), title)
    page.show(axes, "Points with density ellipses, the LDA line and the QDA conic, for two kinds of covariances.")


@ITEMS.item("C7", "The multi-class criterion: regions of LDA and QDA", "argmin d²(x, m_k) + log |S_k| − 2 log p_k")
def multiclass_criterion(page: Page) -> None:
    sets = {"T": recipes.triangle(), "PIN": recipes.pinwheel()}
    kinds = {"LDA": discrim.LinearDiscriminantAnalysis, "QDA": discrim.QuadraticDiscriminantAnalysis}
    page.check(
        "T: wrong by LDA and QDA", [12, 13], [recipes.wrong(M().fit(*sets["T"]), *sets["T"]) for M in kinds.values()]
    )
    page.check(
        "PIN: wrong by LDA and QDA",
        [21, 6],
        [recipes.wrong(M().fit(*sets["PIN"]), *sets["PIN"]) for M in kinds.values()],
    )
    axes = plots.side_by_side(4)
    for ax, (name, kind) in zip(axes, itertools.product(sets, kinds), strict=True):
        model = kinds[kind]().fit(*sets[name])
        plots.titled(plots.regions(model, *sets[name], ax=ax), f"{kind} on {name}")
    page.show(axes, "Regions of LDA (straight borders) and QDA (curved borders) on two sets of three classes.")


@ITEMS.item("C8", "LDA, least squares and Fisher: one direction, different offsets", "w ∝ S⁻¹ (m1 − m0)")
def one_direction(page: Page) -> None:
    X, y = recipes.equal_covariances((30, 70))
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    squares, fisher = discrim.LeastSquaresClassifier().fit(X, y), lda.fisher()
    w = lda.hyperplane().w / lda.hyperplane().norm
    other = squares.hyperplane()
    page.check("cosine between LDA and least squares", 1.0, float(w @ other.w / other.norm), tol=1e-9)
    page.check("cosine between LDA and Fisher", 1.0, float(w @ fisher.direction), tol=1e-9)
    score = np.sort(X @ w)
    cuts = (score[1:] + score[:-1]) / 2
    errors = [int(((X @ w > cut) != y).sum()) for cut in cuts]
    offsets = {
        "LDA": lda.hyperplane().offset,
        "least squares": other.offset,
        "Fisher": fisher.threshold,
        "fewest errors": cuts[np.argmin(errors)],
    }
    page.misprint("t_y from p_y alone", "t_y from p_y and m_y", "the constant of LDA also holds −m_y′S⁻¹m_y / 2")
    page.check("different offsets", 4, len({round(value, 6) for value in offsets.values()}))
    page.table(
        ["offset along w", "value", "wrong"],
        [[name, cut, int(((X @ w > cut) != y).sum())] for name, cut in offsets.items()],
    )
    borders = {name: replace(lda.hyperplane(), w=w, b=-cut) for name, cut in offsets.items()}
    formats = dict(zip(offsets, ("k-", "C3--", "C4:", "C5-."), strict=True))
    page.show(
        plots.borders(borders, X, y, formats=formats),
        "Two clouds of unequal size and four parallel lines between them.",
    )
    near = np.abs(cuts - 1.0) < 0.4
    axes = plots.lines({"": (cuts[near], np.array(errors)[near])}, x="offset along w", y="rows wrong")
    axes.lines[0].set(drawstyle="steps-mid", marker="", color=LIGHT.muted)
    for k, (name, cut) in zip((None, 3, 4, 5), offsets.items(), strict=True):
        colour, shape = (LIGHT.ink, "o") if k is None else (LIGHT.colour(k), LIGHT.marker(k))
        axes.plot([cut], [((X @ w > cut) != y).sum()], shape, color=colour, markersize=9, label=name)
    axes.legend(frameon=False)
    page.show(axes, "Rows that are wrong over the offset, with the offsets of the four rules.")


@ITEMS.item(
    "C9",
    "Fisher's discriminant against the difference of the means",
    "J(w) = (w′m1 − w′m2)² / w′(S1 + S2)w, largest at w ∝ (S1 + S2)⁻¹ (m1 − m2)",
)
def fisher_against_means(page: Page) -> None:
    X, y = recipes.elongated()
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    gap = lda.means_[1] - lda.means_[0]
    directions = {"difference of the means": gap / np.linalg.norm(gap), "Fisher": lda.fisher().direction}
    # For two classes the criterion with sums of squares between and within is n1 n2 / n times J.
    J = [lda.criterion(w) / 50 for w in directions.values()]
    wrong = [int(((X @ w > lda.means_.mean(axis=0) @ w) != y).sum()) for w in directions.values()]
    page.check("J of the mean direction and of Fisher's", [0.0125, 0.0350], J, tol=5e-5)
    page.check("wrong with a cut midway", [45, 15], wrong)
    page.check(
        "degrees between the directions",
        55,
        float(np.rad2deg(np.arccos(directions["Fisher"] @ directions["difference of the means"]))),
        tol=0.5,
    )
    page.check(
        "no other direction has a larger J",
        True,
        bool(lda.criterion(np.random.default_rng(0).normal(size=(2, 999))).max() <= 50 * J[1]),
    )
    axes = plots.projection(lda, X, y, directions=["means"])
    page.show(axes, "Histograms of two classes: apart along Fisher's direction, overlapping along the mean direction.")
    page.note("The panels have variances for S1 and S2, a hundredth of the sums of squares of 100 rows a class.")


@ITEMS.item(
    "C10",
    "Multi-class Fisher in four steps",
    "B w = λ S w: whiten by S, principal axes of the centroids, back to the columns",
)
def four_steps(page: Page) -> None:
    rows = page.data("vowel")
    lda = discrim.LinearDiscriminantAnalysis(store_covariance=True).fit(rows.X, rows.y)
    a = lda.scalings_
    page.check("directions, K − 1", 10, a.shape[1])
    page.check(
        "a′Sa, the largest deviation from the identity",
        0.0,
        float(np.abs(a.T @ lda.covariance_ @ a - np.eye(10)).max()),
        tol=1e-8,
    )
    gaps = (lda.means_ - lda.xbar_) * np.sqrt(lda.priors_)[:, None]
    values = linalg.eigh(gaps.T @ gaps, lda.covariance_, eigvals_only=True)[::-1]
    page.check("eigenvalues of the generalised problem", values, lda.scatter_eigenvalues_, tol=1e-6)
    X, y = recipes.gaussian([(0, 0), (4, 0), (2, 3.5)], [[[1.0, 0.8], [0.8, 1.0]]] * 3, (100, 100, 100))
    page.show(plots.sphering(X, y), "The rows, sphered, turned to the axes of the centroids, and the axes mapped back.")


@ITEMS.item(
    "C11",
    "Canonical projections: error against their number",
    "LDA in the first L coordinates; L = min(d, K − 1) is LDA itself",
)
def canonical_projections(page: Page) -> None:
    rows = page.data("vowel")
    assert rows.test is not None
    errors = []
    for L in range(1, 11):
        model = discrim.LinearDiscriminantAnalysis(rank=L).fit(rows.X, rows.y)
        errors.append([1 - model.score(rows.X, rows.y), 1 - model.score(*rows.test)])
    whole = discrim.LinearDiscriminantAnalysis().fit(rows.X, rows.y)
    page.check("L = 10 and LDA, rows that differ", 0, int((model.predict(rows.X) != whole.predict(rows.X)).sum()))
    turn = np.random.default_rng(0).normal(size=(10, 10))
    turned = discrim.LinearDiscriminantAnalysis().fit(rows.X @ turn, rows.y)
    page.check(
        "rows that differ after an invertible linear map",
        0,
        int((turned.predict(rows.X @ turn) != whole.predict(rows.X)).sum()),
    )
    page.misprint(
        "M with unweighted centroids",
        "weights n_k",
        "reduced-rank LDA is maximum likelihood only so: with sizes 200, 20, 20, 20 the log-likelihood is −45.63, "
        "unweighted −46.07",
    )
    page.misprint("invariant to linear maps", "to invertible ones", "a map that is not invertible loses columns")
    named = dict(zip(("training rows", "test rows"), np.transpose(errors), strict=True))
    curves = {name: (range(1, 11), values) for name, values in named.items()}
    axes = plots.lines(curves, x="canonical coordinates L", y="error")
    page.show(axes, "Training error falls with the number of coordinates; test error is lowest at a few.")
