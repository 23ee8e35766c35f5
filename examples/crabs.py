"""Fit and compare the models on the rock crabs: ``make demo``, or ``python examples/crabs.py``.

Prints a table and the summary of the discriminant analysis, and writes demo/report.html.
"""

from __future__ import annotations

import html
import io
import time
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import discrim

MODELS = {
    "LDA": discrim.LinearDiscriminantAnalysis(),
    "QDA": discrim.QuadraticDiscriminantAnalysis(),
    "RDA, tuned": discrim.RegularizedDiscriminantAnalysis(alpha="cv", gamma="cv"),
    "Gaussian naive Bayes": discrim.GaussianNB(),
    "Least squares": discrim.LeastSquaresClassifier(),
    "Least squares, quadratic": discrim.LeastSquaresClassifier(basis="quadratic"),
    "Ridge": discrim.RidgeClassifier(),
    "Logistic, C=1000": discrim.LogisticRegression(C=1000.0),
}

EXPLANATION = """\
Fifty crabs of each of four groups (blue or orange form, male or female) were measured with callipers.
All five lengths grow with the crab, so no single one tells the groups apart; linear discriminant analysis
finds the directions in which they differ. Naive Bayes looks at one column at a time and misses most of it.
Each error is the share of crabs that a model put in the wrong group without having seen them."""

HEADER = ("model", "10-fold error", "log loss", "leave-one-out", "time")


@dataclass
class Result:
    model: str
    error: float
    log_loss: float
    loo_error: float
    ms: float

    def cells(self) -> list[str]:
        return [
            self.model,
            f"{self.error:.1%}",
            f"{self.log_loss:.3f}",
            f"{self.loo_error:.1%}",
            f"{self.ms:,.0f} ms",
        ]


def main() -> None:
    crabs = discrim.datasets.load_crabs(log=True)
    X, y = crabs.data, crabs.target
    judge("warm-up", discrim.GaussianNB(), X, y)  # the first call also imports scikit-learn's splitters
    results = [judge(name, model, X, y) for name, model in MODELS.items()]
    results.sort(key=lambda result: result.error)

    print(f"\n{crabs!r}\n")
    print_table(results)
    print("\nTime is that of both cross-validations: ten fits and two hundred fits.\n")
    lda = discrim.LinearDiscriminantAnalysis().fit(pl.DataFrame(X, schema=crabs.feature_names), y)
    print(lda.summary())

    report = Path("demo/report.html")
    report.parent.mkdir(exist_ok=True)
    report.write_text(page(results, picture(lda, X, y)), encoding="utf-8")
    print(f"\nThe same with a picture: {report}")


def judge(name: str, model: object, X: object, y: object) -> Result:
    start = time.perf_counter()
    folds = discrim.cross_validate(model, X, y, cv=10)
    loo = discrim.cross_validate(model, X, y, cv="loo")
    ms = 1e3 * (time.perf_counter() - start)
    return Result(name, folds.error, folds.log_loss, loo.error, ms)


def print_table(results: list[Result]) -> None:
    try:
        from rich.box import SIMPLE_HEAVY
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        for cells in (HEADER, *(result.cells() for result in results)):
            print(f"{cells[0]:<26}" + "".join(f"{cell:>14}" for cell in cells[1:]))
        return
    table = Table(box=SIMPLE_HEAVY, title="Which crab is it?", title_style="bold", pad_edge=False)
    for i, name in enumerate(HEADER):
        table.add_column(name, justify="right" if i else "left", no_wrap=True)
    for i, result in enumerate(results):
        table.add_row(*result.cells(), style="bold green" if i == 0 else None)
    Console().print(table)


def picture(lda: discrim.LinearDiscriminantAnalysis, X: object, y: object) -> str:
    """The crabs in the first two discriminant coordinates, as SVG text."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.fonttype"] = "none"
    look = {"B": "#1f6fb4", "O": "#e07b00", "F": "o", "M": "^"}
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.subplots()
    z = lda.transform(pl.DataFrame(X, schema=list(lda.feature_names_in_)))
    for group in lda.classes_:
        colour, marker, rows = look[group[0]], look[group[1]], y == group
        axes.scatter(z[rows, 0], z[rows, 1], c=colour, marker=marker, s=22, alpha=0.8, label=group)
    share = lda.explained_variance_ratio_
    axes.set_xlabel(f"first discriminant coordinate ({share[0]:.0%} of the trace)")
    axes.set_ylabel(f"second ({share[1]:.0%})")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title="form, sex", frameon=False)
    out = io.StringIO()
    figure.savefig(out, format="svg")
    return out.getvalue()[out.getvalue().index("<svg") :]


def page(results: list[Result], svg: str) -> str:
    head = "".join(f"<th>{name}</th>" for name in HEADER)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in result.cells()) + "</tr>" for result in results
    )
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Which crab is it?</title>
<style>
  body {{ font: 17px/1.55 Georgia, serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }}
  table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }}
  th, td {{ text-align: right; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }}
  th:first-child, td:first-child {{ text-align: left; }}
  tbody tr:first-child {{ font-weight: bold; }}
  svg {{ width: 100%; height: auto; }}
</style>
<h1>Which crab is it?</h1>
<p>{EXPLANATION}</p>
<table><thead><tr>{head}</tr></thead><tbody>
{rows}
</tbody></table>
<h2>The crabs in the plane that separates them best</h2>
{svg}
<p>Blue is the blue form, orange the orange; circles are female, triangles male. The first coordinate tells
the forms apart, the second the sexes.</p>
</html>
"""


if __name__ == "__main__":
    main()
