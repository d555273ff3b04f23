//! Linux 6.

use rtolab_time::Duration;

use super::Sysctl;
use super::behaviour::{Behaviour, Profile, initial_segments, restarts_when_idle, sets};
use super::receivers::{NO_RXT, delayed, dsack, every_two_counted};
use crate::config::{
    AckDelay, AckRules, AfterClose, AfterSyn, Algorithm, CongestionAlgorithm, CongestionAvoidance,
    CubicGrowth, CubicUndo, EchoRule, EcnFallback, FullAck, HalvedQuantity, Halving, Handshake,
    LossWindow, Nagle, OldAcks, OnUnreachable, PrrBound, RackRoundTrip, RackRules, RackThreshold,
    Reduction, ReorderingWindow, RepeatedSyn, RepeatedTimeout, Response, Restarts, RtoFloor,
    Sampling, SlowStart, SlowStartExit, Validation,
};
use crate::spurious::{DetectorId, FrtoVariant};

const INPUT: &str = "Linux 6, net/ipv4/tcp_input.c";
const TIMER: &str = "Linux 6, include/net/tcp.h";
const CUBIC: &str = "Linux 6, net/ipv4/tcp_cubic.c";

/// Linux 6 with its default settings.
pub(super) const LINUX: Profile = Profile {
    name: "linux",
    about: "Linux 6 by default: RACK-TLP, PRR, CUBIC, F-RTO and undoing",
    source: "Linux 6, net/ipv4",
    sends: SENDS,
    receives: RECEIVES,
    kernel: Some(Sysctl::apply),
};

const SENDS: &[Behaviour] = &[
    sets(
        "SACK, D-SACK, timestamps and scaled windows",
        "Linux 6, tcp_syn_options and tcp_select_initial_window; assumed: a tcp_rmem of 6 MB",
        |c| {
            (c.sack, c.dsack, c.timestamps, c.window_scale) = (true, true, true, Some(7));
        },
    ),
    sets(
        "RACK with tail loss probes",
        "Linux 6, tcp_rack_reo_wnd, tcp_schedule_loss_probe and tcp_process_tlp_ack",
        |c| {
            c.recovery.algorithm = Algorithm::Rack;
            c.recovery.rack.tail_loss_probe = true;
            c.recovery.rack.reordering_window = ReorderingWindow::Adaptive;
            c.recovery.rack.threshold = RackThreshold::Dupthresh;
            c.recovery.rack.max_ack_delay = Duration::from_millis(200);
            c.recovery.rack.round_trip = RackRoundTrip::ProcessedLast;
            c.recovery.rack.rules = RackRules::Linux;
            (c.window.grows_when_recovered, c.window.counts_dsacked) = (true, true);
            c.window.loss_window = LossWindow::BeyondPipe;
            c.connection.ecn_fallback = EcnFallback::Capable;
            c.recovery.limited_transmit = true;
            c.recovery.dupthresh = 3;
        },
    ),
    sets(
        "RACK's and the probe's timers run 2 ms longer",
        "Linux 6, TCP_TIMEOUT_MIN_US; not modelled: rounding up to a tick",
        |c| c.recovery.rack.timer_slack = Duration::from_millis(2),
    ),
    sets("PRR", "Linux 6, tcp_cwnd_reduction", |c| {
        c.recovery.reduction = Reduction::Prr(PrrBound::Linux);
        c.window.full_ack = FullAck::Ssthresh;
    }),
    sets(
        "CUBIC with HyStart, whose curve no undo restores",
        "Linux 6, net/ipv4/tcp_cubic.c",
        |c| {
            c.congestion.control = CongestionAlgorithm::Cubic;
            c.congestion.cubic.undo = CubicUndo::Linux;
            c.congestion.cubic.growth = CubicGrowth::Linux;
            c.congestion.slow_start_exit = SlowStartExit::HyStart;
        },
    ),
    sets("a loss reduces cwnd, not FlightSize, to whole segments", CUBIC, |c| {
        c.window.halves = HalvedQuantity::CongestionWindow;
        c.window.halving = Halving::Segments;
    }),
    sets(
        "windows grow by the delivered data",
        "Linux 6, tcp_slow_start and tcp_cong_avoid_ai",
        |c| {
            c.window.slow_start = SlowStart::Delivered;
            c.window.avoidance = CongestionAvoidance::ByteCounting;
            c.window.several_per_ack = true;
        },
    ),
    sets("a window that was not filled does not grow", "Linux 6, tcp_cwnd_validate", |c| {
        c.window.validation = Validation::Linux;
    }),
    sets(
        "an idle window restarts",
        "Linux 6, tcp_cwnd_restart; not modelled: it is halved for each RTO of idle time",
        restarts_when_idle,
    ),
    sets("an initial window of ten segments", "Linux 6, TCP_INIT_CWND", initial_segments::<10>),
    sets(
        "the handshake's last ACK carries no data",
        "Linux 6, tcp_rcv_synsent_state_process",
        |c| c.connection.handshake = Handshake::Alone,
    ),
    OLD_ACKS,
    sets("a peer's MSS counts as 48 bytes at least", "Linux 6, tcp_min_snd_mss", |c| {
        c.connection.min_peer_mss = 48;
    }),
    sets("no back-off for the first four SYNs", "Linux 6.5, tcp_syn_linear_timeouts", |c| {
        c.connection.syn_linear_timeouts = 4;
    }),
    sets(
        "one timeout of a SYN keeps the initial window, and so do spurious ones",
        "Linux 6, tcp_init_transfer and tcp_try_undo_spurious_syn",
        |c| c.window.after_syn = AfterSyn::Linux,
    ),
    sets("a minimum of 200 ms on the variance, a maximum RTO of 120 s", TIMER, |c| {
        c.rto.floor = RtoFloor::Variance(Duration::from_millis(200));
        c.rto.max = Duration::from_secs(120);
        c.rto.initial = Duration::from_secs(1);
    }),
    sets("ICMP host unreachable takes back one back-off", "Linux 6, tcp_ld_RTO_revert", |c| {
        c.backoff.unreachable = OnUnreachable::Reverts;
    }),
    sets("one timer for timeout, probe and reordering", "Linux 6, tcp_rearm_rto", |c| {
        c.rto.restarts = Restarts::Linux;
    }),
    sets("SACKs give round trips, too", "Linux 6, tcp_ack_update_rtt", |c| {
        c.rto.sampling = Sampling::Linux;
    }),
    sets(
        "F-RTO, and undoing by timestamps and D-SACK",
        "Linux 6, tcp_process_loss and tcp_may_undo",
        |c| {
            c.frto = Some(FrtoVariant::Linux);
            c.act_on(DetectorId::named("undo:linux"));
        },
    ),
    sets(
        "an undo restores the larger of the windows before and now",
        "Linux 6, tcp_undo_cwnd_reduction",
        |c| c.response = Some(Response::Linux),
    ),
    sets("one reduction per window of data, undone as one", "Linux 6, tcp_enter_loss", |c| {
        c.window.repeated_timeout = RepeatedTimeout::OncePerWindow;
    }),
    sets("Nagle's algorithm with Minshall's change", "Linux 6, tcp_minshall_check", |c| {
        c.nagle = Nagle::Minshall;
    }),
    sets("a SYN with SACK and timestamps has 60 bytes", "Linux 6, tcp_options_write", |c| {
        c.compact_syn = true;
    }),
    sets(
        "the timestamp clock does not begin at 0",
        "Linux 6, secure_tcp_ts_off and tcp_tsopt_ecr_before; assumed: no other random offset",
        |c| c.timestamp.first = 1,
    ),
    sets(
        "PSH on the last segment, and on one in each half of the largest window",
        "Linux 6, tcp_push and forced_push; assumed: the application writes all at once",
        |c| c.forced_push = true,
    ),
    sets(
        "a last segment waits for the window that its FIN needs",
        "Linux 6, tcp_snd_wnd_test",
        |c| {
            c.fin_waits_for_window = true;
        },
    ),
    sets("data after a close resets", "Linux 6, __tcp_close and tcp_rcv_state_process", |c| {
        c.connection.after_close = AfterClose::Resets;
    }),
    sets("FIN-WAIT-2 lasts a minute", "Linux 6, tcp_fin_timeout and tcp_fin_time", |c| {
        c.connection.fin_timeout = Some(Duration::from_secs(60));
    }),
];

