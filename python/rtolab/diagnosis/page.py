"""A diagnosis as one HTML page with annotated time-sequence plots, which opens offline."""

import base64
import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import polars as pl

from rtolab import _rtolab
from rtolab.campaign import Figure
from rtolab.diagnosis import Diagnosis, logs
from rtolab.diagnosis.tables import (
    NAMES_OF_OUTCOMES,
    agreement,
    begins,
    captured,
    classes_of,
    compared,
    has_something,
    heading,
    outcomes,
    silence,
    stacks,
    time_lost,
)
from rtolab.diagnosis.verdicts import CLASSES, VERDICTS
from rtolab.files import write_text
from rtolab.plot.style import styled
from rtolab.plot.trace_panels import DELAYED_S, sequence
from rtolab.plot.trace_plot import stacked
from rtolab.plot.views import FlowPackets, View
from rtolab.report import _bundle, _cells, _figure, _table
from rtolab.text import counted

DRAWN = 12
"""The number of connections with a figure, the worst first."""
MOST_PACKETS = 40_000
"""The most packets of a connection in its figure."""
MOST_ROWS = 50
"""The most connections in the table at the top."""


def write(found: Sequence[Diagnosis], file: Path) -> Path:
    """Write the page.

    Raises:
        OSError: it cannot be written.
        Error: a capture cannot be read again.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, page(found))
    return file


def page(found: Sequence[Diagnosis]) -> str:
    """The page as text."""
    frame = Path(__file__).parent.with_name("report.html").read_text(encoding="utf-8")
    head, rest = frame.split("<body>")
    script = rest[rest.index("<script>$bundle") :]
    head = head.replace("published and measured", "retransmissions and their causes")
    body = "\n".join(_capture(one, f"capture-{at}") for at, one in enumerate(found, 1))
    template = Template(f"{head}<body>\n<h1>Retransmissions and their causes</h1>\n$body\n{script}")
    return template.substitute(body=body, bundle=_bundle())


def _capture(found: Diagnosis, name: str) -> str:
    if found.is_log:
        problems = [one for one in (found.error, found.passed_over) if one]
        notes = "".join(f"<p><b>{escape(one)}</b></p>" for one in problems)
        return logs.section(found, name, _paragraph(found.document["answer"]), notes)
    shown = [one for one in found.worst if has_something(one)]
    drawn = [one["number"] for one in shown[:DRAWN]]
    traces = json.loads(_rtolab.trace(found.capture, drawn, MOST_PACKETS)) if drawn else {}
    error = f"<p><b>{escape(found.error)}</b></p>" if found.error else ""
    said = (found.passed_over, found.lacks)
    error += "".join(f"<p>{escape(one)}</p>" for one in said if one)
    answers = {one["connection"]: one for one in found.document["answer"]["connections"]}
    sections = [
        _connection(
            (found, f"{name}-{one['number']}"),
            one,
            answers.get(one["number"]) if found.document["summary"]["connections"] > 1 else None,
            traces.get(str(one["number"])) if at else None,
        )
        for at, one in enumerate(shown)
    ]
    if "what_if" in found.document:
        # It describes the worst connection, which comes first.
        sections.insert(1, _what_if(found.document["what_if"]))
    title = escape(Path(found.capture).name)
    summary = found.document["summary"]
    counts = (
        f"<p>TCP packets: {summary['packets']}; connections: {summary['connections']}; "
        f"retransmissions: {summary['retransmissions']}; {escape(captured(found))}.</p>"
    )
    overview = _overview(shown, name) if shown else ""
    answer = _paragraph(found.document["answer"])
    # The answer, one picture, then the details.
    packets = traces.get(str(shown[0]["number"])) if shown else None
    picture = _figure(_picture(shown[0], packets)) if packets else ""
    systems = "".join(f"<li>{escape(said)}</li>" for said in stacks(shown))
    systems = f"<ul>{systems}</ul>" if systems else ""
    head = (
        f'<header class="paper"><h2>{title}</h2>{answer}{picture}{error}{counts}'
        f'<div class="wide">{overview}</div>{systems}</header>'
    )
    return "\n".join([head, *sections])


def _paragraph(answer: Mapping[str, Any]) -> str:
    """The answer in words, with the figures beside each sentence."""
    said = "".join(
        f'{_coded(sentence["text"])} <span class="again">[{escape(sentence["basis"])}]</span> '
        if sentence["basis"]
        else f"{_coded(sentence['text'])} "
        for sentence in answer["sentences"]
    )
    return f"<p>{said}</p>"


def _coded(text: str) -> str:
    """Text in which passages in backticks are code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _overview(shown: Sequence[Mapping[str, Any]], name: str) -> str:
    """The table of connections, the worst first."""
    counted = ("retransmitted: " + ", ".join(VERDICTS), "timeouts: " + ", ".join(CLASSES))
    names = ("#", "client", "server", "seen at", *counted, "time lost (s)")
    body = "".join(
        _cells(
            f'<a href="#{name}-{one["number"]}">{one["number"]}</a>',
            escape(one["client"]),
            escape(one["server"]),
            one["vantage"],
            _counts(one["retransmissions"], "verdict", VERDICTS),
            classes_of(one).replace(" / ", ", "),
            time_lost(one),
        )
        for one in shown[:MOST_ROWS]
    )
    left = len(shown) - MOST_ROWS
    more = f"<p>And {left} more connections, below.</p>" if left > 0 else ""
    return _table(names, body) + more


