"""The matrix of scenarios and stacks as one self-contained HTML page."""

from collections.abc import Mapping, Sequence
from html import escape
from string import Template
from typing import Any

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conformance: $stacks</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: left; }
td.score { text-align: right; color: #111; }
td.score small { display: block; opacity: .8; }
thead th { position: sticky; top: 0; background: #fff; vertical-align: bottom; }
tfoot td { font-weight: 600; }
td.late { outline: 2px dashed #b26b00; outline-offset: -3px; }
@media (max-width: 50rem) { table { display: block; overflow-x: auto; }
  thead th { position: static; } }
</style>
</head>
<body>
<h1>How stacks recover</h1>
<p>A score of 100: as fast as the link allows, nothing unneeded sent. 0: the transfer did not end.
The score compares the time, without the part that the link causes, with the time that the
undisturbed path needs, which is the same for all stacks. Below each score: the excess over the
stack's own undisturbed transfer without the link's part, and the unneeded bytes; of the packets
that were declared lost, those that arrived; the time from the end of an outage until data arrives.
With several runs: the median, and the lowest and the highest score. Suite $suite, seed $seed.
A dashed frame: the score is in doubt, because runs scatter or the machine was too slow.</p>
<table>
<thead><tr><th>scenario</th><th>what happens</th>$heads</tr></thead>
<tbody>
$rows
</tbody>
<tfoot>
$undisturbed
<tr><td colspan="2">mean</td>$means</tr></tfoot>
</table>
$settings
</body>
</html>
""")


def page(documents: Sequence[Mapping[str, Any]]) -> str:
    """The matrix with a column per result; the scenarios are those of the first result.

    Args:
        documents: results of `Report.document`.
    """
    columns = [{one["id"]: one for one in document["scenarios"]} for document in documents]
    rows = [
        f"<tr><td>{escape(one['id'])}</td><td>{escape(one['says'])}</td>"
        + "".join(_cell(column.get(one["id"])) for column in columns)
        + "</tr>"
        for one in documents[0]["scenarios"]
    ]
    names = [escape(str(document["stack"])) for document in documents]
    return PAGE.substitute(
        stacks=", ".join(names),
        suite=escape(f"{documents[0]['suite']} {documents[0]['suite_version']}"),
        seed=documents[0]["seed"],
        heads="".join(f"<th>{name}</th>" for name in names),
        rows="\n".join(rows),
        undisturbed=_undisturbed(documents),
        means="".join(f'<td class="score">{document["score"]:.1f}</td>' for document in documents),
        settings="\n".join(_settings(document) for document in documents),
    )


def _undisturbed(documents: Sequence[Mapping[str, Any]]) -> str:
    """A row for each undisturbed transfer: the time that the path needs, and that of each stack."""
    columns = [{one["transfer"]: one for one in document["undisturbed"]} for document in documents]
    return "\n".join(
        f"<tr><td>undisturbed</td><td>{escape(transfer)}: the path needs {one['path_s']:.4g} s</td>"
        + "".join(_time(column.get(transfer)) for column in columns)
        + "</tr>"
        for transfer, one in columns[0].items()
    )


def _time(one: Mapping[str, Any] | None) -> str:
    took_s = one and one["took_s"]
    return f'<td class="score">{took_s:.4g} s</td>' if took_s else "<td></td>"


def _cell(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "<td></td>"
    score = one["score"]
    details = f"{one['unneeded_bytes'] / 1e3:.0f} kB"
    if one["excess_s"] is not None:
        details = f"{one['excess_s'] - one['link_s']:.2f} s, {details}"
    text = f"{score:.0f}" if one["ended"] == "recovered" else escape(one["ended"])
    if one["said"]:
        text = f'<abbr title="{escape(one["said"])}">{text}</abbr>'
    runs = one.get("runs", ())
    if len(runs) > 1:
        details += f"<br>{runs[0]:.0f} to {runs[-1]:.0f}"
    if one.get("declared_losses"):
        details += f"<br>{one['spurious_losses']} of {one['declared_losses']} losses spurious"
    if one.get("resume_s") is not None:
        details += f"<br>resumes after {one['resume_s']:.2f} s"
    late = " late" if one["doubts"] else ""
    colour = f"hsl({1.2 * score:.0f} 65% 78%)"
    return (
        f'<td class="score{late}" style="background: {colour}">{text}<small>{details}</small></td>'
    )


def _settings(document: Mapping[str, Any]) -> str:
    """The settings of a column."""
    settings = [f"{key}={value}" for key, value in document["set"].items()]
    settings += [f"{name}: {words}" for name, words in document["command"].items()]
    name = escape(str(document["stack"]))
    made = escape("; ".join(settings)) or "default settings"
    return f"<p><b>{name}</b>: <code>{made}</code></p>"
