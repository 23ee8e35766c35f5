"""``python -m discrim``, where the command is not on the path."""

from discrim.cli import main

if __name__ == "__main__":
    main()
