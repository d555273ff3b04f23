//! The configuration of the hosts: keys over defaults, and checks across keys.

use rtolab_tcp::Config;
use rtolab_tcp::config::{AckDelay, Arithmetic, PathParameter, RtoConfig, RtoFloor, TimerClock};

use super::key::Key;
use crate::raw::{Flow, Receiver};
use crate::{Prototypes, Result};

/// The configuration of the sending hosts, before a sender specification is applied. The response
/// may be one of the prototypes `own`.
pub(super) fn sender(written: &Config, own: &Prototypes, at: &Key<'_>) -> Result<Config> {
    let mut config = written.clone();
    if let Some((name, at)) = at.key("response").text().filter(|_| config.response.is_none()) {
        let prototype = own.response(name).map_err(|expected| at.found(&expected))?;
        config.responder = Some(prototype.clone());
    }
    check_rto(&config.rto, &at.key("rto"))?;
    let model = at.key("dualrtt").key("model");
    match config.dualrtt.missing_parameter() {
        Some(PathParameter::Rate) => {
            Err(model
                .found("path_rate beside it, the bandwidth of the path, such as \"50 kbit/s\""))
        }
        Some(PathParameter::Delay) => {
            Err(model
                .found("path_delay beside it, the one-way delay of the path, such as \"200 ms\""))
        }
        None => Ok(config),
    }
}

/// The configuration of the receiving hosts: that of the sending ones with capabilities of their
/// own. A profile is applied first, so that other keys override it.
pub(super) fn receiver(written: &Receiver, sender: &Config, at: &Key<'_>) -> Result<Config> {
    let mut config = Config {
        sack: true,
        timestamps: true,
        dsack: false,
        ecn: true,
        responder: None, // A receiver detects no spurious timeouts.
        ..sender.clone()
    };
    if let Some(profile) = written.profile {
        profile.apply_to_receiver(&mut config);
    }
    at.read_over(&mut config.receiver)?;
    config.mss = written.mss.unwrap_or(config.mss);
    config.timestamp.echo = written.echo.unwrap_or(config.timestamp.echo);
    written.accept(&mut config);
    let phase = at.key("heartbeat_phase");
    if phase.exists() && config.receiver.ack_delay != AckDelay::Heartbeat {
        let problem = "found without a heartbeat; expected it beside ack_delay = \"heartbeat\"";
        return Err(phase.error(problem));
    }
    let scale = (0..14).find(|scale| config.receiver.buffer <= 65_535 << scale).unwrap_or(14);
    config.window_scale = Some(written.window_scale.unwrap_or(scale));
    check_buffer(&config, sender, at)?;
    Ok(config)
}

impl Receiver {
    /// Sets the keys for what the receiver accepts if it is offered.
    pub(super) fn accept(&self, config: &mut Config) {
        config.sack = self.sack.unwrap_or(config.sack);
        config.timestamps = self.timestamps.unwrap_or(config.timestamps);
        config.dsack = self.dsack.unwrap_or(config.dsack);
        config.ecn = self.ecn.unwrap_or(config.ecn);
    }
}

/// The hosts of one flow, with its own segment size and buffer.
pub(super) fn own(flow: &Flow, hosts: (&Config, &Config), at: &Key<'_>) -> Result<[Config; 2]> {
    let (mut sender, mut receiver) = (hosts.0.clone(), hosts.1.clone());
    if let Some(mss) = flow.mss {
        (sender.mss, receiver.mss) = (mss, mss);
    }
    if let Some(buffer) = flow.buffer {
        receiver.receiver.buffer = buffer;
    }
    if flow.mss.is_some() || flow.buffer.is_some() {
        check_buffer(&receiver, &sender, at)?;
    }
    Ok([sender, receiver])
}

/// The buffer must fit a segment, and the window field must be able to announce it.
fn check_buffer(config: &Config, sender: &Config, at: &Key<'_>) -> Result<()> {
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
        _ if buffer > announced => {
            let scale = (0..14).find(|scale| buffer <= 65_535 << scale).unwrap_or(14);
            let lacking = [
                ("tcp.window_scale", sender.window_scale.is_none()),
                ("receiver.window_scale", config.window_scale < Some(scale)),
            ];
            let lacking = lacking.iter().filter(|(_, lacks)| *lacks);
            let keys: Vec<_> = lacking.map(|(key, _)| format!("{key} = {scale}")).collect();
            let expected = format!("at most {announced} B, or beside it {}", keys.join(" and "));
            Err(at.key("buffer").found(&expected))
        }
        _ => Ok(()),
    }
}

/// Arithmetic in ticks needs a granularity. Neither it nor the Eifel timer has the floor of Linux.
fn check_rto(config: &RtoConfig, at: &Key<'_>) -> Result<()> {
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
        return Err(at.key(key).error(problem));
    }
    let arithmetic = match config.arithmetic {
        Arithmetic::Eifel => Some("eifel"),
        _ => arithmetic,
    };
    if let (Some(word), RtoFloor::Variance(_)) = (arithmetic, config.floor) {
        let problem = format!("found min_on_variance beside arithmetic = {word:?}; expected min");
        return Err(at.key("min_on_variance").error(problem));
    }
    let parity = at.key("delayed_ack_parity");
    if parity.exists() && !matches!(config.floor, RtoFloor::DelayedAck(_)) {
        let problem = "found delayed_ack_parity without min_delayed_ack; expected both";
        return Err(parity.error(problem));
    }
    check_order(config, at)
}

/// Neither the floor nor the initial RTO may exceed the maximum. The error is at a key that is
/// written, because the defaults are in order.
fn check_order(config: &RtoConfig, at: &Key<'_>) -> Result<()> {
    let (floor, min) = match config.floor {
        RtoFloor::Total(min) => ("min", min),
        RtoFloor::Variance(min) => ("min_on_variance", min),
        RtoFloor::BackedOff(min) => ("min_after_backoff", min),
        RtoFloor::DelayedAck(min) => ("min_delayed_ack", min),
    };
    let (initial, max) = (config.initial, config.max);
    let (key, expected) = match at.key("max").exists() {
        true if max < min => ("max", format!("at least {floor}, {min}")),
        true if max < initial => ("max", format!("at least initial, {initial}")),
        false if max < min => (floor, format!("at most max, {max} by default")),
        false if max < initial => ("initial", format!("at most max, {max} by default")),
        _ if max < config.slop => ("slop", format!("at most max, {max}")),
        _ => return Ok(()),
    };
    Err(at.key(key).found(&expected))
}
