"""The summary of a fitted model: printed like R's, drawn in a notebook, read as attributes or a frame."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import MissingDependencyError, ParameterError, name_list, plural
from discrim.inference import render
from discrim.inference.render import NOISE, Column, write_number
from discrim.store.fields import By, Flag, Incoming, Many, Text, Texts, Whole, damaged
from discrim.store.kinds import Of, stored
from discrim.store.values import Value

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 30
MOST_COLUMNS = 60
FACT_DIGITS = 5


@stored(
    "table",
    title=Text(),
    index=Value(),
    columns=Value(),
    values=Value(),
    digits=Whole(1, 17),
    p_columns=Texts(type=tuple),
    most_rows=Whole(),
    starred=Flag(),
    remark=Text(),
)
@dataclass(frozen=True, eq=False)
class Table:
    """Named rows and columns of numbers or words.

    ``digits`` significant digits are printed per column, fewer where they are zeros. The columns named
    in ``p_columns`` hold p-values: printed as ``<2e-16`` where tiny, and followed by stars unless not ``starred``. At
    most ``most_rows`` rows are printed, and ``remark`` below them. Numbers 15 digits below the largest of their column
    are printed as 0, but for tables ``of_ratios``, of which none is rounding noise.

    ``table["name"]`` is a column as an array, ``table["row", "name"]`` one entry; ``to_frame()`` gives all as a data
    frame of pandas.

    Examples
    --------
    >>> table = Table("Group means", ["a", "b"], ["x1", "x2"], [[1.5, 20.0], [0.25, 31.0]])
    >>> table["x2"]
    array([20., 31.])
    >>> table["b", "x1"]
    0.25
    """

    title: str
    index: Sequence[str]
    columns: Sequence[str]
    values: NDArray[Any] | Sequence[Sequence[Any]]
    digits: int = 4
    p_columns: tuple[str, ...] = ()
    most_rows: int = MOST_ROWS
    starred: bool = True
    remark: str = ""
    _ratios: bool = field(default=False, init=False)

    @classmethod
    def of_ratios(cls, title: str, index: Sequence[str], columns: Sequence[str], values: Any, remark: str) -> Table:
        """Of positive numbers, each of which counts by its own size."""
        table = cls(title, index, columns, values, remark=remark)
        object.__setattr__(table, "_ratios", True)
        return table

    def __post_init__(self) -> None:
        expected = f"{plural(len(self.index), 'row')} of {plural(len(self.columns), 'value')}"
        if len(self.values) != len(self.index):
            raise ParameterError.bad_value("values", plural(len(self.values), "row"), expected)
        for name, row in zip(self.index, self.values, strict=True):
            if len(row) != len(self.columns):
                found = f"{plural(len(row), 'value')} in row '{name}'"
                raise ParameterError.bad_value("values", found, expected)
        unknown = [name for name in self.p_columns if name not in self.columns]
        if unknown:
            raise ParameterError.bad_value("p_columns", unknown[0], f"among {name_list(self.columns)}")

    def check_stored(self, file: Incoming) -> None:  # noqa: ARG002 - it has no letters
        """Names are texts, and cells single values."""
        lists = (list, tuple, np.ndarray)
        named = isinstance(self.index, lists) and isinstance(self.columns, lists)
        if isinstance(self.values, np.ndarray):
            fits = self.values.ndim == 2 and self.values.dtype.kind in "biuf"
        else:
            fits = all(isinstance(row, (list, tuple)) and all(map(_is_single, row)) for row in self.values)
        if not named or not fits or not all(map(_is_single, self.columns)):
            raise damaged("values", "is no table")

    def __getitem__(self, name: str | tuple[str, str]) -> Any:
        if isinstance(name, tuple):
            row, column = name
            return self.values[_place(row, self.index, "row")][_place(column, self.columns, "column")]
        j = _place(name, self.columns, "column")
        return np.array([row[j] for row in self.values])

    def __iter__(self) -> Iterator[str]:
        """The names of the columns."""
        return iter(self.columns)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.index)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __str__(self) -> str:
        head = textwrap.fill(f"{self.title}:", render.WIDTH)
        body = render.text_table(self._row_names(), self._written()) if self._row_names() else "(no rows)"
        return "\n".join([head, body, *self._notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render.html_page([self.to_html()])

    def to_html(self) -> str:
        """The table as a piece of a page."""
        notes = "".join(f'<div class="key">{html.escape(note)}</div>' for note in self._notes() if note != "---")
        return render.html_table(self.title, self._row_names(), self._written()) + notes

    def to_frame(self) -> pd.DataFrame:
        """All rows and columns, as numbers, with the row names as index."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError.for_package("pandas", "Summary.to_frame()", "all") from error
        values = self.values if isinstance(self.values, np.ndarray) else [list(row) for row in self.values]
        frame = pd.DataFrame(values, index=list(self.index), columns=list(self.columns))
        return frame.infer_objects()

    def _row_names(self) -> list[str]:
        return [str(name) for name in self.index[: _shown(len(self.index), self.most_rows)]]

    def _written(self) -> list[Column]:
        """The columns as printed; only the rows that are shown determine the number of digits."""
        shown = self.values[: _shown(len(self.index), self.most_rows)]
        names = self.columns[: _shown(len(self.columns), MOST_COLUMNS)]
        return [self._write(str(name), [row[j] for row in shown]) for j, name in enumerate(names)]

    def _write(self, name: str, values: list[Any]) -> Column:
        if name in self.p_columns:
            texts = render.write_p_values(values, self.digits)
            if not self.starred:
                return Column(name, texts)
            width = max(map(len, [name, *texts]), default=0)
            # The marks stand in a place of their own, so that the probabilities stay aligned.
            cells = [f"{text:>{width}} {render.stars(p):<3}" for text, p in zip(texts, values, strict=True)]
            return Column(f"{name}    ", cells)
        if render.is_numeric(values):
            return Column(name, render.write_column(values, self.digits, 0.0 if self._ratios else NOISE))
        return Column(name, [write_number(value, self.digits) for value in values], right=False)

    def _notes(self) -> list[str]:
        """What is left out, and what the stars mean."""
        sizes = (len(self.index), self.most_rows, "row"), (len(self.columns), MOST_COLUMNS, "column")
        notes = [f"... and {size - most:,} more {noun}s" for size, most, noun in sizes if _shown(size, most) < size]
        if self.starred and self.p_columns and len(self.index):
            notes += ["---", render.LEGEND]
        return [*notes, *textwrap.wrap(self.remark, render.WIDTH)]


