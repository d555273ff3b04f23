//! Inference of the path and the transfer from a capture.

mod error;
mod link;
mod queue;
mod rates;
mod receiver_side;
mod stalls;
mod statistics;
#[cfg(test)]
mod tests;
mod timer_slots;

use std::collections::{HashMap, HashSet};

use rtolab_link::Interval;
use rtolab_time::{Duration, Instant};

use crate::{ConnectionReport, Necessity, Options, TimeoutClass, TracedPacket, Vantage};
use error::MIN_ACKS;
use link::{Acked, BARE_ACK, Seen, Sent, acknowledge, window};
use rates::Ack;
use receiver_side::Row;
use statistics::most_common;

pub(crate) use error::MAX_PACKETS;
pub use error::NotInferred;
pub(crate) use link::{ACKS, DATA, Link, bits_per_second};
pub(crate) use timer_slots::TimerSlots;

/// The minimum number of consecutive losses that are an outage. Fewer are one, too, if a
/// retransmission is among them.
const MIN_OUTAGE_LOSSES: usize = 3;
/// The length of the timestamps option with its padding, in bytes.
const TIMESTAMPS_LEN: u32 = 12;
/// The approximate length of the options of a SYN, in bytes.
const SYN_OPTIONS_LEN: u32 = 20;

/// The parameters of the data transfer. Those of the sender's loss recovery are not inferred. Times
/// are in seconds, sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Transfer {
    /// When the sender opened the connection.
    pub(crate) start: f64,
    /// When all data was acknowledged.
    pub(crate) end: f64,
    pub(crate) size: u64,
    /// The smaller of the two MSS options.
    pub(crate) mss: u32,
    /// The largest window that the receiver advertised.
    pub(crate) window: i64,
    /// The number of segments per ACK.
    pub(crate) ack_every: u32,
    /// The number of quick ACKs (ACKs of a single segment) at the beginning.
    pub(crate) quick_acks: usize,
    pub(crate) options: Options,
}

/// A path and a transfer over it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inferred {
    pub(crate) link: Link,
    pub(crate) transfer: Transfer,
    /// `None` if the timeouts show no slots.
    pub(crate) timer_slots: Option<TimerSlots>,
    /// How much earlier or later the outages of data may have ended, in seconds.
    pub(crate) outage_error: f64,
}

/// What the inference assumes where the capture does not show it.
#[derive(Clone, Copy, Debug)]
pub struct Assumptions {
    /// The necessity of the retransmissions on which the verdict is unknown.
    pub unknown: Necessity,
    /// Is the rate constant?
    pub constant_rate: bool,
    /// Did a full queue drop the lost packets, where the inferred queue could have?
    pub queue_overflows: bool,
}

impl Default for Assumptions {
    /// The most likely assumptions.
    fn default() -> Self {
        Self { unknown: Necessity::Needed, constant_rate: true, queue_overflows: true }
    }
}