/// Each end has it.
const OLD_ACKS: Behaviour = sets(
    "an old duplicate of the last ACK is accepted, and few others are answered",
    "Linux 6, tcp_disordered_ack and tcp_oow_rate_limited",
    |c| c.receiver.old_acks = OldAcks::Linux,
);

const RECEIVES: &[Behaviour] = &[
    OLD_ACKS,
    sets("SACK with D-SACK, and timestamps", INPUT, dsack),
    sets("D-SACK for what PAWS drops", "Linux 6, tcp_send_dupack", |c| c.receiver.dsack_old = true),
    sets("four SACK blocks are remembered", "Linux 6, tcp_sack_new_ofo_skb", |c| {
        c.receiver.remembered_sack_blocks = Some(4);
    }),
    sets(
        "an ACK every two full segments, counted in bytes",
        "Linux 6, __tcp_ack_snd_check",
        every_two_counted,
    ),
    sets(
        "more than a full segment is acknowledged at once, and so is what follows a duplicate",
        "Linux 6, __tcp_ack_snd_check, tcp_cleanup_rbuf, tcp_event_data_recv, tcp_grow_window and \
         tcp_data_queue",
        |c| c.receiver.ack_rules = AckRules::Linux,
    ),
    sets(
        "16 ACKs are sent at once, fewer with a window below 32 segments",
        "Linux 6, tcp_incr_quickack",
        |c| c.receiver.quick_acks = 16,
    ),
    sets(
        "a delay from 40 to 200 ms, by the time between segments",
        "Linux 6, tcp_send_delayed_ack",
        |c| {
            delayed::<200>(c);
            c.receiver.ack_delay = AckDelay::Adaptive;
        },
    ),
    sets(
        "the timestamp of a duplicate that ends at the last ACK is echoed",
        "Linux 6, tcp_replace_ts_recent and tcp_sequence",
        |c| c.timestamp.echo = EchoRule::Linux,
    ),
    sets("the first SYN's timestamp is echoed", "Linux 6, tcp_check_req", |c| {
        c.receiver.repeated_syn = RepeatedSyn::Linux;
    }),
    NO_RXT,
];
