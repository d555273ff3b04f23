//! The link's rate and its changes, inferred from the pace of ACKs.

#[cfg(test)]
mod tests;

use rtolab_time::Instant;

use super::error::NotInferred;
use super::link::{Acked, Link, Seen};
use super::stalls::{LATE, expected};
use super::statistics::{first_minimum, mean};

/// The minimum number of ACKs that establish a rate.
const MIN_SAMPLES: usize = 12;
/// The maximum number of changes. With more, the rate counts as constant.
const MAX_CHANGES: usize = 8;
/// The smallest ratio of successive rates.
const MIN_RATIO: f64 = 1.5;
/// The ratio of neighbouring candidate rates.
const STEP_RATIO: f64 = 1.1;
/// The smallest improvement of the fit that justifies a change, as a part of the total error.
const MIN_GAIN: f64 = 0.05;
/// The weight of the error of early ACKs. It is large because ACKs may be delayed, but are never
/// early.
const TOO_SOON: f64 = 4.0;
/// The largest initial error of a change: the transmission time of this number of packets of this
/// size in bytes.
const FEW: f64 = 4.0;
const FULL: u32 = 1500;
/// Steps in either direction, and rounds, of the search for a change; each round is finer.
const STEPS: i32 = 8;
const ROUNDS: u32 = 3;

/// A pure ACK, or an ACK of new data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ack {
    /// In seconds.
    pub(crate) t: f64,
    /// The acknowledgment number, or, in the result of [`delivered`], the bytes that had passed the
    /// link.
    pub(crate) ack: i64,
    /// Was the acknowledged data sent after the previous ACK arrived? If so, the time between the
    /// two ACKs does not show the link's rate.
    pub(crate) idle: bool,
}

/// The pace between two ACKs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pace {
    /// When it begins, in seconds.
    at: f64,
    /// In bit/s, headers included.
    rate: f64,
    /// Bytes acknowledged.
    weight: i64,
}

/// The bytes that had passed the link at each ACK, duplicate ACKs included.
///
/// Each packet above a gap causes one duplicate ACK. The ACK of the packet that fills the gap
/// counts as one packet, however many bytes it acknowledges. `payload` is the most frequent payload
/// in bytes.
pub(crate) fn delivered(acks: &[Ack], payload: i64) -> Vec<Ack> {
    let (mut total, mut reported, mut highest, mut after_duplicate) = (0, 0, 0, false);
    let pass = |ack: &Ack| {
        let acked = ack.ack - highest;
        if acked <= 0 {
            after_duplicate = true;
            reported += payload;
            total += payload;
        } else {
            if !after_duplicate && acked <= 2 * payload {
                reported = 0;
            }
            let fresh = (acked - reported).max(acked.min(payload));
            reported -= acked - fresh;
            total += fresh;
            (highest, after_duplicate) = (ack.ack, false);
        }
        Ack { ack: total, ..*ack }
    };
    acks.iter().map(pass).collect()
}

/// The paces while the link was busy; all paces if there are fewer than [`MIN_SAMPLES`] of these.
pub(crate) fn paces(passed: &[Ack], payload: i64, overhead: i64) -> Vec<Pace> {
    let pairs = passed.windows(2).map(|pair| (pair[0], pair[1]));
    let advancing = pairs.filter(|(before, after)| before.ack > 1 && after.t > before.t);
    let pace = |(before, after): (Ack, Ack)| {
        let weight = after.ack - before.ack;
        let packets = (weight + payload - 1).div_euclid(payload);
        let rate = (8 * (weight + packets * overhead)) as f64 / (after.t - before.t);
        (Pace { at: before.t, rate, weight }, after.idle)
    };
    let all: Vec<(Pace, bool)> = advancing.map(pace).collect();
    let is_enough = all.iter().filter(|(_, idle)| !idle).count() >= MIN_SAMPLES;
    all.into_iter().filter(|(_, idle)| !(is_enough && *idle)).map(|(pace, _)| pace).collect()
}

/// The median rate in bit/s, weighted by acknowledged bytes.
pub(crate) fn median_rate(paces: &[Pace]) -> Result<f64, NotInferred> {
    let mut half = paces.iter().map(|one| one.weight).sum::<i64>() as f64 / 2.0;
    let mut ordered: Vec<&Pace> = paces.iter().collect();
    ordered.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let found = ordered.into_iter().find(|one| {
        half -= one.weight as f64;
        half <= 0.0
    });
    found.map(|one| one.rate).ok_or(NotInferred::NoAdvance)
}

/// The rates in bit/s that explain the paces, with their first times in seconds. There are at most
/// [`MAX_CHANGES`] changes, each by a factor of at least [`MIN_RATIO`], and each part has at least
/// [`MIN_SAMPLES`] ACKs. With more changes the rate counts as constant.
pub(crate) fn find_rates(paces: &[Pace]) -> Result<Vec<(f64, f64)>, NotInferred> {
    let mut parts = parts(paces)?;
    if parts.len() > MAX_CHANGES + 1 {
        parts = vec![paces.to_vec()];
    }
    parts
        .iter()
        .map(|part| Ok((part.first().map_or(0.0, |one| one.at), median_rate(part)?)))
        .collect()
}

