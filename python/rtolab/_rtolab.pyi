"""The simulator. Times are seconds since the start of the run, sizes are bytes."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Protocol, TypedDict, final, type_check_only

__all__ = [
    "TABLES",
    "Ack",
    "CaptureError",
    "DetectorError",
    "Diagnosis",
    "EmulationError",
    "Episode",
    "Error",
    "Frame",
    "GatewayError",
    "InternalError",
    "Outcome",
    "Posture",
    "PrototypeError",
    "Random",
    "ScenarioError",
    "SenderError",
    "Sent",
    "Situation",
    "Table",
    "__commit__",
    "__version__",
    "annotate",
    "branch",
    "check",
    "clean_up",
    "detectors",
    "diagnose",
    "emulate",
    "emulate_flows",
    "end_at_second_interrupt",
    "gateway",
    "infer_scenario",
    "lines",
    "one_of",
    "policies",
    "receivers",
    "schema",
    "simulate",
    "trace",
    "what_if",
]

__version__: str
__commit__: str
"""From which commit it was built; empty where that was not a checkout."""

class Error(Exception):
    """The base of every error that rtolab raises; its text is meant for users."""

class ScenarioError(Error):
    """The scenario cannot be read, or cannot be run: says file, line, key and what is wrong."""

class SenderError(Error):
    """The sender specification is invalid: names the wrong term and the known ones."""

class DetectorError(SenderError):
    """No detector has that name: says which are nearest."""

class PrototypeError(Error):
    """What is written in Python is no prototype, or raised: what it raised is the cause."""

class EmulationError(Error):
    """A link cannot be emulated here: says what is missing and what would be right."""

class GatewayError(Error):
    """There can be no such gateway here: says what is missing and what would be right."""

class CaptureError(Error):
    """A capture cannot be opened or a copy not be written: says which, and why."""

class InternalError(Error):
    """A defect in rtolab itself: says where in its source. Please report it."""

@final
class Table:
    """Rows and columns in Arrow's format, handed over without copying.

    `polars.DataFrame(table)`, `pandas.DataFrame.from_arrow(table)` and `pyarrow.table(table)`
    open it.
    """

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def __len__(self) -> int:
        """How many rows there are."""

    def __arrow_c_schema__(self) -> object:
        """A capsule with Arrow's C schema."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with Arrow's C stream of the rows."""

TABLES: tuple[tuple[str, str], ...]
"""The name of every table that runs leave, and what a row of it is."""

@final
class Outcome:
    """What all runs of one `simulate` left.

    Every table begins with `run` (counted from 0: all seeds of the first sender, then those of
    the second), `seed` and `sender`. Columns in `_s` are seconds, those in `_bps` bits a second;
    sequence numbers count from the SYN, which is 0, and windows and lengths are bytes. A table is
    made when it is first asked for.
    """

    @property
    def effort(self) -> dict[str, float | None]:
        """What all runs took together.

        `set_up_s` and `run_s` in s of the processors, the counts `data_packets_delivered` and
        `events`, and `peak_memory_mb`: the most memory that this process has had resident.
        """

    def table(self, name: str) -> Table:
        """The table of that name, one of `TABLES`.

        `truth`, of timeouts in traced runs only, is `spurious` (its acknowledgment was only late),
        `ack-lost` or `genuine`: what a copy of the run shows that goes on without that
        retransmission. `cause`, of duplicates, is `loss`, `reordering`, `retransmission` (a
        spurious one) or `network` (a link made a second copy).
        """

    def packetdrill(self, run: int) -> str:
        """The first flow of a traced run as a script of packetdrill for its sender.

        Args:
            run: which run, from 0.

        Raises:
            Error: there is no such run, or it was not traced.
        """

    def pcapng(self, run: int, place: str) -> bytes:
        """The packets of a traced run as a capture at one host would show them.

        Args:
            run: which run, from 0.
            place: "sender" or "receiver", the hosts that send and receive the data.

        Returns:
            A pcapng file of raw IPv4 packets, its times in nanoseconds.

        Raises:
            Error: there is no such run or place, or it was not traced.
        """

def schema() -> str:
    """The JSON Schema of a scenario, for editors."""

def lines(text: str, file: str) -> list[tuple[list[str], int]]:
    """The lines of the keys of a TOML text, counted from 1, by the steps to each key.

    Raises:
        Error: the text, which stands in `file`, is not TOML.
    """

def one_of(found: str, known: list[str]) -> str:
    """The nearest five of `known` to use instead of `found`, and which one was probably meant."""

@final
class Ack:
    """An acknowledgment, measured against all that was sent before.

    Times are whole nanoseconds since the run began; sequence numbers count from the SYN, which
    is 0.
    """

    @property
    def at(self) -> int:
        """When it arrived."""

    @property
    def ack(self) -> int:
        """Its acknowledgment number."""

    @property
    def una_before(self) -> int:
        """SND.UNA before it."""

    @property
    def max(self) -> int:
        """SND.MAX."""

    @property
    def advanced(self) -> int:
        """How many sequence numbers it acknowledges newly and cumulatively."""

    @property
    def is_new(self) -> bool:
        """Does it advance SND.UNA?"""

    @property
    def oldest_acked(self) -> Sent | None:
        """The first segment that it acknowledges newly and wholly, if any."""

    @property
    def newest_acked(self) -> Sent | None:
        """The last one."""

    @property
    def acks_retransmission(self) -> bool:
        """Was any segment that it acknowledges newly sent more than once?"""

    @property
    def sacked_before(self) -> int:
        """Bytes above `una_before` selectively acknowledged before it."""

    @property
    def newly_sacked(self) -> int:
        """Bytes that it newly acknowledges selectively."""

    @property
    def sacked_end(self) -> int | None:
        """Behind the highest of them."""

    @property
    def original(self) -> int | None:
        """Behind the lowest segment, sent once, that it is the first to report as arrived."""

    @property
    def dsack(self) -> tuple[int, int] | None:
        """The range it reports as received twice (RFC 2883): first number, and behind the last."""

    @property
    def duplicate(self) -> bool:
        """Is it a duplicate acknowledgment (RFC 5681 section 2)?"""

    @property
    def answers_retransmission(self) -> bool:
        """Does it say that it answers a marked retransmission?"""

    @property
    def echo(self) -> int | None:
        """The timestamp that it echoes."""

@final
class Sent:
    """A segment that was sent; times and sequence numbers as in `Ack`."""

    @property
    def seq(self) -> int:
        """Its first sequence number."""

    @property
    def end(self) -> int:
        """The sequence number behind its last one."""

    @property
    def first_sent(self) -> int:
        """When it was sent first."""

    @property
    def last_sent(self) -> int:
        """When it was sent last."""

    @property
    def timestamp(self) -> int:
        """The timestamp (TSval) of its last sending, zero without timestamps."""

    @property
    def first_timestamp(self) -> int:
        """The timestamp of its first sending, zero without timestamps."""

    @property
    def transmissions(self) -> int:
        """How often it was sent."""

    @property
    def was_retransmitted(self) -> bool:
        """Was it sent more than once?"""

    @property
    def is_sacked(self) -> bool:
        """Was it selectively acknowledged?"""

    @property
    def marked(self) -> bool:
        """Was its last sending marked as a retransmission?"""

    @property
    def cause(self) -> str:
        """Why it was sent last.

        One of new, timeout, fast_retransmit, recovery, go_back_n, probe, answer and unknown.
        """

@final
class Episode:
    """A timeout or fast retransmit, and what the sender did since; as in `Ack`."""

    @property
    def number(self) -> int:
        """Counts episodes of a connection, from 0."""

    @property
    def kind(self) -> str:
        """What it began with: "timeout" or "fast_retransmit"."""

    @property
    def began(self) -> int:
        """When it began."""

    @property
    def seq(self) -> int:
        """The first sequence number of the segment that timed out or was found lost."""

    @property
    def max(self) -> int:
        """SND.MAX when it began."""

    @property
    def high(self) -> int:
        """SND.MAX when its last retransmission left."""

    @property
    def min_rtt(self) -> int | None:
        """The connection's smallest round-trip time so far, by Karn's rule, in nanoseconds."""

    @property
    def srtt(self) -> int | None:
        """The smoothed round-trip time when it began, by Karn's rule, in nanoseconds."""

    @property
    def spacing(self) -> int | None:
        """The closest that acknowledgments of one segment each followed one another."""

    @property
    def dsack_seen(self) -> bool:
        """Has the peer ever sent a D-SACK?"""

    @property
    def sack(self) -> bool:
        """Is SACK in use?"""

    @property
    def timeouts(self) -> int:
        """How often the retransmission timer expired in it."""

    @property
    def retransmissions(self) -> int:
        """Segments retransmitted in it so far."""

    @property
    def new_segments(self) -> int:
        """Segments sent in it for the first time."""

