from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from handmade import PUBLISHED, Simulator
from rtolab import report
from rtolab.campaign import Campaign, Part, Settings, pack
from rtolab.experiments import find

if TYPE_CHECKING:
    from pathlib import Path


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


Report = tuple["Path", list[Part], str]


def test_the_report_asks_no_host_for_anything(written: Report) -> None:
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


def test_the_report_puts_published_beside_measured(written: Report) -> None:
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


def test_pictures_captures_and_data_lie_beside_the_report(written: Report) -> None:
    out, parts, _ = written
    pictures = [path for part in parts for path in part.files.pictures]
    captures = [path for part in parts for path in part.files.captures]
    table, figure = out / "frto2002" / "table1", out / "frto2002" / "fig2"
    names = {path.relative_to(out).as_posix() for path in pictures}
    assert names == {
        f"frto2002/{name}.{kind}"
        for kind in ("png", "svg")
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


def test_a_chart_cannot_break_the_page() -> None:
    assert not set(pack({"a": "</script><b>"})) & set("<&>")
