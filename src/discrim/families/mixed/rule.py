"""Naive Bayes as an additive rule: a constant for each class, and one term for each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from discrim import kernels
from discrim.block import Coded, Mixed, Numbered
from discrim.families.rule import OFFSET, Output, Rule, by_column, write_answers
from discrim.later import cached_property
from discrim.store.fields import Array, Fields, Flag, Incoming, Many, damaged
from discrim.store.kinds import Of, enter_kind
from discrim.store.values import Value
from discrim.typing import Floats

# Points between which a density is integrated, for each class, and how many deviations out they go.
_POINTS, _WIDTH = 401, 10.0
# Values that a kernel density works with at once.
_MOST_VALUES = 1 << 20
# Numbers beyond this cannot be squared.
HUGE = 1e150
TINY = float(np.finfo(float).tiny)

# Fields of terms in model files: one number a class.
NUMBERS, POSITIVE, LOGS = Array("K"), Array("K", low=0.0), Array("K", allowed=("-inf",), high=1e-9)


class Term:
    """One column of an additive rule: a plain value, a kind and its arrays."""

    kind: ClassVar[str]
    stored: ClassVar[Fields]
    # The array that is zero in every class where the column does not vary and so says nothing; none where it is empty.
    spread: ClassVar[str] = ""
    # Are the values counts?
    counts: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        enter_kind(f"term:{cls.kind}", cls)

    def log_likelihood(self, values: Any) -> Floats:
        """Log densities or log probabilities of the values in each class, K x n; zero where a value is missing."""
        if self.spread and not getattr(self, self.spread).any():
            return np.zeros((len(getattr(self, self.spread)), len(values)))
        with np.errstate(over="ignore", invalid="ignore"):
            result = self._of_known(values)
        result[:, np.isnan(values)] = 0.0
        return result

    def _of_known(self, values: Floats) -> Floats:
        """The same for numbers that are not missing."""
        raise NotImplementedError

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        """n values of class k."""
        raise NotImplementedError

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation, or another measure of scale, in each class."""
        raise NotImplementedError

    def support(self) -> tuple[Any, Floats]:
        """Points, as ``log_likelihood`` takes them, and weights with which sums over them are integrals."""
        return _counts(*self.moments()) if self.counts else _grid(*self.moments())

    def shown(self) -> list[str]:
        """The distribution of each class in a few characters."""
        moments = zip(*self.moments(), strict=True)
        return [f"{mean:.4g}" if self.counts else f"{mean:.3g} ({scale:.2g})" for mean, scale in moments]


@dataclass(frozen=True)
class GaussianTerm(Term):
    """N(mean_k, variance_k). A column that does not vary in any class says nothing."""

    kind = "gaussian"
    spread = "variance"
    stored: ClassVar[Fields] = {"mean": NUMBERS, "variance": POSITIVE}

    mean: Floats
    variance: Floats

    def _of_known(self, values: Floats) -> Floats:
        # A class that is constant where others vary keeps a variance too small to matter to the others.
        variance = np.maximum(self.variance, TINY)[:, None]
        z = np.square(values - self.mean[:, None]) / variance
        return np.asarray(-0.5 * (z + np.log(2.0 * np.pi * variance)))

    def moments(self) -> tuple[Floats, Floats]:
        return self.mean, np.sqrt(self.variance)

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        return rng.normal(self.mean[k], np.sqrt(self.variance[k]), n)


@dataclass(frozen=True)
class StudentTerm(Term):
    """mean_k + scale_k t with df_k degrees of freedom."""

    kind = "student-t"
    spread = "scale"
    stored: ClassVar[Fields] = {"df": Array("K", low=TINY), "mean": NUMBERS, "scale": POSITIVE}

    df: Floats
    mean: Floats
    scale: Floats

    def _of_known(self, values: Floats) -> Floats:
        scale, df = np.maximum(self.scale, TINY)[:, None], self.df[:, None]
        constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi) - np.log(scale)
        z = np.square((values - self.mean[:, None]) / scale)
        return np.asarray(constant - 0.5 * (df + 1) * np.log1p(z / df))

    def moments(self) -> tuple[Floats, Floats]:
        return self.mean, self.scale

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.asarray(self.mean[k] + self.scale[k] * rng.standard_t(self.df[k], n))