/// Infers the path of a connection from its packets and its report.
///
/// # Errors
/// The capture was made neither at the sender nor, with timestamps, at the receiver, or it does not
/// show enough of the path.
pub(crate) fn infer(
    rows: &[TracedPacket],
    connection: &ConnectionReport,
    assumptions: Assumptions,
) -> Result<Inferred, NotInferred> {
    if !matches!(connection.vantage, Vantage::Sender | Vantage::Receiver) {
        return Err(NotInferred::Vantage(connection.vantage.name()));
    }
    let options = connection.options.ok_or(NotInferred::NoHandshake)?;
    if connection.packets > MAX_PACKETS {
        return Err(NotInferred::TooLong(connection.packets));
    }
    let frames = |verdict: Necessity| -> HashSet<i64> {
        let known =
            |one: Necessity| if one == Necessity::Unknown { assumptions.unknown } else { one };
        let retransmissions = connection.retransmissions.iter();
        retransmissions
            .filter(|one| known(one.verdict) == verdict)
            .map(|one| one.frame as i64)
            .collect()
    };
    let (needed, unneeded) = (frames(Necessity::Needed), frames(Necessity::Unneeded));
    let (sender, mut start, mut min_rtt) =
        (connection.sender, connection.start, connection.min_rtt);
    let mut rows: Vec<Row> = rows.iter().map(|row| (row.clone(), row.frame as i64)).collect();
    if connection.vantage == Vantage::Receiver {
        let (moved, shortest) = receiver_side::at_sender(&rows, sender, &needed)?;
        (start, min_rtt, rows) = (moved[0].0.t, Some(shortest), moved);
    }
    let observed = Observed::of(&rows, (sender, start), &needed);
    if observed.new_acks.len() < MIN_ACKS {
        return Err(NotInferred::TooFewAcks(observed.new_acks.len()));
    }
    let transfer = find_transfer(connection, options, &observed, min_rtt)?;
    let link = find_link(&observed, &transfer, assumptions.constant_rate)?;
    let timeouts = connection.timeouts.iter();
    let ack_lost = timeouts.clone().filter(|one| one.class == TimeoutClass::AckLost);
    let ack_lost: Vec<f64> = ack_lost.map(|one| one.t - start).collect();
    let own = timeouts.filter(|one| one.from == sender && !one.handshake && one.after != 0.0);
    let expired: Vec<(f64, f64)> = own.map(|one| (one.t - start, one.after)).collect();
    let seen = Seen { sent: &observed.sent, new_acks: &observed.new_acks };
    let (mut link, sent) = if assumptions.queue_overflows {
        // The link does not transmit the packets that the queue drops. A stall fills the queue, so
        // we infer the queue again once the stalls are known.
        let tail_dropped = queue::drop_all_lost(seen.sent);
        let link = rates::settle_changes(link, Seen { sent: &tail_dropped, ..seen });
        let queue = queue::find_queue(&link, seen.sent, &unneeded);
        let sent = queue.as_ref().map_or(seen.sent, |(_, sent)| sent);
        let mut link = stalls::find_stalls(link, Seen { sent, ..seen }, &ack_lost);
        let queue = queue::find_queue(&link, seen.sent, &unneeded);
        link.queue = queue.as_ref().map(|(room, _)| *room);
        (link, queue.map_or_else(|| seen.sent.to_vec(), |(_, sent)| sent))
    } else {
        let link = rates::settle_changes(link, seen);
        (stalls::find_stalls(link, seen, &ack_lost), seen.sent.to_vec())
    };
    let carried: Vec<Sent> = sent.into_iter().filter(|packet| !packet.tail_dropped).collect();
    let (drops, outages) = find_losses(&carried, &link, &unneeded);
    link.outages[ACKS].iter_mut().for_each(|span| *span = within(*span, &outages));
    let outage_error = outage_error(&carried, &link, &outages);
    (link.drops, link.outages[DATA]) = (drops, outages);
    let timer_slots = timer_slots::find_timer_slots(&expired);
    Ok(Inferred { link, transfer, timer_slots, outage_error })
}

/// The data packets and the ACKs. Times are in seconds since the connection began.
struct Observed {
    sent: Vec<Sent>,
    /// ACKs of new data.
    new_acks: Vec<Acked>,
    /// The bytes that the link had delivered at each ACK.
    delivered: Vec<Ack>,
    /// The windows that the receiver advertised, in bytes.
    windows: Vec<i64>,
    /// The most frequent payload size, in bytes.
    payload: i64,
}

