"""The text, the document and the commands of recommendations written by hand."""

import ipaddress
from dataclasses import replace
from math import inf
from pathlib import Path

import polars as pl
import pytest

from program import printed, with_style
from rtolab.stats import Estimate
from rtolab.tuning import Cap, Minimum, PathClass, Source, Tuning
from rtolab.tuning.commands import commands, delayed_ack, is_unsafe, milliseconds, rules, settings
from rtolab.tuning.picture import picture
from rtolab.tuning.text import (
    amount,
    answer,
    document,
    duration,
    heading,
    interval,
    page,
    percent,
    warnings,
)


def minimum(seconds: float, saved: float, *, spurious: float = 0.0, late: float = 0.0) -> Minimum:
    """A minimum RTO with intervals of a half to the double, and four spurious probes."""
    return Minimum(
        seconds=seconds,
        late=late,
        spurious=Estimate(spurious, spurious / 2, spurious * 2),
        probes=Estimate(4.0, 2.0, 8.0),
        saved=Estimate(saved, saved / 2, saved * 2),
        delayed=0.25,
        preempted=0.5,
        unknown=0.75,
    )


MINIMUMS = (
    minimum(0.005, 1234.5, spurious=12, late=0.0123),
    minimum(0.015, 1000.0),
    minimum(0.02, 50.0, spurious=0.5, late=0.001),
    minimum(0.2, 0.0, spurious=0.4),
    minimum(0.25, -3.0),
    minimum(1.0, -150.0),
)
NEAR = PathClass(
    network=ipaddress.ip_network("10.0.0.0/24"),
    round_trip=(0.0, 0.001),
    connections=3,
    waits=5000,
    genuine=10,
    seconds=60.0,
    minimums=MINIMUMS,
    limit=0.02,
    recommended=0.02,
    without_delay=0.02,
    timestamps=True,
)
SOURCE = Source("some.pcapng", 60.0, pl.DataFrame(), pl.DataFrame())
CAPS = (Cap(60.0, 1.0, 2.0), Cap(10.0, 150.4, 0.25))


def tuning(*classes: PathClass, cap: float | None = None, seconds: float = 60.0) -> Tuning:
    unused = {"captured at the receiver": 1}
    return Tuning((replace(SOURCE, seconds=seconds),), classes, unused, 40.0, CAPS, cap)


def test_the_advice_says_what_it_saves_and_what_it_risks() -> None:
    # The interval of spurious timeouts ends at 1; with 200 ms it begins at 0.2.
    said = (
        "Set the minimum RTO to 20 ms for 10.0.0.0/24: repairs of real losses come 50 s a day "
        "earlier than with 200 ms (10 repairs in the capture), and the capture shows no added "
        "spurious timeout (95 %: at most 0.8 a day)."
    )
    assert answer(tuning(NEAR)) == said
    # Of several prefixes, that which saves most is named.
    less = replace(NEAR, network=ipaddress.ip_network("10.1.0.0/24"), recommended=0.005, genuine=1)
    two = answer(tuning(NEAR, less))
    assert two.startswith(
        "Set the minimum RTO to 5 ms for 10.1.0.0/24 (1 other prefix below): repairs of real "
        "losses come 1,234 s a day earlier than with 200 ms (1 repair in the capture), "
    )
    third = replace(NEAR, network=ipaddress.ip_network("10.2.0.0/24"))
    assert "10.1.0.0/24 (2 other prefixes below): " in answer(tuning(NEAR, less, third))
    # What a smaller minimum adds is never less than nothing.
    sure = replace(NEAR, minimums=(minimum(0.02, 50.0), minimum(0.2, 0.0, spurious=0.4)))
    assert answer(tuning(sure)).endswith("(95 %: at most 0 a day).")


