"""What a fitted formula computes, as plain data: sums, products, known functions, levels and their contrasts.

A formula is evaluated as Python while it is fitted. A model file holds no code: it has this description, and this
module computes it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DataError, ModelFileError
from discrim.store.container import is_whole
from discrim.store.fields import Incoming, damaged
from discrim.store.kinds import stored
from discrim.store.values import Value
from discrim.typing import Floats

SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mult": operator.mul, "div": operator.truediv, "pow": operator.pow,
    "mod": operator.mod, "floordiv": operator.floordiv, "maximum": np.maximum, "minimum": np.minimum,
}  # fmt: skip
FUNCTIONS = (
    "log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "sqrt", "cbrt", "square", "abs", "absolute", "sign",
    "sin", "cos", "tan", "arctan", "tanh", "floor", "ceil",
)  # fmt: skip
# What a formula may call without "np.".
BARE = frozenset({"log", "log2", "log10", "exp", "exp2", "abs"})
BEYOND = ("raise", "clip", "na", "zero", "extend")
MOST_DEGREE = 50
# The nodes that a description has, and the number of their parts.
PARTS = {"column": 1, "number": 1, "sign": 3, "negative": 1, "function": 2, "units": 3, "poly": 3, "powers": 2,
         "splines": 5, "levels": 3}  # fmt: skip


@stored("formula plan", factors=Value(), terms=Value())
@dataclass(frozen=True, eq=False)
class FormulaPlan:
    """``factors`` are nodes such as ["function", "log", ["column", "x"]]; ``terms`` lists [scale, [factor, ...]].

    The columns of a term are the products of those of its factors, the first factor fastest.
    """

    factors: list[Any]
    terms: list[Any]

    def columns(self, frame: Any) -> Floats:
        """All columns, the intercept too, of a frame that has the columns of the table."""
        with np.errstate(all="ignore"):
            try:
                made = [_columns(computed(node, frame), len(frame)) for node in self.factors]
                return np.column_stack([column for term in self.terms for column in _products(term, made, len(frame))])
            except (ValueError, TypeError, ArithmeticError) as error:
                raise DataError(f"The formula cannot be computed: {error}") from None

    def check_stored(self, file: Incoming) -> None:  # noqa: ARG002 - it has no letters
        """Raise where it is no description."""
        if not isinstance(self.factors, list) or not isinstance(self.terms, list) or not self.terms:
            raise damaged("plan", "has no terms")
        for node in self.factors:
            _check(node)
        for term in self.terms:
            fits = isinstance(term, list) and len(term) == 2 and _is_number(term[0]) and isinstance(term[1], list)
            if not fits or not all(is_whole(i) and 0 <= i < len(self.factors) for i in term[1]) or len(term[1]) > 9:
                raise damaged("plan", "has a term of factors that are not there")

    def used(self) -> set[str]:
        """The names of the columns that it reads."""
        return {name for node in self.factors for name in _names(node)}

    def spans(self) -> dict[str, tuple[float, float]]:
        """The range of the knots of columns that have splines."""
        found = [node for node in self.factors if node[0] == "splines" and node[1][0] == "column"]
        return {node[1][1]: (float(node[2][0]), float(node[2][-1])) for node in found}

    def levels(self) -> dict[str, list[Any]]:
        """The levels of columns that are categories."""
        return {node[1]: node[2].tolist() for node in self.factors if node[0] == "levels"}

    @classmethod
    def of(cls, spec: Any, names: list[str]) -> FormulaPlan:
        """The description of a fitted formula of formulaic; an error where it has a function that is not known."""
        places: dict[str, int] = {}
        factors: list[Any] = []
        terms: list[Any] = []
        for part in spec.structure:
            for scoped in part.scoped_terms:
                own = []
                for factor in scoped.factors:
                    key = repr(factor)
                    if key not in places:
                        places[key] = len(factors)
                        node = _Reader(spec, names).factor(factor.factor.expr, reduced=factor.reduced)
                        # Beside an intercept all splines together are one column too many.
                        factors.append([*node[:4], 1, node[5]] if node[0] == "splines" and factor.reduced else node)
                    own.append(places[key])
                terms.append([float(scoped.scale), own])
        return cls(factors, terms)


def computed(node: Any, frame: Any) -> Any:
    """The numbers of a node, n or n x q."""
    kind, *parts = node
    if kind == "column":
        return frame[parts[0]].to_numpy()
    if kind == "number":
        return parts[0]
    if kind == "levels":
        return _coded(frame, *parts)
    if kind == "sign":
        return SIGNS[parts[0]](computed(parts[1], frame), computed(parts[2], frame))
    if kind == "negative":
        return -computed(parts[0], frame)
    if kind == "function":
        return getattr(np, parts[0])(computed(parts[1], frame))
    x = np.asarray(computed(parts[0], frame))
    if kind == "units":
        x = x if parts[1] is None else x - parts[1]
        return x if parts[2] is None else x / parts[2]
    if kind == "powers":
        return np.stack([np.power(x, k) for k in range(1, parts[1] + 1)], axis=1)
    return (_orthogonal if kind == "poly" else _splines)(np.asarray(x, np.float64), *parts[1:])


def _coded(frame: Any, name: str, levels: NDArray[Any], contrasts: Floats) -> Floats:
    known = {level: place for place, level in enumerate(levels.tolist())}
    values = frame[name].tolist()
    strange = sorted({str(value) for value in values if value not in known})
    if strange:
        raise DataError(
            f"A category of the formula holds levels that the model has not seen: {{{', '.join(strange)}}}. Replace "
            "them by known levels, or fit again with rows that have them."
        )
    return np.asarray(contrasts[[known[value] for value in values]], np.float64)


def _orthogonal(x: Floats, alpha: Floats, norms2: Floats) -> Floats:
    """Orthonormal polynomials by their recurrence of three terms."""
    p = np.empty((len(x), len(norms2)))
    p[:, 0] = 1
    for i in range(1, len(norms2)):
        p[:, i] = (x - alpha[i - 1]) * p[:, i - 1]
        if i >= 2:
            p[:, i] -= norms2[i - 1] / norms2[i - 2] * p[:, i - 2]
    p /= np.sqrt(norms2)
    return p[:, 1:]


def _splines(x: Floats, knots: Floats, degree: int, first: int, beyond: str) -> Floats:
    """B-splines from number ``first`` on, by de Boor's recursion; ``beyond`` says what holds outside of the knots."""
    low, high = knots[0], knots[-1]
    if beyond == "raise" and ((x < low) | (x > high)).any():
        raise DataError(f"Values of a spline of the formula lie outside of {low:.6g} to {high:.6g}, where it is known.")
    if beyond == "clip":
        x = np.clip(x, low, high)
    elif beyond == "na":
        x = np.where((x >= low) & (x <= high), x, np.nan)
    last = len(knots) - degree - 2
    values = []
    for i in range(len(knots) - 1):
        start = -np.inf if beyond == "extend" and i == degree else knots[i]
        stop = np.inf if beyond == "extend" and i == last else knots[i + 1]
        closed = i == last and beyond != "extend"
        values.append(((x >= start) & ((x <= stop) if closed else (x < stop))).astype(float))

    def rise(i: int, d: int) -> Any:
        return (x - knots[i]) / (knots[i + d] - knots[i]) if knots[i + d] != knots[i] else 0

    for d in range(1, degree + 1):
        values = [rise(i, d) * values[i] + (1 - rise(i + 1, d)) * values[i + 1] for i in range(len(values) - 1)]
    return np.stack(values[first:], axis=1)


