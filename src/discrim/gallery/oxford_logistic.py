"""Oxford, third part: logistic regression on O-rings and spam, and how good it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize, special

import discrim
from discrim import plots
from discrim.evaluation import empirical_risk
from discrim.gallery import recipes
from discrim.gallery.found import Rows
from discrim.gallery.item import Items, Page
from discrim.losses import LOSSES

ITEMS = Items()
TEST = 2266


@ITEMS.item("O28", "The logistic loss", "L(y, f) = log(1 + exp(−y f))")
def logistic_loss(page: Page) -> None:
    def loss(m: Any) -> Any:
        return LOSSES["log"].value(np.asarray(m, dtype=float), np.ones(np.shape(m)))

    page.check("at 0, log 2", float(np.log(2)), float(loss(0.0)), tol=1e-12)
    page.check("where it reaches 1", -0.541, float(optimize.brentq(lambda m: float(loss(m)) - 1, -2, 0)), tol=5e-4)
    page.misprint("X′(c − p) with Y in {−1, 1}", "c in {0, 1}", "the gradient needs 0 and 1")
    lda = discrim.LinearDiscriminantAnalysis(store_covariance=True).fit(*recipes.equal_covariances())
    x, inverse = np.array([2.0, 2.0]), np.linalg.inv(lda.covariance_)
    left = 2 * float(lda.predict_log_proba([x])[0] @ [-1, 1])
    right = float(np.diff([m @ inverse @ (m - 2 * x) for m in lda.means_])[0])
    page.check("2 log P(1 | x)/P(0 | x) by LDA of C1 at (2, 2), −(a + b′x)", left, -right, tol=1e-8)
    page.misprint("2 log P(k) − 2 log P(1) = a + b′x", "the negative of it", f"there {left:.3f} against {right:.3f}")
    page.show(plots.losses(["log"]), "The logistic loss and the 0-1 loss over y f.")


def orings() -> tuple[Any, Any, Any]:
    """Temperatures, failures, and the model."""
    X, y = discrim.datasets.load_challenger().xy
    return X, y, discrim.LogisticRegression(C=np.inf).fit(X, y)


@ITEMS.item("O29", "O-rings: failures over temperature", "23 flights, 7 with failure")
def oring_rows(page: Page) -> None:
    rings = discrim.datasets.load_challenger()
    page.check("flights, with failure", [23, 7], [len(rings.target), int(rings.target.sum())])
    temperature, failures = rings.data[:, 0], rings.extra["n_distress"]
    left, right = plots.side_by_side(2)
    number = np.column_stack([temperature, failures])
    plots.points(number, rings.target, names=("temperature (F)", "failures"), ax=left)
    left.set_yticks([0, 1, 2])
    either = np.column_stack([temperature, rings.target])
    plots.points(either, rings.target, names=("temperature (F)", "any failure"), ax=right)
    right.set_yticks([0, 1], ["no", "yes"])
    page.show(left, "Left: number of failures over temperature. Right: any failure, yes or no.")


@ITEMS.item("O30", "O-rings: the fit on the scale of the link", "log odds = 15.0429 − 0.23216 temperature")
def oring_link(page: Page) -> None:
    X, y, model = orings()
    page.check("constant", 15.0429, float(model.intercept_[0]), tol=5e-5)
    page.check("slope", -0.23216, float(model.coef_[0, 0]), tol=5e-6)
    page.session(model.renamed(["temperature"]).summary())
    axes = plots.effect(model, X, y, scale="link")
    page.show(plots.titled(axes, None, "temperature (F)"), "A straight line of log odds falling with temperature.")


@ITEMS.item("O31", "O-rings: the probability of failure", "P(Y = 1 | t) = 1 / (1 + exp(−g(t)))")
def oring_probability(page: Page) -> None:
    X, y, model = orings()
    page.check("temperature with probability .5", 64.8, float(-model.intercept_[0] / model.coef_[0, 0]), tol=0.05)
    page.check("probability at 53 and 81", [0.939, 0.023], model.predict_proba([[53.0], [81.0]])[:, 1], tol=5e-4)
    steps = len(model.trace_.loss) - 1
    page.misprint("2 or 3 Newton steps", "as many as it takes", f"these 23 rows take {steps}, spam takes 13 (O33)")
    axes = plots.titled(plots.effect(model, X, y), None, "temperature (F)")
    page.show(axes, "The probability of failure falls with temperature, with the flights at 0 and 1.")


@ITEMS.item("O32", "Spam: 4601 mails, 57 columns", "dim(spam), spam[1:2, ]")
def spam_rows(page: Page) -> None:
    rows = page.data("spam")
    page.check("rows, columns with the class", [4601, 58], [len(rows.X), rows.X.shape[1] + 1])
    page.check("capitalTotal of the first two", [278.0, 1028.0], rows.X[:2, -1])
    page.check("address, all, num3d, our of the second", [0.28, 0.50, 0.0, 0.14], rows.X[1, 1:5], tol=1e-9)
    page.table(
        ["", "1", "2"],
        [[name, *rows.X[:2, j]] for j, name in enumerate(rows.names) if rows.X[:2, j].any()],
        "columns that are not 0 in both",
    )


def spam_fit(rows: Rows) -> Any:
    """The logistic regression on all rows; the names of its summary are those of the columns."""
    return discrim.LogisticRegression(C=np.inf).fit(rows.X, rows.y).renamed(list(rows.names))


PRINTED = {
    "(Intercept)": -1.569,
    "make": -0.3895,
    "address": -0.1458,
    "all": 0.1141,
    "num3d": 2.252,
    "our": 0.5624,
    "over": 0.8830,
    "remove": 2.279,
    "internet": 0.5696,
    "order": 0.7343,
    "mail": 0.1275,
    "receive": -0.2557,
    "will": -0.1383,
    "people": -0.07961,
    "report": 0.1447,
    "addresses": 1.236,
    "business": 0.9599,
    "email": 0.1203,
    "you": 0.08131,
    "credit": 1.047,
    "your": 0.2419,
    "font": 0.2013,
    "num000": 2.245,
    "money": 0.4264,
    "hp": -1.920,
    "hpl": -1.040,
    "george": -11.77,
    "num650": 0.4454,
    "lab": -2.486,
    "labs": -0.3299,
    "telnet": -0.1702,
    "num857": 2.549,
    "data": -0.7383,
    "num415": 0.6679,
    "num85": -2.055,
    "technology": 0.9237,
    "num1999": 0.04651,
    "parts": -0.5968,
    "pm": -0.8650,
    "direct": -0.3046,
    "cs": -45.05,
    "meeting": -2.689,
    "original": -1.247,
    "project": -1.573,
    "re": -0.7923,
    "edu": -1.459,
    "table": -2.326,
    "conference": -4.016,
    "charSemicolon": -1.291,
    "charRoundbracket": -0.1881,
    "charSquarebracket": -0.6574,
    "charExclamation": 0.3472,
    "charDollar": 5.336,
    "charHash": 2.403,
    "capitalAve": 0.01199,
    "capitalLong": 0.009118,
    "capitalTotal": 0.0008437,
}


def scoring_steps(X: Any, y: Any) -> int:
    """Iterations of Fisher scoring as glm counts them: from (y + ½)/2, until the deviance changes by less than 1e-8."""
    Z, mu, deviance = np.column_stack([np.ones(len(X)), X]), (y + 0.5) / 2, np.inf
    eta = special.logit(mu)
    for step in range(1, 50):
        w = mu * (1 - mu)
        beta = np.linalg.solve((Z.T * w) @ Z, Z.T @ (w * eta + y - mu))
        eta = np.clip(Z @ beta, -30, 30)
        mu, before = special.expit(eta), deviance
        deviance = float(2 * np.logaddexp(0, np.where(y == 1, -eta, eta)).sum())
        if abs(deviance - before) / (abs(deviance) + 0.1) < 1e-8:
            return step
    return 50


@ITEMS.item("O33", "Spam: summary(glm)", "deviance residuals, coefficients with Wald tests, deviances, AIC")
def spam_summary(page: Page) -> None:
    rows = page.data("spam")
    summary = spam_fit(rows).summary()
    page.check("deviances", [6170.2, 1815.8], [summary.null_deviance, summary.deviance], tol=0.05)
    page.check("degrees of freedom", [4600, 4543], [summary.df_null, summary.df_residual])
    page.check("AIC", 1931.8, summary.aic, tol=0.05)
    low, first, median, third, high = summary.residual_quantiles
    page.check(
        "residuals: min, quartiles, max",
        ["-4.127", "-0.2030", "-1.97e-06", "0.1140", "5.364"],
        [f"{low:.3f}", f"{first:.4f}", f"{median:.2e}", f"{third:.4f}", f"{high:.3f}"],
    )
    page.check("Fisher scoring iterations", 13, scoring_steps(rows.X, (rows.y == "spam").astype(float)))
    ours = dict(zip(summary.names, summary.coef, strict=True))
    agree = sum(name in ours and abs(ours[name] - value) <= 0.52 * last_place(value) for name, value in PRINTED.items())
    page.check("coefficients that agree in all printed digits (free is not shown)", 57, agree)
    z = dict(zip(summary.names, summary.statistic, strict=True))
    page.check(
        "z of the intercept, remove, charDollar",
        [-11.044, 6.846, 7.553],
        [z.get(name, np.nan) for name in ("(Intercept)", "remove", "charDollar")],
        tol=5e-4,
    )
    page.note("Iterations are those of this library's solver; glm's are steps of Fisher scoring, which are compared.")
    page.session(summary)


def last_place(value: float) -> float:
    """The unit of the last of four significant digits."""
    return float(10.0 ** (np.floor(np.log10(abs(value))) - 3))


@ITEMS.item("O34", "Spam: how good is it?", "730 mails marked as spam, 12 of them are not")
def how_good(page: Page) -> None:
    rows = page.data("spam")
    chance = spam_fit(rows).predict_proba(rows.X)[:, 1]
    found = {cut: [int((chance > cut).sum()), int(((chance > cut) & (rows.y != "spam")).sum())] for cut in (0.99, 0.95)}
    page.check("marked and wrong at the cut .99", [730, 12], found[0.99])
    page.check("at the cut .95", [1025, 22], found[0.95])
    page.misprint("cut .95", "cut .99", "730 marked and 12 wrong belong to .99; .95 marks 1025 with 22 wrong")
    page.table(["cut", "marked", "not spam"], [[cut, *pair] for cut, pair in found.items()])


def halves(rows: Rows, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Rows to learn from and 2266 for testing, at random."""
    order = np.random.default_rng(seed).permutation(len(rows.y))
    train, test = order[:-TEST], order[-TEST:]
    return rows.X[train], rows.y[train], rows.X[test], rows.y[test]


