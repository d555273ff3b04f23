"""The text that a terminal shows of a diagnosis written by hand."""

import time
from pathlib import Path

import pytest

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
    silence,
    stack,
    timeout,
)
from program import printed, with_style
from rtolab.diagnosis import tables

WORST = connection(
    1,
    time_lost=1.5,
    stack=stack("Linux", "Android"),
    retransmissions=[
        retransmission(4, verdict="unneeded"),
        retransmission(5),
        retransmission(6),
    ],
    timeouts=[timeout(4, **{"class": "spurious"})],
    episodes=[
        episode(0.5, 4),
        episode(1.5, 14, **{"from": "client"}),
        episode(2, 24),
        episode(2.5, 34),
    ],
    silences=[
        silence(0.25, "network"),
        silence(1, "application"),
        silence(2, "unknown", **{"for": "client"}),
        silence(3, "window"),
        silence(4, "host"),
    ],
    habits=[{"from": "client", "about": "<delays> ACKs", "frames": [1, 2, 3, 4, 5, 6]}],
)
AT_RECEIVER = connection(
    2,
    vantage="receiver",
    time_lost=None,
    retransmissions=[retransmission(8, verdict="unknown")],
)
ANYWHERE = connection(
    3, vantage="unknown", retransmissions=[retransmission(9)], timeouts=[timeout(9)], time_lost=0.5
)
QUIET = connection(4)
SEVERAL = capture(
    WORST,
    AT_RECEIVER,
    QUIET,
    ANYWHERE,
    totals={
        "unneeded": 1,
        "needed": 3,
        "unknown": 2,
        "spurious": 4,
        "ack_lost": 5,
        "genuine": 6,
        "unknown_timeouts": 7,
    },
)


def expected(name: str) -> list[str]:
    """The lines of a file beside this one, which shows a screen of 120 columns."""
    file = Path(__file__).parent / "printed" / f"{name}.txt"
    return file.read_text(encoding="utf-8").splitlines()