def test_no_advice_has_its_reason() -> None:
    none = replace(NEAR, recommended=None)
    few = "No advice: too little data. "
    for given, said in (
        (
            [],
            (
                "No advice: no direction of this capture shows how late acknowledgments come (1 "
                "captured at the receiver). Capture both directions at the sender."
            ),
        ),
        (
            [replace(none, limit=0.2)],
            (
                "Keep the minimum RTO of 200 ms: acknowledgments come so late here that any "
                "smaller one adds spurious timeouts."
            ),
        ),
        (
            [replace(none, waits=999), replace(none, waits=1)],
            (
                f"{few}The largest class of paths has 999 waits for an acknowledgment; 1000 are "
                "needed. Capture for longer."
            ),
        ),
        (
            [replace(none, waits=1)],
            (
                f"{few}The largest class of paths has 1 wait for an acknowledgment; 1000 are "
                "needed. Capture for longer."
            ),
        ),
        (
            [replace(none, waits=1000, genuine=1)],
            (
                f"{few}In a class of paths timeouts and probes repaired at most 1 loss; 5 are "
                "needed. Capture for longer."
            ),
        ),
        (
            [replace(none, genuine=4), replace(none, genuine=2)],
            (
                f"{few}In a class of paths timeouts and probes repaired at most 4 losses; 5 are "
                "needed. Capture for longer."
            ),
        ),
        (
            [replace(none, genuine=0, limit=0.2)],
            (
                "Keep the minimum RTO of 200 ms: no timeout or probe repaired a loss in this "
                "capture, so a smaller one would save nothing."
            ),
        ),
    ):
        assert answer(tuning(*given)) == said
    empty = replace(tuning(), unused={})
    assert "acknowledgments come (no data was sent). Capture" in answer(empty)


def test_each_class_has_a_table_of_minimums() -> None:
    shown = page(replace(tuning(NEAR), unused={}))
    expected = (Path(__file__).parent / "printed.txt").read_text(encoding="utf-8")
    found = [line.rstrip() for line in printed(shown).splitlines()]
    assert found == expected.splitlines()
    bold = with_style(shown, "bold")
    assert bold[0].startswith("Set the minimum RTO to 20 ms")
    assert "Commands" in bold
    assert (
        "10.0.0.0/24, round trips below 1 ms: 3 connections, 5000 waits, 10 repairs by"
        in " ".join(bold)
    )
    assert with_style(shown, "bold green") == [
        *("20 ms", "0.1 %", "0.5 (0.25 to 1)", "4", "50 (25 to 100)", "advised")
    ]
    assert "# the route to 10.0.0.0/24" in with_style(shown, "dim")
    assert with_style(page(tuning(NEAR)), "yellow") == [
        "Not used: 1 direction: captured at the receiver."
    ]


def test_five_classes_are_shown() -> None:
    classes = [
        replace(NEAR, network=ipaddress.ip_network(f"10.0.{n}.0/24"), recommended=None)
        for n in range(6)
    ]
    assert with_style(page(tuning(*classes)), "dim") == ["1 more classes of paths are in --json"]
    assert "more classes" not in printed(page(tuning(*classes[:5])))
    assert "Commands" not in printed(page(tuning(*classes)))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.0, 0.001, "below 1 ms"),
        (0.001, 0.01, "1 ms to 10 ms"),
        (0.1, inf, "from 100 ms"),
    ],
)
def test_round_trips_of_a_class_are_named(low: float, high: float, said: str) -> None:
    one = replace(NEAR, round_trip=(low, high), connections=1, waits=1, genuine=1)
    assert heading(one) == (
        f"10.0.0.0/24, round trips {said}: 1 connection, 1 wait, 1 repair by timeout or probe"
    )


def test_numbers_have_two_or_three_digits() -> None:
    assert [duration(s) for s in (0.005, 0.9999, 1.0, 2.5)] == ["5 ms", "999.9 ms", "1 s", "2.5 s"]
    assert [percent(share) for share in (0.0, 0.01234, 0.5)] == ["0 %", "1.2 %", "50 %"]
    numbers = (0.0, 0.123, 99.4, 100.0, 1234.5678, -99.9, -100.4)
    assert [amount(number) for number in numbers] == [
        *("0", "0.12", "99", "100", "1,235", "-1e+02", "-100")
    ]
    assert interval(Estimate(1.0, 0.5, 200.0)) == "1 (0.5 to 200)"
    assert milliseconds(0.0125) == "12ms"


