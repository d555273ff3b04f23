//! Stalls and lost ACKs, inferred from late ACKs.

#[cfg(test)]
mod tests;

use super::link::{ACKS, Acked, BARE_ACK, DATA, Link, Seen, window};
use super::statistics::{first_minimum, mean, median};

/// The maximum number of stalls inferred per connection.
const MAX_STALLS: usize = 32;
/// The lateness in seconds that exceeds that of a delayed ACK.
pub(crate) const LATE: f64 = 0.25;
/// Explanations count as equally good up to this multiple of the smallest error.
const NEARLY: f64 = 1.1;
/// The multiple of the median advance from which an ACK shows that earlier ACKs were lost.
const JUMP: f64 = 4.0;

/// Adds the stalls (of data, of ACKs, or of both) and the losses of ACKs that explain every ACK
/// later than [`LATE`].
///
/// `ack_lost` are the times, in seconds, of timeouts that lost ACKs caused. Lost ACKs are visible
/// only if the sender then stops: otherwise later ACKs acknowledge the same data in time.
pub(crate) fn find_stalls(mut link: Link, seen: Seen<'_>, ack_lost: &[f64]) -> Link {
    for _ in 0..MAX_STALLS {
        let expected = expected(&link.predicted_acks(seen.sent), seen.new_acks);
        let mut late = seen.new_acks.iter().zip(&expected);
        let Some(index) = late.position(|(one, at)| one.t - at > LATE) else { break };
        let after = seen.new_acks[index].t;
        let before = index.checked_sub(1).map_or(seen.sent[0].t, |at| seen.new_acks[at].t);
        let in_gap = ack_lost.iter().any(|&t| before < t && t < after);
        let gap = Gap {
            from: before.min(expected[index]),
            to: expected[index] - 1e-6,
            index,
            acks_lost: jumps(seen.new_acks, index) || in_gap,
        };
        match explain(&link, seen, &gap) {
            Some(found) => link = found,
            None => break,
        }
    }
    link
}

/// Does this ACK advance so far that earlier ones must have been lost?
fn jumps(answers: &[Acked], index: usize) -> bool {
    let steps: Vec<i64> = answers.windows(2).map(|pair| pair[1].ack - pair[0].ack).collect();
    index > 0 && steps[index - 1] as f64 > JUMP * median(steps)
}

/// A gap in the ACKs.
struct Gap {
    /// The range in seconds in which the first missing ACK was due.
    from: f64,
    to: f64,
    /// The index of the ACK that ends it.
    index: usize,
    /// Were ACKs lost in it?
    acks_lost: bool,
}

/// The link with the event that explains the gap best; `None` if no event reduces the error.
fn explain(link: &Link, seen: Seen<'_>, gap: &Gap) -> Option<Link> {
    let after = seen.new_acks[gap.index].t;
    let delay = link.delay.secs_f64();
    let back = delay + link.transmission(BARE_ACK, 0.0);
    let mut candidates = Vec::with_capacity(12);
    for start in [gap.to, f64::midpoint(gap.from, gap.to), gap.from] {
        let here = window((start - back).max(0.0), after - back);
        let ahead = after - back - delay - (gap.to - start);
        let ahead = window((start - back - delay).max(0.0), ahead);
        if gap.acks_lost {
            let mut silent = link.clone();
            silent.outages[ACKS].push(here);
            candidates.push(silent);
        }
        let stalls = [(here, &[DATA, ACKS][..]), (ahead, &[DATA]), (here, &[ACKS])];
        candidates.extend(stalls.map(|(span, directions)| link.stalled(span, directions)));
    }
    let errors: Vec<f64> = candidates.iter().map(|one| error(one, seen, gap.index)).collect();
    let good = errors[first_minimum(&errors)] * NEARLY + link.transmission(BARE_ACK, 0.0);
    let best = errors.iter().position(|error| *error <= good)?;
    (errors[best] < error(link, seen, gap.index)).then(|| candidates.swap_remove(best))
}

/// The mean error of the expected times of this ACK and those soon after, in seconds.
fn error(link: &Link, seen: Seen<'_>, index: usize) -> f64 {
    let expected = expected(&link.predicted_acks(seen.sent), seen.new_acks);
    let until = seen.new_acks[index].t + 4.0 * link.delay.secs_f64() + LATE;
    let pairs = seen.new_acks.iter().zip(expected).skip(index);
    mean(pairs.filter(|(one, _)| one.t <= until).map(|(one, at)| (one.t - at).abs()))
}

/// The expected time of each ACK. An ACK of more data than the link delivers counts as in time.
pub(crate) fn expected(predicted: &[Acked], answers: &[Acked]) -> Vec<f64> {
    let mut predicted = predicted.iter().peekable();
    let expect = |answer: &Acked| {
        while predicted.next_if(|one| one.ack < answer.ack).is_some() {}
        predicted.peek().map_or(answer.t, |one| one.t)
    };
    answers.iter().map(expect).collect()
}
