//! The engine against traces of ns-2.35: the same segments are sent, retransmitted and timed out in
//! the same order and at the same microsecond.
//!
//! The scenario is the hiccup. A and B stand for two links, C for A with a window of 64 segments.
//! The sender of A and C is the profile `ns2-2006` with the policies named, that of B the
//! scenario's own `[tcp]`; [`Set`] has the other differences. The results:
//!
//! | trace | sender | acts, all in order | times off by (us) | remains |
//! |---|---|---|---|---|
//! | `A_tahoe_nobugfix` | `tahoe:no-bugfix` | 269 | < 1 | - |
//! | `A_reno_nobugfix` | `reno:no-bugfix` | 289 | < 1 | - |
//! | `A_reno_bugfix` | `reno:careful` | 292 | < 1 | - |
//! | `A_newreno` | `newreno:careful` | 292 | < 1 | - |
//! | `A_newreno_lesscareful` | `newreno:less-careful` | 301 | < 1 | - |
//! | `A_sack1` | `sack:rfc6675` | 292 | < 1 | it has no fast recovery to compare |
//! | `B_reno_nobugfix` | `reno:no-bugfix` | 289 | 0 | - |
//! | `B_newreno_nobugfix` | `newreno:no-bugfix` | 303 | 0 | - |
//! | `C_newreno_frto_resp1` | `newreno:careful+frto:ns2+ns2:full` | 496 | < 1 | - |
//! | `C_sack1_sfrto_resp2` | `sack:rfc6675+frto:ns2` | 358 | < 1 | no fast recovery, either |
//!
//! Less than a microsecond is the rounding of the printed times. The match needs two things beside
//! the rules: a window that counts fractions of a byte (`avoidance = "fraction"`), or some segments
//! of every trace but Tahoe's leave an acknowledgment or a round trip late; and the phase of ns-2's
//! clock, or the timeouts of A and C come up to 0.12 s late.
//!
//! `tests/ns2/traces` has the traces and says how they were made.

mod history;

use std::fs;

use rtolab_scenario::Scenario;
use rtolab_tcp::config::InitialWindow;
use rtolab_tcp::specification;

use history::{Act, BEGINS, History, hiccup, history, near, run};

/// The tolerance of times, in seconds: the traces print microseconds.
const TOLERANCE: f64 = 0.000_001;

/// What a set of traces has in common.
#[derive(Clone, Copy)]
enum Set {
    /// The paper's printed rate, acknowledgments that take next to no time to send (0.32 us a round
    /// trip in the traces), and the tick of 10 ms and the floor of 0.2 s of ns-2.35.
    A,
    /// The scenario without changes.
    B,
    /// As A, but with a window of 64 segments, so that F-RTO has room.
    C,
}

impl Set {
    /// When the first data leave, in seconds.
    ///
    /// The clock of an ns-2 host runs ahead of the simulator's by a random part of a tick
    /// (`boot_time_`), which shows where round trips are measured in whole ticks. The timeouts that
    /// the traces print after each sample leave 0.4615 to 0.615 of a tick for A and C, and less
    /// than 0.0145 for B: the second and the first number of ns-2's generator, which always begins
    /// alike, are 0.5559 and 0.0003. Here the clock has no phase, so all of A and C comes later by
    /// it.
    const fn begins(self) -> f64 {
        match self {
            Self::A | Self::C => BEGINS + 0.005_558_807,
            Self::B => BEGINS,
        }
    }

    /// The scenario with a SYN of `syn` bytes. In A and C its sender is the profile of ns-2.35 with
    /// another initial window.
    fn scenario(self, syn: u32) -> Scenario {
        let mut scenario = hiccup(&self.keys(syn));
        let tcp = &mut scenario.flows[0].tcp;
        match self {
            Self::A | Self::C => {
                *tcp = specification::sender("ns2-2006", tcp).unwrap();
                tcp.window.initial = InitialWindow::Segments(1);
            }
            Self::B => {}
        }
        scenario
    }