def test_what_the_captures_lack_is_said() -> None:
    blind = replace(NEAR, timestamps=False)
    short = tuning(NEAR, blind, seconds=59.94)
    assert list(warnings(short)) == [
        "The captures last 59.9 s: rates per day are extrapolated from that.",
        "Not used: 1 direction: captured at the receiver.",
        (
            "Some connections have no timestamps: whether a retransmission was needed then rests "
            "on D-SACK and on times, and more timeouts stay unknown, which count as spurious."
        ),
    ]
    assert list(warnings(replace(tuning(), unused={}, sources=(SOURCE,)))) == []
    assert not any("last" in said for said in warnings(tuning(NEAR)))
    assert not any(
        "timestamps" in said for said in warnings(tuning(replace(NEAR, timestamps=None)))
    )
    left = replace(SOURCE, left_out=1)
    assert list(warnings(replace(tuning(), unused={}, sources=(left, left)))) == [
        "Left out: 2 connections beyond the limits of a diagnosis."
    ]
    held = replace(NEAR, recommended=0.05, without_delay=0.02)
    assert list(warnings(replace(tuning(held), unused={}))) == [
        (
            "10.0.0.0/24: delayed acknowledgments hold the minimum at 50 ms. With at most 10 ms of "
            "delay at the receivers, 20 ms would do."
        )
    ]


def test_other_round_trips_of_a_prefix_would_take_other_minimums() -> None:
    middle = replace(NEAR, round_trip=(0.001, 0.01), recommended=0.1)
    far = replace(NEAR, round_trip=(0.01, 0.1), recommended=0.005)
    unsure = replace(NEAR, round_trip=(0.1, inf), recommended=None)
    other = replace(far, network=ipaddress.ip_network("10.1.0.0/24"), recommended=0.005)
    found = replace(tuning(NEAR, middle, far, unsure, other), unused={})
    shared = [said for said in warnings(found) if "would take" in said]
    assert shared == [
        (
            "10.0.0.0/24: paths of other round trips in it would take 5 ms and 20 ms. A route or a "
            "rule knows no round trip, so the largest minimum is advised; a longer --prefix may "
            "separate them."
        )
    ]
    assert [one.recommended for one in settings(found)] == [0.1, 0.005]


def test_a_cap_says_what_it_saves() -> None:
    text = " ".join(printed(page(tuning(cap=10.0))).split())
    assert (
        "Longest timeout: 40 s. A maximum RTO of 10 s saves about 150 s a day after outages, for "
        "0.25 more retransmissions a day. Commands # the longest timeout of all sockets, Linux "
        "6.15 sysctl -w net.ipv4.tcp_rto_max_ms=10000"
    ) in text
    assert "Longest timeout" not in printed(page(tuning()))


def test_the_commands_are_those_of_the_system() -> None:
    held = replace(NEAR, recommended=0.05, without_delay=0.02)
    six = replace(
        NEAR, network=ipaddress.ip_network("fe80::/48"), recommended=0.006, without_delay=0.006
    )
    assert list(commands(tuning(held, six))) == [
        (
            "the route to 10.0.0.0/24",
            "ip route replace 10.0.0.0/24 via GATEWAY dev DEVICE rto_min 50ms",
        ),
        (
            "the route to fe80::/48",
            "ip -6 route replace fe80::/48 via GATEWAY dev DEVICE rto_min 6ms",
        ),
        ("all sockets, Linux 6.11", "sysctl -w net.ipv4.tcp_rto_min_us=50000"),
        ("one socket, Linux 6.15", "setsockopt(fd, IPPROTO_TCP, TCP_RTO_MIN_US, 50000)"),
        (
            "the sockets of a cgroup, per prefix",
            "rtolab tune ... --apply --cgroup CGROUP",
        ),
        (
            "one socket of the receivers, Linux 6.15",
            "setsockopt(fd, IPPROTO_TCP, TCP_DELACK_MAX_US, 10000)",
        ),
    ]
    unknown = replace(NEAR, network=ipaddress.ip_network("10.9.0.0/24"), recommended=None)
    names = [what for what, _ in commands(tuning(six, unknown))]
    assert names[1] == "all sockets, also of other paths, Linux 6.11"
    # BPF takes no less than two jiffies, and the longest prefix comes first.
    assert [
        (str(one.network), one.rto_min_us, one.delack_max_us) for one in rules(tuning(held, six))
    ] == [
        ("fe80::/48", 8_000, None),
        ("10.0.0.0/24", 50_000, 10_000),
    ]


def test_a_prefix_with_an_unsafe_class_or_nothing_to_gain_has_no_setting() -> None:
    assert (is_unsafe(NEAR), is_unsafe(replace(NEAR, limit=0.2))) == (False, True)
    for one in (
        replace(NEAR, recommended=0.2),
        replace(NEAR, recommended=None),
        replace(NEAR, limit=0.2),
    ):
        assert settings(tuning(one)) == []
        assert list(commands(tuning(one))) == []


