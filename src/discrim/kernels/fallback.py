"""The warning that large data are read without the compiled kernels."""

from __future__ import annotations

import os

from discrim import kernels
from discrim.errors import SlowKernelsWarning, warn
from discrim.kernels.versions import REFERENCE, VARIABLE

# Numbers of X from which the difference is felt.
LARGE = 1_000_000

_told = False


def warn_if_slow(size: int | None) -> None:
    """Warn once in a process, at the first fit of so many numbers (None: too many to count beforehand).

    Whoever asks for the reference by the environment variable knows what it is.
    """
    global _told  # noqa: PLW0603 - once in a process
    if _told or kernels.VERSION != REFERENCE or os.environ.get(VARIABLE):
        return
    if size is not None and size < LARGE:
        return
    _told = True
    warn(
        "discrim runs without its compiled kernels, which were not built when it was installed: the answers are the "
        "same, but large fits take many times longer. Install a C++17 compiler (gcc or clang) and reinstall discrim "
        f"to get them, or set {VARIABLE}=reference if this is intended. discrim.show_versions() shows what runs.",
        SlowKernelsWarning,
    )
