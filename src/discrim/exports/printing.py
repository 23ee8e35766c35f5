"""What C and Python have in common: a program as statements, vectors in loops, arrays of constants beside them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from discrim.exports.program import ELEMENTWISE, Node, Program, no_export

# Constants that a text may have: about 25 characters each.
MOST_NUMBERS = 4_000_000
# Operations that read each number of their arguments once, so that these may be written in their place.
READS_ONCE = frozenset((*ELEMENTWISE, "sum"))


class Printer(ABC):
    """Statements of one program. A subclass knows the syntax.

    A vector gets a variable if it has a name, is used twice, or is made by a loop; other elementwise operations are
    written where they are used.
    """

    # What must not be used as a name.
    reserved: frozenset[str] = frozenset()

    def __init__(self, program: Program) -> None:
        if program.size() > MOST_NUMBERS:
            raise no_export(
                f"A model of {program.size():,} numbers", f"As text it may have {MOST_NUMBERS:,}; use to_onnx instead."
            )
        self.program = program
        self.lines: list[str] = []
        self.constants: list[str] = []
        self._names: Counter[str] = Counter()
        self._variables: dict[int, str] = {}
        self._arrays: dict[int, str] = {}
        self._indices: dict[int, str] = {}
        nodes = program.nodes()
        self._uses = Counter(id(arg) for node in nodes for arg in node.args)
        readers = ((arg, node) for node in nodes for arg in node.args)
        self._whole = {id(arg) for arg, node in readers if node.op not in READS_ONCE}
        self._whole |= {id(output) for output in program.outputs}
        for node in nodes:
            if self._has_variable(node):
                self._write(node)

    def fresh(self, name: str) -> str:
        """A name that is not taken."""
        name = re.sub(r"\W", "_", name.lower(), flags=re.ASCII)
        self._names[name] += 1
        found = name if self._names[name] == 1 else f"{name}_{self._names[name]}"
        return self.fresh(f"{name}_{self._names[name]}") if found != name and self._names[found] else found

    def element(self, node: Node, i: str) -> str:
        """The i-th number of a vector, as an expression; a vector of one number goes with any."""
        i = "0" if node.width == 1 else i
        if id(node) in self._variables:
            return self.at(self._variables[id(node)], i, node.width)
        if node.op == "const":
            values: NDArray[np.float64] = node.data["values"]
            if len(values) == 1 or (values == values[0]).all():
                return self.number(float(values[0]))
            return f"{self.array(node.name or 'values', values, id(node))}[{i}]"
        if node.op == "take":
            return self.element(node.args[0], self._place(node, i))
        args = [self.element(arg, i) for arg in node.args]
        if node.op == "select":
            args[0] = self._asked(node.args[0], i)
        return self.operation(node.op, args)

    def _asked(self, node: Node, i: str) -> str:
        """A condition, as such where it is not a number in a variable."""
        if node.op in {"missing", "above", "at_least"} and id(node) not in self._variables:
            return self.condition(node.op, [self.element(arg, "0" if node.width == 1 else i) for arg in node.args])
        return self.condition("other", [self.element(node, i)])

    def variable(self, node: Node) -> str:
        """The variable that holds a vector."""
        return self._variables[id(node)]

    def array(self, name: str, values: NDArray[np.float64], key: int | None = None) -> str:
        """The name of an array of constants, declared once."""
        if key is not None and key in self._arrays:
            return self._arrays[key]
        found = self.constant_name(name)
        self.constants += self.declared(found, values)
        if key is not None:
            self._arrays[key] = found
        return found

    def note(self, node: Node) -> str:
        return f"{self.comment} {node.note}" if node.note else ""

    def _place(self, node: Node, i: str) -> str:
        places: NDArray[np.int64] = node.data["places"]
        if i.isdigit():
            return str(places[int(i)])
        first = int(places[0])
        if (places == first + np.arange(len(places))).all():
            return i if first == 0 else f"{i} + {first}"
        if (places == first).all():
            return str(first)
        if id(node) not in self._indices:
            self._indices[id(node)] = self.constant_name("places")
            self.constants += self.declared(self._indices[id(node)], places)
        return f"{self._indices[id(node)]}[{i}]"

    def _has_variable(self, node: Node) -> bool:
        if node.op in {"const", "take"}:
            return id(node) in self._whole
        if node.op in ELEMENTWISE:
            return bool(node.name) or id(node) in self._whole or self._uses[id(node)] > 1
        return True

    def _write(self, node: Node) -> None:
        lines = len(self.lines)
        name = self.fresh(node.name or "part")
        if node.op == "numbers":
            self._variables[id(node)] = name = "x"
            return
        writer = getattr(self, f"write_{node.op.replace(' ', '_')}", self.write_elements)
        writer(node, name)
        self._variables[id(node)] = name
        if node.note and len(self.lines) > lines:
            self.lines.insert(lines, self.note(node))

    comment: str = "#"

    @abstractmethod
    def number(self, value: float) -> str: ...

    @abstractmethod
    def at(self, name: str, i: str, width: int) -> str: ...

    @abstractmethod
    def constant_name(self, name: str) -> str: ...

    @abstractmethod
    def declared(self, name: str, values: NDArray[np.generic]) -> list[str]: ...

    @abstractmethod
    def condition(self, op: str, args: list[str]) -> str: ...

    @abstractmethod
    def operation(self, op: str, args: list[str]) -> str: ...

    @abstractmethod
    def write_elements(self, node: Node, name: str) -> None: ...


def filled(parts: list[str], width: int = 116, indent: str = "    ") -> list[str]:
    """Items separated by commas, on lines of at most this width."""
    lines: list[str] = []
    line = indent
    for part in parts:
        if len(line) + len(part) + 2 > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += f"{part}, "
    return [*lines, line.rstrip()] if line.strip() else lines


def grouped(text: str) -> str:
    """Brackets around what is not one thing by itself."""
    simple = text.replace("_", "").replace(".", "").replace("[", "").replace("]", "").isalnum()
    return text if simple or (text.startswith("(") and text.endswith(")") and _one_group(text)) else f"({text})"


def _one_group(text: str) -> bool:
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth and place < len(text) - 1:
            return False
    return True
