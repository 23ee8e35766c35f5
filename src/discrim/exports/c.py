"""C99: one readable file without dependencies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discrim.errors import ParameterError, plural
from discrim.exports.printing import Printer, filled, grouped
from discrim.exports.program import Node, Program

KEYWORDS = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "x",
        "text",
        "posterior",
        "i",
        "j",
        "k",
        "r",
        "sum",
        "most",
        "gap",
        "z",
        "exp",
        "log",
        "log1p",
        "cos",
        "fabs",
        "trunc",
        "lgamma",
        "y0",
        "y1",
        "yn",
        "j0",
        "j1",
        "jn",
        "gamma",
        "signgam",
    ]
)
FUNCTIONS = {
    "exp": "exp({})",
    "log": "log({})",
    "log1p": "log1p({})",
    "absolute": "fabs({})",
    "cos": "cos({})",
    "truncate": "trunc({})",
    "log_gamma": "lgamma({})",
    "negative": "-{}",
    "missing": "(isnan({0}) ? 1.0 : 0.0)",
    "sign": "(isnan({0}) ? NAN : (double)(({0} > 0) - ({0} < 0)))",
    "square": "{0} * {0}",
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "smaller": "({1} < {0} ? {1} : {0})",
    "larger": "({1} > {0} ? {1} : {0})",
    "above": "(isnan({0}) ? NAN : ({0} > {1} ? 1.0 : 0.0))",
    "at_least": "({0} >= {1} ? 1.0 : 0.0)",
    "select": "({} ? {} : {})",
}
CALLS = frozenset(("exp", "log", "log1p", "absolute", "cos", "truncate", "log_gamma"))
CONDITIONS = {"missing": "isnan({})", "above": "{} > {}", "at_least": "{} >= {}", "other": "{} != 0"}
HEADER = """/* {title}, as C99 without dependencies but the mathematics library.
 *
 * Compile it by cc -std=c99 -O2 -c FILE.c, and link with -lm.
 *
 * int {name}_predict({arguments}, double *posterior);
 *
 * {inputs}
 * posterior  receives the posterior of each of the {classes} classes {name}_classes, in their order{none}; NULL where
 *            they are not wanted.
 *
 * It returns the place of the answer in {name}_labels, or -1 for a row that the model does not answer: a number that is
 * missing (NaN) where none was in training, that is infinite, or too large to be squared{texts}.
 *
 * Thread-safe; nothing is allocated.
 */"""


def c_of(program: Program, name: str = "model") -> str:
    """The C source of a program, whose functions and arrays begin with ``name``."""
    if not (name.isidentifier() and name.isascii()) or name in KEYWORDS:
        raise ParameterError.bad_value("name", name, "a name that C allows, such as 'model'")
    printer = _C(program)
    texts, checks = program.texts, _checks(program)
    if texts and not any("text[" in line for line in printer.lines):
        checks.append("(void)text;")
    arguments = "const double *x" + (", const char *const *text" if texts else "")
    lines = [_header(program, name, arguments), "#include <math.h>", "#include <stddef.h>"]
    if texts:
        lines.append("#include <string.h>")
    lines += ["", *_listed(name, "labels", program.labels), *_listed(name, "classes", program.classes)]
    if program.named:
        lines += _listed(name, "columns", tuple(each.name for each in program.numbers))
        lines += _listed(name, "texts", tuple(each.name for each in texts)) if texts else []
    lines += ["", *printer.constants]
    if printer.constants:
        lines.append("")
    lines += [f"int {name}_predict({arguments}, double *posterior)", "{", *_indented(checks + printer.lines)]
    lines += _indented(_ending(program, printer))
    return "\n".join([*lines, "}", ""])


class _C(Printer):
    comment = "//"

    def __init__(self, program: Program) -> None:
        self._taken = set(KEYWORDS)
        super().__init__(program)

    def fresh(self, name: str) -> str:
        found = super().fresh(name)
        return super().fresh(f"{found}_") if found in KEYWORDS else found

    def note(self, node: Node) -> str:
        return f"/* {node.note} */"

    def number(self, value: float) -> str:
        return number(value)

    def at(self, name: str, i: str, width: int) -> str:
        return name if width == 1 and name != "x" else f"{name}[{i}]"

    def constant_name(self, name: str) -> str:
        return self.fresh(name)

    def declared(self, name: str, values: NDArray[np.generic]) -> list[str]:
        kind = "int" if values.dtype.kind == "i" else "double"
        shape = "".join(f"[{size}]" for size in values.shape)
        return [f"static const {kind} {name}{shape} = {{", *_nested(values), "};"]

    def operation(self, op: str, args: list[str]) -> str:
        # What stands in the brackets of a function needs none of its own.
        return FUNCTIONS[op].format(*(args if op in CALLS else map(grouped, args)))

    def condition(self, op: str, args: list[str]) -> str:
        return CONDITIONS[op].format(*map(grouped, args))

    def whole(self, node: Node) -> str:
        """A place, which is an integer already where it was looked for."""
        value = self.element(node, "0")
        return value if node.op in {"level", "number level", "place"} else f"(int){grouped(value)}"

    def write_elements(self, node: Node, name: str) -> None:
        if node.width == 1:
            self.lines.append(f"double {name} = {self._own(node, '0')};")
            return
        self.lines += [
            f"double {name}[{node.width}];",
            *self._loop("i", node.width, f"{name}[i] = {self._own(node, 'i')};"),
        ]

    def _own(self, node: Node, i: str) -> str:
        return self.element(node, i)

    def write_join(self, node: Node, name: str) -> None:
        self.lines.append(f"double {name}[{node.width}];")
        start = 0
        for part in node.args:
            if part.width == 1:
                self.lines.append(f"{name}[{start}] = {self.element(part, '0')};")
            else:
                place = f"i + {start}" if start else "i"
                self.lines += self._loop("i", part.width, f"{name}[{place}] = {self.element(part, 'i')};")
            start += part.width

    def write_affine(self, node: Node, name: str) -> None:
        (x,), coef, offset = node.args, node.data["coef"], node.data["offset"]
        matrix = self.array(node.data["names"][0], coef)
        start = number(float(offset[0]))
        if len(offset) > 1 and not (offset == offset[0]).all():
            start = f"{self.array(node.data['names'][1], offset)}[k]"
        sum_of = self._loop("j", x.width, f"sum += {matrix}[k][j] * {self.element(x, 'j')};")
        self._by_class(node, name, [f"double sum = {start};", *sum_of], "sum")

    def write_distances(self, node: Node, name: str) -> None:
        (x,), centre = node.args, self.array("centre", node.data["centre"])
        weight, gap = node.data["weight"], f"{self.element(node.args[0], 'j')} - {centre}[k][j]"
        factor = "" if (weight == 1).all() else f"{self.array('weight', weight)}[k][j] * "
        power = "gap * gap" if node.data["power"] == 2 else "fabs(gap)"
        steps = [f"double gap = {gap};", f"sum += {factor}{power};"]
        self._by_class(node, name, ["double sum = 0.0;", *self._loop("j", x.width, *steps)], "sum")

    def write_quadratic(self, node: Node, name: str) -> None:
        (x,), factor = node.args, node.data["factor"]
        mean, factors = self.array("mean", node.data["mean"]), self.array("factor", factor)
        lower = factor.shape[1] == factor.shape[2] and not np.triu(factor, 1).any()
        inner = f"z += {factors}[k][r][j] * ({self.element(x, 'j')} - {mean}[k][j]);"
        most = "j <= r" if lower else f"j < {x.width}"
        steps = ["double z = 0.0;", f"for (int j = 0; {most}; j++)", f"    {inner}", "sum += z * z;"]
        self._by_class(node, name, ["double sum = 0.0;", *self._loop("r", factor.shape[1], *steps)], "sum")

    def _by_class(self, node: Node, name: str, body: list[str], result: str) -> None:
        if node.width == 1:
            self.lines.append(f"double {name};")
            self.lines += [
                "{",
                *_indented([line.replace("[k]", "[0]") for line in body]),
                f"    {name} = {result};",
                "}",
            ]
            return
        self.lines += [f"double {name}[{node.width}];", *self._loop("k", node.width, *body, f"{name}[k] = {result};")]

    def write_sum(self, node: Node, name: str) -> None:
        (x,) = node.args
        self.lines += [f"double {name} = 0.0;", *self._loop("i", x.width, f"{name} += {self.element(x, 'i')};")]

    def write_largest(self, node: Node, name: str) -> None:
        (x,) = node.args
        value = self.variable(x)
        if x.width == 1:
            self.lines.append(f"double {name} = {value};")
            return
        # A comparison with NaN is false, so that it stays once it is there.
        step = f"if ({value}[i] > {name} || isnan({value}[i]))"
        self.lines.append(f"double {name} = {value}[0];")
        self.lines += [f"for (int i = 1; i < {x.width}; i++)", f"    {step}", f"        {name} = {value}[i];"]

    def write_place(self, node: Node, name: str) -> None:
        values, top = node.args
        if values.width == 1:
            self.lines.append(f"int {name} = 0;")
            return
        most, value = values.width - 1, self.variable(values)
        self.lines += [f"int {name} = 0;", f"while ({name} < {most} && {value}[{name}] != {self.element(top, '0')})"]
        self.lines.append(f"    {name}++;")

    def write_level(self, node: Node, name: str) -> None:
        levels, text = node.data["levels"], f"text[{node.data['column']}]"
        known = [level for level in levels if level is not None]
        first = len(levels) - len(known)
        array = self.constant_name("levels")
        items = filled([quoted(level) for level in known])
        self.constants += [f"static const char *const {array}[{len(known)}] = {{", *items, "};"]
        self.lines += [f"int {name} = {len(levels) + 1};", f"if ({text} != NULL) {{", f"    {name} = {first};"]
        place = f"{name} - {first}" if first else name
        self.lines.append(f"    while ({name} < {len(levels)} && strcmp({text}, {array}[{place}]) != 0)")
        self.lines += [f"        {name}++;", "}"]
        if node.data["other"] != len(levels):
            self.lines += [f"if ({name} == {len(levels)})", f"    {name} = {node.data['other']};"]
        self._write_marks(node, name, text)

    def _write_marks(self, node: Node, name: str, text: str) -> None:
        """Texts that stand for a missing level, which none of the levels is."""
        marks = node.data["marks"]
        if marks:
            array = self.constant_name("marks")
            items = filled([quoted(mark) for mark in marks])
            self.constants += [f"static const char *const {array}[{len(marks)}] = {{", *items, "};"]
            self.lines += [
                f"for (int j = 0; {text} != NULL && j < {len(marks)}; j++)",
                f"    if (strcmp({text}, {array}[j]) == 0)",
                f"        {name} = {len(node.data['levels']) + 1};",
            ]

    def write_number_level(self, node: Node, name: str) -> None:
        levels = node.data["levels"]
        x = self.element(node.args[0], "0")
        array = self.array("levels", levels)
        self.lines += [
            f"int {name} = 0;",
            f"while ({name} < {len(levels)} && {array}[{name}] != {x})",
            f"    {name}++;",
        ]
        self.lines += [f"if (isnan({x}))", f"    {name} = {len(levels) + 1};"]

    def write_lookup(self, node: Node, name: str) -> None:
        table = self.array(node.data["name"], node.data["table"])
        place = self.whole(node.args[0])
        if node.width == 1:
            self.lines.append(f"double {name} = {table}[{place}][0];")
            return
        self.lines.append(f"double {name}[{node.width}];")
        self.lines += self._loop("i", node.width, f"{name}[i] = {table}[{place}][i];")

    @staticmethod
    def _loop(index: str, size: int, *body: str) -> list[str]:
        head = f"for (int {index} = 0; {index} < {size}; {index}++)"
        if len(body) == 1:
            return [head, f"    {body[0]}"]
        return [f"{head} {{", *_indented(list(body)), "}"]


def _header(program: Program, name: str, arguments: str) -> str:
    count, texts = len(program.numbers), len(program.texts)
    listed = f", in the order of {name}_columns" if program.named else ", in the order of the columns in training"
    inputs = f"x          the {plural(count, 'number')} of a row{listed}" if count else "x          is not used"
    if texts:
        order = f"in the order of {name}_texts; NULL where one is missing"
        inputs += f"\n * text       the {plural(texts, 'level')} of a row, {order}"
    none = "" if program.posterior is not None else " (this model has none: it is not written to)"
    unknown = ",\n * or a level that was not there in training" if texts else ""
    return HEADER.format(
        title=program.title, name=name, arguments=arguments, inputs=inputs, classes=len(program.classes), none=none,
        texts=unknown,
    )  # fmt: skip


def _checks(program: Program) -> list[str]:
    """A row with a number that cannot be used has no answer."""
    lines: list[str] = []
    allowed = [each.missing for each in program.numbers]
    if allowed:
        bad = "isinf(x[i])" if all(allowed) else "!isfinite(x[i])"
        lines += [f"for (int i = 0; i < {len(allowed)}; i++)", f"    if ({bad})", "        return -1;"]
    return lines or ["(void)x;"]


def _ending(program: Program, printer: _C) -> list[str]:
    scores, best = program.scores, printer.whole(program.best)
    values = printer.variable(scores)
    valid = [f"double most = {printer.at(values, '0', scores.width)};"]
    if scores.width > 1:
        valid += [f"for (int i = 1; i < {scores.width}; i++)", f"    if ({values}[i] > most || isnan({values}[i]))"]
        valid.append(f"        most = {values}[i];")
    tops = [node for node in program.nodes() if node.op == "largest" and node.args[0] is scores]
    if tops:
        valid = []
    top = printer.variable(tops[0]) if tops else "most"
    valid += [f"if (!isfinite({top}))", "    return -1;"]
    if program.posterior is None:
        return [*valid, "(void)posterior;", f"return {best};"]
    given = printer.variable(program.posterior)
    size = len(program.classes)
    copied = [f"    for (int i = 0; i < {size}; i++)", f"        posterior[i] = {given}[i];"]
    return [*valid, "if (posterior != NULL)", *copied, f"return {best};"]


def _listed(name: str, what: str, values: tuple[Any, ...]) -> list[str]:
    kinds = {str: "const char *const", bool: "const int", int: "const long long", float: "const double"}
    kind: type = type(values[0]) if values else str
    written: dict[type, Callable[[Any], str]] = {
        str: quoted,
        bool: lambda value: str(int(value)),
        int: _integer,
        float: number,
    }
    items = [written[kind](value) for value in values]
    return [f"{kinds[kind]} {name}_{what}[{max(len(values), 1)}] = {{", *filled(items or ["0"]), "};"]


def _integer(value: int) -> str:
    # The least integer has no literal of its own.
    return f"{value}LL" if value > -(2**63) else f"({value + 1}LL - 1)"


def _nested(values: NDArray[np.generic]) -> list[str]:
    if values.ndim == 1:
        items = [str(value) if values.dtype.kind == "i" else number(value) for value in values.tolist()]
        return filled(items)
    lines: list[str] = []
    for part in values:
        inner = _nested(part)
        if len(inner) == 1:
            lines.append(f"    {{{inner[0].strip().removesuffix(',')}}},")
        else:
            lines += ["    {", *_indented(inner), "    },"]
    return lines


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def number(value: float) -> str:
    """A number that is read back as the same."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(float(value))


def quoted(text: str) -> str:
    """A string literal that holds any text; other bytes than plain letters as octal numbers."""
    plain = set(range(32, 127)) - {ord('"'), ord("\\"), ord("?")}
    parts = (chr(byte) if byte in plain else f"\\{byte:03o}" for byte in text.encode("utf-8", "surrogatepass"))
    return f'"{"".join(parts)}"'
