"""Every public estimator with parameters, rows and labels at random: after a file it answers the same bits."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.base import BaseEstimator

import discrim
from discrim import basis, decision, models
from discrim.decision import multiclass
from discrim.store.files import to_bytes
from discrim.text import WordCounts

from .conftest import again, assert_same_answers

PUBLIC = {
    name: getattr(room, name)
    for room in (models, decision, multiclass, basis)
    for name in room.__all__
    if isinstance(getattr(room, name), type) and issubclass(getattr(room, name), BaseEstimator)
}
# A base class, and what has a function of the user, which no file holds.
NO_FILES = {"Basis", "FunctionBasis", "FormulaBasis"}
INNER = [
    discrim.GaussianNB(), discrim.LinearDiscriminantAnalysis(), discrim.LogisticRegression(), discrim.Perceptron(),
    discrim.QuadraticDiscriminantAnalysis(reg_param=0.2), discrim.RidgeClassifier(methods="all"),
]  # fmt: skip
PLAIN = [None, True, False, 0, 1, 2, 3, 7, -1.0, 0.3, 0.8, 1.0, 2.5, np.inf, [0.2, 0.3, 0.5], [0.5, 0.5], [0.1, 1.0]]
# Parameters that no table of constraints has, or whose values are no numbers and no words.
GIVEN = {
    "estimator": INNER,
    "model": [discrim.MultinomialNB(), discrim.LogisticRegression(), discrim.LinearDiscriminantAnalysis()],
    "counts": [None, WordCounts(), WordCounts(buckets=16), WordCounts(ngram_range=(1, 2))],
    "formula": ["y ~ a + b * c", "y ~ poly(a, 2) + C(b)", "y ~ bs(a, df=4) + log(c + 1)", "y ~ center(a):c + I(b**2)"],
    "densities": [[stats.norm(0, 2), stats.norm(1)], [stats.gamma(2.0), stats.expon()]],
    "likelihoods": [None, {0: "kernel"}, {0: "poisson", 1: "gamma-poisson"}, {2: "student-t"}, {3: "bernoulli"}],
    "costs": [None, [[0, 5], [1, 0]], [[0, 1, 2], [3, 0, 1], [1, 1, 0]]],
    "covariance_estimator": [None],
    "cv": [2, 3],
    "scoring": [None],
    "trace": [False],
    "loss": ["log_loss", "hinge", "modified_huber", "squared_error", "perceptron"],
    "parts": [[None, basis.SplineBasis(2), basis.StepBasis(2), None], [basis.RadialBasis(2), None, None, None]],
    "knots": [2, 3, [1.0, 2.0]],
    "degree": [1, 2, 3],
    "centres": [2, 5],
    "width": [None, 0.7],
    "gamma": ["scale", 0.1, 1.0],
    "n_components": [1, 2, 9],
    "placement": ["quantile", "uniform", "kmeans", "data"],
    "extrapolation": ["linear", "constant", "continue"],
    "values": ["step", "sign"],
    "thresholds": [None, [0.5, 0.7, 0.9], [0.6, 0.8]],
    "reject_label": [None, "unsure", -5],
    "unassigned_label": [None, "none", -5],
}  # fmt: skip
DOCUMENTS = ["cheap pills now", "see you at noon", "pills and pills", "lunch at noon", "cheap watches", "hello you"] * 8


def values_of(kind, name):
    """What a parameter may be: what its constraint takes of numbers and lists, and the words that its text names."""
    if name in GIVEN:
        return GIVEN[name]
    fits, text = getattr(kind, "_constraints", {}).get(name, (lambda _: False, ""))
    words = [word for word in re.findall(r"'([^']+)'", text) if fits(word)]
    default = signature(kind).parameters[name].default
    found = [*words, *(value for value in PLAIN if _is_taken(fits, value))]
    return found or [default, *([not default] if isinstance(default, bool) else []), *_near(default)]


def _is_taken(fits, value):
    try:
        return bool(fits(value))
    except (TypeError, ValueError):
        return False


def _near(default):
    return [default + 1] if isinstance(default, int) and not isinstance(default, bool) else []


@st.composite
def estimators(draw, kind):
    """The estimator with up to four of its parameters drawn."""
    known = signature(kind).parameters
    needed = [name for name, each in known.items() if each.default is each.empty and each.kind != each.VAR_KEYWORD]
    others = sorted({*known} - {*needed} - {"verbose", "n_jobs", "copy_X"})
    chosen = draw(st.lists(st.sampled_from(others), max_size=4, unique=True)) if others else []
    made = {name: draw(st.sampled_from(values_of(kind, name))) for name in [*needed, *chosen]}
    seeded = {"random_state": 0} if "random_state" in known else {}
    return {**seeded, **made}


@st.composite
def tables(draw):
    """Rows of small counts in some container, and labels of some type."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    codes = np.arange(48) % draw(st.sampled_from([2, 3]))
    x = rng.integers(0, 4, size=(48, 4)) + np.eye(3, 4)[codes] * rng.integers(0, 3)
    if draw(st.booleans()):
        x = x + rng.random(x.shape)
    labels = draw(st.sampled_from([["u", "v", "w"], [3, -1, 7], [0.5, 2.0, 4.0], ["ä", "é", "long one"]]))
    frame = pd.DataFrame(x, columns=list("abcd"))
    form = draw(st.sampled_from(["array", "float32", "columns first", "frame", "levels", "sparse"]))
    rows = {
        "array": x, "float32": x.astype(np.float32), "columns first": np.asfortranarray(x), "frame": frame,
        "levels": frame.assign(c=pd.Categorical(np.array(["p", "q", "r"])[rng.integers(0, 3, 48)])),
        "sparse": sparse.csr_array(np.where(x > 1, x, 0.0)),
    }[form]  # fmt: skip
    event(form)
    return rows, np.array(labels)[codes]


