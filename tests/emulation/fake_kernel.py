"""A fake guest kernel: it exchanges time and packets as User Mode Linux does.

It answers requests as python/rtolab/kernel/init.c does, and stores the values of system controls.
It has no TCP. A program only prints its arguments, and ends with status 3 if it is `false`,
otherwise with 0. A server prints nothing, opens a datagram socket and continues.

Its own arguments before those of a kernel change it: `refuses` a setting, `lacks` programs, `waits`
with programs that never end, `ends=CODE` with a server that ends at once without a socket, `asks`
with a server's connected socket, `panics` when a program starts, `spins` then without sleeping,
`killed` at its first answer, `messages` about time as of Linux 6.1, which has no shared memory,
`direct` interrupts and kicks by that memory. A `direct` guest has a time of its own and panics, as
the kernel does, if it should go backwards: the guest number 0 naps after each request, and the
others read the clock before they answer.
"""

import mmap
import os
import re
import select
import signal
import socket
import struct
import sys
import time

SIZE = 1 << 20
RINGS = 0x1000
"""Descriptors, the available ring and the used ring of each queue, one page each."""
BUFFERS = 0x10000
ENTRIES = 16
ETHERNET = bytes(12) + b"\x88\xb5"
WORDS = b"words"
"""The key under which the arguments of the next program are stored."""


def connect(path: str) -> socket.socket:
    """A connection to a socket of the controller."""
    made = socket.socket(socket.AF_UNIX)
    made.connect(path)
    return made


class Clock:
    """The virtual clock, in shared memory."""

    def __init__(self, number: int) -> None:
        self.client = number + 1
        self.socket = connect("time")
        self.socket.sendall(struct.pack("=IIQ", 1, 1, number))
        _, files, _, _ = socket.recv_fds(self.socket, 16, 2)
        length = os.fstat(files[0]).st_size
        self.memory = mmap.mmap(files[0], length)
        self.entry = 4096 + 128 * self.client
        self.shares = "messages" not in sys.argv
        self.requested = 0
        struct.pack_into("=I", self.memory, self.entry, int(self.shares))

    def say(self, op: int, time: int = 0) -> int:
        """Sends a message; returns the time of the answer."""
        self.socket.sendall(struct.pack("=IIQ", op, 2, time))
        answered, _, now = struct.unpack("=IIQ", self.socket.recv(16, socket.MSG_WAITALL))
        assert answered == 0, answered
        return int(now)

    def wait(self) -> None:
        """Tell the controller that this guest waits."""
        if self.shares:
            self.socket.sendall(struct.pack("=IIQ", 3, 2, 0))
        else:
            self.say(3)

    def request(self) -> None:
        """Ask to run now."""
        if self.shares:
            now = struct.unpack_from("=Q", self.memory, 16)[0]
            struct.pack_into("=IQ", self.memory, self.entry + 4, 1, now)
        else:
            self.requested = self.say(4)
            self.say(2, self.requested)

    def run(self) -> None:
        """Waits until it may run."""
        op, _, now = struct.unpack("=IIQ", self.socket.recv(16))
        assert op == 6, op
        if self.shares:
            struct.pack_into("=I", self.memory, self.entry + 4, 0)
        else:
            # As the kernel does, which otherwise panics.
            assert now == self.requested, (now, self.requested)
            self.socket.sendall(struct.pack("=IIQ", 0, 0, 0))


