"""The public API: listed once, complete in dir(), typed for users, with suggestions for names that do not exist."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import discrim
from discrim.public import similar_names

SOURCE = Path(__file__).resolve().parents[2] / "src"
STUBS = sorted((SOURCE / "discrim").rglob("__init__.pyi"))
PACKAGES = {
    "basis", "comparison", "datasets", "decision", "errors", "evaluation", "inference", "losses", "models",
    "statistics", "text",
}  # fmt: skip


def package_of(stub):
    return ".".join(stub.parent.relative_to(SOURCE).parts)


def listed(stub):
    """Pairs of module and name, read by Python's own parser."""
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name, alias.asname) for alias in node.names)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("stub", STUBS, ids=package_of)
def test_a_package_has_exactly_the_names_of_its_stub(stub):
    package = importlib.import_module(package_of(stub))
    names = []
    for module, name, alias in listed(stub):
        if name == "*":
            names += importlib.import_module(module).__all__
        else:
            assert alias == name, "only `import name as name` makes a name public for type checkers"
            names.append(name)
            if module == package.__name__:
                assert inspect.ismodule(getattr(package, name))
            else:
                assert getattr(package, name) is getattr(importlib.import_module(module), name)
    assert len(names) == len(set(names))
    assert package.__all__ == sorted(names)
    assert set(names) <= set(dir(package))


@pytest.mark.parametrize("stub", [stub for stub in STUBS if stub.parent.name != "discrim"], ids=package_of)
def test_a_package_lists_only_names_of_its_own(stub):
    """The import contract does not read stubs."""
    assert {module for module, *_ in listed(stub) if not module.startswith(package_of(stub))} == set()


@pytest.mark.parametrize("stub", [stub for stub in STUBS if stub.parent.name != "discrim"], ids=package_of)
def test_no_file_has_the_name_of_something_public_beside_it(stub):
    # Whoever imports the file would get it in place of the function from then on.
    names = {line.split()[-1] for line in stub.read_text().splitlines() if line.startswith("from ")}
    assert not names & {path.stem for path in stub.parent.glob("*.py")}


def test_dir_lists_the_packages_and_no_helper_before_anything_is_used():
    names = run("import discrim; print(*dir(discrim))").split()
    assert PACKAGES | {"LinearDiscriminantAnalysis", "scan", "__version__"} <= set(names)
    assert [name for name in names if not name.startswith("__") and name not in discrim.__all__] == []


def test_a_public_package_is_there_after_importing_discrim_alone():
    assert run("import discrim; print(discrim.models.GaussianNB, discrim.errors.DiscrimWarning)").count("<class") == 2


def test_a_name_is_imported_only_when_it_is_used():
    used = "import sys, discrim; discrim.GaussianNB; print('discrim.models.logistic.regression' in sys.modules)"
    assert run(used) == "False"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("LDA", "LinearDiscriminantAnalysis"),
        ("qda", "QuadraticDiscriminantAnalysis"),
        ("RDA", "RegularizedDiscriminantAnalysis"),
        ("BayesianQDA", "BayesianQuadraticDiscriminantAnalysis"),
        ("LR", "LogisticRegression"),
        ("SGD", "SGDClassifier"),
        ("OvR", "OneVsRestClassifier"),
        ("Ridge", "RidgeClassifier"),
        ("LinearDiscriminantAnalisys", "LinearDiscriminantAnalysis"),
        ("GausianNB", "GaussianNB"),
        ("crossvalidate", "cross_validate"),
        ("model", "models"),
    ],
)
def test_a_short_or_misspelt_name_gets_a_suggestion(name, meant):
    with pytest.raises(AttributeError) as caught:
        getattr(discrim, name)
    assert str(caught.value) == f"module 'discrim' has no attribute {name!r}; did you mean {meant}?"
    with pytest.raises(ImportError) as caught:
        exec(f"from discrim import {name}")
    assert str(caught.value) == f"cannot import name {name!r} from 'discrim'; did you mean {meant}?"


@pytest.mark.parametrize("name", ["NB", "NaiveBayes", "naive_bayes"])
def test_several_suggestions_read_as_a_sentence(name):
    with pytest.raises(AttributeError, match=r"did you mean .*, GaussianNB, MixedNB or MultinomialNB\?$"):
        getattr(discrim, name)


def test_a_name_that_resembles_nothing_gets_no_suggestion():
    with pytest.raises(AttributeError) as caught:
        discrim.quux  # noqa: B018
    assert str(caught.value) == "module 'discrim' has no attribute 'quux'"
    assert similar_names("x", ["text"]) == []


def test_the_public_packages_suggest_too():
    with pytest.raises(ImportError, match=r"from 'discrim\.models'; did you mean LinearDiscriminantAnalysis"):
        from discrim.models import LDA  # noqa: F401
    with pytest.raises(AttributeError, match="did you mean learning_curve"):
        discrim.evaluation.learning_curves  # noqa: B018


def test_a_missing_name_is_simply_missing_for_code_that_asks():
    assert not hasattr(discrim, "LDA")
    assert not hasattr(discrim, "__wrapped__")
    assert run("from discrim import parallel; print(parallel.__name__)") == "discrim.parallel"


CLIENT = """\
from typing import assert_type
import discrim
from discrim import LogisticRegression, errors

assert_type(discrim.LinearDiscriminantAnalysis(), discrim.models.LinearDiscriminantAnalysis)
assert_type(LogisticRegression(), discrim.LogisticRegression)
assert_type(discrim.__version__, str)
found: discrim.comparison.Comparison = discrim.compare([[1.0]], [0])
checked: discrim.evaluation.CrossValidation = discrim.cross_validate(LogisticRegression(), [[1.0]], [0])
rows = discrim.scan("table.csv", target="y")
X, y = discrim.datasets.load_iris().xy
basis: discrim.basis.Basis = discrim.basis.SplineBasis()
kind: type[Warning] = errors.DiscrimWarning

from discrim import LDA  # wrong
from discrim.models import GausianNB  # wrong
discrim.LinearDiscriminantAnalisys  # wrong
discrim.models.QDA  # wrong
discrim.evaluation.rok  # wrong
"""


def test_public_names_have_their_types_for_users_and_a_misspelt_one_is_a_type_error(tmp_path):
    client = tmp_path / "client.py"
    client.write_text(CLIENT)
    # With the options of `make check`, whose cache knows the package and all that it imports.
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(client)]
    done = subprocess.run(command, cwd=SOURCE.parent, capture_output=True, text=True, check=False)
    found = [
        (int(line.split(":")[1]), "[attr-defined]" in line) for line in done.stdout.splitlines() if ": error" in line
    ]
    wrong = [(number, True) for number, line in enumerate(CLIENT.splitlines(), 1) if line.endswith("# wrong")]
    assert found == wrong, done.stdout + done.stderr
