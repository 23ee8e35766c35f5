"""MODEL and ``--set``: which model is meant, and with which parameters."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from discrim.errors import ParameterError, name_list
from discrim.models.registry import all_entries
from discrim.public import similar_names

# Classes by name, and the parameters that the name stands for.
Kinds = dict[str, tuple[Any, Mapping[str, Any]]]
# How people write what Python's literals lack.
WORDS: dict[str, Any] = {"inf": float("inf"), "true": True, "false": False, "none": None}


def named_model(name: str, settings: Sequence[str]) -> Any:
    """The classifier of that name, as the table of ``compare`` or its class has it, with these ``name=value``."""
    kind, parameters = _known()[_resolved(name, list(_known()))]
    known = kind().get_params(deep=False)
    given = dict(parsed(setting) for setting in settings)
    for parameter in given:
        if parameter not in known:
            close = difflib.get_close_matches(parameter, known, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise ParameterError(
                f"{kind.__name__} has no parameter '{parameter}'.{hint} It has {name_list(known, most=len(known))}."
            )
    return kind(**{**parameters, **given})


def parsed(setting: str) -> tuple[str, Any]:
    """``C=0.5`` as a name and a Python value; what is no literal is a string."""
    name, equals, text = (part.strip() for part in setting.partition("="))
    if not (equals and name):
        raise ParameterError(f"--set takes a parameter and its value, as in --set C=0.5; found '{setting}'.")
    if text.lower().removeprefix("np.") in WORDS:
        return name, WORDS[text.lower().removeprefix("np.")]
    try:
        return name, ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return name, text


def _known() -> Kinds:
    """Classes by the names of ``compare`` and by their own, with the parameters that the former stand for."""
    from discrim import models

    classes = (getattr(models, name) for name in dir(models) if not name.startswith("_"))
    own: Kinds = {kind.__name__: (kind, {}) for kind in classes if isinstance(kind, type) and hasattr(kind, "predict")}
    entries = all_entries().values()
    tried = {one.name: (one.kind, one.made if isinstance(one.made, Mapping) else {}) for one in entries}
    return {**own, **tried}


def _resolved(name: str, known: Sequence[str]) -> str:
    """The known name that is spelt like this but for case, spaces and signs, or the only one that it is part of."""
    plain = _plain(name)
    for each in known:
        if _plain(each) == plain:
            return each
    parts = [each for each in known if len(plain) > 2 and plain in _plain(each)]
    if len(parts) == 1:
        return parts[0]
    alike = parts or similar_names(name, known)
    hint = f" Did you mean {' or '.join(repr(each) for each in alike)}?" if alike else ""
    raise ParameterError(
        f"There is no model '{name}'.{hint} The models are {name_list(_once(), most=len(known))}; names of classes, "
        "such as LinearDiscriminantAnalysis, mean the same."
    )


def _once() -> list[str]:
    """Every model under one name: that of ``compare``, or that of its class."""
    kinds, tried = _known(), all_entries().values()
    also = {entry.kind for entry in tried}
    own = [name for name, (kind, _) in kinds.items() if name == kind.__name__ and kind not in also]
    return sorted([*(entry.name for entry in tried), *own])


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
