"""The columns of a table: what each is taken for, what was done with it, and why."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from discrim.comparison.prepared import column_names
from discrim.errors import plural
from discrim.inference.render import WIDTH, html_page, short
from discrim.sources.reading import RARE

if TYPE_CHECKING:
    import pandas as pd

    from discrim.comparison.compared_rows import ComparedRows

# Columns that are printed one by one, if nothing is to be said of them.
MOST_PLAIN = 20
NAME_WIDTH, KIND_WIDTH = 22, 24
OTHERWISE = (
    "types={'x': 'category'} or 'number' and without=['x'] decide otherwise, as do --types x=category and --without x."
)


class ColumnRead(NamedTuple):
    """A column of the table: what it is ``taken_for``, what was ``done`` with it, and ``why``, '' if that is plain."""

    name: str
    taken_for: str
    done: str = "used"
    why: str = ""

    @property
    def plain(self) -> bool:
        """Is it a number that is used as it is?"""
        return self.taken_for.startswith("number") and self[2:] == ("used", "")


@dataclass(frozen=True)
class ColumnTable(Sequence[ColumnRead]):
    """The columns as they were given; prints as a table, and ``to_frame()`` gives it as one of pandas.

    >>> print(ColumnTable((ColumnRead("AGE", "number"), ColumnRead("day", "date", "left out", "It holds dates."))))
    column  taken for  what was done
    AGE     number     used
    day     date       left out
      It holds dates.
    types={'x': 'category'} or 'number' and without=['x'] decide otherwise, as do
    --types x=category and --without x.
    """

    columns: tuple[ColumnRead, ...] = ()

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, at: Any) -> Any:
        return self.columns[at]

    def __iter__(self) -> Iterator[ColumnRead]:
        return iter(self.columns)

    @property
    def shown(self) -> list[ColumnRead]:
        """Those that are listed: not many numbers that are used as they are."""
        plain = sum(column.plain for column in self)
        return [column for column in self if not column.plain or plain <= MOST_PLAIN]

    @property
    def remainder(self) -> str:
        """What is said of those that are not listed."""
        further = len(self) - len(self.shown)
        return f"{further:,} further columns are numbers and are used as they are." if further else ""

    def __str__(self) -> str:
        cells = [("column", "taken for", "what was done")]
        cells += [(short(c.name, NAME_WIDTH), short(c.taken_for, KIND_WIDTH), c.done) for c in self.shown]
        first, second = (max(len(row[j]) for row in cells) for j in range(2))
        lines = []
        for row, why in zip(cells, ["", *(c.why for c in self.shown)], strict=True):
            stub = f"{row[0]:<{first}}  {row[1]:<{second}}  "
            lines += textwrap.wrap(f"{stub}{row[2]}", WIDTH, subsequent_indent=" " * len(stub), drop_whitespace=True)
            lines += textwrap.wrap(why, WIDTH, initial_indent="  ", subsequent_indent="  ")
        lines += textwrap.wrap(" ".join(filter(None, [self.remainder, OTHERWISE])), WIDTH)
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def to_html(self) -> str:
        """The table as a piece of a page."""
        rows = "".join(
            f"<tr><th>{html.escape(c.name)}</th>" + "".join(f"<td>{html.escape(part)}</td>" for part in c[1:]) + "</tr>"
            for c in self.shown
        )
        head = "<tr><th>column</th><th>taken for</th><th>what was done</th><th>why</th></tr>"
        return (
            f"<table class=columns><thead>{head}</thead><tbody>{rows}</tbody></table>"
            f"<p class=key>{html.escape(' '.join(filter(None, [self.remainder, OTHERWISE])))}</p>"
        )

    def _repr_html_(self) -> str:
        return html_page([self.to_html()])

    def to_frame(self) -> pd.DataFrame:
        """All columns, with their names as index."""
        import pandas as pd

        frame = pd.DataFrame(list(self.columns), columns=list(ColumnRead._fields))
        return frame.set_index("name")


def column_table_of(rows: ComparedRows) -> ColumnTable:
    """All columns that were given, in their order."""
    if not rows.kinds or rows.words is not None:
        return ColumnTable()
    return ColumnTable(tuple(_read(name, rows) for name in column_names(rows.table)))


def _read(name: str, rows: ComparedRows) -> ColumnRead:
    if name in rows.left_out:
        kind, sentence = rows.left_out[name]
        return ColumnRead(name, kind, "left out", _reason(name, sentence).replace(" and is left out", ""))
    kind = rows.kinds.get(name, "number")
    done = "used"
    if name in rows.reading.days:
        kind, done = "date", "days since 1970"
    elif kind.startswith("category"):
        count = rows.design.names_out.count(name) or sum(
            column.startswith(f"{name}[") for column in rows.design.names_out
        )
        done = plural(count, "column") + " of 0 and 1"
    if RARE in rows.reading.levels.get(name, ()):
        done += ", rare levels together"
    gaps = rows.missing.get(name, 0)
    if gaps:
        marked = " and marked" if f"{name} missing" in rows.marked.flag_names else ""
        done += f"; {plural(gaps, 'gap')} filled in{marked}"
    return ColumnRead(name, kind, done, _reason(name, rows.why.get(name, "")))


def _reason(name: str, sentence: str) -> str:
    """The sentence without the name, which stands beside it; nothing of a sentence on several columns."""
    reason = sentence.removeprefix(f"Column '{name}'").lstrip(": ")
    return "" if reason.startswith("Columns ") else f"{reason[:1].upper()}{reason[1:]}"
