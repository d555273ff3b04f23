//! The knobs of the hosts, over the defaults of the engine.

use rtolab_tcp::Config;
use rtolab_tcp::config::{
    Arithmetic, DualRttConfig, RecoveryConfig, RtoConfig, RtoFloor, SackConfig, Threshold,
    TimestampConfig, WindowConfig,
};

use super::at::At;
use crate::Error;
use crate::written::value::{Chance, Text, Whole, Written};
use crate::written::{
    DualRtt, NewReno, Receiver, Recovery, Rto, SackRecovery, Tcp, Timestamp, Window,
};

/// How the sending hosts behave, before a sum of policies is applied.
pub(super) fn sender(tcp: &Tcp, at: &At<'_>) -> Result<Config, Error> {
    let Tcp { sender: _, mss, window_scale, timestamps, recover_on_undo, msl, .. } = tcp;
    let mut config = Config::default();
    set(&mut config.mss, *mss);
    config.window_scale = window_scale.map(|scale| scale.0 as u8);
    config.timestamps = timestamps.unwrap_or(config.timestamps);
    set(&mut config.recover_on_undo, *recover_on_undo);
    config.response = tcp.response.map(|Written(response)| response).or(config.response);
    dualrtt(&tcp.dualrtt, &mut config.dualrtt, &at.key("dualrtt"))?;
    set(&mut config.msl, *msl);
    timestamp(&tcp.timestamp, &mut config.timestamp);
    rto(&tcp.rto, &mut config.rto, &at.key("rto"))?;
    window(&tcp.window, &mut config.window);
    recovery(&tcp.recovery, &mut config.recovery);
    newreno(&tcp.newreno, &mut config.recovery);
    sack(&tcp.sack_recovery, &mut config.recovery.sack);
    Ok(config)
}

/// How the receiving hosts behave: as the sending ones, but with capabilities of their own.
pub(super) fn receiver(receiver: &Receiver, sender: &Config, at: &At<'_>) -> Result<Config, Error> {
    let Receiver { buffer, ack_every, delayed_ack, echo, .. } = receiver;
    let Receiver { sack, timestamps, dsack, mss, window_scale, .. } = receiver;
    let mut config = Config {
        sack: sack.unwrap_or(true),
        timestamps: timestamps.unwrap_or(true),
        dsack: dsack.unwrap_or(false),
        ..sender.clone()
    };
    set(&mut config.mss, *mss);
    set(&mut config.timestamp.echo, *echo);
    set(&mut config.receiver.buffer, *buffer);
    set_whole(&mut config.receiver.ack_every, *ack_every);
    set(&mut config.receiver.delayed_ack, *delayed_ack);
    let buffer = config.receiver.buffer;
    let scale = (0..14).find(|scale| buffer <= 65_535 << scale).unwrap_or(14);
    config.window_scale = Some(window_scale.map_or(scale, |scale| scale.0 as u8));
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
        _ => Ok(config),
    }
}

fn set<T: Text>(field: &mut T::Value, written: Option<Written<T>>) {
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
    let Rto { min: _, min_on_variance: _, min_after_backoff: _, max, initial, k, .. } = written;
    let Rto { srtt_gain, rttvar_gain, granularity, arithmetic, sampling, .. } = written;
    let Rto { sample_handshake, restart_on_retransmit, .. } = written;
    config.floor = floor(written, at)?.unwrap_or(config.floor);
    set(&mut config.max, *max);
    set(&mut config.initial, *initial);
    set_whole(&mut config.k, *k);
    set_whole(&mut config.srtt_gain, *srtt_gain);
    set_whole(&mut config.rttvar_gain, *rttvar_gain);
    set(&mut config.granularity, *granularity);
    set(&mut config.arithmetic, *arithmetic);
    set(&mut config.sampling, *sampling);
    config.sample_handshake = sample_handshake.unwrap_or(config.sample_handshake);
    config.restart_on_retransmit = restart_on_retransmit.unwrap_or(config.restart_on_retransmit);
    if config.arithmetic == Arithmetic::Ns2 && config.granularity.is_zero() {
        let problem = "found \"ns2\" without a granularity; expected one, such as \"100 ms\"";
        return Err(at.key("arithmetic").wrong(problem));
    }
    if let (Arithmetic::Ns2, RtoFloor::Variance(_)) = (config.arithmetic, config.floor) {
        let problem = "found min_on_variance beside arithmetic = \"ns2\"; expected min";
        return Err(at.key("min_on_variance").wrong(problem));
    }
    check_order(written, config, at)
}

/// The one floor that is written, if any.
fn floor(written: &Rto, at: &At<'_>) -> Result<Option<RtoFloor>, Error> {
    let Rto { min, min_on_variance, min_after_backoff, .. } = written;
    let floors = [
        ("min", min.map(|Written(min)| RtoFloor::Total(min))),
        ("min_on_variance", min_on_variance.map(|Written(min)| RtoFloor::Variance(min))),
        ("min_after_backoff", min_after_backoff.map(|Written(min)| RtoFloor::BackedOff(min))),
    ];
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
    };
    let (initial, max) = (config.initial, config.max);
    let (key, expected) = match written.max {
        Some(_) if max < min => ("max", format!("at least {floor}, {min}")),
        Some(_) if max < initial => ("max", format!("at least initial, {initial}")),
        None if max < min => (floor, format!("at most max, {max} by default")),
        None if max < initial => ("initial", format!("at most max, {max} by default")),
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
}

fn recovery(written: &Recovery, config: &mut RecoveryConfig) {
    let Recovery { dupthresh, limited_transmit } = written;
    set_whole(&mut config.dupthresh, *dupthresh);
    config.limited_transmit = limited_transmit.unwrap_or(config.limited_transmit);
}

fn newreno(written: &NewReno, config: &mut RecoveryConfig) {
    let NewReno { bugfix, timer } = written;
    set(&mut config.bugfix, *bugfix);
    set(&mut config.newreno.timer, *timer);
}

fn dualrtt(written: &DualRtt, config: &mut DualRttConfig, at: &At<'_>) -> Result<(), Error> {
    let DualRtt { threshold, by_spacing, first } = written;
    set(&mut config.first, *first);
    config.threshold = match (threshold, by_spacing.unwrap_or(false)) {
        (Some(_), true) => {
            let problem = "found threshold beside by_spacing; expected only one of them";
            return Err(at.key("threshold").wrong(problem));
        }
        (Some(Chance(fraction)), false) => {
            Threshold::Fixed((fraction.value() * 1000.0).round() as u32)
        }
        (None, true) => Threshold::Physical,
        (None, false) => config.threshold,
    };
    Ok(())
}

fn sack(written: &SackRecovery, config: &mut SackConfig) {
    let SackRecovery { rules, outstanding } = written;
    set(&mut config.rules, *rules);
    set(&mut config.outstanding, *outstanding);
}
