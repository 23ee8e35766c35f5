"""How numbers are written: as few digits as tell the column's numbers, and the same decimals for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

SMALLEST_P = 2.2e-16
LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, "."))
LEGEND = "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"


def is_numeric(values: Sequence[object]) -> bool:
    """Every value is a number or is missing (None), and truth values are words."""
    return all(value is None or (isinstance(value, Real) and not isinstance(value, bool)) for value in values)


def write_column(values: Sequence[object], digits: int) -> list[str]:
    """One text per number, all with the decimals that the neediest of them asks for.

    The neediest number is the one whose ``digits`` significant digits, trailing zeros dropped, reach
    furthest behind the point. The column is written in powers of ten where that is narrower. Numbers
    15 digits below the largest are rounding noise and are written as 0. Missing values stay blank.
    """
    known = [_number(value) for value in values]
    finite = [x for x in known if x is not None and math.isfinite(x)]
    noise = 1e-15 * max(map(abs, finite), default=0.0)
    # At most, not below: a negative zero is noise too, and would print its sign.
    shown = [0.0 if x is not None and abs(x) <= noise else x for x in known]
    write = _writer([0.0 if abs(x) <= noise else x for x in finite], digits)
    return [_special(x) if x is None or not math.isfinite(x) else write.format(x) for x in shown]


def write_number(value: object, digits: int) -> str:
    """A value on its own: numbers as in a column of one, all else as it prints."""
    return write_column([value], digits)[0] if is_numeric([value]) else str(value)


def write_p_values(values: Sequence[object], digits: int) -> list[str]:
    """Probabilities: one digit fewer than elsewhere, tiny ones in powers of ten, the tiniest by a bound."""
    digits = max(1, min(5, digits - 1))
    known = [_number(value) for value in values]
    tiny = [x is not None and SMALLEST_P <= x < 1e-4 for x in known]
    tiniest = [x is not None and x < SMALLEST_P for x in known]
    small = write_column([x if t else None for x, t in zip(known, tiny, strict=True)], digits)
    rest = [None if t or s else x for x, t, s in zip(known, tiny, tiniest, strict=True)]
    large = write_column(rest, digits)
    texts = zip(tiniest, small, large, strict=True)
    return ["<2e-16" if bound else in_powers or plain for bound, in_powers, plain in texts]


def write_p_value(value: float) -> str:
    """A probability in a sentence, with its sign of relation: ``= 0.031`` or ``< 2e-16``."""
    text = write_p_values([value], 3)[0]
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"


def stars(value: object) -> str:
    """The marks of R's coefficient tables: *** under 0.001, ** under 0.01, * under 0.05, . under 0.1."""
    p = _number(value)
    if p is None or math.isnan(p):
        return ""
    return next((mark for level, mark in LEVELS if p < level), "")


def _writer(finite: Sequence[float], digits: int) -> str:
    """The format that suits all of these numbers, as a template for ``str.format``."""
    if all(x == int(x) and abs(x) < 1e15 for x in finite):
        return "{:.0f}"
    parts = [_significant(x, digits) for x in finite]
    decimals = max(max(0, used - 1 - exponent) for used, exponent in parts)
    mantissa = max(used for used, _ in parts) - 1
    fixed, scientific = f"{{:.{decimals}f}}", f"{{:.{mantissa}e}}"
    narrowest = [max(len(form.format(x)) for x in finite) for form in (fixed, scientific)]
    return fixed if narrowest[0] <= narrowest[1] else scientific


def _significant(x: float, digits: int) -> tuple[int, int]:
    """How many of ``digits`` significant digits x needs, and its power of ten after rounding."""
    mantissa, exponent = f"{abs(x):.{digits - 1}e}".split("e")
    return max(1, len(mantissa.replace(".", "").rstrip("0"))), int(exponent)


def _special(x: float | None) -> str:
    if x is None:
        return ""
    if math.isnan(x):
        return "NaN"
    return "Inf" if x > 0 else "-Inf"


def _number(value: object) -> float | None:
    return None if value is None else float(value)  # type: ignore[arg-type]
