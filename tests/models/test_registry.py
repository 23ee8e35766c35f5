"""The registry: complete whatever has been imported, and as it was once an entry is removed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import discrim
from discrim.errors import ParameterError
from discrim.models import registry

EXPECTED = [
    "Gaussian NB", "Nearest centroid", "Mixed NB", "Multinomial NB", "Complement NB", "Bernoulli NB", "LDA",
    "LDA, shrunken", "Bayesian LDA", "Ridge", "QDA", "Bayesian QDA", "Lasso", "RDA", "Logistic",
]  # fmt: skip


@pytest.mark.parametrize(
    "first", ["", "discrim.LogisticRegression", "discrim.models.gaussian.rda", "discrim.comparison.comparing"]
)
def test_every_model_is_listed_in_the_order_of_cost_whatever_was_imported_first(first):
    code = f"""
import importlib, discrim
try:
    importlib.import_module({first!r} or "discrim")
except ModuleNotFoundError:
    getattr(discrim, {first!r}.split(".")[1])
from discrim.models.registry import all_entries
print(list(all_entries()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(EXPECTED)


def test_an_entry_is_there_until_it_is_removed():
    entry = registry.Entry("Mine", discrim.GaussianNB, lambda _: discrim.GaussianNB(var_smoothing=0.1), cost=99)
    registry.enter(entry)
    try:
        assert list(registry.all_entries())[-1] == "Mine"
        found = discrim.compare(*discrim.datasets.load_iris().xy, ["Mine", "LDA"])
        assert set(found.table.index) == {"Mine", "LDA", "Baseline"}
    finally:
        registry.remove("Mine")
    assert list(registry.all_entries()) == EXPECTED
    registry.remove("Mine")  # nothing is left to remove


def test_within_a_context_it_is_removed_even_after_an_error():
    entry = registry.Entry("Mine", discrim.GaussianNB, lambda _: discrim.GaussianNB(), cost=99)
    with pytest.raises(ZeroDivisionError), registry.entered(entry):
        _ = 1 / (len(registry.all_entries()) - len(EXPECTED) - 1)
    assert "Mine" not in registry.all_entries()


def test_two_models_cannot_have_one_name():
    entry = registry.Entry("LDA", discrim.GaussianNB, lambda _: discrim.GaussianNB(), cost=1)
    with pytest.raises(ParameterError, match="called 'LDA' already, LinearDiscriminantAnalysis"):
        registry.enter(entry)


def test_a_model_is_found_by_the_name_of_its_class_too():
    X, y = discrim.datasets.load_iris().xy
    assert "QDA" in discrim.compare(X, y, ["QuadraticDiscriminantAnalysis"]).table.index
