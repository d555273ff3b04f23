"""The engine and the simulator. Times are in seconds since the start of the run, sizes in bytes."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Protocol, Self, TypedDict, final, type_check_only

__all__ = [
    "TABLES",
    "Ack",
    "CaptureError",
    "DetectorError",
    "Diagnosis",
    "EmulationError",
    "Episode",
    "Error",
    "Explorer",
    "Frame",
    "GatewayError",
    "InternalError",
    "Outcome",
    "PrototypeError",
    "Random",
    "ResponseContext",
    "ScenarioError",
    "SenderError",
    "SenderState",
    "Sent",
    "Table",
    "TimerWatcher",
    "WatchError",
    "Watcher",
    "__commit__",
    "__version__",
    "annotate",
    "check",
    "clean_up",
    "detectors",
    "diagnose",
    "diagnose_pair",
    "emulate",
    "emulate_flows",
    "emulate_programs",
    "end_at_second_interrupt",
    "gateway",
    "infer_scenario",
    "interrupt_prototypes",
    "lines",
    "policies",
    "rare",
    "rare_quantities",
    "receivers",
    "schema",
    "simulate",
    "suggest",
    "trace",
    "what_if",
]

__version__: str
__commit__: str
"""The commit from which it was built; empty if that was not a checkout."""

class Error(Exception):
    """The base class of all errors of rtolab. The message is written for users."""

class ScenarioError(Error):
    """The scenario is invalid. The message has file, line and key."""

class SenderError(Error):
    """The sender specification is invalid. The message has the term and the nearest valid ones."""

class DetectorError(SenderError):
    """No detector has that name. The message has the nearest ones."""

class PrototypeError(Error):
    """A prototype in Python is invalid, or raised an exception, which is then the cause."""

class EmulationError(Error):
    """This machine cannot emulate the scenario. The message says what is missing."""

class GatewayError(Error):
    """This machine cannot run the gateway. The message says what is missing."""

class WatchError(Error):
    """This machine cannot watch the interface. The message says what is missing."""

class CaptureError(Error):
    """A capture cannot be opened, or its copy cannot be written."""

class InternalError(Error):
    """A defect in rtolab. The message has the place in the source. Please report it."""

@final
class Table:
    """Rows and columns in Arrow's format, handed over without copying.

    Open it with `polars.DataFrame(table)`, `pandas.DataFrame.from_arrow(table)` or
    `pyarrow.table(table)`.
    """

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def __len__(self) -> int:
        """The number of rows."""

    def __arrow_c_schema__(self) -> object:
        """A capsule with Arrow's C schema."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with Arrow's C stream of the rows."""

TABLES: tuple[tuple[str, str], ...]
"""The name of each table of a run, and the meaning of one of its rows."""

@final
class Outcome:
    """The results of all runs of one `simulate`.

    Every table begins with `run` (counted from 0: all seeds of the first sender, then those of
    the second), `seed` and `sender`. Columns in `_s` are seconds, those in `_bps` bits a second;
    sequence numbers count from the SYN, which is 0, and windows and lengths are bytes. A table is
    made at its first use.
    """

    @property
    def effort(self) -> dict[str, float | None]:
        """The effort of all runs together: a dictionary.

        `set_up_s` and `run_s` are seconds of CPU time, `data_packets_delivered` and `events` are
        counts, `peak_memory_mb` is the peak resident memory of this process.
        """

    def table(self, name: str) -> Table:
        """The table of that name; `TABLES` lists them.

        The column `truth` of timeouts is set in traced runs only: `spurious` (the acknowledgment
        was only late), `ack-lost` or `genuine`, as a copy of the run without that retransmission
        shows. The column `cause` of duplicates is `loss`, `reordering`, `retransmission` (a
        spurious one) or `network` (a link made a second copy).
        """

    def packetdrill(self, run: int) -> str:
        """The first flow of a traced run as a packetdrill script for its sender.

        Args:
            run: which run, from 0.

        Raises:
            Error: there is no such run, or it was not traced.
        """

    def pcapng(self, run: int, place: str, headers: bool = False) -> bytes:
        """The packets of a traced run, as a capture at one host shows them.

        Args:
            run: which run, from 0.
            place: "sender" or "receiver", the hosts that send and receive the data.
            headers: are packets cut after their headers? Their payload is zeros.

        Returns:
            A pcapng file of raw IPv4 packets, its times in nanoseconds.

        Raises:
            Error: there is no such run or place, or it was not traced.
        """

def schema() -> str:
    """The JSON Schema of a scenario, for editors."""

def lines(text: str, file: str) -> list[tuple[list[str], int]]:
    """The path of each key in a TOML text, and its line, counted from 1.

    Raises:
        Error: the text is not TOML. The message names `file`.
    """

def suggest(found: str, known: list[str]) -> str:
    """A message with at most five of `known` that are nearest to `found`."""

@final
class Explorer:
    """The answers of the explorer."""

    def __new__(cls, texts: Mapping[str, str]) -> Self:
        """Answers about the included scenarios.

        Args:
            texts: the scenarios and the files that they name, by file name.
        """

    def answer(self, question: str, request: str) -> tuple[bool, bytes]:
        """Answer a question of the page.

        Args:
            question: `scenario`, `check`, `run`, `what-if` or `branch`.
            request: a JSON object.

        Returns:
            Whether there is an answer, and the answer or else the JSON of the error.

        Raises:
            Error: there is no such question.
            MemoryError: the packets do not fit into memory.
            InternalError: a defect in rtolab.
        """

    @staticmethod
    def diagnose(path: str | PathLike[str], name: str, packets: int) -> tuple[bool, bytes]:
        """Diagnose a capture.

        Args:
            path: the capture.
            name: its name in the answer.
            packets: the most packets of a connection in the answer.

        Returns:
            Whether there is an answer, and the answer or else the JSON of the error.

        Raises:
            InternalError: a defect in rtolab.
        """

    def index(self) -> str:
        """The scenarios and the terms of sender specifications on offer, as JSON."""

@final
class Ack:
    """An acknowledgment, and its information about the segments sent before.

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
        """SND.UNA before this acknowledgment."""

    @property
    def max(self) -> int:
        """SND.MAX."""

    @property
    def advanced(self) -> int:
        """By how much it advances SND.UNA."""

    @property
    def is_new(self) -> bool:
        """Does it advance SND.UNA?"""

    @property
    def oldest_acked(self) -> Sent | None:
        """The first segment that it newly acknowledges as a whole, if any."""

    @property
    def newest_acked(self) -> Sent | None:
        """The last such segment."""

    @property
    def acks_retransmission(self) -> bool:
        """Was any segment that it newly acknowledges sent more than once?"""

    @property
    def sacked_before(self) -> int:
        """Bytes above `una_before` that were SACKed before it."""

    @property
    def newly_sacked(self) -> int:
        """Bytes that it newly SACKs."""

    @property
    def sacked_end(self) -> int | None:
        """The end of the highest newly SACKed range."""

    @property
    def original(self) -> int | None:
        """The end of the lowest segment that was sent once and is now first reported as arrived."""

    @property
    def dsack(self) -> tuple[int, int] | None:
        """The start and the end of the range that it reports as received twice (RFC 2883)."""

    @property
    def duplicate(self) -> bool:
        """Is it a duplicate acknowledgment (RFC 5681 section 2)?"""

    @property
    def answers_retransmission(self) -> bool:
        """Does its header say that it answers a marked retransmission?"""

    @property
    def echo(self) -> int | None:
        """The timestamp that it echoes (TSecr)."""

