from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import discrim
from discrim import basis, decision
from discrim.comparison.prepared import PreparedClassifier
from discrim.decision import BayesClassifier
from discrim.errors import ModelFileError
from discrim.models.text_classifier import TextClassifier
from discrim.store.files import from_bytes, to_bytes
from discrim.text import WordCounts

from .conftest import DOCUMENTS, KINDS_OF_MAIL
from .mutations import bounded, mutate, outcome

QUESTIONS = ("predict", "predict_proba", "decision_function", "transform")
X, Y = discrim.datasets.load_iris().xy
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(e=np.array(["u", "v", "w"])[np.arange(150) * 7 % 3])


def asked(rows):
    return lambda model: (getattr(model, name)(rows) for name in QUESTIONS if hasattr(model, name))


def others():
    """Estimators around others, bases, words, sparse rows, formulas, and parts of scikit-learn; with some rows."""
    LDA, NB = discrim.LinearDiscriminantAnalysis, discrim.GaussianNB
    gaps = TABLE.assign(a=TABLE["a"].where(np.arange(150) % 9 > 0))
    around = [
        discrim.OneVsRestClassifier(NB()), discrim.OneVsOneClassifier(NB(), methods="all"),
        discrim.OutputCodeClassifier(discrim.RidgeClassifier(), random_state=0),
        decision.CostSensitiveClassifier(NB()), decision.PriorShiftClassifier(NB()),
        decision.RejectingClassifier(NB()), basis.SplineBasis(3), basis.PolynomialBasis(2), basis.QuadraticBasis(),
        basis.RadialBasis(3, per_column=True), basis.FourierBasis(5), basis.StepBasis(3),
        basis.JoinedBasis([None, basis.SplineBasis(2)]),
        make_pipeline(SimpleImputer(), StandardScaler(), PCA(2), LDA()), make_pipeline(RobustScaler(), NB()),
        make_pipeline(MinMaxScaler(), MaxAbsScaler(), basis.SplineBasis(2), discrim.LogisticRegression()),
        *(CalibratedClassifierCV(NB(), method=method, cv=3) for method in ("sigmoid", "isotonic", "temperature")),
    ]  # fmt: skip
    yield from ((each.fit(X, Y), X[:7]) for each in around)
    yield decision.ThresholdClassifier(LDA(), cv=3).fit(X[50:], Y[50:]), X[:7]
    yield BayesClassifier([stats.norm(), stats.gamma(2.0)], [0.4, 0.6]).fit(), X[:7, :1]
    sparse_rows = sparse.csr_array(np.where(X > 2.0, X, 0.0))
    for kind in (LDA, NB, discrim.MultinomialNB, discrim.LogisticRegression, discrim.SGDClassifier):
        yield kind().fit(sparse_rows, Y), sparse_rows[:7]
    wide = np.random.default_rng(0).normal(size=(30, 40))
    QDA, RDA = (
        discrim.QuadraticDiscriminantAnalysis(reg_param=0.1),
        discrim.RegularizedDiscriminantAnalysis(target="diagonal"),
    )
    for each in (LDA(), QDA, RDA):
        yield each.fit(wide, Y[::5]), wide[:7]
    for counts in (None, WordCounts(buckets=16)):
        yield TextClassifier(counts=counts).fit(DOCUMENTS, KINDS_OF_MAIL), DOCUMENTS[:3]
    yield TextClassifier(LDA()).fit(DOCUMENTS, KINDS_OF_MAIL), DOCUMENTS[:3]
    yield PreparedClassifier(LDA(), standardise=True).fit(gaps, Y), gaps[:7]
    yield PreparedClassifier(discrim.MixedNB(), impute=False).fit(gaps, Y), gaps[:7]
    yield LDA().fit(TABLE, Y), TABLE[:7]
    table = TABLE.assign(y=Y)
    yield discrim.LogisticRegression.from_formula("y ~ a * e + bs(b, df=4) + poly(c, 2)", table), table[:7]
    yield LDA.from_formula("y ~ log(a) + C(e) + I(b ** 2)", table), table[:7]


@pytest.fixture(scope="module")
def files(fitted):
    """Files of every kind of estimator, and what to ask of what was read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [*((model, x[:7]) for model, x in fitted.values()), *others()]
        kept = [(model, rows, keep) for model, rows in models for keep in (False, True)]
        return [(to_bytes(model, keep_statistic=keep), asked(rows)) for model, rows, keep in kept]


def test_altered_files_are_refused_or_answer_finite_numbers(files):
    found = mutate(files, range(2000), seed=0)
    assert found["refused"] > 1000
    # Some reach the models: an altered label or a coefficient is none the worse for it.
    assert found["answers"] > 50


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of the process is read from /proc")
def test_many_altered_files_are_refused_or_answer_finite_numbers(files):
    """As many as the environment says, a thousand at a time within bounds of memory and of time."""
    size = 1000
    for start in range(0, int(os.environ.get("DISCRIM_MUTATIONS", "50000")), size):
        with bounded(seconds=120):
            found = mutate(files, range(start, start + size), 1, outcome)
        assert found["refused"] > size // 2
        assert found["answers"] > size // 40


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
