"""Documents become rows of word counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.errors import DataError, ParameterError, plural
from discrim.store.estimators import SavedEstimator
from discrim.store.fields import Fields, Incoming, Optional, Whole, damaged
from discrim.store.values import Numbered
from discrim.text.counted import CountedBlock, FrequentWords, Kept, stacked, together
from discrim.text.documents import DocumentBlock, Documents, open_documents

WORD = r"(?u)\b\w\w+\b"


@dataclass(eq=False, repr=False, kw_only=True)
class WordCounts(SavedEstimator, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """How often each word occurs in each document: n x p, sparse.

    **Words.** Runs of two or more letters, digits and underscores of any script, in lower case, as
    ``CountVectorizer`` finds them; with ``ngram_range`` also runs of words.

    **Columns.** With ``buckets=None`` the columns are the words of the documents given to ``fit``, in order. With a
    number, a word belongs to the column that its hash says (``HashingVectorizer`` without signs): nothing is
    learned, so one read of the documents is enough, but the columns have no names and words may meet in one.

    **Bound.** While the vocabulary is learned, at most ``max_words`` words are held, besides those of one block.
    When there are more, the rarer half is given up, and ``missed_`` is the price: a word in more than ``missed_``
    documents is held for certain, counted short by ``missed_`` at most (Misra, Gries); and missed_ <= 2 N / max_words
    where N is the sum over documents of their different words. While it is 0 the vocabulary is that of scikit-learn's
    ``CountVectorizer`` and does not depend on blocks.

    Cost: one read of the documents to learn a vocabulary, one to count; ``fit_transform`` takes one for both while
    the counts are at most 16 million. About 150 bytes for each word that is held.

    Parameters
    ----------
    buckets : int or None
        The number of columns that words are hashed to; None learns the vocabulary.
    max_words : int
        The most different words that are held.
    min_df : int
        The least number of documents that a word of the vocabulary is in. The default of 1 keeps all.
    max_features : int or None
        The most columns: of more words those that occur most often, of equally frequent ones the first in order.
    ngram_range : (int, int)
        The least and the most words in a row that are counted as one.
    stop_words : list of str or None
        Words that are not counted.
    lowercase : bool
    token_pattern : str
        The regular expression of a word.

    Attributes
    ----------
    vocabulary_ : dict from words to columns; None with ``buckets``
    missed_ : the bound on what was missed, see above
    n_documents_ : documents the vocabulary was learned from

    Examples
    --------
    >>> from discrim.text import WordCounts
    >>> counts = WordCounts().fit(["To be, or not to be", "Not so"])
    >>> counts.get_feature_names_out().tolist()
    ['be', 'not', 'or', 'so', 'to']
    >>> counts.transform(["to be so"]).toarray().tolist()
    [[1.0, 0.0, 0.0, 1.0, 1.0]]
    """

    learned: ClassVar[Fields] = {
        "vocabulary_": Optional(Numbered()), "missed_": Whole(), "n_documents_": Whole(),
    }  # fmt: skip

    vocabulary_: dict[str, int] | None = field(init=False)
    missed_: int = field(init=False)
    n_documents_: int = field(init=False)

    buckets: int | None = None
    max_words: int = 1_000_000
    min_df: int = 1
    max_features: int | None = None
    ngram_range: tuple[int, int] = (1, 1)
    stop_words: Any = None
    lowercase: bool = True
    token_pattern: str = WORD

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Learn the vocabulary of strings or ``documents``, in one read; with ``buckets`` nothing is read."""
        self._learn(X, None)
        return self

    @all_or_nothing
    def fit_transform(self, X: Any, y: Any = None, **parameters: Any) -> Any:  # noqa: ARG002 - scikit-learn's signature
        """Learn the vocabulary and give the counts; documents are read once where their counts fit in memory."""
        X = open_documents(X)
        blocks = self.fit_counted(X)
        return self.transform(X) if blocks is None else together(blocks).x

    @all_or_nothing
    def fit_counted(self, X: Any) -> list[CountedBlock] | None:
        """Learn the vocabulary, and give the counts of all blocks on the way.

        None where there is nothing to learn, where the counts are too many to be kept (16 million), and where words
        were given up (``missed_``): then ``transform`` has to read the documents again.
        """
        return self._learn(X, Kept())

    def fit_together(self, X: Documents) -> CountedBlock:
        """Learn the vocabulary, and give all counts with the labels and weights; two reads where it takes these."""
        blocks = self.fit_counted(X)
        if blocks is None:
            blocks = [CountedBlock(self._counter.transform(b.texts), b.labels, b.weight) for b in X.blocks()]
        return together(blocks)

    def _learn(self, X: Any, kept: Kept | None) -> list[CountedBlock] | None:
        self._check_parameters()
        if self.buckets is not None:
            self._counter = self._hashing(self.buckets)
            self.vocabulary_, self.missed_, self.n_documents_ = None, 0, 0
            return None
        documents, words_of = open_documents(X), self._counting(None).build_analyzer()
        found = documents.reduced_elsewhere(partial(_words_of_part, self.max_words, words_of), FrequentWords.together)
        table, kept = (FrequentWords(self.max_words), kept) if found is None else (found, None)
        for block in documents.blocks() if found is None else ():
            counted = table.add(block.texts, words_of)
            if kept is not None:
                kept.add(counted, block, exact=table.bound == 0)
        words = table.chosen(self.min_df, self.max_features)
        if not words:
            raise self._without_words(table)
        self._counter = self._known(words)
        self.vocabulary_ = self._counter.vocabulary_
        self.missed_, self.n_documents_ = table.bound, table.n_documents
        return None if kept is None else kept.blocks(table, words)

    def transform(self, X: Any) -> Any:
        """Counts of strings or ``documents``, n x p in CSR format; words outside the vocabulary do not count."""
        check_is_fitted(self, "missed_")
        return stacked([self._counter.transform(block.texts) for block in open_documents(X).blocks()])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002 - scikit-learn's signature
        """The words in the order of the columns; ``hash0``, ``hash1``, ... with ``buckets``."""
        check_is_fitted(self, "missed_")
        if self.vocabulary_ is None:
            assert self.buckets is not None
            return np.array([f"hash{j}" for j in range(self.buckets)], dtype=object)
        # The vocabulary was filled in order.
        return np.array(list(self.vocabulary_), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def _check_parameters(self) -> None:
        for name, least in (("buckets", 1), ("max_words", 2), ("min_df", 1), ("max_features", 1)):
            value = getattr(self, name)
            if value is None and name in ("buckets", "max_features"):
                continue
            if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
                raise ParameterError.bad_value(name, value, f"an integer of at least {least}")
        if not isinstance(self.lowercase, bool):
            raise ParameterError.bad_value("lowercase", self.lowercase, "True or False")
        if self.stop_words is not None and not _are_words(self.stop_words):
            raise ParameterError.bad_value("stop_words", self.stop_words, "a list of words, or None")
        if not _is_range(self.ngram_range):
            raise ParameterError.bad_value("ngram_range", self.ngram_range, "two integers, 1 <= least <= most")
        if not _is_pattern(self.token_pattern):
            raise ParameterError.bad_value(
                "token_pattern", self.token_pattern, "a regular expression with one group at most"
            )

    def _how(self) -> dict[str, Any]:
        """Parameters of both of scikit-learn's vectorizers."""
        return {
            "lowercase": self.lowercase,
            "token_pattern": self.token_pattern,
            "ngram_range": tuple(self.ngram_range),
            "stop_words": None if self.stop_words is None else list(self.stop_words),
            "dtype": np.float64,
        }

    def check_parameters(self, names: set[str]) -> None:  # noqa: ARG002 - a file has all of them
        """Raise for a parameter that cannot be used."""
        self._check_parameters()

    def check_learned(self, file: Incoming) -> None:  # noqa: ARG002 - there are no letters here
        """Make what counts the words of the file."""
        words = self.vocabulary_
        if (words is None) != (self.buckets is not None) or not all(isinstance(word, str) for word in words or ()):
            raise damaged("vocabulary_", "is no list of words")
        self._counter = self._hashing(self.buckets) if self.buckets is not None else self._known(list(words or ()))

    def _hashing(self, buckets: int) -> Any:
        from sklearn.feature_extraction.text import HashingVectorizer

        return HashingVectorizer(n_features=buckets, alternate_sign=False, norm=None, **self._how())

    def _known(self, words: list[str]) -> Any:
        """What counts these words."""
        counter = self._counting(words)
        counter.get_feature_names_out()  # lets it make its dictionary, which is then shared
        return counter

    def _counting(self, words: list[str] | None) -> Any:
        from sklearn.feature_extraction.text import CountVectorizer

        return CountVectorizer(vocabulary=words, **self._how())

    def _without_words(self, table: FrequentWords) -> DataError:
        found = plural(table.n_documents, "document")
        if not len(table) and not table.bound:
            return DataError(
                f"There is no word in the {found}: empty ones, only stop words, or nothing that 'token_pattern' "
                "matches."
            )
        return DataError(
            f"No word was met in at least {self.min_df} of the {found} ('min_df'={self.min_df}) "
            f"with room for {self.max_words} words ('max_words'). Lower the first or raise the second."
        )


def _words_of_part(most: int, words_of: Callable[[str], list[str]], blocks: Iterator[DocumentBlock]) -> FrequentWords:
    """The words of some documents, on the machine that has them."""
    table = FrequentWords(most)
    for block in blocks:
        table.add(block.texts, words_of)
    return table


def _is_range(value: Any) -> bool:
    try:
        least, most = value
    except (TypeError, ValueError):
        return False
    return isinstance(least, Integral) and isinstance(most, Integral) and 1 <= int(least) <= int(most)


def _are_words(value: Any) -> bool:
    return not isinstance(value, str) and hasattr(value, "__iter__") and all(isinstance(word, str) for word in value)


def _is_pattern(value: Any) -> bool:
    """A regular expression, with one group at most: that would be the word."""
    try:
        return isinstance(value, str) and re.compile(value).groups <= 1
    except re.error:
        return False
