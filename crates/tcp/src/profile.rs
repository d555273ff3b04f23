//! Profiles of systems as shipped: named settings of their senders and receivers, each with its
//! source. Undocumented settings come from the scenario.
//!
//! A profile is data. No code depends on its name once its settings are applied.

mod behaviour;
mod linux;
mod receivers;
mod sysctl;
mod today;

use rtolab_time::Duration;

use crate::config::{
    Algorithm, Arithmetic, Bugfix, Config, CongestionAvoidance, FullAck, HalvedQuantity, Halving,
    IdleRestart, InitialWindow, Reduction, RepeatedTimeout, RtoFloor, Sampling, SlowStart,
    TimerClock,
};
pub use behaviour::{Behaviour, Profile};
use behaviour::{NET3, NS2, NS2_NEW, NS2_OLD, PSARAS, floor, initial_segments, sets};
pub use sysctl::Sysctl;

impl Profile {
    /// The profile of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }
}

const GURTOV: &str = "Gurtov 2001, sections 5.1 and 5.2";

/// Every profile of senders and receivers.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "linux-2.2",
        about: "Linux 2.2.12 with NewReno, as Gurtov tested it",
        source: GURTOV,
        sends: &[
            sets("NewReno without SACK", GURTOV, newreno),
            sets("a fast retransmit where the ACK equals recover", "Gurtov 2001, figure 8", |c| {
                c.recovery.bugfix = Bugfix::LessCareful;
            }),
            sets("an initial window of two segments", "assumed: RFC 2581", initial_segments::<2>),
            sets("no limited transmit", "assumed: it precedes RFC 3042", |c| {
                c.recovery.limited_transmit = false;
            }),
            sets("a clock of 10 ms, an RTO of 200 ms to 120 s", LINUX, |c| {
                linux_clock(c);
                floor::<200>(c);
            }),
            sets("ssthresh in whole segments", LINUX, whole_segments),
        ],
        receives: receivers::LINUX_2_2_RECEIVES,
        kernel: None,
    },
    Profile {
        name: "linux-2.4",
        about: "Linux 2.4.0 without SACK, as Gurtov tested it",
        source: GURTOV,
        sends: &[
            sets("NewReno without SACK", GURTOV, newreno),
            sets("the careful bugfix", "Gurtov 2001, section 5.2 and figure 9", |c| {
                c.recovery.bugfix = Bugfix::Careful;
            }),
            sets("an initial window of two segments", "assumed: RFC 2581", initial_segments::<2>),
            sets("a clock of 10 ms, a maximum RTO of 120 s", LINUX, linux_clock),
            sets("a minimum of 200 ms on the variance", LINUX, |c| {
                c.rto.floor = RtoFloor::Variance(Duration::from_millis(200));
            }),
            sets("rate halving", LINUX, |c| c.recovery.reduction = Reduction::RateHalving),
            sets("bursts of three segments at most", LINUX, |c| c.window.max_burst = Some(3)),
            sets("limited transmit", LINUX, |c| c.recovery.limited_transmit = true),
            sets("ssthresh in whole segments", LINUX, whole_segments),
        ],
        receives: receivers::LINUX_2_4_RECEIVES,
        kernel: None,
    },
    Profile {
        name: "freebsd-4.1",
        about: "FreeBSD 4.1 on one network with its peer, as Gurtov tested it",
        source: GURTOV,
        sends: &[
            sets("Reno without bugfix", "Gurtov 2001, section 5.1", reno),
            sets("an initial window of 16 KiB", "Gurtov 2001, section 5.3", |c| {
                c.window.initial = InitialWindow::Bytes(16_384);
            }),
            sets("BSD's windows and timers", NET3, bsd),
            sets(
                "duplicates retransmit more of the window after a timeout in fast recovery",
                "Gurtov 2001, section 5.2 and figure 6",
                |c| c.recovery.go_back_n_on_duplicates = true,
            ),
            sets("a clock of 10 ms, RTTVAR with two more bits", "FreeBSD, tcp_xmit_timer", |c| {
                c.rto.granularity = Duration::from_millis(10);
                c.rto.arithmetic = Arithmetic::Bsd;
            }),
        ],
        receives: receivers::FREEBSD_4_1_RECEIVES,
        kernel: None,
    },
    Profile {
        name: "bsdi-3.0",
        about: "BSDi 3.0, as Gurtov traced it",
        source: "Gurtov 2001, section 3",
        sends: &[
            sets("Reno without bugfix", "Gurtov 2001, section 3 and figure 1", reno),
            sets("an initial window of one segment", NET3, initial_segments::<1>),
            sets("BSD's windows and timers", NET3, bsd),
            sets("a fast retransmit leaves SND.NXT where it was", NET3, |c| {
                c.recovery.go_back_n_on_duplicates = true;
            }),
            sets("a heartbeat of 500 ms", NET3, |c| {
                c.rto.granularity = Duration::from_millis(500);
                c.rto.arithmetic = Arithmetic::Ns2;
            }),
        ],
        receives: receivers::BSDI_3_0_RECEIVES,
        kernel: None,
    },
    Profile {
        name: "windows-98",
        about: "Windows 98, as Gurtov tested it",
        source: "Gurtov 2001, section 5.3",
        sends: &[
            sets("retransmits on the first partial ACK, without bugfix", GURTOV, |c| {
                newreno(c);
                c.recovery.bugfix = Bugfix::None;
            }),
            sets("a fast retransmit on the second duplicate", "Gurtov 2001, section 5.3", |c| {
                c.recovery.dupthresh = 2;
            }),
            sets("a timeout that is too short", KB_Q236926, short_timeout),
            sets("two segments beyond the advertised window", OVERRUN, |c| c.window.overrun = 2),
            sets(
                "an initial window of two segments",
                "assumed: \"small\" (Gurtov 2001)",
                initial_segments::<2>,
            ),
        ],
        receives: receivers::WINDOWS_98_RECEIVES,
        kernel: None,
    },
    Profile {
        name: "windows-nt",
        about: "Windows NT 4.0, as Gurtov traced it",
        source: "Gurtov 2001, section 5.3",
        sends: &[
            sets("Reno without bugfix", "assumed: nothing is known", reno),
            sets("a fast retransmit on the first duplicate", "Gurtov 2001, section 5.3", |c| {
                c.recovery.dupthresh = 1;
            }),
            sets("a timeout that is too short", KB_Q236926, short_timeout),
            sets("two segments beyond the advertised window", OVERRUN, |c| c.window.overrun = 2),
            sets(
                "an initial window of two segments",
                "assumed: as Windows 98",
                initial_segments::<2>,
            ),
        ],
        receives: receivers::WINDOWS_NT_RECEIVES,
        kernel: None,
    },
    Profile {
        name: "solaris-2007",
        about: "Solaris, as Psaras and Tsaoussidis assume it",
        source: PSARAS,
        sends: &[
            sets("SACK and timestamps", PSARAS, sack_and_timestamps),
            sets("a minimum RTO of 400 ms, a clock of 10 ms", PSARAS, |c| {
                floor::<400>(c);
                c.rto.granularity = Duration::from_millis(10);
            }),
        ],
        receives: receivers::SOLARIS_2007_RECEIVES,
        kernel: None,
    },
    Profile {
        name: "windows-2007",
        about: "Windows, as Psaras and Tsaoussidis assume it",
        source: PSARAS,
        sends: &[
            sets("SACK and timestamps", PSARAS, sack_and_timestamps),
            sets("a minimum RTO of 1 s, a clock of 15 ms", PSARAS, |c| {
                floor::<1000>(c);
                c.rto.granularity = Duration::from_millis(15);
            }),
        ],
        receives: receivers::WINDOWS_2007_RECEIVES,
        kernel: None,
    },
    Profile {
        name: "ns2-2001",
        about: "Reno of ns-2 with its defaults of 2001",
        source: NS2_OLD,
        sends: &[
            sets("Reno, windows and timer of TcpAgent", NS2, |c| {
                reno(c);
                ns2(c);
            }),
            sets("the bugfix, careful", NS2, |c| c.recovery.bugfix = Bugfix::Careful),
            sets("an initial window of one segment, no limited transmit", NS2_OLD, |c| {
                c.window.initial = InitialWindow::Segments(1);
                c.recovery.limited_transmit = false;
            }),
            sets("a tick of 100 ms, an initial RTO of 6 s", NS2_OLD, |c| {
                c.rto.granularity = Duration::from_millis(100);
                c.rto.initial = Duration::from_secs(6);
            }),
            sets("no minimum RTO, not even after a back-off", NS2_OLD, |c| {
                c.rto.floor = RtoFloor::BackedOff(Duration::ZERO);
            }),
        ],
        receives: receivers::NS2_2001_RECEIVES,
        kernel: None,
    },
    Profile {
        name: "ns2-2006",
        about: "Reno of ns-2 with its defaults from 2006 on",
        source: NS2_NEW,
        sends: &[
            sets("Reno, windows and timer of TcpAgent", NS2, |c| {
                reno(c);
                ns2(c);
            }),
            sets("the bugfix, careful", NS2, |c| c.recovery.bugfix = Bugfix::Careful),
            sets("an initial window of two segments, limited transmit", NS2_NEW, |c| {
                initial_segments::<2>(c);
                c.recovery.limited_transmit = true;
            }),
            sets("a tick of 10 ms, an initial RTO of 3 s", NS2_NEW, |c| {
                c.rto.granularity = Duration::from_millis(10);
                c.rto.initial = Duration::from_secs(3);
            }),
            sets("a minimum RTO of 200 ms", NS2_NEW, floor::<200>),
        ],
        receives: receivers::NS2_2006_RECEIVES,
        kernel: None,
    },
    linux::LINUX,
    today::FREEBSD_14,
    today::GVISOR_NETSTACK,
    today::SMOLTCP,
];

