"""Draw ``packages.svg``: the packages of discrim, stage by stage, as the import contract has them.

The stages are the layers of ``pyproject.toml``, the words are the first sentences of the packages' docstrings.
Run it as ``python docs/draw_packages.py`` after a change of either.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "packages.svg"
WIDTH, MARGIN, GAP, LINE = 860, 16, 8, 16
STYLE = """\
  <style>
    text { font-family: system-ui, sans-serif; font-size: 13px; fill: #1f2933; }
    .name { font-weight: 600; font-family: ui-monospace, monospace; }
    .side { fill: #52606d; }
    rect { fill: #f5f7fa; stroke: #9aa5b1; }
    .family { fill: #e3f2e8; stroke: #5b9a72; }
    .page { fill: #ffffff; stroke: none; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e4e7eb; } .side { fill: #9aa5b1; } .page { fill: #12161c; }
      rect { fill: #1f2933; stroke: #52606d; } .family { fill: #1d3326; stroke: #5b9a72; }
    }
  </style>"""


def main() -> None:
    PICTURE.write_text(drawing(), encoding="utf-8")


def drawing() -> str:
    """The picture as text."""
    parts, y = [], MARGIN
    for layer in _layers():
        height = max(_height(package, _width(layer)) for package in layer)
        for i, package in enumerate(layer):
            x = MARGIN + i * (_width(layer) + GAP)
            parts += _box(package, x, y, _width(layer), height)
        y += height + GAP
    note = "A package imports only packages in the rows below its own."
    parts.append(f'  <text class="side" x="{MARGIN}" y="{y + LINE}">{note}</text>')
    size = f'width="{WIDTH}" height="{y + 2 * LINE}" viewBox="0 0 {WIDTH} {y + 2 * LINE}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    page = f'  <rect class="page" width="{WIDTH}" height="{y + 2 * LINE}"/>'
    return "\n".join([head, "  <title>The packages of discrim</title>", STYLE, page, *parts, "</svg>", ""])


def _layers() -> list[list[str]]:
    """The packages of each layer, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [[name.strip() for name in layer.split("|")] for layer in layers]


def _width(layer: list[str]) -> int:
    return (WIDTH - 2 * MARGIN - GAP * (len(layer) - 1)) // len(layer)


def _families(package: str) -> list[str]:
    """The families that a package has a folder for."""
    return sorted(p.parent.name for p in (ROOT / "src/discrim" / package).glob("*/__init__.py"))


def _height(package: str, width: int) -> int:
    return LINE * (len(_lines(package, width)) + 1) + (12 if package != "families" else 44)


def _lines(package: str, width: int) -> list[str]:
    return textwrap.wrap(_sentence(package), max((width - 20) // 7, 12))


def _sentence(package: str) -> str:
    """The first sentence of the docstring, without marks."""
    path = ROOT / "src/discrim" / package
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(text.replace("``", "").split()), maxsplit=1)[0].rstrip(".")


def _box(package: str, x: int, y: int, width: int, height: int) -> list[str]:
    drawn = [f'  <rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>']
    drawn.append(f'  <text class="name" x="{x + 10}" y="{y + 18}">{package}</text>')
    for i, line in enumerate(_lines(package, width)):
        drawn.append(f'  <text class="side" x="{x + 10}" y="{y + 18 + LINE * (i + 1)}">{escape(line)}</text>')
    return drawn + (_folders(x, y + height - 34, width) if package == "families" else [])


def _folders(x: int, y: int, width: int) -> list[str]:
    names = _families("families")
    each = (width - 20 - GAP * (len(names) - 1)) // len(names)
    drawn = []
    for i, name in enumerate(names):
        at = x + 10 + i * (each + GAP)
        drawn.append(f'  <rect class="family" x="{at}" y="{y}" width="{each}" height="26" rx="4"/>')
        drawn.append(f'  <text x="{at + 10}" y="{y + 18}">{name}</text>')
    return drawn


if __name__ == "__main__":
    main()
