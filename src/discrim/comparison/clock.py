"""The clock of a comparison: it shows how far the comparison is, and stops what takes much longer than planned."""

from __future__ import annotations

from time import monotonic

from discrim.engines.progress import Progress

# The clock stops after so many times the budget: slower machines give the same table.
PATIENCE = 2.0


class OutOfTimeError(Exception):
    """The clock has run out."""


class Clock:
    """``seconds`` are the budget, None without a limit. ``progress`` shows what is said by ``at``.

    ``stopped`` says who ended the comparison before all models were done.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds, self.begin = seconds, monotonic()
        self.progress: Progress | None = None
        self.model = self.stopped = ""

    @property
    def elapsed(self) -> float:
        return monotonic() - self.begin

    @property
    def over(self) -> bool:
        return self.seconds is not None and self.elapsed > PATIENCE * self.seconds

    @property
    def why_stopped(self) -> str:
        """The same, for models that were not done."""
        return f"the comparison was s{self.stopped.partition(':')[0][1:]}"

    def at(self, step: str = "") -> None:
        """A step begins; it is not begun where the time is over."""
        if self.over:
            raise OutOfTimeError
        if self.progress is not None:
            self.progress.title = f"comparing {self.model}{f', {step}' if step else ''}"[:42]
            self.progress.add(0)