/// Divides the paces where a change of the rate costs less than the error without it, and joins
/// parts of similar rates.
fn parts(paces: &[Pace]) -> Result<Vec<Vec<Pace>>, NotInferred> {
    if paces.len() < 2 * MIN_SAMPLES {
        return Ok(vec![paces.to_vec()]);
    }
    let mut weights: Vec<i64> = paces.iter().map(|one| one.weight).collect();
    weights.sort_unstable();
    let min =
        weights[weights.len() - MIN_SAMPLES..].iter().sum::<i64>() as f64 * libm::log(MIN_RATIO);
    let rate = median_rate(paces)?;
    let error = |one: &Pace| libm::log(one.rate / rate).abs() * one.weight as f64;
    let price = min + MIN_GAIN * paces.iter().map(error).sum::<f64>();
    let cuts = [vec![0], cuts(paces, price), vec![paces.len()]].concat();
    let mut joined: Vec<Vec<Pace>> = Vec::new();
    for cut in cuts.windows(2).filter(|cut| cut[1] - cut[0] >= MIN_SAMPLES) {
        let part = &paces[cut[0]..cut[1]];
        let rate = median_rate(part)?;
        match joined.last_mut() {
            Some(last) if libm::log(rate / median_rate(last)?).abs() < libm::log(MIN_RATIO) => {
                last.extend(part);
            }
            _ => joined.push(part.to_vec()),
        }
    }
    Ok(if joined.is_empty() { vec![paces.to_vec()] } else { joined })
}

/// The indices before which the rate changes, if a change costs `price`: the cheapest path through
/// a trellis of rates [`STEP_RATIO`] apart (Viterbi). A pace costs its bytes times its logarithmic
/// distance.
fn cuts(paces: &[Pace], price: f64) -> Vec<usize> {
    let logs: Vec<f64> = paces.iter().map(|one| libm::log(one.rate)).collect();
    let min = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let max = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let count = ((max - min) / libm::log(STEP_RATIO)) as usize + 1;
    let mut costs = vec![0.0; count];
    let mut came: Vec<Vec<u16>> = Vec::with_capacity(paces.len());
    for (one, log) in paces.iter().zip(&logs) {
        let best = first_minimum(&costs);
        let limit = costs[best] + price;
        let from = |at: usize| if costs[at] <= limit { at } else { best } as u16;
        came.push((0..count).map(from).collect());
        for (at, cost) in costs.iter_mut().enumerate() {
            let level = min + at as f64 * libm::log(STEP_RATIO);
            *cost = cost.min(limit) + (level - log).abs() * one.weight as f64;
        }
    }
    let mut at = first_minimum(&costs);
    let mut cuts = Vec::new();
    for index in (1..paces.len()).rev() {
        let before = usize::from(came[index][at]);
        if before != at {
            cuts.push(index);
        }
        at = before;
    }
    cuts.reverse();
    cuts
}

/// Moves each change of the rate to the time that explains the ACKs best.
///
/// If the sender waits for ACKs, the pace of ACKs shows a change too early or too late. The error
/// is at most four delays, the delay of an ACK and [`FEW`] packets.
pub(crate) fn settle_changes(mut link: Link, seen: Seen<'_>) -> Link {
    for index in 0..link.changes.len() {
        let at = link.change_at(index);
        let mut range = 4.0 * link.delay.secs_f64() + LATE + FEW * link.transmission(FULL, at);
        for _ in 0..ROUNDS {
            let since = link.change_at(index) - range;
            let mut moved = moved(&link, index, range);
            let mean_error: Vec<f64> =
                moved.iter().map(|one| mean_error(one, seen, index, since)).collect();
            link = moved.swap_remove(first_minimum(&mean_error));
            range /= f64::from(STEPS);
        }
    }
    link
}

/// The link, and variants with the change moved between the neighbouring changes.
fn moved(link: &Link, index: usize, range: f64) -> Vec<Link> {
    let start = if index > 0 { link.change_at(index - 1) } else { 0.0 };
    let (at, end) = (link.change_at(index), link.change_at(index + 1));
    let steps = (-STEPS..=STEPS).map(|step| at + range * f64::from(step) / f64::from(STEPS));
    let others = steps.filter(|at| start < *at && *at < end).map(|at| {
        let mut moved = link.clone();
        moved.changes[index].at = Instant::from_secs_f64(at);
        moved
    });
    std::iter::once(link.clone()).chain(others).collect()
}

/// The mean error of the expected ACK times from `since` to the next change, in seconds.
fn mean_error(link: &Link, seen: Seen<'_>, index: usize, since: f64) -> f64 {
    let end = link.change_at(index + 1);
    let expected = expected(&link.predicted_acks(seen.sent), seen.new_acks);
    let pairs = seen.new_acks.iter().zip(expected);
    let near = pairs.filter(|(one, _)| since <= one.t && one.t <= end);
    mean(near.map(|(Acked { t, .. }, at)| if *t > at { t - at } else { TOO_SOON * (at - t) }))
}
