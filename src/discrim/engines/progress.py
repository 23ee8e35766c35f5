"""A line on the terminal that shows how far a long pass is; nothing where there is no terminal."""

from __future__ import annotations

import sys
import threading
from time import monotonic
from types import TracebackType
from typing import ClassVar, Self

# Seconds before a pass counts as long, and between two drawings.
PATIENCE = 1.0
PAUSE = 0.2
BAR, SHORT, LEAST_BAR, WIDTH = 24, 10, 4, 79


class Progress:
    """Rows (or another ``unit``) done so far, of ``total`` where that is known. The line is gone at the end.

    ``left`` are the seconds that the rest may take, where that is known. A step may take long by itself: with ``clock``
    the line is drawn again while nothing is added, with the seconds so far, and those of passes inside are not shown.
    """

    clock: ClassVar[Progress | None] = None

    def __init__(self, title: str, total: int | None, unit: str = "rows", *, clock: bool = False) -> None:
        self.title, self.total, self.unit, self.done = title, total, unit, 0
        self.left: float | None = None
        self._shown, self._ticks = False, clock
        self._begin = monotonic()
        self._next = self._begin + PATIENCE
        self._ticker: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._ticks and type(self).clock is None and sys.stderr.isatty():
            type(self).clock, self._over = self, threading.Event()
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticker is not None:
            self._over.set()
            self._ticker.join()
            type(self).clock = None
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def add(self, rows: int) -> None:
        """So many more rows are done."""
        self.done += rows
        if monotonic() >= self._next and type(self).clock in (None, self) and sys.stderr.isatty():
            self._draw()

    def line(self) -> str:
        """What is shown: at most 79 characters."""
        seconds = f", {monotonic() - self._begin:.0f} s" if self._ticker is not None else ""
        left = self._expected()
        if left is not None and left >= 1.0:
            seconds += f", about {left:.0f} s left"
        if not self.total:
            return f"{self.title}: {self.done:,} {self.unit}{seconds}"[:WIDTH]
        share = min(self.done / self.total, 1.0)
        done = f"{share:4.0%} of {self.total:,} {self.unit}{seconds}"
        if self._ticks:
            done = f"{self.done:,} of {self.total:,} {self.unit} done{seconds}"
        # What is left of the line is the bar's, if it is worth drawing; the title is cut before the seconds are.
        size = min(BAR if left is None else SHORT, WIDTH - len(self.title) - len(done) - 5)
        filled = round(size * share)
        bar = f"[{'#' * filled}{'.' * (size - filled)}] " if size >= LEAST_BAR else ""
        return f"{self.title[: WIDTH - len(done) - 2]}: {bar}{done}"

    def _expected(self) -> float | None:
        """Seconds that the rest may take: as reported, or in proportion, for passes whose rows take alike."""
        if self.left is not None or not self.total or not 0 < self.done < self.total or self._ticker is not None:
            return self.left
        spent = monotonic() - self._begin
        return spent * (self.total - self.done) / self.done if spent > PATIENCE else None

    def _draw(self) -> None:
        self._next, self._shown = monotonic() + PAUSE, True
        sys.stderr.write(f"\r\x1b[K{self.line()}")
        sys.stderr.flush()

    def _tick(self) -> None:
        while not self._over.wait(max(self._next - monotonic(), PAUSE)):
            self._draw()
