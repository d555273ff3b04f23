"""Linux kernels built as programs (User Mode Linux), which run as guests on a virtual clock.

`build` makes one from Debian's source package or from any source tree. Kernels are kept in the
cache folder, `$XDG_CACHE_HOME/rtolab/kernels`; nothing of them is part of rtolab.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from rtolab._rtolab import Error, suggest
from rtolab.kernel.vdso import with_vdso_clock
from rtolab.process import processors

HZ = 1000
"""Timer interrupts per second, as on many desktops; the architecture's own default is 100."""
BUILD_PROGRAMS = {
    "make": "make",
    "cc": "gcc",
    "ld": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
}
"""Programs that a build needs, and Debian's packages with them."""
DEBIAN_PROGRAMS = {"apt-get": "apt", "dpkg-deb": "dpkg", "tar": "tar", "xz": "xz-utils"}
"""Programs that Debian's source package needs besides."""
VERSION = "6.12"
"""The version that is built by default."""
DISK_MB = {True: 2500, False: 500}
"""The disk space of a build in megabytes, with and without unpacking sources."""
CPU_MINUTES = 6
"""The processor time of a build, in minutes."""
FAILURE_LINES = 20
"""The last lines of a failed build that its error shows."""

Say = Callable[[str], object]
"""Called with a description of a build's next step."""


@dataclass(frozen=True)
class Kernel:
    """A built kernel.

    Attributes:
        name: its name in the cache.
        release: its version, as `uname -r` shows it.
        hz: its timer interrupts a second.
        source: where its source came from.
        folder: its folder.
    """

    name: str
    release: str
    hz: int
    source: str
    folder: Path

    @property
    def title(self) -> str:
        """Its description."""
        return f"Linux {self.release}, HZ {self.hz}"

    @property
    def bytes(self) -> int:
        """Its size on disk."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())


def cache() -> Path:
    """The folder of all kernels."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "rtolab" / "kernels"


def kernels() -> list[Kernel]:
    """All kernels, by name."""
    found = [_read(path) for path in sorted(cache().glob("*/kernel.json"))]
    return [kernel for kernel in found if kernel]


def _read(path: Path) -> Kernel | None:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return Kernel(**known, name=path.parent.name, folder=path.parent)
    except (OSError, ValueError, TypeError):
        return None


def find(name: str | None = None) -> Kernel:
    """The kernel of this name; without a name the newest. It is ready to run.

    Raises:
        Error: there is none; says how to build it.
    """
    return _bring_up_to_date(_find(name))


def _find(name: str | None) -> Kernel:
    known = kernels()
    if not known:
        version = name if name and re.fullmatch(r"[\d.]+", name) else VERSION
        raise Error(
            f"no kernel is built here, and --virtual needs one: `rtolab kernel build --version "
            f"{version}` builds it once ({CPU_MINUTES} minutes on one processor)"
        )
    if name is None:
        return max(known, key=lambda kernel: (_numbers(kernel.release), kernel.name))
    for kernel in known:
        if kernel.name == name:
            return kernel
    expected = suggest(name, [kernel.name for kernel in known])
    raise Error(f"{name} is no kernel that was built; expected {expected}")


def _numbers(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)[:3]]


def remove(name: str) -> Kernel:
    """Remove a kernel from the cache.

    Raises:
        Error: there is none of this name.
    """
    kernel = _find(name)
    shutil.rmtree(kernel.folder)
    return kernel


