"""Mutants of the Rust crates: for tools/mutants.

cargo-mutants lists the mutants. A copy of the repository has all mutants of the sample compiled in
(`mutants_schemata.py`), and the environment selects one. So the copy is built once, and the tests
of a mutant begin at once, the quickest first.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutants_schemata import (
    SELECTOR,
    VARIABLE,
    Mutant,
    mutants_at,
    needed_by_constants,
    offset,
    schemata,
)

ROOT = Path(__file__).resolve().parent.parent
OUT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "mutants"
COPY = OUT / "copy"
EXTENSION = "py"
"""The crate of Python's extension."""
USERS = {
    "tcp": ("diagnose", "fuzz-models", "net", "packetdrill", "sim", "socket"),
    "link": ("net", "sim"),
    "diagnose": ("explorer", "fuzz-models", "qlog"),
    "scenario": ("fuzz-models", "sim"),
}
"""The crates with mutants, and those that use them and whose tests are run, too."""
RUN_TESTS = ("agreed_paths", "drawn_scenarios", "judging", "prototype", "recorded")
RUNS = tuple(f"tests/runs/test_{name}.py" for name in RUN_TESTS)
PYTHON = {
    "tcp": RUNS,
    "link": RUNS,
    "diagnose": ("tests/diagnosis", "tests/cli/test_watch.py", "tests/runs/test_captures.py"),
    "scenario": (*RUNS, "tests/cli", "tests/sweep/test_sweep_definition.py"),
}
"""Tests in Python that run the crate, and need neither a build nor the network."""
CHOSEN = ("-m", "not root and not browser")
PROFILE = (
    "--config=profile.dev.opt-level=2",
    '--config=profile.dev.package."*".opt-level=1',
    "--config=profile.dev.debug=false",
)
"""Tests of mutants run often, so optimising pays; assertions of debug builds stay."""
QUICK_S = 0.2
"""Tests that take less run in one process, others in one each."""
LONGEST_S = 5
"""Tests of other crates that take longer are left out."""
MEMORY = 6 << 30
"""A mutant that takes more ends; it counts as noticed."""


@dataclass(frozen=True)
class Found:
    """A mutant as cargo-mutants names it, and where it is."""

    crate: str
    file: str
    name: str
    change: Mutant


@dataclass(frozen=True)
class Tests:
    """Tests that run in one process."""

    crate: str
    """The crate, or `python`."""
    command: tuple[str, ...]
    folder: Path
    taken_s: float
    """The time without a mutant."""

    def fail(self, number: int) -> bool:
        """Does one of them fail with this mutant, or never end?"""
        cpu_s = 10 + 5 * self.taken_s
        limits = ("prlimit", f"--cpu={cpu_s:.0f}", f"--data={MEMORY}")
        process = started((*limits, *self.command), self.folder, number)
        # A deadlock takes no processor time. Other processes may take most of it.
        timer = threading.Timer(60 + 4 * cpu_s, kill, (process,))
        timer.start()
        try:
            if any(line.rstrip().endswith(" FAILED") for line in process.stdout or ()):
                return True
            return process.wait() != 0
        finally:
            timer.cancel()
            kill(process)
            process.communicate()


def started(command: Iterable[str], folder: Path, number: int = 0) -> "subprocess.Popen[str]":
    """Start a command with a mutant. Its processes are a group."""
    settings = tomllib.loads((ROOT / ".cargo" / "config.toml").read_text(encoding="utf-8"))
    variables = settings["env"] | {
        VARIABLE: str(number),
        "RUST_TEST_THREADS": "1",
        "INSTA_UPDATE": "no",
        # A failing input that a mutant leaves would let the next one fail.
        "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true",
        "PROPTEST_MAX_SHRINK_ITERS": "0",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(OUT / "hypothesis" / str(number)),
        "PYTHONPATH": str(COPY / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(OUT / "cache"),
    }
    return subprocess.Popen(
        list(command),
        cwd=folder,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    )


def kill(process: "subprocess.Popen[str]") -> None:
    """End a process and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, 9)


def stop(message: str) -> None:
    """End with a message."""
    sys.stderr.write(f"{message}\n")
    sys.exit(2)


def mutants(crates: Iterable[str], sample: str, names: set[str] | None) -> list[Found]:
    """The mutants of a sample, or those with these names."""
    start, step = map(int, sample.split("/"))
    found: list[Found] = []
    for crate in crates:
        command = ["cargo", "mutants", "--list", "--json", "--package", f"rtolab-{crate}"]
        listed = json.loads(subprocess.check_output(command, cwd=ROOT))
        chosen = listed[start::step] if names is None else listed
        for one in chosen:
            if names is None or one["name"] in names:
                found.append(described(crate, one, len(found) + 1))
    return found


def described(crate: str, listed: dict[str, Any], number: int) -> Found:
    """A mutant of cargo-mutants' list."""
    source = (ROOT / listed["file"]).read_bytes()
    start, end = (
        offset(source, at["line"], at["column"])
        for at in (listed["span"]["start"], listed["span"]["end"])
    )
    change = Mutant(number, listed["genre"], start, end, listed["replacement"])
    return Found(crate, listed["file"], listed["name"], change)


def cargo(*arguments: str) -> tuple[bool, list[dict[str, Any]]]:
    """Run cargo in the copy. Returns whether it succeeded, and its messages."""
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(OUT / "target"),
        "RUSTFLAGS": "--cap-lints=allow",
    }
    done = subprocess.run(
        ["cargo", *arguments, *PROFILE, "--message-format=json", "--quiet"],
        cwd=COPY,
        env=environment,
        stdout=subprocess.PIPE,
        check=False,
    )
    return done.returncode == 0, [json.loads(line) for line in done.stdout.splitlines()]


