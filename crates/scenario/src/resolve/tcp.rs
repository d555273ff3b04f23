//! The knobs of the hosts, over the defaults of the engine.

use rtolab_tcp::Config;
use rtolab_tcp::config::{
    AckDelay, Arithmetic, DualRttConfig, GiveUp, KeepAlive, Limits, NewRenoConfig, PathFact,
    RackConfig, ReceiverConfig, RecoveryConfig, Response, RtoConfig, RtoFloor, SackConfig,
    Threshold, TimerClock, TimestampConfig, WindowConfig,
};

use super::at::At;
use super::congestion::congestion;
use crate::written;
use crate::written::value::{Chance, Text, Whole, Written};
use crate::written::{
    DualRtt, Flow, Named, NewReno, Rack, Receiver, Recovery, Rto, SackRecovery, Tcp, Timestamp,
    Window,
};
use crate::{Error, Prototypes};

/// How the sending hosts behave, before a sum of policies is applied; the response may be one of the
/// hosts' `own`.
pub(super) fn sender(tcp: &Tcp, own: &Prototypes, at: &At<'_>) -> Result<Config, Error> {
    let Tcp { sender: _, mss, window_scale, timestamps, recover_on_undo, push, .. } = tcp;
    let mut config = Config::default();
    set(&mut config.mss, *mss);
    config.window_scale = window_scale.map(|scale| scale.0 as u8);
    config.timestamps = timestamps.unwrap_or(config.timestamps);
    config.ecn = tcp.ecn.unwrap_or(config.ecn);
    set(&mut config.frto_window_limited, tcp.frto_window_limited);
    set(&mut config.recover_on_undo, *recover_on_undo);
    response(tcp.response.as_ref(), own, &mut config, &at.key("response"))?;
    dualrtt(&tcp.dualrtt, &mut config.dualrtt, &at.key("dualrtt"))?;
    config.push = push.unwrap_or(config.push);
    set(&mut config.nagle, tcp.nagle);
    config.connection.keep_alive = tcp.keep_alive.as_ref().map(keep_alive);
    give_up(&tcp.give_up, &mut config.connection.limits);
    timestamp(&tcp.timestamp, &mut config.timestamp);
    rto(&tcp.rto, &mut config.rto, &at.key("rto"))?;
    window(&tcp.window, &mut config.window);
    congestion(&tcp.congestion, &tcp.cubic, &mut config.congestion);
    recovery(&tcp.recovery, &mut config.recovery);
    newreno(&tcp.newreno, &mut config.recovery.newreno);
    sack(&tcp.sack_recovery, &mut config.recovery.sack);
    rack(&tcp.rack, &mut config.recovery.rack);
    Ok(config)
}

/// The response, which may be one of the hosts' `own`.
fn response(
    written: Option<&Written<Named<Response>>>,
    own: &Prototypes,
    config: &mut Config,
    at: &At<'_>,
) -> Result<(), Error> {
    match written {
        None => (),
        Some(Written(Named::Listed(response))) => config.response = Some(*response),
        Some(Written(Named::Other(name))) => {
            let prototype = own.response(name).map_err(|expected| at.found(&expected))?;
            config.responder = Some(prototype.clone());
        }
    }
    Ok(())
}

/// How the receiving hosts behave: as the sending ones, but with capabilities of their own. What a
/// profile sets comes first, so that the other keys replace it.
pub(super) fn receiver(receiver: &Receiver, sender: &Config, at: &At<'_>) -> Result<Config, Error> {
    let Receiver { buffer, ack_every, delayed_ack, echo, .. } = receiver;
    let Receiver { sack, timestamps, dsack, mss, window_scale, rxt_echo, .. } = receiver;
    let mut config = Config {
        sack: true,
        timestamps: true,
        dsack: false,
        ecn: true,
        responder: None, // Nor does it detect anything.
        ..sender.clone()
    };
    if let Some(Written(profile)) = receiver.profile {
        profile.apply_to_receiver(&mut config);
    }
    config.sack = sack.unwrap_or(config.sack);
    config.timestamps = timestamps.unwrap_or(config.timestamps);
    config.dsack = dsack.unwrap_or(config.dsack);
    config.ecn = receiver.ecn.unwrap_or(config.ecn);
    set(&mut config.mss, *mss);
    set(&mut config.timestamp.echo, *echo);
    set(&mut config.receiver.buffer, *buffer);
    set_whole(&mut config.receiver.ack_every, *ack_every);
    set(&mut config.receiver.delayed_ack, *delayed_ack);
    config.receiver.rxt_echo = rxt_echo.unwrap_or(config.receiver.rxt_echo);
    set(&mut config.receiver.rxt_answer, receiver.rxt_answer);
    acknowledgments(receiver, &mut config.receiver, at)?;
    let scale = (0..14).find(|scale| config.receiver.buffer <= 65_535 << scale).unwrap_or(14);
    config.window_scale = Some(window_scale.map_or(scale, |scale| scale.0 as u8));
    check_buffer(&config, sender, at)?;
    Ok(config)
}