def build(
    *,
    source: Path | None = None,
    version: str = VERSION,
    name: str | None = None,
    hz: int = HZ,
    jobs: int | None = None,
    say: Say = lambda _: None,
) -> Kernel:
    """Build a kernel and keep it in the cache, in the place of one of the same name.

    Args:
        source: a tree of Linux's sources, which stays as it is; without one Debian's package
            `linux-source-VERSION`.
        version: the version of that package.
        name: its name in the cache; by default the version or the name of the tree.
        hz: its timer interrupts a second.
        jobs: concurrent compilers; by default one for each processor.
        say: called with what is done next.

    Raises:
        Error: a program or a setting is missing, or the build fails.
        OSError: there is no space, or a folder cannot be written.
    """
    name = name or (version if source is None else source.resolve().name)
    if not re.fullmatch(r"[\w.+-]+", name) or name.startswith("."):
        raise Error(f"{name}: expected a name of letters, digits and the signs . + - _")
    _check_programs(debian=source is None)
    if source is not None and not (source / "arch" / "um" / "Kconfig").is_file():
        raise Error(f"--source {source}: expected a tree of Linux's sources, with arch/um")
    cache().mkdir(parents=True, exist_ok=True)
    _remove_abandoned_builds()
    free_mb = shutil.disk_usage(cache()).free // 10**6
    needed_mb = DISK_MB[source is None]
    if free_mb < needed_mb:
        raise Error(f"{cache()} has {free_mb} MB of free space; a build needs {needed_mb} MB")
    say(f"needs {needed_mb} MB while it builds and {CPU_MINUTES} minutes of one processor")
    with tempfile.TemporaryDirectory(prefix=f"{_BUILDING}{os.getpid()}-", dir=cache()) as work:
        tree = source.resolve() if source else _debian_source(version, Path(work), say)
        objects, made = Path(work) / "objects", Path(work) / "made"
        release = _compile_with_vdso_clock(tree, objects, (hz, jobs or processors()), say)
        made.mkdir()
        shutil.copy2(objects / "linux", made / "linux")
        _run(["strip", str(made / "linux")], made)
        _compile_programs(made)
        (made / "arguments").write_text(_arguments(tree), encoding="utf-8")
        origin = str(tree) if source else f"Debian's linux-source-{version}"
        kernel = Kernel(name, release, hz, origin, cache() / name)
        known = {key: value for key, value in asdict(kernel).items() if key in _RECORDED}
        (made / "kernel.json").write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
        if kernel.folder.exists():
            kernel.folder.rename(Path(work) / "replaced")
        made.rename(kernel.folder)
    return kernel


_BUILDING = ".building-"
_BANNER = (
    "KBUILD_BUILD_TIMESTAMP=2023-11-14 22:13:20 UTC",
    "KBUILD_BUILD_VERSION=1",
    "KBUILD_BUILD_USER=rtolab",
    "KBUILD_BUILD_HOST=rtolab",
)
"""A kernel's banner, which its random numbers depend on, is the same in all builds."""
_RECORDED = ("release", "hz", "source")
_INIT = ("init.c", "flows.c", "samples.c", "program.c")
_SHIM = ("shim.c", "direct.c")
_SOURCES = (*_INIT, *_SHIM, "agent.h", "flows.h")


def _remove_abandoned_builds() -> None:
    """Remove the folders of builds whose process was killed."""
    for folder in cache().glob(f"{_BUILDING}*"):
        process = folder.name.removeprefix(_BUILDING).partition("-")[0]
        if not (process.isdigit() and _is_running(int(process))):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _programs_version() -> str:
    """The version of the programs of rtolab in a kernel's folder."""
    texts = (_package_file(name).read_bytes() for name in _SOURCES)
    return sha256(b"".join(texts)).hexdigest()


def _compile_programs(folder: Path) -> None:
    """Compile the first process of guests, and the library for their kernels."""
    for name in ("proc", "host", "scratch"):
        (folder / "root" / name).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".compiling-", dir=folder) as work:
        compiler = ["cc", "-O2", "-Wall", "-o"]
        parts = [str(_package_file(name)) for name in _INIT]
        _run([*compiler, "init", "-static", "-pthread", *parts], Path(work))
        (Path(work) / "init").rename(folder / "root" / "init")
        parts = [str(_package_file(name)) for name in _SHIM]
        _run([*compiler, "shim.so", "-shared", "-fPIC", *parts], Path(work))
        (Path(work) / "shim.so").rename(folder / "shim.so")
    (folder / "programs.sha256").write_text(_programs_version() + "\n", encoding="utf-8")


def _bring_up_to_date(kernel: Kernel) -> Kernel:
    """Compile again the programs that another version of rtolab compiled.

    Raises:
        Error: there is no compiler.
    """
    known = kernel.folder / "programs.sha256"
    if not known.is_file() or known.read_text(encoding="utf-8").strip() != _programs_version():
        if not shutil.which("cc"):
            raise Error(
                f"the kernel {kernel.name} was built by another version of rtolab: bringing it up "
                "to date needs `apt install gcc`"
            )
        _compile_programs(kernel.folder)
    return kernel