    /// The keys that differ from the scenario.
    fn keys(self, syn: u32) -> Vec<(String, String)> {
        let begins = self.begins();
        let bits = f64::from(8 * syn);
        let handshake = 2.8 + bits / 46_800.0 + bits / 1e9;
        let seconds = |seconds: f64| format!("{seconds:.9} s");
        let mut keys = vec![
            ("duration", seconds(begins + 75.0)),
            ("link.path.forward.rate", "46.8 kbit/s".into()),
            ("link.path.backward.rate", "1 Gbit/s".into()),
            ("link.path.forward.stalls.scripted.0.at", seconds(begins + 28.0)),
            ("flow.transfer.start", seconds(begins - handshake)),
        ];
        match self {
            Self::A => {}
            Self::B => keys.clear(),
            Self::C => keys.push(("receiver.buffer", "34304 B".into())),
        }
        keys.into_iter().map(|(key, value)| (key.into(), value)).collect()
    }
}

/// Reads the trace `name`.
fn trace(name: &str) -> History {
    let file = near("tests/ns2/traces").join(name).with_extension("csv");
    let text = fs::read_to_string(&file).unwrap();
    let acts = text.lines().skip(1).filter_map(|line| {
        let fields: Vec<_> = line.split(',').collect();
        let segment = || fields[2].parse().unwrap();
        let act = match fields[1] {
            "send" => Act::Send(segment()),
            "retransmit" => Act::Retransmit(segment()),
            "timeout" => Act::Timeout,
            "fast_retransmit" => Act::FastRetransmit,
            "ack_in" => return None,
            other => panic!("{name}: {other}"),
        };
        Some((fields[0].parse().unwrap(), act))
    });
    acts.collect()
}

/// Checks that the sender repeats the trace `name`, which has this number of acts.
fn replay(name: &str, acts: usize, set: Set, sender: &str) {
    let ns2 = trace(name);
    // SACK-permitted takes four bytes.
    let syn = if sender.starts_with("sack") { 48 } else { 44 };
    let engine = history(&run(&set.scenario(syn), sender), set.begins());
    for (index, ((at, act), (ns2_at, ns2_act))) in engine.iter().zip(&ns2).enumerate() {
        assert_eq!(act, ns2_act, "act {index}, at {at:.6} s and {ns2_at:.6} s");
        assert!((at - ns2_at).abs() < TOLERANCE, "{act:?} at {at:.6} s, not {ns2_at:.6} s");
    }
    assert_eq!((engine.len(), ns2.len()), (acts, acts));
}

/// One test per trace.
macro_rules! replays {
    ($($test:ident: $trace:literal, $acts:literal, $set:ident, $sender:literal;)*) => {$(
        #[test]
        fn $test() {
            replay($trace, $acts, Set::$set, $sender);
        }
    )*};
}

replays! {
    a_tahoe_nobugfix: "A_tahoe_nobugfix", 269, A, "tahoe:no-bugfix";
    a_reno_nobugfix: "A_reno_nobugfix", 289, A, "reno:no-bugfix";
    a_reno_bugfix: "A_reno_bugfix", 292, A, "reno:careful";
    a_newreno: "A_newreno", 292, A, "newreno:careful";
    a_newreno_lesscareful: "A_newreno_lesscareful", 301, A, "newreno:less-careful";
    a_sack1: "A_sack1", 292, A, "sack:rfc6675";
    b_reno_nobugfix: "B_reno_nobugfix", 289, B, "reno:no-bugfix";
    b_newreno_nobugfix: "B_newreno_nobugfix", 303, B, "newreno:no-bugfix";
    c_newreno_frto_resp1: "C_newreno_frto_resp1", 496, C, "newreno:careful+frto:ns2+ns2:full";
    c_sack1_sfrto_resp2: "C_sack1_sfrto_resp2", 358, C, "sack:rfc6675+frto:ns2";
}
