"""Classes as words of a code, bit by bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from discrim.atomic import all_or_nothing
from discrim.decision.multiclass.scheme import Problem, Scheme
from discrim.errors import DataError, ParameterError, plural
from discrim.families.rule import Described
from discrim.models.parameters import Check, array_like, either, one_of, positive, seed, with_method
from discrim.models.scoring import also_of_parts
from discrim.store.fields import Array, Fields

Bits = NDArray[np.int8]

# More classes than this have more than a thousand exhaustive columns.
MOST_EXHAUSTIVE = 11
# Feedback of a shift register of m bits that runs through all 2^m - 1 states: bits of a primitive polynomial.
PRIMITIVE = {2: 0b111, 3: 0b1011, 4: 0b10011, 5: 0b100101, 6: 0b1000011, 7: 0b10001001, 8: 0b100011101,
             9: 0b1000010001, 10: 0b10000001001, 11: 0b100000000101, 12: 0b1000001010011}  # fmt: skip


@dataclass(eq=False, repr=False)
class OutputCodeClassifier(Scheme):
    """A word of bits for each class, a two-class model for each bit, and the class whose word is nearest.

    **Rule.** The smallest Euclidean distance between the scores of the models and the word of the class. Words that
    differ in d bits survive (d - 1) / 2 wrong models.

    Cost: for the Gaussian, Bayesian, count, least-squares, ridge and lasso models one pass over the rows for all bits;
    the result is that of so many fits. Other estimators are fitted bit by bit.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``
    code_size : float above 0; a random code has int(K code_size) bits, a BCH code at least so many before
        columns that repeat others are left out
    random_state : seed of the random words
    n_jobs : for the estimators that are fitted one by one
    code : {'random', 'exhaustive', 'bch'}, or a K x B matrix of 0 and 1 or -1 and 1
        'exhaustive' has every split of the classes once (up to 11 classes), 'bch' words that are far apart.

    Attributes
    ----------
    estimators_ : one for each bit
    classes_, n_classes_
    code_book_ : K x B, of -1 and 1 where the estimator has a decision function, else of 0 and 1

    Examples
    --------
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> from discrim.decision.multiclass import OutputCodeClassifier
    >>> X, y = datasets.load_iris().xy
    >>> model = OutputCodeClassifier(LinearDiscriminantAnalysis(), code="exhaustive").fit(X, y)
    >>> model.code_book_
    array([[ 1., -1.,  1.],
           [-1.,  1.,  1.],
           [-1., -1., -1.]])
    """

    _routed = ("fit",)
    learned: ClassVar[Fields] = {**Scheme.learned, "code_book_": Array("K b")}

    _constraints: ClassVar[Mapping[str, Check]] = {
        "estimator": with_method("fit"),
        "code_size": positive(),
        "random_state": seed(),
        "code": either(one_of("random", "exhaustive", "bch"), array_like()),
    }

    estimator: Any
    _: KW_ONLY
    code_size: float = 1.5
    random_state: Any = None
    n_jobs: int | None = None
    code: Any = "random"

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit a model to each bit; ``sample_weight`` and what else is passed by name go to them."""
        arguments = self._fit_arguments(X, y, fit_params)
        scored = hasattr(self.estimator, "decision_function")
        if not scored and not hasattr(self.estimator, "predict_proba"):
            raise ParameterError(
                f"The 'estimator' parameter is {self.estimator!r}; it must have decision_function or predict_proba."
            )
        labels = (-1, 1) if scored else (0, 1)
        self.__dict__.pop("code_book_", None)

        def split(classes: NDArray[Any]) -> Sequence[Problem]:
            self.code_book_ = np.asarray(labels, dtype=np.float64)[self._bits(len(classes))]
            return [Problem((column > 0).astype(np.intp)) for column in self.code_book_.T]

        self._fit_split(X, y, arguments, split, labels)
        return self

    @also_of_parts
    def predict(self, X: Any) -> NDArray[Any]:
        """The class whose word is nearest to the scores."""
        scores = self._all_scores(X)
        # |s - c|^2 without |s|^2, which is the same for all classes.
        distance = np.einsum("kb,kb->k", self.code_book_, self.code_book_) - 2.0 * scores @ self.code_book_.T
        return np.asarray(self.classes_[distance.argmin(axis=1)])

    def answering(self) -> Described:
        """How rows are answered, as a plain description."""
        return self._described("output code", code_book=self.code_book_)

    def _bits(self, classes: int) -> NDArray[Any]:
        if not isinstance(self.code, str):
            return given_code(self.code, classes)
        generator = check_random_state(self.random_state)
        count = int(classes * self.code_size)
        if classes == 1:
            return np.ones((1, max(count, 1)), dtype=np.int8)
        if self.code == "exhaustive":
            return exhaustive_code(classes)
        if count < 1:
            raise ParameterError.bad_value("code_size", self.code_size, f"at least 1/{classes} for {classes} classes")
        if self.code == "bch":
            return bch_code(classes, count, generator)
        return np.asarray(generator.uniform(size=(classes, count)) > 0.5).astype(np.int8)


