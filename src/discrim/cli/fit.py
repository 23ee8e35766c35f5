"""``discrim fit``: one model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discrim.cli import options
from discrim.cli.running import note, verb
from discrim.cli.writing import described, write_json


@verb(
    "fit",
    "Fit one model and print its summary.",
    examples="""
    discrim fit LDA crabs.csv --target group -o crabs.discrim
    discrim fit logistic shop.db::orders -t returned --set C=inf
    discrim fit RDA 'genes-*.parquet' -t tumour --set alpha=cv --set gamma=cv
    discrim fit 'multinomial nb' mails.csv -t kind --text message
    discrim fit logistic '*.parquet' -t paid --checkpoint run.ckpt -o m.discrim
    discrim fit LDA ward-3.csv -t outcome --statistic-only -o ward-3.discrim
    """,
)
@click.argument("model")
@options.table
@click.option(
    "-s", "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the model; may be repeated."
)
@options.to_file("-o", "--output", text="Save the fitted model to this file, such as m.discrim.")
@click.option("--keep-statistic", is_flag=True, help="Keep in it what 'update', 'forget' and 'merge' go on from.")
@click.option("--statistic-only", is_flag=True, help="Save that alone, for 'merge' at another place.")
@options.to_file(
    "--checkpoint", text="Keep the sums so far in this file; the same command goes on from there if it was stopped."
)
@options.as_json
def fit(
    model: str, data: str, *, settings: tuple[str, ...], output: Path | None, keep_statistic: bool,
    statistic_only: bool, checkpoint: Path | None, as_json: bool, **columns: Any,
) -> None:  # fmt: skip
    """Fit MODEL to DATA and print its summary.

    MODEL is a name from the table of 'discrim compare', such as LDA, QDA or 'Gaussian NB', or the name of a class, such
    as RidgeClassifier; case does not matter. Columns that are no features are left out and named, as by 'discrim
    compare', and missing values are filled in. Without -o the summary is all there is.

    With --statistic-only the file has the sums over the rows that the model follows from, and no rule: 'discrim merge'
    makes one model of the files of several sites. Cells of few rows are named.
    """
    from discrim.cli.naming import named_model
    from discrim.cli.tables import fit_table, open_table

    chosen = named_model(model, settings)
    rows = open_table(data, note=note, **columns)
    if statistic_only:
        if output is None or checkpoint is not None:
            raise click.UsageError("--statistic-only needs a file to write, -o FILE, and takes no --checkpoint.")
        _hand_on(chosen, rows, output, keep=columns["types"], as_json=as_json)
        return
    fitted = fit_table(chosen, rows, note=note, keep=columns["types"], checkpoint=checkpoint)
    if output is not None:
        from discrim.store import save

        save(fitted, output, keep_statistic=keep_statistic)
        if keep_statistic and not hasattr(fitted, "partial_fit"):
            note(f"{type(chosen).__name__} cannot learn from more rows by update, forget or merge: it needs all again.")
    summary = fitted.summary()
    if as_json:
        write_json({"model": type(chosen).__name__, "parameters": chosen.get_params(), "summary": described(summary)})
        return
    click.echo(summary)
    if output is not None:
        click.echo(f"\nModel: {output}")


def _hand_on(model: Any, rows: Any, output: Path, *, keep: Any, as_json: bool) -> None:
    """Save the statistic of the rows alone, and say which of its cells are small."""
    from discrim.cli.federated import small_cells, summed, warnings_of
    from discrim.errors import plural
    from discrim.store import save

    fitted, table = summed(model, rows, note=note, keep=keep)
    cells, n = small_cells(table), int(fitted.statistic_.rows.sum())
    for sentence in warnings_of(cells, n, fitted.n_features_in_):
        note(sentence)
    save(fitted, output, statistic_only=True)
    name, classes = type(model).__name__, [str(label) for label in fitted.classes_]
    if as_json:
        facts = {"model": name, "output": str(output), "rows": n, "columns": fitted.n_features_in_, "classes": classes}
        write_json({**facts, "small_cells": [vars(cell) for cell in cells]})
    else:
        columns = plural(fitted.n_features_in_, "column")
        click.echo(f"{name}: statistic of {plural(n, 'row')}, {columns}, classes {', '.join(classes)}")
        click.echo(f"\nStatistic: {output}")
