"""Documents in, classes out: the answers of scikit-learn's pipeline, from any place and in any blocks."""

from __future__ import annotations

import pickle
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import discrim
from discrim.errors import DataError, ParameterError
from discrim.models.text_classifier import TextClassifier
from discrim.text import DocumentBlock, Documents, WordCounts, documents
from discrim.text.counted import Kept

pl = pytest.importorskip("polars")

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture(scope="module")
def mails():
    """Short texts of three kinds, shuffled; some are empty."""
    rng = np.random.default_rng(1)
    vocabulary = {"bill": "pay due sum bank", "love": "dear heart sum rose", "spam": "pills cheap pay now"}
    labels = rng.choice(list(vocabulary), 100)
    texts = [" ".join(rng.choice(vocabulary[y].split(), rng.integers(0, 9))) for y in labels]
    return texts, labels


@pytest.fixture
def table(mails):
    return pl.DataFrame({"text": mails[0], "kind": mails[1], "w": np.arange(100) % 3})


def test_the_default_is_multinomial_naive_bayes_of_this_package(mails, table):
    theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(*mails)
    for model in (
        TextClassifier().fit(*mails),
        TextClassifier().fit(documents(table, text="text", target="kind", batch_rows=7)),
    ):
        assert type(model.model_) is discrim.MultinomialNB
        assert_allclose(model.predict_proba(mails[0]), theirs.predict_proba(mails[0]), rtol=1e-10)


@pytest.mark.parametrize("inner", [MultinomialNB(alpha=0.3), BernoulliNB()], ids=["multinomial", "bernoulli"])
def test_learning_in_blocks_is_scikit_learns_pipeline(mails, table, inner):
    theirs = make_pipeline(CountVectorizer(), clone(inner)).fit(*mails)
    for batch_rows in (7, 1000):
        model = TextClassifier(inner).fit(documents(table, text="text", target="kind", batch_rows=batch_rows))
        assert_array_equal(model.classes_, theirs.classes_)
        new = [*mails[0], "", "rose pills", "unheard"]
        assert_allclose(model.predict_log_proba(new), theirs.predict_log_proba(new), rtol=1e-10)
        assert_array_equal(model.predict(new), theirs.predict(new))
        assert model.score(documents(table, text="text", target="kind")) == theirs.score(*mails)
        assert model.score(*mails) == theirs.score(*mails)
    assert not hasattr(inner, "classes_")


def test_hashed_words_are_scikit_learns_pipeline(mails):
    counts = WordCounts(buckets=128)
    theirs = make_pipeline(HashingVectorizer(n_features=128, alternate_sign=False, norm=None), MultinomialNB())
    theirs.fit(*mails)
    model = TextClassifier(MultinomialNB(), counts).fit(*mails)
    assert_allclose(model.predict_proba(mails[0]), theirs.predict_proba(mails[0]), rtol=1e-10)


def test_a_model_of_this_package_learns_from_blocks_what_it_learns_at_once(mails, table):
    source = documents(table, text="text", target="kind", batch_rows=7)
    model = TextClassifier(discrim.GaussianNB()).fit(source)
    x = CountVectorizer().fit_transform(mails[0])
    whole = discrim.GaussianNB().fit(x, mails[1])
    assert_allclose(model.model_.theta_, whole.theta_, rtol=1e-12)
    assert_array_equal(model.predict(source), whole.predict(x))


def test_folder_csv_parquet_and_frame_give_the_same_model(mails, table, tmp_path):
    texts, labels = mails
    for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
        (tmp_path / "folder" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / label / str(i)).write_text(text)
    table.write_csv(tmp_path / "mails.csv")
    table.write_parquet(tmp_path / "mails.parquet")
    columns = {"text": "text", "target": "kind", "missing": "empty", "batch_rows": 7}
    whole = TextClassifier(MultinomialNB()).fit(texts, labels)
    for source in (
        documents(tmp_path / "folder", batch_rows=7),
        documents(tmp_path / "mails.csv", **columns),
        documents(tmp_path / "mails.parquet", **columns),
        documents(table.to_pandas(), **columns),
    ):
        model = TextClassifier(MultinomialNB()).fit(source)
        assert model.counts_.vocabulary_ == whole.counts_.vocabulary_
        assert_array_equal(model.classes_, whole.classes_)
        assert_array_equal(model.model_.feature_count_, whole.model_.feature_count_)
        assert_array_equal(model.model_.class_count_, whole.model_.class_count_)


