"""Pipelines, scalers and calibrations of scikit-learn in model files, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.naive_bayes import GaussianNB as ForeignNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, QuantileTransformer, RobustScaler, StandardScaler

import discrim
from discrim import LinearDiscriminantAnalysis, OneVsRestClassifier, Perceptron, RidgeClassifier, basis, decision
from discrim.errors import ModelFileError, NotStoredWarning
from discrim.store.container import HASH, TEXT, Tensor, content_hash
from discrim.store.files import from_bytes, to_bytes

from .conftest import again, assert_same_answers

X, Y = discrim.datasets.load_iris().xy
GAPS = X.copy()
GAPS[::7, 1] = np.nan
FRAME = pd.DataFrame(X, columns=list("abcd"))
STEPS = {
    "standard": [StandardScaler()], "no centre": [StandardScaler(with_mean=False)],
    "no scale": [StandardScaler(with_std=False)], "range": [MinMaxScaler((-1, 1), clip=True)],
    "largest": [MaxAbsScaler()], "robust": [RobustScaler()], "white": [StandardScaler(), PCA(2, whiten=True)],
    "splines": [basis.SplineBasis(3)], "imputed": [SimpleImputer(strategy="median"), StandardScaler()],
    "passed through": ["passthrough", None, StandardScaler()],
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_pipelines_answer_the_same_bits_after_a_file(name):
    rows = GAPS if name == "imputed" else X
    steps = [(f"s{i}", step) for i, step in enumerate([*STEPS[name], LinearDiscriminantAnalysis()])]
    model = Pipeline(steps).fit(rows, Y)
    loaded = again(model)
    assert_same_answers(model, loaded, rows)
    assert type(loaded) is Pipeline
    assert to_bytes(loaded) == to_bytes(model)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibrations_answer_the_same_bits_after_a_file(method, ensemble):
    for estimator, rows in ((Perceptron(), slice(None)), (RidgeClassifier(), slice(50, None))):
        model = CalibratedClassifierCV(estimator, method=method, ensemble=ensemble, cv=3).fit(X[rows], Y[rows])
        assert_same_answers(model, again(model), X)


def test_wrappers_take_them_and_names_of_columns_stay():
    made = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    frozen = FrozenEstimator(make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(X, Y))
    for wrapper in (
        OneVsRestClassifier(made), decision.CostSensitiveClassifier(frozen), decision.RejectingClassifier(made, 0.1),
        decision.PriorShiftClassifier(CalibratedClassifierCV(Perceptron()), [0.2, 0.3, 0.5]),
    ):  # fmt: skip
        assert_same_answers(wrapper.fit(X, Y), again(wrapper), X)
    loaded = again(made.fit(FRAME, Y))
    assert loaded.feature_names_in_.tolist() == list("abcd")
    assert_same_answers(made, loaded, FRAME)


def test_what_no_file_holds_is_named_with_what_to_do():
    model = LinearDiscriminantAnalysis()
    for made, sentence in (
        (make_pipeline(QuantileTransformer(n_quantiles=9), model), r"QuantileTransformer\. Model files hold"),
        (make_pipeline(StandardScaler(), ForeignNB()), "Use discrim.GaussianNB"),
        (ForeignNB(), r"Cannot save GaussianNB\. .*Use discrim.GaussianNB"),
        (make_pipeline(SimpleImputer(add_indicator=True), model), r"add_indicator' is True; a model file holds False"),
    ):
        with pytest.raises(ModelFileError, match=sentence):
            to_bytes(made.fit(GAPS if "imputer" in str(made).lower() else X, Y))
    with pytest.raises(ModelFileError, match="it is not fitted yet"):
        to_bytes(make_pipeline(StandardScaler(), Perceptron()))
    with pytest.warns(NotStoredWarning, match="memory="):
        to_bytes(Pipeline([("a", StandardScaler()), ("b", model)], memory="/tmp").fit(X, Y))


def changed(content, change):
    """The file with another text and the hash that goes with it."""
    size = int.from_bytes(content[:8], "little")
    head, data = json.loads(content[8 : 8 + size]), content[8 + size :]
    tree = json.loads(head.pop("__metadata__")[TEXT])
    change(tree["model"])
    text = json.dumps(tree)
    tensors = [
        Tensor(name, each["dtype"], tuple(each["shape"]), memoryview(data)[slice(*each["data_offsets"])])
        for name, each in sorted(head.items())
    ]
    written = json.dumps({"__metadata__": {TEXT: text, HASH: content_hash(text, tensors)}, **head}).encode()
    return bytearray(len(written).to_bytes(8, "little") + written + data)


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model["parameters"]["steps"].reverse(),
        lambda model: model["parameters"]["steps"].pop(),
        lambda model: model["parameters"]["steps"][0]["tuple"][1]["object"].update(kind="scikit-learn:os.system"),
        lambda model: model["parameters"]["steps"][0]["tuple"][1]["object"].update(learned=None),
        lambda model: model["parameters"]["steps"][0]["tuple"][1]["object"]["parameters"].update(with_mean=2),
        lambda model: model["parameters"]["steps"][0]["tuple"][1]["object"]["features"].update(count=5),
        lambda model: model.update(kind="scikit-learn:FunctionTransformer"),
    ],
)
def test_altered_pipelines_are_refused(change):
    content = to_bytes(make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()).fit(X, Y))
    assert from_bytes(changed(content, lambda model: None)).predict(X[:1]) == Y[0]
    with pytest.raises(ModelFileError):
        from_bytes(changed(content, change))
