"""Pictures of data, models and their errors: one function a picture, on matplotlib."""

from typing import Any

from discrim.public import names_in_stub

_get, __dir__, __all__ = names_in_stub(__name__)


def __getattr__(name: str) -> Any:
    try:
        return _get(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        from discrim.errors import MissingDependencyError

        raise MissingDependencyError.for_package("matplotlib", "discrim.plots", "plots") from error
