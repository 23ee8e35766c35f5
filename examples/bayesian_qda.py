"""Bayesian QDA as the dimension grows: ``python examples/bayesian_qda.py [repetitions]``. Writes demo/bayesian_qda.svg.

Two classes with the same mean and highly ellipsoidal covariances, long where the other is short: standard deviations
from 1 to 10 in one class and from 10 to 1 in the other, along the columns or along axes drawn at random for each
class. 40 rows to learn from, 100 to be predicted.

Bayesian QDA chooses by leave-one-out whether its prior has the variances of each class, which is right along the
columns and as good as naive Bayes there up to some tenths of a point, or the pooled ones, which is right along random
directions with many columns. With 6 to 12 columns and random directions plain QDA is better.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import ortho_group

import discrim

Array = np.ndarray
DIMENSIONS = (2, 4, 6, 8, 12, 16, 24, 32, 48)
TRAIN, TEST = 40, 100
AXES = ("along the columns", "along random directions")
# QDA needs more rows than columns in each class.
METHODS = {
    "QDA": (discrim.QuadraticDiscriminantAnalysis, "#7f7f7f", TRAIN // 2 - 1),
    "RDA, ten-fold": (lambda: discrim.RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv"), "#d9822b", np.inf),
    "naive Bayes": (discrim.GaussianNB, "#2a8f5c", np.inf),
    "Bayesian QDA": (
        lambda: discrim.BayesianQuadraticDiscriminantAnalysis(psi="loo", target="auto"),
        "#1f6fb4",
        np.inf,
    ),
}
OURS = "Bayesian QDA"


def main(repetitions: int = 60) -> None:
    errors = {axes: run(axes, repetitions) for axes in AXES}
    print(f"Mean test error in % over {repetitions} samples of {TRAIN} rows; * is best or tied with it.")
    for axes in AXES:
        print(f"\nEllipsoids {axes}")
        print(table(errors[axes]))
        print(verdict(errors[axes]))
    path = Path("demo/bayesian_qda.svg")
    path.parent.mkdir(exist_ok=True)
    draw(errors).savefig(path)
    print(f"\nThe curves with bands of two standard errors: {path}")


def run(axes: str, repetitions: int) -> dict[str, Array]:
    """Test errors of each method, dimensions x repetitions; NaN where it cannot be fitted."""
    errors = {name: np.full((len(DIMENSIONS), repetitions), np.nan) for name in METHODS}
    for i, p in enumerate(DIMENSIONS):
        for r in range(repetitions):
            X, y = sample(p, axes, np.random.default_rng([r, p]))
            for name, (build, _, most) in METHODS.items():
                if p <= most:
                    model = build().fit(X[:TRAIN], y[:TRAIN])
                    errors[name][i, r] = 1.0 - model.score(X[TRAIN:], y[TRAIN:])
    return errors


def sample(p: int, axes: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows of both classes in turns."""
    y = np.arange(TRAIN + TEST) % 2
    deviations = np.linspace(1.0, 10.0, p)
    X = rng.normal(size=(len(y), p)) * np.where(y[:, None] == 0, deviations, deviations[::-1])
    if axes == AXES[1]:
        for k in (0, 1):
            X[y == k] = X[y == k] @ ortho_group(p, seed=rng).rvs()
    return X, y


def tied(errors: dict[str, Array], i: int) -> list[str]:
    """The method of least mean error, and those whose paired differences from it are within two standard errors."""
    means = {name: values[i].mean() for name, values in errors.items() if not np.isnan(values[i, 0])}
    best = min(means, key=lambda name: means[name])
    gaps = {name: errors[name][i] - errors[best][i] for name in means}
    return [name for name, gap in gaps.items() if gap.mean() <= 2.0 * gap.std() / np.sqrt(len(gap))]


def table(errors: dict[str, Array]) -> str:
    lines = ["columns".ljust(15) + "".join(f"{p:>7}" for p in DIMENSIONS)]
    for name, values in errors.items():
        cells = []
        for i, row in enumerate(values):
            mark = "*" if name in tied(errors, i) else " "
            cells.append("      -" if np.isnan(row[0]) else f"{100 * row.mean():>6.1f}{mark}")
        lines.append(name.ljust(15) + "".join(cells))
    return "\n".join(lines)


def verdict(errors: dict[str, Array]) -> str:
    """Where Bayesian QDA is best, where it is tied, and who beats it where it is neither."""
    alone, shared, beaten = [], [], []
    for i, p in enumerate(DIMENSIONS):
        good = tied(errors, i)
        if good == [OURS]:
            alone.append(str(p))
        elif OURS in good:
            shared.append(str(p))
        else:
            best = min(good, key=lambda name, i=i: errors[name][i].mean())
            gap = 100 * (errors[OURS][i] - errors[best][i]).mean()
            beaten.append(f"  {p} columns: {best} is better by {gap:.1f} points")
    lines = [
        f"{OURS} is best with {', '.join(alone) or 'no number of'} columns",
        f"  and tied with the best with {', '.join(shared) or 'no number of'} columns.",
    ]
    return "\n".join(lines + (["It is beaten with", *beaten] if beaten else ["It is never beaten."]))


def draw(errors: dict[str, dict[str, Array]]) -> Figure:
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axis, axes in zip(panels, AXES, strict=True):
        for name, (_, colour, _) in METHODS.items():
            values = 100 * errors[axes][name]
            mean, band = values.mean(axis=1), 2.0 * values.std(axis=1) / np.sqrt(values.shape[1])
            axis.fill_between(DIMENSIONS, mean - band, mean + band, color=colour, alpha=0.15, linewidth=0)
            width = 2.6 if name == OURS else 1.6
            axis.plot(DIMENSIONS, mean, "o-", color=colour, linewidth=width, markersize=3.5, label=name)
        axis.set_title(f"Ellipsoids {axes}", fontsize=11)
        axis.set_xscale("log", base=2)
        axis.set_xticks(DIMENSIONS, [str(p) for p in DIMENSIONS])
        axis.minorticks_off()
        axis.set_xlabel("columns")
        axis.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel(f"mean test error, % ({TRAIN} training rows)")
    panels[0].set_ylim(0, 50)
    panels[0].legend(frameon=False, loc="upper right", fontsize=9)
    return figure


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
