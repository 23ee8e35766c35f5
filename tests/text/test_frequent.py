"""What is promised of the bounded table of words, against exact counts."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discrim.text.counted import FrequentWords


def filled(blocks, limit):
    table = FrequentWords(limit)
    for block in blocks:
        table.add(block, str.split)
        assert len(table) <= limit
    return table


def held(table):
    """For each word: documents since it was taken in, and the most that were missed before."""
    return {word: (int(table._documents[k]), int(table._missed[k])) for word, k in table._place.items()}


def exact(blocks):
    return Counter(word for block in blocks for text in block for word in set(text.split()))


words = st.integers(0, 30).map(lambda i: f"w{i * i // 30}")
streams = st.lists(st.lists(st.lists(words, max_size=8).map(" ".join), max_size=6), max_size=12)


@given(streams, st.integers(2, 12))
def test_true_counts_lie_within_the_bounds_however_little_room_there_is(blocks, limit):
    table, true = filled(blocks, limit), exact(blocks)
    counts = held(table)
    for word, (seen, missed) in counts.items():
        assert seen <= true[word] <= seen + missed
        assert missed <= table.bound
    assert all(count <= table.bound for word, count in true.items() if word not in counts)
    assert table.bound <= 2 * sum(true.values()) / limit


@given(streams)
def test_with_enough_room_everything_is_exact(blocks):
    table, true = filled(blocks, 100), exact(blocks)
    assert table.bound == 0
    assert {word: seen for word, (seen, _) in held(table).items()} == dict(true)
    assert table.n_documents == sum(map(len, blocks))


def test_frequent_words_survive_a_stream_of_words_that_never_come_again():
    rng = np.random.default_rng(0)
    frequent = [f"often{j}" for j in range(20)]
    fresh = iter(range(10**9))

    def document():
        rare = [f"rare{next(fresh)}" for _ in range(10)]
        return " ".join([*rng.choice(frequent, 5), *rare])

    blocks = [[document() for _ in range(50)] for _ in range(60)]
    table, true = filled(blocks, 2000), exact(blocks)
    assert len(true) == 30_020
    for word in frequent:
        assert held(table)[word] == (true[word], 0)
    # 30,000 rare words and 20 of at most 3,000 documents each: 2 N / limit < 45; it stays far below that.
    assert 0 < table.bound <= 45
    assert table.chosen(100, None) == sorted(frequent)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_of_equally_frequent_words_the_first_in_order_are_chosen(most):
    table = filled([["b a b", "c d"]], 10)
    assert table.chosen(1, most) == sorted(["b", "a", "c"][:most])


def test_words_of_parts_keep_the_bound_of_all():
    """Whatever is given up in the parts, D <= d + missed for words that are held, and D <= bound for the others."""
    rng = np.random.default_rng(6)
    for limit in (2, 10, 40, 1000):
        texts = [[" ".join(f"w{i}" for i in rng.zipf(1.4, 8) % 300) for _ in range(40)] for _ in range(5)]
        parts = []
        for some in texts:
            parts.append(FrequentWords(limit))
            for start in range(0, 40, 10):
                parts[-1].add(some[start : start + 10], str.split)
        parts = [pickle.loads(pickle.dumps(part)) for part in parts]
        found = FrequentWords.together(parts)
        truth = Counter(word for some in texts for text in some for word in set(text.split()))
        documents, total, missed = found.counts
        assert len(found) <= limit
        assert found.n_documents == 200
        held = dict(zip(found.words, zip(documents, missed, strict=True), strict=True))
        for word, count in truth.items():
            d, m = held.get(word, (0, found.bound))
            assert d <= count <= d + m
        if limit == 1000:
            assert found.bound == 0
            assert (set(found.words), documents.sum()) == (set(truth), sum(truth.values()))
            assert total.sum() == sum(len(text.split()) for some in texts for text in some)
