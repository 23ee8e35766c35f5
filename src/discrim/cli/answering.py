"""What a model says of the rows of a table, batch by batch, with its columns matched by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.cli.folders import TEXT, read_folder
from discrim.engines.progress import Progress
from discrim.errors import DataError, MissingValuesError, ParameterError, name_list, plural
from discrim.later import cached_property
from discrim.sources import Scan, scan
from discrim.sources.csv_files import like_data
from discrim.sources.design import Reader, Table
from discrim.sources.opening import open_reader
from discrim.text import Documents, documents
from discrim.typing import Floats

# Numbers of a batch.
MOST_NUMBERS = 4_000_000
# Columns with gaps that are named.
MOST_COLUMNS = 5


@contextmanager
def without_gaps(data: str) -> Iterator[None]:
    """Say of gaps in the rows of a table what a user of the command can do."""
    try:
        yield
    except MissingValuesError as error:
        counts = [f"'{name}' ({plural(count, 'row')})" for name, count in error.missing.items()]
        more = f" and {plural(len(counts) - MOST_COLUMNS, 'further column')}" if len(counts) > MOST_COLUMNS else ""
        raise DataError(
            f"'{data}' lacks numbers in {', '.join(counts[:MOST_COLUMNS])}{more}, and the model was fitted to rows "
            "without such gaps. Fill them in, or leave these rows out."
        ) from None


@dataclass(frozen=True)
class Answers:
    """A batch as it was read; the class of each row, and posteriors or scores under ``names``, where there are any."""

    table: Table
    predicted: NDArray[Any]
    values: Floats | None


@dataclass(frozen=True, eq=False)
class Question:
    """A fitted model and the table that it is asked about; ``besides`` are columns that are read too.

    ``text`` is the column of words, ``types`` and ``sep`` are those of ``scan``.
    """

    model: Any
    data: str
    besides: Sequence[str] = ()
    text: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    sep: str | None = None

    @property
    def has_posterior(self) -> bool:
        return hasattr(self.model, "predict_proba")

    @property
    def names(self) -> list[str]:
        """Of the values that come with each class: posteriors, else scores."""
        classes = [str(label) for label in self.model.classes_]
        if self.has_posterior:
            return [f"p_{label}" for label in classes]
        if not hasattr(self.model, "decision_function"):
            return []
        return [f"score_{classes[1]}"] if len(classes) == 2 else [f"score_{label}" for label in classes]

    def answers(self, title: str) -> Iterator[Answers]:
        """Batch by batch; a terminal shows how far it is, under this title."""
        reader, features = self._reader, self.features()
        lacking = [name for name in self.besides if name not in self.names_in]
        if lacking:
            raise self._no_column(lacking[0])
        columns = list(dict.fromkeys([*features, *self.besides]))
        rows = max(min(MOST_NUMBERS // max(len(columns), len(self.names)), 1 << 16), 1)
        n_rows = reader.about if reader.n_rows is None else reader.n_rows
        none = True
        with Progress(title, n_rows) as progress:
            for table in reader.tables(columns, rows):
                none = False
                yield self.of_rows(table)
                progress.add(table.n_rows)
        if none:
            raise DataError(f"'{self.data}' holds no rows.")

    def of_rows(self, table: Table) -> Answers:
        """Of rows in memory."""
        with without_gaps(self.data):
            return self._of(table)

    def batches(self, rows: int) -> Iterator[Table]:
        """What the model reads, so many rows at a time."""
        return self._reader.tables(self.features(), rows)

    def as_rows(self, table: Table) -> Scan | Documents:
        """Rows in memory as the model reads them."""
        if self.reads_text:
            return documents(table, text=self.features()[0], missing="empty")
        return scan(table, features=self.features(), types={n: t for n, t in self.types.items() if n in table.names})

    @cached_property
    def _reader(self) -> Reader:
        return read_folder(self.data) if self.is_folder else open_reader(self.data, self.sep)

    @cached_property
    def is_folder(self) -> bool:
        """Are the rows the documents of a folder?"""
        return self.reads_text and self.text is None and Path(self.data).expanduser().is_dir()

    @property
    def names_in(self) -> list[str]:
        """The columns of the table."""
        return self._reader.head.names

    @property
    def unused(self) -> list[str]:
        """The columns of a table that neither the model nor the caller reads."""
        if self.is_folder:
            return []
        used = {*self.features(), *self.besides}
        return [name for name in self.names_in if name not in used]

    def _of(self, table: Table) -> Answers:
        X = self.as_rows(table)
        predicted = np.asarray(self.model.predict(X))
        values = None
        if self.names:
            asked = "predict_proba" if self.has_posterior else "decision_function"
            values = np.asarray(getattr(self.model, asked)(X), dtype=np.float64).reshape(len(predicted), -1)
        return Answers(table, predicted, values)

    @property
    def reads_text(self) -> bool:
        return bool(self.model.__sklearn_tags__().input_tags.string)

    def features(self) -> list[str]:
        """The columns that the model needs, by its names for them."""
        names = self.names_in
        if self.reads_text:
            return [self._text_column(names)]
        if self.text is not None:
            raise ParameterError("The model learned from columns and not from the words of a text; omit --text.")
        fitted = getattr(self.model, "feature_names_in_", None)
        if fitted is None:
            raise DataError(
                "The model was fitted to an array, whose columns have no names, and columns are matched by name. "
                "Fit it to a table."
            )
        gone = set(getattr(self.model, "without", ()))
        wanted = [name for name in fitted.tolist() if name not in gone]
        lacking = [name for name in wanted if name not in names]
        if lacking:
            raise DataError(
                f"'{self.data}' lacks {plural(len(lacking), 'column')} that the model was fitted on: "
                f"{name_list(lacking, most=20)}. It has {name_list(names, most=20)}.{like_data(names)}"
            )
        return wanted

    def _text_column(self, names: Sequence[str]) -> str:
        if self.is_folder:
            return TEXT
        fitted = getattr(self.model, "feature_names_in_", [None])[0] if self.text is None else self.text
        if fitted is None or (self.text is None and fitted not in names):
            learned = f"the words of the column '{fitted}', which '{self.data}' lacks" if fitted else "words"
            raise ParameterError(
                f"The model learned from {learned}. Which column holds the text? Pass --text COLUMN; the columns are "
                f"{name_list(names, most=20)}."
            )
        if fitted not in names:
            raise self._no_column(fitted)
        return str(fitted)

    def _no_column(self, name: str) -> DataError:
        return DataError(f"There is no column '{name}' in '{self.data}'. It has {name_list(self.names_in, most=20)}.")