@dataclass(frozen=True)
class KernelTerm(Term):
    """sum_b share_kb N(centre_b, bandwidth_k^2), over the bins b of a column. Cost of a value: one exp a bin."""

    kind = "kernel"
    spread = "bandwidth"
    stored: ClassVar[Fields] = {"centre": Array("b"), "share": Array("K b", low=0.0, high=1.0), "bandwidth": POSITIVE}

    centre: Floats
    share: Floats
    bandwidth: Floats

    def _of_known(self, values: Floats) -> Floats:
        result = np.zeros((len(self.bandwidth), len(values)))
        step = max(_MOST_VALUES // max(len(self.centre), 1), 1)
        for start in range(0, len(values), step):
            part = values[start : start + step]
            for k, (share, h) in enumerate(zip(self.share, self.bandwidth, strict=True)):
                result[k, start : start + step] = self._of_class(part, share, max(h, TINY))
        return result

    def moments(self) -> tuple[Floats, Floats]:
        mean = self.share @ self.centre
        return mean, np.sqrt(np.maximum(self.share @ self.centre**2 - mean**2, 0.0) + self.bandwidth**2)

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        return rng.normal(rng.choice(self.centre, size=n, p=self.share[k]), self.bandwidth[k])

    def shown(self) -> list[str]:
        medians = [float(self.centre[np.searchsorted(np.cumsum(share), 0.5)]) for share in self.share]
        return [f"{m:.3g} [{h:.2g}]" for m, h in zip(medians, self.bandwidth, strict=True)]

    def rows_held(self) -> str:
        """Bins are narrow, and may hold single values."""
        return "A kernel density has the values of its column, or narrow bins of them."

    def _of_class(self, values: Floats, share: Floats, h: float) -> Floats:
        alive = share > 0
        log_kernel = -0.5 * np.square((values[:, None] - self.centre[alive]) / h) + np.log(share[alive])
        top = log_kernel.max(axis=1)
        inside = np.exp(log_kernel - top[:, None]).sum(axis=1)
        return np.asarray(top + np.log(inside) - np.log(h * np.sqrt(2.0 * np.pi)))


@dataclass(frozen=True)
class PoissonTerm(Term):
    """Poisson(rate_k). A column that is zero throughout says nothing."""

    kind = "poisson"
    spread = "rate"
    counts = True
    stored: ClassVar[Fields] = {"rate": POSITIVE}

    rate: Floats

    def _of_known(self, values: Floats) -> Floats:
        rate = self.rate[:, None]
        return np.asarray(xlogy(values, rate) - rate - gammaln(values + 1.0))

    def moments(self) -> tuple[Floats, Floats]:
        return self.rate, np.sqrt(self.rate)

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        return rng.poisson(self.rate[k], n)


@dataclass(frozen=True)
class GammaPoissonTerm(Term):
    """Poisson whose rate is known as well as Gamma(shape_k, rows_k) says: negative binomial."""

    kind = "gamma-poisson"
    spread = "shape"
    counts = True
    stored: ClassVar[Fields] = {"shape": POSITIVE, "rows": Array("K", low=TINY)}

    shape: Floats
    rows: Floats

    def _of_known(self, values: Floats) -> Floats:
        shape, rows = np.maximum(self.shape, TINY)[:, None], self.rows[:, None]
        binomial = gammaln(values + shape) - gammaln(shape) - gammaln(values + 1.0)
        return np.asarray(binomial + shape * np.log(rows / (rows + 1.0)) - values * np.log1p(rows))

    def moments(self) -> tuple[Floats, Floats]:
        mean = self.shape / self.rows
        return mean, np.sqrt(mean * (1.0 + 1.0 / self.rows))

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        return rng.poisson(rng.gamma(self.shape[k], 1.0 / self.rows[k], n))


@dataclass(frozen=True)
class BernoulliTerm(Term):
    """One with probability exp(log_one_k), zero with probability exp(log_zero_k)."""

    kind = "bernoulli"
    stored: ClassVar[Fields] = {"log_one": LOGS, "log_zero": LOGS}

    log_one: Floats
    log_zero: Floats

    def _of_known(self, values: Floats) -> Floats:
        return np.where(values > 0, self.log_one[:, None], self.log_zero[:, None])

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.asarray(rng.random(n) < np.exp(self.log_one[k]), dtype=np.int64)

    def support(self) -> tuple[Floats, Floats]:
        return np.array([0.0, 1.0]), np.ones(2)

    def shown(self) -> list[str]:
        return [f"{p:.1%}" for p in np.exp(self.log_one)]


@dataclass(frozen=True)
class LevelTerm(Term):
    """Level l with probability exp(log_prob_kl), a level that was never met with exp(log_unseen_k)."""

    kind = "categorical"
    stored: ClassVar[Fields] = {
        "levels": Value(),
        "log_prob": Array("K l", allowed=("-inf",), high=1e-9),
        "log_unseen": LOGS,
    }

    levels: NDArray[Any]
    log_prob: Floats
    log_unseen: Floats

    def check_stored(self, file: Incoming) -> None:
        """Levels are texts or numbers in order; those without a name come after them."""
        levels: Any = self.levels
        if not isinstance(levels, np.ndarray) or levels.ndim != 1 or levels.dtype.kind not in "Uf":
            raise damaged("levels", "is no list of levels")
        named, known = len(levels), file.letters["l"]
        if named > known or (named and self.is_numbered and named != known) or not (levels[1:] > levels[:-1]).all():
            raise damaged("levels", "does not go with its probabilities")

    @property
    def is_numbered(self) -> bool:
        """Are the levels 0, 1, 2, ...?"""
        return self.levels.dtype.kind != "U" and bool((self.levels == np.arange(len(self.levels))).all())

    def log_likelihood(self, values: Coded) -> Floats:
        result = np.zeros((len(self.log_unseen), len(values[1])))
        self.add_to(result, values)
        return result

    def add_to(self, scores: Floats, values: Coded) -> None:
        """Add the log likelihoods to scores K x n."""
        found, codes = values
        # An unknown level finds what comes after those that have a name.
        table = np.column_stack([self.log_prob[:, : len(self.levels)], self.log_unseen])
        place = np.append(self._places(found), len(self.levels))
        kernels.add_levels(by_column(table[:, place]), np.array([len(found)]), codes[:, None], scores)

    def draw(self, k: int, n: int, rng: np.random.Generator) -> NDArray[Any]:
        """Levels that were met; what is kept for others is shared among these."""
        chance = np.exp(self.log_prob[k, : len(self.levels)])
        return np.asarray(rng.choice(self.levels, size=n, p=chance / chance.sum()))

    def support(self) -> tuple[Coded, Floats]:
        return (self.levels, np.arange(len(self.levels), dtype=np.int32)), np.ones(len(self.levels))

    def shown(self) -> list[str]:
        best = self.log_prob.argmax(axis=1)
        shares = np.exp(self.log_prob[np.arange(len(best)), best])
        return [f"{short(self.levels[b])} {share:.0%}" for b, share in zip(best, shares, strict=True)]

    def _places(self, found: NDArray[Any]) -> NDArray[np.intp]:
        unknown = len(self.levels)
        if not len(found) or not unknown:
            return np.full(len(found), unknown, dtype=np.intp)
        at = np.minimum(np.searchsorted(self.levels, found), unknown - 1)
        return np.where(self.levels[at] == found, at, unknown)


@dataclass(frozen=True)
class AdditiveRule(Rule):
    """score_k(x) = offset_k + sum_j term_jk(x_j); columns are ``levelled`` or numbers, in the order of the schema.

    A row that no class can have says nothing: its scores are the constants.
    """

    kind = "additive"
    stored: ClassVar[Fields] = {
        "offset": OFFSET,
        "terms": Many(Of(Term, {"K": "K"}), "p"),
        "levelled": Many(Flag(), "p"),
    }
    reads = "mixed"

    offset: Floats
    terms: tuple[Term, ...]
    levelled: tuple[bool, ...]

    def check_stored(self, file: Incoming) -> None:  # noqa: ARG002 - letters cannot say it
        """Levels are read for the terms of levels."""
        if any(isinstance(term, LevelTerm) != each for term, each in zip(self.terms, self.levelled, strict=True)):
            raise damaged("levelled", "does not go with the terms")

    def fill(self, x: Any, output: Output, out: NDArray[Any]) -> bool:
        scores, finite = self._by_class(x)
        write_answers(scores, output, out, axis=0)
        return finite

    def contributions(self, x: Mixed) -> Floats:
        """The terms by themselves, n x K x p."""
        result = np.empty((x.shape[0], len(self.offset), len(self.terms)))
        for j, (term, values) in enumerate(zip(self.terms, self._columns(x), strict=True)):
            result[:, :, j] = term.log_likelihood(values).T
        return result

    def _by_class(self, x: Mixed) -> tuple[Floats, bool]:
        """K x n; False where numbers are infinite, or too large to be squared."""
        scores = np.repeat(self.offset[:, None], x.shape[0], axis=1)
        if isinstance(x.levels, Numbered) and self._numbered is not None:
            kernels.add_levels(*self._numbered, x.levels.codes, scores)
        else:
            for term, values in zip(self.terms, self._columns(x), strict=True):
                if isinstance(term, LevelTerm):
                    term.add_to(scores, values)
                else:
                    scores += term.log_likelihood(values)
        lost = ~np.isfinite(scores.max(axis=0))
        if not lost.any():
            return scores, not np.isinf(x.numbers).any()
        scores[:, lost] = self.offset[:, None]
        finite = not (np.abs(np.nan_to_num(x.numbers[lost])) > HUGE).any()
        return scores, finite and not np.isinf(x.numbers).any()

    @cached_property
    def _numbered(self) -> tuple[Floats, NDArray[np.int64]] | None:
        """The terms of all columns as one table, as ``add_levels`` takes it, where all levels are 0, 1, 2, ..."""
        terms = [term for term in self.terms if isinstance(term, LevelTerm) and term.is_numbered]
        if len(terms) < len(self.terms):
            return None
        parts = [part for term in terms for part in (term.log_prob, term.log_unseen[:, None])]
        return by_column(np.concatenate(parts, axis=1)), np.array([len(term.levels) for term in terms])

    def _columns(self, x: Mixed) -> list[Any]:
        levels, numbers = iter(x.levels), iter(x.numbers.T)
        return [next(levels) if levelled else next(numbers) for levelled in self.levelled]


def short(level: Any) -> str:
    """A level as text of at most 12 characters."""
    text = f"{level:g}" if isinstance(level, float) else str(level)
    return text if len(text) <= 12 else f"{text[:10]}.."


def _grid(centre: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Points around the centre of every class, and the widths between them."""
    steps = np.linspace(-_WIDTH, _WIDTH, _POINTS)
    points = np.unique(centre[:, None] + spread[:, None] * steps)
    if len(points) < 2:
        return points, np.ones(len(points))
    gaps = np.diff(points)
    return points, 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))


def _counts(centre: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Whole numbers around the centre of every class, all of them where they are not too many."""
    lo = np.floor(np.maximum(centre - _WIDTH * (spread + 1.0), 0.0))
    hi = np.ceil(centre + _WIDTH * (spread + 1.0))
    points = np.unique(np.concatenate([np.rint(np.linspace(a, b, 4001)) for a, b in zip(lo, hi, strict=True)]))
    gaps = np.diff(points)
    # Between far points each stands for those around it.
    weights = 0.5 * (np.append(gaps, 1.0) + np.append(1.0, gaps)) if len(points) > 1 else np.ones(len(points))
    return points, weights
