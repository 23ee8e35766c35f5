"""What naive Bayes of counts has learned: the columns that tell each class from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from discrim.errors import ParameterError, name_list
from discrim.inference.conjugate import log_odds_moments
from discrim.inference.summary import Summary, Table
from discrim.typing import Floats

# Parameters a and b of a Beta distribution for every class and column.
Pair = tuple[Floats, Floats]

LEVEL = 0.95
# Columns that are looked at closely for each class, and told of all classes together.
CANDIDATES = 200
TOLD = 40


def counts_summary(model: Any, names: list[str], title: str, here: Pair, rest: Pair) -> Summary:
    """Columns in order of the lower end of their log odds ratio, class against the other classes.

    ``here`` and ``rest`` are the posteriors of the columns' probabilities in each class and in all others. The
    interval is normal, from the moments of the log odds of the two Beta distributions.
    """
    s, labels = model.statistic_, [str(label) for label in model.classes_]
    telling = telling_table("Most telling columns", names, labels, here, rest, s.count)
    shares = np.column_stack([np.exp(model.class_log_prior_), s.rows, s.count.sum(axis=1)])
    groups = Table("Classes", labels, ["probability", "rows", "count"], shares)
    facts: dict[str, object] = {"Rows": int(s.rows.sum()), "Columns": s.n_features, "Classes": len(labels)}
    if np.ndim(model.alpha_) == 0:
        facts["alpha"] = float(model.alpha_)
    return Summary(title, facts, [telling, groups], names=names, classes=model.classes_)


def telling_table(
    title: str, names: Sequence[str], labels: Sequence[str], here: Pair, rest: Pair, count: Floats
) -> Table:
    """For each class what has the largest lower ends of the log odds ratios, with intervals and counts."""
    many = max(TOLD // len(labels), 3)
    index, values = [], []
    for k in range(len(labels)) if len(labels) > 1 else ():
        a, b, c, d = (np.broadcast_to(part, count.shape)[k] for part in (*here, *rest))
        j, mean, half = _telling(a, b, c, d, many)
        index += [names[at] for at in j]
        values += [[labels[k], m, m - h, m + h, count[k, at]] for at, m, h in zip(j, mean, half, strict=True)]
    columns = ["class", "log odds ratio", "lower", "upper", "count"]
    return Table(title, index, columns, values, most_rows=max(TOLD, 3 * len(labels)))


def place_of(wanted: Any, known: Sequence[Any] | NDArray[Any], what: str) -> int:
    """The number of a column (given by name or number) or of a class (given by its label)."""
    found = [i for i, name in enumerate(known) if name == wanted]
    if found:
        return found[0]
    if what == "column" and isinstance(wanted, (int, np.integer)) and 0 <= wanted < len(known):
        return int(wanted)
    raise ParameterError(f"There is no {what} {wanted!r}; there are {name_list(known)}.")


def _telling(a: Floats, b: Floats, c: Floats, d: Floats, many: int) -> tuple[NDArray[np.intp], Floats, Floats]:
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
