"""Naive Bayes of mixed columns: the terms of an additive rule, one kind of column after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from discrim.exports.program import (
    Input,
    Node,
    apply,
    const,
    exp,
    join,
    largest,
    lookup,
    no_export,
    number_level,
    numbers,
    take,
    total,
)
from discrim.exports.program import level_of as text_level
from discrim.later import cached_property
from discrim.typing import Floats

TINY = float(np.finfo(float).tiny)
Terms = list[tuple[int, Mapping[str, Any]]]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a model: what the caller gives, and how a rule reads them.

    ``whole`` says that numbers that stand for levels lose their fractions.
    """

    inputs: tuple[Input, ...]
    whole: bool = False
    source: Node | None = None

    @cached_property
    def numbers(self) -> Node:
        """All numbers as the caller gives them, or as they were computed in ``source``."""
        return self.source or numbers(sum(each.levels is None for each in self.inputs))

    @cached_property
    def dense(self) -> Node:
        """All columns as numbers in their order, categories as indicators of all levels but the first."""
        if all(each.levels is None for each in self.inputs):
            return self.numbers
        parts, place = [], 0
        for categories, run in groupby(self.inputs, key=lambda each: each.levels is not None):
            members = list(run)
            if not categories:
                parts.append(take(self.numbers, np.arange(place, place + len(members))))
                place += len(members)
                continue
            for each in members:
                levels = each.levels or ()
                if len(levels) > 1:
                    # No row has an answer where the level is unknown: infinity is never filled in.
                    table = np.vstack(
                        [np.eye(len(levels))[:, 1:], np.array([[np.inf], [np.nan]]) + np.zeros(len(levels) - 1)]
                    )
                    parts.append(lookup(self.level(self.inputs.index(each), levels), table, f"indicators_{len(parts)}"))
        return join(parts).called("x_all", "numbers, and indicators of categories")

    def number(self, j: int) -> int:
        """The place of column j among the numbers."""
        return sum(each.levels is None for each in self.inputs[:j])

    def level(self, j: int, levels: Any) -> Node:
        """The number of the level that column j has."""
        if self.inputs[j].levels is not None:
            return text_level(sum(each.levels is not None for each in self.inputs[:j]), levels, self.inputs[j])
        x = take(self.numbers, self.number(j))
        return number_level(apply("truncate", x) if self.whole else x, levels)


def additive_scores(fields: Mapping[str, Any], columns: Columns) -> tuple[Node, NDArray[np.intp], bool]:
    """offset_k + sum_j term_jk, the constants alone where no class can have the row; and whether all are finite."""
    possible = np.flatnonzero(~np.isneginf(fields["offset"]))
    offset = fields["offset"][possible]
    by_kind: dict[str, Terms] = {}
    for j, (kind, term) in enumerate(fields["terms"]):
        if kind not in KINDS:
            raise no_export(f"A column of the kind '{kind}'", f"Columns of the kinds {', '.join(KINDS)} can.")
        chosen = {
            name: value if name == "levels" else _of_classes(name, value, possible) for name, value in term.items()
        }
        by_kind.setdefault(kind, []).append((j, chosen))
    scores = const(offset, "offset")
    for kind, terms in by_kind.items():
        for part in KINDS[kind](terms, columns, len(possible)):
            scores = apply("add", scores, part)
    if not np.isinf(_least(by_kind)):
        return scores, possible, True
    scores = scores.called("all_scores", "log posteriors, -inf for classes that cannot have the row")
    lost = apply("at_least", -np.finfo(float).max, largest(scores, finite=False).called("highest"))
    scores = apply(
        "select", lost.called("nowhere", "1 where no class can have the row"), const(offset, "offset"), scores
    )
    return scores.called("scores", "log posteriors, up to a constant of the row"), possible, False


def _of_classes(name: str, value: Any, possible: NDArray[np.intp]) -> Floats:
    """Fields are by class, but for the centres of bins."""
    return np.asarray(value) if name == "centre" else np.asarray(value)[possible]


def _least(by_kind: Mapping[str, Terms]) -> float:
    """-inf where a term may be so, else a number."""
    logs = [term[name] for terms in by_kind.values() for _, term in terms for name in term if name.startswith("log_")]
    rates = [term["rate"] for _, term in by_kind.get("poisson", []) if term["rate"].any()]
    return min([0.0, *(float(each.min(initial=0.0)) for each in logs), *(-np.inf for r in rates if (r == 0).any())])


def _known(x: Node, term: Node) -> Node:
    """A term, or zero where the number is missing."""
    return apply("select", apply("missing", x), 0.0, term)


def _values(terms: Terms, columns: Columns) -> Node:
    return take(columns.numbers, [columns.number(j) for j, _ in terms])


def _stacked(terms: Terms, name: str) -> Floats:
    """Fields of several columns side by side, K x columns."""
    return np.column_stack([term[name] for _, term in terms])


def _by_class(parts: list[Node], name: str, note: str) -> list[Node]:
    return [join([total(part) for part in parts]).called(name, note)]


def _gaussian(terms: Terms, columns: Columns, classes: int) -> list[Node]:
    terms = [item for item in terms if item[1]["variance"].any()]
    if not terms:
        return []
    x, mean, variance = _values(terms, columns), _stacked(terms, "mean"), np.maximum(_stacked(terms, "variance"), TINY)
    constant, parts = -0.5 * np.log(2.0 * np.pi * variance), []
    for k in range(classes):
        gap = apply("square", apply("subtract", x, const(mean[k], f"mean_{k}")))
        z = apply("divide", gap, const(2.0 * variance[k], f"twice_variance_{k}"))
        parts.append(_known(x, apply("subtract", const(constant[k], f"log_height_{k}"), z)))
    return _by_class(parts, "gaussian", "log densities of the normal columns")