def fitted_by(kind, parameters, rows, y):
    """The fitted model and rows for it."""
    model = kind(**parameters)
    if isinstance(model, decision.BayesClassifier):
        return model.fit(), np.linspace(0.1, 5.0, 20)[:, None]
    if isinstance(model, discrim.TextClassifier):
        return model.fit(DOCUMENTS, y), DOCUMENTS[:8]
    if isinstance(model, discrim.FormulaClassifier):
        table = pd.DataFrame(np.asarray(rows), columns=list("abcd")).assign(y=y)
        return model.fit(table), table[:9]
    return model.fit(rows, y), rows[:20]


def round_trip(kind, parameters, table, keep, reached):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model, rows = fitted_by(kind, parameters, *table)
        except (ValueError, TypeError):  # parameters that do not go together, rows that are not for this model
            assume(False)
        reached[kind.__name__] += 1
        loaded = again(model, keep_statistic=keep)
        assert_same_answers(model, loaded, rows)
        assert to_bytes(loaded, keep_statistic=keep) == to_bytes(model, keep_statistic=keep)


def check(name, count):
    kind, reached = PUBLIC[name], Counter()

    @settings(max_examples=count, suppress_health_check=list(HealthCheck), deadline=None)
    @given(parameters=estimators(kind), table=tables(), keep=st.booleans())
    def holds(parameters, table, keep):
        round_trip(kind, parameters, table, keep, reached)

    holds()
    assert reached[name] >= min(count, 3)


@pytest.mark.parametrize("name", sorted({*PUBLIC} - NO_FILES))
def test_after_a_file_it_answers_the_same_bits(name):
    check(name, 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*PUBLIC} - NO_FILES))
def test_after_a_file_it_answers_the_same_bits_with_many_parameters(name):
    check(name, 150)


def test_most_constraints_have_several_values():
    """A parameter whose values were never found would be tried with its default alone."""
    bare = {
        f"{name}.{parameter}"
        for name, kind in PUBLIC.items()
        for parameter in getattr(kind, "_constraints", {})
        if parameter in signature(kind).parameters and len(values_of(kind, parameter)) < 2
    }
    assert {each.split(".")[1] for each in bare} <= {"covariance_estimator", "C", "trace", "use_legacy_attributes"}
