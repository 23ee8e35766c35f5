"""The registry: complete whatever has been imported, and open to further models."""

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


FIRST = ["discrim", "discrim.LogisticRegression", "discrim.models.gaussian.rda", "discrim.comparison.comparing"]


def test_every_model_is_listed_in_the_order_of_cost_whatever_was_imported_first():
    # Each in a process of its own, made by one that has imported what discrim imports but nothing of discrim.
    code = f"""
import importlib, os, sys
import scipy.linalg, scipy.optimize, scipy.stats, sklearn.linear_model, sklearn.model_selection
for first in {FIRST!r}:
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0, first
        continue
    import discrim
    try:
        importlib.import_module(first)
    except ModuleNotFoundError:
        getattr(discrim, first.split(".")[1])
    from discrim.models.registry import all_entries
    print(list(all_entries()), flush=True)
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(EXPECTED)] * len(FIRST)


def test_a_model_that_enters_is_compared(own_registry):
    entry = registry.Entry("Mine", discrim.GaussianNB, lambda _: discrim.GaussianNB(var_smoothing=0.1), cost=99)
    own_registry.enter(entry)
    assert list(own_registry.all_entries()) == [*EXPECTED, "Mine"]
    found = discrim.compare(*discrim.datasets.load_iris().xy, ["Mine", "LDA"], reference=None)
    assert set(found.table.index) == {"Mine", "LDA", "Baseline"}


def test_an_entry_is_tried_until_it_is_removed(own_registry):
    own_registry.enter(registry.Entry("Mine", discrim.GaussianNB, lambda _: discrim.GaussianNB(), cost=99))
    own_registry.remove("Mine")
    assert list(own_registry.all_entries()) == EXPECTED
    own_registry.remove("Mine")  # nothing is left to remove


def test_a_model_may_enter_again_with_other_parameters(own_registry):
    again = registry.Entry("LDA", discrim.LinearDiscriminantAnalysis, lambda _: None, cost=6)
    own_registry.enter(again)
    assert own_registry.all_entries()["LDA"] is again


def test_two_models_cannot_have_one_name():
    entry = registry.Entry("LDA", discrim.GaussianNB, lambda _: discrim.GaussianNB(), cost=1)
    with pytest.raises(ParameterError, match="called 'LDA' already, LinearDiscriminantAnalysis"):
        registry.enter(entry)


def test_a_model_is_found_by_the_name_of_its_class_too():
    X, y = discrim.datasets.load_iris().xy
    assert "QDA" in discrim.compare(X, y, ["QuadraticDiscriminantAnalysis"]).table.index
