"""The command ``discrim``."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command; without click say what to install."""
    try:
        from discrim.cli.commands import discrim
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("The command needs the package click. Install it with: pip install 'discrim[app]'")
    # So that files that were begun are cleared away, as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    discrim()