def marked_wrongly(y: Any, answer: Any) -> Any:
    """Loss 1 for good mail that is marked."""
    return ((y != "spam") & (answer == "spam")).astype(float)


def _cut_at(chance: Any, truth: Any, cut: float) -> tuple[int, int, float, int]:
    """Marked mails, those of them that are no spam, also as a share, and spam that is not marked."""
    marked, spam = chance > cut, truth == "spam"
    wrong = int((marked & ~spam).sum())
    return int(marked.sum()), wrong, wrong / int(marked.sum()), int((~marked & spam).sum())


@ITEMS.item("O35", "Spam: training and test set", "R_emp = n⁻¹ Σ L(y_i, ŷ_i)")
def train_and_test(page: Page) -> None:
    X, y, X_test, y_test = halves(page.data("spam"))
    model = discrim.LogisticRegression(C=np.inf).fit(X, y)
    page.check("test rows", 2266, len(y_test))
    error = empirical_risk(model, X, y, X_test, y_test)
    log_loss = empirical_risk(model, X, y, X_test, y_test, loss="log_loss")
    false = empirical_risk(model, X, y, X_test, y_test, loss=marked_wrongly)
    page.check("the test error is larger", True, error.optimism > 0)
    page.check("the log loss of test rows is larger", True, log_loss.optimism > 0)
    chances = {
        "training rows": (model.predict_proba(X)[:, 1], y),
        "test rows": (model.predict_proba(X_test)[:, 1], y_test),
    }
    found = {name: _cut_at(chance, truth, 0.95) for name, (chance, truth) in chances.items()}
    shares = [share for _, _, share, _ in found.values()]
    page.check("share of the marked that is no spam is larger on test rows", True, shares[1] > shares[0])
    page.table(
        ["marked where P(spam) > .95", "marked", "not spam", "share of the marked", "missed"],
        [[name, *numbers] for name, numbers in found.items()],
    )
    page.table(
        ["loss", "training rows", "test rows"],
        [
            ["0/1", error.train.mean, error.test.mean if error.test else ""],
            ["log", log_loss.train.mean, log_loss.test.mean if log_loss.test else ""],
            ["good mail marked", false.train.mean, false.test.mean if false.test else ""],
        ],
    )
    page.note("The split of the lecture is not given; this one is drawn with seed 0.")


