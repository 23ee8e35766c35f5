from __future__ import annotations

import numpy as np
import pytest

import discrim
from discrim import basis, decision
from discrim.errors import ModelFileError
from discrim.models.text_classifier import TextClassifier
from discrim.store.files import from_bytes, to_bytes

from .conftest import DOCUMENTS, KINDS_OF_MAIL
from .mutations import altered, outcome

QUESTIONS = ("predict", "predict_proba", "decision_function", "transform")


def asked(X):
    return lambda model: (getattr(model, name)(X) for name in QUESTIONS if hasattr(model, name))


@pytest.fixture(scope="module")
def files(fitted):
    """Files of every kind of estimator, and what to ask of what was read."""
    X, y = discrim.datasets.load_iris().xy
    models = {name: (model, asked(x[:7])) for name, (model, x) in fitted.items()}
    others = [
        discrim.OneVsRestClassifier(discrim.GaussianNB()), discrim.OneVsOneClassifier(discrim.GaussianNB()),
        decision.CostSensitiveClassifier(discrim.GaussianNB()), decision.PriorShiftClassifier(discrim.GaussianNB()),
        decision.RejectingClassifier(discrim.GaussianNB()), basis.SplineBasis(3), basis.PolynomialBasis(2),
        basis.RadialBasis(3, per_column=True), basis.FourierBasis(5), basis.StepBasis(3),
    ]  # fmt: skip
    models |= {type(each).__name__: (each.fit(X, y), asked(X[:7])) for each in others}
    models["text"] = TextClassifier().fit(DOCUMENTS, KINDS_OF_MAIL), asked(DOCUMENTS[:3])
    return [(to_bytes(model, keep_statistic=keep), ask) for model, ask in models.values() for keep in (False, True)]


def mutate(files, count, seed):
    rng = np.random.default_rng(seed)
    found = {"refused": 0, "answers": 0}
    for _ in range(count):
        content, ask = files[int(rng.integers(len(files)))]
        found[outcome(altered(content, rng), ask)] += 1
    return found


def test_altered_files_are_refused_or_answer_finite_numbers(files):
    found = mutate(files, 2000, seed=0)
    assert found["refused"] > 1000
    # Some reach the models: an altered label or a coefficient is none the worse for it.
    assert found["answers"] > 50


@pytest.mark.slow
def test_many_altered_files_are_refused_or_answer_finite_numbers(files):
    assert mutate(files, 20_000, seed=1)["refused"] > 10_000


def test_every_beginning_of_a_file_is_refused(files):
    content = files[0][0]
    for size in range(0, len(content), 7):
        with pytest.raises(ModelFileError):
            from_bytes(bytearray(content[:size]))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "It is empty"),
        (b"\x80\x04\x95junk" * 9, "looks like a pickle"),
        (b"hello, world, this is text", "is not a model file"),
        ((1 << 62).to_bytes(8, "little") + b"{}", "is not a model file"),
        ((16).to_bytes(8, "little") + b'{"__metadata__":', "its head is not JSON"),
        ((200_000).to_bytes(8, "little") + b"[" * 200_000, "its head is not JSON"),
    ],
)
def test_what_is_no_model_file_is_said(content, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        from_bytes(bytearray(content))


def test_files_of_others_and_of_newer_versions_are_named(files, monkeypatch):
    from safetensors.numpy import save

    with pytest.raises(ModelFileError, match="holds no model of discrim"):
        from_bytes(bytearray(save({"a": np.zeros(3)})))
    monkeypatch.setattr("discrim.store.files.VERSION", 2)
    newer = to_bytes(discrim.GaussianNB().fit([[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]))
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=r"has version 2 of the format.*Update discrim"):
        from_bytes(bytearray(newer))


def test_a_bit_that_was_turned_is_noticed_by_the_hash(files):
    content = bytearray(files[0][0])
    content[-3] ^= 1
    with pytest.raises(ModelFileError, match="content hash does not match"):
        from_bytes(content)