@final
class Sent:
    """A segment that was sent. Times and sequence numbers are as in `Ack`."""

    @property
    def seq(self) -> int:
        """Its first sequence number."""

    @property
    def end(self) -> int:
        """The sequence number after its last one."""

    @property
    def first_sent(self) -> int:
        """When it was first sent."""

    @property
    def last_sent(self) -> int:
        """When it was last sent."""

    @property
    def timestamp(self) -> int:
        """The timestamp (TSval) of its last transmission; 0 without timestamps."""

    @property
    def first_timestamp(self) -> int:
        """The timestamp (TSval) of its first transmission; 0 without timestamps."""

    @property
    def transmissions(self) -> int:
        """The number of its transmissions."""

    @property
    def was_retransmitted(self) -> bool:
        """Was it sent more than once?"""

    @property
    def is_sacked(self) -> bool:
        """Was it SACKed?"""

    @property
    def marked(self) -> bool:
        """Did its last transmission have the RXT flag, the mark of a retransmission?"""

    @property
    def cause(self) -> str:
        """Why it was last sent.

        One of new, timeout, fast_retransmit, recovery, go_back_n, probe, answer (to a SYN of the
        peer) and unknown.
        """

@final
class Episode:
    """A timeout or fast retransmit, and the sender's actions since. Times are as in `Ack`."""

    @property
    def number(self) -> int:
        """Its number in the connection, from 0."""

    @property
    def kind(self) -> str:
        """How it began: "timeout" or "fast_retransmit"."""

    @property
    def began(self) -> int:
        """When it began."""

    @property
    def seq(self) -> int:
        """The first sequence number of the segment that timed out or was marked lost."""

    @property
    def max(self) -> int:
        """SND.MAX when it began."""

    @property
    def high(self) -> int:
        """SND.MAX when its last retransmission left; an ACK beyond it ends the episode."""

    @property
    def min_rtt(self) -> int | None:
        """The connection's smallest round-trip time so far, by Karn's rule, in nanoseconds."""

    @property
    def srtt(self) -> int | None:
        """The smoothed round-trip time when it began, by Karn's rule, in nanoseconds."""

    @property
    def spacing(self) -> int | None:
        """The smallest time between two acknowledgments that acknowledge one segment each."""

    @property
    def dsack_seen(self) -> bool:
        """Has the peer ever sent a D-SACK?"""

    @property
    def sack(self) -> bool:
        """Is SACK in use?"""

    @property
    def timeouts(self) -> int:
        """The number of times the retransmission timer has expired in it."""

    @property
    def retransmissions(self) -> int:
        """The number of segments retransmitted in it so far."""

    @property
    def new_segments(self) -> int:
        """The number of new segments sent in it so far."""

