from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import datetime

import numpy as np
import pytest
from safetensors.numpy import load_file

import discrim
from discrim.errors import DataError, ModelFileError, NotStoredWarning, ParameterError
from discrim.inference.fitted import Fitted
from discrim.models.text_classifier import TextClassifier
from discrim.store.files import from_bytes, to_bytes
from discrim.store.kinds import known_kinds
from discrim.text import WordCounts

from .conftest import DOCUMENTS, KINDS_OF_MAIL, NAMES, again, assert_same_answers


@pytest.fixture(scope="module")
def iris():
    return discrim.datasets.load_iris().xy


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_every_model_answers_the_same_bits_after_a_file(fitted, name, keep):
    model, X = fitted[name]
    content = to_bytes(model, keep_statistic=keep)
    loaded = from_bytes(bytearray(content))
    assert_same_answers(model, loaded, X)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert to_bytes(model, keep_statistic=keep) == content
    assert to_bytes(loaded, keep_statistic=keep) == content


@pytest.mark.parametrize("counts", [WordCounts(), WordCounts(buckets=64), WordCounts(ngram_range=(1, 2))])
def test_text_classifiers_answer_the_same_bits_after_a_file(counts):
    model = TextClassifier(counts=counts).fit(DOCUMENTS, KINDS_OF_MAIL)
    assert_same_answers(model, again(model), DOCUMENTS)


@pytest.mark.parametrize(
    "labels",
    [[3, 7], [True, False], [-1.0, 2.0], ["x", "ä"], [datetime(2020, 1, 1), datetime(2021, 5, 1)]],  # noqa: DTZ001
)
def test_labels_keep_their_type(iris, labels):
    X, y = iris[0][:100], np.array(labels)[(np.arange(100) >= 50).astype(int)]
    if isinstance(labels[0], datetime):
        y = y.astype("datetime64[s]")
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    loaded = again(model, keep_statistic=True)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(X).tolist() == model.predict(X).tolist()


def test_the_file_is_one_of_safetensors(iris, tmp_path):
    model = discrim.LinearDiscriminantAnalysis().fit(*iris)
    model.save(tmp_path / "m.discrim")
    arrays = load_file(tmp_path / "m.discrim")
    assert np.array_equal(arrays["model.rule.origin"], model.solution().rule.origin)
    assert [path.name for path in tmp_path.iterdir()] == ["m.discrim"]
    assert_same_answers(model, discrim.load(str(tmp_path / "m.discrim")), iris[0])


def test_a_file_without_the_statistic_has_none_of_it(iris):
    model = discrim.LinearDiscriminantAnalysis().fit(*iris)
    loaded = again(model)
    for call in (lambda: loaded.partial_fit(*iris), lambda: loaded.forget(*iris), lambda: discrim.merge(loaded, model)):
        with pytest.raises(DataError, match="keep_statistic=True"):
            call()
    with pytest.raises(AttributeError, match="without its statistic"):
        _ = loaded.statistic_
    assert np.array_equal(loaded.scalings_, model.scalings_)


def test_with_the_statistic_learning_goes_on_as_if_there_had_been_no_file(iris):
    X, y = iris
    model = discrim.LinearDiscriminantAnalysis().fit(X[::2], y[::2])
    loaded = again(model, keep_statistic=True)
    for each in (model, loaded):
        each.partial_fit(X[1::2], y[1::2]).forget(X[:5], y[:5])
    assert_same_answers(model, loaded, X)
    assert np.array_equal(discrim.merge(loaded, loaded).coef_, discrim.merge(model, model).coef_)


@pytest.mark.parametrize(
    "name", ["SGDClassifier", "AROWClassifier", "OnePassLogisticRegression", "GradientDescentClassifier"]
)
def test_online_learners_go_on_where_they_were(iris, name):
    X, y = iris
    kind = getattr(discrim, name)
    model = kind(random_state=0).partial_fit(X, y)
    loaded = again(model, keep_statistic=True)
    assert np.array_equal(model.partial_fit(X, y).coef_, loaded.partial_fit(X, y).coef_)
    with pytest.raises(DataError, match="keep_statistic=True"):
        again(model).partial_fit(X, y)


