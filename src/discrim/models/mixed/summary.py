"""Which columns tell the classes apart, and how: the summary of additive rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.families.mixed.estimates import information
from discrim.families.mixed.rule import AdditiveRule, short
from discrim.inference.summary import Summary, Table
from discrim.models.counts.summary import Pair, telling_table
from discrim.typing import Floats


@dataclass(frozen=True)
class Levels:
    """A column of levels, how often each was met in each class (K x L), and what the prior adds to each."""

    name: str
    levels: Sequence[Any] | NDArray[Any]
    count: Floats
    alpha: float


def additive_summary(
    title: str,
    facts: Mapping[str, object],
    rule: AdditiveRule,
    groups: Table,
    heads: Sequence[str],
    columns: Mapping[str, Sequence[str | float]],
    levels: Sequence[Levels],
) -> Summary:
    """Facts, the columns with what they tell (bits of the class) and how they differ between classes, the groups.

    ``columns`` has for each column its name and what is to be said of it besides, under ``heads``; the most telling
    columns come first. Of the ``levels`` of columns those that tell each class from the others are given.
    """
    priors = np.exp(rule.offset) / np.exp(rule.offset).sum()
    bits = np.array([information(term, priors) for term in rule.terms])
    order = np.argsort(-bits, kind="stable")
    names = list(columns)
    shown = [term.shown() for term in rule.terms]
    entropy = -float(priors[priors > 0] @ np.log2(priors[priors > 0]))
    facts = {**facts, "Entropy of the class": f"{entropy:.4g} bits"}
    rows = [[*columns[names[j]], round(float(bits[j]), 4), *shown[j]] for j in order]
    table = Table("Columns, the most telling first", [names[j] for j in order], [*heads, "bits", *groups.index], rows)
    tables = [table, *_telling_levels(levels, groups.index), groups]
    return Summary(title, facts, tables, names=names, information=bits)


def _telling_levels(levels: Sequence[Levels], labels: Sequence[str]) -> list[Table]:
    """One table, or none where there is nothing to compare."""
    if not levels or len(labels) < 2:
        return []
    names = [f"{column.name} = {short(level)}" for column in levels for level in column.levels]
    pairs = [_against_others(column) for column in levels]
    here, rest = (
        (np.hstack([pair[side][0] for pair in pairs]), np.hstack([pair[side][1] for pair in pairs])) for side in (0, 1)
    )
    count = np.hstack([column.count[:, : len(column.levels)] for column in levels])
    return [telling_table("Most telling levels, class against the others", names, labels, here, rest, count)]


def _against_others(column: Levels) -> tuple[Pair, Pair]:
    """Beta parameters of each level's probability, K x L, in the class and in all others together."""
    inside, outside = column.count + column.alpha, column.count.sum(axis=0) - column.count + column.alpha
    known = slice(0, len(column.levels))
    return tuple((a[:, known], (a.sum(axis=1, keepdims=True) - a)[:, known]) for a in (inside, outside))  # type: ignore[return-value]


def groups_table(labels: Sequence[str], log_prior: Floats, rows: NDArray[np.int64]) -> Table:
    return Table("Groups", labels, ["prior", "rows"], np.column_stack([np.exp(log_prior), rows]))