/// The hosts of one flow, where it has a segment size or a buffer of its own.
pub(super) fn own(
    flow: &Flow,
    hosts: (&Config, &Config),
    at: &At<'_>,
) -> Result<[Config; 2], Error> {
    let (mut sender, mut receiver) = (hosts.0.clone(), hosts.1.clone());
    set(&mut sender.mss, flow.mss);
    set(&mut receiver.mss, flow.mss);
    set(&mut receiver.receiver.buffer, flow.buffer);
    if flow.mss.is_some() || flow.buffer.is_some() {
        check_buffer(&receiver, &sender, at)?;
    }
    Ok([sender, receiver])
}

/// The buffer has room for a segment, and can be announced.
fn check_buffer(config: &Config, sender: &Config, at: &At<'_>) -> Result<(), Error> {
    let buffer = config.receiver.buffer;
    let announced = match sender.window_scale {
        Some(_) => 65_535 << config.window_scale.unwrap_or(0),
        None => 65_535,
    };
    match buffer {
        _ if buffer < config.mss.into() => {
            let mss = config.mss;
            Err(at.key("buffer").found(&format!("room for a segment of {mss} B at least")))
        }
        _ if buffer > announced => Err(at.key("buffer").found(&format!(
            "at most {announced} B, as much as can be announced with window_scale as it is in \
             [tcp] and [receiver]"
        ))),
        _ => Ok(()),
    }
}

/// When the receiving hosts acknowledge, and what they say.
fn acknowledgments(
    written: &Receiver,
    config: &mut ReceiverConfig,
    at: &At<'_>,
) -> Result<(), Error> {
    let Receiver { ack_delay, heartbeat_phase, ack_counts, quick_acks, .. } = written;
    let Receiver { gap_fill, max_sack_blocks, delayed_dupacks, dsack_old, lie, .. } = written;
    config.ack_pushed_at_once = written.ack_pushed_at_once.unwrap_or(config.ack_pushed_at_once);
    set(&mut config.ack_delay, *ack_delay);
    set(&mut config.ack_counts, *ack_counts);
    set_whole(&mut config.quick_acks, *quick_acks);
    set(&mut config.gap_fill, *gap_fill);
    set_whole(&mut config.max_sack_blocks, *max_sack_blocks);
    config.dsack_old = dsack_old.unwrap_or(config.dsack_old);
    config.lie = lie.map(|Written(lie)| lie);
    config.delayed_dupacks = delayed_dupacks.map(|Written(span)| span).or(config.delayed_dupacks);
    set(&mut config.heartbeat_phase, *heartbeat_phase);
    match (config.ack_delay, heartbeat_phase) {
        (_, None) | (AckDelay::Heartbeat, Some(_)) => Ok(()),
        (_, Some(_)) => {
            let problem = "found without a heartbeat; expected it beside ack_delay = \"heartbeat\"";
            Err(at.key("heartbeat_phase").wrong(problem))
        }
    }
}

pub(super) fn set<T: Text>(field: &mut T::Value, written: Option<Written<T>>) {
    if let Some(Written(value)) = written {
        *field = value;
    }
}

fn set_whole<const LOW: u32, const HIGH: u32>(field: &mut u32, written: Option<Whole<LOW, HIGH>>) {
    if let Some(Whole(value)) = written {
        *field = value;
    }
}

fn timestamp(written: &Timestamp, config: &mut TimestampConfig) {
    let Timestamp { tick, in_mss, echo } = written;
    set(&mut config.tick, *tick);
    config.in_mss = in_mss.unwrap_or(config.in_mss);
    set(&mut config.echo, *echo);
}

