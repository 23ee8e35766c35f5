"""``discrim datasets``: small data sets to try, as tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from discrim.cli import options
from discrim.cli.running import note, verb
from discrim.cli.writing import rows_of_text, write_json, write_text


@verb(
    "datasets",
    "List small data sets, or write one as CSV.",
    examples="""
    discrim datasets
    discrim datasets iris -o iris.csv
    discrim datasets crabs | discrim compare - --target target --without sp,sex
    """,
)
@click.argument("name", required=False)
@options.to_file("-o", "--output", text="Write the table to this CSV file instead of the terminal.")
@options.as_json
def datasets(name: str | None, *, output: Path | None, as_json: bool) -> None:
    """List the data sets that come with discrim, or write the one called NAME as CSV.

    The class of a row is in the column 'target'. Columns after it describe the rows and are no features.
    """
    from discrim.errors import MissingDependencyError

    loaders = _loaders()
    if name is None:
        found = []
        for each, load in loaders.items():
            try:
                found.append(_described(each, load()))
            except MissingDependencyError as error:
                note(str(error))
        _print_list(found, as_json=as_json)
        return
    data = _chosen(name, loaders)()
    if as_json:
        write_json({**_described(name, data), "about": data.description, "columns": _columns(data)})
    else:
        write_text(_as_csv(_columns(data)), output)


def _loaders() -> dict[str, Callable[[], Any]]:
    from functools import partial

    from discrim import datasets as library
    from discrim.datasets.installed import READERS

    own = [name for name in dir(library) if name.startswith("load_")]
    loaders: dict[str, Callable[[], Any]] = {name.removeprefix("load_"): getattr(library, name) for name in own}
    return loaders | {name: partial(library.fetch, name) for name in sorted(READERS)}


def _chosen(name: str, loaders: dict[str, Callable[[], Any]]) -> Callable[[], Any]:
    from discrim.errors import ParameterError, name_list

    if name.lower() not in loaders:
        raise ParameterError(f"There is no data set '{name}'. There are {name_list(loaders, most=len(loaders))}.")
    return loaders[name.lower()]


def _described(name: str, data: Any) -> dict[str, Any]:
    n, p = data.data.shape
    about = data.description.partition(". ")[0].partition(":")[0]
    return {"name": name, "rows": n, "features": p, "classes": len(data.target_names), "about": about}


def _print_list(found: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        write_json(found)
        return
    header = ["name", "rows", "features", "classes"]
    click.echo(rows_of_text([header, *([str(one[name]) for name in header] for one in found)]))
    click.echo("\nWrite one as CSV: discrim datasets NAME -o FILE.csv")


def _columns(data: Any) -> dict[str, list[Any]]:
    features = {name: data.data[:, j].tolist() for j, name in enumerate(data.feature_names)}
    return {**features, "target": data.target.tolist(), **{name: list(v.tolist()) for name, v in data.extra.items()}}


def _as_csv(columns: dict[str, list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
