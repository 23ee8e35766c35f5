"""The subcommands of ``discrim``. Nothing heavy is imported before a command runs, so that ``--help`` is quick."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

# As a shell reports a process that was ended by Ctrl-C, or by a closed pipe.
STOPPED, UNREAD = 130, 141


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="discrim")
def discrim() -> None:
    """Classical linear and quadratic classification."""


def _names(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> list[str]:
    """``--without a,b --without c`` are three columns."""
    return [name.strip() for part in value for name in part.split(",") if name.strip()]


def _columns(flag: str, text: str) -> Callable[[Any], Any]:
    return click.option(flag, multiple=True, metavar="COLUMN,...", callback=_names, help=text)


@discrim.command()
@click.argument("data", metavar="DATA")
@click.option("-t", "--target", metavar="COLUMN", help="Column of class labels.")
@click.option("--text", metavar="COLUMN", help="Classify by the words in this column.")
@_columns("--features", "Columns to learn from; all by default.")
@_columns("--without", "Columns to leave out.")
@click.option("--weight", metavar="COLUMN", help="Column of case weights.")
@click.option("--folds", default=10, show_default=True, help="Number of folds.")
@click.option(
    "--metric",
    type=click.Choice(["error", "log_loss", "auc", "brier"]),
    default="error",
    show_default=True,
    help="Metric that models are ranked by.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the shuffle that deals rows into folds.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write an HTML page to this file.")
@click.option("--summary", is_flag=True, help="Print a summary of the chosen model, fitted to all rows.")
def compare(
    data: str, *, folds: int, metric: Any, seed: int, report: Path | None, summary: bool, **columns: Any
) -> None:
    """Try all models that suit DATA on the same folds, and choose one.

    DATA is a CSV, Parquet or Arrow file, a pattern such as 'trips-*.parquet', or a folder with one folder of documents
    for each class.
    """
    with _plain_words():
        if report is not None and not report.parent.is_dir():
            raise click.BadParameter(f"there is no folder '{report.parent}'.", param_hint="--report")
        from discrim.cli.tables import open_table
        from discrim.comparison import compare as compare_models

        rows = open_table(data, note=_note, **columns)
        found = compare_models(rows, cv=folds, metric=metric, random_state=seed)
        click.echo(found)
        if summary:
            click.echo(f"\n{found.best.summary()}")
        if report is not None:
            click.echo(f"\nReport: {found.report(report)}")


def _note(text: str) -> None:
    click.echo(_wrapped(f"Note: {text}"), err=True)


def _wrapped(text: str) -> str:
    return click.wrap_text(text, 79, subsequent_indent="  ")


class _Refused(click.ClickException):
    """An error of the library, wrapped to the width of a terminal."""

    def show(self, file: Any = None) -> None:
        click.echo(_wrapped(f"Error: {self.message}"), file=file, err=file is None)


@contextmanager
def _plain_words() -> Iterator[None]:
    """Errors and warnings as sentences: no traceback for what the user can correct, nor for Ctrl-C.

    Output that is closed early, as ``head`` does it, ends the command without a message.
    """
    try:
        from discrim.errors import DiscrimError

        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_, **__: _note(str(message))
            try:
                yield
            except DiscrimError as error:
                raise _Refused(str(error)) from error
    except BrokenPipeError:
        # Python writes what is left when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNREAD)
    except KeyboardInterrupt:  # perhaps while modules are still being imported
        click.echo("Stopped.", err=True)
        sys.exit(STOPPED)
    except OSError as error:
        where = f" ('{error.filename}')" if error.filename else ""
        raise _Refused(f"{error.strerror or error}{where}") from error
