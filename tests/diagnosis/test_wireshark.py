"""Annotated captures in Wireshark with rtolab's plugin and profile."""

import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import program
from prerequisites import require_tool
from program import execute
from rtolab import Error, wireshark
from rtolab.diagnosis import Diagnosis, annotate, diagnose

CAPTURES = Path(__file__).parents[1] / "captures"
LABELLED = sorted(path.relative_to(CAPTURES) for path in CAPTURES.rglob("*.pcap*.gz"))
STALL = CAPTURES / "stall-3s-sack-frto-off.sender.pcapng.gz"


@pytest.fixture(scope="module")
def tshark(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """A function that runs tshark with the plugin and returns its output."""
    path, folder = require_tool("tshark", "tshark"), tmp_path_factory.mktemp("wireshark")
    wireshark.install(folder)
    environment = os.environ | {"WIRESHARK_CONFIG_DIR": str(folder), "HOME": str(folder)}

    def run(*arguments: str | Path) -> str:
        done = execute(path, "-n", *arguments, env=environment, check=True)
        return str(done.stdout)

    return run


def frames_of_filters(found: Diagnosis) -> dict[str, set[int]]:
    """The frames that each display filter must find, by the diagnosis."""
    frames: defaultdict[str, set[int]] = defaultdict(set)
    numbers = count(1)
    for one in found.document["connections"]:
        for resent in one["retransmissions"]:
            frame = resent["frame"]
            frames[f'rtolab.verdict == "{resent["verdict"]}"'].add(frame)
            frames[f'rtolab.trigger == "{resent["trigger"]}"'].add(frame)
            sure = resent["evidence"] and round(resent["confidence"], 3) >= 0.95
            frames["rtolab.confidence >= 0.95"] |= {frame} if sure else set()
            for key in ("evidence", "against"):
                for piece in resent[key]:
                    frames[f'rtolab.{key} == "{piece["kind"]}"'].add(frame)
                    frames[f"rtolab.{key}.frame == {piece['frame']}"].add(frame)
        for timeout in one["timeouts"]:
            frames[f'rtolab.timeout == "{timeout["class"]}"'].add(timeout["frame"])
        for episode in one["episodes"]:
            frames[f"rtolab.episode == {next(numbers)}"] = {
                resent["frame"]
                for resent in one["retransmissions"]
                if resent["from"] == episode["from"]
                and episode["start"] <= resent["t"]
                and (episode["end"] is None or resent["t"] <= episode["end"])
            }
            if episode["cost"]["time_lost"] is not None:
                frames["rtolab.cost"].add(episode["frames"][0])
            frames["rtolab.description"].add(episode["frames"][0])
        for habit in one["habits"]:
            frames[f'rtolab.finding == "{habit["habit"]}"'] |= set(habit["frames"])
    return {
        'rtolab.verdict == "needed"': set(),
        'rtolab.verdict == "unneeded"': set(),
        'rtolab.timeout == "spurious"': set(),
        **frames,
        "rtolab": set().union(*frames.values()),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", LABELLED, ids=str)
def test_each_filter_finds_the_frames_of_the_diagnosis(
    name: Path, tshark: Callable[..., str], tmp_path: Path
) -> None:
    found, copy = diagnose(CAPTURES / name), tmp_path / "annotated.pcapng"
    annotate(found, copy)
    expected = frames_of_filters(found)
    statistics = ",".join(["io,stat,0", *expected])
    [row] = re.findall(r"<> .*", tshark("-q", "-r", copy, "-z", statistics))
    counts = [int(cell) for cell in row.split("|")[1:-1:2]]
    assert dict(zip(expected, counts, strict=True)) == {
        written: len(frames) for written, frames in expected.items()
    }


def test_every_filter_finds_frames_in_some_capture() -> None:
    assert len(LABELLED) >= 24


@pytest.fixture(scope="module")
def stall(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("annotated") / "stall.pcapng"
    annotate(diagnose(STALL), copy)
    return copy


def test_fields_hold_the_values_of_the_diagnosis(stall: Path, tshark: Callable[..., str]) -> None:
    names = ("verdict", "trigger", "confidence", "evidence", "evidence.frame", "timeout")
    fields = [word for name in names for word in ("-e", f"rtolab.{name}")]
    reported = tshark("-r", stall, "-Y", "rtolab.verdict", "-T", "fields", *fields).splitlines()
    [one] = diagnose(STALL).document["connections"]
    classes = {timeout["frame"]: timeout["class"] for timeout in one["timeouts"]}
    assert [line.split("\t") for line in reported] == [
        [
            resent["verdict"],
            resent["trigger"],
            f"{resent['confidence']:g}",
            ",".join(piece["kind"] for piece in resent["evidence"]),
            ",".join(str(piece["frame"]) for piece in resent["evidence"]),
            classes.get(resent["frame"], ""),
        ]
        for resent in one["retransmissions"]
    ]
    requested = [
        "-Y",
        "rtolab.cost",
        "-T",
        "fields",
        "-e",
        "rtolab.cost",
        "-e",
        "rtolab.description",
    ]
    [episode] = one["episodes"]
    cost, description = tshark("-r", stall, *requested).rstrip("\n").split("\t")
    assert float(cost) == pytest.approx(episode["cost"]["time_lost"], abs=1e-6)
    assert description == episode["description"]


def test_a_copy_of_a_copy_has_each_finding_once(
    stall: Path, tshark: Callable[..., str], tmp_path: Path
) -> None:
    again = tmp_path / "again.pcapng"
    annotate(diagnose(stall), again)
    requested = ["-Y", "rtolab.verdict", "-T", "fields", "-e", "rtolab.verdict"]
    assert tshark("-r", again, *requested).split() == ["unneeded"] * 46


def test_the_profile_has_columns_and_colours(stall: Path, tshark: Callable[..., str]) -> None:
    profile = ("-C", "rtolab", "-r", stall)
    assert tshark(*profile, "-Y", "frame.number == 703").split()[5:9] == [
        "unneeded",
        "timeout",
        "spurious",
        "d-sack,originals-in-order",
    ]
    requested = ["--color", "-T", "fields", "-e", "frame.coloring_rule.name", "-Y", "rtolab"]
    rules = [line for line in tshark(*profile, *requested).splitlines() if line]
    assert rules.count("rtolab: timeout, spurious or for a lost ACK") == 2
    assert rules.count("rtolab: unneeded retransmission") == len(rules) - 2 == 44


def test_the_plugin_is_installed_where_wireshark_looks(tmp_path: Path) -> None:
    tshark = require_tool("tshark", "tshark")
    environment = os.environ | {"HOME": str(tmp_path)}
    environment.pop("XDG_CONFIG_HOME", None)
    reported = execute(tshark, "-G", "folders", env=environment, check=True).stdout
    folders = dict(re.findall(r"^(.+?):\s+(.+)$", reported, re.MULTILINE))
    plugin = Path(folders["Personal Lua Plugins"]) / "rtolab.lua"
    profile = Path(folders["Personal configuration"]) / "profiles" / "rtolab"
    files = [plugin, profile / "colorfilters", profile / "preferences"]
    if sys.platform == "linux":
        # Wireshark lists only the system's folder of capture interfaces.
        folders_of = (Path(folders["Personal configuration"]), plugin.parents[1])
        files += [folder / "extcap" / "rtolab-watch" for folder in folders_of]
    assert all(tmp_path in file.parents for file in files)
    for _ in range(2):  # The second time overwrites our own files.
        done = program.run("wireshark", "--install", env=program.environment() | environment)
        assert done.stdout == "".join(f"wrote {file}\n" for file in files)
    assert execute(tshark, "-G", "fields", env=environment).stdout.count("\trtolab.") >= 12


def test_on_windows_plugin_and_profile_are_in_one_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("APPDATA", str(tmp_path))
    written, _ = wireshark.install()
    assert written[0] == tmp_path / "Wireshark" / "plugins" / "rtolab.lua"
    assert written[1] == tmp_path / "Wireshark" / "profiles" / "rtolab" / "colorfilters"


def test_a_plugin_that_is_not_ours_stays(tmp_path: Path) -> None:
    plugin = tmp_path / "plugins" / "rtolab.lua"
    plugin.parent.mkdir()
    plugin.write_text("-- somebody else's\n")
    with pytest.raises(Error, match="this file is not rtolab's; move it"):
        wireshark.install(tmp_path)
    done = program.run_here("wireshark", "--install", "--to", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["rtolab.lua"]
    assert plugin.read_text() == "-- somebody else's\n"


def test_a_profile_that_its_user_changed_stays(tmp_path: Path) -> None:
    wireshark.install(tmp_path)
    preferences = tmp_path / "profiles" / "rtolab" / "preferences"
    preferences.write_text("# Configuration file for Wireshark 4.0.17.\n")
    written, kept = wireshark.install(tmp_path)
    assert (kept, len(written)) == ([preferences], 3 if sys.platform == "linux" else 2)
    assert preferences.read_text().startswith("# Configuration file")


def test_without_install_it_names_the_plugin() -> None:
    done = program.run_here("wireshark")
    assert Path(done.stdout.strip()).read_text().startswith("-- rtolab: ")
    assert program.run_here("wireshark", "--to", "elsewhere").returncode == 2
