"""Figures of repeated runs: sweeps, box plots, cumulative distributions."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import program
from rtolab import Error, plot
from rtolab.plot import Figure
from rtolab.plot.results import Source
from rtolab.plot.summaries import Cell, Quantity, cells, choose, only

DELAYS = ["100 ms", "20 ms", "5 ms", "50 ms"]
"""In the order in which their texts sort."""


def runs(*, cut: bool = False) -> pl.DataFrame:
    """Ten runs of two senders at four delays; if cut, two of `sack` at 100 ms have finished."""
    rows = []
    for delay in DELAYS:
        for at, sender in enumerate(("sack", "sack+frto")):
            for run in range(10):
                ends = not cut or (sender, delay) != ("sack", "100 ms") or run < 2
                seconds = float(delay.split()[0]) * (2 - at) + run
                rows.append(
                    {
                        "run": run,
                        "seed": run + 1,
                        "sender": sender,
                        "link.radio.delay": delay,
                        "link.radio.delay_s": float(delay.split()[0]) / 1000,
                        "flow": "transfer",
                        "completed": ends,
                        "elapsed_s": seconds if ends else None,
                        "goodput_bps": 1e6,
                        "unneeded": run,
                    }
                )
    return pl.DataFrame(rows)


def texts(figure: Figure) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", figure.svg())


def test_an_axis_of_quantities_is_sorted_by_their_numbers() -> None:
    figure = plot.sweep(runs())
    said = texts(figure)
    places = re.findall(r'text-anchor="middle"[^>]*>(\d+)<', figure.svg())
    assert places == ["5", "20", "50", "100"]
    assert {"link.radio.delay (ms)", "Completion time (s)"} <= set(said)
    assert figure.caption == ("Medians, with bars from quartile to quartile, of 10 runs.",)
    spec = str(figure.chart.to_dict(validate=False))
    assert "'type': 'log'" in spec, "the delays grow by factors"
    linear = str(plot.sweep(runs(), log_x=False).chart.to_dict(validate=False))
    assert "'type': 'log'" not in linear


@pytest.mark.parametrize("log_x", [True, False])
@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("link.radio.rate_bps", [9.6e3, 28.8e3, 64e3], ["9.6", "28.8", "64"]),
        ("link.radio.delay_s", [0.05, 0.125, 0.25], ["50", "125", "250"]),
        ("link.radio.loss", [0.005, 0.015, 0.125], ["0.005", "0.015", "0.125"]),
        ("tcp.mss", [536, 1460, 65495], ["536", "1460", "65495"]),
    ],
)
def test_places_of_an_axis_are_the_values_of_the_grid(
    column: str, values: list[float], said: list[str], *, log_x: bool
) -> None:
    grid = pl.concat(
        [
            runs()
            .filter(pl.col("link.radio.delay") == "5 ms")
            .drop("link.radio.delay", "link.radio.delay_s")
            .with_columns(pl.lit(value).alias(column))
            for value in values
        ]
    )
    shown = texts(plot.sweep(grid, x=column, log_x=log_x, width_in=12))
    title = next(text for text in shown if text.startswith(column.rpartition("_")[0] or column))
    assert shown[: shown.index(title)][-3:] == said


def unfinished(*points: tuple[str, str]) -> pl.DataFrame:
    """As `runs`, but at these delays no run of these senders has finished."""
    cut = pl.any_horizontal(
        (pl.col("link.radio.delay") == delay) & (pl.col("sender") == sender)
        for delay, sender in points
    )
    return runs().with_columns(completed=~cut, elapsed_s=pl.when(~cut).then(pl.col("elapsed_s")))


@pytest.mark.parametrize("x", ["link.radio.delay_s", "link.radio.delay"])
def test_a_point_at_which_no_run_has_finished_stays_in_the_figure(x: str) -> None:
    table = unfinished(("100 ms", "sack"), ("100 ms", "sack+frto"), ("20 ms", "sack"))
    table = table if x.endswith("_s") else table.drop("link.radio.delay_s")
    figure = plot.sweep(table, None, x)
    said = texts(figure)
    assert {"100", "100 ms"} & set(said), "the axis has all points of the grid"
    assert said.count("0/10") == 3
    assert said.count("10/10") == 5
    assert "some runs unfinished" not in said, "no marker is hollow"
    assert sum("0 of 10 runs finished; shown: 0 values." in line for line in figure.caption) == 3


def test_a_sender_of_which_no_run_has_finished_is_in_the_key_of_a_distribution() -> None:
    none = unfinished(*((delay, "sack") for delay in DELAYS))
    assert "sack (0/40 finished)" in texts(plot.cdf(none, by=["sender"]))


def test_a_line_is_interrupted_where_no_run_has_finished() -> None:
    figure = plot.sweep(unfinished(("20 ms", "sack")), by=["sender"])
    paths = re.findall(r'd="(M[^"]*)"[^>]*stroke-width="0.96"', figure.svg())
    assert [path.count("M") for path in paths] == [2, 1]


def test_a_finished_run_without_a_value_is_in_the_caption() -> None:
    none = pl.when(pl.col("link.radio.delay") != "20 ms").then(pl.col("unneeded"))
    figure = plot.sweep(runs().with_columns(unneeded=none), "unneeded")
    assert figure.caption[1:] == ("sack at 20 ms: no value.", "sack+frto at 20 ms: no value.")
    assert "20" in texts(figure)


def test_finished_runs_of_close_points_do_not_overlap() -> None:
    close = unfinished(("100 ms", "sack")).with_columns(
        pl.when(pl.col("link.radio.delay_s") < 0.05)
        .then(0.001 * pl.col("link.radio.delay_s"))
        .otherwise(pl.col("link.radio.delay_s"))
        .alias("link.radio.delay_s")
    )
    said = texts(plot.sweep(close, log_x=False))
    assert "0/10" in said
    assert "10/10" not in said


LONG = ["sack+frto", "sack+eifel:rfc3522+rfc4015", "sack+dsack:linux+rfc4015+cubic"]


def long_names() -> pl.DataFrame:
    """Twelve groups with long names."""
    one = runs().filter(pl.col("sender") == "sack")
    parts = [one.with_columns(sender=pl.lit(sender)) for sender in LONG]
    return pl.concat(parts)


def whole(svg: str, name: str) -> bool:
    """Is the text in the figure, in one line or in several?"""
    lines = re.findall(r"<text[^>]*>(.*?)</text>", svg)
    spaces = re.compile(r"<[^>]*>|\s")
    return name.replace(" ", "") in {spaces.sub("", line) for line in lines}


@pytest.mark.parametrize("column", ["ieee", "acm"])
def test_labels_of_boxes_are_whole(column: str) -> None:
    svg = plot.boxes(long_names(), column=column).svg()
    for name in LONG:
        for delay in DELAYS:
            assert whole(svg, f"{name}, delay {delay}")
    assert "…" not in svg
    places = re.findall(
        r'text-anchor="end" transform="translate\(-2,([\d.]+)\)"[^>]*>(.*?)</t', svg
    )
    spans = sorted((float(y), float(y) + 9.2 * label.count("dy=")) for y, label in places)
    assert all(after[0] - before[1] > 8 for before, after in pairwise(spans)), "none overlap"


def test_labels_of_places_are_whole() -> None:
    both = pl.concat([long_names(), runs()])
    for sender in (LONG, [*LONG, "sack", "sack+frto"]):
        few = both.filter(pl.col("sender").is_in(sender))
        svg = plot.sweep(few, None, "sender").svg()
        assert all(whole(svg, name) for name in sender)
        assert "…" not in svg


def test_many_lines_of_a_distribution_are_told_apart_beside_a_panel_of_its_size() -> None:
    def drawn(table: pl.DataFrame) -> dict[str, Any]:
        figure = plot.cdf(table)
        return dict(figure.chart.to_dict(validate=False)["vconcat"][1])

    few = drawn(long_names().filter(pl.col("link.radio.delay") == "5 ms"))
    many = drawn(long_names())
    looks = [(layer["mark"]["color"], str(layer["mark"]["strokeDash"])) for layer in many["layer"]]
    assert len(set(looks)) == 12
    assert many["height"] > 0.9 * few["height"]
    assert "1.0" in texts(plot.cdf(long_names()))


def test_an_entry_that_is_wider_than_the_figure_has_several_lines() -> None:
    table = long_names().filter(pl.col("link.radio.delay") == "5 ms")
    table = table.with_columns(completed=pl.col("run") > 2, sender="linux+" + pl.col("sender"))
    figure = plot.cdf(table, width_in=2.4)
    (panel,) = figure.chart.to_dict(validate=False)["vconcat"][1:]
    assert panel["width"] > 0.75 * 2.4 * 72
    said = "".join(texts(figure)).replace(" ", "")
    assert all(f"linux+{name}(7/10finished)" in said for name in LONG)


def test_points_are_medians_with_quartiles() -> None:
    found = cells(
        runs(), choose(runs(), None, None, (), over=True), Quantity.of(runs(), "elapsed_s")
    )
    assert len(found) == 8
    five = found[0].summary
    assert five is not None
    assert (found[0].group, found[0].x) == (("sack",), 0.1)
    assert (five.median, five.q1, five.q3) == (204.5, 202.25, 206.75)


def test_a_median_of_few_finished_runs_says_so() -> None:
    figure = plot.sweep(runs(cut=True))
    said = texts(figure)
    assert "2/10" in said
    assert {"finished", "some runs unfinished"} <= set(said)
    assert figure.caption[1:] == ("sack at 100 ms: 2 of 10 runs finished; shown: 2 values.",)
    assert "some runs unfinished" not in texts(plot.sweep(runs()))
    assert {"finished", "32/40"} <= set(texts(plot.boxes(runs(cut=True), by=["sender"])))
    said = texts(plot.cdf(runs(cut=True), by=["sender"]))
    assert "sack (32/40 finished)" in said


def test_a_distribution_with_unfinished_runs_ends_below_one() -> None:
    figure = plot.cdf(runs(cut=True), by=["sender"])
    sets = [
        json.loads(one)
        for one in figure.chart.to_dict(validate=False)["datasets"].values()
        if isinstance(one, str)
    ]
    assert [steps[-1]["share"] for steps in sets] == [0.8, 1.0]
    assert sets[0][0]["share"] == 0.0
    assert sets[0][-1]["x"] == sets[1][-1]["x"], "both lines go on to the edge"


def test_flows_without_an_end_are_not_unfinished() -> None:
    endless = runs().with_columns(completed=pl.lit(value=False), elapsed_s=pl.lit(None, pl.Float64))
    figure = plot.sweep(endless)
    assert "Goodput (Mbit/s)" in texts(figure)
    assert "some runs unfinished" not in texts(figure)


def test_a_run_with_several_connections_counts_once() -> None:
    other = runs().with_columns(flow=pl.lit("other"), elapsed_s=pl.col("elapsed_s") + 2)
    both = pl.concat([runs(), other])
    found = cells(both, choose(both, None, None, (), over=True), Quantity.of(both, "elapsed_s"))
    assert {cell.runs for cell in found} == {10}
    assert found[0].summary is not None
    assert found[0].summary.median == 205.5


def test_lines_that_do_not_overlap_are_labelled_directly() -> None:
    wide = plot.sweep(runs(), log_x=True)
    (name,) = re.findall(
        r'<text text-anchor="(?:start|left)?[^>]*translate\(([\d.]+),[^>]*>sack<', wide.svg()
    )
    assert float(name) > 180, "at the end of its line"
    close = runs().with_columns(elapsed_s=pl.lit(10.0))
    assert len([text for text in texts(plot.sweep(close)) if text == "sack"]) == 1, "in the key"


def test_names_and_labels_can_be_given() -> None:
    said = texts(plot.boxes(runs(), "unneeded", y_label="Copies", title="Copies of ten runs"))
    assert {"Copies", "Copies of ten runs", "sack, delay 5 ms"} <= set(said)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plot.sweep(runs(), "elapsed"), 'found no column elapsed; expected .*"elapsed_s"'),
        (lambda: plot.sweep(runs(), "flow"), "flow: found texts; expected a column of numbers"),
        (
            lambda: plot.sweep(runs().drop("link.radio.delay", "link.radio.delay_s")),
            "no key that varies",
        ),
        (lambda: plot.boxes(runs(), by=["run", "sender"]), "found 20 combinations of run, sender"),
        (
            lambda: plot.boxes(runs(), "unneeded", log_y=True),
            "not positive; leave out the log axis",
        ),
        (
            lambda: only(runs(), [("link.radio.delay", ["51ms"])]),
            "found no row with 51ms; expected",
        ),
        (
            lambda: only(runs(), [("link.radio.delay_s", ["50 kB"])]),
            "found 50 kB; expected a number",
        ),
        (
            lambda: plot.sweep(runs(), None, "link.radio.delay", by=["sender", "link.radio.delay"]),
            "link.radio.delay_s: found it as the horizontal axis and as what distinguishes lines",
        ),
        (lambda: only(runs(), [("link.radio.delay_s", ["x"])]), "found x; expected a number"),
        (
            lambda: plot.cdf(
                runs().with_columns(
                    completed=pl.lit(value=False), elapsed_s=pl.lit(None, pl.Float64)
                ),
                "elapsed_s",
            ),
            "no run has finished",
        ),
    ],
)
def test_what_cannot_be_drawn_is_an_error(draw: Any, message: str) -> None:
    with pytest.raises(Error, match=message):
        draw()


@pytest.mark.parametrize("value", ["0.05 s", "50ms", "50 ms", "50000 us"])
@pytest.mark.parametrize("column", ["link.radio.delay", "link.radio.delay_s"])
def test_rows_are_chosen_by_value_in_any_unit(column: str, value: str) -> None:
    kept = only(runs(), [(column, [value])])
    assert kept["link.radio.delay"].unique().to_list() == ["50 ms"]
    assert kept.height == 20


def test_the_sender_can_be_the_horizontal_axis() -> None:
    alone = runs().filter(pl.col("link.radio.delay") == "50 ms")
    assert choose(alone, None, "sender", (), over=True).by == ()
    assert choose(runs(), None, "sender", (), over=True).by == ("link.radio.delay_s",)
    assert {"sack", "sack+frto"} <= set(texts(plot.sweep(alone, None, "sender")))
    twice = choose(runs(), None, None, ["sender", "sender"], over=True)
    assert twice.by == ("sender",)


def folder(path: Path, frame: pl.DataFrame) -> Path:
    path.mkdir(parents=True)
    frame.write_parquet(path / "connections.parquet")
    return path


def test_results_of_every_command_are_read(tmp_path: Path) -> None:
    ran = folder(tmp_path / "run", runs())
    runs().write_parquet(ran / "disturbances.parquet")
    assert plot.read(ran).source is Source.RUN
    done = folder(tmp_path / "rep" / "paper" / "table1", runs().with_columns(variant=pl.lit("x")))
    (done / "finished.json").write_text("{}")
    assert plot.read(done).source is Source.REPRODUCED
    with pytest.raises(Error, match=r"expected a folder of one result, such as .*rep/paper/table1"):
        plot.read(tmp_path / "rep")
    scored = {
        "stack": "linux",
        "scenarios": [{"id": "a", "score": 90.0}, {"id": "b", "score": 60.0}],
    }
    (tmp_path / "conform").mkdir()
    (tmp_path / "conform" / "conform.json").write_text(json.dumps(scored))
    conform = plot.read(tmp_path / "conform")
    assert (conform.source, conform.main) == (Source.CONFORM, "scenarios")
    assert conform.table()["score"].to_list() == [90.0, 60.0]
    timeouts = [
        {"t": 1.0, "after": 0.4, "class": "spurious"},
        {"t": 3.0, "after": 0.8, "class": "genuine"},
    ]
    diagnosis = tmp_path / "diagnosis.json"
    diagnosis.write_text(json.dumps({"connections": [{"number": 1, "timeouts": timeouts}]}))
    read = plot.read(diagnosis)
    assert read.main == "timeouts"
    assert read.table()["after"].to_list() == [0.4, 0.8]
    assert "Fraction of values" in texts(plot.cdf(read.table(), by=["class"]))


@pytest.mark.parametrize("text", ["", "[]", "{}"])
def test_a_file_that_is_no_result_is_an_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(Error, match=r"x\.json: found no"):
        plot.read(file)


def test_the_command_draws_what_the_results_suggest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = folder(tmp_path / "done", runs(cut=True))
    out = tmp_path / "fig.pdf"
    assert program.call(monkeypatch, "plot", done, "--out", out) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Medians, with bars from quartile to quartile, of 10 runs.",
        "sack at 100 ms: 2 of 10 runs finished; shown: 2 values.",
        f"wrote {out}",
    ]
    assert out.read_bytes().startswith(b"%PDF")
    few = ("--where", "link.radio.delay=5 ms", "-s", "sack", "--measure", "unneeded", "--json")
    svg = tmp_path / "fig.svg"
    look = ("--column", "acm", "--height", "1.5", "--title", "Few", "--font-size", "7")
    assert program.call(monkeypatch, "plot", done, *few, *look, "--out", svg) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["caption"] == ["Medians, quartiles and extremes of 10 runs."]
    text = svg.read_text(encoding="utf-8")
    assert 'width="3.33676in" height="1.5in"' in text
    assert "Few" in text
    assert program.call(monkeypatch, "plot", done, done, "--kind", "boxes", "--out", svg) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--out", "fig.gif"), "fig.gif: found the suffix `.gif`; expected .pdf"),
        (
            ("--kind", "time-sequence"),
            "found no packets; expected the folder of `rtolab run --out`",
        ),
        (("--kind", "cdf", "--over", "run"), "found --over beside --kind cdf; expected --by"),
        (
            ("--kind", "cdf", "--overlay"),
            "found --overlay beside --kind cdf; expected --kind time-",
        ),
        (("--place", "receiver"), "found --place in a figure of runs; expected --kind time-seq"),
        (
            ("--kind", "time-sequence", "--log-y"),
            "found --log-y beside --kind time-sequence; expected --kind sweep, boxes or cdf",
        ),
        (
            ("--over", "sender", "--by", "sender"),
            "sender: found it as the horizontal axis and as what distinguishes lines",
        ),
        (("--where", "delay"), "--where delay: expected key=value"),
        (("--table", "segments"), "found no table segments; expected connections"),
        (("--width", "90"), "width_in: found 90.0; expected 1 to 40"),
    ],
)
def test_a_wrong_option_of_the_command_is_an_error(  # noqa: PLR0917  (fixtures)
    arguments: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    done = folder(tmp_path / "done", runs())
    assert program.call(monkeypatch, "plot", done, *arguments) == 2
    assert message in capsys.readouterr().err


def two_flows(video: list[float | None], *, voice: bool = False) -> pl.DataFrame:
    """Runs with the completion times of `video`, a `mail` of 10 s, and perhaps an endless flow."""
    rows = [
        {"run": run, "sender": "sack", "flow": flow, "completed": end is not None, "elapsed_s": end}
        for run, long in enumerate(video)
        for flow, end in [("video", long), ("mail", 10.0), *([("voice", None)] if voice else [])]
    ]
    return pl.DataFrame(rows)


def only_cell(table: pl.DataFrame) -> Cell:
    choice = choose(table, "elapsed_s", None, ("sender",), over=False)
    [cell] = cells(table, choice, Quantity.of(table, "elapsed_s"))
    return cell


def test_a_run_of_which_one_flow_did_not_end_has_no_value() -> None:
    cell = only_cell(two_flows([90.0, None, 110.0, None]))
    assert cell.values == (50.0, 60.0)
    assert cell.said == "2/4"
    figure = plot.boxes(two_flows([90.0, None, 110.0, None]))
    assert figure.caption[1:] == ("sack: 2 of 4 runs finished; shown: 2 values.",)


def test_flows_without_an_end_are_left_out_of_the_mean() -> None:
    cell = only_cell(two_flows([90.0, None], voice=True))
    assert (cell.values, cell.said) == ((50.0,), "0/2")


def test_many_lines_keep_the_height_of_the_panel_and_lie_within_it() -> None:
    def grown(loss: float) -> pl.DataFrame:
        ended = pl.col("run") > 0
        return runs().with_columns(pl.lit(loss).alias("link.radio.loss"), ended.alias("completed"))

    def panel(table: pl.DataFrame) -> dict[str, Any]:
        drawn = plot.sweep(table).chart.to_dict(validate=False)
        return dict(drawn["vconcat"][1])

    few, many = panel(runs()), panel(pl.concat([grown(loss / 100) for loss in range(6)]))
    assert many["height"] > 0.75 * few["height"], "two more rows of the key fit as it is"
    offsets = {layer["mark"].get("xOffset", 0) for layer in many["layer"]}
    padding = {
        layer["encoding"]["x"]["scale"]["padding"]
        for layer in many["layer"]
        if "scale" in layer["encoding"]["x"]
    }
    assert min(padding) >= 5 + max(offsets) > 10
