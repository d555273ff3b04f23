"""The clock of programs in guests, which mostly needs no system call."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from guests import require_kernel
from prerequisites import require_tool
from rtolab import _rtolab, kernel
from rtolab._rtolab import Error
from rtolab.kernel.vdso import with_vdso_clock
from rtolab.run import find_scenario

KNOWN = {
    "arch/um/include/shared/skas/stub-data.h": (
        "#define STUB_DATA_H\n\nstruct stub_data {\n\t/* Stack for our signal handlers */\n};\n"
    ),
    "arch/um/os-Linux/skas/process.c": (
        "int before;\n\nvoid userspace(struct uml_pt_regs *regs)\n{\n"
        "\t\tcurrent_mm_sync();\n\t\tregs->is_user = 1;\n}\n"
    ),
    "arch/um/kernel/skas/syscall.c": (
        "int before;\n\nvoid handle_syscall(struct uml_pt_regs *r)\n{\n"
        "\t\tPT_REGS_SET_SYSCALL_RETURN(regs, ret);\n}\n"
    ),
    "arch/um/kernel/time.c": "static u16 time_travel_shm_id;\n",
    "arch/x86/um/vdso/um_vdso.c": "/* Calls the kernel. */\n",
    "arch/x86/um/vdso/vma.c": (
        "struct page *um_vdso;\n\nstatic int __init init_vdso(void)\n{\n"
        "\tcopy_page(page_address(um_vdso), vdso_start);\n}\n"
    ),
    "arch/x86/um/mem_64.c": "/* Stays as it is. */\n",
    "net/ipv4/tcp.c": "/* Stays as it is. */\n",
}
"""A tree of Linux's sources, reduced to what the change looks for."""

WAITS = r"""
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec + at.tv_nsec / 1e9;
}

/* For a second: looks at the clock, or also polls, or also reads nothing, or sends and receives. */
int main(int count, char **words)
{
	int sockets[2], number = 0;
	char byte = 0;
	double start = now();

	(void)count;
	socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, sockets);
	struct pollfd wanted = {.fd = sockets[0], .events = POLLIN};

	if (!strcmp(words[1], "works")) {
		for (; number < 30000; number++) {
			write(sockets[1], &byte, 1);
			now();
			read(sockets[0], &byte, 1);
		}
		printf("%.6f\n", now() - start);
		return 0;
	}
	while (now() < start + 1) {
		if (!strcmp(words[1], "polls") && poll(&wanted, 1, 0))
			return 1;
		if (!strcmp(words[1], "reads") && read(sockets[0], &byte, 1) > 0)
			return 1;
	}
	printf("%.6f\n", now() - start);
}
"""
"""A program that waits without sleeping, and one that has always something to do."""

READINGS = """
import ctypes, time

libc, NUMBER = ctypes.CDLL(None), 228
class Time(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]
def called(clock):
    now = Time()
    libc.syscall(NUMBER, clock, ctypes.byref(now))
    return now.s * 10**9 + now.ns
for clock in (time.CLOCK_MONOTONIC, time.CLOCK_REALTIME):
    for _ in range(9000):
        print(time.clock_gettime_ns(clock))
    for _ in range(100):
        print(called(clock))
        print(time.clock_gettime_ns(clock))
    time.sleep(0.01)
    print(time.clock_gettime_ns(clock))
"""
"""Reads the clock with and without system calls, in a guest; 228 is clock_gettime's number."""