@final
class Situation:
    """How a sender stands as a detector that it acts on speaks.

    Times are whole nanoseconds since the run began, windows are bytes.
    """

    @property
    def at(self) -> int:
        """When the acknowledgment came."""

    @property
    def detector(self) -> str:
        """Which detector has spoken."""

    @property
    def kind(self) -> str:
        """Of what: "timeout" or "fast_retransmit"."""

    @property
    def episode(self) -> Episode | None:
        """The episode, as it was before the acknowledgment."""

    @property
    def now(self) -> Posture:
        """As the sender is."""

    @property
    def before(self) -> Posture:
        """As it was before the timeout or fast retransmit."""

    @property
    def flight_before_ack(self) -> int:
        """What was outstanding before the acknowledgment."""

    @property
    def acked(self) -> int:
        """How many bytes it acknowledges."""

    @property
    def smss(self) -> int:
        """A full-sized segment."""

    @property
    def initial_window(self) -> int:
        """The initial window."""

    @property
    def granularity(self) -> int:
        """The granularity of the retransmission timer, in nanoseconds."""

    @property
    def congestion_echoed(self) -> bool:
        """Has the peer echoed congestion since?"""

    @property
    def outgrown(self) -> bool:
        """Has CUBIC made up for the reduction already (RFC 9438 section 4.9.2)?"""

    @property
    def losses_under_way(self) -> bool:
        """Were losses being repaired then, of which F-RTO cannot tell (RFC 5682 section 6)?"""