@pytest.mark.parametrize(
    ("recommended", "without", "delay"),
    [
        (0.05, 0.025, 0.0125),
        (0.05, 0.026, None),
        (0.05, 0.01, 0.008),
        (None, 0.01, None),
        (0.05, None, None),
    ],
)
def test_receivers_may_delay_acknowledgments_for_half_the_minimum(
    recommended: float | None, without: float | None, delay: float | None
) -> None:
    one = replace(NEAR, recommended=recommended, without_delay=without)
    assert delayed_ack(one) == delay


def test_the_document_has_everything() -> None:
    one = replace(NEAR, minimums=MINIMUMS[:1], recommended=None, round_trip=(0.1, inf))
    found = document(tuning(one, cap=10.0))
    assert found == {
        "answer": answer(tuning(one, cap=10.0)),
        "warnings": ["Not used: 1 direction: captured at the receiver."],
        "sources": [{"name": "some.pcapng", "seconds": 60.0}],
        "unused": {"captured at the receiver": 1},
        "classes": [
            {
                "network": "10.0.0.0/24",
                "round_trip": [0.1, None],
                "connections": 3,
                "waits": 5000,
                "repairs": 10,
                "timestamps": True,
                "recommended": None,
                "without_delayed_acks": 0.02,
                "minimums": [
                    {
                        "seconds": 0.005,
                        "late": 0.0123,
                        "spurious_a_day": {"value": 12, "low": 6, "high": 24},
                        "probes_a_day": {"value": 4, "low": 2, "high": 8},
                        "saved_a_day": {"value": 1234.5, "low": 617.25, "high": 2469},
                        "single_a_day": 0.25,
                        "preempted_a_day": 0.5,
                        "unknown_a_day": 0.75,
                    }
                ],
            }
        ],
        "longest_timeout": 40.0,
        "caps": [
            {"seconds": 60.0, "saved_a_day": 1.0, "sent_a_day": 2.0},
            {"seconds": 10.0, "saved_a_day": 150.4, "sent_a_day": 0.25},
        ],
        "cap": 10.0,
        "commands": [
            {
                "for": "the longest timeout of all sockets, Linux 6.15",
                "command": "sysctl -w net.ipv4.tcp_rto_max_ms=10000",
            }
        ],
    }


def test_the_picture_has_a_panel_of_costs_and_one_of_savings() -> None:
    one = replace(NEAR, minimums=MINIMUMS[:2])
    spec = picture(one).to_dict(validate=False)
    assert spec["title"]["text"] == "What each minimum RTO costs and saves"
    assert spec["title"]["subtitle"] == heading(one)
    costs, savings = spec["vconcat"]
    for panel, what, values, colour in (
        (costs, "spurious timeouts a day", [(12, 6, 24), (0, 0, 0)], "#c44e52"),
        (savings, "seconds saved a day", [(1234.5, 617.25, 2469), (1000, 500, 2000)], "#4c72b0"),
    ):
        area, line, rule = panel["layer"]
        assert spec["datasets"][area["data"]["name"]] == [
            {"minimum": at_ms, "what": what, "value": value, "low": low, "high": high}
            for at_ms, (value, low, high) in zip((5.0, 15.0), values, strict=True)
        ]
        assert (area["mark"]["type"], line["mark"]["type"]) == ("area", "line")
        assert (area["mark"]["color"], line["mark"]["color"]) == (colour, colour)
        assert (area["encoding"]["y"]["field"], area["encoding"]["y2"]["field"]) == ("low", "high")
        assert (line["encoding"]["y"]["field"], line["encoding"]["y"]["title"]) == ("value", what)
        x = line["encoding"]["x"]
        assert (x["field"], x["title"], x["scale"]) == (
            *("minimum", "minimum RTO in ms"),
            {"type": "log"},
        )
        assert spec["datasets"][rule["data"]["name"]] == [{"minimum": 20.0}]
        assert (rule["mark"]["type"], rule["encoding"]["x"]["field"]) == ("rule", "minimum")
    bare = picture(replace(one, recommended=None)).to_dict(validate=False)
    assert [len(panel["layer"]) for panel in bare["vconcat"]] == [2, 2]
