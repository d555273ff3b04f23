"""The comments of packets in an annotated copy; `wireshark/rtolab.lua` reads them as fields."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def comments(document: Row, before: int = 0) -> dict[int, str]:
    """The comments of packets, by packet number. Episodes are counted on from `before`.

    A comment is a list of facts, `verdict unneeded; trigger timeout; ...`. On the first packet of
    an episode, the description follows after a full stop.
    """
    facts: defaultdict[int, list[str]] = defaultdict(list)
    descriptions: dict[int, str] = {}
    for one in document["connections"]:
        episodes = list(enumerate(one["episodes"], before + 1))
        before += len(episodes)
        for resent in one["retransmissions"]:
            facts[resent["frame"]] += _of_retransmission(resent)
        for timeout in one["timeouts"]:
            facts[timeout["frame"]].append(f"timeout {timeout['class']}")
        for number, resent in _within(episodes, one["retransmissions"]):
            facts[resent["frame"]].append(f"episode {number}")
        for _, episode in episodes:
            frame, lost = episode["frames"][0], episode["cost"]["time_lost"]
            descriptions[frame] = episode["description"]
            if lost is not None:
                facts[frame].append(f"cost {lost:.6f} s")
        for finding in one["habits"]:
            for frame in finding["frames"]:
                facts[frame].append(f"finding {finding['habit']}")
    comments = {frame: f"rtolab: {'; '.join(said)}" for frame, said in facts.items()}
    return comments | {frame: f"{comments[frame]}. {text}" for frame, text in descriptions.items()}


def _of_retransmission(resent: Row) -> Iterator[str]:
    yield f"verdict {resent['verdict']}"
    yield f"trigger {resent['trigger']}"
    if resent["evidence"]:
        yield f"confidence {resent['confidence']:.3f}"
    for key in ("evidence", "against"):
        if resent[key]:
            shown = (f"{piece['kind']} (frame {piece['frame']})" for piece in resent[key])
            yield f"{key} {', '.join(shown)}"


def _within(
    episodes: Sequence[tuple[int, Row]], retransmissions: Sequence[Row]
) -> Iterator[tuple[int, Row]]:
    """The retransmissions that are part of an episode, with its number."""
    for end in ("client", "server"):
        of_end = [(number, episode) for number, episode in episodes if episode["from"] == end]
        starts = [episode["start"] for _, episode in of_end]
        for resent in retransmissions:
            place = bisect_right(starts, resent["t"])
            if resent["from"] != end or not place:
                continue
            number, episode = of_end[place - 1]
            # An episode without an end goes on until the end of the connection.
            if episode["end"] is None or resent["t"] <= episode["end"]:
                yield number, resent
