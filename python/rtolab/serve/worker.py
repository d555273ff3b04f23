"""Worker process of the server: `python -m rtolab.serve.worker`.

It reads requests from standard input and writes answers to standard output, each with its length in
eight bytes. A request is JSON. An answer begins with two bytes: its kind, and whether the process
has grown so large that it should be replaced.
"""

import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from rtolab._rtolab import Error, InternalError
from rtolab.run import included_scenarios
from rtolab.serve import browse, downloads, runs
from rtolab.serve.faults import Fault
from rtolab.serve.limits import Limits
from rtolab.serve.pool import LENGTH, Kind
from rtolab.serve.requests import RunRequest

QUESTIONS = ("scenario", "check", "run", "what-if", "branch")
JOBS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    **{name: partial(runs.answer, name) for name in QUESTIONS},
    "download": downloads.download,
    "diagnose": runs.diagnose,
    "diagnosis_page": downloads.diagnosis,
    "sweep": browse.sweep,
}
FIRST = "tail"
"""A small scenario for the warm-up."""
GRACE_S = 5
"""How long after its time limit a worker without a server ends, in seconds."""


def main() -> None:
    """Answers requests until standard input ends."""
    # Without a server nobody reads answers or errors.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    folder, memory, spent = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    out = _own_output()
    _settle(folder)
    _warm_up()
    _limit_memory(memory)
    _send(out, b"")  # Report that the worker is ready.
    while (request := _read(sys.stdin.buffer)) is not None:
        signal.alarm(int(request["seconds"]) + GRACE_S)
        kind, body = _answer(request)
        signal.alarm(0)
        is_spent = _resident() > spent
        _send(out, bytes([kind.value, is_spent]) + body)


def _answer(request: dict[str, Any]) -> tuple[Kind, bytes]:
    try:
        return Kind.DONE, JOBS[str(request["job"])](request["parameters"])
    except runs.RefusedAnswerError as refused:
        return Kind.WRONG, refused.body
    except InternalError as error:
        return Kind.DEFECT, Fault.of(error).encoded()
    except Error as error:
        return Kind.WRONG, Fault.of(error).encoded()
    except MemoryError:
        sys.exit("out of memory")
    except Exception as error:
        if fault := Fault.of_machine(error):
            return Kind.EXHAUSTED, fault.encoded()
        traceback.print_exc()
        message = f"a defect in rtolab, please report it: {error!r}"
        return Kind.DEFECT, Fault("request", message).encoded()


def _send(out: BinaryIO, answer: bytes) -> None:
    out.write(len(answer).to_bytes(LENGTH, "little") + answer)
    out.flush()


def _own_output() -> BinaryIO:
    """A stream for answers; other output to stdout goes to standard error."""
    ours = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(ours, "wb")


def _settle(folder: Path) -> None:
    """Changes to the folder, and links the traces of the shipped scenarios there."""
    shipped = next(iter(included_scenarios().values())).parent / "traces"
    (folder / "traces").symlink_to(shipped.resolve(), target_is_directory=True)
    os.chdir(folder)


def _warm_up() -> None:
    """Loads everything that the first run needs."""
    limits = Limits()
    runs.answer("run", RunRequest(FIRST, senders=("newreno",)).document(limits))


def _limit_memory(memory: int) -> None:
    """Limits further address space to `memory` bytes."""
    now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * _page()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = now + memory if most == resource.RLIM_INFINITY else min(now + memory, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _page()


def _page() -> int:
    return resource.getpagesize()


def _read(stdin: BinaryIO) -> dict[str, Any] | None:
    length = stdin.read(LENGTH)
    if len(length) < LENGTH:
        return None
    request: dict[str, Any] = json.loads(stdin.read(int.from_bytes(length, "little")))
    return request


if __name__ == "__main__":
    main()
