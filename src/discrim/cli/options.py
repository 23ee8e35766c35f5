"""Options and arguments that several verbs have."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Any], Any]

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
model_file = click.argument("path", metavar="MODEL", type=click.Path(path_type=Path))
data = click.argument("data", metavar="DATA")
target = click.option("-t", "--target", metavar="COLUMN", help="Column of class labels.")
text = click.option("--text", metavar="COLUMN", help="The column whose words are classified, of models of text.")
weight = click.option("--weight", metavar="COLUMN", help="Column of case weights.")


def _names(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> list[str]:
    """``--without a,b --without c`` are three columns."""
    return [name.strip() for part in value for name in part.split(",") if name.strip()]


def _types(_context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """``--types zip=category,day=number`` as a dictionary."""
    pairs = [pair.rpartition("=") for part in value for pair in part.split(",") if pair.strip()]
    for name, sign, kind in pairs:
        if not sign or not name.strip():
            raise click.BadParameter(f"'{kind}' is no COLUMN=TYPE, such as zip=category.", param=parameter)
    return {name.strip(): kind.strip() for name, _, kind in pairs}


types = click.option(
    "--types",
    multiple=True,
    metavar="COLUMN=TYPE,...",
    callback=_types,
    help="Read columns as 'number' or 'category', whatever they look like.",
)
sep = click.option("--sep", metavar="SIGN", help="What separates the columns of CSV files; recognised by default.")


def columns(flag: str, text: str) -> Decorator:
    """An option that takes names of columns, separated by commas or one by one."""
    return click.option(flag, multiple=True, metavar="COLUMN,...", callback=_names, help=text)


def table(function: Any) -> Any:
    """The argument DATA and the options that say what its columns are."""
    parts = (
        data,
        target,
        text,
        columns("--features", "Columns to learn from; all by default."),
        columns("--without", "Columns to leave out."),
        weight,
        types,
        sep,
    )
    return reduce(lambda decorated, part: part(decorated), reversed(parts), function)


def known_rows(function: Any) -> Any:
    """The arguments MODEL and DATA, and the options that say where rows have their classes and how they are read."""
    parts = (model_file, data, target, text, weight, types, sep)
    return reduce(lambda decorated, part: part(decorated), reversed(parts), function)


def to_file(*flags: str, text: str, **options: Any) -> Decorator:
    """An option that takes the name of a file to be written; its folder must exist."""
    return click.option(
        *flags, type=click.Path(dir_okay=False, path_type=Path), callback=_in_folder, help=text, **options
    )


def _in_folder(_context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder '{path.parent}'.", param=parameter)
    return path
