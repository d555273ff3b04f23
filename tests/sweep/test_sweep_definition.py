"""The keys of a sweep's file, and the messages about invalid ones."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rtolab import Error, _rtolab, sweep
from rtolab.sweep import definition
from rtolab.sweep.definition import IntervalStatistic, Point, StopRule
from rtolab.sweep.quantities import numbers
from sweep_runs import CHUNKS, GRID, call, run, table, write

WRONG = [
    ("scenario = ", "scenari = ", ":2: scenari: found an unknown key; expected "),
    ("scenario = ", "scenari = ", ': did you mean "scenario"?'),
    ('scenario = "frto2002-delays"', "", ": found no scenario; expected one, by its path or name"),
    ('"frto2002-delays"', '"frto"', ":2: scenario: found no file "),
    ('"frto2002-delays"', '"frto"', "expected a file beside the sweep's, or one of "),
    ('"frto2002-delays"', "7", ":2: scenario: found 7; expected a text"),
    ('"newreno"', '"newrino"', ":3: senders: unknown policy `newrino` in sender `newrino`"),
    ('["newreno", "sack+frto"]', '"newreno"', ':3: senders: found "newreno"; expected a list'),
    ('"sack+frto"]', '"newreno"]', ':3: senders: found "newreno" twice; expected each value once'),
    ("runs = 12", "runs = 0", ":4: runs: found 0; expected an integer from 1 to 1000000000"),
    ("runs = 12", "runs = true", ":4: runs: found true; expected an integer from 1"),
    ("runs = 12", "", ": found no runs, seeds or until; expected one of them"),
    ("runs = 12", "seeds = []", ":4: seeds: found []; expected a list of seeds from 0 to"),
    ("runs = 12", "seeds = [1, -1]", ":4: seeds: found -1 in it; expected a list of seeds"),
    ("runs = 12", "seeds = [1, 1]", ":4: seeds: found 1 twice"),
    ("runs = 12", "runs = 12\nseeds = [1]", ":5: seeds: found beside runs; expected one of"),
    ("runs = 12", "runs = 2\nseed = 18446744073709551615", ":5: seed: found 18446744073709551615"),
    ("block = 5", 'block = "5"', ':5: block: found "5"; expected an integer from 1'),
    ("block = 5", 'tables = ["conns"]', ':5: tables: found "conns" in it; expected some of conn'),
    ("block = 5", 'tables = ["verdicts"]', ':5: tables: found "verdicts" without `judge`; expec'),
    (
        "block = 5",
        'judge = ["dualrt"]',
        ':5: judge: found "dualrt" in it; expected all, or some of ',
    ),
    ("block = 5", 'what_if = ["sak"]', ":5: what_if: unknown policy `sak` in sender `sak`"),
    (
        "block = 5",
        'tables = ["what_if"]',
        ':5: tables: found "what_if" without `what_if`; expected both',
    ),
    ("block = 5", 'prototypes = ["early.py"]', ":5: prototypes: "),
    (
        "block = 5",
        "prototypes = 1",
        ':5: prototypes: found 1; expected a list such as ["early.py:E',
    ),
    ("block = 5", "until = 3", ":5: until: found 3; expected a table"),
    ("[grid]", "[grids]", ":7: grids: found an unknown key; expected "),
    ('["100 ms", "200 ms"]', '"100 ms"', ':8: grid.link.wireless.delay: found "100 ms"; expected'),
    ('["100 ms", "200 ms"]', "[]", ":8: grid.link.wireless.delay: found []; expected a list of"),
    ('"200 ms"', '"100 ms"', ':8: grid.link.wireless.delay: found "100 ms" twice; expected each'),
    ('"200 ms"', '"fast"', ':8: grid.link.wireless.delay: found "fast", which is not a number'),
    ("wireless.delay", "wireles.delay", ":8: grid.link.wireles.delay: found no "),
    ("wireless.delay", "wireless.dely", ":8: grid.link.wireless.dely: found an unknown key"),
    ("[grid]", "[set]\ntcp.rto.k = 0.1\n[grid]", ":8: set.tcp.rto.k: found 0.1"),
    ("[grid]", '[set]\nlink.wireless.delay = "1 s"\n[grid]', ":10: grid.link.wireless.delay: fou"),
    (
        "[grid]",
        '[grid]\n"link.wireless.delay" = ["1 s"]',
        ":8: grid.link.wireless.delay: found twice",
    ),
    ("[grid]", "[grid", ":7: not TOML: "),
]


@pytest.mark.parametrize(("right", "wrong", "said"), WRONG, ids=[wrong for _, wrong, _ in WRONG])
def test_a_fault_is_reported_with_its_place(
    tmp_path: Path, right: str, wrong: str, said: str
) -> None:
    assert right in GRID
    file = write(tmp_path, GRID.replace(right, wrong))
    with pytest.raises(Error) as error:
        sweep.load(file)
    assert str(error.value).startswith(f"{file}:")
    assert said in str(error.value)


UNTIL = 'until = { measure = "elapsed_s", relative = 0.05, max_runs = 100 }'
WRONG_UNTIL = [
    ("elapsed_s", "elapsed", ':4: until.measure: found "elapsed"; expected a column of numbers'),
    ("elapsed_s", "seed", ':4: until.measure: found "seed"; expected a column of numbers'),
    ("0.05", "0", ":4: until.relative: found 0; expected a number above 0"),
    ("0.05", '"5 %"', ':4: until.relative: found "5 %"; expected a number above 0'),
    (", max_runs = 100", "", ":4: until: found no max_runs; expected all of { measure = "),
    ("100 }", '100, of = "mode" }', ':4: until.of: found "mode"; expected "median" or "mean"'),
    ("100 }", "100, share = 95 }", ":4: until.share: found 95.0; expected it below 1"),
    ("100 }", "100, runs = 5 }", ":4: until.runs: found an unknown key; expected measure"),
    ("block = 5", "runs = 5", ":5: runs: found beside until; expected until.max_runs alone"),
    ("block = 5", 'tables = ["links"]', ':5: tables: found no "connections", which `until` needs'),
]


@pytest.mark.parametrize(
    ("right", "wrong", "said"), WRONG_UNTIL, ids=[w for _, w, _ in WRONG_UNTIL]
)
def test_a_fault_of_until_is_reported(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    text = GRID.replace("runs = 12", UNTIL)
    assert right in text
    with pytest.raises(Error) as error:
        sweep.load(write(tmp_path, text.replace(right, wrong)))
    assert said in str(error.value)


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Error, match="found no such file; expected a sweep"):
        sweep.load(tmp_path / "none.toml")
    with pytest.raises(Error, match="found a directory; expected a sweep"):
        sweep.load(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'# \n# L\xe4nge\nscenario = "x"\n')
    with pytest.raises(Error, match=r"latin.toml:2: found the byte 0xe4; expected UTF-8 text"):
        sweep.load(tmp_path / "latin.toml")


def test_an_absolute_path_is_refused(tmp_path: Path) -> None:
    (tmp_path / "delays.txt").write_text("0 0.1\n1 0.2\n")
    trace = f'link.wireless.delay_trace = [{{ file = "{tmp_path}/delays.txt" }}]'
    with pytest.raises(Error, match=r"found the absolute path .*; expected a path relative to"):
        run(tmp_path, GRID.replace('link.wireless.delay = ["100 ms", "200 ms"]', trace))


def test_invalid_input_exits_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, GRID.replace("12", "0"))
    assert call(monkeypatch, file, "--out", tmp_path) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"rtolab: {tmp_path}/sweep.toml:4: runs: found 0; expected")


COLUMNS: list[tuple[str, list[Any], pl.DataType]] = [
    ("[0, 0.01]", [0.0, 0.01], pl.Float64()),
    ("[0, 1]", [0, 1], pl.Int64()),
]


@pytest.mark.parametrize(("values", "shown", "type_"), COLUMNS, ids=[v for v, _, _ in COLUMNS])
def test_a_key_of_the_grid_is_a_column_of_one_type(
    tmp_path: Path, values: str, shown: list[Any], type_: pl.DataType
) -> None:
    run(tmp_path, loss(values))
    column = table(tmp_path)["link.wireless.loss"]
    assert (column.dtype, column.unique(maintain_order=True).to_list()) == (type_, shown)


def loss(values: str) -> str:
    return (
        GRID.replace("runs = 12", "runs = 1")
        .replace("link.wireless.delay", "link.wireless.loss")
        .replace('["100 ms", "200 ms"]', values)
    )


QUANTITIES = [
    (["100 ms", "20 ms", "1.5 s"], ("s", [0.1, 0.02, 1.5])),
    (["1 Mbit/s", "64 kbit/s"], ("bps", [1e6, 64e3])),
    (["64 KiB", "1 kB"], ("bytes", [65536.0, 1000.0])),
    (['{ constant = "1 s" }', '{ constant = "300 us" }'], ("s", [1.0, 300e-6])),
    (['[{ at = "4 s", length = "1 s" }]', '[{ at = "4 s", length = "3 s" }]'], ("s", [1.0, 3.0])),
    (["2 s"], ("s", [2.0])),
    (['{ at = "1 s", length = "1 s" }', '{ at = "2 s", length = "2 s" }'], None),
    (["100 ms", "1 kB"], None),
    (["100 ms", "unlimited"], None),
    (["sack", "reno"], None),
]


@pytest.mark.parametrize(("texts", "expected"), QUANTITIES)
def test_the_quantity_of_texts_is_a_number(texts: list[str], expected: object) -> None:
    assert numbers(texts) == expected


def test_a_column_of_quantities_sorts_by_size(tmp_path: Path) -> None:
    run(tmp_path, GRID.replace("runs = 12", "runs = 1").replace('"200 ms"', '"20 ms", "5 ms"'))
    swept = table(tmp_path).sort("link.wireless.delay_s")
    assert swept["link.wireless.delay"].unique(maintain_order=True).to_list() == [
        *("5 ms", "20 ms", "100 ms")
    ]
    assert swept["link.wireless.delay_s"].dtype == pl.Float64()


def test_tables_and_quoted_keys_may_be_in_the_grid(tmp_path: Path) -> None:
    spikes = '[{ probability = 0.01, length = { constant = "1 s" } }]'
    text = GRID.replace("link.wireless.delay", '"link.wireless.spikes"')
    run(tmp_path, text.replace('["100 ms", "200 ms"]', spikes).replace("12", "1"))
    values = table(tmp_path)["link.wireless.spikes"].unique().to_list()
    assert values == ['{ probability = 0.01, length = { constant = "1 s" } }']


def test_seeds_may_be_listed_and_senders_left_to_the_scenario(tmp_path: Path) -> None:
    text = GRID.replace("runs = 12", "seeds = [7, 3, 18446744073709551615]")
    run(tmp_path, text.replace('senders = ["newreno", "sack+frto"]', ""))
    swept = table(tmp_path)
    assert swept["run"].to_list() == [0, 1, 2] * 2
    assert swept["seed"].to_list() == [7, 3, 2**64 - 1] * 2
    assert set(swept["sender"]) == {"sack"}


def test_the_folder_may_be_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    requested = sweep.load(write(tmp_path, f'out = "results/delays"\n{GRID}'))
    assert requested.out == tmp_path / "results" / "delays"
    assert call(monkeypatch, requested.file) == 0
    assert f"{CHUNKS} chunks are finished: {CHUNKS} computed" in capsys.readouterr().out
    assert sweep.read(requested.out).collect().height == 48


DETECTOR = """
from rtolab import Detector, Verdict

