"""Which columns of a file are learned from, and how: numbers and categories, or the words of a text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from discrim.cli.answering import Question
from discrim.cli.folders import CLASS
from discrim.cli.standard_input import spooled
from discrim.comparison.prepared import PreparedClassifier, no_value, without_columns, without_odd_columns
from discrim.errors import DataError, EmptyColumnsError, MissingValuesError, ParameterError, name_list, plural
from discrim.models import TextClassifier
from discrim.models.shell import recipe_of
from discrim.sources import Scan, scan
from discrim.sources.odd_columns import odd_columns, with_numbers
from discrim.sources.opening import open_reader
from discrim.text import Documents, documents

# What models do by these methods, in words.
LEARNS = {"partial_fit": "learn from more rows", "forget": "unlearn rows"}
# Columns with missing values that are named.
MOST_COLUMNS = 5


def open_beside(
    data: str, beside: dict[str, str | None], *, note: Callable[[str], None], **options: Any
) -> tuple[Scan | Documents, dict[str, Any]]:
    """The rows, and by option the values of columns that nothing is learned from, such as the ``groups`` of rows."""
    named = {option: name for option, name in beside.items() if name is not None}
    if not named:
        return open_table(data, note=note, **options), {}
    data = as_path(data)
    names, sep = open_reader(data, options.get("sep")).head.names, options.get("sep")
    values = {}
    for option, name in named.items():
        if name not in names:
            raise ParameterError(f"--{option} names the column '{name}'; the columns are {name_list(names, most=20)}.")
        column = scan(data, features=[name], sep=sep)
        values[option] = np.concatenate([np.asarray(t.labels(name, 0, t.n_rows)) for t in column.tables([name])])
    if options["text"] is None:
        options = {**options, "without": [*dict.fromkeys([*options["without"], *named.values()])]}
    return open_table(data, note=note, **options), values


def open_table(data: str, *, note: Callable[[str], None], **options: Any) -> Scan | Documents:
    """The rows of a file, or its documents.

    ``options`` are those of the command: target, text, features, without, weight, sep and types. ``note`` is called
    with what was decided without being asked for.
    """
    data = as_path(data)
    folder = Path(data).expanduser()
    if folder.is_dir() and any(path.is_dir() and not path.name.startswith(".") for path in folder.iterdir()):
        for name, value in options.items():
            if value:
                raise ParameterError(
                    f"--{name} is for tables; the classes of the documents in '{data}' are its folders."
                )
        return documents(folder)
    sep = options.get("sep")
    names = open_reader(data, sep).head.names
    text, features, without = options["text"], options["features"], options["without"]
    columns = {"target": options["target"], "weight": options["weight"]}
    if columns["target"] is None:
        raise ParameterError(which_column("--target", "the classes", names))
    if text is not None:
        if features or without:
            raise ParameterError("--text learns from the words of that column alone; omit --features and --without.")
        return documents(data, text=text, missing="empty", **columns)
    types = options.get("types")
    rows = scan(data, features=features or None, without=without, types=types, sep=sep, **columns)
    return rows if features else _words_or_columns(data, rows, note, columns)


def load_model(path: Path) -> Any:
    """The fitted model of a file."""
    from discrim.store import load

    return load(path)


def with_statistic(model: Any, path: Path, method: str = "") -> Any:
    """The model, if it can go on learning from what its file keeps."""
    inner = getattr(model, "model_", model)
    if method and not hasattr(model, method):
        raise DataError(
            f"'{path}' holds a {type(inner).__name__}, which cannot {LEARNS[method]}. Fit it again to all rows "
            "that count."
        )
    if hasattr(type(inner), "from_statistic") and not hasattr(inner, "statistic_"):
        raise DataError(
            f"'{path}' does not keep the statistic of its rows, from which learning goes on. Fit the model with "
            "--keep-statistic, which 'discrim fit' and 'discrim compare --save' take."
        )
    return model


def rows_for(question: Question, target: str | None, weight: str | None) -> Scan | Documents:
    """Labelled rows with the columns that a fitted model knows, by their names."""
    target = named_target(question, target)
    if question.is_folder:
        return documents(question.data)
    if question.reads_text:
        column = question.features()[0]
        return documents(question.data, text=column, target=target, weight=weight, missing="empty")
    return scan(
        question.data,
        features=question.features(),
        target=target,
        weight=weight,
        types=question.types,
        sep=question.sep,
    )


def named_target(question: Question, target: str | None) -> str:
    """The column of classes; an error with the names of all columns where none is given.

    The classes of the documents of a folder are its folders.
    """
    if question.is_folder:
        if target not in {None, CLASS} or CLASS not in question.names_in:
            raise ParameterError(
                f"The classes of the documents in '{question.data}' are the folders that they lie in"
                f"{'; omit --target.' if CLASS in question.names_in else ', and they lie in none.'}"
            )
        return CLASS
    if target is None:
        raise ParameterError(which_column("--target", "the classes", question.names_in))
    return target


def as_path(data: str) -> str:
    """The path of a file where DATA is the standard input; else as it is."""
    return str(spooled()) if data == "-" else data


def which_column(option: str, what: str, names: Sequence[str]) -> str:
    """A question for an option that was not given."""
    return f"Which column holds {what}? Pass {option} COLUMN; the columns are {name_list(names, most=20)}."


def fit_table(
    model: Any,
    rows: Scan | Documents,
    *,
    note: Callable[[str], None],
    keep: Collection[str] = (),
    checkpoint: Path | None = None,
) -> Any:
    """The model, fitted as ``compare`` would fit it: without columns that are no features, and with gaps filled in.

    Columns to ``keep`` are features whatever they look like.
    """
    if checkpoint is not None and (isinstance(rows, Documents) or not has_fit_parameter(model, "checkpoint")):
        raise ParameterError(
            f"--checkpoint is for models that are fitted from sums over the rows of a table; {type(model).__name__} "
            f"{'counts words' if isinstance(rows, Documents) else 'learns in another way'}. Leave it out."
        )
    if isinstance(rows, Documents):
        return TextClassifier(model).fit(rows)
    table, converted = with_numbers(rows)
    table, left_out = without_odd_columns(table, keep)
    for sentence in (*converted.values(), *(out.sentence for out in left_out.values())):
        note(sentence)
    try:
        return model.fit(table) if checkpoint is None else model.fit(table, checkpoint=checkpoint)
    except EmptyColumnsError as error:
        return fit_table(model, _without_empty(table, error.names, note), note=note, keep=keep, checkpoint=checkpoint)
    except MissingValuesError as error:
        empty = [name for name, count in error.missing.items() if count == table.n_rows]
        if empty:
            return fit_table(model, _without_empty(table, empty, note), note=note, keep=keep, checkpoint=checkpoint)
        if checkpoint is not None:
            raise DataError(f"{error} With --checkpoint they are not filled in.") from None
        recipe = recipe_of(model)
        marked = recipe is None or "own covariances" not in recipe.assumptions
        fitted = PreparedClassifier(model, indicators=marked).fit(table)
        counts = ", ".join(f"'{name}' ({count:,})" for name, count in list(error.missing.items())[:MOST_COLUMNS])
        more = len(error.missing) - MOST_COLUMNS
        further = f" and {plural(more, 'further column')}" if more > 0 else ""
        note(
            f"missing values in {counts}{further} were filled in by the mean of the column or its most frequent level"
            f"{'; where they depend on the class, a further column marks them.' if marked else '.'}"
        )
        return fitted


def _without_empty(rows: Scan, names: Sequence[str], note: Callable[[str], None]) -> Scan:
    """The rows without columns that have no value in any row, which ``note`` names."""
    left_out = no_value(names)
    table: Scan = without_columns(rows, left_out)
    for out in left_out.values():
        note(out.sentence)
    return table


def _words_or_columns(data: str, rows: Scan, note: Callable[[str], None], columns: dict[str, Any]) -> Scan | Documents:
    """The words of a text if there is nothing else; ``compare`` finds and reports columns that are no features."""
    odd = odd_columns(rows)
    texts = [column.name for column in odd if column.is_text]
    if len(odd) == len(rows.features) and len(texts) == 1:
        note(f"the column '{texts[0]}' holds text; the models learn from its words.")
        return documents(data, text=texts[0], missing="empty", **columns)
    for name in texts:
        note(f"the column '{name}' holds text; --text '{name}' classifies by its words.")
    return rows
