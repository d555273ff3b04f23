//! Current systems other than Linux.

use rtolab_time::Duration;

use super::behaviour::{Behaviour, Profile, floor, initial_segments, restarts_when_idle, sets};
use super::receivers::{NO_RXT, at_once, delayed, dsack, every_two_counted, plain_sack};
use crate::config::{
    AckDelay, Algorithm, Arithmetic, Bugfix, Config, CongestionAlgorithm, CongestionAvoidance,
    CubicGrowth, CubicUndo, EchoRule, FullAck, HalvedQuantity, Halving, History, InitialWindow,
    Nagle, PrrBound, RackThreshold, Reduction, ReorderingWindow, RepeatedTimeout, Response,
    SackOnTimeout, SackRules, Sampling, SlowStart, SlowStartExit,
};
use crate::spurious::DetectorId;

const FREEBSD: &str = "FreeBSD 14, sys/netinet";
const GVISOR: &str = "gVisor, pkg/tcpip/transport/tcp";

/// FreeBSD 14 with its default stack.
pub(super) const FREEBSD_14: Profile = Profile {
    name: "freebsd-14",
    about: "FreeBSD 14, default stack: SACK by RFC 6675, PRR, CUBIC",
    source: FREEBSD,
    sends: FREEBSD_14_SENDS,
    receives: FREEBSD_14_RECEIVES,
    kernel: None,
};

const FREEBSD_14_SENDS: &[Behaviour] = &[
    sets("SACK and timestamps", FREEBSD, sack_and_timestamps),
    sets(
        "SACK by RFC 6675",
        "FreeBSD 14, tcp_sack.c: tcp_do_newsack; not modelled: its detection of lost \
         retransmissions",
        |c| {
            c.recovery.algorithm = Algorithm::Sack;
            c.recovery.sack.rules = SackRules::Rfc6675;
            c.recovery.dupthresh = 3;
            c.recovery.limited_transmit = true;
        },
    ),
    sets(
        "PRR, its bound by newly lost data",
        "FreeBSD 14, tcp_do_prr_ack; not modelled: RecoverFS counts what is SACKed, and after a new \
         loss the conservative bound applies",
        |c| c.recovery.reduction = Reduction::Prr(PrrBound::Rfc9937),
    ),
    sets(
        "CUBIC without HyStart++, which the default stack does not allow",
        "FreeBSD 14, cc/cc_cubic.c; not modelled: the first reduction is by half; assumed: only \
         other stacks set CCF_HYSTART_ALLOWED",
        |c| {
            c.congestion.control = CongestionAlgorithm::Cubic;
            c.congestion.cubic.undo = CubicUndo::Rfc9438;
            c.congestion.cubic.growth = CubicGrowth::Rfc9438;
            c.congestion.slow_start_exit = SlowStartExit::Loss;
            c.window.halves = HalvedQuantity::Window;
            c.window.full_ack = FullAck::FlightSize;
        },
    ),
    sets(
        "slow start counts at most two segments",
        "FreeBSD 12, tcp_input.c: tcp_abc_l_var; assumed: the same in 14",
        |c| c.window.slow_start = SlowStart::TwoSegments,
    ),
    sets(
        "an initial window of ten segments, also after an idle time",
        "FreeBSD 14, tcp_compute_initwnd, and tcp_output.c, which goes by t_sndtime, too; not \
         modelled: newreno_after_idle lifts ssthresh to three quarters of the window, and CUBIC's \
         curve begins anew",
        |c| {
            c.window.initial = InitialWindow::Rfc6928;
            restarts_when_idle(c);
        },
    ),
    sets(
        "a minimum RTO of 30 ms and 200 ms of slop, at first 1 s, at most 64 s",
        "FreeBSD 14, tcp_timer.h: TCPTV_MIN, TCPTV_CPU_VAR, TCPTV_REXMTMAX, and TCPT_RANGESET, which \
         adds the slop after the back-off; TCPTV_RTOBASE of FreeBSD 13, assumed: the same in 14",
        |c| {
            floor::<30>(c);
            c.rto.slop = Duration::from_millis(200);
            c.rto.initial = Duration::from_secs(1);
            c.rto.max = Duration::from_secs(64);
        },
    ),
    sets(
        "a spurious retransmission is found by its timestamp, and undone",
        "FreeBSD 12, tcp_input.c: t_badrxtwin and CC_RTO_ERR; assumed: the same in 14; not \
         modelled: without timestamps, half a round trip",
        |c| {
            c.act_on(DetectorId::named("eifel"));
            c.response = Some(Response::Bsd);
        },
    ),
    sets("a peer's MSS counts as 216 bytes at least", "FreeBSD 14, tcp_minmss", |c| {
        c.connection.min_peer_mss = 216;
    }),
];

