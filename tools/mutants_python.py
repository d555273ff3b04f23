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
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import coverage
from mutmut.mutation.file_mutation import create_mutations, deep_replace

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "target" / "mutants" / "python"
COPY = OUT / "python"
"""A copy of the package: the mutants are made there."""
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
    "tests/runs/test_stats.py",
    "tests/runs/test_measures.py",
    "tests/experiments/test_report.py",
    "tests/tuning",
    "tests/sweep/test_sweep_definition.py",
    "tests/sweep/test_sweep.py",
    "tests/sweep/test_sweep_shards.py",
    "tests/emulation/test_conform.py",
    "tests/emulation/test_conform_report.py",
    "tests/emulation/test_recipes.py",
    "tests/paths",
    "tests/diagnosis",
)
"""The tests that are tried, those that need root or a kernel of guests excepted."""
CHOSEN = ("-m", "not root and not slow and not browser")
TESTS_S = 20
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


def environment() -> dict[str, str]:
    """The copy comes first, and there are no kernels of guests."""
    paths = (str(COPY), str(ROOT / "tools"))
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(OUT / "cache"),
    }


def pytest(*arguments: str, within: tuple[str, ...] = (), **variables: str) -> int:
    """Run tests. Returns their exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider"]
    with (OUT / "pytest.log").open("w") as log:
        return subprocess.run(
            [*within, *command, *arguments],
            cwd=ROOT,
            env=environment() | variables,
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
        pytest("-p", "mutants_contexts", *CHOSEN, *TESTS, **variables)
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


def is_noticed(mutant: Mutant, names: list[str]) -> bool:
    """Does one of these tests fail with the mutant?"""
    path = COPY / "rtolab" / mutant.module
    before = path.read_bytes()
    path.write_text(mutant.source, encoding="utf-8")
    limits = [f"--cpu={CPU_S}", "timeout", str(LONGEST_S)]
    try:
        return pytest("-x", *names, within=("prlimit", *limits)) != 0
    finally:
        path.write_bytes(before)


def mutate(sample: str) -> tuple[dict[str, list[int]], list[str]]:
    """Try a sample of the mutants.

    Returns, by module or package, how many were tried, run by a test and noticed; and the mutants
    that no test noticed.
    """
    shutil.rmtree(OUT, ignore_errors=True)
    shutil.copytree(ROOT / "python", COPY, ignore=shutil.ignore_patterns("__pycache__"))
    tests = Tests()
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    missed = []
    for mutant in mutants(sample):
        names = tests.of(mutant)
        noticed = bool(names) and is_noticed(mutant, names)
        count = counts[mutant.module.split("/")[0].removesuffix(".py")]
        for place, holds in enumerate((True, bool(names), noticed)):
            count[place] += holds
        if not noticed:
            missed.append(f"{mutant}" + " (no test runs it)" * (not names))
        sys.stderr.write(f"{'noticed' if noticed else 'missed'} {mutant}\n")
    return dict(counts), missed