@final
class ResponseContext:
    """The state of a sender when a detector that it acts on decides.

    Times are whole nanoseconds since the run began, windows are bytes.
    """

    @property
    def at(self) -> int:
        """When the acknowledgment arrived."""

    @property
    def detector(self) -> str:
        """The name of the detector."""

    @property
    def kind(self) -> str:
        """What it decided about: "timeout" or "fast_retransmit"."""

    @property
    def episode(self) -> Episode | None:
        """The episode before the acknowledgment."""

    @property
    def now(self) -> SenderState:
        """The state now."""

    @property
    def before(self) -> SenderState:
        """The state before the timeout or fast retransmit."""

    @property
    def flight_before_ack(self) -> int:
        """The outstanding bytes before the acknowledgment."""

    @property
    def acked(self) -> int:
        """The bytes that it acknowledges."""

    @property
    def smss(self) -> int:
        """The size of a full segment (SMSS), in bytes."""

    @property
    def initial_window(self) -> int:
        """The initial window, in bytes."""

    @property
    def granularity(self) -> int:
        """The granularity of the retransmission timer, in nanoseconds."""

    @property
    def congestion_echoed(self) -> bool:
        """Has the peer echoed congestion (ECE) since?"""

    @property
    def cwnd_has_regrown(self) -> bool:
        """Has CUBIC's window regained its previous size (RFC 9438 section 4.9.2)?"""

    @property
    def losses_under_way(self) -> bool:
        """Was the sender in recovery before? F-RTO cannot exclude losses then (RFC 5682, 6)."""