def _shown(size: int, most: int) -> int:
    """How many of so many are printed; a single one more takes no more room than the line that would name it."""
    return size if size <= most + 1 else most


def _is_single(value: Any) -> bool:
    return isinstance(value, (str, bool, int, float, np.generic))


def _place(name: str, names: Sequence[str], noun: str) -> int:
    """Where the name is among those of the table."""
    if name not in names:
        raise ParameterError.bad_value(noun, name, f"one of {name_list(names, most=len(names))}")
    return list(names).index(name)


@stored("summary", title=Text(), facts=By(Value()), tables=Many(Of(Table)), values=By(Value()))
class Summary:
    """What ``model.summary()`` gives.

    Parameters
    ----------
    title : str
        The first line.
    facts : mapping
        Names and single values, printed one per line.
    tables : sequence of Table
        The main table first.
    **values
        Become attributes, such as ``names``, ``coef``, ``std_error`` and ``deviance``.

    Examples
    --------
    >>> table = Table("Group means", ["a", "b"], ["x1", "x2"], [[1.5, 20.0], [0.25, 31.0]])
    >>> print(Summary("Linear discriminant analysis", {"Rows": 12, "Classes": 2}, [table], coef=[0.5]))
    Linear discriminant analysis
    <BLANKLINE>
    Rows:    12
    Classes: 2
    <BLANKLINE>
    Group means:
        x1 x2
    a 1.50 20
    b 0.25 31
    """

    title: str
    facts: Mapping[str, object]
    tables: tuple[Table, ...]

    def __init__(self, title: str, facts: Mapping[str, object], tables: Sequence[Table], **values: Any) -> None:
        taken = [name for name in values if hasattr(type(self), name) or name in Summary.__annotations__]
        if taken:
            raise ParameterError.bad_value("values", taken[0], "a name that a summary does not use itself")
        self.__dict__.update(values)
        self.title = title
        self.facts = dict(facts)
        self.tables = tuple(tables)

    def to_stored(self) -> dict[str, Any]:
        """As files have it: the tables as data, and the further attributes by name."""
        given = {"title": self.title, "facts": self.facts, "tables": self.tables}
        return {**given, "values": {name: value for name, value in vars(self).items() if name not in given}}

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> Summary:
        """The summary that ``to_stored`` gave."""
        return cls(values["title"], values["facts"], values["tables"], **values["values"])

    def check_stored(self, file: Incoming) -> None:  # noqa: ARG002 - it has no letters
        """Facts are single values."""
        if not all(map(_is_single, self.facts.values())):
            raise damaged("facts", "are no single values")

    def __getattr__(self, name: str) -> Any:
        known = name_list(sorted(vars(self)), most=len(vars(self)))
        raise AttributeError(f"This summary has no '{name}'; it has {known}.", name=name, obj=self)

    def __str__(self) -> str:
        head, facts = textwrap.fill(self.title, render.WIDTH), render.text_facts(self._written_facts())
        return "\n\n".join(part for part in (head, facts, *map(str, self.tables)) if part)

    __repr__ = __str__

    def to_html(self) -> str:
        """The summary as a page of its own."""
        head = f"<h4>{html.escape(self.title)}</h4>"
        return render.html_page([head, render.html_facts(self._written_facts()), *(t.to_html() for t in self.tables)])

    _repr_html_ = to_html

    def to_frame(self, title: str | None = None) -> pd.DataFrame:
        """The table of this title as a frame; the main table where none is named."""
        for table in self.tables:
            if title is None or table.title == title:
                return table.to_frame()
        titles = name_list((table.title for table in self.tables), most=len(self.tables))
        raise ParameterError.bad_value("title", title, f"one of {titles}" if titles else "left out: no tables")

    def _written_facts(self) -> dict[str, str]:
        return {str(name): write_number(value, FACT_DIGITS) for name, value in self.facts.items()}


