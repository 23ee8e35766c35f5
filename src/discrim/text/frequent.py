"""The frequent words of an endless stream, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


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
        self._place: dict[str, int] = {}
        self._documents = np.empty(0, dtype=np.int64)
        self._missed = np.empty(0, dtype=np.int64)
        self._total = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._place)

    def add(self, texts: Iterable[str], words_of: Callable[[str], list[str]]) -> None:
        """Count the words of one block of documents, then make room."""
        documents: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for text in texts:
            words = words_of(text)
            total.update(words)
            documents.update(set(words))
            self.n_documents += 1
        place = self._place
        at = np.fromiter((place.setdefault(word, len(place)) for word in total), dtype=np.int64, count=len(total))
        self._grow(len(place))
        self._documents[at] += np.fromiter((documents[word] for word in total), dtype=np.int64, count=len(total))
        self._total[at] += np.fromiter(total.values(), dtype=np.int64, count=len(total))
        if len(place) > self.limit:
            self._make_room()

    def chosen(self, min_documents: int, most: int | None) -> list[str]:
        """The words met in at least so many documents, in order; of these the ``most`` that occur most often."""
        enough = (self._documents >= min_documents).tolist()
        words = [word for word, keep in zip(self._place, enough, strict=True) if keep]
        if most is not None and len(words) > most:
            # Of words that occur equally often the first in order are taken.
            words = nsmallest(most, words, key=lambda word: (-self._total[self._place[word]], word))
        return sorted(words)

    def _grow(self, size: int) -> None:
        more = size - self._documents.size
        zeros = np.zeros(more, dtype=np.int64)
        self._documents = np.concatenate([self._documents, zeros])
        self._total = np.concatenate([self._total, zeros])
        self._missed = np.concatenate([self._missed, np.full(more, self.bound, dtype=np.int64)])

    def _make_room(self) -> None:
        most = self._documents + self._missed
        going = most.size - self.limit // 2
        self.bound = int(np.partition(most, going - 1)[going - 1])
        stays = most > self.bound
        words = [word for word, stay in zip(self._place, stays.tolist(), strict=True) if stay]
        self._place = {word: k for k, word in enumerate(words)}
        self._documents, self._missed, self._total = (
            values[stays] for values in (self._documents, self._missed, self._total)
        )