@final
class SenderState:
    """A sender's windows and estimates."""

    @property
    def cwnd(self) -> int:
        """The congestion window, in bytes."""

    @property
    def ssthresh(self) -> int:
        """The slow start threshold, in bytes."""

    @property
    def flight(self) -> int:
        """The outstanding bytes."""

    @property
    def estimate(self) -> tuple[int, int] | None:
        """SRTT and RTTVAR in nanoseconds; `None` before the first measurement."""

@final
class Frame:
    """A frame at the end of its transmission over a link."""

    @property
    def number(self) -> int:
        """Its number among the frames sent in this direction, from 1."""

    @property
    def at(self) -> int:
        """When its transmission ended, in whole nanoseconds since the run began."""

    @property
    def bytes(self) -> int:
        """Its size on the link, headers included."""

    @property
    def direction(self) -> str:
        """Its direction: "forward" or "backward"."""

@final
class Random:
    """The random numbers of one stage in one run. They follow from the seed.

    Each call consumes one number of 64 bits, whatever its arguments and result.
    """

    def bits(self) -> int:
        """A number of 64 bits."""

    def chance(self, probability: float) -> bool:
        """`True` with this probability, from 0 to 1."""

    def uniform(self, low: int, high: int) -> int:
        """A uniformly distributed integer, at least `low` and below `high`."""

    def exponential(self, mean: int) -> int:
        """An exponentially distributed integer with this mean."""

    def __deepcopy__(self, memo: object) -> Random: ...
    def __copy__(self) -> Random: ...

@type_check_only
class Prototype(Protocol):
    """A detector, response or stage written in Python."""

    @property
    def name(self) -> str:
        """Its name. No name of the engine equals it."""

    @property
    def kind(self) -> str:
        """One of detector, response and stage."""

    @property
    def make(self) -> Callable[[], object]:
        """Makes an object in its initial state, with on_ack, on_spurious or on_frame."""

    @property
    def methods(self) -> list[str]:
        """Its optional methods: on_retransmission, on_probe, at_end or on_genuine."""

@type_check_only
class Behaviour(TypedDict):
    """A documented behaviour of a system."""

    about: str
    """What it does."""
    source: str
    """The source, or "assumed"."""

@type_check_only
class Policy(TypedDict):
    """A term of a sender specification."""

    name: str
    """Its name, with its variant if it has one, such as newreno:less-careful."""
    question: str
    """recovery, timeout, spurious, response, timer, or profile for a system."""
    about: str
    """What it is, in one line."""
    source: str
    """A paper, an RFC with its section, or the source code of a system."""
    behaviours: list[Behaviour]
    """For a profile: what it does differently from the defaults. Otherwise empty."""

@type_check_only
class Receiver(TypedDict):
    """A system as a receiver: a value of the scenario key receiver.profile."""

    name: str
    """Its name."""
    about: str
    """What it is, in one line."""
    source: str
    """The source."""
    behaviours: list[Behaviour]
    """What it does differently from the defaults."""

@type_check_only
class Detector(TypedDict):
    """A detector."""

    name: str
    """Its name."""
    about: str
    """What its verdict is based on, in one line."""
    source: str
    """Its publication."""

def policies() -> list[Policy]:
    """The terms of sender specifications: policies, then profiles."""

def receivers() -> list[Receiver]:
    """The profiles of receivers."""

def detectors() -> list[Detector]:
    """All detectors."""