@ITEMS.item("O36", "Spam: coefficients of LDA", "lda(x, grouping): one direction, LD1")
def spam_lda(page: Page) -> None:
    rows = page.data("spam")
    direction = discrim.LinearDiscriminantAnalysis(normalization="unbiased").fit(rows.X, rows.y).scalings_[:, 0]
    printed = {
        "make": -0.2053433845,
        "address": -0.0496520077,
        "all": 0.1618979041,
        "num3d": 0.0491205095,
        "our": 0.3470862316,
        "over": 0.4898352934,
        "remove": 0.8776953914,
        "internet": 0.3874021379,
        "order": 0.2987224576,
        "mail": 0.0621045827,
        "receive": 0.2343512301,
        "will": -0.1148308781,
        "people": 0.0490659059,
        "charHash": 0.1141464080,
        "capitalAve": 0.0009590191,
        "capitalLong": 0.0002751450,
        "capitalTotal": 0.0003291749,
    }
    ours = dict(zip(rows.names, direction * np.sign(direction[0]) * -1, strict=True))
    page.check(
        "the 17 printed coefficients", list(printed.values()), [ours.get(name, np.nan) for name in printed], tol=5e-11
    )
    page.misprint(
        "fitted on the training part",
        "these are the coefficients of all 4601 rows",
        "ten decimals agree; all is .1618979041, garbled in the text",
    )
    page.table(["", "LD1"], [[name, f"{ours.get(name, np.nan):.10f}"] for name in printed])


