"""Servers report a full disk or a lack of descriptors, and continue."""

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from explorer_client import CAPTURE, HOLD, resident, server
from gateway_fixtures import V4, lab
from prerequisites import small_disk
from test_faults import error_message, limited, rtolab

NOW = "this machine cannot do that now"


def answer_of(address: str, path: str, body: bytes | dict[str, Any] = b"") -> tuple[int, str]:
    """The status of an answer, and its error, if any."""
    kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urlopen(Request(address + path, sent, {"Content-Type": kind}), timeout=60) as answer:
            answer.read()
            return answer.status, ""
    except HTTPError as error:
        return error.code, json.loads(error.read())["error"]["message"]


@pytest.mark.root
def test_a_full_disk_fails_one_request_and_not_the_next(tmp_path: Path) -> None:
    complaints = tmp_path / "complaints"
    disk = tmp_path / "small"
    with small_disk(disk, "16k"), complaints.open("w") as err:
        with server(env=os.environ | {"TMPDIR": str(disk)}, stderr=err) as (address, _):
            full = (507, f"{NOW}: no space left on device")
            for _ in range(2):
                assert answer_of(address, "api/download/parquet", HOLD) == full
                assert answer_of(address, "api/download/everything", HOLD) == full
                assert answer_of(address, "api/capture", CAPTURE.read_bytes()) == full
                assert answer_of(address, "api/run", HOLD) == (200, "")
        assert not list(disk.iterdir())
    assert complaints.read_text() == ""


@pytest.mark.slow
@pytest.mark.parametrize("most", [8, 10, 12, 13])
def test_without_descriptors_a_server_does_not_start(most: int) -> None:
    limit = limited(resource.RLIMIT_NOFILE, most)
    ended = rtolab("serve", "--port", "0", preexec_fn=limit)
    assert "too many open files" in error_message(ended).lower()


def test_a_server_that_runs_out_of_descriptors_continues_once_there_are_some(
    tmp_path: Path,
) -> None:
    complaints = tmp_path / "complaints"
    with complaints.open("w") as err, server("--jobs", "1", stderr=err) as (address, pid):
        assert answer_of(address, "api/run", HOLD) == (200, "")
        (worker,) = set(resident(pid)) - {pid}
        before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        # Leaves one descriptor for a client, and none for the pipes of a new worker.
        few = 1 + max(int(one.name) for one in Path(f"/proc/{pid}/fd").iterdir())
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (few, before[1]))
        os.kill(worker, signal.SIGKILL)
        time.sleep(0.3)
        for _ in range(2):
            status, reported = answer_of(address, "api/run", HOLD)
            assert status == 507
            assert reported.startswith(f"{NOW}: too many open files")
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
        assert answer_of(address, "api/run", HOLD) == (200, "")
    assert complaints.read_text() == ""


@pytest.mark.usefixtures("hosts")
@pytest.mark.parametrize("most", [7, 8])
def test_without_descriptors_a_gateway_does_not_start(most: int) -> None:
    limit = limited(resource.RLIMIT_NOFILE, most)
    ended = rtolab("gateway", "--device", "rtofault1", preexec_fn=limit)
    assert "too many open files" in error_message(ended).lower()


def test_a_gateway_that_runs_out_of_descriptors_continues_once_there_are_some() -> None:
    with lab() as one:
        assert one.run("download", V4, "1000") == "equal"
        before = resource.prlimit(one.gateway.pid, resource.RLIMIT_NOFILE)
        few = len(list(Path(f"/proc/{one.gateway.pid}/fd").iterdir()))
        resource.prlimit(one.gateway.pid, resource.RLIMIT_NOFILE, (few, before[1]))
        with pytest.raises(subprocess.CalledProcessError):
            one.run("download", V4, "1000")
        resource.prlimit(one.gateway.pid, resource.RLIMIT_NOFILE, before)
        assert one.run("download", V4, "1000000") == "equal"
        one.end()
