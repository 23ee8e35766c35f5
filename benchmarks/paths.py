"""``python -m benchmarks paths``: the ways to the same answer, timed on a grid of shapes.

A family offers the ways that it chooses from. The shortest processor time of each is recorded in ``paths.json``,
where a test compares what the family would choose with the fastest.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.job import ours
from benchmarks.sweep import Case, make

RECORDED = Path(__file__).with_name("paths.json")


@dataclass(frozen=True)
class Timing:
    family: str
    shape: dict[str, Any]  # rows, columns, classes, values that are stored
    way: str
    seconds: float


# Rows, columns, classes, entries of a sparse row.
LOGISTIC = """
200,8,2 1000,40,2 4000,100,2 100000,20,2 40000,100,2 3000,400,2 4000,1500,2 800,900,2 300,2000,2 60,4000,2
300,4,3 2000,20,5 5000,300,4 20000,40,10 300,2000,4 800,900,6 60,4000,5
2000,5000,2,60 2000,5000,6,60 3000,1500,2,40 20000,400,2,20 20000,30000,2,80 10000,20000,20,60
"""


def logistic_cases() -> list[Case]:
    return [
        Case("LogisticRegression", n, p, k, "csr" if entries else "array", entries=sum(entries))
        for n, p, k, *entries in (map(int, shape.split(",")) for shape in LOGISTIC.split())
    ]


def logistic_ways(X: Any, y: Any) -> dict[str, Callable[[], Any]]:
    """A fit by each way that the costs know, with the default parameters."""
    from discrim.engines import RowPasses
    from discrim.families.logistic.fit import Work
    from discrim.sources import open_rows

    rows, recipe = RowPasses(open_rows(X, y)), ours("LogisticRegression")().recipe()
    opened, problem, _ = recipe.opened(rows)

    def by(way: str) -> Callable[[], Any]:
        return lambda: replace(recipe, solver=way).fit(rows.shape, rows)

    return {way: by(way) for way in Work.of(opened, problem).costs()}


# About as many rows as columns, and more of either.
GAUSSIAN = """
200,8,2 1000,40,3 20000,20,3 4000,300,3 2000,1000,2 1100,900,2 900,1100,2 400,1000,4 300,2000,4 60,4000,3
"""


def gaussian_cases(model: str) -> list[Case]:
    return [Case(model, *map(int, shape.split(",")), container="array") for shape in GAUSSIAN.split()]


def gaussian_ways(model: str, X: Any, y: Any) -> dict[str, Callable[[], Any]]:
    """The default rule from the matrix of the columns, and from the rows themselves."""
    from discrim.engines import RowPasses
    from discrim.sources import open_rows
    from discrim.statistics import FactorsOf, MomentsOf

    rows, recipe = RowPasses(open_rows(X, y)), ours(model)().recipe()

    def by(kind: Any) -> Callable[[], Any]:
        return lambda: recipe.estimate(rows.reduce(kind(recipe.depth(), recipe.full_up_to)), rows.shape, rows)

    return {"moments": by(MomentsOf), "rows": by(FactorsOf)}


FAMILIES: dict[str, tuple[Callable[[], list[Case]], Callable[[Any, Any], dict[str, Callable[[], Any]]]]] = {
    "logistic": (logistic_cases, logistic_ways),
    **{
        name: (partial(gaussian_cases, model), partial(gaussian_ways, model))
        for name, model in (("discriminant", "LinearDiscriminantAnalysis"), ("ridge", "RidgeClassifier"))
    },
}


def measure(seconds: float, families: Sequence[str]) -> Iterator[Timing]:
    for family in families:
        cases, ways = FAMILIES[family]
        for case in cases():
            X, y = make(case)
            fits = ways(X, y)
            spent: dict[str, list[float]] = {way: [] for way in fits}
            rounds = 0
            # In turn, so that a busy minute hits all of them; a way that takes far too long is not repeated.
            while rounds < 2 or (rounds < 300 and sum(map(sum, spent.values())) < seconds):
                fastest = min((min(times) for times in spent.values() if times), default=np.inf)
                for way, fit in fits.items():
                    if not spent[way] or spent[way][0] <= 10 * fastest:
                        begin = time.process_time()
                        fit()
                        spent[way].append(time.process_time() - begin)
                rounds += 1
            shape = {"n": case.n, "p": case.p, "k": case.k, "sparse": bool(case.entries), "stored": int(X.size)}
            for way, times in spent.items():
                yield Timing(family, shape, way, float(f"{np.min(times):.3g}"))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks paths", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each shape")
    parser.add_argument("--only", choices=sorted(FAMILIES), help="measure this family; the others stay as recorded")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    families = [args.only] if args.only else list(FAMILIES)
    timings = [Timing(**timing) for timing in json.loads(RECORDED.read_text()) if timing["family"] not in families]
    for timing in measure(args.seconds, families):
        timings.append(timing)
        print(f"{timing.family:10} {timing.shape} {timing.way:16} {1e3 * timing.seconds:10.3f} ms", flush=True)
    lines = ",\n".join(json.dumps(asdict(timing)) for timing in timings)
    RECORDED.write_text(f"[\n{lines}\n]\n")
    return 0
