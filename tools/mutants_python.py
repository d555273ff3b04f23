"""Mutants of the package's Python: for tools/mutants.

mutmut makes the mutants. A first run of the tests records which of them run which lines, also in
processes that they start. Each mutant is then tried with the tests that run its statement.
"""

import ast
import difflib
import json
import os
import random
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import Queue

import coverage
from mutmut.mutation.file_mutation import create_mutations, deep_replace

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "mutants" / "python"
COPY = OUT / "python"
"""A copy of the package: the mutants are of its modules."""
BESIDE = ("scenarios", "stacks")
"""Folders that the package finds beside itself."""
MODULES = (
    "stats.py",
    "measures.py",
    "text.py",
    "report.py",
    "tuning",
    "sweep",
    "conform",
    "paths",
    "diagnosis",
)
"""Modules and packages that hold logic and have tests of their own."""
TESTS = (
    "tests/cli",
    "tests/diagnosis",
    "tests/emulation/test_conform.py",
    "tests/emulation/test_conform_report.py",
    "tests/emulation/test_conform_runs.py",
    "tests/emulation/test_conform_suites.py",
    "tests/emulation/test_conform_texts.py",
    "tests/emulation/test_pytest_plugin.py",
    "tests/emulation/test_recipes.py",
    "tests/experiments/test_campaign.py",
    "tests/experiments/test_explanations.py",
    "tests/experiments/test_report.py",
    "tests/experiments/test_report_text.py",
    "tests/experiments/test_sensitivity.py",
    "tests/paths",
    "tests/runs/test_measures.py",
    "tests/runs/test_stats.py",
    "tests/serve/test_mcp.py",
    "tests/serve/test_mcp_captures.py",
    "tests/sweep",
    "tests/threats/test_files.py",
    "tests/threats/test_terminal.py",
    "tests/tuning",
)
"""The tests that are tried. Those that need a kernel of guests skip themselves."""
CHOSEN = ("-m", "(not slow and not browser) or root")
"""Those with the mark `root` skip themselves where they cannot run."""
TESTS_S = 60
"""The time of the tests of a mutant; a single one may take longer."""
CPU_S, LONGEST_S = 60, 600
"""A mutant whose tests take more processor time, or longer, never ends; it counts as noticed."""
SEED = 1
"""The order of the mutants, of which a sample has every N-th."""
COVERAGE = """[run]
source_pkgs = rtolab
data_file = {out}/coverage
parallel = true
context = ${{RTOLAB_TEST-}}
"""
"""Settings of coverage, which processes that tests start read, too."""


@dataclass(frozen=True)
class Mutant:
    """A changed source of a module, relative to the package."""

    module: str
    line: int
    change: str
    source: str

    def __str__(self) -> str:
        """Where and what, in one line."""
        return f"python/rtolab/{self.module}:{self.line}: {self.change}"


def mutants(sample: str) -> Iterator[Mutant]:
    """A sample of the mutants that mutmut makes of functions in these modules."""
    package = COPY / "rtolab"
    found = []
    for name in MODULES:
        at = package / name
        for path in [at] if at.is_file() else sorted(at.rglob("*.py")):
            module, changes, *_ = create_mutations(str(path), path.read_text(encoding="utf-8"))
            found += [(path, module, one) for one in changes if one.contained_by_top_level_function]
    random.Random(SEED).shuffle(found)  # noqa: S311
    start, step = map(int, sample.split("/"))
    for path, module, one in found[start::step]:
        source = deep_replace(module, one.original_node, one.mutated_node).code
        if source != module.code:
            yield Mutant(str(path.relative_to(package)), *difference(module.code, source), source)


def difference(code: str, source: str) -> tuple[int, str]:
    """The first line that differs, and both its forms."""
    old, new = code.splitlines(), source.splitlines()
    for how, start, end, begin, stop in difflib.SequenceMatcher(
        a=old, b=new, autojunk=False
    ).get_opcodes():
        if how != "equal":
            forms = (" ".join(map(str.strip, lines)) for lines in (old[start:end], new[begin:stop]))
            return min(start + 1, len(old)), " -> ".join(forms)
    raise ValueError("the sources are equal")


def environment(copy: Path) -> dict[str, str]:
    """The copy of the package comes first, and there are no kernels of guests."""
    paths = (str(copy), str(ROOT / "tools"))
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(OUT / "cache"),
    }


