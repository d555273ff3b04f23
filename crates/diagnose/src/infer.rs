//! The path and the transfer that a capture shows.

mod link;
mod queue;
mod rates;
mod receiver_side;
mod stalls;
#[cfg(test)]
mod tests;
mod timer_slots;

use std::collections::{HashMap, HashSet};

use rtolab_link::Interval;
use rtolab_time::{Duration, Instant};
use thiserror::Error;

use crate::{Class, ConnectionReport, Necessity, Options, Passed, Vantage};
use link::{Acked, BARE_ACK, Seen, Sent, acknowledge, window};
use rates::Ack;

pub(crate) use link::{ACKS, DATA, Link, bits_per_second};
pub(crate) use timer_slots::TimerSlots;

/// What is read of a connection at most.
pub(crate) const MOST_PACKETS: u64 = 50_000;
/// From fewer ACKs that advance no path is inferred.
const FEWEST_ANSWERS: usize = 4;
/// This number of packets lost in a row, or a retransmission among them, is an outage.
const OUTAGE: usize = 3;
/// What timestamps add to a header, in bytes.
const TIMESTAMPS: u32 = 12;
/// What a SYN's options add to it, about, in bytes.
const OPENING: u32 = 20;

/// Why a path is not inferred.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NotInferred {
    #[error("the capture has no connection {0}")]
    NoConnection(u64),
    #[error("what if needs a capture at the sender or the receiver; this one: {0}")]
    Vantage(&'static str),
    #[error("what if needs the handshake, which the capture lacks")]
    NoHandshake,
    #[error("what if takes {MOST_PACKETS} packets; this one has {0}")]
    TooLong(u64),
    #[error("what if needs {FEWEST_ANSWERS} acknowledgments; this one has {0}")]
    TooFewAcks(usize),
    #[error("what if needs acknowledgments that advance, of which there are none")]
    NoAdvance,
    #[error("what if needs acknowledgments of whole packets, of which there are none")]
    NoRoundTrip,
    #[error("what if at the receiver needs timestamps, which the capture lacks")]
    NoTimestamps,
    #[error("what if at the receiver needs echoed timestamps, which the capture lacks")]
    NoEchoes,
    #[error("what if at the receiver: the sender's timestamps have no known clock")]
    UnknownClock,
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Scenario(String),
}

/// A packet with its number in the capture; a negative number is of one that the capture lacks.
type Row = (Passed, i64);

/// What both ends did, apart from how the sender recovers. Times are in seconds, sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transfer {
    /// When the sender opened the connection.
    pub(crate) start: f64,
    /// When all was acknowledged.
    pub(crate) end: f64,
    /// Of all data.
    pub(crate) size: u64,
    /// As offered.
    pub(crate) mss: u32,
    /// The largest that the receiver offered.
    pub(crate) window: i64,
    /// Segments to an ACK.
    pub(crate) ack_every: u32,
    /// ACKs of single segments at the beginning.
    pub(crate) quick_acks: usize,
    pub(crate) options: Options,
}

/// A path and a transfer over it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inferred {
    pub(crate) link: Link,
    pub(crate) transfer: Transfer,
    /// `None` if timeouts do not show any.
    pub(crate) timer_slots: Option<TimerSlots>,
}

/// How a capture is read where it can be read in several ways.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// What retransmissions count as of which the capture does not tell.
    pub unknown: Necessity,
    /// The rate counts as the same all the time.
    pub steady: bool,
    /// What was lost may have met a full queue.
    pub overflows: bool,
}

