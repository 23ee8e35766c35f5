"""``discrim compare``: all models that suit a table, on the same folds."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from discrim.cli import options
from discrim.cli.running import STOPPED, note, verb
from discrim.cli.writing import described, write_json


@verb(
    "compare",
    "Try all models on the same folds and choose one.",
    examples="""
    discrim compare crabs.csv --target group
    discrim compare crabs.csv --target group --report crabs.html --summary
    discrim compare crabs.csv --target group --save crabs.discrim
    discrim compare 'trips-*.parquet' -t paid --without driver,plate
    discrim compare visits.csv -t returned --time day
    discrim compare mails.csv -t kind --text message
    """,
)
@options.table
@click.option("--folds", "--cv", default=10, show_default=True, help="Number of folds.")
@click.option("--repeats", default=1, show_default=True, help="How often other folds are dealt.")
@click.option("--nested", is_flag=True, help="Nested cross-validation of the choice: 50 further comparisons.")
@click.option(
    "--metric",
    type=click.Choice(["error", "log_loss", "auc", "brier", "balanced_error"]),
    default="error",
    show_default=True,
    help="Metric that models are ranked by.",
)
@click.option("--groups", metavar="COLUMN", help="Column of groups, whose rows stay together in the folds.")
@click.option("--time", metavar="COLUMN", help="Column of times: every row is predicted by models of earlier rows.")
@click.option("--positive", metavar="CLASS", help="The class of interest of two: its recall, precision and curves.")
@click.option(
    "--missing",
    type=click.Choice(["impute", "drop", "error"]),
    default="impute",
    show_default=True,
    help="Fill in missing values, leave out rows that have any, or refuse them.",
)
@click.option("--budget", type=float, default=60, show_default=True, help="Seconds it may take; 0 sets no limit.")
@click.option("--seed", default=0, show_default=True, help="Seed of the shuffle that deals rows into folds.")
@click.option("--columns", "show_columns", is_flag=True, help="Print what each column is taken for, and why.")
@options.to_file("--report", text="Write an HTML page to this file.")
@options.to_file("--save", text="Save the chosen model, fitted to all rows, to this file.")
@click.option("--keep-statistic", is_flag=True, help="Keep in it what 'update' and 'forget' go on from.")
@click.option("--summary", is_flag=True, help="Print a summary of the chosen model, fitted to all rows.")
@options.as_json
def compare(
    data: str,
    *,
    folds: int,
    metric: Any,
    repeats: int,
    nested: bool,
    groups: str | None,
    time: str | None,
    positive: str | None,
    missing: Any,
    budget: float,
    seed: int,
    show_columns: bool,
    report: Path | None,
    save: Path | None,
    keep_statistic: bool,
    summary: bool,
    as_json: bool,
    types: dict[str, str],
    **columns: Any,
) -> None:
    """Try all models that suit DATA on the same folds, and choose one.

    DATA is a CSV, Parquet, Arrow or JSON lines file; a pattern such as 'trips-*.parquet'; a table or a query of a
    database, as in shop.db::orders (SQLite, DuckDB) or postgresql://host/base::orders; - for the standard input; or a
    folder with one folder of documents for each class.
    """
    from discrim.cli.tables import open_beside
    from discrim.comparison import compare as compare_models
    from discrim.errors import ParameterError

    for option, value, least in (("--folds", folds, 2), ("--repeats", repeats, 1), ("--budget", budget, 0)):
        if value < least:
            raise ParameterError(f"{option} is {value:g}; it must be at least {least}.")

    rows, beside = open_beside(data, {"groups": groups, "time": time}, note=note, **columns)
    found = compare_models(
        rows,
        cv=folds,
        metric=metric,
        budget=budget or None,
        repeats=repeats,
        nested=nested,
        **beside,
        missing=missing,
        types=types,
        positive=positive,
        random_state=seed,
    )
    if report is not None:
        found.report(report)
    if save is not None:
        _save(found, getattr(rows, "column", None), save, keep_statistic=keep_statistic)
    if as_json:
        write_json({**_described(found), **({"summary": described(found.best.summary())} if summary else {})})
        return
    click.echo(found)
    if show_columns:
        click.echo(f"\n{found.columns}")
    if summary:
        click.echo(f"\n{found.best.summary()}")
    if report is not None:
        click.echo(f"\nReport: {report}")
    if save is not None:
        click.echo(f"\nModel: {save}")
    if any(remark.startswith("Stopped by the user") for remark in found.remarks):
        sys.exit(STOPPED)  # after all that was done has been written


def _save(found: Any, text: str | None, path: Path, *, keep_statistic: bool) -> None:
    """The chosen model as a file, with the name of the column whose words it learned from, if it did."""
    from discrim.store import save

    best = found.best
    if text is not None:
        best.remember_column(text)
    save(best, path, keep_statistic=keep_statistic)
    if keep_statistic and not hasattr(best, "partial_fit"):
        note(f"{found.chosen} cannot learn from more rows by update or forget: it needs the rows again.")


def _described(found: Any) -> dict[str, Any]:
    """What a comparison found, for programs."""
    corrected = found.corrected
    return {
        "chosen": found.chosen,
        "verdict": found.verdict,
        "corrected_error": None if corrected is None else corrected.error,
        "corrected_interval": None if corrected is None else corrected.interval,
        "nested": None if found.nested is None else asdict(found.nested),
        "rows": found.n,
        "columns": found.width,
        "classes": found.classes,
        "positive": found.positive,
        "models": [asdict(row) for row in found.rows],
        "remarks": found.remarks,
        "column_table": [column._asdict() for column in found.columns],
    }
