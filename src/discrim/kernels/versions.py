"""Which kernels run: the compiled ones in the best version of this processor, or those that the user asks for."""

from __future__ import annotations

import os

from discrim.errors import KernelsError, name_list

VARIABLE = "DISCRIM_KERNELS"
REFERENCE = "reference"
# Every name that the variable may have, whatever this machine can run.
NAMES = (REFERENCE, "baseline", "avx2", "avx512")


def available() -> tuple[str, ...]:
    """The versions that this build and this processor have, the NumPy reference first and the best one last."""
    try:
        from discrim.kernels import _native
    except ImportError:
        return (REFERENCE,)
    return (REFERENCE, *_native.versions())


def choose(asked: str, have: tuple[str, ...]) -> str:
    """The version that ``asked`` names, or the best one where it names none."""
    if not asked:
        return have[-1]
    if asked not in NAMES:
        raise KernelsError(
            f"The environment variable {VARIABLE} is '{asked}'; it must be one of {name_list(NAMES)}, "
            "or unset for the best version that the processor has."
        )
    if asked in have:
        return asked
    if have == (REFERENCE,):
        raise KernelsError(
            f"The environment variable {VARIABLE} asks for '{asked}', but this install has no compiled kernels. "
            f"Install a C++17 compiler and reinstall discrim, or unset {VARIABLE}."
        )
    raise KernelsError(
        f"The environment variable {VARIABLE} asks for '{asked}', which this processor cannot run; "
        f"it has {name_list(have)}. Set one of these, or unset {VARIABLE} for the best one."
    )


def start() -> str:
    """Choose by the environment variable, and set the compiled kernels to the choice."""
    chosen = choose(os.environ.get(VARIABLE, ""), available())
    if chosen != REFERENCE:
        from discrim.kernels import _native

        _native.use(chosen)
    return chosen
