"""A classifier of raw documents: words are counted block by block, and a model learns from the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing, learning_copy
from discrim.block import Block
from discrim.engines.progress import Progress
from discrim.errors import DataError, ParameterError, name_list
from discrim.exports.exporting import answering_of
from discrim.families.recipe import Reduction, Shape
from discrim.families.rule import Described
from discrim.models.around import AroundModel, model_has
from discrim.models.counts.multinomial import MultinomialNB
from discrim.models.parameters import Check, either, none, with_method
from discrim.models.scoring import as_documents, spark_answers
from discrim.models.shell import RecipeClassifier, check_declared, check_parameters, declared_classes
from discrim.sources import Design, code_labels
from discrim.store.fields import Fields, Incoming, damaged
from discrim.store.kinds import Of
from discrim.text import DocumentBlock, Documents, WordCounts, open_documents
from discrim.text.counted import CountedBlock, together

S = TypeVar("S")

# States of blocks that are merged at once.
TOGETHER = 16


class TextClassifier(AroundModel):
    """Classes of documents from the words in them, in bounded memory.

    **Model.** That of ``model``, whose row x is how often each word occurs in a document.

    **Reading.** ``counts`` turns one block of documents after the other into counts, and ``model`` learns from each
    by ``partial_fit``. A learned vocabulary takes one read of the documents as long as the counts can be kept meanwhile
    (16 million, 130 MB); beyond that two, one for the words and one for the counts. With ``WordCounts(buckets=...)``
    it is one read, unless the model must know all classes first, as scikit-learn's models do: then the labels are
    read before. In memory are one block, the vocabulary and the model.
    A model without ``partial_fit`` learns from all counts at once, and these are held too.

    Documents in a column of a Dask or Spark frame are counted by the workers that have them, where ``model`` is one of
    a single pass, such as naive Bayes; other models get all counts on the calling machine.

    Documents are strings in memory with ``y``, or ``documents(...)`` of a folder or of a column, which bring their
    labels. Weights count for the model, not for the choice of words.

    Parameters
    ----------
    model : a classifier; None is ``MultinomialNB()``
    counts : WordCounts or None for ``WordCounts()``

    Attributes
    ----------
    counts_, model_ : what was fitted
    classes_ : the labels
    feature_names_in_ : the name of the column of documents, where they were in one

    Examples
    --------
    >>> from discrim.models.text_classifier import TextClassifier
    >>> mails = ["cheap pills, cheap watches", "pills for you", "see you at noon", "lunch at noon"]
    >>> model = TextClassifier().fit(mails, ["spam", "spam", "ham", "ham"])
    >>> model.predict(["are you free at noon"]).tolist()
    ['ham']
    """

    _constraints: ClassVar[dict[str, Check]] = {"model": either(none(), with_method("fit"))}

    learned: ClassVar[Fields] = {"counts_": Of(WordCounts, {"p": "p"}), "model_": Of(BaseEstimator)}

    classes_: NDArray[Any]
    counts_: WordCounts
    feature_names_in_: NDArray[Any]
    n_features_in_: int

    def __init__(self, model: Any = None, counts: WordCounts | None = None) -> None:
        self.model = model
        self.counts = counts

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from strings with labels y, or from labelled ``documents``."""
        counts, model = self._fresh()
        source = self._open(X, y, sample_weight)
        blocks = counts.fit_counted(Watched(source, "words"))
        if blocks is None and counts.buckets is None and not source.rereadable:
            raise DataError(
                f"A vocabulary of so many words takes two reads, but the {source.title} can be read only once. "
                "Hash the words instead: TextClassifier(counts=WordCounts(buckets=2**18))."
            )
        if blocks is not None and isinstance(model, RecipeClassifier):
            # Parts do not matter to such a model, and solving once is enough.
            blocks = [together(blocks)]
        for name in ("feature_names_in_", "n_features_in_"):  # those of an earlier fit
            self.__dict__.pop(name, None)
        self._learn(source, counts, model, None, blocks)
        return self

    @classmethod
    def of_fitted(cls, counts: WordCounts, model: Any) -> Self:
        """The classifier of two parts that were fitted elsewhere: ``model`` to the counts of ``counts``."""
        made = cls(clone(model), clone(counts))
        made.counts_, made.model_, made.classes_ = counts, model, model.classes_
        return made

    def remember_column(self, name: str) -> None:
        """Note the column of a table that the documents were in: a table is then asked for it by name."""
        self.feature_names_in_, self.n_features_in_ = np.array([name], dtype=object), 1

    @available_if(model_has("partial_fit"))  # type: ignore[untyped-decorator]
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more documents. The words are those of ``fit``, or hashed: then no ``fit`` has to come before.

        ``classes`` are the labels that may come; models that have to know them first get those of X otherwise.
        """
        fitted = hasattr(self, "model_")
        counts, model = (self.counts_, learning_copy(self.model_)) if fitted else self._hashing()
        self._learn(self._open(X, y, sample_weight), counts, model, classes)
        return self

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The weighted share of documents whose label is predicted."""
        check_is_fitted(self, "model_")
        right = total = 0.0
        for block in self._open(X, y, sample_weight).blocks():
            weight = np.ones(len(block)) if block.weight is None else block.weight
            right += float(weight[self._ask("predict", block) == block.labels].sum())
            total += float(weight.sum())
        if not total:
            raise _no_weight()
        return right / total

    def transform_spark(self, frame: Any) -> Any:
        """The Spark frame with the columns ``prediction`` and, for models with posteriors, ``probability_CLASS``.

        Documents are in the column that they were learned from, or in the only one of text where they were strings.
        """
        check_is_fitted(self, "model_")
        return spark_answers(self, frame, [self._column_of(frame)], as_documents)

    def _column_of(self, frame: Any) -> str:
        if hasattr(self, "feature_names_in_"):
            return str(self.feature_names_in_[0])
        texts = [name for name, kind in frame.dtypes if kind == "string"]
        if len(texts) != 1:
            found = f"has {len(texts)} columns of text ({name_list(texts)})" if texts else "has no column of text"
            raise DataError(
                f"The model was fitted to strings without a name, and the Spark frame {found}. Select the one with the "
                "documents, or name it in fit: documents(data, text=...)."
            )
        return str(texts[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def _fresh(self) -> tuple[WordCounts, Any]:
        """Unfitted copies of both parts."""
        check_parameters(self, self._constraints)
        if self.counts is not None and not isinstance(self.counts, WordCounts):
            raise ParameterError.bad_value("counts", self.counts, "WordCounts(...) or None")
        counts = WordCounts() if self.counts is None else clone(self.counts)
        return counts, MultinomialNB() if self.model is None else clone(self.model)

    def _hashing(self) -> tuple[WordCounts, Any]:
        """Both parts for a first ``partial_fit``, which sees only some of the words."""
        counts, model = self._fresh()
        if counts.buckets is None:
            raise DataError(
                "partial_fit cannot learn a vocabulary, which takes all documents first. Call fit before, or hash "
                "the words: TextClassifier(counts=WordCounts(buckets=2**18))."
            )
        return counts.fit(None), model

    def _open(self, X: Any, y: Any, sample_weight: Any) -> Documents:
        source = open_documents(X, y, sample_weight)
        if not source.labelled:
            raise DataError(
                f"There are no labels with these documents ({source.title}). Pass y with strings, name the column with "
                "documents(data, text=..., target=...), or give a folder with one folder per class."
            )
        return source

    def _learn(
        self, source: Documents, counts: WordCounts, model: Any, classes: Any, kept: list[CountedBlock] | None = None
    ) -> None:
        """Let the model learn from the blocks that were ``kept``, or from those of the source."""
        elsewhere = None if kept is not None else _sum_elsewhere(source, counts, model)
        blocks = _counted(source, counts) if kept is None else kept
        if elsewhere is not None:
            _learn_sum(model, elsewhere, classes)
        elif not hasattr(model, "partial_fit"):
            x, labels, weight = together(list(blocks))
            model.fit(x, labels, **({} if weight is None else {"sample_weight": weight}))
        else:
            if classes is None and not isinstance(model, RecipeClassifier) and not hasattr(model, "classes_"):
                classes = source.classes() if kept is None else code_labels(together(kept).labels)[0]
            options = {} if classes is None else {"classes": classes}
            for block in blocks:
                if block.weight is None:
                    model.partial_fit(block.x, block.labels, **options)
                elif block.weight.any():  # models refuse a block without any weight
                    model.partial_fit(block.x, block.labels, sample_weight=block.weight, **options)
            if not hasattr(model, "classes_"):
                raise _no_weight()
        self.counts_, self.model_, self.classes_ = counts, model, model.classes_
        if source.column is not None:
            self.remember_column(source.column)
        self.__dict__.pop("_kept_summary", None)

    def check_learned(self, file: Incoming) -> None:  # noqa: ARG002 - the parts know it themselves
        """Raise where the model takes other columns than there are words."""
        width = self.counts_.buckets if self.counts_.vocabulary_ is None else len(self.counts_.vocabulary_)
        if getattr(self.model_, "n_features_in_", width) != width:
            raise damaged("counts_", "has other words than the model")

    def answering(self) -> Described:
        """How rows of counts are answered; words are counted by ``counts_``."""
        check_is_fitted(self, "model_")
        names = self.counts_.get_feature_names_out().tolist()
        return "documents", {"names": names, "inner": answering_of(self.model_)}

    def _names_made(self) -> list[str] | None:
        return None if self.counts_.vocabulary_ is None else list(self.counts_.vocabulary_)

    def _columns_made(self, X: Any) -> Any:
        return together(list(_counted(open_documents(X), self.counts_))).x

    def _answers(self, X: Any, method: str) -> NDArray[Any]:
        check_is_fitted(self, "model_")
        return np.concatenate([self._ask(method, block) for block in open_documents(X).blocks()])

    def _ask(self, method: str, block: DocumentBlock) -> NDArray[Any]:
        return np.asarray(getattr(self.model_, method)(self.counts_.transform(block.texts)))


class Watched(Documents):
    """The same documents, with a line on the terminal that shows the progress of a long read."""

    def __init__(self, source: Documents, purpose: str) -> None:
        self._source, self._purpose = source, purpose
        self.title, self.n_rows = source.title, source.n_rows
        self.labelled, self.rereadable = source.labelled, source.rereadable

    def reduced_elsewhere(self, of: Callable[[Iterator[DocumentBlock]], S], merge: Callable[[list[S]], S]) -> S | None:
        return self._source.reduced_elsewhere(of, merge)

    def blocks(self) -> Iterator[DocumentBlock]:
        with Progress(f"Reading {self._purpose}", self.n_rows, "documents", clock=True) as progress:
            for block in self._source.blocks():
                yield block
                progress.add(len(block))

    def classes(self) -> NDArray[Any]:
        return self._source.classes()


def _counted(source: Documents, counts: WordCounts) -> Iterator[CountedBlock]:
    for block in Watched(source, "counts").blocks():
        yield CountedBlock(counts.transform(block.texts), block.labels, block.weight)


def _sum_elsewhere(source: Documents, counts: WordCounts, model: Any) -> Any:
    """What a model of one pass learns from, where documents lie on other machines; None where they are read here."""
    if not isinstance(model, RecipeClassifier):
        return None
    recipe = model.checked_recipe()
    if not recipe.one_pass or recipe.needs_rows:
        return None
    width = counts.buckets if counts.vocabulary_ is None else len(counts.vocabulary_)
    reduction = recipe.reduction(Shape(Design.unnamed(width or 0, np.float64)), getattr(model, "statistic_", None))
    return source.reduced_elsewhere(partial(_sum_of_part, counts, reduction), partial(_merged, reduction))


def _learn_sum(model: RecipeClassifier, found: Any, classes: Any) -> None:
    """As ``partial_fit`` learns from the rows."""
    declared = declared_classes(model.declared_classes, classes)
    if declared is not None:
        check_declared(found.classes, declared)
    if not hasattr(model, "statistic_"):
        model.from_sum(found, model.columns_from(found), declared)
        return
    model.check_resumable()
    both = model.recipe().reduction(Shape(model.columns_), model.statistic_).merge([model.statistic_, found])
    model.from_sum(both, model.known_columns, declared, model.chosen)


def _sum_of_part(counts: WordCounts, reduction: Reduction[Any], blocks: Iterator[DocumentBlock]) -> Any:
    states = []
    for block in blocks:
        if block.weight is None or block.weight.any():
            classes, codes = code_labels(block.labels)
            states.append(reduction.of(Block(counts.transform(block.texts), codes, classes, block.weight)))
            states = [reduction.merge(states)] if len(states) >= TOGETHER else states
    return reduction.merge(states) if states else None


def _merged(reduction: Reduction[Any], states: list[Any]) -> Any:
    met = [state for state in states if state is not None]
    return reduction.merge(met) if met else None


def _no_weight() -> DataError:
    return DataError("The weight of every document is zero; at least one needs a positive weight.")
