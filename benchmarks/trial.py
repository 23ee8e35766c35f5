"""Before the clock runs: is every peer as exact as ours?

Each peer solves the job with its loosest tolerance, then with tighter ones, until its objective is at most
ENOUGH (relatively, at every penalty of a path) above that of ours. With that tolerance it is timed. One that
does not get there in ALL seconds, or one of whose fits takes longer than LIMIT, is left out with the reason.
"""

from __future__ import annotations

import contextlib
import signal
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.job import Contestant, Data, Job, MissingPeerError, Timed, Turn
from benchmarks.table import told_ms

Floats = NDArray[np.float64]

ENOUGH = 1e-6
# Seconds of a single fit, and of all that a peer tries.
LIMIT, ALL = 20.0, 40.0
# A peer that takes longer than this is timed once; so is one that takes some time, and so many times the best's.
LONG, SOME, TIMES = 20.0, 2.0, 5.0


class TooSlowError(Exception):
    """A fit has taken longer than LIMIT."""


@dataclass(frozen=True)
class Trial:
    """A peer as it will be timed, or with a ``word`` why it will not be.

    ``excess`` is the most by which its objective is above ours, ``lead`` the most by which it is below.
    """

    peer: Contestant
    seconds: float = 0.0
    excess: float | None = None
    lead: float = 0.0
    word: str = ""

    def shown(self, ms: float | None) -> str:
        """Name, time, tolerance and excess."""
        facts = [f"tol {tol:g}" for tol in self.peer.tols if self.excess is not None]
        facts += [] if self.excess is None else [f"{self.excess:+.0e}"]
        name = self.peer.name + (f" ({', '.join(facts)})" if facts else "")
        return f"{name}: left out, {self.word}" if self.word or ms is None else f"{name} {told_ms(ms)}"


def try_peers(job: Job, data: Data) -> list[Trial]:
    """Every peer with the tolerance that it needs."""
    ours = _value(job, data, job.ours, job.ours.prepare(data)())
    trials = [_try_peer(job, data, peer, ours) for peer in job.peers]
    best = min((trial.seconds * trial.peer.scale for trial in trials if not trial.word), default=0.0)
    return [replace(trial, peer=replace(trial.peer, once=_once(trial, best))) for trial in trials]


def _once(trial: Trial, best: float) -> bool:
    slow = trial.seconds > SOME and trial.seconds * trial.peer.scale > TIMES * best
    return trial.peer.once or slow or trial.seconds > LONG


def _try_peer(job: Job, data: Data, peer: Contestant, ours: Floats) -> Trial:
    if peer.problem is not None:
        less = peer.problem(data)
        ours = _value(job, less, job.ours, job.ours.prepare(less)())
    spent, trial = 0.0, Trial(peer, word="nothing tried")
    for tol in peer.tols or (None,):
        trial = _one_fit(job, data, peer.at(tol), ours)
        spent += trial.seconds
        if trial.word == "" or trial.excess is None or spent > ALL:
            break
    return trial


def _one_fit(job: Job, data: Data, peer: Contestant, ours: Floats) -> Trial:
    try:
        turn = peer.prepare(data)
        answer, seconds = _run(turn)
    except (MissingPeerError, TooSlowError) as error:
        return Trial(peer, word=str(error))
    except ImportError as error:
        return Trial(peer, word=f"{error.name} is not installed")
    except SystemError as error:
        if (slow := _alarm_behind(error)) is None:
            raise
        return Trial(peer, word=str(slow))
    value = _value(job, data if peer.problem is None else peer.problem(data), peer, answer)
    excess = (value - ours) / np.abs(ours)
    worst = float(excess.max())
    word = "" if worst <= ENOUGH else f"not within {ENOUGH:g}"
    return Trial(peer, seconds, worst, float(max(-excess.min(), 0.0)), word)


def _run(turn: Turn) -> tuple[Any, float]:
    start = time.perf_counter()
    with _limited(LIMIT), warnings.catch_warnings():
        # That a solver has not converged is seen in its objective.
        warnings.simplefilter("ignore")
        answer = turn()
    if isinstance(answer, Timed):
        return answer.answer, answer.seconds
    return answer, time.perf_counter() - start


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """An error in the main thread after so many seconds, as soon as Python gets to run there."""

    def stop(*_: object) -> None:
        raise TooSlowError(f"more than {seconds:g} s a fit")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _alarm_behind(error: BaseException | None) -> TooSlowError | None:
    """The alarm, where it rang in compiled code that makes an error of its own of it."""
    while error is not None and not isinstance(error, TooSlowError):
        error = error.__cause__
    return error


def _value(job: Job, data: Data, contestant: Contestant, answer: Any) -> Floats:
    assert job.objective is not None
    assert contestant.coefficients is not None
    return job.objective(data, contestant.coefficients(answer))
