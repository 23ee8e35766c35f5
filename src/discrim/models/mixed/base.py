"""What the models of mixed columns share: how they read them, what each column contributes, and the summary."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.families.mixed.estimates import information
from discrim.families.mixed.recipe import AdditiveRecipe, Seen
from discrim.families.mixed.rule import AdditiveRule, short
from discrim.families.recipe import Solved
from discrim.families.rule import Output
from discrim.inference.summary import Summary, Table
from discrim.models.counts.base import Pair, against_all, distinctive_table
from discrim.models.scoring import each_block, unscored
from discrim.models.shell import RecipeClassifier
from discrim.sources import Schema, open_mixed
from discrim.typing import Floats


@dataclass(frozen=True)
class Levels:
    """A column of levels, how often each was met in each class (K x L), and what the prior adds to each."""

    name: str
    levels: Sequence[Any] | NDArray[Any]
    count: Floats
    alpha: float


class MixedClassifier(RecipeClassifier):
    """A naive Bayes model whose columns are numbers or levels."""

    class_log_prior_: Floats
    _design: Schema

    @abstractmethod
    def recipe(self) -> AdditiveRecipe[Any]:
        """The model that these parameters describe."""

    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """log pi_k + log likelihood of the row in class k, n x K."""
        return self._apply(X, Output.SCORES)

    def contributions(self, X: Any) -> Floats:
        """What each column adds to the score of each class, n x K x p: log p(x_j | class k).

        With ``class_log_prior_`` they sum to ``predict_joint_log_proba``; differences between two classes are the
        terms of their log odds. A missing value adds nothing.
        """
        rule, rows = self._additive, self.rows_of(X)
        parts = each_block(rows, lambda x: (rule.contributions(x), not np.isinf(x.numbers).any()))
        if not all(finite for _, finite in parts):
            raise unscored(rows)
        return np.concatenate([part for part, _ in parts])

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:  # noqa: ARG002 - as of every model
        from discrim import plots

        return plots.informative(self, **options)

    def _opened(self, X: Any, y: Any, sample_weight: Any, design: Any) -> Any:
        recipe = self.recipe()
        if design is not None:
            solved: Solved | None = self.__dict__.get("_solved")
            statistic: Any = self.statistic_ if solved is None else None
            seen = Seen.of_statistic(statistic) if solved is None else Seen.of_rule(self._additive)
            check = partial(recipe.checked, columns=design, like=seen)
            return open_mixed(X, y, sample_weight, schema=design.reading(design.levelled, check))
        rows = open_mixed(X, y, sample_weight)
        columns: Any = rows.design
        columns = columns.reading(recipe.levelled(columns))
        return rows.with_design(columns.reading(columns.levelled, partial(recipe.checked, columns=columns, like=None)))

    @property
    def _additive(self) -> AdditiveRule:
        rule = self.solution().rule
        assert isinstance(rule, AdditiveRule)
        return rule

    def _additive_summary(
        self, title: str, heads: Sequence[str], columns: Mapping[str, Sequence[str | float]], levels: Sequence[Levels]
    ) -> Summary:
        """Facts, the columns with their information (bits of the class) and their distributions, and the groups.

        ``columns`` has for each column its name and what else is shown of it, under ``heads``; the most informative
        columns come first. Of the ``levels`` of columns those that distinguish each class from the others are shown.
        """
        rule, rows, labels = self._additive, self.statistic_.rows, [str(label) for label in self.classes_]
        priors = np.exp(rule.offset) / np.exp(rule.offset).sum()
        entropy = -float(priors[priors > 0] @ np.log2(priors[priors > 0]))
        bits = np.array([information(term, priors) for term in rule.terms])
        order, names = np.argsort(-bits, kind="stable"), list(columns)
        shown = [[*columns[names[j]], round(float(bits[j]), 4), *rule.terms[j].shown()] for j in order]
        heads = [*heads, "bits", *labels]
        tables = [Table("Columns, the most informative first", [names[j] for j in order], heads, shown)]
        if levels and len(labels) > 1:
            tables.append(_levels_table(levels, labels))
        shares = np.column_stack([np.exp(self.class_log_prior_), rows])
        tables.append(Table("Groups", labels, ["prior", "rows"], shares))
        facts: dict[str, object] = {"Rows": int(rows.sum()), "Columns": len(names), "Classes": len(labels)}
        facts["Entropy of the class"] = f"{entropy:.4g} bits"
        return Summary(title, facts, tables, names=names, information=bits)


def _levels_table(levels: Sequence[Levels], labels: Sequence[str]) -> Table:
    names = [f"{column.name} = {short(level)}" for column in levels for level in column.levels]
    here = _joined_pairs(levels, [column.count for column in levels])
    rest = _joined_pairs(levels, [column.count.sum(axis=0) - column.count for column in levels])
    count = np.hstack([column.count[:, : len(column.levels)] for column in levels])
    return distinctive_table("Most distinctive levels, class against the others", names, labels, here, rest, count)


def _joined_pairs(levels: Sequence[Levels], counts: Sequence[Floats]) -> Pair:
    """The posteriors of the probabilities of all levels side by side; levels that have no name yet are left out."""
    pairs = [against_all(count + column.alpha) for column, count in zip(levels, counts, strict=True)]
    a, b = (
        np.hstack([pair[i][:, : len(column.levels)] for column, pair in zip(levels, pairs, strict=True)])
        for i in (0, 1)
    )
    return a, b