def _counts(rows: Sequence[Mapping[str, Any]], key: str, names: Sequence[str]) -> str:
    return ", ".join(str(sum(row[key] == name for row in rows)) for name in names)


def _what_if(found: Mapping[str, Any]) -> str:
    """Other senders, and Linux with other settings, on the path of the worst connection."""
    if "error" in found:
        said = escape(f"Nothing was replayed: {found['error']}.")
        return f"<section><h3>{heading(found)}</h3><p>{said}</p></section>"
    tables = "".join(
        _table(
            (what, *NAMES_OF_OUTCOMES), "".join(_cells(*row) for row in outcomes(rows)), "numbers"
        )
        for what, rows in (compared(found) if found["agrees"] else [])
    )
    return (
        f"<section><h3>{heading(found)}</h3>"
        f"{_paragraph({'sentences': found['advice']})}"
        f'<p class="again">{escape(agreement(found))}</p>'
        f'<details><summary>Other senders and settings</summary><div class="wide">{tables}</div>'
        "</details></section>"
    )


def _connection(
    place: tuple[Diagnosis, str],
    one: Mapping[str, Any],
    answer: Mapping[str, Any] | None,
    packets: list[dict[str, Any]] | None,
) -> str:
    found, anchor = place
    title = f"{one['number']}: {escape(one['client'])} and {escape(one['server'])}"
    where = {
        "sender": "at the sender",
        "receiver": "at the receiver",
        "between": "between the ends",
        "unknown": "at an unknown place",
    }[one["vantage"]]
    episodes = "".join(
        f"<li>At {begins(found, one, episode)}: {escape(episode['description'])}</li>"
        for episode in one["episodes"]
    )
    findings = "".join(
        f"<li>The {finding['from']} {escape(finding['about'])} "
        f"(frames {', '.join(map(str, finding['frames']))}).</li>"
        for finding in one["habits"]
    )
    silences = "".join(f"<li>At {escape(silence(found, row))}.</li>" for row in one["silences"])
    said = _paragraph(answer) if answer else ""
    figure = _figure(_picture(one, packets)) if packets else ""
    resent = counted(len(one["retransmissions"]), "retransmission")
    return f"""<section id="{anchor}"><h3>{title}</h3>
{said}{figure}
<p>The capture was made {where}; the {one["sender"]} sends.</p>
<ul>{episodes}{silences}{findings}</ul>
<details><summary>{resent}</summary><div class="wide">{_rows(one)}</div></details>
</section>"""