def check(
    path: str | PathLike[str],
    set: Sequence[tuple[str, str]] = ...,
    senders: Sequence[str] = ...,
    prototypes: Sequence[Prototype] = ...,
    confined: bool = False,
    may_override: bool = False,
) -> None:
    """Raise what `simulate` would raise for this scenario and these senders, without running it.

    A sender that no flow uses is an error, too, and a key that the profiles of all senders
    override.

    Args:
        path: the scenario, a TOML file.
        set: values that replace the scenario's: dotted key, and value as TOML or bare string.
        senders: sender specifications.
        prototypes: detectors, responses and stages that senders and links name.
        confined: must all files that the scenario names lie within its folder?
        may_override: may the profiles of all senders override a key?

    Raises:
        ScenarioError: the scenario or a replacement is invalid.
        SenderError: a sender is invalid.
        PrototypeError: the name of a prototype is taken.
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
        judges: passive detectors on every sender, by name.
        what_if: senders that replace the sender from each timeout on, in a copy of the run.
        prototypes: detectors, responses and stages that senders, judges and links name.
        jobs: the number of threads; 0 for one per processor.
        progress: called about 20 times a second with the numbers of finished runs and of all
            runs. An exception ends the simulation.
        confined: must all files that the scenario names lie within its folder?

    Raises:
        ScenarioError: the scenario or a replacement is invalid, or cannot be run.
        SenderError: a sender or a judge is invalid, or a sender cannot replace another.
        PrototypeError: the name of a prototype is taken, or it raised an exception.
        InternalError: a defect in rtolab.
    """

def rare_quantities() -> list[tuple[str, int]]:
    """The quantities whose large values may be rare, each with its value at the first timeout."""

