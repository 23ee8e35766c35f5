"""Answers of a classifier, from its plain description: posteriors, the label, and what wrappers make of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DiscrimWarning, warn
from discrim.exports.coupling import coupled
from discrim.exports.maps import mapped
from discrim.exports.program import (
    Input,
    Node,
    Program,
    affine,
    apply,
    const,
    first_largest,
    join,
    label_list,
    largest,
    logistic,
    lookup,
    no_export,
    softmax,
    take,
    total,
)
from discrim.exports.rules import Described, Fields, Scores, raw_scores, scores_of
from discrim.exports.terms import Columns
from discrim.typing import Floats

# Scores of pairs are added within these bounds.
LARGE = 1e300
# Posteriors under this have its logarithm.
LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Answer:
    """The place ``best`` of the answer among ``labels``, chosen by ``scores``; the posterior of each of ``classes``.

    ``logs`` are log posteriors up to a constant, of the classes ``possible``; ``margin`` is the decision function of
    two classes. ``offered`` says whether the model shows its posteriors.
    """

    classes: NDArray[Any]
    labels: NDArray[Any]
    best: Node
    scores: Node
    posterior: Node | None
    offered: bool
    logs: Node | None = None
    possible: NDArray[np.intp] | None = None
    margin: Node | None = None
    by_score: bool = True

    def posteriors(self, who: str) -> Node:
        """The posteriors, for a wrapper that needs them."""
        if self.posterior is None:
            raise no_export(f"A {who} around a model without posteriors", "Put it around one that has predict_proba.")
        return self.posterior


def program_of(described: Described, title: str) -> Program:
    """The scoring program of a described classifier."""
    columns, named = columns_of(described)
    answer = answer_of(described, columns)
    shown = answer.posterior if answer.offered else None
    return Program(
        columns.inputs,
        named,
        label_list(answer.labels),
        answer.best.called("best", "the place of the answer"),
        answer.scores,
        label_list(answer.classes),
        shown,
        title,
    )


def columns_of(described: Described) -> tuple[Columns, bool]:
    """What the caller gives, and whether the columns have names of their own."""
    kind, fields = described
    if kind == "classifier":
        return _columns(fields["columns"], fields)
    if kind == "prepared":
        gaps = fields["columns"] is not None
        columns, named = _columns(fields["columns"], {}) if gaps else columns_of(fields["inner"])
        inputs = (_read_as_fitted(each, fields, missing=gaps or each.missing) for each in columns.inputs)
        return replace(columns, inputs=tuple(inputs)), named
    if kind == "pipeline" and fields["maps"]:
        return _columns(fields["maps"][0][1]["columns"], {})
    if kind == "documents":
        return Columns(tuple(Input(name) for name in fields["names"])), True
    if kind in {"one against rest", "one against one", "output code"}:
        models = [part for part in fields["parts"] if part[0] != "constant"]
        if not models:
            raise no_export("A scheme without any fitted model", "Fit it to rows of several classes.")
        return columns_of(models[0])
    return columns_of(fields["inner"])


def _columns(described: Described, fields: Fields) -> tuple[Columns, bool]:
    kind, own = described
    names, named = own["names"], bool(own["named"])
    if kind == "columns":
        levels = own["levels"] or [None] * len(names)
        return Columns(tuple(Input(name, _texts(each)) for name, each in zip(names, levels, strict=True))), named
    inputs, missing = [], not fields["refuses_missing"]
    for name, of, (_, term) in zip(names, own["kinds"], fields["rule"][1]["terms"], strict=True):
        levels = tuple(term["levels"].tolist()) if of == "text" else None
        inputs.append(Input(name, levels, missing=missing, boolean=of == "boolean"))
    return Columns(tuple(inputs), whole=fields["refuses_missing"]), named


def _read_as_fitted(column: Input, fields: Fields, *, missing: bool) -> Input:
    """The column with its unknown levels as those that rare ones became, or as missing."""
    column = replace(column, of_numbers=column.name in fields["of numbers"])
    if column.levels is None or column.name not in fields["rare"]:
        return replace(column, missing=missing)
    rare = fields["rare"][column.name]
    known = rare is not None and rare in column.levels
    other = column.levels.index(rare) if known else len(column.levels) + 1
    return replace(column, missing=missing, other=other, marks=tuple(fields["marks"]))


def _texts(levels: Sequence[Any] | None) -> tuple[Any, ...] | None:
    """Levels as text; None is a level that no row has."""
    return None if levels is None else tuple(None if level is None else str(level) for level in levels)


def answer_of(described: Described, columns: Columns) -> Answer:
    """The answer of a described classifier to rows of these columns."""
    kind, fields = described
    if kind not in KINDS:
        raise no_export(f"A classifier of the kind '{kind}'", f"Those of the kinds {', '.join(KINDS)} can.")
    return KINDS[kind](fields, columns)


def _classifier(fields: Fields, columns: Columns) -> Answer:
    found, classes = scores_of(fields["rule"], columns), fields["classes"]
    if found.has_posterior and len(classes) < 2:
        raise no_export("A model of one class", "Its answer is always the same; fit it to rows of several classes.")
    posterior = _posterior(fields["posterior"], found, len(classes)) if found.has_posterior else None
    margin = _margin(fields, found, columns) if len(classes) == len(found.possible) == 2 else None
    return Answer(
        classes,
        classes[found.among],
        found.best,
        found.by,
        posterior,
        fields["offers"],
        found.values if fields["posterior"] == "softmax" and found.has_posterior else None,
        found.possible,
        margin if fields["decides"] or posterior is None else take(posterior, 1),
        by_score=found.best.name != "nearest",
    )


def _posterior(form: str | None, found: Scores, size: int) -> Node | None:
    """What a model makes of its scores, n x K."""
    values, top = found.values, found.top
    if form is None:
        return None
    if form == "softmax" or (form.startswith("each logistic") and size == 2):
        return _spread(softmax(values, top), found.possible, size)
    if form == "each clipped":
        if size == 2:
            margin = apply("subtract", take(values, 1), take(values, 0))
            one = apply("multiply", apply("add", apply("smaller", apply("larger", margin, -1.0), 1.0), 1.0), 0.5)
            return join([apply("subtract", 1.0, one), one])
        each = apply("multiply", apply("add", apply("smaller", apply("larger", values, -1.0), 1.0), 1.0), 0.5)
    else:
        each = logistic(values)
    if form == "each logistic, else the largest":
        least = float(np.finfo(float).tiny)
        each = apply("add", each, apply("multiply", apply("at_least", values, top), least))
    each = each.called("each", "probability of each class against all others")
    return _shares(each, 1.0 / size)


def _shares(each: Node, otherwise: float) -> Node:
    """Divided by their sum, where that is positive."""
    whole = total(each).called("total")
    return apply("select", apply("above", whole, 0.0), apply("divide", each, whole), otherwise).called("posterior")


def _spread(part: Node, possible: NDArray[np.intp], size: int) -> Node:
    """Zeros for the classes that cannot occur."""
    if len(possible) == size:
        return part
    places = np.full(size, len(possible))
    places[possible] = np.arange(len(possible))
    return take(join([part, const(0.0)]), places).called("all_posteriors")


def _margin(fields: Fields, found: Scores, columns: Columns) -> Node:
    """The decision function of two classes, of a linear rule in one product."""
    first, second = fields["margin"]
    kind, rule = fields["rule"]
    if kind == "linear":
        weights = np.array([[first, second]])
        joined = {**rule, "coef": weights @ rule["coef"], "offset": weights @ rule["offset"]}
        return raw_scores((kind, joined), columns.dense)
    negative, positive = (take(found.values, k) for k in (0, 1))
    return apply("add", apply("multiply", negative, first), apply("multiply", positive, second))


def _costs(fields: Fields, columns: Columns) -> Answer:
    inner = answer_of(fields["inner"], columns)
    costs: Floats = fields["costs"]
    gain = (costs.max(axis=1, keepdims=True) - costs).T
    gains = affine(inner.posteriors("cost-sensitive classifier"), gain, 0.0, ("gain", "nothing"))
    gains = gains.called("gains", "what each action saves, on average")
    best = first_largest(gains, largest(gains).called("most"))
    return replace(inner, labels=fields["actions"], best=best, scores=gains, margin=None, by_score=False)


def _threshold(fields: Fields, columns: Columns) -> Answer:
    inner, column = answer_of(fields["inner"], columns), int(fields["column"])
    if fields["by_posterior"]:
        score = take(inner.posteriors("threshold"), column)
    else:
        score = _margin_of(inner)
        score = score if column else apply("negative", score)
    above = apply("above", score, float(fields["threshold"]))
    labels = inner.classes[[1 - column, column]]
    return replace(inner, labels=labels, best=above, by_score=False)


def _margin_of(answer: Answer) -> Node:
    if answer.margin is None:
        raise no_export("A model of two classes one of which cannot occur", "Fit it with positive priors.")
    return answer.margin


def _reject(fields: Fields, columns: Columns) -> Answer:
    inner = answer_of(fields["inner"], columns)
    posterior = inner.posteriors("rejecting classifier")
    top = largest(posterior).called("most", "the largest posterior")
    best = first_largest(posterior, top).called("likeliest")
    slack = 4.0 * float(np.finfo(float).eps)
    least = lookup(best, (fields["thresholds"] - slack)[:, None], "least_posterior")
    answer = apply("select", apply("above", least, top), float(len(inner.classes)), best)
    return replace(inner, labels=_with_spare(inner.classes, fields["spare"]), best=answer, margin=None, by_score=False)


def _with_spare(classes: NDArray[Any], *labels: Any) -> NDArray[Any]:
    return np.array([*classes.tolist(), *labels], dtype=object)


def _shifted(fields: Fields, columns: Columns) -> Answer:
    inner = answer_of(fields["inner"], columns)
    before, now = fields["training"], fields["priors"]
    logs, possible = inner.logs, inner.possible
    if logs is None or possible is None:
        posterior = inner.posteriors("classifier for shifted priors")
        logs, possible = apply("log", apply("larger", posterior, LEAST)), np.arange(len(inner.classes))
    kept = possible[(before[possible] > 0) & (now[possible] > 0)]
    shift = np.log(now[kept]) - np.log(before[kept])
    values = apply("add", take(logs, np.searchsorted(possible, kept)), const(shift, "shift"))
    values = values.called("shifted", "log posteriors under the new shares of the classes")
    top = largest(values).called("shifted_top")
    posterior = _spread(softmax(values, top).called("shifted_posterior"), kept, len(inner.classes))
    labels, best = inner.classes[kept], first_largest(values, top)
    return replace(
        inner, labels=labels, best=best, scores=values, posterior=posterior, logs=values, possible=kept, margin=None
    )


def _constant(fields: Fields, _columns: Columns) -> Answer:
    answer, positive = float(fields["answer"]), float(fields["answer"] > 0)
    nothing = const(0.0)
    posterior = const([1.0 - positive, positive])
    classes = np.array([0, 1])
    return Answer(classes, classes, nothing, nothing, posterior, offered=True, margin=const(answer))


def _margins(fields: Fields, columns: Columns) -> Node:
    """The score of the positive side of each model of a scheme."""
    if fields["joint"] is not None:
        return raw_scores(fields["joint"], columns.dense).called("margins", "the score of each model")
    parts = [_margin_of(answer_of(part, columns)) for part in fields["parts"]]
    return join(parts).called("margins", "the score of each model")


def _positives(fields: Fields, columns: Columns) -> Node:
    """The probability of the positive side of each model of a scheme."""
    if fields["joint_odds"] is not None:
        return logistic(raw_scores(fields["joint_odds"], columns.dense).called("odds", "log odds of each model"))
    parts = [take(answer_of(part, columns).posteriors("scheme"), 1) for part in fields["parts"]]
    return join(parts).called("positives", "the probability of the positive side of each model")


def _one_against_rest(fields: Fields, columns: Columns) -> Answer:
    classes, level = fields["classes"], float(fields["threshold"])
    if fields["several_labels"]:
        raise no_export("A model of several labels", "Fit and export one model for each label.")
    margins, posterior, spare = _margins(fields, columns), None, fields["spare"]
    if fields["offers"]:
        positive = _positives(fields, columns)
        if positive.width == 1:
            positive = join([apply("subtract", 1.0, positive), positive])
        posterior = _shares(positive.called("positive"), 0.0)
    if margins.width == 1:
        best, labels = apply("above", margins, level), classes
    else:
        best, labels = first_largest(margins, largest(margins).called("top")), classes
        if fields["rule"] != "argmax":
            best = _alone(apply("above", margins, level).called("positive"), fields["rule"])
            spares = spare if isinstance(spare, tuple) else (spare, spare)
            labels = _with_spare(classes, *spares)
    return Answer(classes, labels, best, margins, posterior, bool(fields["offers"]), by_score=False)


def _alone(positive: Node, rule: str) -> Node:
    """The place of the only model that says yes; the number of classes where none does, one more where several do."""
    size = positive.width
    if rule == "all-but-last":
        others = take(positive, np.arange(size - 1))
        positive = join([others, apply("at_least", 0.0, total(others))]).called("positive_of_all")
    count = total(positive).called("count", "models that say yes")
    first = first_largest(positive, largest(positive).called("most_positive")).called("first")
    some = apply("select", apply("at_least", count, 1.0), first, float(size))
    return apply("select", apply("at_least", count, 2.0), float(size + 1), some)


def _one_against_one(fields: Fields, columns: Columns) -> Answer:
    classes, rule, level = fields["classes"], fields["rule"], float(fields["threshold"])
    size, pairs = len(classes), list(combinations(range(len(fields["classes"])), 2))
    margins = apply("larger", apply("smaller", _margins(fields, columns), LARGE), -LARGE).called("margins")
    side, start = np.zeros((size, len(pairs))), np.zeros(size)
    for b, (i, j) in enumerate(pairs):
        side[i, b], side[j, b] = -1.0, 1.0
        start[i] += 1.0
    wins = apply("above", margins, level).called("wins", "1 where the second class of a pair wins")
    votes = affine(wins, side, start, ("side", "first")).called("votes", "pairs that each class wins")
    sums = affine(margins, side, 0.0, ("direction", "nothing")).called("sums", "sums of the scores for each class")
    ranked = votes
    if rule == "scores":
        ranked = sums
    elif rule == "votes":
        scale = apply("multiply", apply("add", apply("absolute", sums), 1.0), 3.0)
        ranked = apply("add", votes, apply("divide", sums, scale)).called("ranked", "votes, ties broken by the sums")
    posterior = _of_pairs(fields, columns) if fields["offers"] else None
    labels = classes
    if rule in {"all-positive", "majority"}:
        most = largest(votes).called("most")
        clear = apply("at_least", most, size - 1.0)
        if rule == "majority":
            clear = apply("at_least", 1.0, total(apply("at_least", votes, most)))
        best = apply("select", clear, first_largest(votes, most).called("winner"), float(size))
        labels = _with_spare(classes, fields["spare"])
    elif size == 2:
        best = apply("above", take(ranked, 1), level)
    else:
        best = first_largest(ranked, largest(ranked).called("top"))
    return Answer(classes, labels, best, margins, posterior, bool(fields["offers"]), by_score=False)


def _of_pairs(fields: Fields, columns: Columns) -> Node | None:
    """The posteriors that follow from those of the pairs, where a fixed number of steps gives them."""
    size = len(fields["classes"])
    if size > 2 and fields["coupling"] != "wu-lin-weng":
        warn(
            f"The posteriors of coupling='{fields['coupling']}' are found step by step until they stand still, which "
            "no export does: the labels alone are exported. Set coupling='wu-lin-weng' to export posteriors too.",
            DiscrimWarning,
        )
        return None
    positive = _positives(fields, columns)
    if size == 2:
        return join([apply("subtract", 1.0, positive), positive])
    return coupled(positive, size, float(fields["least"]))


def _output_code(fields: Fields, columns: Columns) -> Answer:
    margins, book = _margins(fields, columns), fields["code_book"]
    nearness = affine(margins, 2.0 * book, -np.einsum("kb,kb->k", book, book), ("twice_code", "minus_squares"))
    nearness = nearness.called("nearness", "grows as the distance from the word of a class falls")
    best = first_largest(nearness, largest(nearness).called("top"))
    return Answer(fields["classes"], fields["classes"], best, nearness, None, offered=False, by_score=False)


def _prepared(fields: Fields, columns: Columns) -> Answer:
    if fields["columns"] is None:
        return answer_of(fields["inner"], columns)
    x = columns.dense
    gaps = apply("missing", x)
    z = apply("select", gaps, const(fields["fill"], "fill"), x)
    if len(fields["flags"]):
        z = join([z, take(gaps.called("gaps"), fields["flags"])])
    z = z.called("filled", "gaps are filled, and marked by further columns")
    if fields["scale"] is not None:
        if fields["centre"] is not None:
            z = apply("subtract", z, const(fields["centre"], "centre"))
        z = apply("divide", z, const(fields["scale"], "scale")).called("standardised")
    return answer_of(fields["inner"], made(z))


def _pipeline(fields: Fields, columns: Columns) -> Answer:
    x = columns.dense
    for step in fields["maps"]:
        x = mapped(step, x)
    return answer_of(fields["inner"], made(x) if fields["maps"] else columns)


def made(x: Node) -> Columns:
    """Columns that were computed."""
    return Columns(tuple(Input(f"x{j}") for j in range(x.width)), source=x)


def _documents(fields: Fields, columns: Columns) -> Answer:
    return answer_of(fields["inner"], columns)


KINDS: dict[str, Callable[[Mapping[str, Any], Columns], Answer]] = {
    "classifier": _classifier,
    "costs": _costs,
    "threshold": _threshold,
    "rejection": _reject,
    "shifted priors": _shifted,
    "constant": _constant,
    "one against rest": _one_against_rest,
    "one against one": _one_against_one,
    "output code": _output_code,
    "prepared": _prepared,
    "pipeline": _pipeline,
    "documents": _documents,
}