def lines(text: str) -> list[str]:
    """The lines without spaces at their ends."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def test_the_connections_of_a_capture_are_shown_with_their_episodes() -> None:
    assert lines(printed(tables.diagnosis(SEVERAL, 3))) == expected("capture")


def test_names_of_what_is_shown_are_bold_and_what_is_left_out_is_dim() -> None:
    shown = tables.diagnosis(SEVERAL, 1)
    assert with_style(shown, "dim") == [
        "12 TCP packets, 4 connections, 5 retransmissions",
        "captured 2025-12-31 23:59:58 to 2026-01-01 00:00:01 UTC",
        "[1 < 2]",
        "#1 and 1 more episode",
        "#1 and 2 more silences",
        "and 2 more connections: --top 3",
    ]
    assert "and 1 more connection: --top 3" in printed(tables.diagnosis(SEVERAL, 2))
    bold = with_style(shown, "bold")
    assert bold[0] == "folder/<some>.pcapng"
    # The answer, three episodes, three silences and a finding.
    assert [text for text in bold if text.startswith("#1")] == [
        "#1",
        "#1 0.500 s (23:59:59 UTC), frame 4:",
        "#1 1.500 s (00:00:00 UTC), frame 14, data of the client:",
        "#1 2.000 s (00:00:00 UTC), frame 24:",
        *["#1"] * 4,
    ]
    assert bold.count("#") == 1


def test_times_are_in_utc_wherever_the_reader_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        text = printed(tables.diagnosis(SEVERAL, 1))
    time.tzset()
    assert "captured 2025-12-31 23:59:58 to 2026-01-01 00:00:01 UTC" in text
    assert "#1 1.500 s (00:00:00 UTC), frame 14" in text


def test_a_single_connection_has_no_totals_and_its_answer_once() -> None:
    one = connection(1, stack=stack("Linux"), retransmissions=[retransmission(4)])
    one["episodes"] = [episode(1, 10 * n) for n in (1, 2, 3)]
    one["silences"] = [silence(n, "window") for n in (1, 2, 3)]
    found = capture(one, summary={"packets": 1, "ended": 1_767_225_600.0 - 1})
    text = printed(tables.diagnosis(found, 1))
    assert lines(text)[1:3] == [
        "1 TCP packet, 1 connection, 1 retransmission",
        "captured 2025-12-31 23:59:58 to 23:59:59 UTC",
    ]
    for absent in ("all connections", "Of `1`", "more", "Captured at"):
        assert absent not in text, absent
    assert "the application of the server did not read: its window was closed" in text
    last = "10.9.0.1 looks like Linux (90 % sure, frame 2): window 64240; MSS 1460"
    assert lines(text)[-1] == last


def test_a_capture_without_tcp_has_no_time_and_no_table() -> None:
    found = capture(
        summary={"packets": 0},
        skipped={
            "fragments": 1,
            "overlapping": 2,
            "malformed": 3,
            "untimed": 4,
            "unknown_link": 5,
            "dropped": 1,
            "link_types": [147, 148],
        },
    )
    skipped = (
        "skipped: 1 fragments of IP packets that stayed incomplete, 2 fragments of IP packets with "
        "overlaps, 3 packets without a complete TCP header, 4 packets without a timestamp, 5 "
        "packets of interfaces with unknown link types (147, 148)"
    )
    lacks = "dropped by the capture: 1 packet"
    words = " ".join(printed(tables.diagnosis(found, 3)).split())
    assert words == (
        "folder/<some>.pcapng 0 TCP packets, 0 connections, 0 retransmissions "
        f"{skipped} {lacks} It lost `a <packet>`. [1 < 2] So be it."
    )
    assert " ".join(with_style(tables.diagnosis(found, 3), "dim")).endswith(f"{lacks} [1 < 2]")


def test_duplicate_and_missing_packets_are_counted_by_their_cause() -> None:
    found = capture(
        connection(1, captured_twice=1, duplicated=2, missed_bytes=1, capture_points=1),
        connection(2, captured_twice=3, duplicated=1, missed_bytes=1000, capture_points=2),
        connection(3, captured_twice=4, capture_points=2),
    )
    assert found.lacks == (
        "captured at two points: 7 packets; captured twice or duplicated by the network: 1 packet; "
        "duplicated by the network: 3 data segments; acknowledged, not captured: 1001 bytes"
    )
    assert capture(connection(1)).lacks == ""
    assert capture(connection(1)).passed_over == ""


def test_the_surest_guess_at_the_system_of_a_host_is_shown() -> None:
    guesses: tuple[dict[str, object], ...] = (
        {"stack": stack("Linux", confidence=0.5)},
        {"stack": stack("Windows", confidence=0.75)},
        {"stack": stack("FreeBSD", confidence=0.75)},
        {"stack": stack("macOS", confidence=0.6), "sender": "client", "client": "[fe80::1]:4000"},
        {"stack": None, "sender": "client"},
    )
    shown = [connection(number) | guess for number, guess in enumerate(guesses)]
    assert tables.stacks(shown) == [
        "10.9.0.1 looks like Windows (75 % sure, frame 2): window 64240; MSS 1460",
        "[fe80::1] looks like macOS (60 % sure, frame 2): window 64240; MSS 1460",
    ]
    three = connection(1, stack=stack("Linux", "Android", "ChromeOS"))
    assert "may be Linux, Android or ChromeOS; their SYNs" in tables.stacks([three])[0]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, "0 / 0 / 0 / 0"),
        ({"only_from": "server"}, "-"),
        ({"only_from": "server", "timeouts": [timeout(1)]}, "-"),
        ({"vantage": "receiver"}, "-"),
        ({"vantage": "receiver", "timeouts": [timeout(1)]}, "0 / 0 / 1 / 0"),
        ({"vantage": "between"}, "0 / 0 / 0 / 0"),
    ],
)
def test_timeouts_that_a_capture_cannot_show_are_not_counted_as_none(
    given: dict[str, object], shown: str
) -> None:
    assert tables.classes_of(connection(1, **given)) == shown


def outcome(sender: str, needed: int, **given: object) -> dict[str, object]:
    row = {"sender": sender, "unneeded": 0, "needed": needed, "timeouts": 1, "elapsed_s": 2.5}
    return row | {"time_lost_s": 0.25, "detected_s": None, "set": {}} | given


REPLAYED = {
    "connection": 7,
    "agrees": True,
    "advice": [{"text": "Use F-RTO.", "basis": "3 to 1"}],
    "captured": {
        "unneeded": 3,
        "needed": 2,
        "unknown": 1,
        "timeouts": 4,
        "elapsed_s": 5.25,
    },
    "nearest": outcome(
        "linux",
        2,
        unneeded=3,
        elapsed_s=5.125,
        set={
            "kernel.sack": False,
            "kernel.frto": 2,
            "kernel.rto_min": "50 MS",
            "kernel.congestion": "Reno",
            "kernel.timestamps": True,
            "delay": "TRUE",
        },
    ),
    "senders": [outcome("sack", 1), outcome("sack+frto", 0, detected_s=0.375)],
    "linux": [outcome("", 5, setting="tcp_frto=0", elapsed_s=None, time_lost_s=None)],
}


def test_other_senders_and_settings_are_shown_beside_the_capture() -> None:
    shown = tables.what_if(REPLAYED)
    assert lines(printed(shown))[:-1] == expected("replays")
    assert with_style(shown, "bold")[0] == "What if: connection #7"
    assert " ".join(with_style(shown, "dim")).startswith("[3 to 1] Captured: 3 unneeded")


def test_outcomes_that_do_not_agree_with_the_capture_are_not_shown() -> None:
    nearest = outcome("sack", 9, elapsed_s=None)
    text = printed(tables.what_if(REPLAYED | {"agrees": False, "nearest": nearest}))
    words = " ".join(text.split())
    assert words == (
        "What if: connection #7 Use F-RTO. [3 to 1] Captured: 3 unneeded and 2 needed "
        "retransmissions, 1 unknown, 5.250 s. Simulated over the path inferred: 0 and 9, - s, by "
        "sack. They do not agree, so that the outcomes describe another path than the capture's."
    )


def test_why_nothing_was_replayed_is_shown() -> None:
    shown = tables.what_if({"connection": None, "error": "there is no connection"})
    assert printed(shown) == "What if\nNothing was replayed: there is no connection.\n"
    assert with_style(shown, "bold") == ["What if"]


LOG = log(
    logged(
        1,
        losses=[*map(loss, range(10, 16)), loss(20, "spurious")],
        timeouts=[probe_timeout(30), probe_timeout(31)],
        episodes=[
            recovery(1, 10),
            recovery(2, 11, end=None),
            recovery(3, 20, losses=2, spurious=2, cwnd=(None, None), **{"class": "spurious"}),
            recovery(4, 40),
        ],
    ),
    logged(2),
    logged(3, losses=[loss(50, "unknown")], implementation=None, vantage="client"),
)


def test_the_losses_and_timeouts_of_a_log_are_shown() -> None:
    shown = tables.diagnosis(LOG, 1)
    assert lines(printed(shown)) == expected("log")
    assert with_style(shown, "dim") == [
        "21 events, 1 packet, 3 connections, qlog 0.3",
        "captured 2025-12-31 23:59:58 to 23:59:59 UTC",
        "[1 event]",
        "and 1 more connection: --top 2",
    ]
    assert with_style(shown, "bold")[0] == "folder/<some>.sqlog"
    every = printed(tables.diagnosis(LOG, 3))
    assert "#3 declared lost: 1 unknown (event 50)" in every
    assert [line.split()[:3] for line in lines(every) if " client " in line] == [
        ["3", "client", "0"]
    ]
    assert "more connection" not in every


def test_a_log_without_losses_has_no_table_and_names_what_was_unusual() -> None:
    found = log(
        logged(1),
        summary={
            "began": None,
            "qlog_version": None,
            "malformed": 1,
            "out_of_order": 2,
            "first_malformed": "line 3: no time",
            "first_out_of_order": 7,
        },
    )
    words = " ".join(printed(tables.diagnosis(found, 1)).split())
    assert words == (
        "folder/<some>.sqlog 21 events, 1 packet, 1 connection, qlog of unknown version "
        "skipped: 1 event; line 3: no time; sorted: 2 events out of time order, first event 7 "
        "The log is <short>. [1 event]"
    )
    assert len(with_style(tables.diagnosis(found, 1), "dim")) == 3
    assert found.lacks == ""


def test_episodes_at_the_limit_are_all_shown() -> None:
    three = [recovery(start, 10 * start) for start in (1, 2, 3)]
    assert "more" not in printed(
        tables.diagnosis(log(logged(1, losses=[loss(1)], episodes=three)), 1)
    )
    five = [loss(event) for event in range(1, 6)]
    text = printed(tables.diagnosis(log(logged(1, losses=five)), 1))
    assert "declared lost: 5 genuine (events 1, 2, 3, 4, 5)" in text