def rare(
    path: str | PathLike[str],
    *,
    set: Sequence[tuple[str, str]] = ...,
    sender: str | None = None,
    quantity: str,
    at_least: int,
    runs: int,
    repeats: int,
    seed: int = 1,
    jobs: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> list[list[int]]:
    """Estimate the chance that a quantity reaches a value in a run, several times.

    The same arguments give the same counts, whatever `jobs`.

    Args:
        path: the scenario, a TOML file.
        set: values that replace the scenario's: dotted key, and value as TOML or bare string.
        sender: a sender specification; None for the scenario's own.
        quantity: one of `rare_quantities`.
        at_least: the value that it has to reach.
        runs: the number of runs at each level.
        repeats: the number of estimates.
        seed: of all random numbers, from 0 to 2**64 - 1.
        jobs: the number of threads; 0 for one per processor.
        progress: called about 20 times a second with the numbers of finished estimates and of all.

    Returns:
        For each estimate the number of runs that reached each level, up to the first level that
        none reached.

    Raises:
        ScenarioError: the scenario or a replacement is invalid, or cannot be run.
        SenderError: the sender is invalid.
        Error: there is no such quantity.
    """

@type_check_only
class Carried(TypedDict):
    """The packets of one direction of an emulated link, by their fate; sizes are bytes."""

    link: str
    """The link's name."""
    from_host: str | None
    """The node at which they entered; None for the access link of a flow."""
    to_host: str | None
    """The node at which they left it."""
    offered: int
    """Packets that entered the link."""
    delivered: int
    """Packets that arrived at the other end."""
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
    """Packets dropped by the queue's discipline (RED, CoDel)."""
    dropped_lifetime: int
    """Packets that exceeded the link's lifetime."""
    dropped_retries: int
    """Packets that local retransmission gave up."""
    inside: int
    """Packets still inside the link at the end."""
    mean_delay_s: float | None
    """The mean time of delivered packets in the link, in seconds; None if there were none."""
    max_delay_s: float | None
    """The longest time of a delivered packet in the link, in seconds."""
    max_queue: int
    """The most packets that ever waited in the queue."""

@type_check_only
class Late(TypedDict):
    """How late packets were, in seconds, rounded to two digits."""

    packets: int
    """The number of packets, in both directions."""
    p50_s: float
    """The median."""
    p99_s: float
    """The 99th percentile."""
    max_s: float
    """The maximum."""

@type_check_only
class Lateness(Late):
    """How much later than simulated the packets left the links."""

    allowed_s: float
    """A run whose p99 exceeds this is NOT GOOD."""

@type_check_only
class Exchange(TypedDict):
    """How a guest and rtolab exchange time and packets."""

    shared_memory: bool
    """By shared memory, which Linux 6.11 and later can."""
    messages: int
    """The messages after its start, without those by which it runs and waits: 0 if it shares."""

@type_check_only
class EmulatedHost(TypedDict):
    """A host with its settings and its kernel's counters."""

    name: str
    """The node's name."""
    address: str
    """Its IPv4 address."""
    kernel: str | None
    """Its kernel, if that is a guest on a virtual clock."""
    exchange: Exchange | None
    """The exchange with a guest."""
    effective: dict[str, str]
    """The values that the kernel reports, by setting."""
    counters_before: dict[str, int]
    """The kernel's TCP counters before the run, by name such as TcpExtTCPTimeouts."""
    counters_after: dict[str, int]
    """The same counters after the run."""
    counted: dict[str, int]
    """The differences that are not zero."""

@type_check_only
class WithheldRetransmission(TypedDict):
    """The truth about the retransmission of a timeout or fast retransmit of a guest."""

    flow: str
    at_s: float
    """Its time, in seconds."""
    kind: str
    """`timeout` or `fast-retransmit`."""
    by_fates: str
    """The truth according to the fates of the run's packets."""
    by_withholding: str
    """The truth according to a repeated run without the retransmission."""

@type_check_only
class EmulatedServerEnd(TypedDict):
    """The end of a server while its client ran, or before."""

    code: int
    """Its exit code; 128 plus the number of the signal that ended it."""
    before_client: bool
    """Did it end before it listened? Then the client did not start."""

@type_check_only
class EmulationReport(TypedDict):
    """The end of an emulation, and the results of its links and hosts."""

    round_trip_s: float
    """The shortest round trip of a flow, in seconds, without transmission and queueing."""
    returncode: int | None
    """The exit status of the command, as in `subprocess`: -N for signal N, None if it was
    interrupted or did not start. 0 if the scenario's own flows ran."""
    interrupted: bool
    """Did Ctrl-C end it?"""
    elapsed_s: float
    """How long it ran, in seconds."""
    links: list[Carried]
    """The links' directions, the forward one of each before the other."""
    hosts: list[EmulatedHost]
    """The hosts, in the order of the scenario's nodes."""
    connections: dict[str, dict[str, str]]
    """The parameters that each flow's socket reported, by flow."""
    refused: int
    """Packets that left a link and that the kernel refused."""
    lateness: Lateness
    """How late the packets were."""
    waited: Late
    """Upper bounds for the time that packets waited in a host's device."""
    real_time: bool
    """Did the forwarding thread have real-time priority?"""
    server_end: EmulatedServerEnd | None
    """The end of the server of programs in guests, if it ended before the client."""
    withheld: list[WithheldRetransmission]
    """The retransmissions that repeated runs withheld, by flow and time."""

def emulate(
    path: str | PathLike[str],
    *,
    set: Sequence[tuple[str, str]] = ...,
    seed: int = 1,
    command: Sequence[str],
    keep: bool = False,
) -> tuple[Outcome, EmulationReport]:
    """Connect two network namespaces by the scenario's link, in real time, and run a command.

    The link must be the scenario's only one. The command runs at its first host, with this
    process's standard streams. In its environment RTOLAB_PEER is the other host's address and
    RTOLAB_PEER_NETNS the other host's namespace. A process runs one emulation at a time. Needs
    Linux, root, /dev/net/tun and iproute2.

    Ctrl-C in the main thread ends the command, and the report says so. An exception from the
    handler of another signal ends the command as well. Either way nothing is left behind.

    Args:
        path: the scenario, a TOML file.
        set: values that replace the scenario's: dotted key, and value as TOML or bare string.
        seed: the seed of the links, from 0 to 2**64 - 1.
        command: program and arguments. {peer} and other hosts' names in braces become addresses.
        keep: must the tables have its TCP connections, packet by packet?

    Raises:
        ScenarioError: the scenario or a replacement is invalid.
        EmulationError: the scenario is not one link between two hosts, a requirement or the
            program is missing, or the system refused.
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

    def timers(self) -> Table | None:
        """The timeouts that other minimum RTOs would have caused.

        A row per direction of a connection and minimum RTO, if the diagnosis replays timers. Times
        are in seconds. None for a QUIC log.
        """

@final
class TimerWatcher:
    """Diagnoses the packets of an interface as they pass, and replays timers.

    Args:
        interface: its name, or `any`.
        host: only packets from or to this address.
        port: only packets from or to this port.
        ring: the size of the ring shared with the kernel, in bytes.

    Raises:
        WatchError: this machine cannot watch the interface.
    """

    def __new__(
        cls, interface: str, *, host: str | None = None, port: int | None = None, ring: int = ...
    ) -> Self: ...
    def poll(self, seconds: float) -> None:
        """Watch for this time in seconds."""

    def finish(self) -> tuple[Diagnosis, int]:
        """End: the diagnosis, and the number of packets that the kernel dropped."""

@final
class Watcher:
    """Diagnoses the packets of an interface as they pass.

    Args:
        interface: its name, or `any`.
        host: only packets from or to this address.
        port: only packets from or to this port.
        ring: the size of the ring shared with the kernel, in bytes.
        connections: the most connections watched at once; beyond it, idle ones are evicted.
        memory: the most memory for connections in bytes, as estimated; beyond it, likewise.
        idle_s: a connection without packets for this time is over.

    Raises:
        WatchError: this machine cannot watch the interface.
    """

    def __new__(
        cls,
        interface: str,
        *,
        host: str | None = None,
        port: int | None = None,
        ring: int = ...,
        connections: int = ...,
        memory: int = ...,
        idle_s: float = ...,
    ) -> Watcher: ...
    def poll(self, seconds: float) -> list[str]:
        """Watch for this time; the verdicts that have settled, each as a JSON object."""

    def finish(self) -> list[str]:
        """End the watch; the verdicts on open connections, each as a JSON object."""

    def totals(self) -> str:
        """The totals so far, as a JSON object."""

def diagnose(
    path: str | PathLike[str],
    *,
    progress: Callable[[int, int], object] | None = None,
    timers: bool = False,
) -> Diagnosis:
    """Diagnose each retransmission of a capture.

    Args:
        path: the capture, `-` for standard input.
        progress: called from time to time with the bytes read and the size of the file.
        timers: replay the timers of other minimum RTOs.

    Raises:
        CaptureError: it cannot be opened. If it is damaged, `error` in the document says so.
    """

def diagnose_pair(first: str | PathLike[str], second: str | PathLike[str]) -> Diagnosis:
    """Diagnose each retransmission of two captures of the same transfers, one from each end.

    Args:
        first: the one capture.
        second: the other one.

    Raises:
        CaptureError: one cannot be opened, they have no connection in common, or they are from
            one place.
    """

def annotate(
    path: str | PathLike[str], out: str | PathLike[str], comments: Mapping[int, str]
) -> None:
    """Write a pcapng copy of a capture with comments on its packets, by number.

    Raises:
        CaptureError: the capture cannot be read, or the copy cannot be written.
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
        steady: is the rate the same all the time?

    Raises:
        CaptureError: the capture cannot be opened.
        Error: the capture does not show enough of the path.
    """

def what_if(path: str | PathLike[str], number: int) -> str:
    """Replay the path of a connection with other senders: one JSON document.

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
    guest: tuple[str | PathLike[str], str] | None = None,
    others: Sequence[tuple[str, str | PathLike[str], str]] = ...,
    engine: tuple[Sequence[str], str] = ...,
    withhold: bool = False,
    judges: Sequence[str] = ...,
    prototypes: Sequence[Prototype] = ...,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Outcome, list[EmulationReport]]:
    """Run a scenario's flows with the sockets of real kernels.

    Args:
        path: the scenario, a TOML file.
        variants: name of the sender in the tables, and the keys that are set for it.
        seeds: the seeds of each variant.
        parallel: the number of concurrent runs.
        guest: the folder and the description of a kernel: every host is a guest on a virtual
            clock. Without it hosts are namespaces in real time.
        others: hosts whose guests have another kernel, with its folder and its description.
        engine: the hosts that are the engine beside guests, and its sender.
        withhold: find the truth about each retransmission of a guest by a repeated run without it.
        judges: passive detectors at every sender, by name.
        prototypes: detectors that judges name.
        progress: called from time to time with the numbers of finished runs and of all runs.

    Raises:
        ScenarioError: the scenario, a key or a value is invalid.
        SenderError: a judge is invalid.
        PrototypeError: the name of a prototype is taken, or it raised an exception.
        EmulationError: a requirement is missing, or a kernel refused a setting.
        Exception: that of `progress`.
    """

