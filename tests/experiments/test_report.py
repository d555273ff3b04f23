import base64
import gzip
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from handmade_tables import PUBLISHED, Simulator
from rtolab import report
from rtolab.campaign import Campaign, Part, Settings, pack
from rtolab.experiments import find
from rtolab.experiments.base import TIME, Alternative, Bounds, Curves, Experiment, Value
from rtolab.experiments.explanation import demonstrated, reasoned, unknown
from rtolab.experiments.measured import derived
from rtolab.stats import Estimate
from rtolab.tables import reproduced as reproduced_tables

Report = tuple[Path, list[Part], str]
"""A folder, the parts of the report in it, and the page."""


class Everything(HTMLParser):
    """Collects what a page would fetch, and the specs of its charts."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.specs: list[str] = []
        self.scripts = 0
        self.in_spec = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.fetched += [given[key] or "" for key in ("src", "srcset", "data") if key in given]
        if tag == "link" or (tag == "a" and not (given.get("href") or "").startswith("#")):
            self.fetched.append(given.get("href") or "")
        self.scripts += tag == "script"
        self.in_spec = tag == "script" and given.get("type") == "application/gzip"

    def handle_data(self, data: str) -> None:
        if self.in_spec:
            self.specs.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.in_spec = self.in_spec and tag != "script"


def parts_of(out: Path, *ids: str, **settings: Any) -> list[Part]:
    campaign = Campaign(out, Settings(**settings))
    return [campaign.run(experiment) for experiment in find(list(ids))]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Report:
    out = tmp_path_factory.mktemp("out")
    with pytest.MonkeyPatch.context() as patch:
        Simulator.installed(patch).medians = PUBLISHED
        parts = parts_of(out, "frto2002/table1", "frto2002/fig2", runs=30)
    return out, parts, report.write(parts, out).read_text(encoding="utf-8")


def test_the_report_loads_nothing_from_other_hosts(written: Report) -> None:
    page = written[2]
    found = Everything()
    found.feed(page)
    assert found.fetched == []
    assert "default-src 'none'" in page
    assert "@import" not in page.split("<script>")[0]
    assert "url(" not in page.split("<script>")[0]


def test_the_report_carries_its_charts_and_their_library(written: Report) -> None:
    found = Everything()
    found.feed(written[2])
    specs = [json.loads(gzip.decompress(base64.b64decode(spec))) for spec in found.specs]
    assert len(specs) == 2 + 4
    assert all("datasets" in spec for spec in specs)
    assert found.scripts == len(specs) + 2


def test_the_report_shows_published_beside_measured_values(written: Report) -> None:
    page = written[2]
    row = re.search(r"<tr><td>Regular SACK</td><td>94.13</td><td><b>94.13</b>", page)
    assert row is not None
    assert "cannot be decided by 30 runs" in page
    assert "<code>receiver.delayed_ack</code>" in page
    assert page.count('<span class="verdict pass">') > 2


def test_a_failed_check_is_open_in_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Simulator.installed(monkeypatch).medians = PUBLISHED | {"sack+frto": (94, 9, 57)}
    page = report.page(parts_of(tmp_path, "frto2002/table1", quick=True, runs=300))
    assert "<details open><summary>Checks" in page
    assert '<span class="verdict fail">fail</span>' in page


def test_figures_captures_and_tables_are_in_the_folder_of_the_report(written: Report) -> None:
    out, parts, _ = written
    pictures = [path for part in parts for path in part.files.pictures]
    captures = [path for part in parts for path in part.files.captures]
    table, figure = out / "frto2002" / "table1", out / "frto2002" / "fig2"
    names = {path.relative_to(out).as_posix() for path in pictures}
    assert names == {
        f"frto2002/{name}.svg"
        for name in (
            *("table1/throughput", "table1/medians", "fig2/sack-sender", "fig2/sack-receiver"),
            *("fig2/sack+frto-sender", "fig2/sack+frto-receiver"),
        )
    }
    assert sorted(path.name for path in captures) == [
        "run-0-sack-receiver.pcapng",
        "run-0-sack-sender.pcapng",
        "run-1-sack+frto-receiver.pcapng",
        "run-1-sack+frto-sender.pcapng",
    ]
    assert all(path.exists() for part in parts for path in part.files)
    document = json.loads((table / "result.json").read_text(encoding="utf-8"))
    assert document["experiment"] == "frto2002/table1"
    runs = pl.read_parquet(table / "connections.parquet")
    assert runs.group_by("variant").len()["len"].to_list() == [30] * 6
    assert (figure / "segments.parquet").exists()


def test_the_same_runs_make_the_same_report(
    written: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Simulator.installed(monkeypatch).medians = PUBLISHED
    again = parts_of(tmp_path, "frto2002/table1", "frto2002/fig2", runs=30)
    assert without_wall(report.page(again)) == without_wall(written[2])


def without_wall(page: str) -> str:
    return re.sub(r'<span class="wall">[0-9.]+ s</span>', "", page)


def test_a_papers_introduction_names_its_contradictions(written: Report) -> None:
    page = written[2]
    assert '<header class="paper" id="frto2002">' in page
    assert "Printed inconsistencies</h3><ul><li>Section 5.1 announces five" in page
    assert '<a href="#frto2002">frto2002</a>' in page
    assert '<span id="frto2002/fig6"></span>' in page


def test_the_command_repeats_an_experiment_with_its_settings() -> None:
    settings = Settings(7, 30, {"link.x.stalls": '[{ at = "1 s" }]'}, sensitivity=True)
    assert report.command("frto2002/fig2", settings) == (
        "rtolab reproduce frto2002/fig2 --seed 7 --runs 30 --assumptions "
        """--assume 'link.x.stalls=[{ at = "1 s" }]'"""
    )
    assert report.command("x/y", Settings(quick=True)) == "rtolab reproduce x/y --seed 1 --quick"


UNKNOWN = demonstrated("The queue is <unknown>", "rtolab run stall --set 'a=<b>'", "8 < 9")


def everything() -> Experiment:
    """An experiment with every kind of content."""
    (table,) = find(["frto2002/table1"])
    points = tuple(
        replace(table.variants[2], condition=f"{x} %", series="SACK", x=float(x)) for x in range(14)
    )
    gain = derived("gain", "ratio", {1: Bounds(9)}, failure_cause=UNKNOWN)
    never = derived(
        "gain", "exact", {1: Bounds(9)}, not_reproducible=reasoned("no rate is printed")
    )
    return replace(
        table,
        variants=points,
        published={},
        says="Throughput falls",
        did="We tried",
        checks=(gain, never),
        derive=lambda _: [Value("gain", "Gain", Estimate(1.5, 1.2, 1.8), 3.5)],
        figures=(Curves("time", "Time over loss", "loss (%)", "time (s)", TIME, log_x=True),),
        alternatives=(Alternative("an ACK each", {"receiver.ack_every": "1"}, "some do"),),
    )


def test_every_part_of_a_sweep_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Simulator.installed(monkeypatch).medians = PUBLISHED
    part = Campaign(tmp_path, Settings(runs=5, sensitivity=True)).run(everything())
    page = report.page([part])
    assert "<details><summary>14 variants</summary>" in page
    assert "<b>The paper:</b> Throughput falls.</p>" in page
    assert "<td>Gain</td><td>3.50</td><td><b>1.50</b>" in page
    assert '<tr class="why"><td colspan="6">The queue is &lt;unknown&gt;.</td></tr>' in page
    assert "Shown by <code>rtolab run stall --set &#x27;a=&lt;b&gt;&#x27;</code>: 8 &lt; 9." in page
    assert '<td colspan="6">Reasoned, not demonstrated.</td>' in page
    assert "1 demonstrated by a command, 0 not known, 1 reasoned, not demonstrated." in page
    assert '<span class="verdict not-reproducible">not reproducible</span>' in page
    assert "<b>an ACK each</b><br>some do.<br><code>receiver.ack_every=1</code>" in page
    assert "2 of 2 checks keep their verdict, 0 change; 5 runs" in page
    assert [path.name for path in part.files.pictures] == ["time.svg"]
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(reproduced_tables.reproduction(part.reproduction))
    said = console.export_text()
    assert "14 variants: their table is in the report" in said
    assert "1.50 (1.20 to 1.80)" in said
    assert "shown by: rtolab run stall --set 'a=<b>'" in said
    assert "no rate is printed" in said
    assert "(reasoned, not demonstrated)" in said
    assert "with an ACK each: 2 of 2 checks keep their verdict" in said


def test_a_cause_that_is_not_known_is_not_called_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Simulator.installed(monkeypatch).medians = PUBLISHED
    cause = unknown("Rates were tried", "rtolab run stall", "no rate does it")
    experiment = everything()
    gain, *others = experiment.checks
    checks = (replace(gain, failure_cause=cause), *others)
    part = Campaign(tmp_path, Settings(runs=5)).run(replace(experiment, checks=checks))
    page = report.page([part])
    assert "The cause is not known. Tried by <code>rtolab run stall</code>: no rate" in page
    assert "0 demonstrated by a command, 1 not known, 1 reasoned, not demonstrated." in page
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(reproduced_tables.reproduction(part.reproduction))
    assert "the cause is not known; tried by: rtolab run stall" in console.export_text()


@pytest.mark.slow
def test_the_chart_library_is_bundled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def bundle() -> str:
        report._bundle.cache_clear()
        return report._bundle()

    made = bundle()
    (kept,) = (tmp_path / "rtolab").iterdir()
    with monkeypatch.context() as patch:
        patch.delattr("vl_convert.javascript_bundle")
        assert bundle() == made
    kept.write_text(kept.read_text(encoding="utf-8")[:1000], encoding="utf-8")
    assert bundle() == made
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert bundle() == made


@pytest.mark.parametrize("invalid", [None, "", "relative"])
def test_without_a_valid_cache_the_home_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invalid: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if invalid is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", invalid)
    assert report._cache() == tmp_path / ".cache" / "rtolab"


def test_a_chart_cannot_break_the_page() -> None:
    assert not set(pack({"a": "</script><b>"})) & set("<&>")
