"""Words counted in bounded memory, so that documents are read once while the vocabulary is still being learned."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discrim.text.documents import DocumentBlock

# Counts that are kept: eight bytes each.
MOST = 1 << 24

Integers = NDArray[np.int64]


class Counted(NamedTuple):
    """The words of some documents, one document after the other, by number, how often each occurs, and how many
    different ones each document has.
    """

    words: NDArray[np.int32]
    times: NDArray[np.int32]
    sizes: Integers


class FrequentWords:
    """How many documents each word is in, for at most ``limit`` words (Misra and Gries, 1982, in batches).

    For each word that is held: ``d``, the documents since it was taken in that have it, and ``missed``, the most
    documents that had it before. When more than ``limit`` words are held, at least half of them go: those with the
    least d + missed; the largest d + missed among them becomes the ``bound``, and a word that is taken in later starts
    with missed = bound. So, for a word that is in D documents:

        d <= D <= d + missed for a word that is held,    D <= bound for one that is not.

    Each rise of the bound by one removes a count of one from more than limit / 2 words, so that
    bound <= 2 (sum of D over all words) / limit. While the bound is 0, everything is exact.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.bound = 0
        self.n_documents = 0
        self._place = _numbered([])
        self._documents = np.empty(0, dtype=np.int64)
        self._missed = np.empty(0, dtype=np.int64)
        self._total = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._place)

    def add(self, texts: Iterable[str], words_of: Callable[[str], list[str]]) -> Counted:
        """Count the words of one block of documents, then make room.

        Gives the counts of each document by the numbers that words have in the order in which they were first met;
        these hold while the bound is 0.
        """
        words: list[str] = []
        times: list[int] = []
        sizes: list[int] = []
        for text in texts:
            counts = Counter(words_of(text))
            words.extend(counts)
            times.extend(counts.values())
            sizes.append(len(counts))
        self.n_documents += len(sizes)
        at = np.fromiter(map(self._place.__getitem__, words), dtype=np.int32, count=len(words))
        counted = Counted(at, np.array(times, dtype=np.int32), np.array(sizes, dtype=np.int64))
        size = len(self._place)
        self._grow(size)
        self._documents += np.bincount(at, minlength=size)
        self._total += np.bincount(at, counted.times, size).astype(np.int64)
        self.make_room()
        return counted

    def join(self, other: FrequentWords) -> None:
        """Count the words of other documents too; ``make_room`` is for the caller, when all are here."""
        self.n_documents += other.n_documents
        at = self.numbers_of(other.words)
        self._grow(len(self))
        absent = np.ones(len(self), dtype=bool)
        absent[at] = False
        documents, total, missed = other.counts
        self._documents[at] += documents
        self._total[at] += total
        self._missed[at] += missed
        self._missed[absent] += other.bound
        self.bound += other.bound

    def numbers_of(self, words: Iterable[str]) -> NDArray[np.int32]:
        """The numbers of words that are held."""
        return np.fromiter(map(self._place.__getitem__, words), dtype=np.int32)

    def chosen(self, min_documents: int, most: int | None) -> list[str]:
        """The words met in at least so many documents, in order; of these the ``most`` that occur most often."""
        enough = (self._documents >= min_documents).tolist()
        words = [word for word, keep in zip(self._place, enough, strict=True) if keep]
        if most is not None and len(words) > most:
            # Of words that occur equally often the first in order are taken.
            words = nsmallest(most, words, key=lambda word: (-self._total[self._place[word]], word))
        return sorted(words)

    def __getstate__(self) -> dict[str, Any]:
        # Words are numbered by a dictionary that calls itself, which cannot be sent.
        return {**self.__dict__, "_place": list(self._place)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _place=_numbered(state["_place"]))

    @classmethod
    def together(cls, parts: Sequence[FrequentWords]) -> FrequentWords:
        """The words of the documents of all parts.

        A word that a part does not hold was missed there at most ``bound`` times; so the bounds add up, and all that is
        said above stays true.
        """
        made = cls(parts[0].limit)
        for part in parts:
            made.join(part)
        made.make_room()
        return made

    @property
    def words(self) -> list[str]:
        """Those that are held, by their numbers."""
        return list(self._place)

    @property
    def counts(self) -> tuple[Integers, Integers, Integers]:
        """Of each: the documents that have it, how often it occurs, and the documents that may have been missed."""
        return self._documents, self._total, self._missed

    def _grow(self, size: int) -> None:
        more = size - self._documents.size
        zeros = np.zeros(more, dtype=np.int64)
        self._documents = np.concatenate([self._documents, zeros])
        self._total = np.concatenate([self._total, zeros])
        self._missed = np.concatenate([self._missed, np.full(more, self.bound, dtype=np.int64)])

    def make_room(self) -> None:
        """Let the rarest words go where more than ``limit`` are held."""
        if len(self) <= self.limit:
            return
        most = self._documents + self._missed
        going = most.size - self.limit // 2
        self.bound = int(np.partition(most, going - 1)[going - 1])
        stays = most > self.bound
        words = [word for word, stay in zip(self._place, stays.tolist(), strict=True) if stay]
        self._place = _numbered(words)
        self._documents, self._missed, self._total = (
            values[stays] for values in (self._documents, self._missed, self._total)
        )


