"""How every classifier is fitted by a formula."""

from __future__ import annotations

from typing import Any


class ByFormula:
    """Gives a classifier ``from_formula``."""

    @classmethod
    def from_formula(cls, formula: str, data: Any, sample_weight: Any = None, **parameters: Any) -> Any:
        """This model with these ``parameters``, fitted to the columns that a formula makes of a table.

        ``formula`` is R's, such as ``"y ~ age * sex + C(job, ref='clerk') + poly(x, 2)"``; ``data`` a data frame, a
        scan or the path of a file. The answer, a ``models.FormulaClassifier``, takes such tables in ``predict`` too.
        """
        from discrim.models.formula import FormulaClassifier

        return FormulaClassifier(formula, cls(**parameters)).fit(data, None, sample_weight)