/// What happened on the path of a connection that was captured at its sender, or with timestamps at
/// its receiver: from `rows`, its packets, and what they were found to be.
pub(crate) fn infer(
    rows: &[Passed],
    connection: &ConnectionReport,
    reading: Reading,
) -> Result<Inferred, NotInferred> {
    if !matches!(connection.vantage, Vantage::Sender | Vantage::Receiver) {
        return Err(NotInferred::Vantage(connection.vantage.name()));
    }
    let options = connection.options.ok_or(NotInferred::NoHandshake)?;
    if connection.packets > MOST_PACKETS {
        return Err(NotInferred::TooLong(connection.packets));
    }
    let frames = |verdict: Necessity| -> HashSet<i64> {
        let known = |one: Necessity| if one == Necessity::Unknown { reading.unknown } else { one };
        let resent = connection.retransmissions.iter();
        resent.filter(|one| known(one.verdict) == verdict).map(|one| one.frame as i64).collect()
    };
    let (needed, unneeded) = (frames(Necessity::Needed), frames(Necessity::Unneeded));
    let (sender, mut start, mut trip) = (connection.sender, connection.start, connection.min_rtt);
    let mut rows: Vec<Row> = rows.iter().map(|row| (row.clone(), row.frame as i64)).collect();
    if connection.vantage == Vantage::Receiver {
        let (moved, shortest) = receiver_side::at_sender(&rows, sender, &needed)?;
        (start, trip, rows) = (moved[0].0.t, Some(shortest), moved);
    }
    let sides = Sides::of(&rows, (sender, start), &needed);
    if sides.answers.len() < FEWEST_ANSWERS {
        return Err(NotInferred::TooFewAcks(sides.answers.len()));
    }
    let transfer = find_transfer(connection, options, &sides, trip)?;
    let link = find_link(&sides, &transfer, reading.steady)?;
    let timeouts = connection.timeouts.iter();
    let ack_lost = timeouts.clone().filter(|one| one.class == Class::AckLost);
    let ack_lost: Vec<f64> = ack_lost.map(|one| one.t - start).collect();
    let own = timeouts.filter(|one| one.from == sender && !one.handshake && one.after != 0.0);
    let expired: Vec<(f64, f64)> = own.map(|one| (one.t - start, one.after)).collect();
    let seen = Seen { sent: &sides.sent, answers: &sides.answers };
    let (mut link, sent) = if reading.overflows {
        // What a queue refuses does not keep the link busy, and what a stall holds fills it.
        let refused = queue::refuse_lost(seen.sent);
        let link = rates::settle_changes(link, Seen { sent: &refused, ..seen });
        let queue = queue::find_queue(&link, seen.sent, &unneeded);
        let sent = queue.as_ref().map_or(seen.sent, |(_, sent)| sent);
        let mut link = stalls::find_stalls(link, Seen { sent, ..seen }, &ack_lost);
        let queue = queue::find_queue(&link, seen.sent, &unneeded);
        link.queue = queue.as_ref().map(|(room, _)| *room).filter(|room| *room > 0);
        (link, queue.map_or_else(|| seen.sent.to_vec(), |(_, sent)| sent))
    } else {
        let link = rates::settle_changes(link, seen);
        (stalls::find_stalls(link, seen, &ack_lost), seen.sent.to_vec())
    };
    let carried: Vec<Sent> = sent.into_iter().filter(|packet| !packet.refused).collect();
    let (drops, outages) = find_losses(&carried, &link, &unneeded);
    link.outages[ACKS].iter_mut().for_each(|span| *span = within(*span, &outages));
    (link.drops, link.outages[DATA]) = (drops, outages);
    Ok(Inferred { link, transfer, timer_slots: timer_slots::find_timer_slots(&expired) })
}

/// What was sent and what was acknowledged; times are in seconds since the connection began.
struct Sides {
    /// Packets with data.
    sent: Vec<Sent>,
    /// How ACKs advanced.
    answers: Vec<Acked>,
    /// What ACKs show to have passed the link.
    passed: Vec<Ack>,
    /// Windows that the receiver offered, in bytes.
    windows: Vec<i64>,
    /// Of most packets, in bytes.
    payload: i64,
}

