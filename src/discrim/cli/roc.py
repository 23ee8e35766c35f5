"""``discrim roc``: how well a score separates two classes, at every threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discrim.cli import options
from discrim.cli.running import note, verb
from discrim.cli.writing import described, write_json, write_text

# Points of the curve that are printed.
SHOWN = 11


@verb(
    "roc",
    "Print the ROC curve of a model or a score.",
    examples="""
    discrim roc paid.discrim new.csv --target paid
    discrim roc scores.csv -t returned --score risk
    discrim roc scores.csv -t returned --score risk --positive yes -o curve.csv
    """,
)
@click.argument("source", metavar="[MODEL] DATA", nargs=-1, required=True)
@options.target
@options.text
@options.types
@options.sep
@click.option("--score", metavar="COLUMN", help="Column of scores; larger ones speak for the positive class.")
@click.option("--positive", metavar="CLASS", help="The positive class; by default the last of the two in order.")
@options.to_file("-o", "--output", text="Write all points of the curve to this CSV file.")
@options.as_json
def roc(
    source: tuple[str, ...], *, target: str | None, score: str | None, positive: str | None, output: Path | None,
    as_json: bool, **reading: Any,
) -> None:  # fmt: skip
    """Print the area under the ROC curve of a model or of a score, its interval, and the best thresholds.

    With a MODEL file the scores are its posteriors for the rows of DATA; without one, DATA has a column of scores. With
    more than two classes, --positive names the one that is set against the others.
    """
    from discrim.cli.answering import Question
    from discrim.cli.judging import scored_by_column, scored_by_model
    from discrim.cli.tables import as_path, load_model
    from discrim.evaluation import roc as curve_of

    if len(source) > 2 or (len(source) == 2 and score is not None):
        raise click.UsageError("roc takes a model file and a table, or a table alone and --score COLUMN.")
    if len(source) == 2:
        question = Question(load_model(Path(source[0])), as_path(source[1]), **reading)
        scored = scored_by_model(question, target, positive)
    else:
        scored = scored_by_column(source[0], target, score, positive, reading["sep"])
    if scored.remark:
        note(scored.remark)
    curve = curve_of(scored.labels, scored.score, positive=scored.positive)
    if output is not None:
        points = zip(curve.thresholds.tolist(), curve.fpr.tolist(), curve.tpr.tolist(), strict=True)
        lines = ["threshold,fpr,tpr", *(",".join(map(repr, point)) for point in points)]
        write_text("\n".join(lines) + "\n", output)
    summary = _summary(curve)
    if as_json:
        whole = {"thresholds": curve.thresholds, "fpr": curve.fpr, "tpr": curve.tpr}
        write_json({"auc": curve.auc, "positive": curve.positive, **described(summary), **whole})
        return
    click.echo(summary)
    if output is not None:
        click.echo(f"\nCurve: {output}")


def _summary(curve: Any) -> Any:
    """The area, and some points of the curve: those with the largest sensitivity at round specificities."""
    import numpy as np

    from discrim.inference.summary import Summary, Table

    facts: dict[str, Any] = {
        "Positive class": curve.positive,
        "Rows": f"{curve.n_positive:,} positive, {curve.n_negative:,} negative",
        "AUC": f"{curve.auc:.4f}",
    }
    if min(curve.n_positive, curve.n_negative) > 1:
        low, high = curve.auc_ci()
        facts["AUC"] += f" (95% {low:.4f} to {high:.4f})"
    specificity = 1.0 - curve.fpr
    best = int(np.argmax(curve.tpr - curve.fpr))
    facts["Best threshold"] = (
        f"{curve.thresholds[best]:.4g} (sensitivity {curve.tpr[best]:.3f}, specificity {specificity[best]:.3f})"
    )
    shown = []
    for wanted in np.linspace(1.0, 0.0, SHOWN):
        at = int(np.flatnonzero(specificity >= wanted - 1e-12)[-1])
        shown.append([f"{curve.thresholds[at]:.4g}", f"{curve.tpr[at]:.3f}", f"{specificity[at]:.3f}"])
    rows = list(dict.fromkeys(map(tuple, shown)))
    columns = ["threshold", "sensitivity", "specificity"]
    table = Table("Points of the curve", [str(i + 1) for i in range(len(rows))], columns, rows)
    return Summary("ROC curve", facts, [table])