class OwnTime(Clock):
    """A clock that advances without a message as far as it may.

    Interrupts and kicks pass by the memory, as in python/rtolab/kernel/direct.c.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        length = struct.unpack_from("=I", self.memory, 4)[0]
        self.place = (length + 4095) // 4096 * 4096 + 64 * self.client
        struct.pack_into("=I", self.memory, self.place, 1)
        self.now = 0
        self.interrupts = 0
        self.is_waiting = False

    def set_time(self) -> None:
        """Take the time of the memory."""
        now = struct.unpack_from("=Q", self.memory, 16)[0]
        if now < self.now:
            panic = "Kernel panic - not syncing: time-travel: time goes backwards"
            sys.exit(f"{panic} {self.now} -> {now}")
        self.now = now

    def sleep(self, until: int | None, *, wakes: bool) -> None:
        """Waits for this time; if `wakes`, also for an interrupt."""
        kind = (0, 0) if until is None else (1, until)
        struct.pack_into("=IQ", self.memory, self.entry + 4, *kind)
        while until is None or self.now < until:
            if not self.is_waiting:
                self.wait()
            op, _, _ = struct.unpack("=IIQ", self.socket.recv(16, socket.MSG_WAITALL))
            assert op == 6, op
            self.is_waiting = False
            self.set_time()
            self.interrupts |= struct.unpack_from("=I", self.memory, self.place + 8)[0]
            struct.pack_into("=I", self.memory, self.place + 8, 0)
            if wakes and self.interrupts:
                break
        struct.pack_into("=I", self.memory, self.entry + 4, 0)

    def read(self) -> None:
        """Reads the clock, which takes 256 ns."""
        until = self.now + 256
        if until < struct.unpack_from("=Q", self.memory, 8)[0]:
            self.now = until
        else:
            self.sleep(until, wakes=False)

    def kick(self) -> None:
        """Announces a frame, after which the time does not advance."""
        struct.pack_into("=Q", self.memory, 16, self.now)
        struct.pack_into("=I", self.memory, self.place + 12, 1)
        free_until = struct.unpack_from("=Q", self.memory, 8)[0]
        struct.pack_into("=Q", self.memory, 8, min(free_until, self.now + 1))


class Card:
    """A network card with two queues."""

    def __init__(self, path: str) -> None:
        self.socket = connect(path)
        self.file = os.memfd_create("memory")
        os.ftruncate(self.file, SIZE)
        self.memory = mmap.mmap(self.file, SIZE)
        self.requests, theirs = socket.socketpair()
        for kind in (1, 15):
            self.ask(kind, b"", flags=1)
        self.ask(5, struct.pack("=IIQQQQ", 1, 0, 0, SIZE, 0, 0), files=[self.file])
        self.ask(21, b"", files=[theirs.fileno()])
        for queue in (0, 1):
            rings = [RINGS + 0x3000 * queue + 0x1000 * place for place in range(3)]
            self.ask(8, struct.pack("=II", queue, ENTRIES))
            self.ask(10, struct.pack("=II", queue, 0))
            self.ask(9, struct.pack("=IIQQQQ", queue, 0, rings[0], rings[2], rings[1], 0))
        if "direct" not in sys.argv:
            self.disable_sent_interrupts()
        for entry in range(ENTRIES):
            self.offer(0, entry, 2048, writable=True)
        self.taken = 0
        self.kicks = 0

    def disable_sent_interrupts(self) -> None:
        """No interrupts for what is sent."""
        struct.pack_into("=H", self.memory, RINGS + 0x4000, 1)

    def ask(
        self, kind: int, body: bytes, *, flags: int = 9, files: list[int] | None = None
    ) -> None:
        """Sends a message of vhost-user, and reads the answer."""
        message = struct.pack("=III", kind, flags, len(body)) + body
        socket.send_fds(self.socket, [message], files or [])
        if kind == 35 and "killed" in sys.argv and self.kicks:
            self.be_killed()
        answer = self.socket.recv(20, socket.MSG_WAITALL)
        assert struct.unpack("=III", answer[:12]) == (kind, 5, 8), answer

    def be_killed(self) -> None:
        """Ends with a message that it has not read, some time after its card's socket."""
        select.select([self.socket], [], [])
        self.socket.close()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)

    def offer(self, queue: int, number: int, length: int, *, writable: bool) -> int:
        """Puts a buffer into the available ring; returns its address."""
        rings = RINGS + 0x3000 * queue
        entry = number % ENTRIES
        address = BUFFERS + 0x8000 * queue + 2048 * entry
        kind = 2 if writable else 0
        struct.pack_into("=QIHH", self.memory, rings + 16 * entry, address, length, kind, 0)
        struct.pack_into("=H", self.memory, rings + 0x1004 + 2 * entry, entry)
        struct.pack_into("=H", self.memory, rings + 0x1002, (number + 1) & 0xFFFF)
        return address

    def send(self, number: int, frame: bytes, clock: OwnTime | None = None) -> None:
        """Sends an Ethernet frame as the `number`th; with `clock` it is announced there."""
        self.kicks = number
        packet = bytes(12) + frame
        address = self.offer(1, number, len(packet), writable=False)
        self.memory[address : address + len(packet)] = packet
        if clock:
            clock.kick()
        else:
            self.ask(35, struct.pack("=II", 1, 0))

    def interrupted(self, clock: Clock) -> None:
        """Waits for an interrupt, asks to run, and answers it."""
        call = self.requests.recv(20, socket.MSG_WAITALL)
        assert struct.unpack("=III", call[:12]) == (4, 9, 8), call
        clock.request()
        self.requests.sendall(struct.pack("=IIIQ", 4, 5, 8, 0))

    def received(self) -> list[bytes]:
        """The Ethernet frames that have arrived."""
        found = []
        used = struct.unpack_from("=H", self.memory, RINGS + 0x2002)[0]
        while self.taken != used:
            place = RINGS + 0x2004 + 8 * (self.taken % ENTRIES)
            entry, length = struct.unpack_from("=II", self.memory, place)
            address = BUFFERS + 2048 * entry
            found.append(self.memory[address + 12 : address + length])
            self.taken = (self.taken + 1) & 0xFFFF
            self.offer(0, self.taken + ENTRIES - 1, 2048, writable=True)
        return found


