"""Python without dependencies: one readable file that any interpreter runs."""

from __future__ import annotations

import keyword
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.exports.printing import Printer, filled, grouped
from discrim.exports.program import Node, Program

RESERVED = frozenset((*keyword.kwlist, "x", "text", "row", "rows", "math", "mul", "nan", "inf", "sum", "max", "min"))
FUNCTIONS = {
    "exp": "exp({})",
    "log": "log({})",
    "log1p": "log1p({})",
    "absolute": "abs({})",
    "cos": "math.cos({})",
    "truncate": "truncated({})",
    "log_gamma": "math.lgamma({})",
    "negative": "-{}",
    "missing": "({0} != {0})",
    "sign": "sign({})",
    "square": "square({})",
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "smaller": "smaller({}, {})",
    "larger": "larger({}, {})",
    "above": "above({}, {})",
    "at_least": "({} >= {})",
    "select": "({1} if {0} else {2})",
}
HELPERS = {
    "exp": "def exp(a):\n    return math.exp(a) if a < 709.0 else inf if a == a else nan",
    "log": "def log(a):\n    return math.log(a) if a > 0 else -inf if a == 0 else nan",
    "log1p": "def log1p(a):\n    return math.log1p(a) if a > -1 else nan",
    "truncated": "def truncated(a):\n    return float(int(a)) if abs(a) < inf else a",
    "sign": "def sign(a):\n    return float((a > 0) - (a < 0)) if a == a else nan",
    "square": "def square(a):\n    return a * a",
    "smaller": "def smaller(a, b):\n    return b if b < a else a",
    "larger": "def larger(a, b):\n    return b if b > a else a",
    "above": "def above(a, b):\n    return float(a > b) if a == a else nan",
}
HEAD = '''"""{title}, as Python without dependencies.

    predict(row)        the label of a row
    predict_proba(row)  {posterior}

A row is a dict from the names in COLUMNS to values, or a list of values in their order.{missing}
"""'''
TAIL = '''
def values_of(row):
    """The values of a row in the order of COLUMNS."""
    if hasattr(row, "keys"):
        lacking = [name for name in COLUMNS if name not in row]
        if lacking:
            raise ValueError("The row lacks " + ", ".join(map(repr, lacking[:5])))
        return [row[name] for name in COLUMNS]
    if len(row) != len(COLUMNS):
        raise ValueError("A row has %d values; found %d" % (len(COLUMNS), len(row)))
    return row


def level_of(value):
    """The text of a level that is a number, as the model has it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return "%.0f" % number if number % 1.0 == 0.0 and abs(number) < 1e15 else "%g" % number


def answer(row):
    """The label of a row, and its posteriors."""
    x, text = [], []
    for name, value, kind in zip(COLUMNS, values_of(row), KINDS):
        gap = value is None or value != value
        if gap and not kind & MISSING:
            raise ValueError("Column %r is missing" % (name,))
        if kind & TEXT:
            text.append(None if gap else value if isinstance(value, str) else level_of(value))
        else:
            x.append(nan if gap else float(value))
            if abs(x[-1]) == inf:
                raise ValueError("Column %r is infinite" % (name,))
    scores, best, posterior = scored(x, text)
    if any(score != score for score in scores) or abs(max(scores)) == inf:
        raise ValueError("This row has no answer: a level is unknown, or a number too large to be squared")
    return LABELS[int(best)], posterior


def predict(row):
    """The label of a row."""
    return answer(row)[0]
'''
POSTERIOR = '''

def predict_proba(row):
    """The posterior of each class of a row, in the order of CLASSES."""
    return list(answer(row)[1])
'''


