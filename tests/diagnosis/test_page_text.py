"""The HTML page of diagnoses written by hand."""

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_printed import LOG, REPLAYED

from handmade_diagnoses import (
    capture,
    connection,
    episode,
    log,
    logged,
    loss,
    probe_timeout,
    recovery,
    retransmission,
    sentences,
    silence,
    stack,
    timeout,
)
from rtolab import _rtolab
from rtolab.campaign import Figure
from rtolab.diagnosis import page


def packet(frame: int, at_s: float, end: str, **given: Any) -> dict[str, Any]:
    """A packet of 100 bytes as `_rtolab.trace` returns it."""
    row = {"frame": frame, "t": at_s, "from": end, "seq": 1000 * frame, "len": 100, "ack": 7}
    return row | {"window_edge": 65_535, "sack": []} | given


PACKETS = [
    packet(1, 0.25, "client", len=0, sack=[(10, 20), (30, 40)]),
    packet(4, 0.5, "server"),
    packet(5, 0.75, "server"),
    packet(6, 1.25, "server"),
]
WORST = connection(
    1,
    time_lost=1.5,
    stack=stack("<Linux>"),
    retransmissions=[
        retransmission(
            4,
            verdict="unneeded",
            evidence=[{"kind": "dsack"}, {"kind": "timestamp"}],
            against=[{"kind": "rtt"}],
        ),
        retransmission(5, trigger="fast", confidence=1.0, evidence=[{"kind": "<sack>"}]),
    ],
    timeouts=[timeout(4, **{"class": "spurious"}), timeout(9, **{"from": "client"})],
    episodes=[
        episode(0.5, 4, stalled=(0.25, 0.75)),
        episode(1.5, 14, **{"from": "client"}, stalled=(1.0, 1.5)),
        episode(2.0, 24),
    ],
    silences=[silence(1.0, "network")],
    habits=[{"from": "client", "about": "<delays> ACKs", "frames": [1, 2]}],
)


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[int], int]]:
    """Stands in for reading the packets of a capture; the calls."""
    calls: list[tuple[str, list[int], int]] = []

    def trace(file: str, numbers: list[int], most: int) -> str:
        calls.append((file, numbers, most))
        return json.dumps(dict.fromkeys(numbers, PACKETS))

    monkeypatch.setattr(_rtolab, "trace", trace)
    return calls


def body(text: str) -> str:
    """The visible part of a page, without its charts and scripts."""
    shown = text.partition("<body>")[2].partition("<script>")[0]
    return re.sub(r'<script type="application/gzip">[^<]*</script>', "CHART", shown)