@final
class Posture:
    """A sender's windows and estimates."""

    @property
    def cwnd(self) -> int:
        """The congestion window, in bytes."""

    @property
    def ssthresh(self) -> int:
        """The slow start threshold, in bytes."""

    @property
    def flight(self) -> int:
        """What is outstanding, in bytes."""

    @property
    def estimate(self) -> tuple[int, int] | None:
        """SRTT and RTTVAR in nanoseconds, once there was a round trip."""

@final
class Frame:
    """A frame at the end of its transmission over a link."""

    @property
    def number(self) -> int:
        """Counts the frames of this direction that were sent, from 1."""

    @property
    def at(self) -> int:
        """When its transmission ended, in whole nanoseconds since the run began."""

    @property
    def bytes(self) -> int:
        """Its size on the link, headers included."""

    @property
    def direction(self) -> str:
        """Which way it goes: "forward" or "backward"."""

@final
class Random:
    """The random numbers of one stage in one run, which follow from the seed.

    Each call takes one number of 64 bits, whatever it is asked and says.
    """

    def bits(self) -> int:
        """A number of 64 bits."""

    def chance(self, probability: float) -> bool:
        """Does something happen whose probability this is, from 0 to 1?"""

    def uniform(self, low: int, high: int) -> int:
        """A whole number from `low` on and below `high`, equally likely any."""

    def exponential(self, mean: int) -> int:
        """A whole number, exponentially distributed with this mean."""

    def __deepcopy__(self, memo: object) -> Random: ...
    def __copy__(self) -> Random: ...

@type_check_only
class Prototype(Protocol):
    """A detector, response or stage written in Python."""

    @property
    def name(self) -> str:
        """Its name, which none of the engine's has."""

    @property
    def kind(self) -> str:
        """What it is: "detector", "response" or "stage"."""

    @property
    def make(self) -> Callable[[], object]:
        """Makes one that has seen nothing yet: an object with on_ack, on_spurious or on_frame."""

    @property
    def methods(self) -> list[str]:
        """Which it has of on_retransmission, on_probe and at_end, or on_genuine."""

@type_check_only
class Behaviour(TypedDict):
    """A documented behaviour of a system."""

    about: str
    """What it does."""
    source: str
    """The source, or "assumed"."""

@type_check_only
class Policy(TypedDict):
    """A term of a sender's name."""

    name: str
    """Its name, with its variant if it has one: newreno, newreno:less-careful."""
    question: str
    """recovery, timeout, spurious, response or timer; profile for one that stands for a system."""
    about: str
    """What it is, in one line."""
    source: str
    """A paper or an RFC with its section, or whose source code has it."""
    behaviours: list[Behaviour]
    """Of a profile, how its sender differs from what a scenario sets; else empty."""