def test_weights_are_those_of_the_model(mails, table):
    weight = table["w"].to_numpy()
    x = CountVectorizer().fit_transform(mails[0])
    whole = MultinomialNB().fit(x, mails[1], sample_weight=weight)
    for model in (
        TextClassifier(MultinomialNB()).fit(*mails, sample_weight=weight),
        TextClassifier(MultinomialNB()).fit(documents(table, text="text", target="kind", weight="w", batch_rows=1)),
    ):
        assert_allclose(model.model_.feature_log_prob_, whole.feature_log_prob_, rtol=1e-12)
    zero = table.with_columns(w=pl.lit(0.0))
    with pytest.raises(DataError, match="The weight of every document is zero"):
        TextClassifier(MultinomialNB()).fit(documents(zero, text="text", target="kind", weight="w"))
    with pytest.raises(DataError, match="The weight of every document is zero"):
        model.score(documents(zero, text="text", target="kind", weight="w"))
    assert TextClassifier(MultinomialNB()).fit(*mails).score(["pills", "rose"], ["spam", "bill"], [3, 1]) == 0.75


@pytest.mark.parametrize("inner", [discrim.GaussianNB(), MultinomialNB()], ids=["ours", "scikit-learn"])
def test_hashing_reads_documents_once_and_goes_on_with_more(mails, inner):
    pa = pytest.importorskip("pyarrow")
    texts, labels = mails
    counts = WordCounts(buckets=32)
    whole = TextClassifier(inner, counts).fit(texts, labels)
    parts = TextClassifier(inner, counts).partial_fit(texts[:60], labels[:60]).partial_fit(texts[60:], labels[60:])
    assert_allclose(parts.predict_log_proba(texts), whole.predict_log_proba(texts), rtol=1e-8)
    stream = documents(pa.table({"t": texts, "y": labels.tolist()}).to_reader(), text="t", target="y")
    if isinstance(inner, discrim.GaussianNB):
        assert_array_equal(TextClassifier(inner, counts).fit(stream).predict(texts), whole.predict(texts))
    else:
        with pytest.raises(DataError, match="read only once, but its labels must be known first"):
            TextClassifier(inner, counts).fit(stream)
        stream = documents(pa.table({"t": texts, "y": labels.tolist()}).to_reader(), text="t", target="y")
        told = TextClassifier(inner, counts).partial_fit(stream, classes=["bill", "love", "spam"])
        assert_array_equal(told.predict(texts), whole.predict(texts))


class Noted(Documents):
    """Documents that note what is read of them."""

    title, labelled, rereadable = "notes", True, True

    def __init__(self, texts, labels, weight=None):
        self.texts, self.labels, self.weight, self.read = texts, labels, weight, []

    def blocks(self):
        self.read.append("documents")
        for i in range(0, len(self.texts), 7):
            weight = None if self.weight is None else self.weight[i : i + 7]
            yield DocumentBlock(self.texts[i : i + 7], self.labels[i : i + 7], weight)

    def classes(self):
        self.read.append("labels")
        return np.unique(self.labels)


@pytest.mark.parametrize(
    ("inner", "buckets", "reads"),
    [
        (None, None, ["documents"]),
        (discrim.GaussianNB(), 16, ["documents"]),
        (MultinomialNB(), None, ["documents"]),
        (MultinomialNB(), 16, ["labels", "documents"]),
    ],
)
def test_documents_are_read_once(mails, inner, buckets, reads):
    source = Noted(*mails)
    TextClassifier(inner, WordCounts(buckets=buckets)).fit(source)
    assert source.read == reads


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("inner", [None, BernoulliNB(), discrim.BernoulliNB(alpha=0.3)], ids=str)
@pytest.mark.parametrize("settings", [{}, {"min_df": 9}, {"max_features": 5, "ngram_range": (1, 2)}], ids=str)
def test_one_read_gives_the_model_of_two(mails, monkeypatch, inner, settings, weighted):
    weight = np.arange(100) % 4 / 2.0 if weighted else None
    once = TextClassifier(inner, WordCounts(**settings)).fit(*mails, weight)
    monkeypatch.setattr(Kept.__init__, "__defaults__", (60,))  # fewer counts than there are
    source = Noted(*mails, weight)
    twice = TextClassifier(inner, WordCounts(**settings)).fit(source)
    assert source.read.count("documents") == 2
    assert once.counts_.vocabulary_ == twice.counts_.vocabulary_
    assert_allclose(once.model_.feature_count_, twice.model_.feature_count_, rtol=1e-14)
    assert_allclose(once.model_.class_count_, twice.model_.class_count_)
    assert_allclose(once.predict_proba(mails[0]), twice.predict_proba(mails[0]), rtol=1e-12)


