"""Names and sentences in pictures: how wide they are, where they break, how they are cut, and in which font."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from itertools import takewhile
from typing import Any

from matplotlib import rcParams
from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager, get_font
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

# On a coarse grid of pixels letters are wider than they are drawn on paper.
HINTED = 1.05
# What matplotlib writes itself, such as powers of ten, begins with this.
MATHEMATICS = "$\\mathdefault"
# Families that stand for a list of fonts.
GENERIC = {"serif", "sans-serif", "cursive", "fantasy", "monospace"}


def readable(figure: Any) -> None:
    """Texts of a figure as they are: dollars begin no formula, and letters that its font lacks come from another one.

    What matplotlib formats itself stays, and so do texts that name a font or a formula of their own.
    """
    for text in figure.findobj(Text):
        said = text.get_text()
        if "$" in said and not said.startswith(MATHEMATICS):
            text.set_parse_math(False)
        if not said.isascii() and list(text.get_fontfamily()) == list(rcParams["font.family"]):
            text.set_fontfamily(_families(said))


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Points from the left end of a text to the right end of its longest line."""
    return max(_width(line, size, bold, tuple(_families(line))) for line in text.split("\n"))


@lru_cache(maxsize=8192)
def _width(line: str, size: float, bold: bool, families: tuple[str, ...]) -> float:
    font = FontProperties(family=list(families), size=size, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(line or " ", font, False)
    return HINTED * float(width)


def _families(text: str) -> list[str]:
    """Those of the settings, and for letters that they lack a font that is installed."""
    settings: Any = rcParams
    known: list[str] = list(settings["font.family"])
    if text.isascii():
        return known
    fonts = [name for family in known for name in (settings[f"font.{family}"] if family in GENERIC else [family])]
    letters = {ord(letter) for letter in text if letter.isprintable() and not letter.isspace()}
    for name in fonts:
        if letters:
            letters = letters - _letters_of(name)
    return [*known, *_further(frozenset(letters))] if letters else known


@cache
def _letters_of(family: str) -> frozenset[int]:
    try:
        return _letters_in(findfont(FontProperties(family=[family]), fallback_to_default=False))
    except ValueError:
        return frozenset()


@cache
def _letters_in(path: str) -> frozenset[int]:
    try:
        return frozenset(get_font(path).get_charmap())
    except (OSError, RuntimeError):  # a font that cannot be read is one that is not there
        return frozenset()


@cache
def _further(missing: frozenset[int]) -> list[str]:
    """Installed fonts that have the letters, as few as needed; letters that none of them has stay boxes."""
    known = {font.fname: font.name for font in fontManager.ttflist if font.style == "normal"}
    # The list that matplotlib keeps may be older than a font.
    paths = [path for path in {**known, **dict.fromkeys(findSystemFonts(), "")} if "LastResort" not in path]
    chosen, left = [], set(missing)
    while left:
        path = max(paths, key=lambda each: (len(left & _letters_in(each)), each in known), default="")
        if not path or not left & _letters_in(path):
            break
        if path not in known:
            fontManager.addfont(path)
        chosen.append(known.get(path) or get_font(path).family_name)
        left -= _letters_in(path)
    return chosen


def wrapped(text: str, room: float, size: float) -> str:
    """The text in lines that are not wider than so many points, broken between words, else within them."""
    return "\n".join(line for part in text.split("\n") for line in _lines(part, room, size))


def _lines(text: str, room: float, size: float) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if text_width(longer, size) <= room:
            lines[-1] = longer
            continue
        # A word that fits in no line is broken where it has a joint, then anywhere.
        pieces = [word] if text_width(word, size) <= room else re.findall(r"[^_\-./]*[_\-./]+|[^_\-./]+", word)
        if lines[-1]:
            lines.append("")
        for piece in pieces:
            for part in [piece] if text_width(piece, size) <= room else piece:
                if lines[-1] and text_width(lines[-1] + part, size) > room:
                    lines.append("")
                lines[-1] += part
    return lines


def shortened(text: object, most: int = 18) -> str:
    """A name that fits beside an axis."""
    text = str(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def all_shortened(names: Iterable[object], most: int = 18) -> list[str]:
    """Names that fit, of which different ones remain different where they can.

    They are cut at their end; where that makes two alike, in their middle; else what all begin with is left out.
    """
    full = [str(name) for name in names]
    begin = takewhile(lambda letters: len(set(letters)) == 1, zip(*full, strict=False))
    tail, common = max(most // 2, 1), sum(1 for _ in begin)
    ways: tuple[Callable[[str], str], ...] = (
        lambda text: shortened(text, most),
        lambda text: text if len(text) <= most else f"{text[: max(most - 1 - tail, 0)]}…{text[-tail:]}",
        lambda text: text if len(text) <= most else "…" + shortened(text[common:], max(most - 1, 2)),
    )
    cut = [[way(text) for text in full] for way in ways]
    return max(cut, key=lambda names: len(set(names)))


def all_fitting(names: Iterable[object], room: float, size: float) -> list[str]:
    """Names none of which is wider than so many points, as long as that allows."""
    full = [str(name) for name in names]
    for most in range(max(map(len, full), default=0), 3, -1):
        cut = all_shortened(full, most)
        if all(text_width(name, size) <= room for name in cut):
            return cut
    return all_shortened(full, 3)