def test_a_page_has_the_answer_a_figure_the_connections_and_their_details(
    traced: list[tuple[str, list[int], int]],
) -> None:
    other = connection(2, client="[::1]:4", vantage="unknown", silences=[silence(2.0, "unknown")])
    text = page.page([capture(WORST, other, connection(3), error="cut <short>")])
    shown = body(text)
    title = shown.index("<h1>Retransmissions and their causes</h1>\n")
    header, first, second = shown[title:].split("\n<section ")
    head = re.sub("\n+", "", header.partition("\n")[2])
    figure = (
        '<figure><div class="chart">CHART</div><figcaption>Packets by verdict; shaded: no '
        "acknowledgment arrived.</figcaption></figure>"
    )
    names = (
        *("#", "client", "server", "seen at", "retransmitted: unneeded, needed, unknown"),
        *("timeouts: spurious, ack-lost, genuine, unknown", "time lost (s)"),
    )
    rows = (
        *('<a href="#capture-1-1">1</a>', "10.0.0.1:40001", "10.9.0.1:80", "sender"),
        *("1, 1, 0", "1, 0, 1, 0", "1.500"),
        *('<a href="#capture-1-2">2</a>', "[::1]:4", "10.9.0.1:80", "unknown"),
        *("0, 0, 0", "0, 0, 0, 0", "0.000"),
    )
    cells = ["".join(f"<td>{cell}</td>" for cell in rows[at : at + 7]) for at in (0, 7)]
    assert head == (
        '<header class="paper"><h2>&lt;some&gt;.pcapng</h2>'
        '<p>It lost <code>a &lt;packet&gt;</code>. <span class="again">[1 &lt; 2]</span> So be it. '
        f"</p>{figure}<p><b>cut &lt;short&gt;</b></p>"
        "<p>TCP packets: 12; connections: 3; retransmissions: 2; captured 2025-12-31 23:59:58 to "
        "2026-01-01 00:00:01 UTC.</p>"
        '<div class="wide"><div class="wide"><table><thead><tr>'
        + "".join(f"<th>{name}</th>" for name in names)
        + "</tr></thead><tbody>"
        + "".join(f"<tr>{row}</tr>" for row in cells)
        + "</tbody></table></div></div>"
        "<ul><li>10.9.0.1 looks like &lt;Linux&gt; (90 % sure, frame 2): window 64240; MSS 1460"
        "</li></ul></header>"
    )
    listed = (
        "<ul><li>At 0.500 s (23:59:59 UTC), frame 4: frame 4 &lt;was&gt; lost</li>"
        "<li>At 1.500 s (00:00:00 UTC), frame 14, data of the client: frame 14 &lt;was&gt; "
        "lost</li>"
        "<li>At 2.000 s (00:00:00 UTC), frame 24: frame 24 &lt;was&gt; lost</li>"
        "<li>At 1.000 s (23:59:59 UTC): for 2.250 s an acknowledgment by the server came late "
        "(until frame 9).</li>"
        "<li>The client &lt;delays&gt; ACKs (frames 1, 2).</li></ul>"
    )
    columns = ("frame", "at (s)", "from", "bytes", "trigger", "verdict", "confidence", "evidence")
    resent = (
        *("4", "0.500000", "server", "100", "timeout: spurious", "unneeded", "0.88"),
        "dsack, timestamp (against: rtt)",
        *("5", "0.625000", "server", "100", "fast", "needed", "1.00", "<sack>"),
    )
    cells = ["".join(f"<td>{cell}</td>" for cell in resent[at : at + 8]) for at in (0, 8)]
    # The first connection's figure is at the top.
    assert re.sub("\n+", "", first) == (
        'id="capture-1-1"><h3>1: 10.0.0.1:40001 and 10.9.0.1:80</h3><p>Of <code>1</code>. </p>'
        "<p>The capture was made at the sender; the server sends.</p>"
        f"{listed}<details><summary>2 retransmissions</summary>"
        '<div class="wide"><div class="wide"><table><thead><tr>'
        + "".join(f"<th>{name}</th>" for name in columns)
        + "</tr></thead><tbody>"
        + "".join(f"<tr>{row}</tr>" for row in cells)
        + "</tbody></table></div></div></details></section>"
    )
    assert second.startswith(
        'id="capture-1-2"><h3>2: [::1]:4 and 10.9.0.1:80</h3>\n<p>Of <code>2</code>. </p>\n<figure>'
    )
    assert "<p>The capture was made at an unknown place; the server sends.</p>" in second
    assert "<summary>0 retransmissions</summary>" in second
    assert "capture-1-3" not in shown
    assert traced == [("folder/<some>.pcapng", [1, 2], 40_000)]
    assert text.startswith("<!doctype html>")
    assert "retransmissions and their causes</title>" in text
    assert "published and measured" not in text


@pytest.mark.usefixtures("traced")
def test_each_capture_of_a_page_has_anchors_of_its_own() -> None:
    found = page.page([capture(WORST), LOG, capture(WORST, skipped={**SKIPPED, "untimed": 2})])
    anchors = re.findall(r'<section id="([^"]+)">', found)
    assert anchors == ["capture-1-1", "capture-2-1", "capture-2-3", "capture-3-1"]
    assert "<p>skipped: 2 packets without a timestamp</p>" in found
    # A single connection is answered at the top alone.
    assert "Of <code>1</code>" not in found


SKIPPED = {
    **dict.fromkeys(("fragments", "overlapping", "malformed", "unknown_link", "dropped"), 0),
    "link_types": [],
}


@pytest.mark.usefixtures("traced")
def test_a_capture_to_which_nothing_happened_has_no_table_and_no_figure() -> None:
    shown = body(page.page([capture(connection(1))]))
    assert '<div class="wide"></div></header>' in shown
    for absent in ("CHART", "<section", "<ul>", "<table"):
        assert absent not in shown, absent


