"""Run the jobs: ``python -m benchmarks [--only NAME] [--quick] [--all]``."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

from benchmarks.job import Job, MissingError, floor_turn
from benchmarks.jobs import JOBS
from benchmarks.measure import full_passes, interleave, peak_extra_mib, rise_of_high_water_mark
from benchmarks.processes import SCANS, import_row, scan_row
from benchmarks.table import RESULTS, Row, line_for_screen, machine, update
from benchmarks.trial import Trial, try_peers

ORDER = [*(job.name for job in JOBS), *SCANS, "import"]


def main(argv: list[str] | None = None) -> int:
    args = _parser().parse_args(argv)
    # The peers warn about collinear or singular classes on some jobs; their answers are not judged here.
    warnings.filterwarnings("ignore", module="sklearn")
    if args.memory_of:
        print(memory_of(*args.memory_of))
        return 0
    plan = _plan(args)
    if not plan:
        print(f"No job is called like {args.only!r}. There are: {', '.join(ORDER)}.")
        return 2
    print(machine(), end="\n\n")
    rows = []
    for measure in plan:
        rows.append(measure())
        print(line_for_screen(rows[-1]), end="\n\n", flush=True)
    if not args.quick:
        update([row for row in rows if row.ours_ms is not None], ORDER)
        print(f"Written to benchmarks/{RESULTS.name}.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Ratios against peers.")
    parser.add_argument("--only", metavar="NAME", help="jobs whose name contains NAME (lda, predict, scan, ...)")
    parser.add_argument("--quick", action="store_true", help="fewer turns, no memory, RESULTS.md stays as it is")
    parser.add_argument("--all", action="store_true", help="also the Parquet scans (write 3 GB to a temporary folder)")
    parser.add_argument("--memory-of", nargs="+", help=argparse.SUPPRESS)
    return parser


def _plan(args: argparse.Namespace) -> list[Callable[[], Row]]:
    wanted = [name for name in ORDER if args.only in name] if args.only else list(ORDER)
    if not args.only and not args.all:
        wanted = [name for name in wanted if name not in SCANS]
    plan: list[Callable[[], Row]] = [
        (lambda job=job: measure(job, quick=args.quick)) for job in JOBS if job.name in wanted
    ]
    plan += [(lambda scan=scan: scan_row(scan, quick=args.quick)) for name, scan in SCANS.items() if name in wanted]
    if "import" in wanted:
        plan.append(lambda: import_row(quick=args.quick))
    return plan


def measure(job: Job, *, quick: bool) -> Row:
    """Time ours, the peers and the floor in turns, then the memory of ours and of the best peer."""
    data = job.make(False)
    try:
        turn = job.ours.prepare(data)
    except MissingError:
        return Row(job.name, job.title)
    trials = try_peers(job, data) if job.objective else [Trial(peer) for peer in job.peers]
    peers = [trial.peer for trial in trials if not trial.word]
    turns = {job.ours.name: turn, **{peer.name: peer.prepare(data) for peer in peers}}
    if job.floor:
        turns[job.floor] = floor_turn(job.floor, data)
    once = frozenset(c.name for c in (job.ours, *peers) if c.once)
    ms = interleave(turns, once=once, seconds=1.5 if quick else 8.0)
    best = min(peers, key=lambda c: ms[c.name] * c.scale, default=None)
    memory = job.memory and not quick
    return Row(
        job.name,
        job.title,
        ours_ms=ms[job.ours.name] * job.ours.scale,
        peer=best.name if best else "",
        peer_ms=ms[best.name] * best.scale if best else None,
        target=job.target,
        ours_mib=peak_extra_mib(job.name, job.ours) if memory else None,
        peer_mib=peak_extra_mib(job.name, best) if memory and best else None,
        floor=job.floor or "",
        floor_ms=ms[job.floor] if job.floor else None,
        floor_limit=job.floor_limit,
        note=job.note,
        passes=full_passes(turn, len(data.y)) if job.most_passes else None,
        most_passes=job.most_passes,
        trials=tuple(_told(trial, ms) for trial in trials) if job.objective else (),
        behind=max((trial.lead for trial in trials if not trial.word), default=0.0),
    )


def _told(trial: Trial, ms: dict[str, float]) -> str:
    name = trial.peer.name
    return trial.shown(ms[name] * trial.peer.scale if name in ms else None)


def memory_of(job_name: str, contestant_name: str, tol: str | None = None) -> float:
    """Peak MiB of one contestant above its input; meant for a fresh process."""
    job = next(job for job in JOBS if job.name == job_name)
    contestant = job.contestant(contestant_name).at(None if tol is None else float(tol))
    contestant.prepare(job.make(True))()
    return rise_of_high_water_mark(contestant.prepare(job.make(False)))


if __name__ == "__main__":
    main()
