"""Oxford, second part: Bayesian methods, from one probability to covariance matrices."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.stats import ortho_group

import discrim
from discrim import plots
from discrim.gallery.item import Items, Page
from discrim.inference import BetaPosterior, DirichletPosterior
from discrim.typing import Floats

ITEMS = Items()


@ITEMS.item("O21", "A word never seen: maximum likelihood says never", "ML: φ = n_s/n; Bayes: (a + n_s)/(a + b + n)")
def never_seen(page: Page) -> None:
    X, y = np.array([[0.0]] * 6 + [[0.0], [1.0], [1.0], [1.0]]), np.array([1] * 6 + [2] * 4)
    ml = discrim.BernoulliNB(alpha=0.0).fit(X, y)
    bayes = discrim.BernoulliNB(beta=(1.0, 1.0), class_alpha=1.0).fit(X, y)
    page.check("ML posterior of class 1 for x = 1", 0.0, float(ml.predict_proba([[1.0]])[0, 0]))
    page.check("Bayes: P(x = 1 | class 1) = (a + n_s)/(a + b + n)", 1 / 8, bayes.posterior(0, 1).mean, tol=1e-12)
    page.check(
        "Dirichlet(1, 1) prior of the classes: P(class 1) = 7/12",
        7 / 12,
        float(bayes.class_posterior().mean[0]),
        tol=1e-12,
    )
    p1, p2 = 7 / 12 * 1 / 8, 5 / 12 * 4 / 6
    page.check("Bayes posterior of class 1", p1 / (p1 + p2), float(bayes.predict_proba([[1.0]])[0, 0]), tol=1e-9)
    page.misprint(
        "denominator P(y)",
        "P(x)",
        "in Bayes' rule of the toy example and of text; π_k has the exponent y^k, θ runs to K",
    )
    page.misprint("the Beta predictive", "is that of x = 1 only", "x = 0 has the rest")
    page.table(
        ["", "ML", "Beta(1, 1)"],
        [["P(x = 1 | 1)", 0.0, 1 / 8], ["P(1 | x = 1)", *(float(m.predict_proba([[1.0]])[0, 0]) for m in (ml, bayes))]],
    )


@ITEMS.item("O22", "Beta distributions", "Beta(φ; a, b) ∝ φ^(a−1) (1 − φ)^(b−1)")
def beta(page: Page) -> None:
    pairs = {"bathtub": (0.5, 0.5), "flat": (1, 1), "dome": (2, 2), "skewed": (2, 5), "narrow": (8, 4)}
    page.check("a = b = 1 is flat", np.ones(3), BetaPosterior(1, 1).pdf([0.1, 0.5, 0.9]), tol=1e-12)
    page.check("Beta(2, 5) at .2", float(stats.beta(2, 5).pdf(0.2)), BetaPosterior(2, 5).pdf(0.2), tol=1e-9)
    page.show(plots.beta(pairs), "Five Beta densities: bathtub, flat, dome, skewed left, and narrow to the right.")


@ITEMS.item(
    "O23", "Beta posteriors: prior, likelihood, posterior", "Beta(a, b) and n_s of n give Beta(a + n_s, b + n − n_s)"
)
def beta_posteriors(page: Page) -> None:
    first, second = BetaPosterior(2, 2).update(3, 20), BetaPosterior(5, 2).update(11, 24)
    page.check("(2, 2) and 3 of 20", [5, 19], [first.a, first.b])
    page.check("(5, 2) and 11 of 24", [16, 15], [second.a, second.b])
    known = [BetaPosterior(1, 1)]
    for hits, trials in ((1, 3), (6, 17), (32, 80), (160, 400)):
        known.append(known[-1].update(hits, trials))
    page.check(
        "one after the other narrows at every step", True, bool((np.diff([p.variance for p in known]) < 0).all())
    )
    axes = plots.side_by_side(3)
    plots.beta({"prior": (2, 2), "likelihood": (4, 18), "posterior": first}, ax=axes[0])
    plots.beta({"prior": (5, 2), "likelihood": (12, 14), "posterior": second}, ax=axes[1])
    plots.beta({f"n = {n}": one for n, one in zip((0, 3, 20, 100, 500), known, strict=True)}, ax=axes[2])
    for ax, title in zip(axes, ("3 of 20", "11 of 24", "one after the other"), strict=True):
        plots.titled(ax, title)
    page.show(axes, "Two panels of prior, likelihood and posterior; a third of posteriors that narrow.")


@ITEMS.item("O24", "Beta posteriors: what the next ten will bring", "P(x) = C(10, x) B(a + x, b + 10 − x) / B(a, b)")
def predictive(page: Page) -> None:
    prior, after = BetaPosterior(2, 2), BetaPosterior(2, 2).update(3, 20)
    plug_in = stats.binom(10, 3 / 20)
    page.check(
        "P(0): prior, posterior, plug-in",
        [0.0385, 0.1418, 0.1969],
        [float(prior.predictive(10).pmf(0)), float(after.predictive(10).pmf(0)), float(plug_in.pmf(0))],
        tol=5e-5,
    )
    page.check("posterior wider than plug-in", True, after.predictive(10).variance > plug_in.var())
    axes = plots.predictive({"prior": prior, "posterior": after, "plug-in 3/20": 3 / 20}, 10)
    page.show(axes, "Bars of three distributions over 0 to 10 successes.")


@ITEMS.item("O25", "Dirichlet densities on the simplex", "Dir(π; α) ∝ ∏ π_k^(α_k − 1)")
def dirichlet(page: Page) -> None:
    page.check("α = 10 peaks at the centre", [1 / 3] * 3, DirichletPosterior([10.0] * 3).mode, tol=1e-12)
    corner, centre = [0.98, 0.01, 0.01], [1 / 3] * 3
    page.check(
        "α = .1 is larger at a corner than at the centre",
        True,
        DirichletPosterior([0.1] * 3).pdf(corner) > DirichletPosterior([0.1] * 3).pdf(centre),
    )
    page.check(
        "density at the centre, α = 10",
        float(stats.dirichlet([10.0] * 3).pdf(centre)),
        DirichletPosterior([10.0] * 3).pdf(centre),
        tol=1e-6,
    )
    axes = plots.dirichlet({"α = 10": [10.0] * 3, "α = 0.1": [0.1] * 3})
    page.show(axes, "Two triangles of densities: dark in the middle for alpha 10, dark at the corners for one tenth.")


@ITEMS.item("O26", "Samples of a Dirichlet distribution", "K = 5, equal α: sparse for .1, even for 10")
def dirichlet_samples(page: Page) -> None:
    draws = {alpha: DirichletPosterior([alpha] * 5).rvs(400, random_state=0) for alpha in (0.1, 1.0, 10.0)}
    page.check("mean of each part", [0.2] * 5, draws[10.0].mean(axis=0), tol=0.01)
    largest = [float(values.max(axis=1).mean()) for values in draws.values()]
    page.check("the largest part is largest for α = .1, smallest for 10", True, largest[0] > largest[1] > largest[2])
    axes = plots.dirichlet({f"α = {alpha:g}": [alpha] * 5 for alpha in (0.1, 1.0, 10.0)}, draws=3)
    page.show(axes, "Bar charts of samples: a single bar for alpha one tenth, even bars for ten.")


def ellipsoids(p: int, seed: int, sizes: tuple[int, int]) -> tuple[Floats, Floats]:
    """Two classes with mean 0, standard deviations 1 to 10 and 10 to 1 along common axes; then rows to be predicted."""
    rng = np.random.default_rng([seed, p])
    deviation = 9.0 * np.arange(p) / max(p - 1, 1) + 1.0
    turn = ortho_group(p, seed=rng).rvs() if p > 1 else np.eye(1)
    parts = [rng.normal(size=(n, p)) * d @ turn for n in sizes for d in (deviation, deviation[::-1])]
    X, y = np.vstack(parts), np.concatenate([np.repeat([0, 1], n) for n in sizes])
    return np.asarray(X), y


@ITEMS.item(
    "O27",
    "Bayesian QDA against plug-in rules, over the dimension",
    "20 + 20 rows to learn from, 50 + 50 to be predicted, equal means",
)
def bayesian_qda(page: Page) -> None:
    kinds = {
        "QDA": discrim.QuadraticDiscriminantAnalysis(),
        "LDA": discrim.LinearDiscriminantAnalysis(),
        "naive Bayes": discrim.GaussianNB(),
        "RDA": discrim.RegularizedDiscriminantAnalysis(alpha=0.5, gamma=0.9),
        "Bayesian QDA": discrim.BayesianQuadraticDiscriminantAnalysis(),
    }
    sizes, repeats = (2, 5, 10, 15, 20, 30, 40), 12
    errors = {name: np.full((len(sizes), repeats), np.nan) for name in kinds}
    for i, p in enumerate(sizes):
        for seed in range(repeats):
            X, y = ellipsoids(p, seed, (20, 50))
            for name, model in kinds.items():
                if p < 20 or name != "QDA":
                    errors[name][i, seed] = np.mean(model.fit(X[:40], y[:40]).predict(X[40:]) != y[40:])
    mean = {name: values.mean(axis=1) for name, values in errors.items()}
    page.check("QDA at p = 2 and 15", [0.07, 0.04], mean["QDA"][[0, 3]], tol=0.03)
    page.check("QDA from p = 20", "none", "none" if np.isnan(mean["QDA"][4:]).all() else "some")
    page.check("Bayesian QDA at p = 2, 15, 40", [0.07, 0.03, 0.02], mean["Bayesian QDA"][[0, 3, 6]], tol=0.03)
    page.check("LDA at p = 40", 0.5, float(mean["LDA"][6]), tol=0.08)
    page.misprint(
        "|B|^(q/2) in the prior",
        "|Σ|^(q/2)",
        "the predictive integrates to (2π)^(p/2), harmless; it follows only with the extra measure |Σ|^{−(p+2)/2}, "
        "with n_k + q − p + 1 degrees of freedom; the prior as written has n_k + q − 2p − 1",
    )
    curves = {name: (sizes, values) for name, values in mean.items()}
    axes = plots.lines(curves, x="columns", y=f"error, mean of {repeats} samples")
    page.show(axes, "Error over the number of columns: QDA stops at 20, Bayesian QDA stays low, LDA at one half.")