def test_only_the_worst_connections_have_a_figure_and_a_row_at_the_top(
    traced: list[tuple[str, list[int], int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_picture", lambda *_: Figure("", "", ""))
    many = [connection(number, retransmissions=[retransmission(4)]) for number in range(1, 53)]
    shown = body(page.page([capture(*many)]))
    assert traced[0][1] == list(range(1, 13))
    assert shown.count("CHART") == 12
    assert shown.count('<td><a href="#capture-1-') == 50
    assert "<p>And 2 more connections, below.</p>" in shown
    assert shown.count("<section ") == 52
    assert "more connections" not in body(page.page([capture(*many[:50])]))


@pytest.mark.usefixtures("traced")
def test_other_senders_follow_the_worst_connection() -> None:
    two = (WORST, connection(2, retransmissions=[retransmission(4)]))
    shown = body(page.page([capture(*two, what_if=REPLAYED)]))
    headings = re.findall("<h3>(.*?)</h3>", shown)
    assert [heading.partition(":")[0] for heading in headings] == ["1", "What if", "2"]
    section = shown.partition("<section><h3>")[2].partition("</section>")[0]
    assert section.startswith(
        "What if: connection #7</h3><p>Use F-RTO. "
        '<span class="again">[3 to 1]</span> </p><p class="again">Captured: 3 unneeded and 2'
    )
    assert "<details><summary>Other senders and settings</summary>" in section
    for name in ("another sender", "Linux"):
        assert f'<table class="numbers"><thead><tr><th>{name}</th><th>unneeded</th>' in section
    row = "".join(f"<td>{cell}</td>" for cell in ("sack", 0, 1, 1, "2.500", "0.250", "-"))
    assert f"<tr>{row}</tr>" in section
    differs = capture(*two, what_if=REPLAYED | {"agrees": False})
    assert "<table" not in body(page.page([differs])).partition("What if")[2].partition("2: ")[0]
    error = {"connection": 1, "error": "no <path>"}
    assert (
        "<section><h3>What if: connection #1</h3><p>Nothing was replayed: no &lt;path&gt;.</p>"
        "</section>"
    ) in page.page([capture(*two, what_if=error)])


def test_a_log_has_its_losses_and_timeouts_on_the_page() -> None:
    found = log(
        logged(
            7,
            losses=[loss(10), loss(20, "spurious")],
            timeouts=[probe_timeout(30)],
            episodes=[recovery(1, 10)],
        ),
        summary={"malformed": 1, "first_malformed": "line <3>"},
        error="cut <short>",
    )
    shown = re.sub("\n+", "", body(page.page([found])))
    assert (
        '<header class="paper"><h2>folder/&lt;some&gt;.sqlog</h2><p>The log is &lt;short&gt;. '
        '<span class="again">[1 event]</span> </p><p><b>cut &lt;short&gt;</b></p>'
        "<p><b>skipped: 1 event; line &lt;3&gt;</b></p>"
        "<p>21 events, 1 packet, 1 connection, qlog 0.3.</p>"
    ) in shown
    overview = (
        *("7", "server &lt;quic&gt;", "1 / 1 / 0", "1 / 0 / 0 / 0"),
        *("1.500", "0.750", "3000", "2000", "0.125"),
    )
    assert "<tr>" + "".join(f"<td>{cell}</td>" for cell in overview) + "</tr>" in shown
    names = ("#", "log of", "declared lost: spurious, genuine, unknown")
    assert "".join(f"<th>{name}</th>" for name in names) in shown
    section = shown.partition("<section ")[2]
    lost = (
        "".join(
            f"<th>{name}</th>"
            for name in (
                *("event", "t", "packet_number", "trigger", "late", "verdict", "confidence"),
                "evidence",
            )
        ),
        "".join(
            f"<td>{cell}</td>"
            for cell in (
                *("10", "1.25", "20", "&lt;time&gt;", "-", "genuine", "0.123457"),
                "silence, acknowledged-later",
            )
        ),
    )
    assert section.startswith(
        'id="capture-1-7"><h3>7: the log of the server</h3><ul>'
        "<li>declared lost: 1 spurious (event 20), 1 genuine (event 10)</li>"
        "<li>probe timeouts: 1 spurious (event 30)</li>"
        "<li>1.000 s, event 10: recovery, 0.250 s: 1 packet declared lost, 0 spurious, cwnd 12000 "
        "to 6000 bytes</li></ul>"
        '<details><summary>Declared losses</summary><div class="wide"><div class="wide"><table>'
        f"<thead><tr>{lost[0]}</tr></thead><tbody><tr>{lost[1]}</tr><tr><td>20</td><td>2.5</td>"
    )
    probes = (
        *("event", "t", "space", "backoff", "after", "class", "confidence", "evidence"),
        *("30", "3.75", "initial", "1", "1", "spurious", "0.5", "silence"),
    )
    assert section.partition("<summary>Probe timeouts</summary>")[2] == (
        '<div class="wide"><div class="wide"><table><thead><tr>'
        + "".join(f"<th>{name}</th>" for name in probes[:8])
        + "</tr></thead><tbody><tr>"
        + "".join(f"<td>{cell}</td>" for cell in probes[8:])
        + "</tr></tbody></table></div></div></details></section>"
    )
    only = log(logged(1, losses=[loss(1)]))
    assert "Probe timeouts" not in page.page([only])


@pytest.mark.usefixtures("traced")
def test_a_figure_shows_the_packets_of_one_end() -> None:
    (chart, *_) = re.findall(
        r'<script type="application/gzip">([^<]*)</script>', page.page([capture(WORST)])
    )
    spec = json.loads(gzip.decompress(base64.b64decode(chart)))
    title = spec["title"]
    assert title["text"] == "10.0.0.1:40001 and 10.9.0.1:80"
    assert "data of the server" in str(title["subtitle"])
    assert "packets as captured" in str(title["subtitle"])


def test_packets_of_a_capture_are_shown_as_those_of_a_traced_run() -> None:
    view = page._view(WORST, PACKETS)
    assert (view.heading, view.span) == ("10.0.0.1:40001 and 10.9.0.1:80", (0.25, 1.25))
    by_event = view.segments.select(
        "event", "at_s", "seq", "len", "ack", "window_edge", "retransmission", "unneeded", "fate"
    )
    assert by_event.rows() == [
        ("received", 0.25, 1000, 0, 7, 65_535, False, False, "sent once"),
        ("sent", 0.5, 4000, 100, 7, 65_535, True, True, "unneeded"),
        ("sent", 0.75, 5000, 100, 7, 65_535, True, False, "needed"),
        ("sent", 1.25, 6000, 100, 7, 65_535, False, False, "sent once"),
    ]
    assert set(view.segments["place"]) == {"sender"}
    assert set(view.segments["held_s"]) == {0.0}
    blocks = [f"sack_{n}_{end}" for n in range(1, 5) for end in ("start", "end")]
    assert view.segments.select(blocks).row(0) == (10, 20, 30, 40, None, None, None, None)
    # Timeouts and stalls of the other end are not drawn.
    assert view.timeouts.rows(named=True) == [
        {"at_s": 0.5, "kind": "timeout", "needed": False, "rto_s": 0.5, "verdict": "spurious"}
    ]
    assert view.disturbances.rows(named=True) == [
        {"from_s": 0.25, "to_s": 0.75, "kind": "stall", "link": "path", "direction": "both"}
    ]
    genuine = page._view({**WORST, "timeouts": [timeout(4)], "episodes": []}, PACKETS)
    assert genuine.timeouts["needed"].to_list() == [True]
    assert genuine.disturbances.schema == view.disturbances.schema
    nothing = page._view({**WORST, "timeouts": []}, PACKETS).timeouts
    assert nothing.schema == pl.Schema(
        {
            "at_s": pl.Float64,
            "kind": pl.String,
            "needed": pl.Boolean,
            "rto_s": pl.Float64,
            "verdict": pl.String,
        }
    )


@pytest.mark.parametrize(
    ("resent", "sender", "drawn"),
    [
        ([], "client", "client"),
        ([], "server", "server"),
        (["client"], "server", "client"),
        (["client", "server"], "server", "server"),
        (["client", "server"], "client", "client"),
        (["server", "server", "client"], "client", "server"),
    ],
)
def test_a_figure_is_of_the_end_that_retransmits_more(
    resent: list[str], sender: str, drawn: str
) -> None:
    rows = [retransmission(4, **{"from": end}) for end in resent]
    view = page._view(connection(1, sender=sender, retransmissions=rows), PACKETS)
    assert view.flow == f"data of the {drawn}"


def test_a_page_is_written_into_a_new_folder(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "page.html"
    found = log(answer={"sentences": sentences("Ok.")})
    assert page.write([found], file) == file
    assert file.read_text(encoding="utf-8") == page.page([found])
    assert page.write([found], file) == file
