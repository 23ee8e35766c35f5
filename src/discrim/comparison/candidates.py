"""Which models are tried: the library's own that fit the data, those that are named, and anybody's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone, is_classifier

from discrim.comparison.compared_rows import ComparedRows
from discrim.errors import ParameterError, name_list
from discrim.models.registry import Entry, all_entries


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model under the name it has in the table.

    ``tuning`` names the way in which its parameters are chosen inside the folds, '' for none. ``why_not`` says why the
    data do not fit it.
    """

    name: str
    model: Any
    tuning: str = ""
    why_not: str = ""


def candidates_for(wanted: Any, rows: ComparedRows) -> list[Candidate]:
    """The models that ``compare`` was asked for, by unique names; the default ones where it was asked for none."""
    if wanted is None:
        return _defaults(rows)
    if isinstance(wanted, str) or hasattr(wanted, "fit"):
        wanted = [wanted]
    if not isinstance(wanted, Iterable):
        raise ParameterError.bad_value("models", wanted, "a list or a dictionary of classifiers, or None")
    items: list[tuple[str | None, Any]]
    items = list(wanted.items()) if isinstance(wanted, Mapping) else [(None, item) for item in wanted]
    if not items:
        raise ParameterError("The 'models' parameter is empty; leave it out for the library's own models.")
    found: list[Candidate] = []
    for name, item in items:
        for one in _of_item(item, rows):
            found.append(Candidate(_unique(str(name or one.name), found), one.model, one.tuning, one.why_not))
    return found


def _of_item(item: Any, rows: ComparedRows) -> list[Candidate]:
    if isinstance(item, str):
        if item == "default":
            return _defaults(rows)
        known = all_entries()
        entry = known.get(item) or next((one for one in known.values() if one.kind.__name__ == item), None)
        if entry is None:
            raise ParameterError.bad_value(
                "models", item, f"'default', a classifier, or one of {name_list(known, most=len(known))}"
            )
        return [_candidate(entry, rows)]
    if isinstance(item, type):
        raise ParameterError(f"The 'models' parameter has the class {item.__name__}; give a model, {item.__name__}().")
    if not (hasattr(item, "fit") and hasattr(item, "predict") and is_classifier(item)):
        raise ParameterError.bad_value("models", item, "made of classifiers, or of names of the library's models")
    return [Candidate(type(item).__name__, clone(item))]


def _unique(name: str, found: list[Candidate]) -> str:
    taken, number, start = {one.name for one in found}, 2, name
    while name in taken:
        name, number = f"{start} ({number})", number + 1
    return name


def _defaults(rows: ComparedRows) -> list[Candidate]:
    known = all_entries().values()
    return [_candidate(entry, rows) for entry in known if (entry.words if rows.of_words else entry.offered(rows))]


def _candidate(entry: Entry, rows: ComparedRows) -> Candidate:
    return Candidate(entry.name, entry.make(rows), entry.tuning, entry.why_not(rows))