def emulate_programs(
    path: str | PathLike[str],
    *,
    guest: tuple[str | PathLike[str], str],
    client: Sequence[str],
    others: Sequence[tuple[str, str | PathLike[str], str]] = ...,
    server: str | None = None,
    set: Sequence[tuple[str, str]] = ...,
    seed: int = 1,
    lead_s: float = 10.0,
    limit_s: float | None = None,
    keep: bool = False,
    log: str | PathLike[str] | None = None,
    kept: tuple[str, str | PathLike[str]] | None = None,
    patience_s: float | None = None,
    goes_on: Callable[[], object] | None = None,
) -> tuple[Outcome, EmulationReport]:
    """Run a client and a server in guests on a virtual clock, until the client ends.

    The client runs at the first host of the scenario's first link, the server at its other end. In
    both, {peer} is the server's address, and the name of a host in braces that host's. They see
    this machine's files and cannot change them, and they have no network but the scenario's.

    Args:
        path: the scenario, a TOML file.
        guest: the folder and the description of a kernel.
        client: program and arguments. It starts once the server listens, and does not start if the
            server ends before.
        others: hosts whose guests have another kernel, with its folder and its description.
        server: a command line for sh.
        set: values that replace the scenario's: dotted key, and value as TOML or bare string.
        seed: the seed of the links and of the guests' random numbers, from 0 to 2**64 - 1.
        lead_s: how long the server may take until it listens, in virtual seconds.
        limit_s: how long the client may run, in virtual seconds; then the return code is 124.
        keep: must the tables have their connections, packet by packet?
        log: a file for what they write; without it that is this process's standard streams.
        kept: a folder of the guests, and one of this machine for a tar archive of the former, named
            by host, from the client's host and the server's. SIGTERM ends the server before.
        patience_s: how long a guest may compute without sleeping, in real seconds; by default 60.
        goes_on: called now and then; an exception ends the run.

    Raises:
        ScenarioError: the scenario or a replacement is invalid.
        EmulationError: a kernel refused a setting, a program cannot be run, or it waits for ever.
        OSError: the log cannot be written.
        Exception: that of `goes_on`.
    """

def interrupt_prototypes() -> None:
    """Raises KeyboardInterrupt in the calls of prototypes that other threads are in."""

def end_at_second_interrupt() -> None:
    """End this process at the second SIGINT, with 130. Python handles the first one.

    Raises:
        OSError: the system refuses.
    """

def clean_up() -> list[str]:
    """Remove the namespaces that killed processes left behind, and return their names.

    Raises:
        EmulationError: `ip` is missing or refuses.
    """

@type_check_only
class GatewayCounts(TypedDict):
    """The counters of a gateway. Bytes are payload bytes."""

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
    packets_too_big: int
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
    """Run a gateway until a signal arrives or its duration is over.

    Args:
        asked: the options of `rtolab gateway`, under the names of `rtolab.cli.gateway`.
        ready: called when the device exists, with whether it takes only IPv4, because the system
            has disabled IPv6.

    Raises:
        GatewayError: a requirement is missing, or a setting is impossible.
        ScenarioError: the scenario cannot be read.
        SenderError: the sender specification is invalid.
    """