class Build:
    """The copy with its mutants, compiled."""

    def __init__(self, mutants: list[Found]) -> None:
        self.mutants = mutants
        self.crates = sorted({one.crate for one in mutants})
        self.dropped: set[int] = set()
        """The mutants that do not compile, or are no expression of a running program."""
        all_ = (path.read_bytes() for path in (ROOT / "crates").rglob("*.rs"))
        self.constant = needed_by_constants(all_)
        """The functions that stay `const`."""
        self.programs: list[tuple[str, Path, Path]] = []
        """The tests' crates, programs and folders."""
        self.sources = {
            str(path.relative_to(ROOT)): path.read_bytes()
            for crate in self.crates
            for path in (ROOT / "crates" / crate / "src").rglob("*.rs")
        }
        """The files with mutants, and all others of these crates, as functions lose `const`."""
        copy_repository({*self.sources, f"crates/{EXTENSION}/Cargo.toml"})
        # Cargo builds the extension with the tests, and so with the same features of dependencies,
        # if it is also a library that tests can depend on.
        manifest = Path("crates") / EXTENSION / "Cargo.toml"
        text = (ROOT / manifest).read_bytes()
        if b'["cdylib"]' not in text:
            stop(f"{manifest} has another crate-type than cdylib alone")
        write(COPY / manifest, text.replace(b'["cdylib"]', b'["cdylib", "rlib"]'))
        tested = {*self.crates, EXTENSION}.union(*(USERS[crate] for crate in self.crates))
        packages = [f"--package=rtolab-{name}" for name in sorted(tested)]
        # To check takes a fraction of the time, and mutants are mostly left out here.
        self.until_it_compiles("check", "--keep-going", *packages)
        for message in self.until_it_compiles("test", "--no-run", "--lib", "--tests", *packages):
            self.use(message)

    def use(self, message: dict[str, Any]) -> None:
        """Note a program with tests, or copy the extension."""
        if message["reason"] != "compiler-artifact":
            return
        folder = Path(message["manifest_path"]).parent
        if message["executable"] and message["profile"]["test"] and folder.name != EXTENSION:
            self.programs.append((folder.name, Path(message["executable"]), folder))
        for file in message["filenames"] if folder.name == EXTENSION else ():
            if file.endswith(".so") and not message["profile"]["test"]:
                shutil.copy2(file, COPY / "python" / "rtolab" / "_rtolab.abi3.so")

    def until_it_compiles(self, *arguments: str) -> list[dict[str, Any]]:
        """Leave out mutants until cargo succeeds. Returns its messages."""
        while True:
            self.instrument()
            succeeded, messages = cargo(*arguments)
            if succeeded:
                return messages
            errors = [
                one["message"]
                for one in messages
                if one["reason"] == "compiler-message" and one["message"]["level"] == "error"
            ]
            before = len(self.dropped), len(self.constant)
            for error in errors:
                self.learn(error)
            sys.stderr.write(f"{len(self.dropped)} mutants do not compile\n")
            if before == (len(self.dropped), len(self.constant)):
                stop("".join(one["rendered"] or "" for one in errors) or "cargo failed")

    def instrument(self) -> None:
        """Write the sources with mutants, where they changed."""
        for file, source in self.sources.items():
            here = [
                one.change
                for one in self.mutants
                if one.file == file and one.change.number not in self.dropped
            ]
            text, impossible = schemata(source, here, self.constant)
            self.dropped |= impossible
            if file.endswith("/src/lib.rs"):
                text += SELECTOR.encode()
            write(COPY / file, text)

    def learn(self, error: dict[str, Any]) -> None:
        """Leave out what an error is about."""
        called = re.search(
            r"cannot call non-const .* `(?:.*::)?(\w+)(?:::<.*>)?`", error["message"]
        )
        if called:
            self.constant |= {called[1]}
            return
        spans = sorted(error["spans"], key=lambda one: not one["is_primary"])
        for one in spans:
            path = COPY / one["file_name"]
            numbers = mutants_at(path.read_bytes(), one["byte_start"]) if path.exists() else set()
            if numbers:
                self.dropped |= numbers
                return


