"""Word counts are scikit-learn's, whatever the documents come from; memory and error are bounded."""

from __future__ import annotations

import pickle
import re
from itertools import count, islice

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer
from sklearn.utils import get_tags

from discrim.errors import DataError, ParameterError
from discrim.text import WordCounts, documents

SETTINGS = {
    "plain": {},
    "pairs": {"ngram_range": (1, 2)},
    "only triples": {"ngram_range": (3, 3)},
    "rare words out": {"min_df": 5},
    "stop words": {"stop_words": ["the", "and", "of"]},
    "as written": {"lowercase": False},
    "single letters": {"token_pattern": r"\b(\w)"},
}


def same(ours, theirs):
    assert ours.format == "csr"
    assert ours.shape == theirs.shape
    assert (ours != theirs).nnz == 0


@pytest.mark.parametrize("name", list(SETTINGS))
def test_a_learned_vocabulary_is_that_of_scikit_learn(name, corpus):
    ours, theirs = WordCounts(**SETTINGS[name]), CountVectorizer(**SETTINGS[name])
    same(ours.fit_transform(corpus[0]), theirs.fit_transform(corpus[0]))
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert ours.vocabulary_ == theirs.vocabulary_
    assert (ours.missed_, ours.n_documents_) == (0, 60)
    same(ours.transform(["unheard of", "", "the rose"]), theirs.transform(["unheard of", "", "the rose"]))


def test_the_most_frequent_words_are_those_of_scikit_learn():
    texts = [" ".join(f"w{j}" for j in range(i + 1)) for i in range(12)]
    ours, theirs = WordCounts(max_features=5).fit(texts), CountVectorizer(max_features=5).fit(texts)
    assert ours.vocabulary_ == theirs.vocabulary_ == {f"w{j}": j for j in range(5)}


@pytest.mark.parametrize("name", ["plain", "pairs", "stop words", "as written"])
def test_hashed_words_are_those_of_scikit_learn(name, corpus):
    ours = WordCounts(buckets=64, **SETTINGS[name]).fit(None)
    theirs = HashingVectorizer(n_features=64, alternate_sign=False, norm=None, **SETTINGS[name])
    same(ours.transform(corpus[0]), theirs.transform(corpus[0]))
    assert ours.transform(corpus[0]).sum() == CountVectorizer(**SETTINGS[name]).fit_transform(corpus[0]).sum()
    assert ours.vocabulary_ is None
    assert ours.get_feature_names_out()[[0, 63]].tolist() == ["hash0", "hash63"]


@pytest.mark.parametrize("settings", [{}, {"buckets": 32}], ids=["learned", "hashed"])
def test_every_place_and_every_block_size_gives_the_same_counts(place, corpus, settings):
    whole = WordCounts(**settings).fit_transform(corpus[0])
    source = documents(**place, batch_rows=7)
    same(WordCounts(**settings).fit(source).transform(source), whole)


@pytest.mark.parametrize("name", list(SETTINGS))
def test_learning_and_counting_at_once_is_counting_after_learning(name, corpus):
    ours = WordCounts(**SETTINGS[name])
    at_once = ours.fit_transform(corpus[0])
    same(at_once, ours.transform(corpus[0]))
    assert at_once.has_sorted_indices
    same(WordCounts(**SETTINGS[name]).fit_transform(iter(corpus[0])), at_once)


def test_no_more_words_than_the_limit_are_kept_of_an_endless_stream():
    fresh = count()
    stream = (f"often sometimes{i % 10} never{next(fresh)} again{next(fresh)}" for i in count())
    counts = WordCounts(max_words=200, min_df=50).fit(islice(stream, 20_000))
    assert set(counts.vocabulary_) == {"often", *(f"sometimes{j}" for j in range(10))}
    # 80,000 words in all; each of those that matter was counted, short by no more than this.
    assert 0 < counts.missed_ <= 2 * 80_000 / 200
    assert counts.n_documents_ == 20_000
    assert counts.transform(["often sometimes3 often never5"]).toarray().max() == 2


def test_without_a_least_frequency_the_vocabulary_still_keeps_the_limit():
    texts = [f"word{i} other{i} both" for i in range(5000)]
    counts = WordCounts(max_words=100).fit(texts)
    assert len(counts.vocabulary_) <= 100
    assert "both" in counts.vocabulary_


