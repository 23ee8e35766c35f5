"""Partitions of Dask that the workers keep between the passes of a fit, where they have the memory."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dask import base, persist, threaded

from discrim.errors import ReadAgainWarning, plural, warn

# The share of the free memory that partitions may take.
SHARE = 0.5

Parts = Callable[[Sequence[str]], list[Any]]

log = logging.getLogger("discrim")


class Kept:
    """The partitions of a source by their columns: read anew for every pass, unless they are kept during a fit.

    The first pass of a fit over some columns measures how many bytes they have. The second has the workers keep them,
    where these have twice the memory free, and the log says so; where they have not, a warning does.
    """

    def __init__(self, title: str, parts: Parts) -> None:
        self._title, self._parts, self._depth = title, parts, 0
        self._bytes: dict[tuple[str, ...], int] = {}
        self._held: dict[tuple[str, ...], list[Any]] = {}

    @contextmanager
    def holding(self) -> Iterator[None]:
        """For one fit; the workers give the partitions up at its end."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._bytes, self._held = {}, {}

    def of(self, columns: Sequence[str]) -> list[Any]:
        """The partitions with these columns."""
        key = tuple(columns)
        if key not in self._held and key in self._bytes:
            self._held[key] = self._decided(self._parts(columns), self._bytes[key])
        return self._held[key] if key in self._held else self._parts(columns)

    def measures(self, columns: Sequence[str]) -> bool:
        """Is this the first of the passes over these columns that a fit may make?"""
        return self._depth > 0 and tuple(columns) not in self._bytes

    def measured(self, columns: Sequence[str], size: int) -> None:
        self._bytes[tuple(columns)] = size

    def _decided(self, parts: list[Any], size: int) -> list[Any]:
        free, whose = free_memory()
        if free is None:
            return parts
        needed = f"The partitions of the {self._title} have {size / 1e6:,.1f} MB, and {whose} {free / 1e6:,.1f} MB free"
        if size > SHARE * free:
            warn(
                f"{needed}: they are not kept, and read again for each pass. More workers would save it.",
                ReadAgainWarning,
            )
            return parts
        log.info("%s: %s kept until the fit is done.", needed, plural(len(parts), "is", "are"))
        return list(persist(*parts))


def free_memory() -> tuple[int | None, str]:
    """Bytes that are free where the active scheduler computes, and whose they are; None where nothing can be kept."""
    get = base.get_scheduler()
    client: Any = getattr(get, "__self__", None)
    if hasattr(client, "scheduler_info"):
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [(worker.get("memory_limit") or 0) - worker["metrics"].get("memory", 0) for worker in workers]
        return sum(max(limit, 0) for limit in limits), "the workers have"
    if get not in (None, threaded.get) or not hasattr(os, "sysconf"):
        return None, ""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), "this machine has"
