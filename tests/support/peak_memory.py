"""The peak memory of `rtolab diagnose`."""

import re
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress


def peak(parts: Iterable[bytes]) -> int:
    """The peak memory of the command that reads this capture, in bytes."""
    program = "import sys; from rtolab.cli import main\n"
    program += "try: main()\n"
    program += "finally: print(open('/proc/self/status').read(), file=sys.stderr)"
    command = [sys.executable, "-c", program, "diagnose", "-", "--top", "1"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin
        assert running.stderr
        # It may refuse the capture before its end.
        with suppress(BrokenPipeError):
            for part in parts:
                running.stdin.write(part)
        with suppress(BrokenPipeError):
            running.stdin.close()
        reported = running.stderr.read()
    # Not `ru_maxrss`: that is at least the memory of the process that started the command.
    peaks = re.findall(rb"^VmHWM:\s+(\d+) kB$", reported, re.MULTILINE)
    return int(peaks[-1]) * 1024