const LINUX: &str = "Linux, net/ipv4/tcp_input.c; Sarolahti and Kuznetsov 2002";
const KB_Q236926: &str = "Microsoft KB Q236926 by Gurtov 2001, section 5.3; K of 2 is assumed";
const OVERRUN: &str = "Gurtov 2001, section 5.3; that it is two is assumed";

fn newreno(config: &mut Config) {
    config.recovery.algorithm = Algorithm::NewReno;
    config.sack = false;
}

fn reno(config: &mut Config) {
    config.recovery.algorithm = Algorithm::Reno;
    config.recovery.bugfix = Bugfix::None;
    config.sack = false;
}

fn sack_and_timestamps(config: &mut Config) {
    config.recovery.algorithm = Algorithm::Sack;
    config.sack = true;
    config.timestamps = true;
}

fn whole_segments(config: &mut Config) {
    config.window.halving = Halving::Segments;
}

fn linux_clock(config: &mut Config) {
    config.rto.arithmetic = Arithmetic::Exact;
    config.rto.granularity = Duration::from_millis(10);
    config.rto.initial = Duration::from_secs(3);
    config.rto.max = Duration::from_secs(120);
}

/// "The retransmit timer is computed incorrectly because of a math error."
fn short_timeout(config: &mut Config) {
    config.rto.k = 2;
}