def test_words_that_had_to_be_given_up_take_a_second_read(mails):
    source = Noted(*mails)
    model = TextClassifier(counts=WordCounts(max_words=6)).fit(source)
    assert source.read == ["documents", "documents"]
    assert model.counts_.missed_ > 0
    assert_array_equal(model.model_.feature_count_.sum(axis=0), model.counts_.transform(mails[0]).sum(axis=0).A1)


def test_more_documents_are_counted_in_the_words_of_the_fit(mails):
    model = TextClassifier(MultinomialNB()).fit(*mails)
    columns = model.model_.n_features_in_
    model.partial_fit(["unheard words", "dear dear"], ["spam", "spam"])
    assert model.model_.n_features_in_ == columns
    assert model.model_.class_count_.sum() == 102
    with pytest.raises(DataError, match="partial_fit cannot learn a vocabulary, which takes all documents first"):
        TextClassifier(MultinomialNB()).partial_fit(*mails)


def test_a_large_vocabulary_needs_documents_that_can_be_read_twice(mails):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"t": mails[0], "y": mails[1].tolist()})
    model = TextClassifier(MultinomialNB()).fit(documents(table.to_reader(), text="t", target="y"))
    assert_array_equal(model.predict(mails[0]), TextClassifier(MultinomialNB()).fit(*mails).predict(mails[0]))
    message = (
        "A vocabulary of so many words takes two reads, but the column 't' of RecordBatchReader stream can be read "
        "only once. Hash the words instead"
    )
    with pytest.raises(DataError, match=re.escape(message)):
        TextClassifier(counts=WordCounts(max_words=3)).fit(documents(table.to_reader(), text="t", target="y"))


def test_a_summary_names_the_words(mails):
    model = TextClassifier().fit(*mails)
    assert list(model.summary().names) == list(model.counts_.vocabulary_)
    assert "\npills " in str(model.summary())
    assert model.model_.summary().names[0] == "x0"  # the model itself is left as it was
    hashed = TextClassifier(discrim.GaussianNB(), WordCounts(buckets=4)).fit(*mails)
    assert list(hashed.summary().names) == ["x0", "x1", "x2", "x3"]
    assert not hasattr(TextClassifier(MultinomialNB()).fit(*mails), "summary")


@pytest.mark.parametrize("labels", [[1, 2, 1, 2], [True, False] * 2, [2.0, 1.0] * 2, ["b", "a"] * 2])
def test_labels_of_any_type_come_back(labels):
    texts = ["rose bee", "salt oven", "bee", "oven"]
    model = TextClassifier(MultinomialNB()).fit(texts, labels)
    assert model.predict(texts).tolist() == labels
    assert model.classes_.tolist() == sorted(set(labels))


@pytest.mark.parametrize("inner", [discrim.GaussianNB(), MultinomialNB()], ids=["ours", "scikit-learn"])
def test_labels_of_two_types_are_refused_wherever_they_meet(inner):
    frame = pytest.importorskip("pandas").DataFrame({"t": ["rose", "bee"], "y": np.array([1, "one"], dtype=object)})
    for model in (TextClassifier(inner), TextClassifier(inner, WordCounts(buckets=4))):
        for batch_rows in (1, 2):
            with pytest.raises(DataError, match=r"int.*str"):
                model.fit(documents(frame, text="t", target="y", batch_rows=batch_rows))


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (3, ["rose"], [1], "The 'model' parameter is 3; it must be None or an object with a method 'fit'."),
        (MultinomialNB(), ["rose"], None, "There are no labels with these documents (strings in memory). Pass y"),
        (MultinomialNB(), ["rose", None], [1, 2], "Document 1 of X, counted from 0, is missing"),
        (MultinomialNB(), ["", ""], [1, 2], "There is no word in the 2 documents"),
        (MultinomialNB(), "rose", [1], "X is a single string"),
        (MultinomialNB(), ["rose", "bee"], [1, None], "the labels contain NaN or null: 1 of 2 are missing"),
        (MultinomialNB(), [], [], "There are no documents: X is empty."),
    ],
)
def test_what_cannot_be_learned_says_why_and_leaves_the_old_model(model, X, y, message, mails):
    fitted = TextClassifier(MultinomialNB()).fit(*mails)
    before = fitted.predict_proba(["rose"])
    with pytest.raises((DataError, ParameterError), match=re.escape(message)):
        fitted.set_params(model=model).fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(["rose"]), before)