impl Observed {
    /// Separates data packets and ACKs. `needed` are the frame numbers of needed retransmissions.
    fn of(rows: &[Row], (sender, start): (&str, f64), needed: &HashSet<i64>) -> Self {
        let lost = find_lost(rows, sender, needed);
        let is_client = sender == "client";
        let (mut sent, mut new_acks, mut acks) =
            (Vec::new(), Vec::<Acked>::new(), Vec::<Ack>::new());
        let (mut windows, mut sent_at) = (Vec::new(), HashMap::new());
        let (mut number, mut highest) = (0, i64::from(!is_client));
        for (row, frame) in rows {
            let t = Instant::from_secs_f64(row.t - start).secs_f64();
            if row.from == sender {
                number += 1;
                if row.len > 0 && (is_client || row.seq > 0) {
                    let (lost, tail_dropped, end) =
                        (lost.contains(frame), false, row.seq + i64::from(row.len));
                    sent.push(Sent {
                        t,
                        seq: row.seq,
                        end,
                        frame: *frame,
                        lost,
                        number,
                        tail_dropped,
                        ack: 0,
                    });
                    sent_at.insert(row.seq, t);
                }
            } else if let (Some(ack), Some(edge)) = (row.ack, row.window_edge) {
                windows.push(edge - ack);
                if ack > highest || ack == highest && row.len == 0 {
                    let since =
                        |last: &Ack| sent_at.get(&highest).copied().unwrap_or(0.0) >= last.t;
                    let idle = ack > highest && acks.last().is_some_and(since);
                    acks.push(Ack { t, ack, idle });
                }
                if ack > highest {
                    highest = ack;
                    new_acks.push(Acked { t, ack });
                }
            }
        }
        acknowledge(&mut sent);
        let payload = most_common(sent.iter().map(|one| one.end - one.seq)).unwrap_or(1);
        Self { delivered: rates::delivered(&acks, payload), sent, new_acks, windows, payload }
    }
}

/// The frame numbers of lost packets: all copies of a segment before its last needed
/// retransmission.
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

/// Infers the parameters of the transfer. `min_rtt` is in seconds.
///
/// The receiver delays ACKs unless two thirds of all ACKs acknowledge a single segment. ACKs of
/// single segments before the first other ACK are quick ACKs.
fn find_transfer(
    connection: &ConnectionReport,
    options: Options,
    observed: &Observed,
    min_rtt: Option<f64>,
) -> Result<Transfer, NotInferred> {
    let first = observed.sent.first().ok_or(NotInferred::NoRoundTrip)?;
    let advances = observed.new_acks.windows(2).filter(|pair| pair[0].ack > 1);
    let segments = |pair: &[Acked]| (pair[1].ack - pair[0].ack) as f64 / observed.payload as f64;
    let single: Vec<bool> = advances.map(|pair| segments(pair).round_ties_even() <= 1.0).collect();
    let alone = single.iter().filter(|one| **one).count();
    let ack_every = if 3 * alone > 2 * single.len() || single.is_empty() { 1 } else { 2 };
    let quick_acks = single.iter().position(|one| !one).filter(|_| ack_every == 2);
    let from_sender = connection.retransmissions.iter().filter(|one| one.from == connection.sender);
    let retransmitted: u64 = from_sender.map(|one| u64::from(one.len)).sum();
    let offered = options.mss.into_iter().flatten().filter(|mss| *mss > 0).min();
    let added = TIMESTAMPS_LEN * u32::from(options.timestamps);
    let handshake = if first.seq == 0 { 0.0 } else { min_rtt.unwrap_or_default() };
    let windows =
        observed.windows.get(1..).filter(|rest| !rest.is_empty()).unwrap_or(&observed.windows);
    let mss = offered.map_or(observed.payload as u32 + added, u32::from);
    let window = windows.iter().copied().max().unwrap_or_default();
    if window < mss.into() {
        return Err(NotInferred::SmallWindow { mss, window });
    }
    Ok(Transfer {
        start: (first.t - handshake).max(0.0),
        end: observed.new_acks.last().map_or(0.0, |last| last.t),
        size: connection.bytes[usize::from(connection.sender != "client")]
            .saturating_sub(retransmitted),
        mss,
        window,
        ack_every,
        quick_acks: quick_acks.unwrap_or_default(),
        options,
    })
}

