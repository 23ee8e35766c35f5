"""A scoring program: what is computed from one row, as a graph of few operations that every back end can print.

A node is a vector of numbers of one row. Nodes are made by the functions below; equal things are made once, and used
several times. A back end visits what the outputs of a ``Program`` need, arguments first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import DiscrimError, ParameterError
from discrim.typing import Floats

# Operations on each number of vectors of one width; a vector of width one goes with any.
UNARY = ("negative", "exp", "log", "log1p", "square", "absolute", "cos", "sign", "missing", "truncate", "log_gamma")
BINARY = ("add", "subtract", "multiply", "divide", "smaller", "larger", "above", "at_least")
ELEMENTWISE = frozenset((*UNARY, *BINARY, "select"))

# exp of less is zero in double precision, as far as sums with one are concerned.
LEAST_EXPONENT = -700.0


class ExportError(ParameterError):
    """A model that cannot be exported, or not to what was asked."""


@dataclass(frozen=True, eq=False)
class Node:
    """A vector of ``width`` numbers: an operation, its arguments, and the arrays it needs.

    A node with a ``name`` is shown under it, with the ``note`` as comment.
    """

    op: str
    args: tuple[Node, ...]
    width: int
    data: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    note: str = ""

    def called(self, name: str, note: str = "") -> Node:
        """The same under a name."""
        return replace(self, name=name, note=note)


@dataclass(frozen=True)
class Input:
    """A column that the caller gives: a number, or the level of a category (``levels`` are text).

    ``missing`` may be: then it has no effect on the validity of a row. The place ``other`` is that of a level that is
    none of these, by default that of an unknown one, and ``marks`` are texts that stand for a missing level. Levels may
    be those ``of_numbers``, as a table has them.
    """

    name: str
    levels: tuple[str, ...] | None = None
    missing: bool = False
    boolean: bool = False
    other: int | None = None
    marks: tuple[str, ...] = ()
    of_numbers: bool = False


@dataclass(frozen=True)
class Program:
    """What answers a row: the number of a label, and the posteriors of the classes where there are any.

    ``best`` is an index into ``labels``, and ``scores`` that by which it was chosen: a row has no answer unless the
    largest of these is finite.
    """

    inputs: tuple[Input, ...]
    named: bool
    labels: tuple[Any, ...]
    best: Node
    scores: Node
    classes: tuple[Any, ...]
    posterior: Node | None
    title: str = "a classifier"

    @property
    def outputs(self) -> tuple[Node, ...]:
        return (self.scores, self.best) if self.posterior is None else (self.scores, self.best, self.posterior)

    @property
    def numbers(self) -> list[Input]:
        """The inputs that are numbers, in the order of the vector ``numbers``."""
        return [each for each in self.inputs if each.levels is None]

    @property
    def texts(self) -> list[Input]:
        """The inputs that are levels."""
        return [each for each in self.inputs if each.levels is not None]

    def nodes(self) -> list[Node]:
        """All nodes that the outputs need, arguments first."""
        return ordered(self.outputs)

    def size(self) -> int:
        """How many constants the program has."""
        arrays = (value for node in self.nodes() for value in node.data.values() if isinstance(value, np.ndarray))
        return sum(array.size for array in arrays)


def ordered(outputs: Sequence[Node]) -> list[Node]:
    """The nodes that these need, arguments first, each once."""
    seen: dict[int, Node] = {}
    stack: list[tuple[Node, Iterator[Node]]] = []
    for output in outputs:
        if id(output) not in seen:
            stack.append((output, iter(output.args)))
        while stack:
            node, rest = stack[-1]
            following = next((arg for arg in rest if id(arg) not in seen), None)
            if following is None:
                stack.pop()
                seen.setdefault(id(node), node)
            else:
                stack.append((following, iter(following.args)))
    return list(seen.values())


def const(values: Any, name: str = "") -> Node:
    """The same numbers in every row."""
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return Node("const", (), len(array), {"values": array}, name)


def numbers(width: int) -> Node:
    """The columns of numbers, as the caller gives them."""
    return Node("numbers", (), width, {}, "x")


def apply(op: str, *args: Node | float) -> Node:
    """An elementwise operation; numbers stand for constants."""
    nodes = tuple(arg if isinstance(arg, Node) else const(arg) for arg in args)
    width = max(node.width for node in nodes)
    assert op in ELEMENTWISE
    assert all(node.width in {1, width} for node in nodes)
    return Node(op, nodes, width)


def affine(x: Node, coef: Any, offset: Any, names: tuple[str, str] = ("coef", "offset")) -> Node:
    """offset + coef x, for coef of width_out x width_in."""
    matrix = np.ascontiguousarray(np.atleast_2d(np.asarray(coef, dtype=np.float64)))
    constant = np.broadcast_to(np.asarray(offset, dtype=np.float64), (len(matrix),))
    return Node("affine", (x,), len(matrix), {"coef": matrix, "offset": np.array(constant), "names": names})


def distances(x: Node, centre: Floats, weight: Floats, power: int = 2) -> Node:
    """sum_j weight_kj |x_j - centre_kj|^power, one number for each row k of ``centre``; power is 1 or 2."""
    weight = np.array(np.broadcast_to(weight, centre.shape), dtype=np.float64)
    return Node("distances", (x,), len(centre), {"centre": np.array(centre), "weight": weight, "power": power})


def quadratic(x: Node, mean: Floats, factor: Floats) -> Node:
    """|factor_k (x - mean_k)|^2, one number for each k."""
    return Node("quadratic", (x,), len(mean), {"mean": np.array(mean), "factor": np.array(factor)})


def total(x: Node) -> Node:
    """The sum of the numbers of a vector."""
    return x if x.width == 1 else Node("sum", (x,), 1)


def largest(x: Node, *, finite: bool = True) -> Node:
    """The largest of a vector; with ``finite=False`` some numbers may be -inf."""
    return Node("largest", (x,), 1, {"finite": finite})


def first_largest(x: Node, top: Node) -> Node:
    """The place of the first number that equals the largest."""
    return Node("place", (x, top), 1)


def join(parts: Sequence[Node]) -> Node:
    """Vectors side by side."""
    return parts[0] if len(parts) == 1 else Node("join", tuple(parts), sum(part.width for part in parts))


def take(x: Node, places: Any) -> Node:
    """Some of the numbers of a vector."""
    index = np.atleast_1d(np.asarray(places, dtype=np.int64))
    if len(index) == x.width and (index == np.arange(x.width)).all():
        return x
    return Node("take", (x,), len(index), {"places": index})


def level_of(column: int, levels: Sequence[str], of: Input) -> Node:
    """The number of the level of a category, of an unknown one that of all levels, of a missing one that plus one."""
    size = len(levels)
    marks = tuple(mark for mark in of.marks if mark not in levels)
    other = size if of.other is None else of.other
    return Node("level", (), 1, {"column": column, "levels": tuple(levels), "other": other, "marks": marks})


def number_level(x: Node, levels: Floats) -> Node:
    """The same where the levels are numbers, and missing is NaN."""
    return Node("number level", (x,), 1, {"levels": np.asarray(levels, dtype=np.float64)})


def lookup(place: Node, table: Floats, name: str = "table") -> Node:
    """The row of a table that has this number."""
    values = np.ascontiguousarray(table, dtype=np.float64)
    return Node("lookup", (place,), values.shape[1], {"table": values, "name": name})


def exp(x: Node) -> Node:
    return apply("exp", x)


def positive_part(x: Node) -> Node:
    return apply("larger", x, 0.0)


def logistic(x: Node) -> Node:
    """1 / (1 + exp(-x)), without an exponential that overflows."""
    up, down = exp(apply("smaller", x, 0.0)), exp(apply("smaller", apply("negative", x), 0.0))
    return apply("divide", up, apply("add", up, down))


def softmax(scores: Node, top: Node) -> Node:
    """exp(scores - top), divided by their sum."""
    shares = exp(apply("subtract", scores, top)).called("shares", "proportional to the posteriors")
    return apply("divide", shares, total(shares).called("total")).called("posterior")


def log_gamma_series(x: Node) -> Node:
    """log Gamma(x) for x >= 0 by Stirling's series from x + 12 on, for back ends that lack it.

    log Gamma(x) = log Gamma(x + 12) - log x (x + 1) ... (x + 11).
    """
    far = apply("add", x, 12.0)
    square = apply("square", far)
    series = const(1 / 156)
    for coefficient in (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12):
        series = apply("add", apply("divide", series, square), coefficient)
    logs = [apply("log", apply("multiply", apply("add", x, k), apply("add", x, k + 1.0))) for k in range(0, 12, 2)]
    product = logs[0]
    for each in logs[1:]:
        product = apply("add", product, each)
    stirling = apply("multiply", apply("subtract", far, 0.5), apply("log", far))
    stirling = apply("add", apply("subtract", stirling, far), 0.5 * float(np.log(2.0 * np.pi)))
    return apply("subtract", apply("add", stirling, apply("divide", series, far)), product)


def label_list(labels: NDArray[Any]) -> tuple[Any, ...]:
    """Labels as plain Python values of one type, or an error."""
    values = tuple(labels.tolist())
    kinds = {type(value) for value in values}
    if len(kinds) > 1 or not kinds <= {str, int, float, bool}:
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ExportError(
            f"The labels are of the types {found}; an exported model has labels that are all text, all integers, all "
            "numbers or all booleans. Fit it with such labels."
        )
    return values


def no_export(what: str, instead: str) -> DiscrimError:
    """The error for a model that cannot be exported, and what could be done."""
    return ExportError(f"{what} cannot be exported. {instead}")


def replaced(program: Program, op: str, form: Callable[[Node], Node]) -> Program:
    """The program with an elementwise operation of one argument written in others."""
    if not any(node.op == op for node in program.nodes()):
        return program
    new: dict[int, Node] = {}
    for node in program.nodes():
        args = tuple(new[id(arg)] for arg in node.args)
        same = all(a is b for a, b in zip(args, node.args, strict=True))
        new[id(node)] = form(args[0]) if node.op == op else node if same else replace(node, args=args)
    posterior = program.posterior
    return replace(
        program,
        best=new[id(program.best)],
        scores=new[id(program.scores)],
        posterior=None if posterior is None else new[id(posterior)],
    )
