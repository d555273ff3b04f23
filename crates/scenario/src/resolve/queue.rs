//! Queue disciplines and traffic of higher priority.

use rtolab_link::{CoDel, DirectionConfig, Discipline, Limit, Priority, Red};
use rtolab_time::Rate;

use super::key::Key;
use super::run::Packets;
use crate::Result;
use crate::raw;

/// Random early detection (RED) in the queue of `config`.
pub(super) fn red(
    written: &raw::Red,
    config: &DirectionConfig,
    packets: Packets,
    at: &Key<'_>,
) -> Result<Discipline> {
    let raw::Red { min, max, max_p, weight, gentle, adaptive, ecn, packet_time } = *written;
    check_thresholds(written, config.queue, packets, at)?;
    let full = || Some(config.rate?.time_for(packets.full));
    let packet_time = packet_time.or_else(full).ok_or_else(|| {
        let expected = "packet_time, how long a packet takes to send, such as \"1 ms\"";
        at.error(format!("found no rate and no packet_time; expected {expected}"))
    })?;
    Ok(Discipline::Red(Red { min, max, max_p, weight, gentle, adaptive, ecn, packet_time }))
}

/// The thresholds must be in order, in the unit of the queue, and the first one within the queue.
fn check_thresholds(
    written: &raw::Red,
    queue: Limit,
    packets: Packets,
    at: &Key<'_>,
) -> Result<()> {
    let (min, max, largest) = (written.min, written.max, packets.largest);
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

/// CoDel, whose target must be shorter than its interval.
pub(super) fn codel(codel: CoDel, at: &Key<'_>) -> Result<Discipline> {
    let CoDel { target, interval, .. } = codel;
    if target < interval {
        return Ok(Discipline::CoDel(codel));
    }
    let written = at.key("interval");
    Err(match written.exists() {
        true => written.found(&format!("more than target, {target}")),
        false => at.key("target").found(&format!("less than interval, {interval} by default")),
    })
}

/// A source of higher priority, which must not use all of the link's `rate`.
pub(super) fn check_priority(priority: &Priority, rate: Option<Rate>, at: &Key<'_>) -> Result<()> {
    let Priority { activity, every, packet } = priority;
    let Some(rate) = rate else {
        let expected = "rate, for its packets to take their time";
        return Err(at.error(format!("found no rate; expected {expected}")));
    };
    let (silent, talks) = (activity.good.mean().secs_f64(), activity.bad.mean().secs_f64());
    let time = rate.time_for(*packet);
    let load = time.secs_f64() / every.secs_f64() * talks / (silent + talks);
    if load >= 1.0 {
        let found =
            format!("found packets that take {time} each {every}, and longer silences never");
        return Err(at.error(format!("{found} make up for it; expected some time for others")));
    }
    Ok(())
}
