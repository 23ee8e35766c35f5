"""Code books have the distances that they promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from discrim import GaussianNB, LinearDiscriminantAnalysis, datasets
from discrim.decision.multiclass import OutputCodeClassifier
from discrim.decision.multiclass.output_code import _generator_polynomial, bch_code, exhaustive_code


def distances(book):
    return [int((a != b).sum()) for i, a in enumerate(book) for b in book[i + 1 :]]


def problems(book):
    """Each column as the split that it means, whichever side is called 1."""
    return {tuple(column ^ column[0]) for column in np.asarray(book).T}


@pytest.mark.parametrize("classes", [2, 3, 4, 5, 8, 11])
def test_the_exhaustive_code_has_every_split_once_and_rows_equally_far_apart(classes):
    book = exhaustive_code(classes)
    assert book.shape == (classes, 2 ** (classes - 1) - 1)
    assert len(problems(book)) == book.shape[1]
    assert (book.min(axis=0) != book.max(axis=0)).all()
    assert set(distances(book)) == {2 ** (classes - 2)}


def test_too_many_classes_for_the_exhaustive_code_are_refused_with_a_way_out():
    with pytest.raises(ValueError, match="too many for 12 classes; take 'bch'"):
        exhaustive_code(12)


def test_the_generator_polynomials_are_those_of_the_tables():
    """Lin and Costello, Error Control Coding, table of primitive BCH codes: (15, 7), (15, 5), (31, 6) in octal."""
    for m, classes, expected in ((4, 2**7, 0o721), (4, 2**5, 0o2467), (5, 2**6, 0o313365047)):
        bits = _generator_polynomial(m, classes)
        assert int("".join(map(str, bits[::-1])), 2) == expected


@pytest.mark.parametrize(("classes", "least"), [(12, 15), (20, 30), (32, 31), (60, 63), (100, 150)])
def test_bch_words_are_distinct_far_apart_and_pose_each_problem_once(classes, least):
    book = bch_code(classes, least, np.random.RandomState(0))
    assert book.shape[0] == classes
    assert len(problems(book)) == book.shape[1]
    assert (book.min(axis=0) != book.max(axis=0)).all()
    random = (np.random.RandomState(0).uniform(size=book.shape) > 0.5).astype(int)
    assert min(distances(book)) > min(distances(random))


@pytest.mark.parametrize("classes", [2, 3, 5, 9])
def test_bch_works_for_few_classes_too(classes):
    book = bch_code(classes, int(1.5 * classes), np.random.RandomState(1))
    assert len(np.unique(book, axis=0)) == classes


def test_every_code_separates_the_classes_of_iris():
    X, y = datasets.load_iris().xy
    for code in ("random", "exhaustive", "bch", np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])):
        for inner in (GaussianNB(), LogisticRegression()):
            model = OutputCodeClassifier(inner, code=code, code_size=3, random_state=0).fit(X, y)
            assert model.score(X, y) > 0.6, code
            assert len(model.estimators_) == model.code_book_.shape[1]


def test_the_nearest_word_is_that_of_the_smallest_euclidean_distance():
    X, y = datasets.load_iris().xy
    model = OutputCodeClassifier(LinearDiscriminantAnalysis(), code="exhaustive").fit(X, y)
    scores = np.column_stack([part.decision_function(X) for part in model.estimators_])
    distance = np.linalg.norm(scores[:, None, :] - model.code_book_[None], axis=2)
    assert_array_equal(model.predict(X), model.classes_[distance.argmin(axis=1)])


def test_a_code_of_minus_ones_is_the_code_of_zeros():
    X, y = datasets.load_iris().xy
    zeros = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0]])
    first, second = (
        OutputCodeClassifier(LinearDiscriminantAnalysis(), code=code).fit(X, y) for code in (zeros, 2 * zeros - 1)
    )
    assert_allclose(first.code_book_, second.code_book_)
    assert_array_equal(first.predict(X), second.predict(X))


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ([[1, 0], [0, 1]], "with 3 rows, one for each class"),
        ([[1, 0], [0, 2], [1, 1]], "a matrix of 0 and 1, or -1 and 1"),
        ([[1, 0], [1, 0], [0, 1]], "two equal rows"),
        ("golay", "'code' parameter is 'golay'"),
    ],
)
def test_a_bad_code_is_refused(code, text):
    X, y = datasets.load_iris().xy
    with pytest.raises(ValueError, match=text):
        OutputCodeClassifier(LinearDiscriminantAnalysis(), code=code).fit(X, y)


@pytest.mark.parametrize("size", [0, -1.0, "2", np.inf, 0.1])
def test_a_code_size_without_bits_is_refused(size):
    X, y = datasets.load_iris().xy
    with pytest.raises(ValueError, match="'code_size' parameter"):
        OutputCodeClassifier(LinearDiscriminantAnalysis(), code_size=size).fit(X, y)