fn bsd(config: &mut Config) {
    config.window.halves = HalvedQuantity::Window;
    config.window.halving = Halving::Segments;
    config.window.repeated_timeout = RepeatedTimeout::Halves;
    config.window.slow_start = SlowStart::PerAck;
    config.window.full_ack = FullAck::Ssthresh;
    config.window.idle_restart = IdleRestart::LastReceived;
    config.recovery.limited_transmit = false;
    config.rto.sampling = Sampling::OncePerWindow;
    config.rto.timer = TimerClock::Ticks;
    config.rto.floor = RtoFloor::Total(Duration::from_secs(1));
    config.rto.initial = Duration::from_secs(3);
    config.rto.max = Duration::from_secs(64);
}

fn ns2(config: &mut Config) {
    config.window.halves = HalvedQuantity::Window;
    config.window.halving = Halving::Segments;
    config.window.repeated_timeout = RepeatedTimeout::Halves;
    config.window.slow_start = SlowStart::PerAck;
    config.window.avoidance = CongestionAvoidance::FractionalAckCounting;
    config.window.full_ack = FullAck::Halved;
    config.rto.arithmetic = Arithmetic::Ns2;
    config.rto.sampling = Sampling::OncePerWindow;
    config.rto.sample_handshake = false;
    config.rto.restart_on_retransmit = true;
}
