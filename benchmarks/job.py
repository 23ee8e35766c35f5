"""What a job is: data, ours, the peers, and the bounds that were promised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Turn = Callable[[], Any]


class MissingError(Exception):
    """This version of discrim does not have the name that the job needs."""


class MissingPeerError(Exception):
    """A peer is not installed here, in words."""


@dataclass(frozen=True)
class Data:
    X: Any
    y: NDArray[Any]


@dataclass(frozen=True)
class Timed:
    """What a turn returns whose work is done, and timed, by another process."""

    seconds: float
    answer: Any


@dataclass(frozen=True)
class Contestant:
    """A name and how to get ready: ``prepare(data)`` does what is not timed and returns what is.

    ``scale`` multiplies the time of a contestant that does only a part of the job, ``once`` is for one
    that takes so long that a single run must do, ``elsewhere`` for one whose memory is not ours to see.

    Where the job has an objective, ``coefficients`` reads them from what a turn returns, the intercept first;
    a peer with ``tols`` is prepared with ``tol=`` the loosest that is exact enough (see ``trial.py``); and
    ``problem`` turns the job's data into what this peer solves, if that is a little less.
    """

    name: str
    prepare: Callable[..., Turn]
    scale: float = 1.0
    once: bool = False
    elsewhere: bool = False
    coefficients: Callable[[Any], NDArray[Any]] | None = None
    tols: tuple[float, ...] = ()
    problem: Callable[[Any], Data] | None = None

    def at(self, tol: float | None) -> Self:
        """The same with this tolerance."""
        return self if tol is None else replace(self, prepare=partial(self.prepare, tol=tol), tols=(tol,))


@dataclass(frozen=True)
class Job:
    """One row of the table.

    ``target`` is the least ratio of the best peer's median to ours; ``floor_limit`` the most times the
    floor that ours may take, ``most_passes`` the most full reads of X. ``make(False)`` gives the data,
    ``make(True)`` a small problem of its kind. ``objective(data, coefficients)`` is what all minimise.
    """

    name: str
    title: str
    make: Callable[[bool], Data]
    ours: Contestant
    peers: tuple[Contestant, ...]
    target: float | None = None
    floor: str | None = None
    floor_limit: float | None = None
    memory: bool = True
    note: str = ""
    objective: Callable[[Any, NDArray[Any]], NDArray[np.float64]] | None = None
    most_passes: int | None = None

    def contestant(self, name: str) -> Contestant:
        return next(c for c in (self.ours, *self.peers) if c.name == name)


def ours(name: str) -> Any:
    """An object of discrim by name, looked up late so that a missing model is a missing row."""
    import discrim

    found = getattr(discrim, name, None)
    if found is None:
        raise MissingError(name)
    return found


def gaussian_classes(n: int, p: int, k: int, *, dtype: type = np.float64) -> Callable[[bool], Data]:
    """Recipe for ``n`` rows of ``p`` correlated columns in ``k`` classes whose means differ."""
    return partial(_gaussian_classes, n, p, k, dtype)


def _gaussian_classes(n: int, p: int, k: int, dtype: type, small: bool) -> Data:
    if small:
        n, p = min(n, 50 * k), min(p, 20)
    rng = np.random.default_rng(20260)
    y = rng.permutation(np.arange(n) % k)
    mixing = np.eye(p) + 0.3 * rng.standard_normal((p, p)) / np.sqrt(p)
    centres = rng.standard_normal((k, p)) * 0.7
    X = rng.standard_normal((n, p)) @ mixing
    X += centres[y]
    return Data(X.astype(dtype, copy=False), y)


def floor_turn(kind: str, data: Data) -> Turn:
    """The least that any method must do: read X once, sort it, or form one ``X.T @ X``."""
    X = data.X
    if kind == "one sort":
        return lambda: np.sort(X)
    if kind == "one read of X":
        return X.sum
    return lambda: X.T @ X
