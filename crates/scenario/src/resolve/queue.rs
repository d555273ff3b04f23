//! Queue disciplines and traffic of higher priority.

use rtolab_link::{CoDel, DirectionConfig, Discipline, Limit, Priority, Red};
use rtolab_time::{Duration, Rate};

use super::key::Key;
use super::spans::alternation;
use crate::Result;
use crate::raw;

/// The packet sizes that queues must fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packets {
    /// The largest, headers included, in bytes.
    pub(super) largest: u32,
    /// A full segment with its headers and no options, in bytes.
    pub(super) full: u32,
}

/// Random early detection (RED) in the queue of `config`.
pub(super) fn red(
    written: &raw::Red,
    config: &DirectionConfig,
    packets: Packets,
    at: &Key<'_>,
) -> Result<Discipline> {
    let raw::Red { min, max, max_p, weight, gentle, adaptive, ecn, packet_time } = written;
    check_thresholds(written, config.queue, packets, at)?;
    let full = || Some(config.rate?.time_for(packets.full));
    let packet_time = packet_time.map(|time| time.0).or_else(full).ok_or_else(|| {
        let expected = "packet_time, how long a packet takes to send, such as \"1 ms\"";
        at.error(format!("found no rate and no packet_time; expected {expected}"))
    })?;
    Ok(Discipline::Red(Red {
        min: min.0,
        max: max.0,
        max_p: max_p.map_or(0.1, |p| p.0),
        weight: weight.map_or(0.002, |weight| weight.0),
        gentle: gentle.unwrap_or(true),
        adaptive: adaptive.unwrap_or(false),
        ecn: ecn.unwrap_or(false),
        packet_time,
    }))
}

/// The thresholds must be in order, in the unit of the queue, and the first one within the queue.
fn check_thresholds(
    written: &raw::Red,
    queue: Limit,
    packets: Packets,
    at: &Key<'_>,
) -> Result<()> {
    let (min, max, largest) = (written.min.0, written.max.0, packets.largest);
    let (room, unit) = match queue {
        Limit::Unlimited => {
            let expected = "one such as queue = \"50 packets\" beside red";
            return Err(at.error(format!("found a queue without limit; expected {expected}")));
        }
        Limit::Packets(room) => (room, "packets"),
        Limit::Bytes(room) => (room, "B"),
    };
    if min >= max {
        return Err(at.key("max").found(&format!("more than min, {min}")));
    }
    if unit == "B" && max < f64::from(largest) {
        let expected = format!("bytes, as in queue, and {largest} B at least, the largest packet");
        return Err(at.key("max").found(&expected));
    }
    if min >= f64::from(room) {
        return Err(at.key("min").found(&format!("less than the queue's {room} {unit}")));
    }
    Ok(())
}

/// CoDel, with the defaults of RFC 8289 section 4.
pub(super) fn codel(written: &raw::CoDel, at: &Key<'_>) -> Result<Discipline> {
    let raw::CoDel { target, interval, ecn } = written;
    let given = (target, interval);
    let target = target.map_or(Duration::from_millis(5), |target| target.0);
    let interval = interval.map_or(Duration::from_millis(100), |interval| interval.0);
    if target < interval {
        return Ok(Discipline::CoDel(CoDel { target, interval, ecn: ecn.unwrap_or(false) }));
    }
    Err(match given {
        (_, Some(_)) => at.key("interval").found(&format!("more than target, {target}")),
        _ => at.key("target").found(&format!("less than interval, {interval} by default")),
    })
}

/// A source of higher priority, which must not use all of the link's `rate`.
pub(super) fn priority(
    written: &raw::Priority,
    rate: Option<Rate>,
    at: &Key<'_>,
) -> Result<Priority> {
    let raw::Priority { good, bad, stationary, every, packet } = written;
    let Some(rate) = rate else {
        let expected = "rate, for its packets to take their time";
        return Err(at.error(format!("found no rate; expected {expected}")));
    };
    let (silent, talks) = (good.0.mean().secs_f64(), bad.0.mean().secs_f64());
    let (time, each) = (rate.time_for(packet.0), every.0);
    let load = time.secs_f64() / each.secs_f64() * talks / (silent + talks);
    if load >= 1.0 {
        let found =
            format!("found packets that take {time} each {each}, and longer silences never");
        return Err(at.error(format!("{found} make up for it; expected some time for others")));
    }
    Ok(Priority { activity: alternation(good, bad, *stationary), every: every.0, packet: packet.0 })
}
