"""An item of the gallery: a function that checks its numbers, then draws; its source is what the page shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from discrim.gallery.code import body_of, lines_that_made
from discrim.gallery.found import Rows, find_rows

# Numbers of an array that are shown; all of them are compared.
MOST = 9


@dataclass(frozen=True)
class Check:
    """One number of the lecture beside ours; ``expected`` and ``found`` as they are printed."""

    name: str
    expected: str
    found: str
    good: bool


@dataclass(frozen=True)
class Misprint:
    """What the lecture prints, what is right, and why."""

    printed: str
    corrected: str
    reason: str


@dataclass(frozen=True)
class Picture:
    """A figure and its description for those who do not see it."""

    figure: Figure
    alt: str


@dataclass(frozen=True)
class Movie:
    """An animation, which is written as a file beside the page: ``write(path, style)``."""

    write: Callable[[Path, str], Any]


@dataclass(frozen=True)
class Grid:
    """A table as text."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str


@dataclass(frozen=True)
class Text:
    """A remark, or with ``printed`` the output of a session."""

    text: str
    printed: bool = False


@dataclass
class Page:
    """What an item fills while it runs: numbers that are compared, tables and pictures."""

    folder: Path | None = None
    checks: list[Check] = field(default_factory=list)
    misprints: list[Misprint] = field(default_factory=list)
    shown: list[Picture | Movie | Grid | Text] = field(default_factory=list)
    stand_ins: list[str] = field(default_factory=list)

    def check(self, name: str, expected: Any, found: Any, tol: float = 0.0) -> None:
        """A number, an array or a text that must agree; ``tol`` is half a unit of the last printed digit."""
        want, have = np.asarray(expected), np.asarray(found)
        if want.dtype.kind in "OUSb" or have.dtype.kind in "OUSb":
            good = want.shape == have.shape and bool((want == have).all())
        else:
            good = want.shape == have.shape and bool((np.abs(want - have) <= tol * (1 + 1e-9)).all())
        self.checks.append(Check(name, _written(want, tol), _written(have, tol), good))

    def misprint(self, printed: str, corrected: str, reason: str) -> None:
        """The lecture's value, the right one, and the reason."""
        self.misprints.append(Misprint(printed, corrected, reason))

    def note(self, text: str) -> None:
        """A sentence below the picture."""
        self.shown.append(Text(text))

    def session(self, text: Any) -> None:
        """Printed output."""
        self.shown.append(Text(str(text), printed=True))

    def table(self, columns: Sequence[str], rows: Any, caption: str = "", digits: int = 4) -> None:
        """Rows of words and numbers."""
        written = [[value if isinstance(value, str) else _number(value, digits) for value in row] for row in rows]
        self.shown.append(Grid(list(columns), written, caption))

    def show(self, axes: Any, alt: str) -> None:
        """A picture, by its axes or one of them; ``alt`` says in words what is seen."""
        self.shown.append(Picture(np.ravel(np.asarray(axes, dtype=object))[0].figure, alt))

    def movie(self, animate: Callable[..., Any], *given: Any, **options: Any) -> None:
        """The last picture in motion, by a function that takes a path after what is given, such as plots.animate."""

        def write(path: Path, style: str) -> None:
            animate(*given, path, seconds=4.0, style=style, **options)

        self.shown.append(Movie(write))

    def data(self, name: str) -> Rows:
        """Rows of a data set of the lecture, or a stand-in, of which the page then says that it is one."""
        rows = find_rows(name, self.folder)
        if rows.stand_in:
            self.stand_ins.append(rows.stand_in)
        return rows


Draw = Callable[[Page], None]


@dataclass(frozen=True)
class Item:
    """A figure, table, session or worked example of a lecture, by its id."""

    id: str
    title: str
    formula: str
    make: Draw

    @property
    def code(self) -> str:
        """The lines that made what is shown, as a program."""
        return lines_that_made(self.make)

    @property
    def all_code(self) -> str:
        """The lines that run, with those that compare numbers."""
        return body_of(self.make)

    def run(self, folder: Path | None = None) -> Page:
        """The page, with its pictures."""
        page = Page(folder)
        self.make(page)
        return page


class Items(list[Item]):
    """The items of a module, in the order of their definition."""

    def item(self, id: str, title: str, formula: str = "") -> Callable[[Draw], Draw]:  # noqa: A002 - what it is
        """Enter a function as the item of this id."""

        def enter(make: Draw) -> Draw:
            self.append(Item(id, title, formula, make))
            return make

        return enter


def _written(values: Any, tol: float) -> str:
    if values.dtype.kind == "b":
        values = np.where(values, "yes", "no")
    if values.dtype.kind in "OUS":
        return ", ".join(map(str, values.ravel())) if values.ndim else str(values)
    # A tolerance of 5e-4 is half a unit of the third decimal; others are for numbers that are not printed anywhere.
    printed = tol > 0 and abs(np.log10(tol / 5) - round(np.log10(tol / 5))) < 1e-6
    digits = round(-np.log10(2 * tol)) if printed else 4
    flat = [_number(value, max(digits, 0), fixed=tol > 0) for value in values.ravel()]
    shown = ", ".join(flat[:MOST])
    return shown if len(flat) <= MOST else f"{shown}, … ({len(flat)} numbers)"


def _number(value: Any, digits: int, *, fixed: bool = False) -> str:
    if isinstance(value, (int, np.integer)):
        return str(value)
    number = float(value)
    if not np.isfinite(number):
        return str(number)
    if fixed:
        return f"{number:.{digits}f}" if abs(number) >= 0.5 * 10.0**-digits else "0"
    if number and (abs(number) >= 1e6 or abs(number) < 10.0 ** -(digits + 1)):
        return f"{number:.{max(digits - 1, 1)}e}"
    return f"{number:.{max(digits, 1)}g}"