class Early(Detector):
    def on_ack(self, ack, episode):
        return Verdict.SPURIOUS
"""
RESPONSE = """
from rtolab import Response

class Calm(Response):
    def on_spurious(self, *_):
        return None
"""


def test_all_detectors_include_those_of_the_sweep(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(DETECTOR)
    named = 'prototypes = ["early.py:Early"]\njudge = ["all"]\n'
    requested = sweep.load(write(tmp_path, named + GRID))
    own = [one["name"] for one in _rtolab.detectors()]
    assert requested.judge == (*own, "early")
    [source] = requested.prototypes
    assert source.text == DETECTOR
    # A response judges nothing.
    (tmp_path / "calm.py").write_text(RESPONSE)
    calm = named.replace("early.py:Early", "calm.py:Calm")
    assert sweep.load(write(tmp_path, calm + GRID)).judge == (*own,)


def test_with_until_the_most_runs_are_no_chunks(tmp_path: Path) -> None:
    until = UNTIL.replace("max_runs = 100", "max_runs = 1_000_000_000")
    requested = sweep.load(write(tmp_path, GRID.replace("runs = 12", until)))
    assert (requested.seeds, requested.block) == (range(1, 10**9 + 1), 5)
    assert requested.until == StopRule("elapsed_s", 0.05, 10**9, IntervalStatistic.MEDIAN, 0.95)


def test_a_sweep_has_defaults(tmp_path: Path) -> None:
    requested = sweep.load(write(tmp_path, 'scenario = "frto2002-delays"\nruns = 3\nseed = 0'))
    assert (requested.senders, requested.seeds, requested.block) == (("",), range(3), 50)
    assert (requested.tables, requested.judge, requested.what_if) == (("connections",), (), ())
    assert (requested.until, requested.out, requested.prototypes) == (None, None, ())
    assert requested.points == (Point((), (), ()),)


def test_points_are_the_product_of_the_grid_and_set_applies_to_each(tmp_path: Path) -> None:
    text = """