fn rto(written: &Rto, config: &mut RtoConfig, at: &At<'_>) -> Result<(), Error> {
    let Rto { max, slop, initial, k, .. } = written;
    let Rto { srtt_gain, rttvar_gain, granularity, arithmetic, sampling, .. } = written;
    let Rto { sample_handshake, restart_on_retransmit, restart_on_duplicate, .. } = written;
    let Rto { restart_from, history, forget_after, timer, .. } = written;
    config.floor = floor(written, at)?.unwrap_or(config.floor);
    set(&mut config.delayed_ack_parity, written.delayed_ack_parity);
    set(&mut config.max, *max);
    set(&mut config.slop, *slop);
    set(&mut config.initial, *initial);
    set_whole(&mut config.k, *k);
    set_whole(&mut config.srtt_gain, *srtt_gain);
    set_whole(&mut config.rttvar_gain, *rttvar_gain);
    set(&mut config.granularity, *granularity);
    set(&mut config.arithmetic, *arithmetic);
    set(&mut config.sampling, *sampling);
    config.sample_handshake = sample_handshake.unwrap_or(config.sample_handshake);
    config.restart_on_retransmit = restart_on_retransmit.unwrap_or(config.restart_on_retransmit);
    set(&mut config.restart_on_duplicate, *restart_on_duplicate);
    set(&mut config.restart_from, *restart_from);
    set(&mut config.history, *history);
    config.forget_after = forget_after.map(|count| count.0);
    set(&mut config.timer, *timer);
    check_ticks(config, at)?;
    check_order(written, config, at)
}

/// What counts in ticks needs a granularity; that and the Eifel timer do not know the floor of Linux.
fn check_ticks(config: &RtoConfig, at: &At<'_>) -> Result<(), Error> {
    let arithmetic = match config.arithmetic {
        Arithmetic::Exact | Arithmetic::Eifel => None,
        Arithmetic::Ns2 => Some("ns2"),
        Arithmetic::Bsd => Some("bsd"),
    };
    let ticks = match config.timer {
        TimerClock::Exact | TimerClock::Wheel(_) => None,
        TimerClock::Ticks => Some(("timer", "ticks")),
    };
    let ticks = arithmetic.map(|word| ("arithmetic", word)).or(ticks);
    if let (Some((key, word)), true) = (ticks, config.granularity.is_zero()) {
        let problem =
            format!("found {word:?} without a granularity; expected one, such as \"100 ms\"");
        return Err(at.key(key).wrong(&problem));
    }
    let arithmetic = match config.arithmetic {
        Arithmetic::Eifel => Some("eifel"),
        _ => arithmetic,
    };
    if let (Some(word), RtoFloor::Variance(_)) = (arithmetic, config.floor) {
        let problem = format!("found min_on_variance beside arithmetic = {word:?}; expected min");
        return Err(at.key("min_on_variance").wrong(&problem));
    }
    Ok(())
}

/// The one floor that is written, if any.
fn floor(written: &Rto, at: &At<'_>) -> Result<Option<RtoFloor>, Error> {
    let Rto { min, min_on_variance, min_after_backoff, .. } = written;
    let Rto { min_delayed_ack, delayed_ack_parity, .. } = written;
    let delayed = min_delayed_ack.map(|Written(min)| RtoFloor::DelayedAck(min));
    let floors = [
        ("min", min.map(|Written(min)| RtoFloor::Total(min))),
        ("min_on_variance", min_on_variance.map(|Written(min)| RtoFloor::Variance(min))),
        ("min_after_backoff", min_after_backoff.map(|Written(min)| RtoFloor::BackedOff(min))),
        ("min_delayed_ack", delayed),
    ];
    if delayed.is_none() && delayed_ack_parity.is_some() {
        let problem = "found delayed_ack_parity without min_delayed_ack; expected both";
        return Err(at.key("delayed_ack_parity").wrong(problem));
    }
    let mut given = floors.into_iter().filter_map(|(key, floor)| Some((key, floor?)));
    match (given.next(), given.next()) {
        (Some((key, _)), Some((other, _))) => {
            let problem = format!("found {key} beside {other}; expected only one of them");
            Err(at.key(key).wrong(&problem))
        }
        (first, _) => Ok(first.map(|(_, floor)| floor)),
    }
}

/// Neither the floor nor the first timeout may be above the ceiling; the fault is in a key that is
/// given, for the defaults are in order.
fn check_order(written: &Rto, config: &RtoConfig, at: &At<'_>) -> Result<(), Error> {
    let (floor, min) = match config.floor {
        RtoFloor::Total(min) => ("min", min),
        RtoFloor::Variance(min) => ("min_on_variance", min),
        RtoFloor::BackedOff(min) => ("min_after_backoff", min),
        RtoFloor::DelayedAck(min) => ("min_delayed_ack", min),
    };
    let (initial, max) = (config.initial, config.max);
    let (key, expected) = match written.max {
        Some(_) if max < min => ("max", format!("at least {floor}, {min}")),
        Some(_) if max < initial => ("max", format!("at least initial, {initial}")),
        None if max < min => (floor, format!("at most max, {max} by default")),
        None if max < initial => ("initial", format!("at most max, {max} by default")),
        _ if max < config.slop => ("slop", format!("at most max, {max}")),
        _ => return Ok(()),
    };
    Err(at.key(key).found(&expected))
}