def exhaustive_code(classes: int) -> Bits:
    """All 2^(K-1) - 1 ways to split K classes in two (Dietterich and Bakiri 1995); any two rows differ in 2^(K-2)."""
    if classes > MOST_EXHAUSTIVE:
        raise ParameterError(
            f"code='exhaustive' has 2^(K-1) - 1 columns, too many for {classes} classes; take 'bch' from "
            f"{MOST_EXHAUSTIVE + 1} classes on."
        )
    columns = np.arange(1, 2 ** (classes - 1))
    bits = (columns >> np.arange(classes - 1)[:, None]) & 1
    return np.vstack([bits, np.zeros_like(columns)]).astype(np.int8)


def bch_code(classes: int, least: int, generator: np.random.RandomState) -> Bits:
    """K words of a binary BCH code of length 2^m - 1 >= ``least`` that corrects as many errors as K words allow.

    The generator polynomial is the least common multiple of the minimal polynomials of a, a^2, ..., a^2t, for the
    largest t that leaves enough words; words are drawn at random. Columns that put all classes on one side, or say
    the same as another, are left out.
    """
    m = 2
    while 2**m - 1 < max(least, int(np.ceil(np.log2(max(classes, 2)))) + 1):
        m += 1
    while m in PRIMITIVE:
        polynomial = _generator_polynomial(m, classes)
        if polynomial is not None:
            words = _words(polynomial, 2**m - 1, classes, generator)
            book = _useful_columns(words)
            if len(np.unique(book, axis=0)) == classes:
                return book
        m += 1
    raise DataError(f"There is no BCH code of up to 4,095 bits for {classes} classes of this code_size.")


def given_code(code: Any, classes: int) -> Bits:
    """A code book of the user as zeros and ones."""
    book = np.asarray(code)
    values = set(np.unique(book).tolist()) if book.dtype.kind in "iufb" else {None}
    if book.ndim != 2 or book.shape[0] != classes or not (values <= {0, 1} or values <= {-1, 1}):
        raise ParameterError(
            f"The 'code' parameter must be a matrix of 0 and 1, or -1 and 1, with {plural(classes, 'row')}, one for "
            f"each class; found one of the shape {book.shape}."
        )
    bits = (book > 0).astype(np.int8)
    if len(np.unique(bits, axis=0)) < classes:
        raise ParameterError("The 'code' parameter has two equal rows: their classes could not be distinguished.")
    return bits


def _useful_columns(words: Bits) -> Bits:
    mixed = words[:, (words != words[:1]).any(axis=0)]
    # A column and its complement pose the same problem: compare them from the first class on.
    _, first = np.unique(mixed ^ mixed[:1], axis=1, return_index=True)
    return mixed[:, np.sort(first)]


def _words(polynomial: Bits, length: int, classes: int, generator: np.random.RandomState) -> Bits:
    """Multiples of the polynomial, as rows of bits."""
    messages = length - len(polynomial) + 1
    chosen: set[tuple[int, ...]] = set()
    while len(chosen) < classes:
        chosen.add(tuple(generator.randint(0, 2, size=messages).tolist()))
    words = [np.convolve(message[::-1], polynomial) % 2 for message in sorted(chosen)]
    return np.array(words, dtype=np.int8)


def _generator_polynomial(m: int, classes: int) -> Bits | None:
    """The longest product of minimal polynomials that leaves words for all classes; the constant term first."""
    length, polynomial, best, covered = 2**m - 1, np.ones(1, dtype=np.int64), None, set()
    powers = _powers(m)
    exponent_of = np.empty(2**m, dtype=np.int64)
    exponent_of[powers] = np.arange(length)
    for root in range(1, length, 2):
        if root in covered:
            continue
        # Exponents of the conjugates of a^root: root, 2 root, 4 root, ... modulo the length.
        coset = {root * 2**i % length for i in range(m)}
        covered |= coset
        for exponent in coset:
            # Times x - a^exponent; after all conjugates the coefficients are 0 and 1 again.
            nonzero = polynomial > 0
            scaled = np.zeros_like(polynomial)
            scaled[nonzero] = powers[(exponent_of[polynomial[nonzero]] + exponent) % length]
            polynomial = np.append(0, polynomial) ^ np.append(scaled, 0)
        if 2 ** (length - len(polynomial) + 1) < classes:
            break
        best = polynomial.astype(np.int8)
    return best


def _powers(m: int) -> NDArray[np.int64]:
    """a^0, a^1, ... of the field of 2^m elements, as integers of m bits."""
    values = [1]
    while len(values) < 2**m - 1:
        value = values[-1] << 1
        values.append(value ^ PRIMITIVE[m] if value >> m else value)
    return np.array(values)
