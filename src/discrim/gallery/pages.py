"""The pages of the gallery as HTML: no scripts, no network, light and dark, from a telephone to paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

from discrim.gallery.contents import Lecture
from discrim.gallery.drawing import svg
from discrim.gallery.item import Grid, Item, Movie, Page, Picture, Text
from discrim.plots.style import DARK, LIGHT, Look


def _variables(look: Look) -> str:
    named = {"ink": look.ink, "muted": look.muted, "line": look.line, "face": look.face}
    named.update({f"c{k}": colour for k, colour in enumerate(look.palette)})
    return " ".join(f"--{name}: {colour};" for name, colour in named.items())


STYLE = f"""
:root {{ color-scheme: light dark; {_variables(LIGHT)} --soft: #f5f7fa; --good: #007a55; --bad: #b3261e; }}
@media (prefers-color-scheme: dark) {{
  :root {{ {_variables(DARK)} --soft: #1d232c; --good: #3fd6a4; --bad: #ff8a80; }}
}}
* {{ box-sizing: border-box; }}
body {{ margin: 0 auto; max-width: 78rem; padding: 0 1rem 3rem; background: var(--face); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }}
nav {{ padding: .8rem 0; border-bottom: 1px solid var(--line); }}
nav a {{ margin-right: 1rem; }}
a {{ color: var(--c0); }}
h1 {{ font-size: 1.7rem; margin: 1.2rem 0 .3rem; }}
h2 {{ font-size: 1.2rem; margin: 0 0 .5rem; }}
h2 .id {{ color: var(--muted); font-weight: 400; margin-right: .5rem; }}
section {{ padding: 1.6rem 0; border-bottom: 1px solid var(--line); }}
.formula {{ font-size: 1.08rem; margin: .3rem 0 .8rem;
  font-family: Cambria, "STIX Two Text", "Times New Roman", serif; }}
svg {{ display: block; fill: var(--ink); width: 100%; height: auto; margin: .6rem 0; }}
.movie img {{ display: block; width: 100%; max-width: 378px; height: auto; margin: .6rem 0;
  aspect-ratio: 7 / 6; }}
.beside > div, .below > div {{ min-width: 0; }} .below {{ max-width: 60rem; }}
@media (min-width: 64rem) {{
  .beside {{ display: grid; grid-template-columns: minmax(0, 35rem) minmax(0, 1fr); gap: 0 2.5rem; }}
  .beside svg {{ max-width: 35rem !important; }}
}}
.wide {{ overflow-x: auto; max-width: 100%; }}
table {{ border-collapse: collapse; font-size: .88rem; margin: .6rem 0; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: var(--muted); padding-bottom: .2rem; }}
th, td {{ text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); }}
th {{ font-weight: 600; }} .one, .data th {{ white-space: nowrap; }}
pre {{ background: var(--soft); padding: .7rem .9rem; overflow-x: auto; font-size: .82rem; line-height: 1.45; }}
.code span {{ display: block; white-space: pre-wrap; overflow-wrap: anywhere; text-indent: calc(-4ch - var(--in));
  padding-left: calc(4ch + var(--in)); }}
pre, code {{ font-family: ui-monospace, "DejaVu Sans Mono", monospace; }}
.good {{ color: var(--good); }} .bad {{ color: var(--bad); font-weight: 600; }}
.note {{ color: var(--muted); font-size: .92rem; }}
.stand-in {{ border-left: 4px solid var(--c1); padding-left: .7rem; }}
summary {{ cursor: pointer; color: var(--muted); }}
ol.items {{ padding-left: 0; list-style: none; columns: 17rem; }}
ol.items .id {{ display: inline-block; min-width: 2.6rem; color: var(--muted); }}
@media (max-width: 30rem) {{
  body {{ font-size: 15px; padding: 0 .8rem 2rem; }}
  svg {{ width: calc(100% + 1.2rem); margin-inline: -.6rem; }}
  table {{ font-size: .82rem; }} .data th {{ white-space: normal; }} .code {{ font-size: .74rem; }}
  td, th, table.checks td, table.checks th {{ padding-right: .45rem; }}
}}
@media (prefers-reduced-motion: reduce) {{ .movie {{ display: none; }} }}
@media print {{
  :root {{ {_variables(LIGHT)} --soft: #ffffff; --good: #000000; }}
  .beside {{ display: block; }} nav, .movie, details:not([open]) {{ display: none; }}
  h2, summary, .formula {{ break-after: avoid; }} svg, tr, .code span {{ break-inside: avoid; }}
  body {{ max-width: none; }}
  pre {{ white-space: pre-wrap; }}
}}
"""


def section(item: Item, page: Page) -> str:
    """An item: picture or table, formula, code, and the numbers it agrees with."""
    head = [f'<h2><span class="id">{item.id}</span>{escape(item.title)}</h2>']
    if item.formula:
        head.append(f'<p class="formula">{_formula(item.formula)}</p>')
    head += [f'<p class="stand-in">{escape(text)}</p>' for text in page.stand_ins]
    said = [
        _checks(page),
        _misprints(page),
        f"<details open><summary>The code that made it</summary>{_code(item.code)}</details>",
        f"<details><summary>With the numbers</summary>{_code(item.all_code)}</details>",
    ]
    # Beside a picture there is room; what is printed needs the whole width.
    printed = any(isinstance(shown, Text) and shown.printed for shown in page.shown)
    beside = not printed and any(isinstance(shown, Picture) for shown in page.shown)
    parts = [
        *head,
        f'<div class="{"beside" if beside else "below"}"><div>',
        *_shown(item, page),
        "</div><div>",
        *said,
        "</div></div>",
    ]
    return f'<section id="{item.id}">\n' + "\n".join(part for part in parts if part) + "\n</section>"


def _shown(item: Item, page: Page) -> list[str]:
    """Pictures, tables and remarks in their order."""
    parts = []
    for number, shown in enumerate(page.shown):
        if isinstance(shown, Picture):
            parts.append(svg(shown.figure, f"{item.id}-{number}", escape(shown.alt, quote=True)))
        elif isinstance(shown, Movie):
            light, dark = movie_files(item)
            parts.append(
                f'<picture class="movie"><source srcset="{dark}" media="(prefers-color-scheme: dark)">'
                f'<img src="{light}" alt="The same steps in motion." loading="lazy"></picture>'
            )
        elif isinstance(shown, Grid):
            parts.append(_table(shown))
        elif shown.printed:
            parts.append(f"<pre>{escape(shown.text)}</pre>")
        else:
            parts.append(f'<p class="note">{escape(shown.text)}</p>')
    return parts


def _code(text: str) -> str:
    """Lines of a program; what is too long for a screen goes on further to the right below."""
    lines = "".join(
        f'<span style="--in:{len(line) - len(line.lstrip())}ch">{escape(line)}\n</span>' for line in text.splitlines()
    )
    return f'<pre class="code"><code>{lines}</code></pre>'


def movie_files(item: Item) -> tuple[str, str]:
    """The files of an item's animation, for light and for dark pages."""
    return f"{item.id}.gif", f"{item.id}-dark.gif"


def _formula(text: str) -> str:
    """Plain text with _k and _{ij} as subscripts, ^2, ^{...} and ^(...) as superscripts."""
    marked = re.sub(r"_\{([^}]*)\}|_(\w+)", r"<sub>\1\2</sub>", escape(text))
    return re.sub(r"\^\{([^}]*)\}|\^\(([^)]*)\)|\^([\w−]+(?:\.\d+)?)", r"<sup>\1\2\3</sup>", marked)


def failure(item: Item, error: str) -> str:
    """An item that could not be made."""
    title = f'<h2><span class="id">{item.id}</span>{escape(item.title)}</h2>'
    return f'<section id="{item.id}">{title}<p class="bad">This item could not be made: {escape(error)}</p></section>'


def lecture_page(lecture: Lecture, every: Sequence[Lecture], parts: Sequence[str]) -> str:
    """The page of a lecture."""
    return _page(f"{lecture.name} · discrim gallery", every, "\n".join([
        f"<h1>{lecture.name}</h1><p>{escape(lecture.about)}.</p>", _list(lecture), *parts,
    ]))  # fmt: skip


def index_page(
    every: Sequence[Lecture],
    wrong: Mapping[str, Sequence[str]],
    failed: Mapping[str, str],
    checks: int,
    stand_ins: Sequence[str] = (),
) -> str:
    """The first page: all items by lecture, and what became of their numbers."""
    count = sum(len(lecture.items) for lecture in every)
    said = [
        f"{count} figures, tables and worked examples of five lectures, made by discrim. {checks} numbers compared."
    ]
    said.append(
        "Items whose numbers differ from the lecture: " + ", ".join(wrong) + "."
        if wrong
        else "Every number of these agrees with the lecture, or its misprint is named."
    )
    said += stand_ins
    if failed:
        said.append("Items that could not be made: " + ", ".join(failed) + ".")
    lists = [
        f'<h2 style="margin-top:1.6rem"><a href="{one.file}">{one.name}</a></h2>'
        f"<p>{escape(one.about)}.</p>{_list(one, one.file)}"
        for one in every
    ]
    head = "<h1>The lectures, drawn</h1>" + "".join(f"<p>{escape(text)}</p>" for text in said)
    return _page("discrim gallery", every, head + "\n".join(lists))


def _page(title: str, every: Sequence[Lecture], body: str) -> str:
    links = "".join(f'<a href="{one.file}">{one.name}</a>' for one in every)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n'
        f'<nav><a href="index.html">All</a>{links}</nav>\n<main>\n{body}\n</main>\n</body>\n</html>\n'
    )


def _list(lecture: Lecture, file: str = "") -> str:
    entries = "".join(
        f'<li><a href="{file}#{item.id}"><span class="id">{item.id}</span>{escape(item.title)}</a></li>'
        for item in lecture.items
    )
    return f'<ol class="items">{entries}</ol>'


def _table(grid: Grid) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in grid.columns)
    rows = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in grid.rows)
    caption = f"<caption>{escape(grid.caption)}</caption>" if grid.caption else ""
    return f'<div class="wide"><table class="data">{caption}<tr>{head}</tr>{rows}</table></div>'


def _cell(text: str) -> str:
    """Numbers and names stay on one line, sentences do not."""
    one = len(text) <= 12 or " " not in text.strip()
    return f'<td class="one">{escape(text)}</td>' if one else f"<td>{escape(text)}</td>"


def _checks(page: Page) -> str:
    if not page.checks:
        return ""
    differs = '<td class="note">other data</td>' if page.stand_ins else '<td class="bad">differs</td>'
    rows = "".join(
        f"<tr><td>{_formula(one.name)}</td>{_cell(one.expected)}{_cell(one.found)}"
        + ('<td class="good">✓</td>' if one.good else differs)
        + "</tr>"
        for one in page.checks
    )
    head = "<tr><th>agrees with</th><th>expected</th><th>here</th><th></th></tr>"
    return f'<div class="wide"><table class="checks">{head}{rows}</table></div>'


def _misprints(page: Page) -> str:
    if not page.misprints:
        return ""
    rows = "".join(
        f"<tr><td>{_formula(one.printed)}</td><td>{_formula(one.corrected)}</td><td>{_formula(one.reason)}</td></tr>"
        for one in page.misprints
    )
    head = "<tr><th>the lecture prints</th><th>corrected</th><th>why</th></tr>"
    return f'<div class="wide"><table class="misprints">{head}{rows}</table></div>'