fn window(written: &Window, config: &mut WindowConfig) {
    let Window { initial, initial_ssthresh, avoidance, full_ack, max_burst, .. } = written;
    let Window { halves, halving, repeated_timeout, .. } = written;
    set(&mut config.halves, *halves);
    set(&mut config.halving, *halving);
    set(&mut config.repeated_timeout, *repeated_timeout);
    set(&mut config.initial, *initial);
    set(&mut config.initial_ssthresh, *initial_ssthresh);
    set(&mut config.avoidance, *avoidance);
    set(&mut config.full_ack, *full_ack);
    set(&mut config.max_burst, *max_burst);
    let Window { slow_start, idle_restart, validation, overrun, .. } = written;
    set(&mut config.slow_start, *slow_start);
    set(&mut config.idle_restart, *idle_restart);
    set(&mut config.validation, *validation);
    set_whole(&mut config.overrun, *overrun);
}

fn recovery(written: &Recovery, config: &mut RecoveryConfig) {
    let Recovery { dupthresh, limited_transmit, bugfix, early_retransmit, .. } = written;
    let Recovery { reduction, go_back_n_on_duplicates, .. } = written;
    set_whole(&mut config.dupthresh, *dupthresh);
    config.limited_transmit = limited_transmit.unwrap_or(config.limited_transmit);
    set(&mut config.bugfix, *bugfix);
    config.early_retransmit = early_retransmit.unwrap_or(config.early_retransmit);
    set(&mut config.reduction, *reduction);
    let again = &mut config.go_back_n_on_duplicates;
    *again = go_back_n_on_duplicates.unwrap_or(*again);
}

fn keep_alive(written: &written::KeepAlive) -> KeepAlive {
    let written::KeepAlive { idle, interval, probes } = written;
    let mut config = KeepAlive::default();
    set(&mut config.idle, *idle);
    set(&mut config.interval, *interval);
    set_whole(&mut config.probes, *probes);
    config
}

fn give_up(written: &written::GiveUp, limits: &mut Limits) {
    let written::GiveUp { retransmissions, syn_retransmissions } = written;
    for (limit, written) in
        [(&mut limits.r2, retransmissions), (&mut limits.r2_syn, syn_retransmissions)]
    {
        if let Some(Whole(count)) = *written {
            *limit = GiveUp::Retransmissions(count);
        }
    }
}

fn newreno(written: &NewReno, config: &mut NewRenoConfig) {
    let NewReno { timer, partial_ack } = written;
    set(&mut config.timer, *timer);
    set(&mut config.partial_ack, *partial_ack);
}

fn dualrtt(written: &DualRtt, config: &mut DualRttConfig, at: &At<'_>) -> Result<(), Error> {
    let DualRtt { threshold, model, path_rate, path_delay, first } = written;
    set(&mut config.first, *first);
    config.path.rate = path_rate.map(|Written(rate)| rate);
    config.path.delay = path_delay.map(|Written(delay)| delay);
    config.threshold = match (threshold, model) {
        (Some(_), Some(_)) => {
            let problem = "found threshold beside model; expected only one of them";
            return Err(at.key("threshold").wrong(problem));
        }
        (Some(Chance(fraction)), None) => {
            Threshold::Fixed((fraction.value() * 1000.0).round() as u32)
        }
        (None, Some(Written(model))) => *model,
        (None, None) => config.threshold,
    };
    match config.lacks() {
        Some(PathFact::Rate) => Err(at
            .key("model")
            .found("path_rate beside it, the bandwidth of the path, such as \"50 kbit/s\"")),
        Some(PathFact::Delay) => Err(at
            .key("model")
            .found("path_delay beside it, the one-way delay of the path, such as \"200 ms\"")),
        None => Ok(()),
    }
}

fn sack(written: &SackRecovery, config: &mut SackConfig) {
    let SackRecovery { rules, outstanding, on_timeout } = written;
    set(&mut config.rules, *rules);
    set(&mut config.outstanding, *outstanding);
    set(&mut config.on_timeout, *on_timeout);
}

fn rack(written: &Rack, config: &mut RackConfig) {
    let Rack { reordering_window, threshold, min_rtt_window, .. } = written;
    let Rack { tail_loss_probe, max_ack_delay, timer_slack, .. } = written;
    set(&mut config.reordering_window, *reordering_window);
    set(&mut config.threshold, *threshold);
    config.min_rtt_window = min_rtt_window.map(|Written(span)| span).or(config.min_rtt_window);
    config.tail_loss_probe = tail_loss_probe.unwrap_or(config.tail_loss_probe);
    set(&mut config.max_ack_delay, *max_ack_delay);
    set(&mut config.timer_slack, *timer_slack);
}
