"""Transfers 10^9 segments, and compares the counts with those that arithmetic predicts."""

import sys

import rtolab

SEGMENTS = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000_000
MSS, HEADERS = 1000, 40
RATE, DELAY, WINDOW = 1_000_000_000, 0.020, 1_000_000

done = rtolab.run(
    "single-link",
    sender="sack",
    trace=False,  # A trace takes 600 bytes per packet.
    windows=False,
    set={
        "tcp.mss": f"{MSS} B",
        "tcp.window_scale": "7",
        "receiver.window_scale": "7",
        "receiver.buffer": f"{WINDOW} B",
        "link.wire.rate": f"{RATE} bit/s",
        "link.wire.delay": f"{DELAY} s",
        "link.wire.queue": "2 MB",
        "flow.transfer.bytes": f"{SEGMENTS * MSS} B",
        "duration": "1000000 s",
    },
)
(row,) = done.connections.to_dicts()
counted = {key: row[key] for key in ("bytes", "segments", "acked_segments", "retransmissions")}
sys.stdout.write(f"{counted} {row['elapsed_s']:.3f} s\n")
assert counted == {
    "bytes": SEGMENTS * MSS,
    "segments": SEGMENTS,
    "acked_segments": SEGMENTS,
    "retransmissions": 0,
}
# One window per round trip, which includes the serialisation of a segment and its ACK.
round_trip = 2 * DELAY + 8 * (MSS + 2 * HEADERS) / RATE
expected = SEGMENTS * MSS / WINDOW * round_trip
sys.stdout.write(f"by arithmetic {expected:.3f} s\n")
assert abs(row["elapsed_s"] / expected - 1) < 0.02