def python_of(program: Program) -> str:
    """The Python source of a program."""
    printer = _Python(program)
    shown = program.posterior is not None
    can = [each for each in program.inputs if each.missing]
    missing = "\nA missing value is None or NaN." if can else "\nA value that is None or NaN is an error."
    posterior = "its posteriors, in the order of CLASSES" if shown else "is not there: the model has no posteriors"
    lines = [HEAD.format(title=program.title, posterior=posterior, missing=missing), ""]
    lines += ["import math", "from operator import mul", "", "nan, inf = math.nan, math.inf", ""]
    lines += [*_listed("LABELS", program.labels), *_listed("CLASSES", program.classes)]
    lines += _listed("COLUMNS", tuple(each.name for each in program.inputs))
    lines += ["", "TEXT, MISSING = 1, 2  # of a column: it holds text; it may be missing"]
    kinds = tuple((each.levels is not None) + 2 * each.missing for each in program.inputs)
    lines += [f"KINDS = [{kinds[0]}] * {len(kinds)}"] if len(set(kinds)) == 1 else _listed("KINDS", kinds)
    lines += ["", *printer.constants, ""]
    body = "\n".join(printer.lines)
    lines += [part for name, text in HELPERS.items() if f"{name}(" in body for part in ("", text, "")]
    lines += ["", "def scored(x, text):", '    """Scores, the place of the label, and the posteriors."""']
    lines += [f"    {line}" for line in printer.lines]
    result = printer.vector(program.posterior) if program.posterior is not None else "None"
    lines += [f"    return {printer.vector(program.scores)}, {printer.element(program.best, '0')}, {result}", ""]
    return "\n".join(lines) + TAIL + (POSTERIOR if shown else "")


class _Python(Printer):
    def fresh(self, name: str) -> str:
        found = super().fresh(name)
        return super().fresh(f"{found}_") if found in RESERVED or found in HELPERS else found

    def number(self, value: float) -> str:
        return number(value)

    def at(self, name: str, i: str, width: int) -> str:
        return name if width == 1 and name != "x" else f"{name}[{i}]"

    def vector(self, node: Node) -> str:
        """A list of the numbers of a vector."""
        name = self.variable(node)
        return f"[{name}]" if node.width == 1 and name != "x" else name

    def constant_name(self, name: str) -> str:
        return self.fresh(name).upper()

    def declared(self, name: str, values: NDArray[np.generic]) -> list[str]:
        return _assigned(name, values)

    def condition(self, op: str, args: list[str]) -> str:
        forms = {"missing": "{0} != {0}", "above": "{} > {}", "at_least": "{} >= {}", "other": "{}"}
        return forms[op].format(*map(grouped, args))

    def operation(self, op: str, args: list[str]) -> str:
        form = FUNCTIONS[op]
        if op == "select" or ("(" in form and op not in {"missing", "at_least"}):
            return form.format(*args)
        return form.format(*(arg if op == "add" else grouped(arg) for arg in args))

    def write_elements(self, node: Node, name: str) -> None:
        if node.width == 1:
            self.lines.append(f"{name} = {self.element(node, '0') if node.op == 'take' else self._own(node, '0')}")
        else:
            self.lines.append(f"{name} = [{self._own(node, 'i')} for i in range({node.width})]")

    def _own(self, node: Node, i: str) -> str:
        return self.element(node, i)

    def write_join(self, node: Node, name: str) -> None:
        parts = []
        for part in node.args:
            own = self.element(part, "0" if part.width == 1 else "i")
            parts.append(own if part.width == 1 else f"*({own} for i in range({part.width}))")
        whole = f"{name} = [{', '.join(parts)}]"
        self.lines += [whole] if len(whole) < 110 else [f"{name} = [", *filled(parts), "]"]

    def write_affine(self, node: Node, name: str) -> None:
        (x,), coef, offset = node.args, node.data["coef"], node.data["offset"]
        matrix, values = self.array(node.data["names"][0], coef), self._list(x)
        if node.width == 1:
            self.lines.append(f"{name} = {number(float(offset[0]))} + sum(map(mul, {matrix}[0], {values}))")
        elif (offset == offset[0]).all():
            start = f"{number(float(offset[0]))} + " if offset[0] else ""
            self.lines.append(f"{name} = [{start}sum(map(mul, row, {values})) for row in {matrix}]")
        else:
            start = self.array(node.data["names"][1], offset)
            self.lines.append(f"{name} = [a + sum(map(mul, row, {values})) for a, row in zip({start}, {matrix})]")

    def _list(self, node: Node) -> str:
        if node.op == "const":
            return f"[{', '.join(self.element(node, str(i)) for i in range(node.width))}]"
        return self.vector(node)

    def write_distances(self, node: Node, name: str) -> None:
        centre, weight = self.array("centre", node.data["centre"]), node.data["weight"]
        gap = "square(a - b)" if node.data["power"] == 2 else "abs(a - b)"
        values = self._list(node.args[0])
        if (weight == 1).all():
            each = f"sum({gap} for a, b in zip({values}, {centre}[k]))"
        else:
            each = f"sum(w * {gap} for w, a, b in zip({self.array('weight', weight)}[k], {values}, {centre}[k]))"
        self._by_class(node, name, each)

    def write_quadratic(self, node: Node, name: str) -> None:
        factor, mean = self.array("factor", node.data["factor"]), self.array("mean", node.data["mean"])
        gap = self.fresh("gap")
        values = self._list(node.args[0])
        self.lines += [f"{name} = []", f"for k in range({node.width}):"]
        self.lines.append(f"    {gap} = [a - b for a, b in zip({values}, {mean}[k])]")
        self.lines.append(f"    {name}.append(sum(square(sum(map(mul, row, {gap}))) for row in {factor}[k]))")
        if node.width == 1:
            self.lines.append(f"{name} = {name}[0]")

    def _by_class(self, node: Node, name: str, each: str) -> None:
        if node.width == 1:
            self.lines.append(f"{name} = {each.replace('[k]', '[0]')}")
        else:
            self.lines.append(f"{name} = [{each} for k in range({node.width})]")

    def write_sum(self, node: Node, name: str) -> None:
        (x,) = node.args
        self.lines.append(f"{name} = sum({self.element(x, 'i')} for i in range({x.width}))")

    def write_largest(self, node: Node, name: str) -> None:
        self.lines.append(f"{name} = max({self.vector(node.args[0])})")

    def write_place(self, node: Node, name: str) -> None:
        values = self.vector(node.args[0])
        self.lines.append(f"{name} = {values}.index(max({values}))")

    def write_level(self, node: Node, name: str) -> None:
        levels, text = node.data["levels"], f"text[{node.data['column']}]"
        array = self.constant_name("levels")
        items = [f"{level!r}: {place}" for place, level in enumerate(levels) if level is not None]
        items += [f"{mark!r}: {len(levels) + 1}" for mark in node.data["marks"]]
        other = node.data["other"]
        self.constants += [f"{array} = {{", *filled(items), "}"]
        self.lines.append(f"{name} = {len(levels) + 1} if {text} is None else {array}.get({text}, {other})")

    def write_number_level(self, node: Node, name: str) -> None:
        levels, x = node.data["levels"].tolist(), self.element(node.args[0], "0")
        array = self.constant_name("levels")
        self.constants += [f"{array} = {{", *filled([f"{number(v)}: {i}" for i, v in enumerate(levels)]), "}"]
        self.lines.append(f"{name} = {len(levels) + 1} if {x} != {x} else {array}.get({x}, {len(levels)})")

    def write_lookup(self, node: Node, name: str) -> None:
        table = self.array(node.data["name"], node.data["table"])
        row = f"{table}[int({self.element(node.args[0], '0')})]"
        self.lines.append(f"{name} = {row}[0]" if node.width == 1 else f"{name} = {row}")


