"""Columns of a model from a formula such as ``age * sex + C(job, ref='clerk') + poly(x, 2)``, by formulaic."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discrim.atomic import all_or_nothing
from discrim.basis.formula_plan import FormulaPlan
from discrim.errors import DataError, MissingDependencyError, ModelFileError, ParameterError, name_list, plural
from discrim.sources import Design, MappedScan, Scan
from discrim.sources.design import ArrayTable, Table, as_table
from discrim.store.estimators import SavedEstimator
from discrim.store.fields import By, Fields, Fixed, Flag, Incoming, Many, Outgoing, Text, Texts, Whole, damaged
from discrim.store.kinds import Of
from discrim.typing import Floats

# Functions that learn from the whole column, and C(), whose levels a column of numbers shows only at its end.
LEARNING = re.compile(r"\b(poly|bs|cs|cr|cc|scale|standardize|center|C)\(")
# They mix rows that are read in blocks.
REFUSED = re.compile(r"\b(lag|hashed)\(")
INTERCEPT = "Intercept"


class FormulaBasis(SavedEstimator, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns that a formula makes of those of a table, in R's notation.

    ``a + b`` are columns, ``a:b`` their product, ``a * b`` both; texts become indicators of their levels, the first of
    which is the reference (``C(job, ref='clerk')`` chooses another, and makes indicators of numbers too); ``log(x)``,
    ``I(x**2)``, ``poly(x, 2)``, ``bs(x, df=4)``, ``center(x)`` and ``scale(x)`` are functions; ``- a`` takes a term
    away, ``.`` is all columns, and ``- 1`` leaves the intercept out. Needs the package formulaic:
    ``pip install 'discrim[formula]'``. The text is evaluated as Python: do not take it from strangers.

    Levels, and what functions such as ``poly`` learn, are those of the rows of ``fit``. A scan gives them in a first
    pass, in which the columns of numbers are kept in memory if the formula has such a function; then its columns are
    made block by block.

    Parameters
    ----------
    formula : str, the right side of a formula

    Attributes
    ----------
    terms_ : list of (name, columns), which of the columns belong to a term
    margins_ : dict of a term to the terms that contain it, as ``a:b`` contains ``a``
    intercept_ : bool

    Examples
    --------
    >>> import pandas as pd
    >>> from discrim.basis import FormulaBasis
    >>> table = pd.DataFrame({"age": [30, 40, 50], "job": ["clerk", "smith", "clerk"]})
    >>> basis = FormulaBasis("age * C(job, ref='smith')").fit(table)
    >>> basis.transform(table)
    array([[30.,  1., 30.],
           [40.,  0.,  0.],
           [50.,  1., 50.]])
    >>> list(basis.get_feature_names_out())
    ['age', "C(job, ref='smith')[T.clerk]", "age:C(job, ref='smith')[T.clerk]"]
    """

    learned: ClassVar[Fields] = {
        "_used": Texts(), "_texts": By(Texts(type=set)), "_columns": Texts("q"), "_kept": Many(Whole(), "q", list),
        "terms_": Many(Fixed({"name": Text(), "columns": Many(Whole(), type=list)})), "margins_": By(Texts(type=tuple)),
        "intercept_": Flag(), "_spec": Of(FormulaPlan),
    }  # fmt: skip

    terms_: list[tuple[str, list[int]]]
    margins_: dict[str, tuple[str, ...]]
    intercept_: bool

    def __init__(self, formula: str) -> None:
        self.formula = formula

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - labels are not used
        """Learn levels, and what functions need to know of their columns."""
        self.learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:  # noqa: ARG002 - as of every transformer
        """``fit``, then ``transform``."""
        return self.fit(X).transform(X)

    def learn(self, X: Any, without: str | None = None) -> None:
        """As ``fit``; the column ``without`` is not part of ``.``, which are all columns."""
        if isinstance(X, Scan):
            names = list(X.features) if X.features is not None else X.design.names_in
        else:
            names = table_of(X).names
        parsed = _parsed(self.formula, [name for name in names if name != without])
        used = _columns_in(parsed)
        strange = [name for name in used if name not in names]
        if strange:
            raise DataError(
                f"The formula '{self.formula}' uses {name_list(strange)}, and the table has no such column. "
                f"It has {name_list(names, 20)}."
            )
        frame = self._first_pass(X, used) if isinstance(X, Scan) else _frame(table_of(X), used)
        self._used = used
        self._texts = {name: set(frame[name].unique()) for name in used if frame[name].dtype.kind not in "fiu"}
        spec = _matrix(parsed, frame).model_spec
        whole = list(spec.column_names)
        self.intercept_ = INTERCEPT in whole
        self._kept = [j for j, name in enumerate(whole) if name != INTERCEPT]
        self._columns = [whole[j] for j in self._kept]
        if not self._columns:
            raise ParameterError(f"The formula '{self.formula}' has no term besides the intercept. Name a column.")
        place = {j: i for i, j in enumerate(self._kept)}
        slices = [(term, range(*part.indices(len(whole)))) for term, part in spec.term_slices.items()]
        parts = [(term, [place[j] for j in part if j in place]) for term, part in slices]
        self.terms_ = [(str(term), columns) for term, columns in parts if columns]
        factors = {str(term): {str(factor) for factor in term.factors} for term, columns in parts if columns}
        self.margins_ = {a: tuple(b for b in factors if factors[a] < factors[b]) for a in factors}
        self._spec = spec

    def transform(self, X: Any) -> Any:
        """The columns of the formula, n x q; a scan becomes a scan."""
        check_is_fitted(self, "_spec")
        if isinstance(X, Scan):
            inner = X.with_features(self._used)
            return MappedScan(inner, _OfBlocks(self, inner.design), self._columns)
        return self.of_frame(_frame(table_of(X, self._used), self._used))

    def of_frame(self, frame: Any) -> Floats:
        """The same of a frame of pandas that has the columns that are used."""
        for name, known in self._texts.items():
            strangers = sorted(set(frame[name].unique()) - known, key=str)
            if strangers:
                raise DataError(
                    f"Column '{name}' holds {plural(len(strangers), 'level')} that the model has not seen: "
                    f"{name_list(strangers)}. Replace them by known levels, or fit again with rows that have them."
                )
        spec = self._spec
        whole = spec.columns(frame) if isinstance(spec, FormulaPlan) else np.asarray(_matrix(spec, frame), np.float64)
        if max(self._kept, default=0) >= whole.shape[1]:
            raise DataError(f"The formula '{self.formula}' makes other columns than it has names for.")
        return whole[:, self._kept]

    @property
    def used_(self) -> list[str]:
        """The columns of the table that the terms use."""
        found = {name for term, _ in self.terms_ for name in self._names_in(term)}
        return [name for name in self._used if name in found]

    def _names_in(self, text: str) -> list[str]:
        return [name for name in self._used if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w(])", text)]

    @property
    def categories_(self) -> dict[str, tuple[list[Any], Any]]:
        """Of columns that are categories the levels, and the one that the others are compared with."""
        return {name: found for names, found, plain in self._coded() for name in names if plain}

    @property
    def stepped_(self) -> set[str]:
        """Columns of numbers that the formula makes levels of, as ``C(x > 1)`` does, so that there is no slope."""
        plain = set(self.categories_)
        return {name for names, _, _ in self._coded() for name in names} - plain

    def _coded(self) -> list[tuple[list[str], tuple[list[Any], Any], bool]]:
        """For each factor that is coded as levels its columns, levels and base; and whether it is a column as it is."""
        found = []
        for factor, state in self._spec.factor_contrasts.items():
            expr = str(factor.expr)
            names = self._names_in(expr)
            inner = expr.removeprefix("C(")
            plain = len(names) == 1 and re.match(rf"`?{re.escape(names[0])}`?\s*([,)]|$)", inner.strip()) is not None
            levels = list(state.levels)
            base = getattr(state.contrasts, "base", None)
            found.append((names, (levels, base if base in levels else levels[0]), plain))
        return found

    def frame_of(self, X: Any) -> Any:
        """A frame of pandas with the columns that are used."""
        return _frame(table_of(X, self._used), self._used)

    def frames_of(self, X: Any) -> Iterator[Any]:
        """The same block by block of a scan; of a table all at once."""
        if not isinstance(X, Scan):
            yield self.frame_of(X)
            return
        inner = X.with_features(self._used)
        for block in inner.blocks():
            yield _whole_numbers(_decoded(np.asarray(block.x), inner.design))

    def restricted(self, terms: list[str]) -> Self:
        """The same with some of its terms."""
        other, places = copy(self), [j for name, columns in self.terms_ if name in terms for j in columns]
        place = {j: i for i, j in enumerate(places)}
        other.formula = " + ".join(terms or ["1"]) + ("" if self.intercept_ else " - 1")
        names = {"_kept": [self._kept[j] for j in places], "_columns": [self._columns[j] for j in places]}
        other.__dict__.update(names)
        other.terms_ = [(name, [place[j] for j in columns]) for name, columns in self.terms_ if name in terms]
        other.margins_ = {a: tuple(b for b in self.margins_[a] if b in terms) for a in terms}
        return other

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002 - it names them
        """Names of the columns, as R writes them."""
        check_is_fitted(self, "_columns")
        return np.array(self._columns, dtype=object)

    def write_learned(self, out: Outgoing, at: str) -> dict[str, Any]:
        """What was learned, with a description in the place of code; raises for functions that have none."""
        stored, plan = copy(self), self._spec
        if not isinstance(plan, FormulaPlan):
            plan = FormulaPlan.of(plan, self._used)
            _check_same(plan, self._spec, self._texts, self._used)
        terms = [{"name": name, "columns": columns} for name, columns in self.terms_]
        texts = {name: sorted(levels) for name, levels in self._texts.items()}
        stored.__dict__.update(_spec=plan, terms_=terms, _texts=texts)
        return super(FormulaBasis, stored).write_learned(out, at)

    def check_learned(self, file: Incoming) -> None:  # noqa: ARG002 - letters say the rest
        """Raise where the terms are not of the columns that there are."""
        stored: Any = self.terms_
        self.terms_ = [(term["name"], term["columns"]) for term in stored]
        places = [j for _, columns in self.terms_ for j in columns]
        if sorted(places) != list(range(len(self._columns))):
            raise damaged("terms_", "have not each column once")
        if sorted(self._used) != sorted(self._spec.used()) or not {*self._texts} <= {*self._used}:
            raise damaged("_used", "are not the columns of the formula")

    def _first_pass(self, scan: Scan, used: list[str]) -> Any:
        """A frame from which the formula learns what all rows of the scan would show."""
        import pandas as pd

        scan = scan.with_features(used)
        design = scan.design
        numeric = [name for name in used if name in design.numeric]
        parts = []
        for block in scan.blocks():
            parts.append(_decoded(np.asarray(block.x), design)[numeric])
            if not LEARNING.search(self.formula):
                break
        frame = pd.concat(parts, ignore_index=True)
        levels = {column.name: column.levels for column in design.columns if column.levels is not None}
        longest = max([len(frame) if numeric else 0, *(len(found) for found in levels.values())])
        frame = frame.reindex(np.arange(longest) % max(len(frame), 1)).reset_index(drop=True) if numeric else frame
        for name, found in levels.items():
            frame[name] = np.resize(np.array(found, dtype=object), longest)
        return _whole_numbers(frame[used])


