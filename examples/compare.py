"""Which model tells the rock crabs apart? ``python examples/compare.py`` prints a table and writes crabs.html."""

from __future__ import annotations

import discrim


def main() -> None:
    crabs = discrim.datasets.load_crabs(log=True)
    found = discrim.compare(crabs.data, crabs.target, random_state=0)
    print(found)
    print(f"\nThe same with pictures: {found.report('crabs.html')}\n")
    print(found.best.summary())


if __name__ == "__main__":
    main()