const FREEBSD_14_RECEIVES: &[Behaviour] = &[
    sets("SACK with D-SACK, and timestamps", "FreeBSD 14, tcp_update_dsack_list", dsack),
    sets("an ACK every two full segments, as the window moves", FREEBSD, every_two_counted),
    sets("a delay of 40 ms by a timer of its own", "FreeBSD 14, tcp_timer.h: TCPTV_DELACK", |c| {
        delayed::<40>(c);
        c.receiver.ack_delay = AckDelay::Timer;
    }),
    sets("at once while a gap is open", "FreeBSD 14, tcp_input.c", at_once),
    sets(
        "the timestamp of a duplicate that ends at the last ACK is echoed",
        "FreeBSD 14, tcp_input.c: tcp_do_segment",
        |c| c.timestamp.echo = EchoRule::Bsd,
    ),
    NO_RXT,
];

/// gVisor's netstack.
pub(super) const GVISOR_NETSTACK: Profile = Profile {
    name: "gvisor",
    about: "gVisor's netstack: RACK-TLP and Reno",
    source: GVISOR,
    sends: GVISOR_SENDS,
    receives: GVISOR_RECEIVES,
    kernel: None,
};

const GVISOR_SENDS: &[Behaviour] = &[
    sets("SACK and timestamps", "gVisor, protocol.go and connect.go", sack_and_timestamps),
    sets(
        "RACK with tail loss probes",
        "gVisor, rack.go and protocol.go; not modelled: any D-SACK ends a probe without a \
         reduction",
        |c| {
            c.recovery.algorithm = Algorithm::Rack;
            c.recovery.rack.tail_loss_probe = true;
            c.recovery.rack.reordering_window = ReorderingWindow::Adaptive;
            c.recovery.rack.threshold = RackThreshold::Dupthresh;
            c.recovery.dupthresh = 3;
        },
    ),
    sets(
        "the window is halved when recovery begins",
        "gVisor, reno.go: reduceSlowStartThreshold",
        |c| {
            c.recovery.reduction = Reduction::AtOnce;
            c.window.halves = HalvedQuantity::FlightSize;
            c.window.halving = Halving::Segments;
        },
    ),
    sets("each timeout halves FlightSize", "gVisor, reno.go: HandleRTOExpired", |c| {
        c.window.repeated_timeout = RepeatedTimeout::Halves;
    }),
    sets("a timeout clears the scoreboard", "gVisor, snd.go: retransmitTimerExpired", |c| {
        c.recovery.sack.on_timeout = SackOnTimeout::Clear;
    }),
    sets(
        "Reno, whose slow start grows by the delivered data",
        "gVisor, reno.go; NewProtocolCUBIC has CUBIC",
        |c| {
            c.congestion.control = CongestionAlgorithm::Reno;
            c.congestion.slow_start_exit = SlowStartExit::Loss;
            c.window.slow_start = SlowStart::Delivered;
            c.window.avoidance = CongestionAvoidance::ByteCounting;
        },
    ),
    sets(
        "an initial window of ten segments",
        "gVisor, snd.go: InitialCwnd",
        initial_segments::<10>,
    ),
    sets("an idle window restarts", "gVisor, snd.go: sendData", restarts_when_idle),
    sets("an RTO of 200 ms to 120 s", "gVisor, snd.go: MinRTO, MaxRTO", |c| {
        floor::<200>(c);
        c.rto.initial = Duration::from_secs(1);
        c.rto.max = Duration::from_secs(120);
    }),
    sets(
        "each ACK gives a sample, smoothed over windows",
        "gVisor, snd.go: updateRTO, by RFC 7323 appendix G",
        |c| {
            c.rto.sampling = Sampling::EveryAck;
            c.rto.history = History::Windows;
        },
    ),
    sets(
        "spurious retransmissions are counted without a response",
        "gVisor, snd.go: detectSpuriousRecovery",
        |c| {
            c.act_on(DetectorId::named("eifel:rfc3522"));
            c.response = Some(Response::None);
        },
    ),
];

