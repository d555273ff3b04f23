"""The metrics and the dashboard of `rtolab watch`, read by a Prometheus."""

import json
import math
import re
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import program
from prerequisites import lack, require_tool
from program import execute
from rtolab.watching import kernel
from rtolab.watching.metrics import Family, exposition, families, serving

DASHBOARD = Path(__file__).parents[2] / "docs" / "watch-dashboard.json"
CONFIGURATION = """
global: {{scrape_interval: 500ms}}
scrape_configs:
  - job_name: rtolab
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class Growing:
    """Totals that grow by a fixed step at each scrape: of ten timeouts three are spurious."""

    def __init__(self) -> None:
        self.scrapes = 0

    def totals(self) -> Mapping[str, Any]:
        n = self.scrapes
        return {
            "packets": 1000 * n,
            "connections": n,
            "open": 5,
            "evicted": 0,
            "retransmissions": {"timeout": {"unneeded": 3 * n, "needed": 6 * n, "unknown": 3 * n}},
            "timeouts": {"spurious": 3 * n, "ack-lost": n, "genuine": 6 * n, "unknown": 2 * n},
            "handshake_timeouts": {"genuine": 7 * n},
            "unneeded_bytes": 1448 * n,
            "time_lost": 0.5 * n,
            "late_acks": n,
            "kernel_drops": 0,
        }

    def families(self) -> Iterator[Family]:
        self.scrapes += 1
        return families(self.totals(), "eth0")


Query = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def query(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """Asks a Prometheus that has scraped the metrics some times."""
    prometheus = require_tool("prometheus", "prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"

    def ask(expression: str) -> list[dict[str, Any]]:
        path = "/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://{listen}{path}") as answer:
            return list(json.load(answer)["data"]["result"])

    def has_scraped() -> bool:
        try:
            found = ask("count_over_time(rtolab_watch_packets_total[1m])")
        except (urllib.error.URLError, ConnectionError):
            return False
        return bool(found) and int(found[0]["value"][1]) >= 4

    with serving(("127.0.0.1", 0), Growing().families) as port:
        (folder / "prometheus.yml").write_text(CONFIGURATION.format(port=port))
        command = [
            prometheus,
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={listen}",
        ]
        log = (folder / "log").open("w")
        with log, subprocess.Popen(command, stdout=log, stderr=log) as process:
            try:
                program.wait_for(has_scraped, process, within_s=120)
                assert process.poll() is None, (folder / "log").read_text()
                yield ask
            finally:
                process.terminate()


def expressions() -> list[tuple[str, str]]:
    """The queries of the dashboard, by panel."""
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return [
        (panel["title"], target["expr"]) for panel in board["panels"] for target in panel["targets"]
    ]


@pytest.mark.parametrize(("panel", "expression"), expressions())
def test_each_panel_shows_numbers(query: Query, panel: str, expression: str) -> None:
    if "kernel's own" in panel and not kernel.counters():
        lack("needs Linux", ci_has_it=False)
    asked = expression.replace("$__rate_interval", "1m").replace("$interface", "eth0|eth1")
    found = query(asked)
    assert found, asked
    assert all(math.isfinite(float(one["value"][1])) for one in found)


def test_prometheus_reads_back_what_was_served(query: Query) -> None:
    share, classes = (
        expression.replace("$__rate_interval", "1m").replace("$interface", ".*")
        for _, expression in expressions()[:2]
    )
    assert float(query(share)[0]["value"][1]) == pytest.approx(0.3)
    rates = {one["metric"]["class"]: float(one["value"][1]) for one in query(classes)}
    assert rates["genuine"] == pytest.approx(6 * rates["ack-lost"])
    assert query("rtolab_watch_connections_open")[0]["metric"]["interface"] == "eth0"


def test_the_dashboard_asks_for_all_metrics_that_exist_and_no_others() -> None:
    text = exposition(Growing().families(), open_metrics=True)
    served = set(re.findall(r"^(\w+)\{", text, re.MULTILINE))
    asked = set(re.findall(r"rtolab_\w+", " ".join(text for _, text in expressions())))
    not_shown = {"rtolab_watch_connections_total", "rtolab_watch_late_acks_total"}
    assert asked - {"rtolab_kernel_tcp_total"} == served - not_shown - {"rtolab_kernel_tcp_total"}


def test_promtool_finds_no_fault() -> None:
    tool = require_tool("promtool", "prometheus")
    text = exposition(Growing().families(), open_metrics=False)
    ran = execute(tool, "check", "metrics", input=text)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")