@ITEMS.item("O37", "Spam: test tables of logistic regression and LDA", "marked where P(spam) > .95")
def test_tables(page: Page) -> None:
    X, y, X_test, y_test = halves(page.data("spam"))
    tables = {}
    for name, model in (
        ("logistic regression", discrim.LogisticRegression(C=np.inf)),
        ("LDA", discrim.LinearDiscriminantAnalysis()),
    ):
        marked = model.fit(X, y).predict_proba(X_test)[:, 1] > 0.95
        tables[name] = [
            [int((~marked & (y_test != "spam")).sum()), int((~marked & (y_test == "spam")).sum())],
            [int((marked & (y_test != "spam")).sum()), int((marked & (y_test == "spam")).sum())],
        ]
    page.check("rows of the lecture's tables", [2266, 2266], [1346 + 351 + 28 + 541, 1364 + 533 + 10 + 359])
    page.check("their wrong rows, logistic and LDA", [379, 543], [351 + 28, 533 + 10])
    page.check("here too LDA has fewer false alarms", True, tables["LDA"][1][0] < tables["logistic regression"][1][0])
    page.check(
        "and more rows wrong",
        True,
        tables["LDA"][1][0] + tables["LDA"][0][1]
        > sum((tables["logistic regression"][1][0], tables["logistic regression"][0][1])),
    )
    page.misprint(
        "LDA beats “Linear Regression”",
        "logistic regression; LDA is better in false alarms only",
        "10 to 28; wrong in total 543 against 379",
    )
    lecture = {"logistic regression": [[1346, 351], [28, 541]], "LDA": [[1364, 533], [10, 359]]}
    for name, table in tables.items():
        page.table(
            [name, "0, lecture", "1, lecture", "0, here", "1, here"],
            [[str(i), *lecture[name][i], *table[i]] for i in (0, 1)],
        )
    page.note("The split of the lecture is not given; this one is drawn with seed 0.")