const GVISOR_RECEIVES: &[Behaviour] = &[
    sets("SACK and timestamps without D-SACK", "gVisor, sack.go: UpdateSACKBlocks", plain_sack),
    sets(
        "each segment is acknowledged",
        "assumed: gVisor acknowledges what arrived together, and knows no delay",
        |c| c.receiver.ack_every = 1,
    ),
    NO_RXT,
];

/// smoltcp with its default features.
pub(super) const SMOLTCP: Profile = Profile {
    name: "smoltcp",
    about: "smoltcp 0.13 by default: go-back-N without congestion control",
    source: "smoltcp 0.13, src/socket/tcp.rs",
    sends: SMOLTCP_SENDS,
    receives: SMOLTCP_RECEIVES,
    kernel: None,
};

const SMOLTCP_SENDS: &[Behaviour] = &[
    sets(
        "no congestion control",
        "smoltcp 0.13, AnyController::new, where neither socket-tcp-reno nor socket-tcp-cubic is \
         built in",
        |c| {
            c.congestion.control = CongestionAlgorithm::None;
            c.congestion.slow_start_exit = SlowStartExit::Loss;
        },
    ),
    sets(
        "the third duplicate retransmits the whole window, as a timeout does",
        "smoltcp 0.13, Socket::process and Socket::dispatch; not modelled: it backs off then, too",
        |c| {
            c.recovery.algorithm = Algorithm::Tahoe;
            c.recovery.bugfix = Bugfix::None;
            c.recovery.dupthresh = 3;
            c.recovery.limited_transmit = false;
            c.rto.restart_on_retransmit = true;
        },
    ),
    sets(
        "no timestamps, and SACKs are ignored",
        "smoltcp 0.13, Socket::new and Socket::process; not modelled: its SYN permits SACK",
        |c| (c.sack, c.dsack, c.timestamps) = (false, false, false),
    ),
    sets(
        "an initial and minimum RTO of 1 s, a maximum of 60 s",
        "smoltcp 0.13, RTTE_INITIAL_RTO, RTTE_MIN_RTO and RTTE_MAX_RTO",
        |c| {
            floor::<1000>(c);
            c.rto.initial = Duration::from_secs(1);
            c.rto.max = Duration::from_secs(60);
        },
    ),
    sets(
        "four times the variance, at least 5 ms",
        "smoltcp 0.13, RttEstimator::sample; not modelled: its clock shows milliseconds, and it \
         rounds up",
        |c| {
            c.rto.arithmetic = Arithmetic::Exact;
            c.rto.granularity = Duration::from_millis(5);
            c.rto.k = 4;
        },
    ),
    sets(
        "one segment at a time is timed, and a retransmission discards the sample",
        "smoltcp 0.13, RttEstimator::on_send and on_retransmit",
        |c| c.rto.sampling = Sampling::OncePerWindow,
    ),
    sets(
        "the third back-off in a row clears the round-trip estimate",
        "smoltcp 0.13, RttEstimator::on_retransmit",
        |c| c.rto.forget_after = Some(2),
    ),
    sets("Nagle's algorithm", "smoltcp 0.13, Socket::seq_to_transmit", |c| c.nagle = Nagle::Rfc896),
];

const SMOLTCP_RECEIVES: &[Behaviour] = &[
    sets("SACK without D-SACK, no timestamps", "smoltcp 0.13, Socket::ack_reply", |c| {
        (c.sack, c.dsack, c.timestamps) = (true, false, false);
    }),
    sets("one SACK block", "smoltcp 0.13, Socket::ack_reply", |c| c.receiver.max_sack_blocks = 1),
    sets(
        "an ACK every two full segments, counted in bytes",
        "smoltcp 0.13, Socket::immediate_ack_to_transmit; not modelled: any byte beyond one full \
         segment is enough",
        every_two_counted,
    ),
    sets("a delay of 10 ms", "smoltcp 0.13, ACK_DELAY_DEFAULT", |c| {
        delayed::<10>(c);
        c.receiver.ack_delay = AckDelay::Timer;
    }),
    sets("at once while a gap is open", "smoltcp 0.13, Socket::process", at_once),
    NO_RXT,
];

fn sack_and_timestamps(config: &mut Config) {
    (config.sack, config.timestamps) = (true, true);
}
