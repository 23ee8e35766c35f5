"""The gallery as a folder of pages, written as a whole or not at all."""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discrim.errors import DiscrimWarning, ParameterError
from discrim.gallery import pages
from discrim.gallery.contents import lectures
from discrim.gallery.item import Item, Movie, Page, Picture

# What says that a folder was written by this module, and may be replaced.
MARK = ".discrim-gallery"
Report = Callable[[str], None]


@dataclass(frozen=True)
class Built:
    """What became of the items: how many there are, which disagree with the lecture, and which failed, by id."""

    folder: Path
    items: int
    checks: int
    wrong: dict[str, list[str]]
    failed: dict[str, str]
    stand_ins: tuple[str, ...]


def build(folder: str | Path, data: str | Path | None = None, done: Report = lambda _: None) -> Built:
    """Write the gallery into ``folder``: ``index.html`` and a page for each lecture.

    An item that fails is named on its page and in the answer, and does not stop the others. The pages are written
    beside the folder and take its place at the end, so that an earlier gallery is lost in no case; any other folder
    that is not empty is refused. ``data`` is a folder with data of the lectures, such as ``spam/data.csv``. ``done`` is
    called with the id of each item. Cost: about a minute.

    Examples
    --------
    >>> from discrim.gallery import build
    >>> build("gallery").failed  # doctest: +SKIP
    {}
    """
    target, source = Path(folder).expanduser().absolute(), _folder_of(data)
    _refuse_others(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as made:
        work = Path(made) / "gallery"
        work.mkdir()
        built = _written(work, target, source, done)
        (work / MARK).write_text("Written by discrim gallery. A folder with this file may be replaced.\n")
        if target.exists():
            target.rename(Path(made) / "before")
        try:
            shutil.move(work, target)
        except BaseException:
            if (Path(made) / "before").exists() and not target.exists():
                (Path(made) / "before").rename(target)
            raise
    return built


def check(item: Item, data: str | Path | None = None) -> Page:
    """What an item shows and compares."""
    with quiet():
        return item.run(_folder_of(data))


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings of fits that are meant to fail: separated classes, steps cut off."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiscrimWarning)
        yield


def _written(work: Path, target: Path, source: Path | None, done: Report) -> Built:
    wrong: dict[str, list[str]] = {}
    failed: dict[str, str] = {}
    stand_ins: list[str] = []
    checks = 0
    for lecture in lectures():
        parts = []
        for item in lecture.items:
            page, body = Page(), ""
            try:
                with quiet():
                    page = item.run(source)
                    body = pages.section(item, page)
                    _write_movies(work, item, page)
                    _close(page)
            except Exception as error:  # noqa: BLE001 - one item must not stop the others
                failed[item.id] = f"{type(error).__name__}: {error}"
                body = pages.failure(item, failed[item.id])
            parts.append(body)
            bad = [one.name for one in page.checks if not one.good]
            checks += len(page.checks)
            if bad and not page.stand_ins:
                wrong[item.id] = bad
            stand_ins += page.stand_ins
            done(item.id)
        (work / lecture.file).write_text(pages.lecture_page(lecture, lectures(), parts), encoding="utf-8")
    (work / "index.html").write_text(
        pages.index_page(lectures(), wrong, failed, checks, tuple(dict.fromkeys(stand_ins))), encoding="utf-8"
    )
    count = sum(len(lecture.items) for lecture in lectures())
    return Built(target, count, checks, wrong, failed, tuple(dict.fromkeys(stand_ins)))


def _write_movies(work: Path, item: Item, page: Page) -> None:
    for movie in (one for one in page.shown if isinstance(one, Movie)):
        for name, style in zip(pages.movie_files(item), ("light", "dark"), strict=True):
            movie.write(work / name, style)


def _close(page: Page) -> None:
    """In a notebook pyplot would keep all pictures, and show them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for picture in page.shown:
        if pyplot is not None and isinstance(picture, Picture):
            pyplot.close(picture.figure)


def _refuse_others(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise ParameterError(f"'{target}' is a file. Give the name of a folder for the gallery.")
    if any(target.iterdir()) and not (target / MARK).is_file():
        raise ParameterError(
            f"The folder '{target}' holds other files. Give an empty or new folder, or one with an earlier gallery."
        )


def _folder_of(data: str | Path | None) -> Path | None:
    if data is None:
        return None
    folder = Path(data).expanduser()
    if not folder.is_dir():
        raise ParameterError.bad_value("data", str(data), "a folder with data of the lectures, such as spam/data.csv")
    return folder
