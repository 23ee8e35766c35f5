"""Fitted models of every kind, and what has to be equal after a file."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import discrim
from discrim import models
from discrim.errors import DiscrimError
from discrim.store.files import from_bytes, to_bytes

ANSWERS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")
# Documents are tried by themselves, and a formula is not saved.
OTHERS = {"TextClassifier", "FormulaClassifier"}
NAMES = [name for name in dir(models) if isinstance(getattr(models, name), type) and name not in OTHERS]
DOCUMENTS = ["cheap pills now", "see you at noon", "pills and pills", "lunch at noon", "cheap watches", "hello you"] * 3
KINDS_OF_MAIL = ["spam", "ham"] * 9


def answers(model, X):
    """Every answer of the model, and its summary as text; errors as their sentences."""
    found = {name: getattr(model, name)(X) for name in ANSWERS if hasattr(model, name)}
    if not hasattr(model, "summary"):
        return found
    try:
        return {**found, "summary": str(model.summary())}
    except DiscrimError as error:
        return {**found, "summary": str(error)}


def assert_same_answers(before, after, X):
    first, second = answers(before, X), answers(after, X)
    assert first.keys() == second.keys()
    for name, value in first.items():
        other = second[name]
        if isinstance(value, str):
            assert value == other
        else:
            assert value.dtype == other.dtype
            assert np.array_equal(value, other, equal_nan=value.dtype.kind == "f"), name


def again(model, **options):
    """The model after a file."""
    return from_bytes(bytearray(to_bytes(model, **options)))


@pytest.fixture(scope="session")
def fitted():
    """Every public model, fitted to the iris data with labels of text."""
    X, y = discrim.datasets.load_iris().xy
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in NAMES:
            x = X.astype(int) if name == "CategoricalNB" else X
            found[name] = getattr(models, name)().fit(x, y), x
    return found
