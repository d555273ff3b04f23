"""`rtolab explain` and the generated reference have the texts of the declarations."""

import re
from pathlib import Path

import pytest

import reference
from rtolab import Error
from rtolab.cli import listing
from rtolab.cli.columns import COLUMNS, SHARED, of_column
from rtolab.cli.explain import _known, explain, tables
from rtolab.run import find_scenario, scenario_origin

KEY, POLICY = "key of a scenario", "policy of a sender"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "known", "fact", "shown"),
    [
        ("link.stalls", ("link.stalls", KEY), "type", "table"),
        ("link.stalls", ("link.stalls", KEY), "example", '{ scripted = [{ at = "28 s", for ='),
        ("link.spikes", ("link.spikes", KEY), "example", "{ probability = 0.02, length = {"),
        ("link.stalls.scripted", ("link.stalls.scripted", KEY), "type", "list of tables"),
        ("link.wireless.delay", ("link.delay", KEY), "type", "time"),
        ("link.jitter.exponential", ("link.jitter.exponential", KEY), "type", "time"),
        ("link.up.jitter.gamma.mean", ("link.jitter.gamma.mean", KEY), "example", '"30 ms"'),
        ("tcp.rto.min", ("tcp.rto.min", KEY), "default", "1 s"),
        ("tcp.rto.min", ("tcp.rto.min", KEY), "source", "RFC 6298 section 2.4"),
        ("min_delayed_ack", ("tcp.rto.min_delayed_ack", KEY), "default", ""),
        ("dupthresh", ("tcp.recovery.dupthresh", KEY), "default", "3"),
        ("kernel.host.mobile.rto_min", ("kernel.host.rto_min", KEY), "default", "200 ms"),
        ("receiver.lie", ("receiver.lie", KEY), "default", "nothing"),
        ("frto", ("frto", POLICY), "example", "--sender sack+frto"),
        ("dualrtt", ("dualrtt", "detector"), "example", "--judge dualrtt"),
        ("dualrtt:0.04", ("dualrtt", "detector"), "example", "--judge dualrtt"),
        ("linux-2.4", ("linux-2.4", "profile of a sender"), "source", "Gurtov"),
        ("rfc4015", ("rfc4015", POLICY), "source", "RFC 4015"),
        ("timeouts.at_s", ("timeouts.at_s", "column"), "type", "number, seconds"),
        ("stall", ("stall", "scenario"), "example", "rtolab run stall"),
        ("ack-lost", ("ack-lost", "class of a timeout"), "about", "acknowledgments were lost"),
        ("spurious", ("spurious", "class of a timeout"), "source", "RFC 5682"),
        ("vantage", ("vantage", "term of a diagnosis"), "about", "Where the capture was made"),
    ],
)
def test_a_name_is_explained(name: str, known: tuple[str, str], fact: str, shown: str) -> None:
    found = [one for one in explain(name) if (one.name, one.kind) == known]
    assert found
    value = getattr(found[0], fact)
    assert (shown in value) if shown else value == ""


def test_the_scenarios_of_examples_exist() -> None:
    examples = {one.example for found in _known().values() for one in found}
    runs = [re.search(r'rtolab(?: run |\.run\(")([^\s"]+)', example) for example in examples]
    names = {run.group(1) for run in runs if run}
    assert names
    for name in names:
        assert find_scenario(name).is_file()


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("tcp.rto.mim", "tcp.rto.min"),
        ("link.stals", "link.stalls"),
        ("dualrt", "dualrtt"),
        ("dualrtt:1.5", "dualrtt"),
        ("sampilng", "tcp.rto.sampling"),
        ("wholly unlike", "a key of a scenario or a name"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_names(name: str, near: str) -> None:
    with pytest.raises(Error, match=f"found '{name}'; expected ") as reported:
        explain(name)
    names = str(reported.value).split("; expected ")[1].split(", ")
    assert names[0].startswith(near)
    assert len(names) <= 5


@pytest.mark.parametrize(("path", "page"), reference.pages().items())
def test_the_reference_is_up_to_date(path: str, page: str) -> None:
    """`python tools/guide/reference.py` updates it."""
    assert (ROOT / "docs" / path).read_text(encoding="utf-8") == page


def test_every_column_has_a_meaning() -> None:
    known = {name: {column for column, _ in columns} for name, _, columns in tables()}
    assert known.keys() >= COLUMNS.keys()
    for name, columns in known.items():
        assert columns >= COLUMNS.get(name, {}).keys(), "a meaning without a column"
        assert all(of_column(name, column).endswith((".", "?")) for column in columns)
    assert set().union(*known.values()) >= SHARED.keys()
    (found,) = explain("segments.held_s")
    assert found.about.startswith("How long stalls and spikes")


def test_scenarios_say_whether_they_are_measured_or_drawn(tmp_path: Path) -> None:
    origins = {
        one["name"]: one["origin"] for one in listing.document(listing.Kind.SCENARIOS)["scenarios"]
    }
    drawn = ("satellite-handover", "lte-handover", "wifi-power-save", "ping-replay", "mahimahi")
    assert {origins[name] for name in drawn} == {"drawn by hand"}
    assert origins["delays2001-hold"] == "published"
    recorded = tmp_path / "path.toml"
    recorded.write_text("# Measured by `rtolab record HOST`.\n\ntitle = 'A path'\n")
    assert scenario_origin(recorded) == "measured"