def _columns(values: Any, n: int) -> list[NDArray[Any]]:
    array = np.asarray(values)
    if array.ndim == 0:
        array = np.full(n, array)
    return [array] if array.ndim == 1 else list(array.T)


def _products(term: list[Any], made: list[list[NDArray[Any]]], n: int) -> list[Any]:
    """In the order of formulaic's names; factors of one column are multiplied first, as there."""
    scale, own = term
    if not own:
        return [np.full(n, scale)]
    parts = [made[i] for i in own]
    several = [part for part in parts if len(part) != 1]
    single = [part[0] for part in parts if len(part) == 1]
    if single:
        several.append([reduce(np.multiply, single)])
    return [scale * reduce(np.multiply, reversed(each)) for each in product(*reversed(several))]


class _Reader:
    """Reads the text of a factor, whose functions have learned what ``spec`` has of them."""

    def __init__(self, spec: Any, names: list[str]) -> None:
        self.spec, self.names = spec, names
        self.quoted: dict[str, str] = {}
        self.states = {ast.dump(self._tree(text)): state for text, state in spec.transform_state.items()}

    def factor(self, text: str, *, reduced: bool) -> list[Any]:
        """The node of a factor."""
        kind, state = self.spec.encoder_state[text]
        if kind.value == "categorical":
            return self._levels(text, state, reduced=reduced)
        return ["column", text] if text in self.names else self.node(self._tree(text))

    def node(self, tree: ast.expr) -> list[Any]:
        """The node of an expression."""
        if isinstance(tree, ast.Name) and self.quoted.get(tree.id, tree.id) in self.names:
            return ["column", self.quoted.get(tree.id, tree.id)]
        if isinstance(tree, ast.Constant) and _is_number(tree.value):
            return ["number", tree.value]
        if isinstance(tree, ast.BinOp) and type(tree.op).__name__.lower() in SIGNS:
            return ["sign", type(tree.op).__name__.lower(), self.node(tree.left), self.node(tree.right)]
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return ["negative", self.node(tree.operand)]
        if isinstance(tree, ast.Call) and tree.args:
            return self._call(tree)
        raise self._refused(tree)

    def _call(self, tree: ast.Call) -> list[Any]:
        name = ast.unparse(tree.func)
        plain = name.removeprefix("np.")
        x: list[Any] = self.node(tree.args[0])
        state: Any = self.states.get(ast.dump(tree))
        if name == "I":
            return x
        if plain in FUNCTIONS and (name != plain or name in BARE) and len(tree.args) == 1 and not tree.keywords:
            return ["function", plain, x]
        if name in {"np.maximum", "np.minimum"} and len(tree.args) == 2:
            return ["sign", plain, x, self.node(tree.args[1])]
        if name in {"center", "scale", "standardize"} and state is not None:
            return ["units", x, *(None if state[each] is None else float(state[each]) for each in ("center", "scale"))]
        if name == "poly" and not state:
            return ["powers", x, int(self._option(tree, "degree", 1, 1))]
        if name == "poly":
            orders = range(len(state["norms2"]))
            alpha = np.array([state["alpha"][k] for k in orders[:-1]], dtype=np.float64)
            return ["poly", x, alpha, np.array([state["norms2"][k] for k in orders], dtype=np.float64)]
        if name == "bs" and state is not None:
            beyond, degree = self._option(tree, "extrapolation", None, "raise"), self._option(tree, "degree", 3, 3)
            first = 0 if self._option(tree, "include_intercept", 4, value=False) else 1
            return ["splines", x, np.array(state["knots"], dtype=np.float64), int(degree), first, str(beyond)]
        raise self._refused(tree)

    def _option(self, tree: ast.Call, name: str, place: int | None, value: Any) -> Any:
        given = [each.value for each in tree.keywords if each.arg == name]
        given = given or (tree.args[place : place + 1] if place is not None else [])
        if not given:
            return value
        if not isinstance(given[0], ast.Constant):
            raise self._refused(tree)
        return given[0].value

    def _levels(self, text: str, state: Mapping[str, Any], *, reduced: bool) -> list[Any]:
        tree, name = None, text
        if text not in self.names:
            tree = self._tree(text)
            inner = tree.args[0] if isinstance(tree, ast.Call) and tree.args else tree
            name = self.quoted.get(inner.id, inner.id) if isinstance(inner, ast.Name) else ""
        coded = state.get("contrasts")
        if name not in self.names or coded is None:
            raise self._refused(tree or ast.Name(text))
        matrix = np.asarray(coded.get_coding_matrix(reduced_rank=reduced), dtype=np.float64)
        return ["levels", name, np.array(list(coded.levels)), matrix]

    def _tree(self, text: str) -> ast.expr:
        """Names in backquotes become words of Python."""

        def word(found: re.Match[str]) -> str:
            self.quoted[f"quoted_{len(found[1])}_{found.start()}"] = found[1]
            return f"quoted_{len(found[1])}_{found.start()}"

        return ast.parse(re.sub(r"`([^`]*)`", word, text), mode="eval").body

    def _refused(self, tree: ast.AST) -> ModelFileError:
        return ModelFileError(
            f"The part '{ast.unparse(tree)}' of the formula cannot be saved: a model file holds no code, but columns, "
            "arithmetic, log, exp, sqrt and the like, I, C, center, scale, poly and bs. Make a column of this part "
            "first, or pickle the model."
        )


