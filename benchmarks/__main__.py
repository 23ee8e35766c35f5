"""``python -m benchmarks``, and its parts by name."""

import sys

from benchmarks import choice, growth, paths, run, scale, sweep

PARTS = {"choice": choice.main, "growth": growth.main, "paths": paths.main, "scale": scale.main, "sweep": sweep.main}

if __name__ == "__main__":
    part = PARTS.get(sys.argv[1]) if len(sys.argv) > 1 else None
    sys.exit(part(sys.argv[2:]) if part else run.main())