@ITEMS.item(
    "O38", "Sensitivity and specificity: the table divided by its columns", "1364/1374, 533/892, 10/1374, 359/892"
)
def normalised(page: Page) -> None:
    table = np.array([[1364, 533], [10, 359]])
    shares = table / table.sum(axis=0)
    page.check("totals", [1374, 892], table.sum(axis=0))
    page.check("shares", [0.9927, 0.5975, 0.0073, 0.4025], shares.ravel(), tol=5e-5)
    y, answer = np.repeat([0, 0, 1, 1], [1364, 10, 533, 359]), np.repeat([0, 1, 0, 1], [1364, 10, 533, 359])
    found = discrim.confusion(y, answer)
    page.check("the same by confusion()", shares.T, found.table / found.table.sum(axis=1, keepdims=True), tol=1e-12)
    page.misprint(
        ".9972, .0072, .4024", ".9927, .0073, .4025", "1364/1374 is .9927; the others are cut off instead of rounded"
    )
    page.table(["prediction", "true 0", "true 1"], [[str(k), *(f"{share:.4f}" for share in shares[k])] for k in (0, 1)])


@ITEMS.item("O39", "ROC curves of LDA and logistic regression", "sensitivity against specificity, over all cuts")
def roc_curves(page: Page) -> None:
    rows = page.data("spam")
    areas: dict[str, list[float]] = {"logistic regression": [], "LDA": []}
    for seed in range(20):
        X, y, X_test, y_test = halves(rows, seed)
        curves = {
            name: discrim.roc(y_test == "spam", model.fit(X, y).predict_proba(X_test)[:, 1])
            for name, model in (
                ("LDA", discrim.LinearDiscriminantAnalysis()),
                ("logistic regression", discrim.LogisticRegression(C=np.inf)),
            )
        }
        for name, curve in curves.items():
            areas[name].append(float(curve.auc))
    page.check(
        "areas, mean of 20 random halves",
        [0.969, 0.951],
        [float(np.mean(values)) for values in areas.values()],
        tol=0.003,
    )
    page.check(
        "logistic regression is above on every split",
        True,
        bool((np.array(areas["logistic regression"]) > areas["LDA"]).all()),
    )
    at, weight = np.polynomial.hermite_e.hermegauss(80)
    gap = np.array([1.0, 2.0, 2.8, 4.0])
    mean = (weight / np.cosh(gap[:, None] / 2 * at)).sum(axis=1) / weight.sum()
    page.check(
        "efficiency of logistic regression on Gaussian classes, Δ = 1, 2, 2.8, 4: (1 + Δ²/4) e^(−Δ²/8) E(1/cosh ½ΔZ)",
        [0.995, 0.899, 0.701, 0.343],
        (1 + gap**2 / 4) * np.exp(-(gap**2) / 8) * mean,
        tol=5e-4,
    )
    page.misprint(
        "efficiency 30 % lower",
        "it depends on the distance of the means",
        ".995, .899, .701, .343 at 1, 2, 2.8, 4, for equal priors",
    )
    axes = plots.roc(curves, formats={"LDA": "k-", "logistic regression": "C1--"})
    plots.titled(axes, None, "1 − specificity", "sensitivity")
    page.show(axes, "Two ROC curves: logistic regression, broken and red, above LDA, solid and black.")