def answer(frame: bytes, kept: dict[bytes, bytes]) -> bytes:
    """The frame that answers a request."""
    kind, _, _, seq = struct.unpack_from("=BBHI", frame, 14)
    body, error, text = frame[22:], 0, b""
    if kind == 1:
        path, _, value = body.partition(b"\0")
        error = 22 if path.endswith(b"/tcp_frto") and "refuses" in sys.argv else 0
        kept[path] = value
    elif kind == 2:
        offset = struct.unpack_from("=I", body)[0]
        text = (kept.get(body[4:], b"") + b"\n")[offset:]
    elif kind == 11:
        at = struct.unpack_from("=I", body)[0]
        kept[WORDS] = kept.get(WORDS, b"")[:at] + body[4:]
    elif kind == 12 and "lacks" in sys.argv:
        error = 2
    elif kind == 12 and "panics" in sys.argv:
        sys.exit("Kernel panic - not syncing: a test")
    elif kind == 12 and "spins" in sys.argv:
        time.sleep(600)
    return ETHERNET + struct.pack("=BBHIi", 65, 0, 0, seq, error) + text


def started(frame: bytes, kept: dict[bytes, bytes]) -> list[bytes]:
    """The frames of a program that starts."""
    kind, _, program = struct.unpack_from("=BBH", frame, 14)
    if kind != 12:
        return []
    ends = re.search(r"\bends=(\d+)", " ".join(sys.argv)) if program == 1 else None
    if ends:
        status = int(ends[1]) << 8
        return [ETHERNET + struct.pack("=BBHIi", 69, 0, program, 0, status)]
    if program == 1:
        state = b"01" if "asks" in sys.argv else b"07"
        kept[b"/proc/net/udp"] = b"heading\n 1: 00000000:1151 00000000:0000 " + state + b" "
        return []
    number = struct.unpack_from("=I", frame, 22 + 8)[0]
    words = kept[WORDS].split(b"\0")
    said = b" ".join(words[1 : 1 + number]) + b"\n"
    output = ETHERNET + struct.pack("=BBHI", 68, 0, program, 0) + said
    status = 3 << 8 if words[1] == b"false" else 0
    end = ETHERNET + struct.pack("=BBHIi", 69, 0, program, 0, status)
    return [output] if "waits" in sys.argv else [output, end]


def main() -> None:
    """Start, announce itself, and answer requests until the controller ends."""
    words = " ".join(sys.argv[1:])
    number = int(re.findall(r"time-travel=ext:(\d+):", words)[0])
    clock = OwnTime(number) if "direct" in sys.argv else Clock(number)
    card = Card(f"card{number}")
    known = b"/proc/sys/net/ipv4/tcp_available_congestion_control"
    kept = {known: b"reno cubic"}
    card.send(0, ETHERNET + struct.pack("=BBHI", 64, 0, 0, 0))
    clock.wait()
    if isinstance(clock, OwnTime):
        answer_directly(number, clock, card, kept)
    sent = 1
    while True:
        card.interrupted(clock)
        clock.run()
        for frame in card.received():
            for one in (answer(frame, kept), *started(frame, kept)):
                card.send(sent, one)
                sent += 1
        clock.wait()


def answer_directly(number: int, clock: OwnTime, card: Card, kept: dict[bytes, bytes]) -> None:
    """Answer requests that arrive by the memory, and interrupts before by messages."""
    while select.select([clock.socket, card.requests], [], [])[0] != [clock.socket]:
        card.interrupted(clock)
        clock.run()
        card.disable_sent_interrupts()
        clock.wait()
    clock.is_waiting = True
    sent = 1
    while True:
        clock.sleep(None, wakes=True)
        while clock.interrupts:
            if clock.interrupts & 2:
                card.disable_sent_interrupts()
            clock.interrupts = 0
            for frame in card.received():
                if number:
                    clock.read()
                    clock.read()
                card.send(sent, answer(frame, kept), clock)
                sent += 1
            if number == 0:
                clock.sleep(clock.now + 300, wakes=True)


if __name__ == "__main__":
    main()
