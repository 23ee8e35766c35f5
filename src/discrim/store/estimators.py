"""What all estimators that can be stored share: parameters, what was learned, and the method ``save``."""

from __future__ import annotations

from os import PathLike
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from discrim.errors import DiscrimError, ModelFileError
from discrim.store.fields import (
    Field,
    Fields,
    Fixed,
    Incoming,
    Optional,
    Outgoing,
    Texts,
    Whole,
    damaged,
    read_fields,
    write_fields,
)
from discrim.store.kinds import enter_kind, model_kind
from discrim.store.values import Value

# The columns of the rows that were learned from, as scikit-learn calls them.
FEATURES = Fixed({"count": Optional(Whole()), "names": Optional(Texts())})


class LeftOut:
    """Stands for a parameter that a file cannot have, such as a splitter; ``text`` is how it was written."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<left out of the model file: {self.text}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LeftOut) and self.text == other.text

    __hash__ = None  # type: ignore[assignment]


class Given(Field[Any]):
    """The value of a parameter; what is no data is left out, and ``LeftOut`` stands for it."""

    def write(self, value: Any, out: Outgoing, at: str) -> Any:
        if isinstance(value, LeftOut):
            return {"left out": value.text}
        before = dict(out.arrays)
        try:
            return Value().write(value, out, at)
        except ModelFileError:
            out.arrays = before
        text = repr(value)
        text = f"{type(value).__name__}(...)" if " at 0x" in text or len(text) > 200 else text
        out.left_out.append(f"{at.rpartition('.')[2]}={text}")
        return {"left out": text}

    def read(self, node: Any, file: Incoming, at: str) -> Any:
        if isinstance(node, dict) and node.keys() == {"left out"}:
            if not isinstance(node["left out"], str):
                raise damaged(at, "is no text")
            return LeftOut(node["left out"])
        return Value().read(node, file, at)


GIVEN = Given()


class SavedEstimator:
    """An estimator that enters itself, and can be saved.

    ``learned`` has the fields of what a fit learns. A subclass whose attributes are not enough for that overrides
    ``write_learned`` and ``take_learned``.
    """

    learned: ClassVar[Fields] = {}
    # The fields of parameters that are no plain values.
    own_fields: ClassVar[Fields] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        enter_kind(model_kind(cls), cls)

    def save(
        self, path: str | PathLike[str], *, keep_statistic: bool = False, statistic_only: bool = False
    ) -> None:  # fmt: skip
        """Write the fitted model to a file that ``discrim.load`` reads, as ``discrim.save`` does."""
        from discrim.store.files import save

        save(self, path, keep_statistic=keep_statistic, statistic_only=statistic_only)

    def is_learned(self) -> bool:
        """Has the model been fitted?"""
        needed = [name for name, each in self.learned.items() if not isinstance(each, Optional)]
        return all(hasattr(self, name) for name in needed)

    def write_learned(self, out: Outgoing, at: str) -> dict[str, Any]:
        """What was learned, as JSON."""
        if out.alone:
            raise no_statistic(self)
        known = self.__dict__
        features = {"count": known.get("n_features_in_"), "names": known.get("feature_names_in_")}
        values = {name: getattr(self, name, None) for name in self.learned} | {"features": features}
        return write_fields({**self.learned, "features": FEATURES}, values, out, at)

    def take_learned(self, node: Any, file: Incoming, at: str) -> None:
        """Take over what ``write_learned`` gave; raises where it does not go together."""
        found = read_fields({**self.learned, "features": FEATURES}, node, file, at)
        features = found.pop("features")
        if features["count"] is not None:
            found["n_features_in_"] = features["count"]
        if features["names"] is not None:
            if len(features["names"]) != features["count"]:
                raise damaged(f"{at}.features", "has not a name for each column")
            found["feature_names_in_"] = np.array(features["names"], dtype=object)
        self.__dict__.update(found)
        self.check_learned(file)

    def check_learned(self, file: Incoming) -> None:
        """Raise where what was read does not go together."""

    def check_columns(self, known: int | None) -> None:
        """Raise where rows have another number of columns than what reads them has ``known``."""
        if known is not None and self.__dict__.get("n_features_in_", known) != known:
            raise damaged("features", "has another number of columns")

    def check_parameters(self, names: set[str]) -> None:
        """Raise where a parameter among ``names`` has a value that cannot be used."""

    def write_stored(self, out: Outgoing, at: str) -> dict[str, Any]:
        """Parameters, and what was learned; null for an estimator that was not fitted."""
        values = self.get_params(deep=False)  # type: ignore[attr-defined]
        parameters = {
            name: self.own_fields.get(name, GIVEN).write(values[name], out, f"{at}.parameters.{name}")
            for name in sorted(values)
        }
        learned = self.write_learned(out, at) if self.is_learned() else None
        return {"parameters": parameters, "learned": learned}

    @classmethod
    def read_stored(cls, node: Any, file: Incoming, at: str) -> Any:
        """The estimator of which ``write_stored`` gave this."""
        if node.keys() != {"parameters", "learned"} or not isinstance(node["parameters"], dict):
            raise damaged(at, "is no estimator")
        known = cls._get_param_names()  # type: ignore[attr-defined]
        given = {
            name: cls.own_fields.get(name, GIVEN).read(each, file, f"{at}.parameters.{name}")
            for name, each in node["parameters"].items()
        }
        if set(given) != set(known):
            name = min(set(given) ^ set(known))
            raise damaged(at, f"lacks the parameter '{name}', or has it without need")
        model = cls(**given)
        try:
            model.check_parameters({name for name, value in given.items() if not isinstance(value, LeftOut)})
        except DiscrimError as error:
            raise damaged(at, f"has a parameter that cannot be used: {error}".rstrip(".")) from error
        if node["learned"] is not None:
            model.take_learned(node["learned"], file, at)
        return model


def no_statistic(model: Any) -> ModelFileError:
    return ModelFileError(
        f"A {type(model).__name__} does not follow from a statistic of its rows, so that a file with that alone is not "
        "enough for it. Save the whole model, or take one that does, such as LDA."
    )


def is_fitted(model: Any) -> bool:
    """Has an estimator been fitted, of this library or of scikit-learn?"""
    if isinstance(model, SavedEstimator):
        return model.is_learned()
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError, AttributeError):
        return False
    return True