def _rows(one: Mapping[str, Any]) -> str:
    classes = {timeout["frame"]: timeout["class"] for timeout in one["timeouts"]}
    names = ("frame", "at (s)", "from", "bytes", "trigger", "verdict", "confidence", "evidence")

    def kinds(resent: Mapping[str, Any], key: str) -> str:
        return ", ".join(found["kind"] for found in resent[key])

    body = "".join(
        _cells(
            str(resent["frame"]),
            f"{resent['t']:.6f}",
            resent["from"],
            str(resent["len"]),
            resent["trigger"]
            + (f": {classes[frame]}" if (frame := resent["frame"]) in classes else ""),
            resent["verdict"],
            f"{resent['confidence']:.2f}",
            kinds(resent, "evidence")
            + (f" (against: {kinds(resent, 'against')})" if resent["against"] else ""),
        )
        for resent in one["retransmissions"]
    )
    return _table(names, body)


def _picture(one: Mapping[str, Any], packets: list[dict[str, Any]]) -> Figure:
    view = _view(one, packets)
    chart = styled(
        stacked([sequence(FlowPackets.at(view, "sender"), DELAYED_S, labelled=True)]),
        view.title("packets as captured"),
    )
    spec = json.dumps(chart.to_dict(validate=False)).encode()
    packed = base64.b64encode(gzip.compress(spec, mtime=0)).decode()
    caption = "Packets by verdict; shaded: no acknowledgment arrived."
    return Figure(f"connection {one['number']}", caption, packed)


def _view(one: Mapping[str, Any], packets: list[dict[str, Any]]) -> View:
    """The packets in the form of a traced run."""
    sender = _drawn(one)
    verdicts = {resent["frame"]: resent["verdict"] for resent in one["retransmissions"]}
    mine = [resent for resent in one["timeouts"] if resent["from"] == sender]
    episodes = [episode for episode in one["episodes"] if episode["from"] == sender]
    segments = pl.DataFrame(
        [_segment(packet, sender, verdicts) for packet in packets], infer_schema_length=None
    )
    timeouts = pl.DataFrame(
        [
            {
                "at_s": timeout["t"],
                "kind": "timeout",
                "needed": timeout["class"] == "genuine",
                "rto_s": timeout["after"],
                "verdict": timeout["class"],
            }
            for timeout in mine
        ],
        schema={
            "at_s": pl.Float64,
            "kind": pl.String,
            "needed": pl.Boolean,
            "rto_s": pl.Float64,
            "verdict": pl.String,
        },
    )
    stalls = pl.DataFrame(
        [
            {
                "from_s": episode["stalled"][0],
                "to_s": episode["stalled"][1],
                "kind": "stall",
                "link": "path",
                "direction": "both",
            }
            for episode in episodes
            if episode["stalled"]
        ],
        schema={
            "from_s": pl.Float64,
            "to_s": pl.Float64,
            "kind": pl.String,
            "link": pl.String,
            "direction": pl.String,
        },
    )
    heading = f"{one['client']} and {one['server']}"
    span = (packets[0]["t"], packets[-1]["t"])
    return View(heading, f"data of the {sender}", segments, timeouts, pl.DataFrame(), stalls, span)


def _drawn(one: Mapping[str, Any]) -> str:
    """The end with more retransmissions, or else the one that sends most."""
    counts = Counter(resent["from"] for resent in one["retransmissions"])
    return max(("client", "server"), key=lambda end: (counts[end], end == one["sender"]))


def _segment(
    packet: Mapping[str, Any], sender: str, verdicts: Mapping[int, str]
) -> dict[str, object]:
    verdict = verdicts.get(packet["frame"])
    row: dict[str, object] = {
        "place": "sender",
        "event": "sent" if packet["from"] == sender else "received",
        "at_s": packet["t"],
        "seq": packet["seq"],
        "len": packet["len"],
        "ack": packet["ack"],
        "window_edge": packet["window_edge"],
        "retransmission": verdict is not None,
        "unneeded": verdict == "unneeded",
        "fate": verdict or "sent once",
        "held_s": 0.0,
    }
    for index in range(4):
        block = packet["sack"][index] if index < len(packet["sack"]) else (None, None)
        row[f"sack_{index + 1}_start"], row[f"sack_{index + 1}_end"] = block
    return row