impl Sides {
    /// Of the packets of a connection that began at `start`, and the frames that were needed.
    fn of(rows: &[Row], (sender, start): (&str, f64), needed: &HashSet<i64>) -> Self {
        let lost = find_lost(rows, sender, needed);
        let opens = sender == "client";
        let (mut sent, mut answers, mut acks) =
            (Vec::new(), Vec::<Acked>::new(), Vec::<Ack>::new());
        let (mut windows, mut left) = (Vec::new(), HashMap::new());
        let (mut number, mut highest) = (0, i64::from(!opens));
        for (row, frame) in rows {
            let t = Instant::from_secs_f64(row.t - start).secs_f64();
            if row.from == sender {
                number += 1;
                if row.len > 0 && (opens || row.seq > 0) {
                    let (lost, refused, end) =
                        (lost.contains(frame), false, row.seq + i64::from(row.len));
                    sent.push(Sent {
                        t,
                        seq: row.seq,
                        end,
                        frame: *frame,
                        lost,
                        number,
                        refused,
                        ack: 0,
                    });
                    left.insert(row.seq, t);
                }
            } else if let (Some(ack), Some(edge)) = (row.ack, row.edge) {
                windows.push(edge - ack);
                if ack > highest || ack == highest && row.len == 0 {
                    let since = |last: &Ack| left.get(&highest).copied().unwrap_or(0.0) >= last.t;
                    let idle = ack > highest && acks.last().is_some_and(since);
                    acks.push(Ack { t, ack, idle });
                }
                if ack > highest {
                    highest = ack;
                    answers.push(Acked { t, ack });
                }
            }
        }
        acknowledge(&mut sent);
        let payload = most_common(sent.iter().map(|one| one.end - one.seq)).unwrap_or(1);
        Self { passed: rates::delivered(&acks, payload), sent, answers, windows, payload }
    }
}

/// The frames that never arrived: the copies before the last that was needed.
fn find_lost(rows: &[Row], sender: &str, needed: &HashSet<i64>) -> HashSet<i64> {
    let mut lost = HashSet::new();
    let mut copies: HashMap<i64, Vec<i64>> = HashMap::new();
    for (row, frame) in rows.iter().filter(|(row, _)| row.from == sender && row.len > 0) {
        let earlier = copies.entry(row.seq).or_default();
        if needed.contains(frame) {
            lost.extend(&*earlier);
        }
        earlier.push(*frame);
    }
    lost
}

/// Size, MSS, window, options and delayed ACKs, from the handshake and the ACKs: every second segment
/// is acknowledged unless two thirds of all ACKs are of one; those of one before the first of
/// several are quick ACKs.
fn find_transfer(
    connection: &ConnectionReport,
    options: Options,
    sides: &Sides,
    trip: Option<f64>,
) -> Result<Transfer, NotInferred> {
    let first = sides.sent.first().ok_or(NotInferred::NoRoundTrip)?;
    let advances = sides.answers.windows(2).filter(|pair| pair[0].ack > 1);
    let segments = |pair: &[Acked]| (pair[1].ack - pair[0].ack) as f64 / sides.payload as f64;
    let single: Vec<bool> = advances.map(|pair| segments(pair).round_ties_even() <= 1.0).collect();
    let alone = single.iter().filter(|one| **one).count();
    let ack_every = if 3 * alone > 2 * single.len() || single.is_empty() { 1 } else { 2 };
    let quick_acks = single.iter().position(|one| !one).filter(|_| ack_every == 2);
    let resent = connection.retransmissions.iter().filter(|one| one.from == connection.sender);
    let again: u64 = resent.map(|one| u64::from(one.len)).sum();
    let offered = options.mss.into_iter().flatten().filter(|mss| *mss > 0).min();
    let added = TIMESTAMPS * u32::from(options.timestamps);
    let opening = if first.seq == 0 { 0.0 } else { trip.unwrap_or_default() };
    let windows = sides.windows.get(1..).filter(|rest| !rest.is_empty()).unwrap_or(&sides.windows);
    Ok(Transfer {
        start: (first.t - opening).max(0.0),
        end: sides.answers.last().map_or(0.0, |last| last.t),
        size: connection.bytes[usize::from(connection.sender != "client")].saturating_sub(again),
        mss: offered.map_or(sides.payload as u32 + added, u32::from),
        window: windows.iter().copied().max().unwrap_or_default(),
        ack_every,
        quick_acks: quick_acks.unwrap_or_default(),
        options,
    })
}

