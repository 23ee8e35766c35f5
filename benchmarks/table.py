"""One line per job: on the screen while the run goes on, and in RESULTS.md at its end."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from discrim.kernels import BACKEND

RESULTS = Path(__file__).with_name("RESULTS.md")

COLUMNS = (
    "job",
    "discrim",
    "best peer",
    "ratio",
    "aim",
    "memory: discrim / peer",
    "floor",
    "x floor",
    "date, processor",
    "all peers at the same objective",
)

PREAMBLE = """\
# Benchmarks

Written by `make bench` (and the rows of Parquet scans by `make bench-scan`); every number is a measurement
of one run on one machine. *ratio* is the median of the best peer over the median of discrim, *aim* the least
ratio that is asked for. *memory* is the peak above the input, in MiB. *floor* is the least work that any
method must do on the same data, and *x floor* how many times that discrim takes, with the most that is asked
for in brackets. How times and memory are taken is written at the top of `measure.py`.

Fits by iteration are compared at equal objectives (see `trial.py`): the last column names for every peer the
loosest tolerance that is exact enough, and in brackets with it by how much, relatively, its objective is above
that of discrim; at every penalty of a path.
"""

# The most, relatively, by which the objective of ours may be above a peer's.
NO_WORSE = 1e-9


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    ours_ms: float | None = None
    peer: str = ""
    peer_ms: float | None = None
    target: float | None = None
    ours_mib: float | None = None
    peer_mib: float | None = None
    memory_limit: float | None = None
    floor: str = ""
    floor_ms: float | None = None
    floor_limit: float | None = None
    note: str = ""
    passes: int | None = None
    most_passes: int | None = None
    trials: tuple[str, ...] = ()
    behind: float = 0.0

    @property
    def ratio(self) -> float | None:
        return self.peer_ms / self.ours_ms if self.ours_ms and self.peer_ms else None

    @property
    def times_floor(self) -> float | None:
        return self.ours_ms / self.floor_ms if self.ours_ms and self.floor_ms else None

    @property
    def short_of(self) -> list[str]:
        """The bounds this row does not keep, in words."""
        kept = [
            ("ratio", self.ratio is None or self.target is None or self.ratio >= self.target),
            ("floor", not (self.times_floor and self.floor_limit) or self.times_floor <= self.floor_limit),
            ("memory", not (self.ours_mib and self.memory_limit) or self.ours_mib <= self.memory_limit),
            ("passes", not (self.passes and self.most_passes) or self.passes <= self.most_passes),
            (f"objective by {self.behind:.0e}", self.behind <= NO_WORSE),
        ]
        return [name for name, good in kept if not good]

    def cells(self) -> list[str]:
        passes = "" if self.passes is None else f"{self.passes} full passes, at most {self.most_passes}"
        notes = "; ".join(filter(None, (self.note, passes)))
        title = self.title + (f" ({notes})" if notes else "")
        if self.ours_ms is None:
            return [title, "missing", *[""] * 6]
        aim = "" if self.target is None else f"{self.target:g}x"
        memory = " / ".join(_mib(m) for m in (self.ours_mib, self.peer_mib) if m is not None)
        if self.memory_limit is not None:
            memory += f" (at most {self.memory_limit:g})"
        floor = "" if self.floor_ms is None else f"{self.floor} {told_ms(self.floor_ms)}"
        times = "" if self.times_floor is None else f"{self.times_floor:.2f}"
        if self.floor_limit is not None:
            times += f" (at most {self.floor_limit:g})"
        peer = "" if self.peer_ms is None else f"{self.peer} {told_ms(self.peer_ms)}"
        ratio = "" if self.ratio is None else f"**{_three_digits(self.ratio)}x**"
        if self.short_of:
            aim += f" **short of: {', '.join(self.short_of)}**"
        return [title, told_ms(self.ours_ms), peer, ratio, aim.strip(), memory, floor, times]


def line_for_screen(row: Row) -> str:
    """The row in three short lines and one for each peer on trial, readable while the run goes on."""
    title, ours, peer, ratio, _, memory, floor, times = row.cells()
    first = f"{row.name:<16} {title}"
    if row.ours_ms is None:
        return f"{first}\n{'':<16} {ours}"
    second = f"discrim {ours}" + (f"   {peer}   {ratio.strip('*')}" if peer else "")
    third = [f"memory {memory} MiB" if memory else "", f"floor {floor}: {times} times" if floor else ""]
    if row.target is not None:
        second += f" (aim {row.target:g}x)"
    if row.short_of:
        third.append("SHORT OF " + ", ".join(row.short_of))
    lines = [second, "   ".join(filter(None, third)), *row.trials]
    return "\n".join([first, *(f"{'':<16} {line}" for line in lines if line)])


def update(rows: Iterable[Row], order: list[str], path: Path = RESULTS) -> None:
    """Write the rows just measured and keep the lines of the jobs that did not run."""
    today = f"{datetime.now(UTC).date().isoformat()}, {processor()}"
    lines = _lines_of(path)
    for row in rows:
        title, *rest = row.cells()
        lines[row.name] = _markdown([f"`{row.name}` {title}", *rest, today, "; ".join(row.trials)])
    table = [_markdown(COLUMNS), _markdown(["---"] * len(COLUMNS))]
    table += [lines[name] for name in order if name in lines]
    _, sign, sections = (path.read_text() if path.exists() else "").partition("\n## ")
    path.write_text("\n".join([PREAMBLE, machine(), "", *table, ""]) + sign + sections)


def _lines_of(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    found = (re.match(r"\| `([\w-]+)`", line) for line in path.read_text().splitlines())
    return {match.group(1): match.string for match in found if match}


def machine() -> str:
    """Cores, processor and versions of the run."""
    names = ("numpy", "scipy", "scikit-learn", "pyarrow", "statsmodels", "glum", "skglm", "celer")
    packages = ", ".join(filter(None, map(_with_version, names)))
    return (
        f"Last run on {os.cpu_count()} cores ({processor()}), Python {platform.python_version()}, {packages}; "
        f"discrim with the {BACKEND} kernels."
    )


def processor() -> str:
    """The processor's name, as the system reports it."""
    info = Path("/proc/cpuinfo")
    match = re.search(r"model name\s*: (.+)", info.read_text()) if info.exists() else None
    return match.group(1).strip() if match else platform.processor() or platform.machine()


def _with_version(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return ""


def _markdown(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def told_ms(value: float) -> str:
    """Milliseconds in words."""
    return f"{value / 1e3:.3g} s" if value >= 1e4 else f"{_three_digits(value)} ms"


def _mib(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"