def test_counts_are_word_counts():
    with pytest.raises(
        ParameterError, match=re.escape("'counts' parameter is CountVectorizer(); it must be WordCounts")
    ):
        TextClassifier(MultinomialNB(), CountVectorizer()).fit(["rose", "bee"], [1, 2])


def test_methods_are_those_of_the_model(mails):
    model = TextClassifier(Perceptron(random_state=0)).fit(*mails)
    assert not hasattr(model, "predict_proba")
    assert model.decision_function(mails[0]).shape == (100, 3)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(TextClassifier(), method)(mails[0])
    for call in (TextClassifier().summary, lambda: TextClassifier().score(*mails)):
        with pytest.raises(NotFittedError):
            call()


def test_it_is_a_scikit_learn_classifier(mails):
    texts, labels = mails
    model = TextClassifier(MultinomialNB(), WordCounts())
    again = pickle.loads(pickle.dumps(model.fit(texts, labels)))
    assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    assert not hasattr(clone(model), "model_")
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB())
    assert_array_equal(cross_val_score(model, texts, labels, cv=4), cross_val_score(pipeline, texts, labels, cv=4))
    grid = {"model__alpha": [0.1, 1.0], "counts__ngram_range": [(1, 1), (1, 2)]}
    search = GridSearchCV(model, grid, cv=3).fit(np.array(texts, dtype=object), labels)
    assert search.best_estimator_.predict(texts).shape == (100,)
    tags = get_tags(model)
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert tags.estimator_type == "classifier"


def test_the_example_learns_more_than_the_most_frequent_room(capsys):
    runpy.run_path(str(Path(__file__).resolve().parents[2] / "examples/text.py"), run_name="__main__")
    right, guess = (int(share) for share in re.findall(r"(\d+)%", capsys.readouterr().out))
    assert right > guess + 10


@pytest.mark.shared
def test_short_messages_are_classified_as_by_scikit_learn():
    texts, labels = real("sms_spam/texts.parquet")
    train, test = slice(0, 4000), slice(4000, None)
    theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts[train], labels[train])
    model = TextClassifier().fit(texts[train], labels[train])
    assert_array_equal(model.predict(texts[test]), theirs.predict(texts[test]))
    assert model.score(texts[test], labels[test]) > 0.98
    source = documents(SHARED / "sms_spam/texts.parquet", text="text", target="y", batch_rows=500)
    streamed = TextClassifier().fit(source)
    assert_array_equal(
        streamed.predict(source), make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts, labels).predict(texts)
    )


@pytest.mark.shared
def test_newsgroups_keep_their_accuracy_with_a_part_of_the_words():
    texts, labels, split = (values[::4] for values in real("newsgroups20/texts.parquet", "split"))
    train, test = split == "train", split == "test"
    theirs = make_pipeline(CountVectorizer(), MultinomialNB()).fit(texts[train], labels[train])
    expected = theirs.score(texts[test], labels[test])
    model = TextClassifier().fit(texts[train], labels[train])
    assert model.score(texts[test], labels[test]) == expected
    few = TextClassifier(counts=WordCounts(max_words=20_000)).fit(texts[train], labels[train])
    assert len(few.counts_.vocabulary_) <= 20_000 < len(model.counts_.vocabulary_)
    assert few.score(texts[test], labels[test]) > expected - 0.01


def real(name, *more):
    pd = pytest.importorskip("pandas")
    if not (SHARED / name).exists():
        pytest.skip(f"needs {name} in the folder shared/data beside the repository")
    frame = pd.read_parquet(SHARED / name)
    return tuple(frame[column].to_numpy(dtype=object) for column in ("text", "y", *more))


@pytest.mark.parametrize("counts", [WordCounts(), WordCounts(buckets=64)], ids=["words", "hashed"])
def test_a_model_without_partial_fit_learns_from_all_counts_at_once(mails, counts):
    texts, labels = mails
    model = TextClassifier(discrim.LogisticRegression(), counts).fit(texts, labels)
    alone = discrim.LogisticRegression().fit(clone(counts).fit_transform(texts), labels)
    assert model.predict_proba(texts) == pytest.approx(alone.predict_proba(clone(counts).fit(texts).transform(texts)))
    assert not hasattr(model, "partial_fit")


def test_the_summary_of_any_model_names_the_words(mails):
    names = TextClassifier(discrim.LogisticRegression()).fit(*mails).summary().names
    words = WordCounts().fit(mails[0]).get_feature_names_out()
    assert list(names[1 : 1 + len(words)]) == [f"love:{word}" for word in words]
