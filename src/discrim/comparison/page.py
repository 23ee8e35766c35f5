"""The page that a comparison's report is filled into: text, tables and pictures, in light and dark."""

STYLE = """
:root { --paper: #fcfbf8; --ink: #22252a; --soft: #6b7079; --line: #dedbd2; --card: #f4f2ec; --accent: #1f6fb4;
  --good: #2d7d46; --warn: #a96a00; --bad: #b3372c;
  --c0: #1f6fb4; --c1: #d97706; --c2: #2d8f5c; --c3: #b03a8c; --c4: #7a5cc4; --c5: #8a6d3b; --c6: #3aa6a6; --c7: #777; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e6e4df; --soft: #9aa0aa; --line: #33373e;
  --card: #1e2126; --accent: #6db3f2; --good: #6cc58a; --warn: #e2ae54; --bad: #f08a7e;
  --c0: #6db3f2; --c1: #f2a65a; --c2: #6fcf97; --c3: #e58acb; --c4: #b19cf0; --c5: #cdb58a; --c6: #74d3d3;
  --c7: #aaa; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 66rem; padding: 2.2rem 1.4rem 3rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.15rem; font-weight: 600; color: var(--soft); margin: 0 0 .6rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .7rem; }
.verdict { font: 1.3rem/1.5 Georgia, "Times New Roman", serif; margin: 0 0 1.6rem; padding-left: 1rem;
  border-left: 4px solid var(--accent); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
.models { width: 100%; font-size: .92rem; }
.models th, .models td { text-align: right; padding: .38rem .5rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
.models th:first-child, .models .word { text-align: left; }
.models td.word { white-space: normal; font-weight: 400; font-size: .82rem; min-width: 7rem; }
.models thead th { font-weight: 500; color: var(--soft); }
.models thead .wide { text-align: center; }
.models tbody th { font-weight: 500; }
.models .chosen { background: color-mix(in srgb, var(--accent) 10%, transparent); }
.models .chosen th, .models .chosen td { font-weight: 650; }
.models .far { color: var(--soft); }
.tag { margin-left: .5rem; padding: .05rem .45rem; border-radius: .7rem; background: var(--accent); color: var(--paper);
  font-size: .72rem; font-weight: 600; vertical-align: 1px; }
.ends { display: inline-block; min-width: 2.3rem; color: var(--soft); font-size: .8rem; font-weight: 400; }
.bar { vertical-align: -2px; margin: 0 .1rem; }
.bar .rule { stroke: var(--line); stroke-width: 1; } .bar .range { stroke-width: 3.5; stroke-linecap: round; }
.bar.strong .range { stroke: var(--accent); } .bar.strong circle { fill: var(--accent); }
.bar.weak .range { stroke: var(--soft); } .bar.weak circle { fill: var(--soft); }
.key, .notes { color: var(--soft); font-size: .86rem; } .notes { padding-left: 1.1rem; }
.pair { display: flex; flex-wrap: wrap; gap: 1.6rem; }
figure { margin: 0; flex: 1 1 20rem; max-width: 29rem; } figcaption { font-weight: 600; margin-bottom: .3rem; }
figure p { color: var(--soft); font-size: .86rem; margin: .2rem 0; }
.plot { width: 100%; height: auto; } .plot .grid { stroke: var(--line); stroke-width: .7; }
.plot .rule { stroke: var(--soft); stroke-width: 1; } .dashed { stroke-dasharray: 4 4; }
.plot text { fill: var(--soft); font-size: 11px; } .plot .axis { fill: var(--ink); font-size: 12px; }
.curve { fill: none; stroke-width: 2; stroke: var(--k); } .swatch { background: var(--k); }
.whisker { stroke: var(--accent); stroke-width: 1.6; } .dot { fill: var(--accent); }
.c0 { --k: var(--c0); } .c1 { --k: var(--c1); } .c2 { --k: var(--c2); } .c3 { --k: var(--c3); }
.c4 { --k: var(--c4); } .c5 { --k: var(--c5); } .c6 { --k: var(--c6); } .c7 { --k: var(--c7); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: .2rem 0;
  font-size: .88rem; }
.legend b { margin-left: .4rem; } .swatch { display: inline-block; width: 1.1rem; height: .25rem; margin-right: .4rem;
  vertical-align: 3px; border-radius: 2px; }
.confusion th, .confusion td { padding: .4rem .8rem; text-align: right; font-size: .92rem; }
.confusion th { font-weight: 500; } .confusion thead th { color: var(--soft); }
.confusion .right { background: color-mix(in srgb, var(--good) calc(var(--share) * .55), transparent); }
.confusion .wrong { background: color-mix(in srgb, var(--bad) calc(var(--share) * 1), transparent); }
.confusion .rate { color: var(--soft); }
.checks { display: grid; grid-template-columns: repeat(auto-fill, minmax(18.5rem, 1fr)); gap: .9rem; }
.check { background: var(--card); border-radius: .5rem; padding: .8rem 1rem; border-top: 3px solid var(--soft); }
.check h3 { margin: 0 0 .3rem; font-size: 1rem; }
.check h3::first-letter { text-transform: uppercase; }
.check h3 span { float: right; font-weight: 600; font-size: .82rem; color: var(--soft); }
.check p { margin: .25rem 0; font-size: .9rem; } .check .then { color: var(--soft); }
.fine { border-color: var(--good); } .fine h3 span { color: var(--good); }
.doubtful { border-color: var(--warn); } .doubtful h3 span { color: var(--warn); }
.problem { border-color: var(--bad); } .problem h3 span { color: var(--bad); }
.how { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.2rem; font-size: .92rem; margin: 0; }
.how dt { color: var(--soft); } .how dd { margin: 0; }
@media print { body { max-width: none; } }
"""

# Filled by ``str.format``: the style comes in as it is, since its braces are doubled here.
PAGE = (
    """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Which model? {title}</title>
<style>"""
    + STYLE.replace("{", "{{").replace("}", "}}")
    + """</style></head><body>
<h1>Which model? {title}</h1>
<p class="verdict">{verdict}</p>
<div class="scroll">{table}</div>
<p class="key">Errors are of rows that the model has not seen. Blue intervals: models that cannot be told from the best.
p: paired test against the best, with Holm's correction. numbers: free numbers in the rule.</p>
{left_out}
<h2>How good is {chosen}?</h2>
<div class="scroll">{confusion}</div>
<div class="pair" style="margin-top: 1.4rem">{pictures}</div>
<h2>What the models assume</h2>
<div class="checks">{checks}</div>
<h2>How it was done</h2>
<dl class="how">{how}</dl>
</body></html>
"""
)