def test_a_fit_after_loading_leaves_nothing_of_the_file(iris):
    X, y = iris
    loaded = again(discrim.LinearDiscriminantAnalysis().fit(X[:100], y[:100]))
    loaded.fit(X, y)
    assert_same_answers(discrim.LinearDiscriminantAnalysis().fit(X, y), loaded, X)
    assert not loaded.came_from_file


def test_parameters_that_are_no_data_are_left_out_with_a_warning(iris):
    from sklearn.model_selection import StratifiedKFold

    model = discrim.RegularizedDiscriminantAnalysis(alpha=0.5, cv=StratifiedKFold(3)).fit(*iris)
    with pytest.warns(NotStoredWarning, match="leaves out cv=StratifiedKFold"):
        loaded = again(model)
    assert "StratifiedKFold" in repr(loaded.cv)


def test_what_cannot_be_saved_or_loaded_is_said_in_a_sentence(iris, tmp_path):
    from sklearn.naive_bayes import GaussianNB

    model = discrim.LinearDiscriminantAnalysis()
    with pytest.raises(ModelFileError, match="it is not fitted yet"):
        discrim.save(model, tmp_path / "m")
    model.fit(*iris)
    with pytest.raises(ModelFileError, match="there is no folder"):
        model.save(tmp_path / "no" / "m")
    with pytest.raises(ModelFileError, match=r"Cannot save GaussianNB\. Model files hold models of discrim"):
        discrim.save(GaussianNB().fit(*iris), tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"Cannot load .*No such file"):
        discrim.load(tmp_path / "m")
    with pytest.raises(ParameterError, match="'path' parameter is 3"):
        discrim.load(3)


def test_a_subclass_with_its_own_predict_is_refused(iris):
    class Mine(discrim.LinearDiscriminantAnalysis):
        def predict(self, X):
            return super().predict(X)

    with pytest.raises(ModelFileError, match="Mine has its own 'predict', and a model file holds no code"):
        to_bytes(Mine().fit(*iris))


def test_files_have_every_field_of_what_they_hold(fitted):
    """Fields that a class gets later would be lost silently."""
    assert fitted
    for kind in known_kinds():
        if is_dataclass(kind.type) and not hasattr(kind.type, "to_stored"):
            # Coordinates that hold a basis of the rows are not stored.
            known = {each.name for each in fields(kind.type) if each.init} - {"turned"}
            assert set(kind.fields) == known, kind.name
    # Which terms contain others is known of formulas, and these are not stored.
    names = {each.name for each in fields(Fitted)} - {"objective", "margins"} | {"sums"}
    assert set(Fitted.stored) == names


def test_a_file_with_the_statistic_alone_is_solved_where_it_is_read(tmp_path):
    X, y = discrim.datasets.load_iris().xy
    model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    model.save(tmp_path / "whole", keep_statistic=True)
    model.save(tmp_path / "alone", statistic_only=True)
    assert (tmp_path / "alone").stat().st_size < (tmp_path / "whole").stat().st_size / 2
    found = discrim.load(tmp_path / "alone")
    np.testing.assert_allclose(found.predict_proba(X), model.predict_proba(X), atol=1e-12)
    assert str(found.summary()) == str(model.summary())
    discrim.save(found, tmp_path / "again", statistic_only=True)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "alone").read_bytes()


@pytest.mark.parametrize(
    "model",
    [discrim.LogisticRegression(), discrim.SGDClassifier(), discrim.OneVsRestClassifier(discrim.GaussianNB())],
    ids=["logistic", "sgd", "scheme"],
)
def test_what_does_not_follow_from_a_statistic_is_not_saved_as_one(tmp_path, model):
    model.fit(*discrim.datasets.load_iris().xy)
    with pytest.raises(ModelFileError, match="does not follow from a statistic of its rows"):
        discrim.save(model, tmp_path / "m", statistic_only=True)
    assert list(tmp_path.iterdir()) == []