/// Infers rate and delay of the link. The rate is the median pace of ACKs, because most ACKs are
/// clocked by the bottleneck. The delay is half of the smallest round-trip time without the
/// transmission times.
fn find_link(
    observed: &Observed,
    transfer: &Transfer,
    constant_rate: bool,
) -> Result<Link, NotInferred> {
    let options = TIMESTAMPS_LEN * u32::from(transfer.options.timestamps);
    let overhead = BARE_ACK + options;
    let payload = transfer.mss.saturating_sub(options).max(1);
    let paces = rates::paces(&observed.delivered, i64::from(payload), i64::from(overhead));
    let mut link = match constant_rate {
        true => Link::new(&[(0.0, rates::median_rate(&paces)?)], overhead),
        false => Link::new(&rates::find_rates(&paces)?, overhead),
    };
    let mut first = HashMap::new();
    for packet in &observed.sent {
        first.entry(packet.end).or_insert(packet.t);
    }
    let rtt = |acked: &Acked| {
        let sent_at = *first.get(&acked.ack)?;
        let bytes = overhead + BARE_ACK + if acked.ack > 1 { payload } else { SYN_OPTIONS_LEN };
        let [begin, end] = [sent_at, acked.t].map(|t| link.transmission(bytes, t));
        Some(acked.t - sent_at - begin.min(end))
    };
    let min_rtt = observed.new_acks.iter().filter_map(rtt).min_by(f64::total_cmp);
    link.delay = Duration::from_secs_f64(min_rtt.ok_or(NotInferred::NoRoundTrip)? / 2.0);
    // The sender observes a change of the rate one delay later, when an ACK arrives.
    let soonest = Instant::START + link.delay;
    for change in &mut link.changes {
        change.at = Instant::START + change.at.since(soonest);
    }
    Ok(link)
}

/// The numbers ([`Sent::number`]) of single lost packets, and the outages. `undecided` are frames
/// that may have been lost, as in [`queue::find_queue`].
///
/// An outage is at least [`MIN_OUTAGE_LOSSES`] consecutive losses, or the loss of a packet and of
/// its retransmission. It ends halfway between the transmission of the last packet that was lost
/// and that of the first packet that certainly arrived.
fn find_losses(sent: &[Sent], link: &Link, undecided: &HashSet<i64>) -> (Vec<u32>, Vec<Interval>) {
    let (mut drops, mut outages) = (Vec::new(), Vec::new());
    let (mut run, mut seen) = (Vec::new(), HashSet::new());
    let leaves: Vec<f64> = link.departures(sent).into_iter().map(Instant::secs_f64).collect();
    for (index, packet) in sent.iter().enumerate() {
        if packet.lost {
            run.push(index);
        } else if !run.is_empty() && !undecided.contains(&packet.frame) {
            let lost_again = run.iter().any(|one| seen.contains(&sent[*one].seq));
            seen.extend(run.iter().map(|one| sent[*one].seq));
            if run.len() >= MIN_OUTAGE_LOSSES || lost_again {
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

/// The largest time between the end of an outage and the first packet that arrived after it, in
/// seconds: [`find_losses`] ends it halfway between that packet and the last one lost.
fn outage_error(sent: &[Sent], link: &Link, outages: &[Interval]) -> f64 {
    let leaves = link.departures(sent);
    let arrived: Vec<f64> = sent
        .iter()
        .zip(leaves)
        .filter(|(packet, _)| !packet.lost)
        .map(|(_, leaves)| leaves.secs_f64())
        .collect();
    let errors = outages.iter().filter_map(|outage| {
        let until = (outage.at + outage.length).secs_f64();
        arrived.iter().map(|at| at - until).find(|later| *later >= 0.0)
    });
    errors.fold(0.0, f64::max)
}

/// An outage of ACKs, cut short at the end of the earliest simultaneous outage of data.
fn within(span: Interval, outages: &[Interval]) -> Interval {
    let end = |span: &Interval| span.at + span.length;
    let met = outages.iter().filter(|one| one.at < end(&span) && span.at < end(one));
    let cut = met.map(end).min().unwrap_or(Instant::NEVER).min(end(&span));
    Interval { length: cut.since(span.at), ..span }
}