class _OfBlocks:
    """The columns of the formula for the numbers of a block, as ``MappedScan`` asks for them."""

    def __init__(self, basis: FormulaBasis, design: Design) -> None:
        self.basis, self.design = basis, design

    def __call__(self, x: NDArray[Any]) -> NDArray[Any]:
        return self.basis.of_frame(_whole_numbers(_decoded(x, self.design)))


def table_of(X: Any, used: list[str] | None = None) -> Table:
    """The columns of a frame, of a mapping of names to columns, or of an array, whose columns are x0, x1, ..."""
    if isinstance(X, Mapping):
        import pandas as pd

        X = pd.DataFrame(X)
    table = as_table(X)
    if table is None:
        array = np.asarray(X)
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise DataError("A formula needs a data frame, a scan, a dict of columns, or an array of numbers.")
        table = ArrayTable(array)
    lacking = [name for name in used or () if name not in table.names]
    if lacking:
        found = name_list(table.names, 20)
        raise DataError(f"The formula uses {name_list(lacking)}, which these rows lack. They have {found}.")
    return table


def _frame(table: Table, used: list[str]) -> Any:
    """These columns as a frame of pandas: numbers, and texts as objects; missing values are refused."""
    import pandas as pd

    columns: dict[str, Any] = {}
    for name in used:
        if table.kind(name) == "text":
            values, codes = table.texts(name, 0, table.n_rows)
            missing = np.less(codes, 0)
            columns[name] = np.array([*values, None], dtype=object)[np.where(missing, -1, codes)]
        else:
            columns[name] = np.ascontiguousarray(table.numbers([name], 0, table.n_rows, np.float64)[:, 0])
            missing = np.isnan(columns[name])
        _refuse_missing(name, missing)
    return _whole_numbers(pd.DataFrame(columns, columns=used))


