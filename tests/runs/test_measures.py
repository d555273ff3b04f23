"""Each measure on tables written by hand, so that its value can be checked by hand."""

from dataclasses import dataclass, field
from typing import Any

import polars as pl
import pytest

from rtolab import measures
from rtolab.measures import MEASURES

COUNTS = (
    *("bytes", "segments", "acked_segments", "header_bytes", "measured_bytes"),
    *("measured_acked_segments", "measured_timeouts", "measured_fast_retransmits"),
    "measured_delay_packets",
)
TIMES = ("elapsed_s", "delay_max_s", "measured_s", "measured_delay_mean_s")
RUN = {"run": pl.UInt32, "seed": pl.UInt64, "sender": pl.String}
CONNECTIONS: dict[str, Any] = (
    RUN
    | {"flow": pl.String, "set": pl.String, "completed": pl.Boolean}
    | dict.fromkeys(COUNTS, pl.UInt64)
    | dict.fromkeys(TIMES, pl.Float64)
)
WINDOWS: dict[str, Any] = (
    RUN
    | {"flow": pl.String, "at_s": pl.Float64, "cwnd": pl.UInt64}
    | dict.fromkeys(("srtt_s", "rttvar_s"), pl.Float64)
)
LINKS: dict[str, Any] = RUN | {
    "link": pl.String,
    "direction": pl.String,
    "measured_transmitted_bytes": pl.UInt64,
}
TASKS: dict[str, Any] = (
    RUN
    | {"flow": pl.String, "number": pl.UInt32}
    | dict.fromkeys(("due_s", "start_s", "end_s"), pl.Float64)
)
FIRST = {"run": 0, "seed": 7, "sender": "sack", "flow": "transfer"}


def rows(schema: dict[str, Any], *reported: dict[str, Any]) -> pl.DataFrame:
    """Rows of the first run by default; columns that are not given are zero or null."""
    zeros = {name: 0 for name, kind in schema.items() if kind == pl.UInt64}
    known = {name: value for name, value in FIRST.items() if name in schema}
    return pl.DataFrame([zeros | known | row for row in reported], schema=schema)


@dataclass
class Tables:
    """The tables of some runs."""

    connections: pl.DataFrame = field(default_factory=lambda: rows(CONNECTIONS))
    windows: pl.DataFrame = field(default_factory=lambda: rows(WINDOWS))
    links: pl.DataFrame = field(default_factory=lambda: rows(LINKS))
    tasks: pl.DataFrame = field(default_factory=lambda: rows(TASKS))


def connections(*reported: dict[str, Any]) -> Tables:
    return Tables(connections=rows(CONNECTIONS, *reported))


def test_every_measure_is_listed_with_its_source() -> None:
    papers = {"arq2002", "dualrtt2004", "minrto2007", "frto2002", "delays2001"}
    assert {entry.source.partition(",")[0] for entry in MEASURES.values()} == papers
    for name, entry in MEASURES.items():
        assert entry.name == name
        assert getattr(measures, name).__doc__.startswith(entry.about)
        assert entry.about.endswith(".")


def test_rows_say_which_connection_they_are_about() -> None:
    reported = connections({"elapsed_s": 2.0}, {"run": 1, "seed": 8, "sender": "newreno"})
    frame = measures.elapsed(reported)
    assert frame.columns == ["run", "seed", "sender", "flow", "elapsed_s"]
    assert frame.rows() == [(0, 7, "sack", "transfer", 2.0), (1, 8, "newreno", "transfer", None)]


def test_throughput_is_normalized_by_the_available_bandwidth() -> None:
    # Of 384 kbit/s, 1 % is damaged and other traffic takes 96 kbit/s: 284.16 kbit/s are left.
    reported = connections(
        {"measured_s": 100.0, "measured_bytes": 1_776_000, "measured_acked_segments": 3000}
    )
    frame = measures.normalized_throughput(
        reported, rate_bps=384e3, error_rate=0.01, other_bps=96e3
    )
    assert frame["normalized_throughput"].to_list() == [pytest.approx(142.08 / 284.16)]
    framed = measures.normalized_throughput(reported, rate_bps=284.16e3, header=40)
    assert framed["normalized_throughput"].to_list() == [pytest.approx(151.68 / 284.16)]