def _numbered(words: list[str]) -> dict[str, int]:
    """The words by their numbers; a word that is looked up for the first time gets the next one."""
    place: defaultdict[str, int] = defaultdict(None, {word: k for k, word in enumerate(words)})
    place.default_factory = place.__len__
    return place


class CountedBlock(NamedTuple):
    """Rows of word counts, with the labels and weights of their documents."""

    x: Any
    labels: NDArray[Any] | None
    weight: NDArray[np.float64] | None


def together(blocks: Sequence[CountedBlock]) -> CountedBlock:
    """All rows in one block."""
    labels = [block.labels for block in blocks if block.labels is not None]
    weights = [block.weight for block in blocks if block.weight is not None]
    return CountedBlock(
        stacked([block.x for block in blocks]),
        np.concatenate(labels) if labels else None,
        np.concatenate(weights) if weights else None,
    )


def stacked(parts: Sequence[Any]) -> Any:
    """Rows of counts below each other."""
    return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")


class Kept:
    """The counts of all blocks so far, by the order in which words were first met.

    They are given up when there are more than ``most``, or when a word was: then its number is no longer its own.
    """

    def __init__(self, most: int = MOST) -> None:
        self._room: int = most
        self._blocks: list[tuple[Counted, DocumentBlock]] | None = []

    def add(self, counted: Counted, block: DocumentBlock, *, exact: bool) -> None:
        self._room -= len(counted.words)
        if not exact or self._room < 0:
            self._blocks = None
        if self._blocks is not None:
            # The texts themselves are not kept.
            self._blocks.append((counted, DocumentBlock([], block.labels, block.weight)))

    def blocks(self, table: FrequentWords, words: list[str]) -> list[CountedBlock] | None:
        """The rows with the columns ``words``; None where the documents have to be read again."""
        if self._blocks is None:
            return None
        column = np.full(len(table), -1, dtype=np.int32)
        column[table.numbers_of(words)] = np.arange(len(words), dtype=np.int32)
        return [
            CountedBlock(_rows(counted, column, len(words)), block.labels, block.weight)
            for counted, block in self._blocks
        ]


def _rows(counted: Counted, column: NDArray[np.int32], width: int) -> Any:
    columns = column[counted.words]
    known = columns >= 0
    row = np.repeat(np.arange(len(counted.sizes)), counted.sizes)[known]
    first = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(counted.sizes)))]).astype(np.int32)
    values = counted.times[known].astype(np.float64)
    x: Any = sparse.csr_matrix((values, columns[known], first), shape=(len(counted.sizes), width))
    x.sort_indices()
    return x