def pytest(*arguments: str, copy: Path, within: tuple[str, ...] = (), **variables: str) -> int:
    """Run tests of a copy of the package. Returns their exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    with copy.with_suffix(".log").open("w") as log:
        return subprocess.run(
            [*within, *command, *arguments],
            cwd=ROOT,
            env=environment(copy) | variables,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode


class Tests:
    """Which tests run which lines of the copy, and how long they take."""

    def __init__(self) -> None:
        settings, tests = OUT / "coveragerc", OUT / "tests.json"
        settings.write_text(COVERAGE.format(out=OUT), encoding="ascii")
        variables = {"COVERAGE_PROCESS_START": str(settings), "RTOLAB_TESTS": str(tests)}
        pytest("-p", "mutants_contexts", *CHOSEN, *TESTS, copy=COPY, **variables)
        coverage.Coverage(config_file=str(settings)).combine()
        found = json.loads(tests.read_text())
        self.users: dict[str, list[str]] = defaultdict(list)
        """The tests of each context."""
        self.taken_s: dict[str, float] = {}
        for name, test in found["tests"].items():
            self.users[name].append(name)
            self.taken_s[name] = test["taken_s"]
            for context, taken in found["fixtures"].items():
                base, _, fixture = context.partition(" fixture ")
                if name.startswith(base) and fixture in test["fixtures"]:
                    self.users[context].append(name)
                    self.taken_s[name] += taken
        self.data = coverage.CoverageData(basename=str(OUT / "coverage"))
        self.data.read()
        self.contexts = cache(self.data.contexts_by_lineno)

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that run the mutant's statement, the shortest first."""
        path = COPY / "rtolab" / mutant.module
        by_line = self.contexts(str(path))
        lines = statement(ast.parse(path.read_text(encoding="utf-8")), mutant.line)
        names = {
            name
            for line in lines
            for one in by_line.get(line, ())
            for name in self.users.get(one, ())
        }
        chosen, total_s = [], 0.0
        for name in sorted(names, key=lambda name: (self.taken_s[name], name)):
            total_s += self.taken_s[name]
            if chosen and total_s > TESTS_S:
                break
            chosen.append(name)
        return chosen


def statement(tree: ast.Module, line: int) -> range:
    """The lines that run with this one.

    They are those of the innermost statement; of a compound one, those of its head; of one in the
    body of a class, those of the class.
    """
    holds = [one for one in ast.walk(tree) if isinstance(one, ast.stmt) and line in lines_of(one)]
    one, *around = sorted(holds, key=lambda one: len(lines_of(one)))
    is_function = isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    if around and isinstance(around[0], ast.ClassDef) and not is_function:
        return lines_of(around[0])
    if isinstance(one, ast.If | ast.For | ast.While | ast.With | ast.Try):
        return range(one.lineno, one.body[0].lineno)
    return lines_of(one)


def lines_of(one: ast.stmt) -> range:
    """The lines of a statement."""
    return range(one.lineno, (one.end_lineno or one.lineno) + 1)


class Copies:
    """Copies of the package for mutants: each is used by one job at a time."""

    def __init__(self, jobs: int) -> None:
        self.free: Queue[Path] = Queue()
        for job in range(jobs):
            copy = OUT / f"python-{job}"
            shutil.copytree(COPY, copy)
            self.free.put(copy)

    def is_noticed(self, mutant: Mutant, names: list[str]) -> bool:
        """Does one of these tests fail with the mutant?"""
        copy = self.free.get()
        path = copy / "rtolab" / mutant.module
        before = path.read_bytes()
        path.write_text(mutant.source, encoding="utf-8")
        within = ("prlimit", f"--cpu={CPU_S}", "timeout", str(LONGEST_S))
        try:
            return pytest("-x", *names, copy=copy, within=within) != 0
        finally:
            path.write_bytes(before)
            self.free.put(copy)


def mutate(sample: str, jobs: int) -> tuple[dict[str, list[int]], list[str]]:
    """Try a sample of the mutants, several at a time.

    Returns, by module or package, how many were tried, run by a test and noticed; and the mutants
    that no test noticed.
    """
    shutil.rmtree(OUT, ignore_errors=True)
    shutil.copytree(ROOT / "python", COPY, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in BESIDE:
        (OUT / folder).symlink_to(ROOT / folder)
    tests, copies = Tests(), Copies(jobs)
    found = [(mutant, tests.of(mutant)) for mutant in mutants(sample)]

    def is_noticed(mutant: Mutant, names: list[str]) -> bool:
        noticed = bool(names) and copies.is_noticed(mutant, names)
        sys.stderr.write(f"{'noticed' if noticed else 'missed'} {mutant}\n")
        return noticed

    with ThreadPoolExecutor(jobs) as threads:
        outcomes = list(threads.map(is_noticed, *zip(*found, strict=True)))
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    missed = []
    for (mutant, names), noticed in zip(found, outcomes, strict=True):
        count = counts[mutant.module.split("/")[0].removesuffix(".py")]
        for place, holds in enumerate((True, bool(names), noticed)):
            count[place] += holds
        if not noticed:
            missed.append(f"{mutant}" + " (no test runs it)" * (not names))
    return dict(counts), missed
