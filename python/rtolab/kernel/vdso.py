"""A vDSO for guests with which most readings of the clock need no system call.

In a guest a system call costs microseconds of real time, and transport stacks read the clock for
every packet. A program that busy-waits sleeps there all the same, so that virtual time passes. The
changes are in `arch/um` and `arch/x86/um` alone, in a copy of these files; TCP and the rest of the
kernel are those of the tree.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path, PurePosixPath

_UM, _VDSO = PurePosixPath("arch/um"), PurePosixPath("arch/x86/um/vdso")
_HEADER = _UM / "include/shared/skas/vdso_clock.h"
_TIME = _UM / "kernel/time.c"
_IMAGE = _VDSO / "um_vdso.c"
_INSERTED = {
    _UM / "include/shared/skas/stub-data.h": (
        ("\nstruct stub_data {\n", "\n#include <skas/vdso_clock.h>\n", ""),
        ("\t/* Stack for our signal handlers", "\tstruct vdso_clock clock;\n\n", ""),
    ),
    _UM / "os-Linux/skas/process.c": (
        (
            "\nvoid userspace(struct uml_pt_regs *regs",
            "\nvoid rtolab_before_program(void);\nvoid rtolab_after_program(void);\n",
            "",
        ),
        ("\t\tcurrent_mm_sync();\n", "", "\t\trtolab_before_program();\n"),
        ("\t\tregs->is_user = 1;\n", "\t\trtolab_after_program();\n", ""),
    ),
    _UM / "kernel/skas/syscall.c": (
        (
            "\nvoid handle_syscall(struct uml_pt_regs *r)\n",
            "\nvoid rtolab_after_call(int number, unsigned long result);\n",
            "",
        ),
        (
            "\t\tPT_REGS_SET_SYSCALL_RETURN(regs, ret);\n",
            "",
            "\t\trtolab_after_call(syscall, ret);\n",
        ),
    ),
    _VDSO / "vma.c": (
        (
            "\nstatic int __init init_vdso(void)\n",
            "\nvoid rtolab_place_vdso_clock(void *vdso);\n",
            "",
        ),
        (
            "\tcopy_page(page_address(um_vdso), vdso_start);\n",
            "",
            "\trtolab_place_vdso_clock(page_address(um_vdso));\n",
        ),
    ),
}
"""By file: a text of the kernel, and what is inserted before and after it."""
_NEEDED = "static u16 time_travel_shm_id;\n"
"""What `arch/um/kernel/time.c` of a kernel has whose clock is in shared memory, since 6.11."""


def with_vdso_clock(tree: Path, folder: Path) -> Path | None:
    """A tree with this vDSO, made of links to another tree, which stays as it is.

    Args:
        tree: a tree of Linux's sources.
        folder: where the new tree will be; does not exist yet.

    Returns:
        The new tree; None if the files of `tree` are others than those of the known versions.
    """
    texts = {}
    for path in (*_INSERTED, _TIME, _IMAGE):
        try:
            texts[path] = (tree / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
    if _NEEDED not in texts[_TIME]:
        return None
    for path, insertions in _INSERTED.items():
        for known, before, after in insertions:
            if known not in texts[path]:
                return None
            texts[path] = texts[path].replace(known, before + known + after)
    texts[_TIME] += "\n" + _own("vdso_clock.c")
    texts[_IMAGE] = _own("vdso.c")
    texts[_HEADER] = _own("vdso_clock.h")
    folder.mkdir(parents=True)
    _link(tree.resolve(), folder, [path.parts for path in texts])
    for path, text in texts.items():
        (folder / path).unlink(missing_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def _link(tree: Path, folder: Path, changed: list[tuple[str, ...]]) -> None:
    """Fill a folder with links to what is in `tree`, and folders where a file is changed."""
    for path in tree.iterdir():
        inside = [parts[1:] for parts in changed if parts[0] == path.name and len(parts) > 1]
        if inside:
            (folder / path.name).mkdir()
            _link(path, folder / path.name, inside)
        else:
            (folder / path.name).symlink_to(path)


def _own(name: str) -> str:
    return (files("rtolab.kernel") / name).read_text(encoding="utf-8")
