"""SQL: one query whose steps are named, for DuckDB, PostgreSQL and SQLite."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discrim.errors import ParameterError
from discrim.exports.program import ELEMENTWISE, LEAST_EXPONENT, Node, Program, log_gamma_series, no_export, replaced

# Numbers that a query may hold.
MOST_NUMBERS = 200_000
# An expression up to this length is written again where it is used again.
SHORT = 40
# Terms of a sum between brackets: databases bound how deep an expression is.
GROUP = 100
WIDTH = 110
# These give a number where a value is missing or not finite, so that such values are looked for first.
HIDES = frozenset(("smaller", "larger", "above", "at_least", "missing", "number level"))
# What stands for a new line inside of quotes while lines are indented; no text may hold it.
LINE = "\0"
LARGEST = "1.7976931348623157e308"


@dataclass(frozen=True)
class Dialect:
    """What differs between the databases."""

    name: str
    double: str
    infinity: str
    most_columns: int
    has_log_gamma: bool = False
    # What keeps a step from being computed again wherever it is used.
    fence: str = ""
    # The longest name of a column, in bytes.
    longest_name: int = 10_000

    def number(self, value: float) -> str:
        """A number that is read back as the same, in double precision."""
        if math.isnan(value):
            return "NULL"
        if math.isinf(value):
            return self.infinity if value > 0 else f"-{self.infinity}"
        text = repr(float(value))
        # DuckDB reads digits without an exponent as a decimal number.
        return f"{text}e0" if self.name == "duckdb" and "e" not in text else text

    def typed(self, case: str) -> str:
        """Literals alone are decimal numbers in PostgreSQL."""
        return f"CAST({case} AS {self.double})" if self.name == "postgres" else case

    def flag(self, condition: str) -> str:
        """1 or 0; NULL where the condition is unknown."""
        whole = f"CAST({condition} AS INTEGER)"
        return f"CAST({whole} AS {self.double})" if self.name == "postgres" else whole

    def text(self, value: str) -> str:
        """A literal that holds any text."""
        _refuse_nul(value)
        quoted = "'" + value.replace("'", "''").replace("\n", LINE) + "'"
        if self.name == "postgres" and "\\" in value:
            return "E" + quoted.replace("\\", "\\\\")
        return quoted

    def largest(self, values: Sequence[str]) -> str:
        if len(values) == 1:
            return values[0]
        # SQLite takes at most 127 arguments.
        if len(values) > 100:
            parts = [self.largest(values[i : i + 100]) for i in range(0, len(values), 100)]
            return self.largest(parts)
        return f"{'MAX' if self.name == 'sqlite' else 'GREATEST'}({', '.join(values)})"


DIALECTS = {
    "duckdb": Dialect("duckdb", "DOUBLE", "CAST('inf' AS DOUBLE)", 2000, has_log_gamma=True),
    "postgres": Dialect(
        "postgres",
        "DOUBLE PRECISION",
        "CAST('Infinity' AS DOUBLE PRECISION)",
        1600,
        fence="MATERIALIZED ",
        longest_name=63,
    ),
    "sqlite": Dialect("sqlite", "REAL", "9e999", 2000, fence="MATERIALIZED "),
}


def sql_of(program: Program, table: Any = None, dialect: str = "duckdb", *, keep: Sequence[str] = ()) -> str:
    """The query that scores the rows of a table."""
    if dialect not in DIALECTS:
        raise ParameterError.bad_value("dialect", dialect, "'duckdb', 'postgres' or 'sqlite'")
    parts = (table,) if isinstance(table, str) else tuple(table or ())
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise ParameterError.bad_value("table", table, "the name of a table, or a tuple such as ('schema', 'name')")
    kept = [keep] if isinstance(keep, str) else list(keep)
    if program.size() > MOST_NUMBERS:
        raise no_export(
            f"A model of {program.size():,} numbers", f"A query may have {MOST_NUMBERS:,}; use to_onnx or to_c instead."
        )
    own = DIALECTS[dialect]
    if not own.has_log_gamma:
        program = replaced(program, "log_gamma", log_gamma_series)
    return _Query(program, own).text(".".join(map(identifier, parts)), kept)


def identifier(name: str) -> str:
    """A quoted name; inside quotes only the quote itself has a meaning."""
    _refuse_nul(name)
    return '"' + name.replace('"', '""').replace("\n", LINE) + '"'


def _refuse_nul(text: str) -> None:
    if "\0" in text:
        raise ParameterError(f"The name or label {text!r} holds the character NUL, which SQL has no way to write.")


class _Query:
    """Steps: of each the new columns, by name. A step uses columns of the steps before it."""

    def __init__(self, program: Program, dialect: Dialect) -> None:
        self.program, self.dialect = program, dialect
        self.steps: list[dict[str, str]] = [{}]
        self.step_of: dict[str, int] = {}
        self.notes: list[list[str]] = [[]]
        self._names: Counter[str] = Counter()
        self._found: dict[int, list[str]] = {}
        nodes = program.nodes()
        self._hides = any(node.op in HIDES for node in nodes)
        self._uses: Counter[int] = Counter()
        for node in nodes:
            for arg in node.args:
                self._uses[id(arg)] += _reads(node, arg)
        for output in program.outputs:
            self._uses[id(output)] += 1
        for node in nodes:
            self._found[id(node)] = self._settled(node, self._made(node))

    def text(self, table: str, keep: list[str]) -> str:
        """The whole query."""
        for place, name in enumerate(keep, 1):
            self.steps[0][f"keep_{place}"] = identifier(name)
            self.step_of[f"keep_{place}"] = 0
        outputs = [(f"keep_{place}", identifier(name)) for place, name in enumerate(keep, 1)]
        valid = self._valid()
        outputs.append((self._label(valid), identifier("predicted")))
        if self.program.posterior is not None:
            names = self._posterior_names(keep)
            for value, name in zip(self._found[id(self.program.posterior)], names, strict=True):
                whole = f"CASE WHEN {valid} THEN {value} END" if valid else value
                outputs.append((whole, identifier(name)))
        carried = self._carried([value for value, _ in outputs])
        widest = max(len(step) + len(more) for step, more in zip(self.steps, carried, strict=True))
        if widest > self.dialect.most_columns:
            raise no_export(
                f"A model that needs {widest:,} columns in one step",
                f"{self.dialect.name} takes {self.dialect.most_columns:,}; use to_onnx or to_c instead.",
            )
        lines = [f"-- {self.program.title}, for {self.dialect.name}", "WITH"]
        source = table
        for place, (step, more) in enumerate(zip(self.steps, carried, strict=True)):
            items = [*more, *(f"{value} AS {name}" for name, value in step.items())]
            lines += [f"-- {note}" for note in self.notes[place]]
            lines += [f"step_{place} AS {self.dialect.fence}(", "  SELECT", *_listed(items or ["1 AS nothing"], "    ")]
            lines += [f"  FROM {source}", ")," if place < len(self.steps) - 1 else ")"]
            source = f"step_{place}"
        lines += [
            "SELECT",
            *_listed([f"{value} AS {name}" if value != name else value for value, name in outputs], "  "),
        ]
        return "\n".join([*lines, f"FROM {source}", ""]).replace(LINE, "\n")

    def _label(self, valid: str) -> str:
        """The label of the answer, NULL where there is none."""
        best, labels = self.program.best, [self._literal(label) for label in self.program.labels]
        if best.op == "place":
            values, top = (self._found[id(arg)] for arg in best.args)
            parts = [f"WHEN {value} = {top[0]} THEN {label}" for value, label in zip(values, labels, strict=True)]
            return _case(parts)
        place = self._found[id(best)][0]
        case = _case([f"WHEN {place} = {k} THEN {label}" for k, label in enumerate(labels)])
        return f"CASE WHEN {valid} THEN {case} END" if valid else case

    def _valid(self) -> str:
        """What holds where a row has an answer; empty where its posteriors are NULL by themselves elsewhere."""
        scores = self.program.scores
        tops = [node for node in self.program.nodes() if node.op == "largest" and node.args[0] is scores]
        if tops:
            softmax = self.program.posterior is None or self.program.posterior.name in {"posterior", "all_posteriors"}
            return "" if softmax and self.program.best.op == "place" else f"{self._found[id(tops[0])][0]} IS NOT NULL"
        return f"ABS({' + '.join(self._found[id(scores)])}) <= {LARGEST}"

    def _literal(self, label: Any) -> str:
        if isinstance(label, str):
            return self.dialect.text(label)
        if isinstance(label, bool):
            return "TRUE" if label else "FALSE"
        return self.dialect.number(label) if isinstance(label, float) else str(label)

    def _posterior_names(self, keep: Sequence[str]) -> list[str]:
        """p_<label>, or numbers where the database could not distinguish or hold these names."""
        names = [f"p_{label}" for label in self.program.classes]
        taken = [name.lower() for name in (*names, *keep, "predicted")]
        fits = all(len(name.encode("utf-8", "replace")) <= self.dialect.longest_name for name in names)
        return names if fits and len(set(taken)) == len(taken) else [f"p_{k + 1}" for k in range(len(names))]

    def _carried(self, final: Sequence[str]) -> list[list[str]]:
        """Of each step the columns of earlier ones that are used after it."""
        texts = [" ".join(step.values()) for step in self.steps[1:]] + [" ".join(final)]
        last: dict[str, int] = {}
        for place, text in enumerate(texts):
            for name in set(re.findall(r"\b[a-z]\w*\b", text)) & self.step_of.keys():
                last[name] = place
        # What only other steps could have needed, such as a column without influence, is not read.
        for step in self.steps:
            for name in step.keys() - last.keys():
                del step[name], self.step_of[name]
        return [
            [name for name, made in self.step_of.items() if made < place and last[name] >= place]
            for place in range(len(self.steps))
        ]

    def _settled(self, node: Node, values: list[str]) -> list[str]:
        """The expressions, or the columns that they become."""
        if node.op in {"const", "numbers", "take"} or all(_is_column(value, self.step_of) for value in values):
            return values
        # What has a name and is long is a column of its own, to be read by itself.
        apart = node.name and any("CASE" in value and len(value) > WIDTH // 2 for value in values)
        if not apart and (self._uses[id(node)] <= 1 or all(len(value) <= SHORT for value in values)):
            return values
        return self._columns(node.name or node.op.replace(" ", "_"), values, node.note)

    def _columns(self, name: str, values: Sequence[str], note: str = "") -> list[str]:
        """New columns with these values, in the first step that can have them."""
        used = set(re.findall(r"\b[a-z]\w*\b", " ".join(values))) & self.step_of.keys()
        place = 1 + max((self.step_of[each] for each in used), default=0)
        while len(self.steps) <= place:
            self.steps.append({})
            self.notes.append([])
        self._names[name] += 1
        stem = (
            name
            if self._names[name] == 1
            else f"{name}_{'abcdefghijklmnopqrstuvwxyz'[self._names[name] % 26]}{self._names[name]}"
        )
        plain = len(values) == 1 and name in {"top", "total", "best", "residual"}
        while f"{stem}_1" in self.step_of:
            stem += "_"
        names = [stem] if plain else [f"{stem}_{i}" for i in range(1, len(values) + 1)]
        for each, value in zip(names, values, strict=True):
            self.steps[place][each] = value
            self.step_of[each] = place
        if note:
            self.notes[place].append(f"{stem}: {note}")
        return names

    def _made(self, node: Node) -> list[str]:
        args = [self._found[id(arg)] for arg in node.args]
        if node.op in ELEMENTWISE:
            return [
                self._element(node, [arg[0] if len(arg) == 1 else arg[i] for arg in args]) for i in range(node.width)
            ]
        return getattr(self, f"_made_{node.op.replace(' ', '_')}")(node, *args)  # type: ignore[no-any-return]

    def _made_const(self, node: Node) -> list[str]:
        return [self.dialect.number(value) for value in node.data["values"].tolist()]

    def _made_numbers(self, _node: Node) -> list[str]:
        names = []
        for place, each in enumerate(self.program.numbers, 1):
            self.steps[0][f"x{place}"] = self._number(each.name, finite=self._hides)
            self.step_of[f"x{place}"] = 0
            names.append(f"x{place}")
        return names

    def _number(self, name: str, *, finite: bool) -> str:
        """A column as a number, NULL where it is infinite and that is to be hidden."""
        column = identifier(name)
        if self.dialect.name == "postgres":
            # It casts no boolean to a number with a fraction.
            text = f"CAST({column} AS VARCHAR)"
            column = f"CASE {text} WHEN 'true' THEN '1' WHEN 'false' THEN '0' ELSE {text} END"
        value = f"CAST({column} AS {self.dialect.double})"
        if finite and self.dialect.name != "sqlite":
            return f"CASE WHEN ABS({value}) <= {LARGEST} THEN {value} END"
        return value

    def _made_level(self, node: Node) -> list[str]:
        column, levels = f"text{node.data['column'] + 1}", node.data["levels"]
        given = self.program.texts[node.data["column"]]
        self.step_of[column] = 0
        cases = [f"WHEN {column} IS NULL THEN {len(levels) + 1}"]
        known = [(place, level) for place, level in enumerate(levels) if level is not None]
        if given.of_numbers:
            self.steps[0][column] = self._number(given.name, finite=True)
            values = [(place, _as_number(level)) for place, level in known]
            cases += [f"WHEN {column} = {self.dialect.number(v)} THEN {place}" for place, v in values if v is not None]
            return [_case([*cases, f"ELSE {node.data['other']}"])]
        self.steps[0][column] = f"CAST({identifier(given.name)} AS VARCHAR)"
        cases += [f"WHEN {column} = {self.dialect.text(level)} THEN {place}" for place, level in known]
        cases += [f"WHEN {column} = {self.dialect.text(mark)} THEN {len(levels) + 1}" for mark in node.data["marks"]]
        return [_case([*cases, f"ELSE {node.data['other']}"])]

    def _made_number_level(self, node: Node, x: list[str]) -> list[str]:
        levels = node.data["levels"].tolist()
        cases = [f"WHEN {x[0]} IS NULL THEN {len(levels) + 1}"]
        cases += [f"WHEN {x[0]} = {self.dialect.number(level)} THEN {place}" for place, level in enumerate(levels)]
        return [_case([*cases, f"ELSE {len(levels)}"])]

    def _made_lookup(self, node: Node, place: list[str]) -> list[str]:
        table, value = node.data["table"], self._column_of(node.args[0], place)
        numbers = self.dialect.number
        return [
            self.dialect.typed(_case([f"WHEN {value} = {k} THEN {numbers(each)}" for k, each in enumerate(column)]))
            for column in table.T.tolist()
        ]

    def _column_of(self, node: Node, values: list[str]) -> str:
        """A column for what is compared again and again."""
        if not _is_column(values[0], self.step_of):
            values = self._columns(node.name or node.op.replace(" ", "_"), values)
            self._found[id(node)] = values
        return values[0]

    def _made_take(self, node: Node, x: list[str]) -> list[str]:
        return [x[place] for place in node.data["places"].tolist()]

    def _made_join(self, _node: Node, *parts: list[str]) -> list[str]:
        return [value for part in parts for value in part]

    def _made_sum(self, _node: Node, x: list[str]) -> list[str]:
        return [_sum([_grouped(value) for value in x])]

    def _made_affine(self, node: Node, x: list[str]) -> list[str]:
        return [self._product(coef, offset, x) for coef, offset in zip(
            node.data["coef"].tolist(), node.data["offset"].tolist(), strict=True
        )]  # fmt: skip

    def _product(self, coef: Sequence[float], offset: float, x: Sequence[str]) -> str:
        terms = [self.dialect.number(offset)] if offset or not any(coef) else []
        for factor, value in zip(coef, x, strict=True):
            if factor:
                term = (
                    _grouped(value) if abs(factor) == 1 else f"{self.dialect.number(abs(factor))} * {_grouped(value)}"
                )
                terms.append(term if factor > 0 else f"-{term}")
        return _sum(terms)

    def _made_distances(self, node: Node, x: list[str]) -> list[str]:
        result, number = [], self.dialect.number
        for centre, weight in zip(node.data["centre"].tolist(), node.data["weight"].tolist(), strict=True):
            terms = []
            for value, c, w in zip(x, centre, weight, strict=True):
                gap = f"({_grouped(value)} - {_signed(number(c))})"
                gap = f"{gap} * {gap}" if node.data["power"] == 2 else f"ABS{gap}"
                if w:
                    terms.append(gap if w == 1 else f"{number(w)} * {gap}")
            result.append(_sum(terms or ["0.0"]))
        return result

    def _made_quadratic(self, node: Node, x: list[str]) -> list[str]:
        result = []
        for k, (mean, factor) in enumerate(
            zip(node.data["mean"].tolist(), node.data["factor"].tolist(), strict=True), 1
        ):
            gaps = [
                f"({_grouped(value)} - {_signed(self.dialect.number(m))})" for value, m in zip(x, mean, strict=True)
            ]
            values = [self._product(row, 0.0, gaps) for row in factor]
            z = self._columns(f"z_{k}", values, f"coordinates in which class {k} is round, with variances of one")
            result.append(_sum([f"{each} * {each}" for each in z]))
        return result

    def _made_largest(self, node: Node, x: list[str]) -> list[str]:
        names = (
            x if all(_is_column(value, self.step_of) for value in x) else self._columns(node.args[0].name or "value", x)
        )
        if names is not x:
            self._found[id(node.args[0])] = names
        whole = _sum(list(names))
        valid = f"ABS({whole}) <= {LARGEST}" if _guarded(node) else f"{whole} < {self.dialect.infinity}"
        return [f"CASE WHEN {valid} THEN {self.dialect.largest(names)} END"]

    def _made_place(self, node: Node, x: list[str], top: list[str]) -> list[str]:
        x = self._found[id(node.args[0])]
        return [_case([f"WHEN {value} = {top[0]} THEN {k}" for k, value in enumerate(x)])]

    def _element(self, node: Node, args: list[str]) -> str:
        if node.op in {"above", "at_least", "missing"}:
            return self.dialect.flag(self._condition(node, args))
        if node.op == "select":
            first = node.args[0]
            inner = [self._found[id(arg)] for arg in first.args]
            # The condition as such, where it is known by its own arguments.
            plain = (
                first.op in {"above", "at_least", "missing"}
                and first.width == 1
                and not _is_column(args[0], self.step_of)
            )
            condition = self._condition(first, [each[0] for each in inner]) if plain else f"{_grouped(args[0])} <> 0"
            return self.dialect.typed(f"CASE WHEN {condition} THEN {args[1]} ELSE {args[2]} END")
        return self._formula(node.op, args)

    def _condition(self, node: Node, args: list[str]) -> str:
        if node.op == "missing":
            return f"{_grouped(args[0])} IS NULL"
        return f"{_grouped(args[0])} {'>' if node.op == 'above' else '>='} {_signed(_grouped(args[1]))}"

    def _formula(self, op: str, args: list[str]) -> str:
        first = args[0]
        second = _signed(args[-1])
        if op == "exp":
            number = self.dialect.number(LEAST_EXPONENT)
            return f"CASE WHEN {first} < {number} THEN {self.dialect.number(0.0)} ELSE EXP({first}) END"
        if op in {"smaller", "larger"}:
            return f"CASE WHEN {first} {'>' if op == 'smaller' else '<'} {second} THEN {second} ELSE {first} END"
        signs = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
        if op in signs:
            return f"{_grouped(first)} {signs[op]} {_grouped(second)}"
        if op == "square":
            return f"{_grouped(first)} * {_grouped(first)}"
        if op == "negative":
            return f"-{_grouped(first)}"
        forms = {"log": "LN({})", "log1p": "LN(1.0 + {})", "absolute": "ABS({})", "cos": "COS({})", "sign": "SIGN({})",
                 "truncate": "TRUNC({})", "log_gamma": "LGAMMA({})"}  # fmt: skip
        return forms[op].format(first)


def _reads(node: Node, arg: Node) -> int:
    """How often an expression of the argument would be written for this node."""
    if node.op == "affine":
        return node.width
    if node.op in {"distances", "quadratic"}:
        return 2 * node.width
    if node.op in {"square", "exp", "smaller", "larger", "largest", "place"}:
        return 2 * (node.width if arg.width == 1 else 1)
    return node.width if arg.width == 1 and node.op in ELEMENTWISE else 1


def _as_number(level: str) -> float | None:
    """The number that a level stands for; None for that of rare ones."""
    try:
        return float(level)
    except ValueError:
        return None


def _guarded(top: Node) -> bool:
    """Is the largest NULL where a score is infinite?"""
    return top.op == "largest" and bool(top.data["finite"])


def _is_column(value: str, columns: dict[str, int]) -> bool:
    return value in columns


def _case(parts: Sequence[str]) -> str:
    whole = f"CASE {' '.join(parts)} END"
    return whole if len(whole) < WIDTH else "CASE\n" + "\n".join(f"  {part}" for part in parts) + "\nEND"


def _grouped(text: str) -> str:
    """Brackets around what is not one thing by itself."""
    if re.fullmatch(r"[\w.]+|\d[\d.]*e[-+]?\d+", text) or (text.startswith(("CAST(", "(")) and _one_group(text)):
        return text
    return f"({text})"


def _signed(text: str) -> str:
    """A negative number after an operator in brackets: two hyphens begin a comment."""
    return f"({text})" if text.startswith("-") else text


def _one_group(text: str) -> bool:
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth and letter == ")" and place < len(text) - 1:
            return False
    return True


def _sum(terms: Sequence[str]) -> str:
    """Terms with their signs, on lines of a bounded width, and in brackets where they are many."""
    if len(terms) > GROUP:
        return " + ".join(f"({_sum(terms[i : i + GROUP])})" for i in range(0, len(terms), GROUP))
    lines, line = [], terms[0]
    for term in terms[1:]:
        more = f"- {term[1:]}" if term.startswith("-") else f"+ {term}"
        if len(line) + len(more) > WIDTH:
            lines.append(line)
            line = f"  {more}"
        else:
            line = f"{line} {more}"
    return "\n".join([*lines, line])


def _listed(items: Sequence[str], indent: str) -> list[str]:
    lines = []
    for place, item in enumerate(items):
        comma = "," if place < len(items) - 1 else ""
        lines.append(f"{indent}{item}{comma}".replace("\n", f"\n{indent}"))
    return lines
