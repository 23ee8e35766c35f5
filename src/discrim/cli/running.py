"""How a verb runs: errors and warnings as sentences, exit codes, output for people or as JSON."""

from __future__ import annotations

import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

# What the user can correct; a bug of the command, the code that BSD calls EX_SOFTWARE; as a shell reports a process
# that was ended by Ctrl-C, or by a closed pipe.
REFUSED, BUG, STOPPED, UNREAD = 2, 70, 130, 141
# Set to anything, a bug shows its traceback.
TRACEBACK = "DISCRIM_TRACEBACK"


class Verb(click.Command):
    """A verb of the command.

    What the user can correct is a sentence and exit code 2. A bug is another one, 70, and shows how to see more.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with narrow():
            return super().parse_args(ctx, args)

    def invoke(self, context: click.Context) -> Any:
        with narrow(), plain_words():
            return super().invoke(context)


def verb(name: str, short: str, examples: str) -> Callable[[Callable[..., None]], click.Command]:
    """A function as a verb of the command; its docstring is the help, and the examples stand below it.

    ``short`` stands in the list of verbs.
    """
    shown = "".join(f"\n  {line.strip()}" for line in examples.strip().splitlines())
    return click.command(name, cls=Verb, short_help=short, epilog=f"\b\nExamples:{shown}")


def note(text: str) -> None:
    """Something to know that is no error, beside the output."""
    click.echo(_wrapped(f"Note: {text}"), err=True)


def _wrapped(text: str) -> str:
    # Names of files stay whole, so that they can be found and copied.
    return textwrap.fill(text, 79, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


@contextmanager
def narrow() -> Iterator[None]:
    """What click says of arguments that cannot be used, wrapped to the width of a terminal."""
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        said = _wrapped(f"Error: {error.format_message()}").removeprefix("Error: ")
        raise click.UsageError(said, error.ctx) from error


class Refused(click.ClickException):
    """Something that the user can correct, wrapped to the width of a terminal."""

    exit_code = REFUSED

    def show(self, file: Any = None) -> None:
        click.echo(_wrapped(f"Error: {self.message}"), file=file, err=file is None)


class Bug(Refused):
    """An error that nobody foresaw."""

    exit_code = BUG


@contextmanager
def plain_words() -> Iterator[None]:
    """Errors and warnings as sentences: no traceback for what the user can correct, nor for Ctrl-C.

    Output that is closed early, as ``head`` does it, ends the command without a message.
    """
    try:
        with warnings.catch_warnings():
            # What concerns programmers alone is no news for a user of the command.
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = lambda message, *_, **__: note(str(message))
            yield
    except BrokenPipeError:
        # Python writes what is left when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNREAD)
    except KeyboardInterrupt:  # perhaps while modules are still being imported
        click.echo("Stopped.", err=True)
        sys.exit(STOPPED)
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        raise _in_words(error) from error


def _in_words(error: Exception) -> click.ClickException:
    """The error as a sentence, with the exit code that it deserves."""
    from discrim.errors import DiscrimError
    from discrim.sources.labels import ContinuousLabelsError

    if isinstance(error, ContinuousLabelsError):
        return Refused(f"{error.fact} Cut them into ranges, in a column of its own, and pass that as --target.")
    if isinstance(error, DiscrimError):
        return Refused(str(error))
    if isinstance(error, OSError):
        where = f" ('{error.filename}')" if error.filename else ""
        return Refused(f"{error.strerror or error}{where}")
    if isinstance(error, MemoryError):
        return Refused("There is not enough memory for this. Take fewer rows or columns, or a simpler model.")
    if os.environ.get(TRACEBACK):
        raise error
    said = str(error).partition("\n")[0]
    return Bug(
        f"This is a bug in discrim ({type(error).__name__}{': ' if said else ''}{said}). Please report it, with what "
        f"the same command prints after {TRACEBACK}=1 is set in the environment."
    )
