"""Rows of a stream in nearly random order, with room for a part of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discrim.online.rows import OnlineRows

# Numbers that the buffer holds: 64 MB.
BUFFER_NUMBERS = 8_000_000


def shuffled(
    parts: Iterator[OnlineRows], rng: np.random.RandomState, numbers: int = BUFFER_NUMBERS
) -> Iterator[OnlineRows]:
    """Dense rows in another order: each new part takes the places of rows drawn from the buffer, which go out.

    A row waits in the buffer for a random time, so that rows which came together go out far apart; what is left at the
    end goes out in random order. Memory: the buffer and a part.
    """
    held: _Buffer | None = None
    for part in parts:
        if held is None:
            held = _Buffer(part, max(numbers // max(part.x.shape[1], 1), 1))
        gone = held.exchange(part, rng)
        if len(gone):
            yield gone
    if held is not None:
        step = 65_536
        order = rng.permutation(held.count)
        for start in range(0, held.count, step):
            yield held.take(order[start : start + step])


class _Buffer:
    def __init__(self, like: OnlineRows, size: int) -> None:
        self.size, self.count = size, 0
        self.x = np.empty((0, like.x.shape[1]), dtype=like.x.dtype)
        self.codes = np.empty(0, dtype=np.int32)
        self.weight = None if like.weight is None else np.empty(0)

    def exchange(self, part: OnlineRows, rng: np.random.RandomState) -> OnlineRows:
        """Take the part in, as far as there is no room in exchange for rows drawn at random."""
        room = min(self.size - self.count, len(part))
        if room:
            self._grow(part, room)
        rest = part.part(room, len(part)) if room else part
        if len(rest) >= self.count:
            # More than the buffer holds: all of it goes through, in random order.
            return _picked(rest, rng.permutation(len(rest)))
        places = rng.choice(self.count, size=len(rest), replace=False)
        gone = self.take(places)
        self.x[places], self.codes[places] = rest.x, rest.codes
        if self.weight is not None and rest.weight is not None:
            self.weight[places] = rest.weight
        return gone

    def take(self, places: NDArray[np.intp]) -> OnlineRows:
        return OnlineRows(self.x[places], self.codes[places], None if self.weight is None else self.weight[places])

    def _grow(self, part: OnlineRows, room: int) -> None:
        if self.count + room > len(self.x):
            capacity = min(max(2 * len(self.x), self.count + room), self.size)
            larger = np.empty((capacity, self.x.shape[1]), dtype=self.x.dtype)
            larger[: self.count] = self.x[: self.count]
            self.x, self.codes = larger, np.resize(self.codes, capacity)
            self.weight = None if self.weight is None else np.resize(self.weight, capacity)
        new = slice(self.count, self.count + room)
        self.x[new], self.codes[new] = part.x[:room], part.codes[:room]
        if self.weight is not None and part.weight is not None:
            self.weight[new] = part.weight[:room]
        self.count += room


def _picked(rows: OnlineRows, order: NDArray[np.intp]) -> OnlineRows:
    return OnlineRows(rows.x[order], rows.codes[order], None if rows.weight is None else rows.weight[order])