def tree_of(folder: Path, texts: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_tree_is_copied_only_where_it_changes(tmp_path: Path) -> None:
    """Everything else is a link, and the tree stays as it is."""
    tree = tree_of(tmp_path / "tree", KNOWN)
    changed = with_vdso_clock(tree, tmp_path / "changed")
    assert changed == tmp_path / "changed"
    assert {name: (tree / name).read_text() for name in KNOWN} == KNOWN
    for name in ("net", "arch/x86/um/mem_64.c"):
        assert (changed / name).readlink() == tree / name
    process = (changed / "arch/um/os-Linux/skas/process.c").read_text()
    before, after = process.index("rtolab_before_program();"), process.index("is_user")
    assert before < process.index("\t\trtolab_after_program();") < after
    call = (changed / "arch/um/kernel/skas/syscall.c").read_text()
    assert call.index("SYSCALL_RETURN") < call.index("rtolab_after_call(syscall, ret);")
    assert "struct vdso_clock clock;" in (changed / next(iter(KNOWN))).read_text()
    assert "rtolab_after_program(void)" in (changed / "arch/um/kernel/time.c").read_text()
    assert (changed / "arch/um/include/shared/skas/vdso_clock.h").is_file()


@pytest.mark.parametrize("name", [name for name in KNOWN if "um" in name and "mem_64" not in name])
def test_a_tree_of_an_unknown_kind_is_left_alone(tmp_path: Path, name: str) -> None:
    """As that of Linux 6.1, whose clock is not in shared memory."""
    for at, texts in enumerate(({**KNOWN, name: "other\n"}, {**KNOWN, name: ""})):
        tree = tree_of(tmp_path / f"tree-{at}", texts)
        if name.endswith("um_vdso.c"):
            (tree / name).unlink()
        assert with_vdso_clock(tree, tmp_path / f"changed-{at}") is None
        assert not (tmp_path / f"changed-{at}").exists()


@pytest.mark.parametrize(
    ("failure", "tries"),
    [
        ("arch/um/kernel/skas/mmu.c:21: static assertion failed", ["vdso", "tree"]),
        ("net/ipv4/tcp.c:9: error: expected ';'", ["vdso"]),
    ],
)
def test_a_tree_is_built_as_it_is_if_the_change_does_not_compile(
    failure: str, tries: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error elsewhere is not due to the change, and is not tried again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel, "BUILD_PROGRAMS", {})
    tried: list[str] = []
    said: list[object] = []

    def compile_(tree: Path, objects: Path, *_: object) -> str:
        objects.mkdir()
        tried.append(tree.name)
        raise Error(failure if tree.name == "vdso" else "the second error")

    monkeypatch.setattr(kernel, "_compile", compile_)
    tree = tree_of(tmp_path / "tree", {**KNOWN, "arch/um/Kconfig": ""})
    with pytest.raises(Error, match="second error" if len(tries) > 1 else "tcp.c:9"):
        kernel.build(source=tree, say=said.append)
    assert tried == tries
    assert ("arch/um is not known" in " ".join(map(str, said))) == (len(tries) > 1)


def test_each_reading_takes_256_ns_with_and_without_a_system_call(tmp_path: Path) -> None:
    """Both ways read one clock, which sleeping advances, and two runs are equal."""
    require_kernel()
    for built in kernel.kernels():
        said = [readings_in(built, tmp_path / f"{built.name}-{run}") for run in range(2)]
        assert said[0] == said[1]
        of_a_clock = len(said[0]) // 2
        for readings in (said[0][:of_a_clock], said[0][of_a_clock:]):
            spans = [after - before for before, after in pairwise(readings)]
            assert all(span % 256 == 0 and span > 0 for span in spans)
            assert spans[:-1].count(256) > 0.9 * len(spans)
            assert spans[-1] >= 10_000_000


def readings_in(built: kernel.Kernel, log: Path) -> list[int]:
    """What a program in a guest of this kernel reads, in nanoseconds."""
    _, report = _rtolab.emulate_programs(
        find_scenario("hold"),
        guest=(built.folder, built.title),
        client=[sys.executable, "-c", READINGS],
        log=log,
    )
    assert report["returncode"] == 0
    return [int(line) for line in log.read_text().split()]


@pytest.fixture(scope="module", params=[[], ["-static"]], ids=["dynamic", "static"])
def waits(request: pytest.FixtureRequest) -> Iterator[Path]:
    """The program WAITS, outside /tmp, which is a guest's own."""
    compiler = require_tool("cc", "gcc")
    with tempfile.TemporaryDirectory(prefix=".rtolab-test-", dir=Path.home()) as folder:
        source, program = Path(folder) / "waits.c", Path(folder) / "waits"
        source.write_text(WAITS, encoding="utf-8")
        subprocess.run([compiler, *request.param, "-w", "-o", program, source], check=True)
        yield program


@pytest.mark.parametrize(
    ("word", "seconds"), [("looks", 1), ("polls", 1), ("reads", 1), ("works", 30001 * 256e-9)]
)
def test_a_program_that_waits_without_sleeping_sleeps(
    waits: Path, word: str, seconds: float, tmp_path: Path
) -> None:
    """However it is linked. One that always has something to do does not sleep."""
    built, log = require_kernel(), tmp_path / "log"
    _, report = _rtolab.emulate_programs(
        find_scenario("hold"),
        guest=(built.folder, built.title),
        client=[str(waits), word],
        log=log,
        # A look takes 256 ns: without sleep, a second takes four million of them.
        patience_s=10,
    )
    assert report["returncode"] == 0
    assert float(log.read_text()) == pytest.approx(seconds, abs=0.001)
