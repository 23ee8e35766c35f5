"""The verb ``gallery``."""

from __future__ import annotations

from pathlib import Path

import click

from discrim.cli import options
from discrim.cli.running import Refused, note, verb
from discrim.cli.writing import write_json


@verb(
    "gallery",
    "Write the pictures and tables of five lectures.",
    examples="""
    discrim gallery site/
    discrim gallery site/ --data data/
    """,
)
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Folder with data of the lectures that do not come along: spam/data.csv, vowel/train.csv, ...",
)
@options.as_json
def gallery(out: Path, data: Path | None, *, as_json: bool) -> None:
    """Write every picture and table of five lectures, with code and numbers, as pages into the folder OUT."""
    from discrim.engines.progress import Progress
    from discrim.errors import MissingDependencyError

    try:
        from discrim.gallery import build, lectures
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise MissingDependencyError.for_package("matplotlib", "discrim gallery", "plots") from error
    count = sum(len(lecture.items) for lecture in lectures())
    with Progress("drawing", count, "items") as progress:
        built = build(out, data, done=lambda _: progress.add(1))
    if as_json:
        names = ("items", "checks", "stand_ins", "wrong", "failed")
        write_json({"page": str(built.folder / "index.html"), **{name: getattr(built, name) for name in names}})
    else:
        click.echo(f"{built.items} items, {built.checks} numbers compared: {built.folder / 'index.html'}")
        for text in built.stand_ins:
            note(f"{text} --data names a folder that has them.")
    if built.wrong or built.failed:
        said = [f"{name}: {', '.join(names)} differ from the lecture" for name, names in built.wrong.items()]
        said += [f"{name} failed: {error}" for name, error in built.failed.items()]
        raise Refused("; ".join(said))