/// Rate and delay: most ACKs come as fast as data passes the narrowest link, and the delay is half of
/// the shortest round trip, less transmission.
fn find_link(sides: &Sides, transfer: &Transfer, steady: bool) -> Result<Link, NotInferred> {
    let options = TIMESTAMPS * u32::from(transfer.options.timestamps);
    let overhead = BARE_ACK + options;
    let payload = transfer.mss.saturating_sub(options).max(1);
    let paces = rates::paces(&sides.passed, i64::from(payload), i64::from(overhead));
    let mut link = match steady {
        true => Link::new(&[(0.0, rates::median_rate(&paces)?)], overhead),
        false => Link::new(&rates::find_rates(&paces)?, overhead),
    };
    let mut first = HashMap::new();
    for packet in &sides.sent {
        first.entry(packet.end).or_insert(packet.t);
    }
    let trip = |answer: &Acked| {
        let left = *first.get(&answer.ack)?;
        let bytes = overhead + BARE_ACK + if answer.ack > 1 { payload } else { OPENING };
        let [begin, end] = [left, answer.t].map(|t| link.transmission(bytes, t));
        Some(answer.t - left - begin.min(end))
    };
    let trip = sides.answers.iter().filter_map(trip).min_by(f64::total_cmp);
    link.delay = Duration::from_secs_f64(trip.ok_or(NotInferred::NoRoundTrip)? / 2.0);
    // A change is seen when an ACK has come back.
    let soonest = Instant::START + link.delay;
    for change in &mut link.changes {
        change.at = Instant::START + change.at.since(soonest);
    }
    Ok(link)
}

/// Single packets by number, and outages by when packets were transmitted.
///
/// An outage is of [`OUTAGE`] packets in a row, or of a packet and its retransmission; it ends halfway
/// between the last packet known to be lost and the first known to arrive.
fn find_losses(sent: &[Sent], link: &Link, undecided: &HashSet<i64>) -> (Vec<u32>, Vec<Interval>) {
    let (mut drops, mut outages) = (Vec::new(), Vec::new());
    let (mut run, mut seen) = (Vec::new(), HashSet::new());
    let leaves: Vec<f64> = link.departures(sent).into_iter().map(Instant::secs_f64).collect();
    for (index, packet) in sent.iter().enumerate() {
        if packet.lost {
            run.push(index);
        } else if !run.is_empty() && !undecided.contains(&packet.frame) {
            let again = run.iter().any(|one| seen.contains(&sent[*one].seq));
            seen.extend(run.iter().map(|one| sent[*one].seq));
            if run.len() >= OUTAGE || again {
                let takes = link.transmission(link.size(packet), 0.0);
                let until = (leaves[run[run.len() - 1]] + leaves[index] - takes) / 2.0;
                outages.push(window(leaves[run[0]] - takes / 2.0, until));
            } else {
                drops.extend(run.iter().map(|one| sent[*one].number));
            }
            run.clear();
        }
    }
    (drops, outages)
}

/// The span, cut: ACKs are lost no longer than data that is lost at the same time.
fn within(span: Interval, outages: &[Interval]) -> Interval {
    let end = |span: &Interval| span.at + span.length;
    let met = outages.iter().filter(|one| one.at < end(&span) && span.at < end(one));
    let cut = met.map(end).min().unwrap_or(Instant::NEVER).min(end(&span));
    Interval { length: cut.since(span.at), ..span }
}

/// The value that comes most often; the first of those that come as often.
fn most_common(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut counts: HashMap<i64, (u32, std::cmp::Reverse<usize>)> = HashMap::new();
    for (index, value) in values.enumerate() {
        counts.entry(value).or_insert((0, std::cmp::Reverse(index))).0 += 1;
    }
    counts.into_iter().max_by_key(|(_, rank)| *rank).map(|(value, _)| value)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    if count > 0 { sum / f64::from(count) } else { 0.0 }
}

fn median(mut values: Vec<i64>) -> f64 {
    values.sort_unstable();
    let half = values.len() / 2;
    match values.len() % 2 {
        0 => (values[half - 1] + values[half]) as f64 / 2.0,
        _ => values[half] as f64,
    }
}

/// Where the value is least; the first place of several.
fn first_least(values: &[f64]) -> usize {
    let places = 0..values.len();
    places.min_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or_default()
}