def copy_repository(written: set[str]) -> None:
    """Update the copy; the sources that get mutants excepted."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")[:-1]
    there = {path.relative_to(COPY) for path in COPY.rglob("*") if not path.is_dir()}
    for name in there - set(map(Path, names)):
        (COPY / name).unlink()
    for name in set(names) - written:
        path, target = ROOT / name, COPY / name
        if path.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.symlink_to(path.readlink())
        elif path.is_file():
            write(target, path.read_bytes())
            target.chmod(path.stat().st_mode)


def write(path: Path, text: bytes) -> None:
    """Write a file, unless it has this text: cargo compares times."""
    if not path.is_file() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def tests_of_program(crate: str, program: Path, folder: Path) -> Iterator[Tests]:
    """The tests of a program, which must pass without a mutant."""
    process = started([str(program)], folder)
    quick, total_s, before = [], 0.0, time.monotonic()
    for line in process.stdout or ():
        now = time.monotonic()
        found = re.match(r"test (\S+)(?: - should panic)? \.\.\. (ok|FAILED)", line)
        if not found:
            continue
        if found[2] == "FAILED":
            stop(f"{program} {found[1]} fails without a mutant")
        taken_s, before = now - before, now
        if taken_s < QUICK_S:
            quick.append(found[1])
            total_s += taken_s
        else:
            yield Tests(crate, (str(program), "--exact", found[1]), folder, taken_s)
    if process.wait() != 0:
        stop(f"{program} fails without a mutant")
    if quick:
        yield Tests(crate, (str(program), "--exact", *quick), folder, total_s)


def tests_of_python(paths: Iterable[str]) -> Tests:
    """The tests of these modules, the quickest module first."""
    pytest = (sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider")
    report = OUT / "pytest.xml"
    begin = time.monotonic()
    process = started((*pytest, *CHOSEN, f"--junitxml={report}", *paths), COPY)
    output = process.communicate()[0]
    if process.returncode != 0:
        stop(f"{output}tests in Python fail without a mutant")
    taken_s = time.monotonic() - begin
    modules: dict[str, float] = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314
        name = case.attrib["classname"].replace(".", "/") + ".py"
        modules[name] = modules.get(name, 0) + float(case.attrib["time"])
    ordered = sorted(modules, key=lambda name: modules[name])
    return Tests("python", (*pytest, "-x", *CHOSEN, *ordered), COPY, taken_s)


class Outcomes:
    """Which tests notice which mutants."""

    def __init__(self, build: Build, jobs: int) -> None:
        with ThreadPoolExecutor(jobs) as pool:
            found = list(pool.map(lambda program: list(tests_of_program(*program)), build.programs))
        self.rust = sorted((one for all_ in found for one in all_), key=lambda one: one.taken_s)
        self.build = build
        self.noticed: dict[str, str | None] = {}
        """By mutant the crate whose tests notice it, or `python`."""
        self.python = {crate: tests_of_python(PYTHON[crate]) for crate in build.crates}
        for crate in build.crates:
            times = ", ".join(
                f"{sum(one.taken_s for one in tests):.0f} s of {name}"
                for name, tests in self.stages(crate)
            )
            sys.stderr.write(f"{crate} without a mutant: {times}\n")
        tried = [one for one in build.mutants if one.change.number not in build.dropped]
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(self.of, tried))

    def stages(self, crate: str) -> Iterator[tuple[str, list[Tests]]]:
        """The tests of a crate in their order."""
        yield "own tests", [one for one in self.rust if one.crate == crate]
        others = (one for one in self.rust if one.crate in USERS[crate])
        yield "other crates", [one for one in others if one.taken_s < LONGEST_S]
        yield "Python", [self.python[crate]]

    def of(self, mutant: Found) -> None:
        """Try a mutant."""
        begin = time.monotonic()
        tests = (one for _, tests in self.stages(mutant.crate) for one in tests)
        by = next((one for one in tests if one.fail(mutant.change.number)), None)
        self.noticed[mutant.name] = by and by.crate
        what = f"noticed by {Path(by.command[0]).name} {by.crate}" if by else "missed"
        sys.stderr.write(f"{time.monotonic() - begin:.1f} s: {mutant.name}: {what}\n")