def _names(node: list[Any]) -> list[str]:
    if node[0] in {"column", "levels"}:
        return [node[1]]
    return [name for part in node[1:] if isinstance(part, list) for name in _names(part)]


def _is_number(value: Any) -> bool:
    return (is_whole(value) and abs(value) < 1 << 31) or (isinstance(value, float) and bool(np.isfinite(value)))


def _is_array(value: Any, ndim: int, kinds: str = "f") -> bool:
    array = isinstance(value, np.ndarray) and value.ndim == ndim and value.dtype.kind in kinds and value.size > 0
    return array and (value.dtype.kind != "f" or bool(np.isfinite(value).all()))


def _check(node: Any) -> None:
    """Raise where this is no node."""
    known = isinstance(node, list) and node and isinstance(node[0], str) and len(node) == 1 + PARTS.get(node[0], -1)
    if not known:
        raise damaged("plan", "has a part that is not known")
    kind, *parts = node
    inner = {"sign": parts[1:], "negative": parts, "function": parts[1:], "column": [], "number": [], "levels": []}
    for part in inner.get(kind, parts[:1]):
        _check(part)
    if not CHECKS[kind](parts):
        raise damaged("plan", f"has numbers that '{kind}' cannot have")


def _splines_fit(parts: list[Any]) -> bool:
    _, knots, degree, first, beyond = parts
    if not (is_whole(degree) and 0 <= degree <= MOST_DEGREE and first in (0, 1) and beyond in BEYOND):
        return False
    return _is_array(knots, 1) and len(knots) > degree + 1 + first and bool((np.diff(knots) >= 0).all())


def _levels_fit(parts: list[Any]) -> bool:
    name, levels, contrasts = parts
    fits = isinstance(name, str) and _is_array(levels, 1, "OUiufb") and _is_array(contrasts, 2)
    return fits and len(levels) == len(contrasts) == len({*levels.tolist()})


CHECKS: dict[str, Callable[[list[Any]], bool]] = {
    "column": lambda parts: isinstance(parts[0], str),
    "number": lambda parts: _is_number(parts[0]),
    "sign": lambda parts: isinstance(parts[0], str) and parts[0] in SIGNS,
    "negative": lambda _: True,
    "function": lambda parts: isinstance(parts[0], str) and parts[0] in FUNCTIONS,
    "units": lambda parts: all(each is None or _is_number(each) for each in parts[1:]) and parts[2] != 0,
    "powers": lambda parts: is_whole(parts[1]) and 1 <= parts[1] <= MOST_DEGREE,
    "poly": lambda parts: _is_array(parts[1], 1) and _is_array(parts[2], 1) and len(parts[1]) + 1 == len(parts[2])
    and bool((parts[2] > 0).all()),
    "splines": _splines_fit,
    "levels": _levels_fit,
}  # fmt: skip