def _decoded(x: NDArray[Any], design: Design) -> Any:
    """The columns of a block of a scan, whose texts are indicators."""
    import pandas as pd

    columns: dict[str, Any] = {}
    start = 0
    for column in design.columns:
        part = np.asarray(x[:, start : start + column.n_out], np.float64)
        start += column.n_out
        _refuse_missing(column.name, np.asarray(np.isnan(part).any(axis=1)))
        if column.levels is None:
            columns[column.name] = part[:, 0]
        else:
            levels = np.array(column.levels, dtype=object)
            columns[column.name] = levels[(part @ np.arange(1, column.n_out + 1)).astype(int)]
    return pd.DataFrame(columns)


def _refuse_missing(name: str, missing: NDArray[np.bool_]) -> None:
    count = int(missing.sum())
    if count:
        raise DataError(
            f"Column '{name}' lacks {plural(count, 'value')}, and the formula uses it. Leave these rows out, or fill "
            "the values in first."
        )


def _whole_numbers(frame: Any) -> Any:
    """Columns of whole numbers as integers, so that levels of C(year) are 2010 and not 2010.0."""
    for name in frame.columns:
        values = frame[name].to_numpy()
        if values.dtype.kind == "f" and (np.abs(values) < 2**53).all() and (values == np.rint(values)).all():
            frame[name] = values.astype(np.int64)
    return frame