def _package_file(name: str) -> Path:
    return Path(str(files("rtolab.kernel") / name))


def _check_programs(*, debian: bool) -> None:
    wanted = BUILD_PROGRAMS | (DEBIAN_PROGRAMS if debian else {})
    missing = {package for program, package in wanted.items() if not shutil.which(program)}
    if missing:
        raise Error(
            f"building a kernel needs {', '.join(sorted(missing))}: "
            f"`apt install {' '.join(sorted(missing))}`"
            + ("; or name a source tree with --source" if missing & {"apt", "dpkg"} else "")
        )


def _debian_source(version: str, work: Path, say: Say) -> Path:
    if not re.fullmatch(r"\d+\.\d+", version):
        raise Error(f"--version {version}: expected two numbers, for example 6.12")
    package = f"linux-source-{version}"
    say(f"downloading {package}")
    _run(["apt-get", "download", package], work)
    say("unpacking it")
    found = list(work.glob("*.deb"))
    _run(["dpkg-deb", "-x", str(found[0]), "package"], work)
    found[0].unlink()
    tree = work / "tree"
    tree.mkdir()
    packed = work / "package" / "usr" / "src" / f"{package}.tar.xz"
    _run(["tar", "-xf", str(packed), "-C", str(tree), "--strip-components=1"], work)
    shutil.rmtree(work / "package")
    return tree


def _compile_with_vdso_clock(tree: Path, objects: Path, settings: tuple[int, int], say: Say) -> str:
    """Compile the tree, with rtolab's vDSO if it fits; returns its release."""
    if changed := with_vdso_clock(tree, objects.with_name("vdso")):
        try:
            return _compile(changed, objects, settings, say)
        except Error as error:
            # Other files are not changed, so that the tree as it is would fail, too.
            if not re.search(r"arch/(x86/)?um/", str(error)):
                raise
            shutil.rmtree(objects)
    say(
        "this arch/um is not known: programs read the clock by system calls, and must not busy-wait"
    )
    return _compile(tree, objects, settings, say)


def _compile(tree: Path, objects: Path, settings: tuple[int, int], say: Say) -> str:
    """Compile the tree; returns its release."""
    hz, jobs = settings
    objects.mkdir(exist_ok=True)
    # HZ has no prompt on this architecture: the first definition of its default counts.
    kconfig = objects / "Kconfig.rtolab"
    lines = (tree / "Kconfig").read_text(encoding="utf-8").splitlines(keepends=True)
    title = next(at for at, line in enumerate(lines) if line.startswith("mainmenu"))
    lines.insert(title + 1, f"\nconfig HZ\n\tint\n\tdefault {hz}\n\n")
    kconfig.write_text("".join(lines), encoding="utf-8")
    make = ["make", "-s", "-C", str(tree), f"O={objects}", "ARCH=um", f"KBUILD_KCONFIG={kconfig}"]
    make += _BANNER
    wanted = _package_file("kernel.config")
    _run([*make, f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig"], objects)
    config = (objects / ".config").read_text(encoding="utf-8").splitlines()
    needed = ["UML_TIME_TRAVEL_SUPPORT=y", "VIRTIO_UML=y", "VIRTIO_NET=y", "HOSTFS=y", f"HZ={hz}"]
    for symbol in needed:
        if f"CONFIG_{symbol}" not in config:
            raise Error(f"{tree}: this kernel cannot have CONFIG_{symbol}, which a guest needs")
    say(f"compiling with {jobs} jobs")
    _run([*make, f"-j{jobs}", "linux"], objects)
    return _run([*make, "kernelrelease"], objects).strip().splitlines()[-1]


def _arguments(tree: Path) -> str:
    """Arguments of the kernel of this tree that others do not know.

    Since Linux 6.16 a filter of system calls (seccomp) can take the place of ptrace, which makes
    the system calls of programs faster.
    """
    start = (tree / "arch" / "um" / "os-Linux" / "start_up.c").read_text(encoding="utf-8")
    return "seccomp=auto\n" if '"seccomp="' in start else ""


def _run(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        last_lines = "\n".join((done.stdout + done.stderr).strip().splitlines()[-FAILURE_LINES:])
        raise Error(f"`{' '.join(command)}` failed:\n{last_lines}")
    return done.stdout
