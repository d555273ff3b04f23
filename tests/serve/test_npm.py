"""The engine as an npm package. Needs a Rust target, clang, node and npm."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from explorer_client import CAPTURE
from prerequisites import lack, require_tool

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
README = ROOT / "crates/web/npm/README.md"
PROGRAM = """
import { readFile } from "node:fs/promises";
import { load, RtolabError } from "rtolab";

const engine = await load();
const request = { scenario: "hold", senders: ["newreno"], seed: "18446744073709551615" };
const { senders: [sender] } = engine.run(request);
const [{ at_s, seq }] = sender.timeouts;
const one = { ...request, at_s, seq, others: ["sack", "newreno+frto"] };
const branch = engine.branch({ ...one, others: [] });
const found = await engine.diagnose("stall", await readFile(process.argv[2]));
let fault = null;
try {
  engine.run({ ...request, set: { "link.radio.rate": "fast" } });
} catch (error) {
  fault = { isOurs: error instanceof RtolabError, where: error.where, key: error.key };
}
console.log(JSON.stringify({
  scenarios: engine.scenarios.length,
  toml: engine.scenario(request).toml.includes("radio"),
  columns: [sender.packets.at_s, sender.packets.kind].map((one) => one.constructor.name),
  waiting: Math.max(...sender.path.links[0].there.waiting),
  unneeded: [sender, ...branch.senders].map((one) => one.totals.unneeded),
  whatIf: engine.whatIf(one).others.map((one) => one.sender ?? one.error),
  pcapng: [...engine.pcapng(request).slice(0, 4)],
  captured: found.pictures[0].retransmissions.length,
  fault,
}));
"""
TYPED = """
import { load, type Run, type Column } from "rtolab";

const engine = await load();
const run: Run = engine.run({ scenario: "hold", senders: ["sack"], set: { seed: "2" } });
const times: Column = run.senders[0].packets.at_s;
const queue: number = run.senders[0].path!.links[0].there.waiting[0];
const timeout = run.senders[0].timeouts[0];
engine.whatIf({ scenario: "hold", senders: ["sack"], at_s: timeout.at_s, seq: timeout.seq });
// @ts-expect-error: a request needs a scenario.
engine.run({ senders: ["sack"] });
console.log(times, queue);
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose programs can import the package."""
    require_tool("node", "nodejs")
    require_tool("npm", "npm")
    folder = tmp_path_factory.mktemp("npm")
    package = folder / "node_modules" / "rtolab"
    done = subprocess.run(
        [sys.executable, "tools/npm", package],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 2:
        lack(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return folder


def run_node(folder: Path, program: str, *arguments: str | Path) -> str:
    (folder / "program.mjs").write_text(program, encoding="utf-8")
    command = ["node", "program.mjs", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_example_prints_what_its_page_says(package: Path) -> None:
    text = README.read_text(encoding="utf-8")
    program, output = (
        re.findall(rf"```{name}\n(.*?)```", text, re.DOTALL) for name in ("js", "text")
    )
    assert [run_node(package, program[0])] == output


def test_every_call_answers(package: Path) -> None:
    found = json.loads(run_node(package, PROGRAM, CAPTURE))
    assert found["scenarios"] >= 50
    assert found["toml"]
    assert found["columns"] == ["Float64Array", "Uint8Array"]
    assert found["waiting"] > 20
    # The run, the same run in the branch, and the run without the timeout.
    assert found["unneeded"][0] == found["unneeded"][1] == 31
    assert found["unneeded"][2] == 0
    assert found["whatIf"] == ["sack", "newreno+frto"]
    assert bytes(found["pcapng"]) == b"\n\r\r\n"
    assert found["captured"] > 0
    assert found["fault"] == {"isOurs": True, "where": "set", "key": "link.radio.rate"}


def test_the_archive_has_all_files_and_nothing_else(package: Path) -> None:
    folder = package / "node_modules" / "rtolab"
    done = subprocess.run(
        ["npm", "pack", "--dry-run", "--json", "--loglevel=warn"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    [archive] = json.loads(done.stdout)
    assert {one["path"] for one in archive["files"]} == {one.name for one in folder.iterdir()}
    assert archive["version"] == "0.1.0"


def test_the_types_describe_the_package(package: Path) -> None:
    if (compiler := shutil.which("tsc")) is None:
        lack("tsc is missing; install it:  npm install --global typescript", ci_has_it=False)
    (package / "typed.mts").write_text(TYPED, encoding="utf-8")
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022"]
    done = subprocess.run(
        [compiler, *options, "--lib", "es2022,dom", "typed.mts"],
        cwd=package,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
