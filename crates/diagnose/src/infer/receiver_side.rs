//! The packets at the sender, inferred from timestamps in a capture at the receiver.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::error::NotInferred;
use crate::TracedPacket;

/// Timestamp clocks in Hz (RFC 7323 section 5.4 allows 1 to 1000).
const CLOCKS: [f64; 4] = [10.0, 100.0, 250.0, 1000.0];
/// The largest relative error of a clock.
const NEAR: f64 = 0.1;
/// The delay from which an ACK counts as held by the path, in seconds.
const LATE: f64 = 0.25;
/// The number of sequence numbers of a FIN. A longer segment carries data.
const FIN_LENGTH: u32 = 1;
const WRAP: i64 = 1 << 32;

/// A packet with its number in the capture; the number is negative if the capture lacks the packet.
pub(super) type Row = (TracedPacket, i64);

/// A packet with its TSval and TSecr.
type Stamped<'a> = (&'a TracedPacket, [u32; 2]);

/// The packets as seen at the sender, in order, and the smallest round-trip time in seconds.
///
/// A packet leaves at its timestamp, to within a tick. An ACK arrives half a round trip after it
/// left, or when the sender first echoes its timestamp. For each needed retransmission the lost
/// packet is added, with a negative number, at the time of the packet before it.
pub(crate) fn at_sender(
    rows: &[Row],
    sender: &str,
    needed: &HashSet<i64>,
) -> Result<(Vec<Row>, f64), NotInferred> {
    let stamped = rows.iter().filter_map(|(row, _)| Some((row, row.stamps?)));
    let (data, answers): (Vec<Stamped<'_>>, Vec<Stamped<'_>>) =
        stamped.partition(|(row, _)| row.from == sender);
    let last = data.last().filter(|(row, _)| data.len() >= 2 && row.t > data[0].0.t);
    let duration = last.filter(|_| !answers.is_empty()).map(|(row, _)| row.t - data[0].0.t);
    let duration = duration.ok_or(NotInferred::NoTimestamps)?;
    let trip = round_trip(&data, &answers).ok_or(NotInferred::NoEchoes)?;
    let left = departures(&data, duration, trip).ok_or(NotInferred::UnknownClock)?;
    let ack_arrivals = arrivals(&answers, (&data, &left), trip);
    let times = data.iter().zip(left).chain(answers.iter().zip(ack_arrivals));
    let mut moved: Vec<Row> = times
        .map(|((row, _), t)| (TracedPacket { t, ..(*row).clone() }, row.frame as i64))
        .collect();
    moved.extend(lost(&moved, sender, needed));
    moved.sort_by(|(a, one), (b, other)| a.t.total_cmp(&b.t).then(one.cmp(other)));
    Ok((moved, trip))
}

/// Timestamps without wrap-around.
fn unwrapped(stamps: impl Iterator<Item = u32>) -> Vec<i64> {
    let near = |last: &mut Option<i64>, stamp: u32| {
        let stamp = i64::from(stamp);
        let half = WRAP / 2;
        *last = Some(last.map_or(stamp, |l| l + (stamp - l + half).rem_euclid(WRAP) - half));
        *last
    };
    stamps.scan(None, near).collect()
}

/// The running maximum.
fn rising<T: PartialOrd + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let rise = |last: &mut Option<T>, value: T| {
        *last = Some(last.filter(|last| *last >= value).unwrap_or(value));
        *last
    };
    values.scan(None, rise).collect()
}

/// The shortest time in seconds from an ACK to the first packet that echoes its timestamp.
fn round_trip(data: &[Stamped<'_>], answers: &[Stamped<'_>]) -> Option<f64> {
    let mut first: HashMap<u32, f64> = HashMap::new();
    for (row, stamps) in answers {
        first.entry(stamps[0]).or_insert(row.t);
    }
    let trip = |(row, stamps): &Stamped<'_>| Some(row.t - first.remove(&stamps[1])?);
    data.iter().filter_map(trip).filter(|trip| *trip > 0.0).min_by(f64::total_cmp)
}

/// The departure times by the sender's clock, if the fastest packet took half of the smallest
/// round-trip time.
fn departures(data: &[Stamped<'_>], duration: f64, trip: f64) -> Option<Vec<f64>> {
    let stamps = unwrapped(data.iter().map(|(_, stamps)| stamps[0]));
    let ticks = (stamps[stamps.len() - 1] - stamps[0]) as f64 / duration;
    let off = |clock: &f64| (clock / ticks.max(1e-9) - 1.0).abs();
    let clock = CLOCKS.into_iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
    if (ticks / clock - 1.0).abs() > NEAR {
        return None;
    }
    let offsets = data.iter().zip(&stamps).map(|((row, _), &stamp)| row.t - stamp as f64 / clock);
    let offset = offsets.min_by(f64::total_cmp)?;
    Some(rising(stamps.iter().map(|&stamp| stamp as f64 / clock + offset - trip / 2.0)))
}

/// The arrival times of ACKs: half a round trip after they left, or when the sender first echoes
/// their timestamps.
fn arrivals(
    answers: &[Stamped<'_>],
    (data, left): (&[Stamped<'_>], &[f64]),
    trip: f64,
) -> Vec<f64> {
    // A SYN has no echo, and a sender without data may echo late.
    let shows = |((row, stamps), _): &(&Stamped<'_>, &f64)| stamps[1] != 0 && row.len > FIN_LENGTH;
    let (echoes, left): (Vec<u32>, Vec<f64>) =
        data.iter().zip(left).filter(shows).map(|((_, stamps), t)| (stamps[1], *t)).unzip();
    let echoes = rising(unwrapped(echoes.into_iter()).into_iter());
    let stamps = unwrapped(answers.iter().map(|(_, stamps)| stamps[0]));
    // The first timestamps may lie on different sides of a wrap.
    let apart = echoes.first().map_or(0, |echo| echo - stamps[0]);
    let turns = (apart as f64 / WRAP as f64).round_ties_even() as i64 * WRAP;
    let arrive = |((row, _), stamp): (&Stamped<'_>, i64)| {
        let soonest = row.t + trip / 2.0;
        let index = echoes.partition_point(|echo| *echo < stamp + turns);
        left.get(index).copied().filter(|known| *known > soonest + LATE).unwrap_or(soonest)
    };
    rising(answers.iter().zip(stamps).map(arrive))
}

/// The lost packets, one for each needed retransmission.
fn lost(rows: &[Row], sender: &str, needed: &HashSet<i64>) -> Vec<Row> {
    let own = rows.iter().filter(|(row, _)| row.from == sender);
    let mut sent: Vec<(i64, f64)> = own.map(|(row, _)| (row.seq, row.t)).collect();
    sent.sort_by_key(|(seq, _)| *seq);
    let found = rows.iter().filter(|(row, frame)| row.len > 0 && needed.contains(frame));
    let copy = |(row, frame): &Row| {
        let index = sent.partition_point(|(seq, _)| *seq < row.seq);
        let t = index.checked_sub(1).map_or(row.t, |before| sent[before].1.min(row.t));
        (TracedPacket { t, ..row.clone() }, -frame)
    };
    found.map(copy).collect()
}
