"""The public face: one function, and the methods that models have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discrim.errors import ParameterError
from discrim.exports.answers import program_of
from discrim.exports.program import Program, no_export
from discrim.exports.rules import Described

FORMS = ("onnx", "sql", "c", "python")


def export(model: Any, to: str, path: Any = None, **options: Any) -> Any:
    """A fitted model as an ONNX graph, a SQL query, C99, or Python without dependencies.

    Made from the plain description of the model's rule, so that every classifier of this library can be exported, with
    its decision wrappers, multi-class schemes, bases and prepared columns; also a scikit-learn ``Pipeline`` of our
    bases (or ``StandardScaler``) and one of our classifiers. Labels and posteriors are those of ``predict`` and
    ``predict_proba``, to rounding; equal scores go to the first class.

    Cost: that of writing the model's numbers, 25 bytes each as text and 8 in ONNX.

    Parameters
    ----------
    model : fitted classifier or pipeline
    to : {'onnx', 'sql', 'c', 'python'}
    path : str or path-like or None
        The file to write. None returns the text, or the bytes of the ONNX graph.
    **options :
        'onnx': ``dtype``, 'float64' or 'float32'. 'sql': ``table`` (required), ``dialect``, ``keep``. 'c': ``name``,
        which functions and arrays begin with.

    Examples
    --------
    >>> import discrim
    >>> from discrim.exports import export
    >>> X, y = discrim.datasets.load_iris().xy
    >>> model = discrim.LinearDiscriminantAnalysis().fit(X, y)
    >>> source = export(model, "python")
    >>> made = {}
    >>> exec(source, made)
    >>> made["predict"]([5.0, 3.5, 1.4, 0.2])
    'setosa'
    """
    if to not in FORMS:
        raise ParameterError.bad_value("to", to, "'onnx', 'sql', 'c' or 'python'")
    made = _made(_program(model), to, options)
    if path is None:
        return made
    if isinstance(made, bytes):
        Path(path).write_bytes(made)
    else:
        Path(path).write_text(made, encoding="utf-8", newline="\n")
    return None


def _made(program: Program, to: str, options: dict[str, Any]) -> str | bytes:
    if to == "onnx":
        from discrim.exports.onnx import onnx_of

        return onnx_of(program, **options)
    if to == "sql":
        from discrim.exports.sql import sql_of

        return sql_of(program, **options)
    if to == "c":
        from discrim.exports.c import c_of

        return c_of(program, **options)
    from discrim.exports.python import python_of

    return python_of(program, **options)


def _program(model: Any) -> Program:
    return program_of(answering_of(model), f"{_name(model)} of discrim")


def _name(model: Any) -> str:
    steps, inner = getattr(model, "steps", None), getattr(model, "model_", None)
    if steps:
        return " + ".join(type(step).__name__ for _, step in steps)
    # What answers first, then what prepares its columns or counts its words.
    return type(model).__name__ if inner is None else f"{_name(inner)} ({type(model).__name__})"


def answering_of(model: Any) -> Described:
    """The plain description of how a fitted model answers."""
    inside = getattr(model, "estimator", None) if type(model).__name__ == "FrozenEstimator" else None
    if inside is not None:
        return answering_of(inside)
    if hasattr(model, "answering"):
        found: Described = model.answering()
        return found
    if hasattr(model, "named_steps"):
        *maps, last = [step for _, step in model.steps if step is not None and step != "passthrough"]
        return "pipeline", {"maps": [_map_of(each) for each in maps], "inner": answering_of(last)}
    raise no_export(
        type(model).__name__,
        "Fitted classifiers of discrim can, and pipelines of its bases and one of them; not those of a formula, whose "
        "columns are to be made in the table, or by discrim.basis in a pipeline.",
    )


def _map_of(step: Any) -> Described:
    if hasattr(step, "mapping"):
        found: Described = step.mapping()
        return found
    names = getattr(step, "feature_names_in_", None)
    if type(step).__name__ == "StandardScaler" and hasattr(step, "n_features_in_"):
        listed = [f"x{j}" for j in range(step.n_features_in_)] if names is None else [str(name) for name in names]
        columns = "columns", {"names": listed, "levels": None, "named": names is not None}
        return "standardised", {"centre": step.mean_, "scale": step.scale_, "columns": columns}
    raise no_export(
        f"The step {type(step).__name__} of a pipeline",
        "Bases of discrim.basis and StandardScaler can, and so can compare(...).best, which prepares columns itself.",
    )


class Exported:
    """The methods of a model that can be exported."""

    def to_onnx(self, path: Any = None, *, dtype: str = "float64") -> bytes | None:
        """Write the model as an ONNX graph for any runtime of operator set 18; without a path, return its bytes.

        Columns of numbers alone are one input ``X``, n x p; where there are categories every column is an input n x 1
        under its name, and a missing category is empty text. Outputs are ``label``, n, and ``probabilities``, n x K in
        the order of ``classes_``. Where ``predict`` refuses a row the probabilities are NaN, and the label is empty
        text, the least integer, or NaN. ``dtype='float32'`` halves the file, and gives about 6 digits.
        """
        made: bytes | None = export(self, "onnx", path, dtype=dtype)
        return made

    def to_sql(self, table: Any, dialect: str = "duckdb", *, keep: Any = (), path: Any = None) -> str | None:
        """The query that scores the rows of ``table`` (a name, or a tuple such as ('schema', 'name')).

        It gives the columns ``keep``, then ``predicted`` and one column ``p_<label>`` for each class. ``dialect`` is
        'duckdb', 'postgres' or 'sqlite' (built with its mathematical functions, as most are). Names are taken as
        written, in quotes. Where ``predict`` refuses a row, as for missing values, the answers are NULL; a column
        that has no influence is not read. Up to 1,600 columns in PostgreSQL, 2,000 in the others, and 200,000 numbers.
        """
        made: str | None = export(self, "sql", path, table=table, dialect=dialect, keep=keep)
        return made

    def to_c(self, path: Any = None, *, name: str = "model") -> str | None:
        """Write the model as one file of C99; without a path, return it. A comment at its head says how to call it."""
        made: str | None = export(self, "c", path, name=name)
        return made

    def to_python(self, path: Any = None) -> str | None:
        """Write the model as one file of Python without dependencies; without a path, return it."""
        made: str | None = export(self, "python", path)
        return made

    def to_sklearn(self) -> Any:
        """The fitted scikit-learn estimator of the same name, where its predictions are the same."""
        from discrim.exports.sklearn import sklearn_of

        return sklearn_of(self)