def _parsed(formula: str, names: list[str]) -> Any:
    if not isinstance(formula, str) or not formula.strip():
        raise ParameterError.bad_value("formula", formula, "a text such as 'age * sex + poly(x, 2)'")
    if REFUSED.search(formula):
        raise ParameterError.bad_value("formula", formula, "without lag() and hashed(), which have no meaning here")
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ImportError as error:
        raise MissingDependencyError.for_package("formulaic", "A formula", "formula") from error
    try:
        return Formula.from_spec(formula, context={"__formulaic_variables_available__": names})
    except (FormulaicError, SyntaxError) as error:
        raise ParameterError(f"The formula '{formula}' cannot be read: {_one_line(error)}") from None


def _check_same(plan: FormulaPlan, spec: Any, texts: Mapping[str, Any], used: list[str]) -> None:
    """Raise where the description gives other columns than the formula: some rows are made up and tried."""
    import pandas as pd

    rng, n = np.random.default_rng(0), 24
    ranges, levels = plan.spans(), {**plan.levels(), **{name: sorted(found) for name, found in texts.items()}}
    columns = {}
    for name in used:
        low, high = ranges.get(name, (0.25, 4.0))
        columns[name] = np.resize(np.array(levels[name]), n) if name in levels else rng.uniform(low, high, n)
    frame = pd.DataFrame(columns)
    try:
        expected = np.asarray(_matrix(spec, frame), np.float64)
    except DataError:  # such as a spline of a function, beyond its knots
        return
    found = plan.columns(frame)
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-9, atol=1e-12, equal_nan=True):
        raise ModelFileError("The formula cannot be saved: its description gives other columns. Pickle the model.")


def _columns_in(parsed: Any) -> list[str]:
    """The columns that the formula uses."""
    found: set[str] = set()
    for text in sorted({str(factor.expr) for term in parsed for factor in term.factors}):
        if text.isidentifier():
            found.add(text)
            continue
        quoted = re.findall(r"`([^`]*)`", text)
        try:
            tree = ast.parse(re.sub(r"`[^`]*`", "0", text), mode="eval")
        except SyntaxError:  # a name that is no word of Python
            found.add(text)
            continue
        called = {id(node) for call in ast.walk(tree) if isinstance(call, ast.Call) for node in ast.walk(call.func)}
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
        found |= {*quoted, *(names - {"np", "contr"})}
    return sorted(found)


def _matrix(spec: Any, frame: Any) -> Any:
    """What formulaic makes of the frame; its errors and warnings as sentences of ours."""
    from formulaic.errors import DataMismatchWarning, FormulaicError

    with warnings.catch_warnings():
        warnings.simplefilter("error", DataMismatchWarning)
        try:
            return spec.get_model_matrix(frame, context={"C": _categorical}, na_action="ignore", output="numpy")
        except DataMismatchWarning as error:
            found = re.search(r"\{.*\}", str(error))
            levels = re.sub(r"np\.\w+\((.*?)\)", r"\1", found[0]) if found else "new ones"
            raise DataError(
                f"A category of the formula holds levels that the model has not seen: {levels}. Replace them by known "
                "levels, or fit again with rows that have them."
            ) from None
        except (FormulaicError, ValueError, TypeError, KeyError) as error:
            raise DataError(f"The formula cannot be computed: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    return " ".join(text.split())


def _categorical(data: Any, contrasts: Any = None, *, ref: Any = None, levels: Any = None) -> Any:
    """formulaic's C(), with R's name for the level that the others are compared with."""
    from formulaic.transforms.contrasts import C, TreatmentContrasts

    if ref is None:
        return C(data, contrasts, levels=levels)
    return C(data, TreatmentContrasts(base=ref), levels=levels)
