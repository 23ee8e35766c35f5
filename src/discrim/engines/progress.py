"""A line on the terminal that tells how far a long pass is; nothing where there is no terminal."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import Self

# Seconds before a pass counts as long, and between two drawings.
PATIENCE = 1.0
PAUSE = 0.2
BAR = 24


class Progress:
    """Rows (or another ``unit``) done so far, of ``total`` where that is known. The line is gone at the end."""

    def __init__(self, title: str, total: int | None, unit: str = "rows") -> None:
        self.title, self.total, self.unit, self.done = title, total, unit, 0
        self._shown = False
        self._next = monotonic() + PATIENCE

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def add(self, rows: int) -> None:
        """So many more rows are done."""
        self.done += rows
        if monotonic() < self._next or not sys.stderr.isatty():
            return
        self._next, self._shown = monotonic() + PAUSE, True
        sys.stderr.write(f"\r\x1b[K{self.line()}")
        sys.stderr.flush()

    def line(self) -> str:
        """What is shown: at most 79 characters."""
        if not self.total:
            return f"{self.title}: {self.done:,} {self.unit}"
        share = min(self.done / self.total, 1.0)
        filled = round(BAR * share)
        return f"{self.title}: [{'#' * filled}{'.' * (BAR - filled)}] {share:4.0%} of {self.total:,} {self.unit}"
