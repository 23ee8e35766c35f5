"""``python -m benchmarks growth``: how time and memory of a fit grow with rows, columns, classes and entries.

One size grows and the others stay. Every model runs in a process of its own for each such axis, on one thread. A point
is the least processor time of some fits, and the rise of the resident memory above the input in one more fit. The
slope on logarithmic axes is fitted to the largest points, where the fixed cost of a call no longer counts, and printed
beside the power that theory allows. A slope well above it is a surprise, and a fault.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.job import ours
from benchmarks.measure import rise_of_high_water_mark, run_python
from benchmarks.table import machine

DOCS = Path(__file__).resolve().parent.parent / "docs"
# A longer fit, in seconds, is the last point of its axis.
LONGEST = 5.0
# Shorter fits, in seconds, and smaller rises, in MiB, say more of the call than of its growth.
COUNTS, COUNTS_MIB = 2e-3, 4.0
# Least slope above the theory that is a surprise: caches, threads and blocks bend the lines a little.
MARGIN = 0.3


@dataclass(frozen=True)
class Axis:
    """What grows, through which sizes, and the shape (rows, columns, classes, entries of a sparse row) at each."""

    name: str
    sizes: tuple[int, ...]
    shape: Callable[[int], tuple[int, int, int, int]]


AXES = {
    axis.name: axis
    for axis in (
        Axis("rows", (10**3, 10**4, 10**5, 10**6, 10**7), lambda n: (n, 20, 3, 0)),
        Axis("columns", (4, 16, 64, 256, 1000, 2000, 5000), lambda p: (4_000, p, 3, 0)),
        Axis("classes", (2, 10, 50, 200, 1000, 2000), lambda k: (40_000, 20, k, 0)),
        Axis("entries", (10**5, 10**6, 10**7), lambda e: (e // 50, 20_000, 3, 50)),
    )
}


@dataclass(frozen=True)
class Subject:
    """A model, and the powers of time and memory that theory allows on each axis.

    Memory grows with the rows by the codes of their labels, four bytes each, and for most models by nothing else.

    The powers are those of the last points: with more columns than rows a discriminant works in the space of the rows,
    and its cost is linear in the columns. ``most`` is the largest size of an axis that makes sense for the model.
    """

    name: str
    time: dict[str, float]
    memory: dict[str, float]
    params: dict[str, Any]
    most: dict[str, int]


def _subject(
    name: str, powers: dict[str, tuple[float, float]], *, most: dict[str, int] | None = None, **params: Any
) -> Subject:
    return Subject(
        name,
        {axis: power for axis, (power, _) in powers.items()},
        {axis: power for axis, (_, power) in powers.items()},
        params,
        most or {},
    )


SUBJECTS = {
    subject.name: subject
    for subject in (
        _subject("LinearDiscriminantAnalysis", {"rows": (1, 1), "columns": (2, 2), "classes": (1, 1)}),
        _subject(
            "QuadraticDiscriminantAnalysis",
            {"rows": (1, 1), "columns": (3, 2), "classes": (1, 1)},
            most={"columns": 1000, "classes": 1000},
        ),
        _subject("GaussianNB", {"rows": (1, 1), "columns": (1, 1), "classes": (1, 1)}),
        _subject("NearestCentroid", {"rows": (1, 1), "columns": (1, 1), "classes": (1, 1)}),
        _subject("RidgeClassifier", {"rows": (1, 1), "columns": (2, 2), "classes": (1, 1), "entries": (1, 1)}),
        _subject(
            "LogisticRegression",
            {"rows": (1, 1), "columns": (2, 2), "classes": (1, 1), "entries": (1, 1)},
            most={"classes": 200},
        ),
        _subject(
            "SGDClassifier",
            {"rows": (1, 1), "columns": (1, 1), "classes": (1, 1), "entries": (1, 1)},
            max_iter=5,
            tol=None,
        ),
        _subject("MultinomialNB", {"rows": (1, 1), "columns": (1, 1), "classes": (1, 1), "entries": (1, 1)}),
        _subject("BernoulliNB", {"rows": (1, 1), "columns": (1, 1), "classes": (1, 1), "entries": (1, 1)}),
    )
}


@dataclass(frozen=True)
class Point:
    size: int
    seconds: float
    mib: float


@dataclass(frozen=True)
class Line:
    subject: str
    axis: str
    points: tuple[Point, ...]

    def slope(self, what: str) -> float | None:
        """Of the last three points that are large enough; None with fewer than two."""
        least = COUNTS if what == "seconds" else COUNTS_MIB
        used = [(point.size, getattr(point, what)) for point in self.points if getattr(point, what) >= least][-3:]
        if len(used) < 2:
            return None
        size, value = np.log(np.array(used, float)).T
        return float(np.polyfit(size, value, 1)[0])


def data(subject: str, axis: Axis, size: int) -> tuple[Any, NDArray[Any]]:
    n, p, k, entries = axis.shape(size)
    rng = np.random.default_rng(size)
    y = np.arange(n) % k
    if entries:
        indices = (rng.random((n, entries)) ** 2 * (p - k)).astype(np.int32) + (y % k).astype(np.int32)[:, None]
        indptr = np.arange(0, n * entries + 1, entries)
        X = sparse.csr_matrix((np.ones(n * entries), indices.ravel(), indptr), shape=(n, p))
        X.sum_duplicates()
        return X, y
    # Rows that come again and again cost a fit as much as others, and are made in a fraction of the time.
    X = np.resize(rng.standard_normal((min(n, 100_003), p)), (n, p))
    X[:, 0] += y % 7
    X[:, 1] += y // 7 % 7
    if subject.endswith("NB") and subject != "GaussianNB":
        np.abs(X, out=X)
        np.floor(X, out=X)
    return X, y


def measure(subject: Subject, axis: Axis, most: int) -> Iterator[Point]:
    """One point after the other, until one takes too long."""
    warnings.simplefilter("ignore")
    model = ours(subject.name)
    for size in axis.sizes:
        if size > min(most, subject.most.get(axis.name, size)):
            return
        X, y = data(subject.name, axis, size)

        def fit(X: Any = X, y: Any = y) -> Any:
            return model(**subject.params).fit(X, y)

        times: list[float] = []
        # The first is often slower than the others, and the only one where it is long.
        while len(times) < 2 or (sum(times) < 0.5 and len(times) < 30):
            start = time.process_time()
            fit()
            times.append(time.process_time() - start)
            if times[-1] > LONGEST / 5:
                break
        yield Point(size, min(times), rise_of_high_water_mark(fit))
        if times[-1] > LONGEST:
            return


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--axis", choices=sorted(AXES), help="only this axis")
    parser.add_argument("--most", type=int, default=10**9, help="largest size of any axis")
    parser.add_argument("--child", nargs=2, metavar=("MODEL", "AXIS"), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.child:
        name, axis = args.child
        print(json.dumps([asdict(point) for point in measure(SUBJECTS[name], AXES[axis], args.most)]))
        return 0
    lines = []
    # Powers do not depend on how many threads there are, but other work on the same processors spoils times of several.
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "DISCRIM_NUM_THREADS"), "1"))
    for subject in SUBJECTS.values():
        for axis in subject.time:
            if args.only not in subject.name or args.axis not in (None, axis):
                continue
            answer = run_python("benchmarks", "growth", "--most", str(args.most), "--child", subject.name, axis)
            lines.append(Line(subject.name, axis, tuple(Point(**point) for point in json.loads(answer))))
            print(_row(lines[-1]), flush=True)
    if not (args.only or args.axis or args.most < 10**9):
        draw(lines, DOCS / "growth.png")
        (DOCS / "growth.md").write_text(_page(lines))
    return 0


def _row(line: Line) -> str:
    subject, last = SUBJECTS[line.subject], line.points[-1]
    cells = [line.subject, line.axis, f"{last.size:,}", f"{last.seconds:.3g} s", f"{last.mib:,.0f} MiB"]
    for what, theory in (("seconds", subject.time[line.axis]), ("mib", subject.memory[line.axis])):
        slope = line.slope(what)
        found = "too small to measure" if slope is None else f"{slope:.2f}"
        surprise = " **surprise**" if slope is not None and slope > theory + MARGIN else ""
        cells.append(f"{found} (at most {theory:g}){surprise}")
    return "| " + " | ".join(cells) + " |"


def _page(lines: list[Line]) -> str:
    columns = ["model", "what grows", "largest", "time", "memory above the input", "power of time", "power of memory"]
    return "\n".join(
        [
            "# How fits grow\n",
            "Written by `python -m benchmarks growth`. One size grows and the others stay: rows, with 20 columns and 3",
            "classes; columns, with 4,000 rows and 3 classes; classes, with 40,000 rows and 20 columns;",
            "entries of a sparse matrix, with 50 in a row, 20,000 columns and 3 classes. Times are processor times of",
            "one thread. The powers are slopes on",
            "logarithmic axes through the largest three points; in brackets what theory allows. Labels become codes of",
            "four bytes: 40 MB for ten million rows, whatever the model.\n",
            f"{machine()}\n",
            "![Time and memory of fits on logarithmic axes](growth.png)\n",
            "| " + " | ".join(columns) + " |",
            "|" + "---|" * len(columns),
            *(_row(line) for line in lines),
            "",
        ]
    )


def draw(lines: list[Line], path: Path) -> None:
    """Time above, memory below, one column of panels for each axis; colour and marker name the model."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    style = dict(zip(SUBJECTS, zip(mpl.color_sequences["petroff10"], "osD^vP*X<", strict=False), strict=False))
    figure, panels = plt.subplots(2, len(AXES), figsize=(13, 6.6), sharex="col", sharey="row", layout="constrained")
    for line in lines:
        column = list(AXES).index(line.axis)
        colour, marker = style[line.subject]
        for panel, what in zip(panels[:, column], ("seconds", "mib"), strict=True):
            size = [point.size for point in line.points]
            value = [max(getattr(point, what), 1e-1 if what == "mib" else 0.0) for point in line.points]
            panel.plot(size, value, color=colour, marker=marker, markersize=4, linewidth=1.2, label=line.subject)
    for column, axis in enumerate(AXES):
        for panel in panels[:, column]:
            panel.set(xscale="log", yscale="log")
            panel.grid(visible=True, linewidth=0.3)
            panel.spines[["top", "right"]].set_visible(False)
        panels[1, column].set_xlabel(axis)
    panels[0, 0].set_ylabel("seconds of a fit, one thread")
    panels[1, 0].set_ylabel("MiB above the input")
    handles = {
        text: handle for panel in panels[0] for handle, text in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, dpi=90)
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main())
