//! Small test networks in which senders and keys make a difference.

use rtolab_record::{PacketEvent, Place};
use rtolab_scenario::Scenario;
use rtolab_sim::{Lab, Observe};
use rtolab_tcp::Segment;
use rtolab_time::Instant;

/// A short transfer over a slow path without disturbances. Timestamps are on, so that a
/// policy that needs them differs by more than their presence, and the sender knows the path.
const QUIET: &str = r#"
title = "A small test network"
duration = "60 s"
[[link]]
name = "link"
between = ["left", "right"]
rate = "400 kbit/s"
delay = "100 ms"
queue = "30 packets"
[tcp]
mss = "1000 B"
timestamps = true
rto.granularity = "10 ms"
dualrtt.path_rate = "400 kbit/s"
dualrtt.path_delay = "100 ms"
[[flow]]
name = "flow"
from = "left"
to = "right"
bytes = "120 kB"
"#;

/// A change of a key.
pub type Key = (&'static str, &'static str);

/// A test network: the keys that differ from [`QUIET`].
pub struct TestNetwork {
    pub name: &'static str,
    set: &'static [Key],
}

const STALL: Key = ("link.link.stalls.scripted", r#"[{ at = "1.8 s", for = "3 s" }]"#);
const STALLS: Key = ("link.link.stalls.scripted", THREE);
const THREE: &str = r#"[
    { at = "1.5 s", for = "2.5 s" }, { at = "4.2 s", for = "4 s" }, { at = "10 s", for = "3 s" }
]"#;
const RANDOM_STALLS: Key = (
    "link.link.stalls.random",
    r#"{ good = { exponential = "2 s" }, bad = { uniform = ["0.5 s", "3 s"] } }"#,
);
const OUTAGES: Key = (
    "link.link.outages.random",
    r#"{ good = { exponential = "2 s" }, bad = { uniform = ["0.2 s", "2 s"] } }"#,
);
const ACK_OUTAGE: Key =
    ("link.link.backward.outages.scripted", r#"[{ at = "1.8 s", for = "1.1 s" }]"#);
const BURST: Key = ("link.link.forward.drops", "[40, 41, 43, 45, 46, 48, 50, 51, 53, 55]");
const LOSSY: Key = ("link.link.forward.loss", "0.06");
const LOSSY_BACK: Key = ("link.link.backward.loss", "0.2");
const JITTER: Key = ("link.link.jitter", r#"{ uniform = ["0 s", "200 ms"] }"#);
const FREE: Key = ("link.link.order", "free");
const DSACK: Key = ("receiver.dsack", "true");
const LARGE: Key = ("flow.flow.bytes", "300 kB");

/// The test networks, the simplest first, because a comparison ends at the first network in which
/// two senders differ.
pub const TEST_NETWORKS: &[TestNetwork] = &[
    TestNetwork { name: "a stall", set: &[STALL] },
    TestNetwork { name: "stalls", set: &[STALLS] },
    TestNetwork { name: "losses", set: &[("link.link.forward.drops", "[16, 30, 31, 34]")] },
    TestNetwork { name: "a burst of losses", set: &[BURST] },
    TestNetwork { name: "a lossy path", set: &[LOSSY, LARGE] },
    TestNetwork {
        name: "lossy both ways, with stalls",
        set: &[LOSSY, LOSSY_BACK, RANDOM_STALLS, LARGE],
    },
    TestNetwork { name: "outages", set: &[OUTAGES, LARGE] },
    TestNetwork { name: "stalls and D-SACK", set: &[STALLS, DSACK] },
    TestNetwork { name: "reordering and D-SACK", set: &[JITTER, FREE, DSACK, LARGE] },
    TestNetwork {
        name: "losses, stalls and no timestamps",
        set: &[LOSSY, RANDOM_STALLS, NO_TIMESTAMPS],
    },
    TestNetwork { name: "stalls and a peer without timestamps", set: &[STALLS, PLAIN_PEER] },
    TestNetwork { name: "a burst without bugfix", set: &[BURST, STALLS, NO_BUGFIX, RFC3517] },
    TestNetwork {
        name: "outages, other defaults",
        set: &[OUTAGES, LARGE, NO_BUGFIX, STEADY, RFC3517],
    },
    TestNetwork { name: "a stall before much is measured", set: &[EARLY_STALL, EACH_ACKED] },
    TestNetwork { name: "acknowledgments lost, and D-SACK", set: &[ACK_OUTAGE, DSACK, LARGE] },
    TestNetwork { name: "a long outage", set: &[LONG_OUTAGE, LARGE] },
    TestNetwork { name: "a long outage that a router reports", set: &[TWO_LINKS, REPORTED] },
    TestNetwork { name: "a long outage whose end is noticed", set: &[TWO_LINKS, NOTICED] },
    TestNetwork { name: "losses that a base station reports", set: &[RADIO, EXPLICIT, LARGE] },
    TestNetwork {
        name: "a path faster than configured",
        set: &[FASTER, STALLS, EACH_ACKED, LARGE],
    },
];

const LONG_OUTAGE: Key = ("link.link.outages.scripted", r#"[{ at = "1.8 s", for = "12 s" }]"#);
const TWO_LINKS: Key = (
    "link",
    r#"[
        { name = "wan", between = ["left", "router"], rate = "10 Mbit/s", delay = "10 ms" },
        { name = "link", between = ["router", "right"], rate = "400 kbit/s", delay = "100 ms",
          outages = { scripted = [{ at = "1.8 s", for = "12 s" }] } },
    ]"#,
);
const RADIO: Key = (
    "link",
    r#"[
        { name = "wan", between = ["left", "router"], rate = "10 Mbit/s", delay = "10 ms" },
        { name = "link", between = ["router", "right"], rate = "400 kbit/s", delay = "100 ms",
          forward = { loss = 0.02 } },
    ]"#,
);
const EXPLICIT: Key = ("agent", r#"[{ at = "router", kind = "eln", link = "link" }]"#);
const REPORTED: Key = (
    "agent",
    r#"[{
        at = "router", kind = "unreachable", disconnections = [{ at = "1.8 s", for = "12 s" }]
    }]"#,
);
const NOTICED: Key = (
    "agent",
    r#"[{
        at = "router", kind = "path-hint", disconnections = [{ at = "1.8 s", for = "12 s" }]
    }]"#,
);