def test_throughput_of_no_time_is_null_and_of_no_bandwidth_an_error() -> None:
    reported = connections({"measured_s": 0.0})
    frame = measures.normalized_throughput(reported, rate_bps=384e3)
    assert frame["normalized_throughput"].to_list() == [None]
    with pytest.raises(ValueError, match=r"found -16000 bit/s available.*takes 400000 of 384000"):
        measures.normalized_throughput(reported, rate_bps=384e3, other_bps=400e3)


def test_effective_goodput_counts_retransmissions_of_the_link() -> None:
    reported = connections(
        {"measured_bytes": 10_000, "measured_acked_segments": 20},
        # Two of the datagrams were lost; they acknowledge nothing.
        {"flow": "cbr", "measured_bytes": 1_720, "measured_delay_packets": 10},
        {"flow": "elsewhere", "measured_bytes": 90_000, "measured_acked_segments": 90},
        {"run": 1, "seed": 8, "measured_bytes": 10_000, "measured_acked_segments": 20},
    )
    radio = {"link": "radio", "direction": "forward"}
    reported.links = rows(
        LINKS,
        radio | {"measured_transmitted_bytes": 16_000},
        radio | {"direction": "backward", "measured_transmitted_bytes": 999},
        {"link": "wan", "direction": "forward", "measured_transmitted_bytes": 999},
        radio | {"run": 1, "seed": 8, "measured_transmitted_bytes": 0},
    )
    frame = measures.effective_goodput(reported, link="radio", flows=["transfer", "cbr"])
    assert frame.columns == ["run", "seed", "sender", "effective_goodput"]
    data = 10_000 + 20 * 40 + 1_720 + 10 * 28
    assert frame["effective_goodput"].to_list() == [pytest.approx(data / 16_000), None]
    everything = measures.effective_goodput(reported, link="radio")["effective_goodput"]
    assert everything[0] == pytest.approx((data + 90_000 + 90 * 40) / 16_000)


def test_packet_delay_is_null_without_packets() -> None:
    reported = connections({"measured_delay_mean_s": 0.3, "delay_max_s": 1.5}, {"flow": "silent"})
    frame = measures.packet_delay(reported)
    assert frame.select("mean_s", "max_s").rows() == [(0.3, 1.5), (None, None)]


def window(at: float, cwnd: int, srtt: float | None, rttvar: float | None = None) -> dict[str, Any]:
    return {"at_s": at, "cwnd": cwnd, "srtt_s": srtt, "rttvar_s": rttvar}


def test_the_window_is_sampled_once_a_round_trip() -> None:
    changes = [
        window(0.0, 1, None),
        window(1.0, 2, 1.0),
        window(1.5, 3, 1.0),
        window(2.0, 4, 2.0),
        window(3.9, 5, 2.0),
        window(4.1, 6, 0.5),
        window(4.7, 7, 0.5),
    ]
    other = [{"flow": "other"} | window(9.0, 8, 0.25), {"flow": "unheard"} | window(0.0, 1, None)]
    reported = Tables(windows=rows(WINDOWS, *changes, *other))
    frame = measures.cwnd_once_a_round_trip(reported)
    assert frame.select("flow", "at_s", "cwnd").rows() == [
        *[("transfer", at, cwnd) for at, cwnd in [(1.0, 2), (2.0, 4), (4.0, 5)]],
        ("other", 9.0, 8),
    ]
    within = measures.cwnd_once_a_round_trip(reported, since_s=2.0, until_s=9.0)
    assert within["cwnd"].to_list() == [4, 5]


def test_without_recorded_windows_there_are_no_samples() -> None:
    frame = measures.cwnd_once_a_round_trip(Tables())
    assert frame.columns == ["run", "seed", "sender", "flow", "at_s", "cwnd"]
    assert frame.is_empty()


def test_triggers_are_counted_for_every_100_acknowledged_segments() -> None:
    counts = {"measured_timeouts": 3, "measured_fast_retransmits": 12}
    reported = connections(counts | {"measured_acked_segments": 600}, counts)
    frame = measures.triggers(reported)
    assert frame.select("timeouts", "fast_retransmits").rows() == [(0.5, 2.0), (None, None)]


def test_only_whole_segments_count_as_delivered() -> None:
    reported = connections({"measured_bytes": 536 * 40 + 535})
    assert measures.transport_layer_throughput(reported, payload=536)["tlt"].to_list() == [40]


