"""The few lines of an item that made what it shows, cut out of the function that ran."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

# Methods of a page by what they leave: pictures first; of an item without one, its tables and printed output.
PICTURES, TABLES = {"show", "movie"}, {"table", "session"}
# Where an animation goes.
FILE = '"steps.gif"'
# How the rows of a lecture are found without a page.
DATA = "from discrim.gallery.found import find_rows"


def body_of(function: Callable[..., Any]) -> str:
    """All lines of a function, without its head."""
    tree, lines = _parsed(function)
    return textwrap.dedent("\n".join(lines[tree.body[_first(tree)].lineno - 1 :]))


def lines_that_made(function: Callable[..., Any]) -> str:
    """A program that can be run: imports, helpers of the module, and those lines of the function on which its pictures
    depend. Comparisons with the lecture are left out.
    """
    tree, lines = _parsed(function)
    calls = {_method(node) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    kept = _Slice(tree, lines, PICTURES if calls & PICTURES else TABLES)
    text = kept.of(tree.body[_first(tree) :], set())
    body = textwrap.dedent("\n".join(text)).replace("page.data(", "find_rows(")
    module = inspect.getmodule(function)
    assert module is not None
    imports, helpers = _context(module, body)
    if "find_rows(" in body:
        imports.append(DATA)
    parts = ["\n".join(imports), *helpers, body]
    return "\n\n".join(part for part in parts if part)


def _parsed(function: Callable[..., Any]) -> tuple[ast.FunctionDef, list[str]]:
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree, source.splitlines()


def _first(tree: ast.FunctionDef) -> int:
    return int(ast.get_docstring(tree) is not None)


def _method(node: Any) -> str:
    """The name of a method of ``page`` that is called."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _root(node.func) == "page":
        return node.func.attr
    return ""


def _root(node: Any) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _loaded(*nodes: ast.AST) -> set[str]:
    return {
        each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)
        and isinstance(each.ctx, ast.Load)
    }  # fmt: skip


def _stored(*nodes: ast.AST) -> set[str]:
    return {
        each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)
        and isinstance(each.ctx, ast.Store)
    }  # fmt: skip