@type_check_only
class Receiver(TypedDict):
    """A system that may receive: a scenario's receiver.profile."""

    name: str
    """Its name."""
    about: str
    """What it is, in one line."""
    source: str
    """Who tells of it."""
    behaviours: list[Behaviour]
    """How its receiver differs from what a scenario sets."""

@type_check_only
class Detector(TypedDict):
    """A detector that may judge."""

    name: str
    """Its name."""
    about: str
    """What it goes by, in one line."""
    source: str
    """Who published it."""

def policies() -> list[Policy]:
    """What a sender may be composed of: policies, and behind them profiles."""

def receivers() -> list[Receiver]:
    """The systems that a receiver may be."""

def detectors() -> list[Detector]:
    """The detectors that may judge."""

def check(
    path: str | PathLike[str],
    set: Sequence[tuple[str, str]] = ...,
    senders: Sequence[str] = ...,
    prototypes: Sequence[Prototype] = ...,
    confined: bool = False,
) -> None:
    """Raise what `simulate` would raise for this scenario and these senders, without running it.

    Raise also if a key is set that the profiles of all senders override.

    Args:
        path: the scenario, a TOML file.
        set: values that replace the scenario's: dotted key, and value as TOML or bare string.
        senders: sender specifications.
        prototypes: what senders and links may name, too.
        confined: must all files that the scenario names lie within its folder?

    Raises:
        ScenarioError: the scenario is wrong, or a replacement.
        SenderError: a sender is wrong.
        PrototypeError: a prototype has no name of its own.
    """

def simulate(
    path: str | PathLike[str],
    *,
    set: Sequence[tuple[str, str]] = ...,
    senders: Sequence[str] = ...,
    seeds: Sequence[int],
    trace: bool = False,
    windows: bool = False,
    judges: Sequence[str] = ...,
    what_if: Sequence[str] = ...,
    prototypes: Sequence[Prototype] = ...,
    jobs: int = 0,
    progress: Callable[[int, int], object] | None = None,
    confined: bool = False,
) -> Outcome:
    """Run a scenario with each sender on each seed, on several threads.

    The same arguments give the same tables, whatever `jobs`. Ctrl-C ends it between two runs.

    Args:
        path: the scenario, a TOML file.
        set: values that replace the scenario's: dotted key, and value as TOML or bare string.
        senders: sender specifications, such as "sack+frto"; none for the scenario's own.
        seeds: from 0 to 2**64 - 1.
        trace: record every packet and every disturbance.
        windows: record every change of the senders' windows.
        judges: detectors that ride along on every sender, by name.
        what_if: senders each of which goes on from every timeout, in a copy of the run.
        prototypes: what senders, judges and links may name, too.
        jobs: how many threads; 0 for one a processor.
        progress: called about 20 times a second with the runs done and the runs there are; what
            it raises ends the whole.
        confined: must all files that the scenario names lie within its folder?

    Raises:
        ScenarioError: the scenario is wrong, a replacement, or a run cannot be made of it.
        SenderError: a sender is wrong, or a judge, or a sender cannot go on in another's place.
        PrototypeError: a prototype has no name of its own, or raised.
        InternalError: a defect in rtolab.
    """

@type_check_only
class BranchedTimeout(TypedDict):
    """Which timeout, of which run."""

    sender: str | None
    """The run's sender; `None` for the scenario's own."""
    seed: int
    """The run's seed."""
    flow: str
    """The flow."""
    at_s: float
    """When its sender's timer expired, as `Outcome.timeouts` has it."""
    seq: int
    """For which segment."""

def branch(
    path: str | PathLike[str],
    *,
    set: Sequence[tuple[str, str]] = ...,
    timeout: BranchedTimeout,
    other: str | None = None,
    confined: bool = False,
) -> Outcome | None:
    """Run a scenario that goes another way from one timeout on, and record every packet.

    Args:
        path: the scenario, a TOML file.
        set: values that replace the scenario's: dotted key, and value as TOML or bare string.
        timeout: where it goes another way.
        other: the sender that goes on from there; `None`: the timer does not expire, and no
            recovery begins before something more is acknowledged.
        confined: must all files that the scenario names lie within its folder?

    Returns:
        The whole run; `None` if there is no such timeout, or the connection was not open yet.

    Raises:
        ScenarioError: the scenario is wrong, or a replacement.
        SenderError: a sender is wrong, or cannot go on in the other's place.
        InternalError: a defect in rtolab.
    """

