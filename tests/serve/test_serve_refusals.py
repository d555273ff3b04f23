"""Requests that the explorer refuses."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from explorer_client import BINARY, HEAVY, HOLD, HOST, JSON, POSTS, error_of
from rtolab.run import included_scenarios


@pytest.mark.parametrize(
    ("requested", "place", "words"),
    [
        ({"toml": "title = "}, ("scenario", 1, None), "expected"),
        ({"toml": "duration = 3\n"}, ("scenario", 1, None), "without a unit"),
        ({"set": {"link.radio.rate": "fast"}}, ("set", None, "link.radio.rate"), "28.8 kbit/s"),
        ({"set": {"link.moon.rate": "1 Mbit/s"}}, ("set", None, "link.moon.rate"), "radio"),
        ({"senders": ["newrino"]}, ("sender", None, None), "newreno"),
        (
            {"toml": HEAVY.replace('to = "b"', 'to = "c"')},
            ("scenario", 14, None),
            "flow.endless.to",
        ),
        (
            {"toml": HEAVY + '\n[tcp]\nresponse = "halfway"\n'},
            ("scenario", 17, None),
            "expected a prototype of a ",
        ),
        (
            {"set": {"link.radio.stage": "sleepy"}},
            ("set", None, "link.radio.stage"),
            "expected a prototype of a ",
        ),
    ],
)
def test_a_fault_is_reported_with_its_place(
    client: TestClient, requested: dict[str, Any], place: tuple[str, int, str], words: str
) -> None:
    for path in ("check", "run"):
        response = client.post(f"/api/{path}", json=HOLD | requested)
        assert response.status_code == 422
        error = error_of(response)
        assert (error["where"], error["line"], error["key"]) == place, error
        assert words in error["message"]
        assert "/tmp" not in error["message"]


@pytest.mark.parametrize(
    ("requested", "words"),
    [
        ({"scenario": "../../etc/passwd"}, "expected one of"),
        ({"scenario": None}, "expected one of"),
        ({"senders": ["sack"] * 9}, "at most 8"),
        ({"senders": "sack"}, "at most 8"),
        ({"seed": -1}, "from 0"),
        ({"seed": True}, "from 0"),
        ({"seed": "18446744073709551616"}, "from 0"),
        ({"seed": "1e3"}, "from 0"),
        ({"set": {"a": 1}}, "expected a text"),
        ({"toml": "x" * 200_000}, "at most"),
        ({"between": [1]}, "two times"),
        ({"place": "moon"}, "sender or receiver"),
        ({"path": "/etc/passwd"}, "no field"),
    ],
)
def test_a_request_of_another_form_is_refused(
    client: TestClient, requested: dict[str, Any], words: str
) -> None:
    response = client.post("/api/run", json=HOLD | requested)
    assert response.status_code == 400
    assert words in error_of(response)["message"]


@pytest.mark.parametrize("file", ["/etc/passwd", "../scenario.toml", "traces/../../x", "missing"])
def test_only_included_files_are_read(client: TestClient, file: str) -> None:
    text = included_scenarios()["mahimahi"].read_text(encoding="utf-8")
    named = text.replace("traces/half-second.down", file)
    for requested in (
        {"scenario": "mahimahi", "toml": named},
        {"scenario": "mahimahi", "set": {"link.cellular.forward.rate_trace": file}},
        {"scenario": "ping-replay", "set": {"link.path.delay_trace.file": file}},
    ):
        response = client.post("/api/run", json=requested)
        assert response.status_code == 422
        assert "root:" not in response.text
    assert client.post("/api/run", json={"scenario": "mahimahi", "toml": text}).is_success


@pytest.mark.parametrize("path", POSTS)
def test_a_request_has_a_size_and_a_type(strict: TestClient, path: str) -> None:
    large = json.dumps(HOLD | {"toml": "#" * 30_000})
    assert strict.post(f"/api/{path}", content=large, headers=JSON).status_code == 400
    plain = {"Content-Type": "text/plain"}
    assert strict.post(f"/api/{path}", content=json.dumps(HOLD), headers=plain).status_code == 400
    assert strict.post(f"/api/{path}", content="{", headers=JSON).status_code == 400
    assert strict.post(f"/api/{path}", content="[" * 15_000, headers=JSON).status_code == 400
    assert strict.get(f"/api/{path}").status_code == 405


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8642", "192.168.1.4:8642", ""]
)
def test_other_names_of_this_host_are_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/static/explorer.js", "/api/index"):
        assert client.get(path, headers={"Host": host}).status_code == 403
    assert client.post("/api/run", json=HOLD, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:9999", "[::1]:80", "LOCALHOST"])
def test_the_names_of_this_machine_are_accepted(client: TestClient, host: str) -> None:
    assert client.get("/api/index", headers={"Host": host}).is_success


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", HOST + "/"]
)
def test_pages_of_other_hosts_are_refused(client: TestClient, origin: str) -> None:
    assert client.post("/api/run", json=HOLD, headers={"Origin": origin}).status_code == 403
    assert client.get("/api/index", headers={"Origin": origin}).status_code == 403


def test_our_own_page_is_accepted(client: TestClient) -> None:
    ours = {"Origin": HOST, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    assert client.post("/api/run", json=HOLD, headers=ours).is_success


def test_a_link_on_another_page_leads_here_and_a_picture_on_it_does_not(client: TestClient) -> None:
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=visit).is_success
    assert client.get("/api/index", headers=visit).status_code == 403
    picture = visit | {"Sec-Fetch-Mode": "no-cors"}
    assert client.get("/", headers=picture).status_code == 403


def test_every_answer_has_the_headers_that_keep_other_sites_out(client: TestClient) -> None:
    answers = [
        client.get("/"),
        client.get("/static/explorer.js"),
        client.get("/static/missing.js"),
        client.get("/nowhere"),
        client.post("/api/run", json=HOLD),
        client.post("/api/run", json={}),
        client.get("/", headers={"Host": "evil.example"}),
    ]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in policy
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("name", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "app.py", "x"])
def test_only_the_pages_own_parts_are_served(client: TestClient, name: str) -> None:
    assert client.get(f"/static/{name}").status_code == 404


def test_the_page_loads_nothing_from_other_hosts(client: TestClient) -> None:
    from rtolab.serve.assets import assets  # noqa: PLC0415

    for name, (content, _) in assets().items():
        text = content.decode()
        hosts = text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in hosts, name
        assert "https://" not in hosts, name
        assert "innerHTML" not in text, name
    page = client.get("/").text
    assert "style=" not in page
    assert "<script>" not in page


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["link.radio.rate", "link.radio.delay", "tcp.rto.min", "duration", "title"])
ASKED = st.fixed_dictionaries(
    {"scenario": st.sampled_from(["hold", "tail"])},
    optional={
        "toml": st.none() | st.text(max_size=80),
        "set": st.dictionaries(KEYS | st.text(max_size=12), st.text(max_size=12), max_size=3),
        "senders": st.lists(
            st.sampled_from(["reno", "sack+frto"]) | st.text(max_size=8), max_size=3
        ),
        "seed": st.integers(0, 2**64 - 1),
        "flow": st.none() | st.text(max_size=8),
        "place": st.sampled_from(["sender", "receiver"]),
        "between": st.none() | st.lists(st.floats(), min_size=2, max_size=2),
    },
)
OFTEN = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@OFTEN
@given(requested=ASKED | JUNK, path=st.sampled_from(POSTS))
def test_no_request_causes_an_internal_error(client: TestClient, requested: Any, path: str) -> None:
    content = json.dumps(requested)
    response = client.post(f"/api/{path}", content=content, headers=JSON)
    assert response.status_code in (200, 400, 413, 422), response.text
    if not response.is_success:
        assert error_of(response)["message"]


@pytest.mark.slow
@OFTEN
@given(content=st.binary(max_size=300))
def test_no_bytes_cause_an_internal_error(client: TestClient, content: bytes) -> None:
    for path in POSTS:
        assert client.post(f"/api/{path}", content=content, headers=JSON).status_code in (400, 422)
    response = client.post("/api/capture", content=content, headers=BINARY)
    assert response.status_code in (200, 422)