def _changed(statement: ast.stmt) -> set[str]:
    """Names that a statement binds, and objects that it works on: ``ax.plot(...)``, ``plots.regions(..., ax=ax)``."""
    found = _stored(statement)
    if isinstance(statement, ast.Expr):
        found.add(_root(statement.value))
    for node in ast.walk(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            found.add(_root(node))
        if isinstance(node, ast.Call):
            found |= {_root(word.value) for word in node.keywords if word.arg == "ax"}
    return found


def _as_plain_code(call: ast.Call) -> str:
    """A table as a list of its rows, printed output as that."""
    first, *others = map(ast.unparse, call.args)
    return f"print({first})" if _method(call) == "session" else f"shown = [{first}, *{others[0]}]"


class _Slice:
    """Statements on which others depend, backwards from what a page shows."""

    def __init__(self, tree: ast.FunctionDef, lines: Sequence[str], shows: set[str]) -> None:
        self.lines, self.shows = lines, shows
        self.local = _stored(tree)
        # Axes that are unpacked together are panels of one picture.
        self.panels = [
            _stored(*each.targets) for each in ast.walk(tree) if isinstance(each, ast.Assign)
            and "side_by_side" in ast.dump(each.value)
        ]  # fmt: skip

    def of(self, body: Sequence[ast.stmt], needed: set[str]) -> list[str]:
        """The lines to keep; ``needed`` grows by the names that they use."""
        kept: list[str] = []
        for statement in reversed(body):
            kept[:0] = self._one(statement, needed)
        return kept

    def _one(self, statement: ast.stmt, needed: set[str]) -> list[str]:
        if isinstance(statement, ast.Expr) and _method(statement.value):
            return self._shown(statement.value, needed)
        if isinstance(statement, (ast.For, ast.With, ast.If)):
            return self._block(statement, needed)
        if isinstance(statement, ast.FunctionDef):
            if statement.name not in needed:
                return []
            needed |= _loaded(statement)
        else:
            if isinstance(statement, ast.Assert) or not _changed(statement) & self.local & needed:
                return []
            if isinstance(statement, ast.Assign):
                needed -= {target.id for each in statement.targets for target in ast.walk(each)
                           if isinstance(target, ast.Name)} - _loaded(statement)  # fmt: skip
            needed |= _loaded(statement)
        return list(self.lines[statement.lineno - 1 : statement.end_lineno])

    def _shown(self, call: Any, needed: set[str]) -> list[str]:
        if _method(call) not in self.shows:
            return []
        needed |= _loaded(*call.args) - {"page"}
        if _method(call) == "movie":
            needed |= _loaded(*(word.value for word in call.keywords))
            made, *given = map(ast.unparse, call.args)
            options = [f"{word.arg}={ast.unparse(word.value)}" for word in call.keywords]
            return [" " * call.col_offset + f"{made}({', '.join([*given, FILE, *options])})"]
        if _method(call) in TABLES:
            return [" " * call.col_offset + _as_plain_code(call)]
        for panels in self.panels:
            if panels & needed:
                needed |= panels
        picture = call.args[0]
        if isinstance(picture, ast.Name):
            return []
        first = self.lines[picture.lineno - 1]
        # The picture's own lines, moved to where the call of the page began.
        shift = picture.col_offset - call.col_offset if not first[: picture.col_offset].strip() else 0
        lines = list(self.lines[picture.lineno - 1 : picture.end_lineno])
        lines[-1] = lines[-1].encode()[: picture.end_col_offset].decode()
        lines[0] = " " * picture.col_offset + first.encode()[picture.col_offset :].decode()
        if len(lines) == 1:
            lines[0] = lines[0].encode()[: picture.end_col_offset].decode()
        lines[0] = " " * call.col_offset + lines[0].strip()
        return [lines[0], *(line[min(shift, len(line) - len(line.lstrip())) :] for line in lines[1:])]

    def _block(self, statement: Any, needed: set[str]) -> list[str]:
        head = (
            [statement.iter] if isinstance(statement, ast.For) else [statement.test] if isinstance(statement, ast.If)
            else [item.context_expr for item in statement.items]
        )  # fmt: skip
        targets = _stored(statement.target) if isinstance(statement, ast.For) else set()
        inner = set(needed)
        if _loaded(*head) & needed:
            inner |= targets
        # Twice, since a later line of a loop may make what an earlier one needs.
        if not self.of(statement.body, inner):
            return []
        text = self.of(statement.body, inner)
        needed |= (inner - targets) | _loaded(*head)
        return [*self.lines[statement.lineno - 1 : statement.body[0].lineno - 1], *text]


@cache
def _defined(module: ModuleType) -> dict[str, tuple[str, str]]:
    """What the names of a module are: ("import" or "helper", its source)."""
    source = inspect.getsource(module)
    found: dict[str, tuple[str, str]] = {}
    for node in ast.parse(source).body:
        text = ast.get_source_segment(source, node) or ""
        if isinstance(node, ast.Import):
            found.update({one.asname or one.name: ("import", _import("", one)) for one in node.names})
        elif isinstance(node, ast.ImportFrom):
            found.update({one.asname or one.name: ("import", _import(node.module or "", one)) for one in node.names})
        elif isinstance(node, ast.FunctionDef) and not node.decorator_list:
            found[node.name] = ("helper", text)
        elif isinstance(node, ast.Assign):
            found.update(dict.fromkeys(_stored(node), ("helper", text)))
    return found


def _import(module: str, alias: ast.alias) -> str:
    named = alias.name + (f" as {alias.asname}" if alias.asname else "")
    return f"from {module} import {named}" if module else f"import {named}"


def _context(module: ModuleType, body: str) -> tuple[list[str], list[str]]:
    """Imports and helpers that the lines need, in the order of the module."""
    known, wanted, todo = _defined(module), set[str](), _free(body)
    while todo:
        name = todo.pop()
        if name not in known or name in wanted:
            continue
        wanted.add(name)
        if known[name][0] == "helper":
            todo |= _free(known[name][1])
    ordered = [known[name] for name in known if name in wanted]
    return (
        [text for kind, text in ordered if kind == "import"],
        list(dict.fromkeys(text for kind, text in ordered if kind == "helper")),
    )


def _free(text: str) -> set[str]:
    return _loaded(ast.parse(text)) - set(dir(builtins))