@type_check_only
class Carried(TypedDict):
    """What happened to the packets of one direction of an emulated link; sizes are bytes."""

    link: str
    """The link's name."""
    from_host: str | None
    """The node at which they entered; None for the access link of a flow."""
    to_host: str | None
    """The node at which they came out."""
    offered: int
    """Packets that entered the link; what follows but `inside` counts those that left it."""
    delivered: int
    """Packets that came out."""
    delivered_bytes: int
    """Their bytes, IP headers included."""
    dropped_queue: int
    """Packets dropped by the full queue."""
    dropped_error: int
    """Packets lost to random errors."""
    dropped_outage: int
    """Packets lost in outages."""
    dropped_script: int
    """Packets lost because the scenario names them."""
    dropped_early: int
    """Packets dropped by the queue's discipline."""
    dropped_lifetime: int
    """Packets older than the link keeps them."""
    dropped_retries: int
    """Packets given up by local retransmission."""
    inside: int
    """Packets still inside the link at the end."""
    mean_delay_s: float | None
    """The mean time of a delivered packet in the link, in seconds; None if there was none."""
    max_delay_s: float | None
    """The longest such time, in seconds."""
    max_queue: int
    """The most packets that ever waited in the queue."""

@type_check_only
class Late(TypedDict):
    """How late packets were, in seconds, to two digits."""

    packets: int
    """The packets measured, both ways."""
    p50_s: float
    """Half of them were not later than this."""
    p99_s: float
    """99 in 100 were not later than this."""
    max_s: float
    """None was later than this."""

@type_check_only
class Lateness(Late):
    """How much later than the link said packets came out."""

    allowed_s: float
    """A run in which 1 packet in 100 is later than this is not good."""

@type_check_only
class EmulatedHost(TypedDict):
    """A host: how it was set, and what its kernel counted."""

    name: str
    """The node's name."""
    address: str
    """Its IPv4 address."""
    effective: dict[str, str]
    """What was found effective, by setting."""
    counters_before: dict[str, int]
    """The kernel's counters of TCP before the run, by name such as TcpExtTCPTimeouts."""
    counters_after: dict[str, int]
    """The same after it."""
    counted: dict[str, int]
    """The difference, without what is zero."""

@type_check_only
class EmulationReport(TypedDict):
    """How an emulation ended and what its links and hosts did."""

    round_trip_s: float
    """The shortest round trip of a flow, in seconds, without transmission and waiting."""
    returncode: int | None
    """How the command ended, as in `subprocess`: -N for signal N; None if it was interrupted. Of
    flows 0."""
    interrupted: bool
    """Did Ctrl-C end it?"""
    elapsed_s: float
    """How long it ran, in seconds."""
    links: list[Carried]
    """The links' directions, the forward one of each before the other."""
    hosts: list[EmulatedHost]
    """The hosts, in the order of the scenario's nodes."""
    connections: dict[str, dict[str, str]]
    """What each flow's connection was found to be."""
    refused: int
    """Packets that came out of a link and that the kernel did not take."""
    lateness: Lateness
    """How well this machine kept the links' time."""
    waited: Late
    """How long packets may have waited in a host's device before they were read."""
    real_time: bool
    """Did the thread that carries packets run before all others?"""

def emulate(
    path: str | PathLike[str],
    *,
    set: Sequence[tuple[str, str]] = ...,
    seed: int = 1,
    command: Sequence[str],
    keep: bool = False,
) -> tuple[Outcome, EmulationReport]:
    """Join two network namespaces by the scenario's link, in real time, and run a command.

    The link must be the scenario's only one. The command runs at its first host, with this
    process's standard streams; its environment holds RTOLAB_PEER, the other host's address, and
    RTOLAB_PEER_NETNS, the other host's namespace. A process runs one emulation at a time. Needs
    Linux, root, /dev/net/tun and iproute2.

    Ctrl-C in the main thread ends the command; the report says so. Where the handler of another
    signal raises, the command is ended and that is raised. Either way nothing is left behind.

    Args:
        path: the scenario, a TOML file.
        set: values that replace the scenario's: dotted key, and value as TOML or bare string.
        seed: of what is random on the link, from 0 to 2**64 - 1.
        command: program and arguments, in which {peer} and hosts' names in braces are addresses.
        keep: shall the tables hold its TCP connections, packet by packet?

    Raises:
        ScenarioError: the scenario is wrong, or a replacement.
        EmulationError: the scenario is not one link between two hosts, something that is needed is
            missing, there is no such program, or the system refused.
        InternalError: a defect in rtolab.
    """

