"""Which columns tell the classes apart, and how: the summary of additive rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discrim.inference.summary import Summary, Table
from discrim.solvers.additive import AdditiveRule, information

Floats = NDArray[np.float64]


def additive_summary(
    title: str,
    facts: Mapping[str, object],
    rule: AdditiveRule,
    groups: Table,
    heads: Sequence[str],
    columns: Mapping[str, Sequence[str | float]],
) -> Summary:
    """Facts, the columns with what they tell (bits of the class) and how they differ between classes, the groups.

    ``columns`` has for each column its name and what is to be said of it besides, under ``heads``; the most telling
    columns come first.
    """
    priors = np.exp(rule.offset) / np.exp(rule.offset).sum()
    bits = np.array([information(term, priors) for term in rule.terms])
    order = np.argsort(-bits, kind="stable")
    names = list(columns)
    told = [term.told() for term in rule.terms]
    entropy = -float(priors[priors > 0] @ np.log2(priors[priors > 0]))
    facts = {**facts, "Entropy of the class": f"{entropy:.4g} bits"}
    rows = [[*columns[names[j]], round(float(bits[j]), 4), *told[j]] for j in order]
    table = Table("Columns, the most telling first", [names[j] for j in order], [*heads, "bits", *groups.index], rows)
    return Summary(title, facts, [table, groups], names=names, information=bits)


def groups_table(labels: Sequence[str], log_prior: Floats, rows: NDArray[np.int64]) -> Table:
    return Table("Groups", labels, ["prior", "rows"], np.column_stack([np.exp(log_prior), rows]))