scenario = "frto2002-delays"
runs = 1
[set]
link.wireless.loss = 0.01
[grid]
link.wireless.delay = ["100 ms", "1 s"]
receiver.ack_every = [1, 2]
"""
    requested = sweep.load(write(tmp_path, text))
    fixed = ("link.wireless.loss", "0.01")
    assert requested.points == tuple(
        Point(
            set=(
                fixed,
                ("link.wireless.delay", f'"{delay}"'),
                ("receiver.ack_every", str(acks)),
            ),
            columns=(("link.wireless.delay", delay), ("receiver.ack_every", acks)),
            numbers=(("link.wireless.delay_s", seconds),),
        )
        for delay, seconds in (("100 ms", 0.1), ("1 s", 1.0))
        for acks in (1, 2)
    )


GUIDE = Path(__file__).parents[2] / "docs" / "sweeps.md"


def test_the_examples_of_the_guide_are_sweeps(tmp_path: Path) -> None:
    examples = re.findall(r"```toml.*?\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    cells = [
        len(requested.points) * len(requested.senders)
        for requested in (sweep.load(write(tmp_path, example)) for example in examples)
    ]
    assert cells == [18, 2]


def test_the_guide_names_every_key() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", GUIDE.read_text(), re.MULTILINE)
    named = {name.strip("`[]") for row in rows for name in row.split(", ")}
    assert named == set(definition.KNOWN)


TOO_MUCH = {
    f"x = {'[' * 10_000}{']' * 10_000}": ":1: not TOML: found [; cannot recurse further",
    'scenario = "tail"\nruns = 1000000000': "found 20000000 chunks; expected at most 1000000",
    'scenario = "tail"\nruns = 1000000001': "expected an integer from 1 to 1000000000",
    'scenario = "tail"\nruns = 1\n[grid]\n'
    + "\n".join(f"link.wire.k{axis} = {list(range(100))}" for axis in range(6)): (
        ":3: grid: found 1000000000000 points; expected at most 100000"
    ),
    "#" * ((4 << 20) + 1): "found more than 4 MiB; expected a sweep",
}


@pytest.mark.parametrize("text", TOO_MUCH, ids=lambda text: TOO_MUCH[text][:40])
def test_an_oversized_sweep_is_refused_at_once(tmp_path: Path, text: str) -> None:
    with pytest.raises(Error, match=re.escape(TOO_MUCH[text])):
        sweep.load(write(tmp_path, text))


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(Error, match="/dev/zero: found more than 4 MiB"):
        sweep.load(Path("/dev/zero"))
