"""Compare all models on the rock crabs: ``make demo``, or ``python examples/crabs.py``.

Prints the comparison and the summary of the discriminant analysis; writes demo/report.html, demo/crabs.svg, and the
measurements as demo/crabs.csv, as input for the command.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

import discrim

EXPLANATION = """\
Fifty crabs of each of four groups (blue or orange form, female or male) were
measured with callipers. All five lengths grow with the crab, so no single one
separates the groups, and naive Bayes, which looks at one column at a time, has
a high error. Discriminant analysis finds combinations that separate them.
"""


def main() -> None:
    crabs = discrim.datasets.load_crabs(log=True)
    X, y = pl.DataFrame(crabs.data, schema=crabs.feature_names), crabs.target
    print(EXPLANATION)
    found = discrim.compare(X, y, random_state=0)
    print(found, "\n")
    lda = discrim.LinearDiscriminantAnalysis().fit(X, y)
    print(lda.summary())

    folder = Path("demo")
    folder.mkdir(exist_ok=True)
    found.report(folder / "report.html")
    plane(lda, X, y).savefig(folder / "crabs.svg")
    X.with_columns(group=y).write_csv(folder / "crabs.csv")
    print(f"\nThe comparison with pictures: {folder / 'report.html'}")
    print(f"The crabs in the plane that separates them best: {folder / 'crabs.svg'}")
    print(f"Their measurements, as a table: {folder / 'crabs.csv'}")


def plane(lda: discrim.LinearDiscriminantAnalysis, X: pl.DataFrame, y: object) -> Figure:
    """The crabs in the first two discriminant coordinates: one separates the forms, the other the sexes."""
    look = {"B": "#1f6fb4", "O": "#e07b00", "F": "o", "M": "^"}
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    z = lda.transform(X)
    for group in lda.classes_:
        colour, marker, rows = look[group[0]], look[group[1]], y == group
        axes.scatter(z[rows, 0], z[rows, 1], c=colour, marker=marker, s=22, alpha=0.8, label=group)
    share = lda.explained_variance_ratio_
    axes.set_xlabel(f"first discriminant coordinate ({share[0]:.0%} of the trace)")
    axes.set_ylabel(f"second ({share[1]:.0%})")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title="form, sex", frameon=False)
    return figure


if __name__ == "__main__":
    main()