def _student(terms: Terms, columns: Columns, classes: int) -> list[Node]:
    terms = [item for item in terms if item[1]["scale"].any()]
    if not terms:
        return []
    x, mean, scale = _values(terms, columns), _stacked(terms, "mean"), np.maximum(_stacked(terms, "scale"), TINY)
    df, parts = _stacked(terms, "df"), []
    constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi) - np.log(scale)
    for k in range(classes):
        gap = apply("subtract", x, const(mean[k], f"location_{k}"))
        gap = apply("divide", gap, const(scale[k] * np.sqrt(df[k]), f"unit_{k}"))
        tails = apply("log1p", apply("square", gap))
        tails = apply("multiply", tails, const(0.5 * (df[k] + 1.0), f"power_{k}"))
        parts.append(_known(x, apply("subtract", const(constant[k], f"log_peak_{k}"), tails)))
    return _by_class(parts, "student", "log densities of the Student columns")


def _kernel(terms: Terms, columns: Columns, classes: int) -> list[Node]:
    found = []
    for j, term in terms:
        if not term["bandwidth"].any():
            continue
        x, parts = take(columns.numbers, columns.number(j)), []
        for k in range(classes):
            share, h = term["share"][k], max(float(term["bandwidth"][k]), TINY)
            alive = share > 0
            gap = apply("divide", apply("subtract", x, const(term["centre"][alive], f"centre_{j}_{k}")), h)
            logs = apply("multiply", apply("square", gap), 0.5)
            logs = apply("subtract", const(np.log(share[alive]), f"log_share_{j}_{k}"), logs).called(f"bumps_{j}_{k}")
            top = largest(logs).called(f"bump_{j}_{k}")
            inside = apply("log", total(exp(apply("subtract", logs, top))))
            height = float(np.log(h * np.sqrt(2.0 * np.pi)))
            parts.append(_known(x, apply("subtract", apply("add", top, inside), height)))
        found.append(join(parts).called(f"kernel_{j}", "log densities of a column by kernels"))
    return found


def _poisson(terms: Terms, columns: Columns, classes: int) -> list[Node]:
    """Without log x!, which is the same in all classes."""
    terms = [item for item in terms if item[1]["rate"].any()]
    if not terms:
        return []
    x, rate, parts = _values(terms, columns), _stacked(terms, "rate"), []
    for k in range(classes):
        positive = rate[k] > 0
        log_rate = np.log(np.where(positive, rate[k], 1.0))
        term = apply("multiply", x, const(log_rate, f"log_rate_{k}"))
        term = apply("subtract", term, const(rate[k], f"rate_{k}"))
        if not positive.all():
            # Zero is all that a rate of zero allows.
            never = apply("multiply", apply("above", x, 0.0), const(~positive, f"never_{k}"))
            term = apply("select", never, -np.inf, term)
        parts.append(_known(x, term))
    return _by_class(parts, "poisson", "log probabilities of the counts, without those of the factorials")


def _gamma_poisson(terms: Terms, columns: Columns, classes: int) -> list[Node]:
    """Without log x!, which is the same in all classes."""
    terms = [item for item in terms if item[1]["shape"].any()]
    if not terms:
        return []
    x, shape, rows, parts = (
        _values(terms, columns),
        np.maximum(_stacked(terms, "shape"), TINY),
        _stacked(terms, "rows"),
        [],
    )
    constant = shape * np.log(rows / (rows + 1.0)) - gammaln(shape)
    for k in range(classes):
        gamma = apply("log_gamma", apply("add", x, const(shape[k], f"shape_{k}")))
        decay = apply("multiply", x, const(np.log1p(rows[k]), f"decay_{k}"))
        term = apply("add", apply("subtract", gamma, decay), const(constant[k], f"log_start_{k}"))
        parts.append(_known(x, term))
    return _by_class(parts, "gamma_poisson", "log probabilities of the counts, without those of the factorials")


def _bernoulli(terms: Terms, columns: Columns, classes: int) -> list[Node]:
    x, one, zero, parts = _values(terms, columns), _stacked(terms, "log_one"), _stacked(terms, "log_zero"), []
    for k in range(classes):
        ones, zeros = const(one[k], f"log_one_{k}"), const(zero[k], f"log_zero_{k}")
        parts.append(_known(x, apply("select", apply("above", x, 0.0), ones, zeros)))
    return _by_class(parts, "bernoulli", "log probabilities of the columns of zeros and ones")


def _categorical(terms: Terms, columns: Columns, classes: int) -> list[Node]:
    found = []
    for j, term in terms:
        levels = term["levels"]
        # A missing level says nothing, or leaves the row without an answer.
        missing = np.full((1, classes), 0.0 if columns.inputs[j].missing else np.nan)
        logs = [term["log_prob"][:, : len(levels)].T, term["log_unseen"][None], missing]
        named = [str(level) for level in levels] if levels.dtype.kind == "U" else levels
        place = columns.level(j, named)
        found.append(
            lookup(place, np.vstack(logs), f"log_prob_{j}").called(f"log_level_{j}", "log probabilities of a level")
        )
    return found


KINDS: dict[str, Callable[[Terms, Columns, int], list[Node]]] = {
    "gaussian": _gaussian,
    "student-t": _student,
    "kernel": _kernel,
    "poisson": _poisson,
    "gamma-poisson": _gamma_poisson,
    "bernoulli": _bernoulli,
    "categorical": _categorical,
}