@pytest.mark.parametrize(
    ("payload", "eifel", "dualrtt"),
    [
        *[(32, 0.500, 0.615), (96, 0.750, 0.828), (192, 0.857, 0.906)],
        *[(376, 0.922, 0.949), (768, 0.960, 0.975), (1460, 0.979, 0.986)],
    ],
)
def test_transport_layer_efficiency_is_that_of_the_published_table(
    payload: int, eifel: float, dualrtt: float
) -> None:
    assert round(measures.efficiency(payload, 32), 3) == eifel
    assert round(measures.efficiency(payload, 20), 3) == dualrtt


def test_transport_layer_efficiency_of_a_connection_leaves_retransmissions_out() -> None:
    # 12 sendings of 10 segments of 96 bytes, each with 32 bytes of header.
    columns = {"bytes": 960, "acked_segments": 10, "segments": 12, "header_bytes": 12 * 32}
    frame = measures.transport_layer_efficiency(connections(columns, {}))
    assert frame["tle"].to_list() == [0.75, None]


def test_task_completion_time_is_of_completed_tasks() -> None:
    reported = Tables(
        tasks=rows(
            TASKS,
            {"number": 1, "due_s": 0.0, "start_s": 0.0, "end_s": 2.0},
            # Due during the previous task, and written after it.
            {"number": 2, "due_s": 1.0, "start_s": 2.0, "end_s": 5.0},
            {"number": 3, "due_s": 10.0, "start_s": 10.0},
            {"flow": "slow", "number": 1, "due_s": 0.0, "start_s": 0.0},
        )
    )
    frame = measures.average_task_completion_time(reported)
    found = frame.select("flow", "atct_s", "completed").rows()
    assert found == [("transfer", 2.5, 2), ("slow", None, 0)]


def test_goodput_is_of_the_whole_connection_or_of_the_measured_span() -> None:
    span = {"bytes": 1000, "measured_bytes": 600, "measured_s": 3.0}
    reported = connections(
        span | {"completed": True, "elapsed_s": 4.0}, span | {"completed": False}
    )
    assert measures.goodput(reported)["goodput_bps"].to_list() == [2000.0, 1600.0]


def test_the_cost_of_a_minimum_is_its_ratio_to_the_rto_without_it() -> None:
    reported = Tables(
        windows=rows(
            WINDOWS, window(0.0, 1, None), window(1.0, 2, 0.02, 0.0), window(2.0, 2, 0.4, 0.15)
        )
    )
    frame = measures.minimum_rto_cost(reported, min_rto_s=1.0, granularity_s=0.01)
    assert frame["at_s"].to_list() == [1.0, 2.0]
    assert frame["cost"].to_list() == [pytest.approx(1 / 0.03), pytest.approx(1.0)]
    without_k = measures.minimum_rto_cost(reported, min_rto_s=0.2, k=0)
    assert without_k["cost"].to_list() == [pytest.approx(10.0), pytest.approx(0.5)]


def test_the_bound_of_the_cost_is_that_of_the_published_example() -> None:
    bound = measures.minimum_rto_cost_bound(1.0, granularity_s=0.010, propagation_s=0.006)
    assert bound == pytest.approx(62.5)


def test_fairness_compares_the_fastest_and_the_slowest_of_each_set() -> None:
    def connection(flow: str, group: str | None, elapsed: float | None) -> dict[str, Any]:
        done = {"completed": elapsed is not None, "elapsed_s": elapsed}
        return {"flow": flow, "set": group, "bytes": 50_000} | done

    reported = connections(
        *[connection("a", "1", 40.0), connection("b", "1", 50.0), connection("c", "1", 80.0)],
        *[connection("d", "2", 100.0), connection("e", "2", None), connection("f", None, 1.0)],
        connection("a", "1", 20.0) | {"run": 1, "seed": 8},
    )
    frame = measures.fairness(reported)
    assert frame.columns == ["run", "seed", "sender", "set", "fastest_bps", "slowest_bps"]
    assert frame.select("run", "set", "fastest_bps", "slowest_bps").rows() == [
        (0, "1", 10_000.0, 5_000.0),
        (0, "2", 4_000.0, None),
        (1, "1", 20_000.0, 20_000.0),
    ]


def test_sendings_are_per_acknowledged_segment() -> None:
    reported = connections({"segments": 900, "acked_segments": 400}, {"segments": 3})
    assert measures.sendings(reported)["sendings"].to_list() == [2.25, None]