def coefficient_summary(
    title: str, facts: Mapping[str, Any], names: Sequence[str], labels: NDArray[Any], coef: NDArray[Any], **values: Any
) -> Summary:
    """Of linear functions: ``coef``, (1 + p) x K with the intercepts first, of p columns and the last K labels.

    ``values`` are further attributes.
    """
    rows = ["(Intercept)", *names]
    table = Table("Coefficients", rows, [str(label) for label in labels[-coef.shape[1] :]], coef)
    return Summary(title, facts, [table], names=rows, coef=coef, **values)


def pipeline_summary(pipeline: Any, **options: Any) -> Summary:
    """The summary of a fitted scikit-learn ``Pipeline`` whose last step is a model of this library.

    In ``pipeline[-1].summary()`` the columns are x0, x1, ..., unless the steps before pass on data frames
    (``pipeline.set_output(transform="pandas")``). Here they have the names that these steps give them
    (``get_feature_names_out``). Where a step has no such names, the summary is that of the model. ``options`` go to
    ``summary``.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from discrim import LinearDiscriminantAnalysis, datasets
    >>> X, y = datasets.load_iris().xy
    >>> pipeline = make_pipeline(PolynomialFeatures(include_bias=False), LinearDiscriminantAnalysis()).fit(X[:, :2], y)
    >>> pipeline_summary(pipeline).names
    ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    """
    model = getattr(pipeline, "steps", [("", None)])[-1][1]
    if not hasattr(model, "renamed"):
        raise ParameterError.bad_value("pipeline", pipeline, "a Pipeline that ends in a model of discrim")
    with suppress(AttributeError, ValueError):  # a step has no names, or is not fitted
        names = pipeline[:-1].get_feature_names_out()
        model = model if names is None else model.renamed(list(names))
    summary: Summary = model.summary(**options)
    return summary
