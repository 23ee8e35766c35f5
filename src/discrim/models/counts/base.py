"""What the models of counts share: their parameters, their methods, and the summary."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from discrim.errors import ParameterError, name_list, warn
from discrim.families.counts.recipe import LEAST_ALPHA, CountsRecipe, checked_alpha
from discrim.families.counts.rule import LimitRule
from discrim.families.rule import Output
from discrim.inference.conjugate import DirichletPosterior, log_odds_moments
from discrim.inference.summary import Summary, Table
from discrim.models.beyond import beyond_sklearn
from discrim.models.parameters import Check, array_like, boolean, either, none, number, numbers, one_of
from discrim.models.scoring import apply_rule
from discrim.models.shell import RecipeClassifier
from discrim.typing import Floats

# Parameters a and b of a Beta distribution for every class and column.
Pair = tuple[Floats, Floats]

LEVEL = 0.95
# Columns that are examined exactly for each class, and rows of the table for all classes together.
CANDIDATES = 200
SHOWN = 40

# Constraints on the parameters that all of them have.
SHARED: dict[str, Check] = {
    "alpha": either(number(0), array_like(), one_of("loo", "cv")),
    "force_alpha": boolean(),
    "fit_prior": boolean(),
    "class_prior": either(none(), array_like()),
    "class_alpha": either(number(0), numbers(0)),
    "alphas": either(none(), numbers(LEAST_ALPHA)),
}


@dataclass(eq=False, repr=False, kw_only=True)
class CountsClassifier(RecipeClassifier):
    """A classifier whose statistic is the sums of the columns in each class."""

    class_count_: Floats = field(init=False)
    class_log_prior_: Floats = field(init=False)
    feature_count_: Floats = field(init=False)
    feature_log_prob_: Floats = field(init=False)
    alpha_: Any = field(init=False)

    _constraints: ClassVar[dict[str, Check]] = SHARED
    _input_tags: ClassVar[Mapping[str, bool]] = {"sparse": True, "positive_only": True}

    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None
    class_alpha: Any = 0.0
    alphas: Any = None
    cv: Any = 10

    @abstractmethod
    def recipe(self) -> CountsRecipe:
        """The model that these parameters describe."""

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: any number of parts gives what one fit of all rows gives.

        A class that was not there before is added, unless ``classes`` was given: then labels outside it
        are an error.
        """
        recipe = self.recipe()
        if recipe.search() is not None and self.chosen is None:
            raise recipe.needs_rows_error()
        return super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)

    def predict_joint_log_proba(self, X: Any) -> NDArray[Any]:
        """log P(class k) + log P(row | class k), n x K."""
        rule, rows = self.solution().rule, self.rows_of(X)
        if not isinstance(rule, LimitRule):
            return apply_rule(rule, rows, Output.SCORES)
        scores, never = np.split(apply_rule(rule.both, rows, Output.SCORES), 2, axis=1)
        return np.where(never == 0, scores, np.where(never > 0, -np.inf, np.inf)).astype(scores.dtype)

    # The models without a parameter ``methods`` never have it: scikit-learn's checks would hand them negative numbers.
    decision_function = beyond_sklearn(RecipeClassifier.decision_function)

    def class_posterior(self) -> DirichletPosterior:
        """What is known of the classes' probabilities: Dirichlet(class_alpha + n_k)."""
        self._check_solved()
        return DirichletPosterior(self.class_count_ + np.asarray(self.class_alpha, dtype=np.float64))

    def _check_alpha(self) -> Any:
        """What is added to the counts: scikit-learn's classes have it under this name, and its tests ask for it."""
        alpha, remarks = checked_alpha(self.alpha, self.force_alpha, getattr(self, "n_features_in_", 0))
        for remark in remarks:
            warn(*remark)
        return alpha

    def _draw(self, X: Any, y: Any, **options: Any) -> Any:  # noqa: ARG002 - as of every model
        from discrim import plots

        return plots.telling(self, **options)

    def _counts_summary(self, title: str, here: Pair, rest: Pair) -> Summary:
        """Columns in order of the lower end of their log odds ratio, class against the other classes.

        ``here`` and ``rest`` are the posteriors of the columns' probabilities in each class and in all others. The
        interval is normal, from the moments of the log odds of the two Beta distributions.
        """
        s: Any = self.statistic_
        labels = [str(label) for label in self.classes_]
        columns = distinctive_table("Most distinctive columns", self._names, labels, here, rest, s.count)
        shares = np.column_stack([np.exp(self.class_log_prior_), s.rows, s.count.sum(axis=1)])
        groups = Table("Classes", labels, ["probability", "rows", "count"], shares)
        facts: dict[str, object] = {"Rows": int(s.rows.sum()), "Columns": s.n_features, "Classes": len(labels)}
        if np.ndim(self.alpha_) == 0:
            facts["alpha"] = float(self.alpha_)
        return Summary(title, facts, [columns, groups], names=self._names, classes=self.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def distinctive_table(
    title: str, names: Sequence[str], labels: Sequence[str], here: Pair, rest: Pair, count: Floats
) -> Table:
    """For each class what has the largest lower ends of the log odds ratios, with intervals and counts."""
    many = max(SHOWN // len(labels), 3)
    index, values = [], []
    for k in range(len(labels)) if len(labels) > 1 else ():
        a, b, c, d = (np.broadcast_to(part, count.shape)[k] for part in (*here, *rest))
        j, mean, half = _distinctive(a, b, c, d, many)
        index += [names[at] for at in j]
        values += [[labels[k], m, m - h, m + h, count[k, at]] for at, m, h in zip(j, mean, half, strict=True)]
    columns = ["class", "log odds ratio", "lower", "upper", "count"]
    return Table(title, index, columns, values, most_rows=max(SHOWN, 3 * len(labels)))


def against_all(a: Floats) -> Pair:
    """The posteriors of single probabilities where all of a class are Dirichlet(a_k)."""
    return a, a.sum(axis=1, keepdims=True) - a


def place_of(wanted: Any, known: Sequence[Any] | NDArray[Any], what: str) -> int:
    """The number of a column (given by name or number) or of a class (given by its label)."""
    found = [i for i, name in enumerate(known) if name == wanted]
    if found:
        return found[0]
    if what == "column" and isinstance(wanted, (int, np.integer)) and 0 <= wanted < len(known):
        return int(wanted)
    raise ParameterError(f"There is no {what} {wanted!r}; there are {name_list(known)}.")


def _distinctive(a: Floats, b: Floats, c: Floats, d: Floats, many: int) -> tuple[NDArray[np.intp], Floats, Floats]:
    """The columns of one class with the largest lower ends, their log odds ratios and half the lengths."""
    z = float(ndtri(0.5 * (1.0 + LEVEL)))
    possible = np.flatnonzero((a > 0) & (b > 0) & (c > 0) & (d > 0))
    a, b, c, d = (part[possible] for part in (a, b, c, d))
    # A first choice by the usual approximations, so that few columns need the exact ones.
    rough = np.log(a / b) - np.log(c / d) - z * np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    few = np.argsort(-rough, kind="stable")[:CANDIDATES]
    (mean, variance), (other, spread) = log_odds_moments(a[few], b[few]), log_odds_moments(c[few], d[few])
    ratio, half = mean - other, z * np.sqrt(variance + spread)
    best = np.argsort(-(ratio - half), kind="stable")[:many]
    return possible[few[best]], ratio[best], half[best]