@final
class Diagnosis:
    """The rows of a capture's diagnosis, as one JSON document and as tables."""

    def json(self) -> str:
        """One JSON document."""

    def tables(self) -> dict[str, Table]:
        """The tables `connections`, `retransmissions`, `timeouts`, `episodes` and `findings`.

        They hold the rows of the document under its names. All but the first begin with
        `connection`, the number of the row's connection. Times are in seconds since the capture's
        first packet, sizes in bytes.
        """

def diagnose(
    path: str | PathLike[str], *, progress: Callable[[int, int], object] | None = None
) -> Diagnosis:
    """What each retransmission in a capture was.

    Args:
        path: the capture, `-` for standard input.
        progress: called now and then with the bytes read, and all of the file.

    Raises:
        CaptureError: it cannot be opened. Where it is damaged, `error` in the document says so.
    """

def annotate(
    path: str | PathLike[str], out: str | PathLike[str], comments: Mapping[int, str]
) -> None:
    """Write a pcapng copy of a capture with comments on its packets, by number.

    Raises:
        CaptureError: the capture cannot be read, or the copy not be written.
    """

def trace(path: str | PathLike[str], numbers: Sequence[int], limit: int) -> str:
    """The packets of some connections, by number, at most `limit` of each: one JSON document.

    Raises:
        CaptureError: the capture cannot be opened.
    """

def infer_scenario(path: str | PathLike[str], number: int, *, steady: bool = True) -> str:
    """The path and the transfer of a connection, by number: a scenario in TOML.

    Args:
        path: the capture.
        number: as the diagnosis counts connections.
        steady: whether the rate counts as the same all the time.

    Raises:
        CaptureError: the capture cannot be opened.
        Error: the capture does not show enough of the path.
    """

def what_if(path: str | PathLike[str], number: int) -> str:
    """What other senders would have made of the path of a connection, by number: one JSON document.

    Raises:
        CaptureError: the capture cannot be opened.
        Error: the capture does not show enough of the path.
    """

def emulate_flows(
    path: str | PathLike[str],
    *,
    variants: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    seeds: Sequence[int],
    parallel: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Outcome, list[EmulationReport]]:
    """Run a scenario's flows in real time, with the kernels' own sockets.

    Args:
        path: the scenario, a TOML file.
        variants: what the tables call the sender, and the dotted keys that are set for it.
        seeds: each variant runs with each of them.
        parallel: how many runs at a time.
        progress: called now and then with the runs done and the runs there are.

    Raises:
        ScenarioError: the scenario, a key or a value is wrong.
        EmulationError: something is missing, or a kernel is not as the scenario wants it.
        Exception: whatever `progress` raises.
    """

def end_at_second_interrupt() -> None:
    """Have a second SIGINT end this process at once, with 130; the first is Python's as before.

    Raises:
        OSError: the system does not let us.
    """

def clean_up() -> list[str]:
    """Take down what killed processes left behind; the names of their namespaces.

    Raises:
        EmulationError: `ip` is missing or refuses.
    """

@type_check_only
class GatewayCounts(TypedDict):
    """What a gateway has done, counted; bytes are those of payload."""

    opened: int
    established: int
    closed: int
    reset_by_client: int
    refused_by_server: int
    reset_by_server: int
    timed_out: int
    idle: int
    overrun: int
    cut: int
    over_connections: int
    over_memory: int
    over_sockets: int
    most_connections: int
    most_kept: int
    bytes_up: int
    bytes_down: int
    segments_in: int
    segments_out: int
    retransmissions: int
    timeouts: int
    fast_retransmits: int
    probes: int
    spurious_timeouts: int
    spurious_fast_retransmits: int
    undone: int
    not_tcp: int
    fragments: int
    damaged: int
    martian: int
    pieces: int
    stray: int
    undelivered: int
    interrupted: bool

def gateway(
    asked: Mapping[str, object], *, ready: Callable[[bool], object] | None = None
) -> GatewayCounts:
    """Run a gateway until a signal comes or its time is over.

    Args:
        asked: the options of `rtolab gateway`, as `rtolab.cli.gateway` names them.
        ready: called once the device is there, with whether it takes IPv4 alone, for IPv6 is
            disabled there.

    Raises:
        GatewayError: something is missing, or a setting is impossible.
        ScenarioError: the scenario cannot be read.
        SenderError: the sender specification is invalid.
    """
