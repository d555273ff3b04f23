"""What a full disk, and no descriptors, do to the explorer: it says so, and goes on."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from serving import CAPTURE, HOLD, server
from test_faults import PROGRAM, limited, said_in_words, small, rtolab

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL = "this machine cannot do that now: no space left on device"
FEW = "this machine cannot do that now: too many open files"


def asked(address: str, path: str, body: bytes | dict[str, Any]) -> tuple[int, bytes]:
    """An answer's status, and what it holds."""
    kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request(address + path, sent, {"Content-Type": kind})
    try:
        with urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        return error.code, error.read()
