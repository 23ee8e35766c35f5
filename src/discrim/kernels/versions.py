"""Which kernels run: the compiled ones in the best version of this processor, or those that the user asks for."""

from __future__ import annotations

import os
from functools import cache

from discrim.errors import KernelsError, SlowKernelsWarning, name_list, warn

VARIABLE = "DISCRIM_KERNELS"
REFERENCE = "reference"
# Every name that the variable may have, whatever this machine can run.
NAMES = (REFERENCE, "baseline", "avx2", "avx512")
# Entries of X from which the difference is felt.
LARGE = 1_000_000


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


def warn_if_slow(size: int | None) -> None:
    """Warn once in a process, at the first fit of so many entries (None: unknown), where no kernels were compiled.

    There is no warning where the environment variable asks for the reference.
    """
    if (size is None or size >= LARGE) and not os.environ.get(VARIABLE) and available() == (REFERENCE,):
        _warn_once()


@cache
def _warn_once() -> None:
    warn(
        "discrim runs without its compiled kernels, which were not built when it was installed: the answers are the "
        "same, but large fits take many times longer. Install a C++17 compiler (gcc or clang) and reinstall discrim "
        f"to get them, or set {VARIABLE}=reference if this is intended. discrim.show_versions() shows what runs.",
        SlowKernelsWarning,
    )