const EARLY_STALL: Key =
    ("link.link.forward.stalls.scripted", r#"[{ at = "0.15 s", for = "3 s" }]"#);
const FASTER: Key = ("link.link.rate", "1 Mbit/s");
const EACH_ACKED: Key = ("receiver.ack_every", "1");

const PLAIN_PEER: Key = ("receiver.timestamps", "false");
const NO_TIMESTAMPS: Key = ("tcp.timestamps", "false");
const NO_BUGFIX: Key = ("tcp.recovery.bugfix", "none");
const STEADY: Key = ("tcp.newreno.timer", "slow-but-steady");
const RFC3517: Key = ("tcp.sack_recovery.rules", "rfc3517");

/// The packets that one end sent, with their times.
pub type Sent = Vec<(Instant, Segment, u32)>;

/// The packets of the sender and the receiver in a test network; `None` if the specification is
/// invalid.
pub fn run(network: &TestNetwork, keys: &[Key], spec: &str) -> Option<[Sent; 2]> {
    let set: Vec<_> = network.set.iter().chain(keys).collect();
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    let scenario = Scenario::parse(QUIET, "network.toml", &set);
    let scenario = scenario.unwrap_or_else(|error| panic!("{}: {keys:?}: {error}", network.name));
    let lab = Lab::new(&scenario, Some(spec)).ok()?;
    let recording = lab.run(0, 1, Observe { trace: true, windows: false });
    let sent = |place| {
        let rows = recording.segments.iter();
        let rows = rows.filter(|row| row.place == place && row.event == PacketEvent::Sent);
        rows.map(|row| (row.at, row.segment, row.bytes)).collect()
    };
    Some([sent(Place::Sender), sent(Place::Receiver)])
}
