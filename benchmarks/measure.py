"""How a job is measured: interleaved times, and peak memory in a process of its own.

Time. The contestants take turns (ours, peer, floor, ours, ...) in one process on the same arrays, so that
a slow second of the machine falls on all of them; each gets one turn that does not count, then the median
of the rest is taken.

Memory. A fresh process makes the data, runs the contestant once on a small problem (imports and the work
space of BLAS are then paid for), resets the kernel's high-water mark of its resident memory, runs the real
problem once and reports how far the mark rose above what was resident before. The input is therefore not
counted, the answer is, and so is any copy of the input.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from benchmarks.job import Contestant, Timed

MIB = 2.0**20


def interleave(
    turns: Mapping[str, Callable[[], object]], *, once: frozenset[str], seconds: float, rounds: int = 201
) -> dict[str, float]:
    """Median milliseconds of each turn; those in ``once`` run a single time, without a warm-up.

    Rounds go on until ``seconds`` are spent, but at least three and at most ``rounds``.
    """
    times: dict[str, list[float]] = {name: [] for name in turns}
    for name in turns:
        if name in once:
            times[name].append(_time(turns[name]))
        else:
            turns[name]()
    start = time.perf_counter()
    for done in range(rounds):
        if done >= 3 and time.perf_counter() - start > seconds:
            break
        for name in turns:
            if name not in once:
                times[name].append(_time(turns[name]))
    return {name: 1e3 * median(values) for name, values in times.items()}


def _time(turn: Callable[[], object]) -> float:
    start = time.perf_counter()
    answer = turn()
    spent = time.perf_counter() - start
    return answer.seconds if isinstance(answer, Timed) else spent


def peak_extra_mib(job: str, contestant: Contestant) -> float | None:
    """Peak memory of one contestant above its input, in MiB, measured in a fresh process."""
    if contestant.elsewhere:
        return None
    tol = [repr(contestant.tols[0])] if contestant.tols else []
    return float(run_python("benchmarks.run", "--memory-of", job, contestant.name, *tol))


def full_passes(turn: Callable[[], object], n: int = -1) -> int:
    """How often ``turn`` makes discrim read a whole scan, or all of ``n`` rows that lie in memory."""
    from discrim.engines import threads
    from discrim.sources import Scan

    reduce_whole, pieces, found = threads._reduce_whole, Scan.pieces, [0]

    def counted_whole(block: Any, *args: Any) -> Any:
        found[0] += len(block) == n
        return reduce_whole(block, *args)

    def counted_pieces(scan: Scan) -> Any:
        found[0] += 1
        return pieces(scan)

    with patch.object(threads, "_reduce_whole", counted_whole), patch.object(Scan, "pieces", counted_pieces):
        turn()
    return found[0]


def run_python(module: str, *args: str) -> str:
    """The last line that ``python -m module args`` prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *args],
        cwd=Path(__file__).resolve().parent.parent,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip().splitlines()[-1]


def rise_of_high_water_mark(turn: Callable[[], object]) -> float:
    """Run ``turn`` and return by how many MiB the resident memory rose at its highest."""
    gc.collect()
    _trim_heap()
    before = _reset_high_water_mark()
    answer = turn()
    rise = _high_water_mark() - before
    del answer
    return max(rise, 0.0) / MIB


def high_water_mib() -> float:
    """The most memory this process ever had resident, in MiB."""
    return _high_water_mark() / MIB


def _trim_heap() -> None:
    """Give freed memory back to the system, or the measured call would reuse it unseen."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _reset_high_water_mark() -> float:
    """Bytes resident now; the mark starts again from here where the system can do that.

    Elsewhere the old mark stands, and a rise below it is not seen: the answer is then a lower bound.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _high_water_mark()


def _high_water_mark() -> float:
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    if found:
        return float(found.group(1)) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) if sys.platform == "darwin" else float(peak) * 1024