def _listed(name: str, values: tuple[Any, ...]) -> list[str]:
    items = [number(value) if isinstance(value, float) else repr(value) for value in values]
    whole = f"{name} = [{', '.join(items)}]"
    return [whole] if len(whole) < 110 else [f"{name} = [", *filled(items), "]"]


def _assigned(name: str, values: NDArray[np.generic]) -> list[str]:
    if values.ndim == 1:
        items = [number(value) for value in values.tolist()]
        whole = f"{name} = [{', '.join(items)}]"
        return [whole] if len(whole) < 110 else [f"{name} = [", *filled(items), "]"]
    return [f"{name} = [", *_nested(values), "]"]


def _nested(values: NDArray[np.generic]) -> list[str]:
    lines: list[str] = []
    for part in values:
        if part.ndim > 1:
            lines += ["    [", *(f"    {line}" for line in _nested(part)), "    ],"]
            continue
        items = [number(value) for value in part.tolist()]
        whole = f"    [{', '.join(items)}],"
        lines += [whole] if len(whole) < 112 else ["    [", *filled(items, indent="        "), "    ],"]
    return lines


def number(value: float) -> str:
    """A number that is read back as the same."""
    if isinstance(value, int):
        return str(value)
    return "nan" if math.isnan(value) else repr(value)