def test_documents_without_a_known_word_are_rows_of_zeros():
    counts = WordCounts().fit(["", "rose", "?!"])
    assert counts.transform(["", "tulip", "rose rose"]).toarray().tolist() == [[0], [0], [2]]


@pytest.mark.parametrize(
    ("settings", "texts", "message"),
    [
        ({}, ["", "?", "a"], "There is no word in the 3 documents: empty ones, only stop words, or nothing"),
        ({"stop_words": ["rose"]}, ["rose"], "There is no word in the 1 document:"),
        ({"min_df": 2}, ["rose", "bee"], "No word was met in at least 2 of the 2 documents ('min_df'=2)"),
        ({}, iter([]), "There are no documents: X is empty."),
        ({}, ["rose", None], "Document 1 of X, counted from 0, is missing"),
    ],
)
def test_a_vocabulary_that_cannot_be_learned_says_why(settings, texts, message):
    with pytest.raises(DataError, match=re.escape(message)):
        WordCounts(**settings).fit(texts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"buckets": 0}, "The 'buckets' parameter is 0; it must be an integer of at least 1."),
        ({"max_words": None}, "The 'max_words' parameter is None; it must be an integer of at least 2."),
        ({"min_df": 0.5}, "The 'min_df' parameter is 0.5; it must be an integer of at least 1."),
        ({"max_features": True}, "The 'max_features' parameter is True; it must be an integer of at least 1."),
        (
            {"ngram_range": (2, 1)},
            "The 'ngram_range' parameter is (2, 1); it must be two integers, 1 <= least <= most.",
        ),
        ({"ngram_range": 2}, "The 'ngram_range' parameter is 2; it must be two integers"),
        ({"stop_words": "english"}, "The 'stop_words' parameter is 'english'; it must be a list of words, or None."),
        ({"lowercase": None}, "The 'lowercase' parameter is None; it must be True or False."),
        ({"token_pattern": "("}, "The 'token_pattern' parameter is '('; it must be a regular expression"),
        ({"token_pattern": "(a)(b)"}, "it must be a regular expression with one group at most"),
    ],
)
def test_parameters_that_cannot_be_used_are_named(settings, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        WordCounts(**settings).fit(["rose"])


def test_a_fit_that_fails_leaves_the_old_vocabulary():
    counts = WordCounts().fit(["rose"])
    for call in (counts.fit, counts.fit_transform):
        with pytest.raises(DataError):
            call([""])
        assert counts.transform(["rose"]).toarray().tolist() == [[1.0]]


def test_unfitted_counts_say_so():
    for call in (lambda: WordCounts().transform(["rose"]), WordCounts().get_feature_names_out):
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize("settings", [{}, {"buckets": 16}], ids=["learned", "hashed"])
def test_it_is_a_scikit_learn_transformer(settings, corpus):
    pd = pytest.importorskip("pandas")
    texts = corpus[0]
    counts = WordCounts(**settings).fit(texts)
    expected = counts.transform(texts)
    same(pickle.loads(pickle.dumps(counts)).transform(texts), expected)
    assert not hasattr(clone(counts), "missed_")
    same(counts.set_output(transform="default").transform(texts), expected)
    assert (make_pipeline(counts, Binarizer()).fit_transform(texts) != (expected > 0)).nnz == 0
    columns = ColumnTransformer([("words", WordCounts(**settings), "text")], sparse_threshold=1.0)
    same(columns.fit_transform(pd.DataFrame({"text": texts})), expected)
    assert columns.get_feature_names_out()[0] == f"words__{counts.get_feature_names_out()[0]}"


def test_its_tags_say_that_the_input_is_a_list_of_strings():
    tags = get_tags(WordCounts()).input_tags
    assert (tags.string, tags.one_d_array, tags.two_d_array) == (True, True, False)


def test_words_of_other_scripts_are_words():
    counts = WordCounts().fit(["Straße ÉCOLE слово 単語です"])
    assert counts.get_feature_names_out().tolist() == sorted(["straße", "école", "слово", "単語です"])
    assert np.issubdtype(counts.transform(["слово"]).dtype, np.float64)
