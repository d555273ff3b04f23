//! What an acknowledgment says of ranges that were sent more than once: one function a kind of
//! evidence.
//!
//! The reasoning takes the path to keep the order of packets, as almost all do; where the receiver
//! reports duplicates or echoes timestamps, it need not, and that evidence is stronger.

use rtolab_tcp::{AckFacts, Flight, Segment};
use rtolab_time::{Duration, Instant};

use crate::answers;
use crate::arrivals::Arrival;
use crate::evidence::{Bound, Evidence};
use crate::ledger::{Cover, Echo, Ledger, Original, Resent};
use crate::order;
use crate::rtt::RoundTrips;
use crate::trigger::DUPLICATE_THRESHOLD;
use crate::vantage::Vantage;

/// An acknowledgment that comes within this part of the smallest round trip is too soon to answer,
/// in percent.
pub(crate) const TOO_SOON: u64 = 75;

/// A receiver may keep back an acknowledgment for about so long.
pub(crate) const DELAYED_ACK: Duration = Duration::from_millis(250);

/// No acknowledgment may be kept back longer (RFC 9293 section 3.8.6.3).
const LONGEST_DELAYED_ACK: Duration = Duration::from_millis(500);

/// An acknowledgment in its surroundings, just after the flight took it.
pub(crate) struct Context<'a> {
    pub segment: &'a Segment,
    pub facts: &'a AckFacts,
    pub frame: u64,
    pub flight: &'a Flight,
    pub trips: &'a RoundTrips,
    /// Duplicate acknowledgments before it, since the last new one.
    pub duplicates: u32,
    /// When an acknowledgment last told of a gap.
    pub gap: Option<Instant>,
}

impl Context<'_> {
    fn reports(&self, resent: &Resent) -> bool {
        let skip = usize::from(self.facts.dsack.is_some());
        let mut blocks = self.segment.sack_blocks().skip(skip);
        resent.end <= self.facts.ack
            || blocks.any(|block| block.start <= resent.start && resent.end <= block.end)
    }

    /// When the segment at the acknowledgment number was sent first, if anything is outstanding.
    fn next_sent(&self) -> Option<Instant> {
        self.flight.head().map(|head| head.first_sent)
    }
}

/// The range was sent again though it was known to have arrived.
pub(crate) fn on_known(resent: &mut Resent) {
    let last = resent.copies.len() - 1;
    let frame = resent.copies[last].again.map_or(0, |again| again.frame);
    resent.note(Evidence::AlreadyAcknowledged, Bound::AtMost(last - 1), frame);
}

/// The range is sent again: RFC 8985 on what is known to have arrived meanwhile. Without SACK nothing
/// is known of what is behind the first gap.
pub(crate) fn on_resent(resent: &mut Resent, newest: (Instant, u64), reordering: Duration) {
    let (sent, frame) = newest;
    let before = &resent.copies[..resent.copies.len() - 1];
    let lost = before.iter().take_while(|copy| copy.at + reordering < sent).count();
    if lost > 0 && !resent.is_syn && before[0].at > Instant::START {
        resent.note(Evidence::OvertakenCopies, Bound::AtLeast(lost), frame);
    }
}

/// An acknowledgment came.
pub(crate) fn on_ack(ledger: &mut Ledger, context: &Context<'_>) {
    let facts = context.facts;
    if facts.dsack.is_some() {
        count_duplicates(ledger, context);
    }
    if facts.dsack.is_some() || !facts.is_new() {
        ledger.duplicate_seen(facts.at);
    }
    answers::count(ledger, context);
    let waits = ledger.waits();
    let mut copy = None;
    for resent in ledger.iter_mut().filter(|resent| waits && resent.cover.is_none()) {
        if context.reports(resent) {
            cover(resent, context);
            copy = copy.max(delivered_copy(resent));
        }
    }
    order::on_ack(ledger, context);
    let delivered = Delivered { copy, any: copy.max(delivered_original(context)) };
    if let Some(sent) = delivered.any {
        ledger.arrived(sent, context.frame);
    }
    if !waits {
        return;
    }
    answers::echoes(ledger, context, delivered);
    overtaken(ledger, context, delivered);
    if facts.is_new() {
        duplicates_to_come(ledger, context);
        in_order(ledger, context);
    }
    ledger.look_over();
}

/// The first acknowledgment of the range.
fn cover(resent: &mut Resent, context: &Context<'_>) {
    let facts = context.facts;
    let again = resent.copies.get(1).map_or(facts.at, |copy| copy.at);
    let duplicate = facts.dsack.is_some_and(|range| resent.spans(range.start));
    let all = context.next_sent().is_none_or(|sent| sent >= again);
    // What had been reported before is no news.
    let news = facts.advanced.saturating_sub(facts.sacked_before);
    let jumps = news > 2 * resent.end.since(resent.start);
    let (at, frame) = (facts.at, context.frame);
    resent.cover = Some(Cover { at, frame, duplicate, all, jumps, echo: Echo::Awaited });
    // Where a queue has grown, duplicates take as long as what they are of.
    let waited = facts.at.since(again.min(facts.at));
    resent.due = facts.at + context.trips.patience().max(waited * 2);
    if resent.end > facts.ack {
        return;
    }
    echoed(resent, context);
    answered_duplicate(resent, context);
    if !duplicate {
        gap_filled(resent, context);
    }
    resent.next = Some(facts.ack);
    resent.watched = true;
}

/// RFC 3522: what timestamp does it echo? Of the range at SND.UNA it is certain that its arrival would
/// have changed the echo.
fn echoed(resent: &mut Resent, context: &Context<'_>) {
    let Some(echo) = context.facts.echo else { return };
    if resent.start > context.facts.una_before {
        echoed_alone(resent, echo, context.frame);
        return;
    }
    let stamps = resent.copies.iter().enumerate().skip(1);
    let stamps = stamps.filter_map(|(index, copy)| Some((index, copy.timestamp?)));
    let (mut older, mut own) = (None, None);
    for (index, stamp) in stamps {
        if (echo.wrapping_sub(stamp) as i32) < 0 {
            older = older.or(Some(index));
        } else if echo == stamp {
            own = own.or(Some(index));
        }
    }
    let first = resent.copies[0].timestamp;
    if let Some(index) = older {
        resent.note(Evidence::OlderTimestamp, Bound::AtMost(index - 1), context.frame);
    }
    if let (Some(index), true) = (own, first != Some(echo)) {
        resent.note(Evidence::OwnTimestamp, Bound::AtLeast(index), context.frame);
    }
}

/// Of a range further on, its arrival may share an acknowledgment with what came just before, which is
/// then the one echoed (RFC 7323 section 4.3). Not so a copy that was sent long after what is echoed.
fn echoed_alone(resent: &mut Resent, echo: u32, frame: u64) {
    let (original, again) = (resent.copies[0], resent.copies[1]);
    let is_before = |stamp: u32| (echo.wrapping_sub(stamp) as i32) < 0;
    let of_before = original.timestamp.is_some_and(|stamp| stamp == echo || is_before(stamp));
    let late = again.at.since(original.at) > LONGEST_DELAYED_ACK;
    if of_before && late && again.timestamp.is_some_and(is_before) {
        resent.note(Evidence::OlderTimestamp, Bound::AtMost(0), frame);
    }
}

/// It answers a duplicate, and acknowledges what was sent once behind the original, too. Had the
/// original been lost, there would have been duplicate acknowledgments.
fn answered_duplicate(resent: &mut Resent, context: &Context<'_>) {
    let Some(newest) = context.facts.newest_acked else { return };
    let again = resent.copies.get(1).map_or(Instant::START, |copy| copy.at);
    let behind = newest.seq >= resent.end && !newest.was_retransmitted();
    let silent = context.gap.is_none_or(|gap| gap < resent.copies[0].at);
    if behind && newest.first_sent < again && silent && !newest.is_sacked() {
        let evidence = match context.facts.dsack {
            Some(_) => Evidence::AnsweredDuplicate,
            None => Evidence::NoGapReported,
        };
        resent.note(evidence, Bound::AtMost(0), context.frame);
    }
}

/// Duplicates reported a gap here, and it acknowledges what came behind the gap, too.
fn gap_filled(resent: &mut Resent, context: &Context<'_>) {
    let at_gap = resent.start <= context.facts.una_before;
    let Some(newest) = context.facts.newest_acked else { return };
    let behind = newest.seq >= resent.end && !newest.was_retransmitted();
    let again = resent.copies.get(1).map_or(Instant::START, |copy| copy.at);
    if at_gap
        && behind
        && newest.first_sent < again
        && context.duplicates >= DUPLICATE_THRESHOLD
        && context.facts.advanced > u64::from(newest.len) * 2
    {
        resent.note(Evidence::GapFilled, Bound::AtLeast(1), context.frame);
    }
}

/// RFC 2883: k duplicates of n copies mean that at least one of the first n - k arrived.
fn count_duplicates(ledger: &mut Ledger, context: &Context<'_>) {
    let Some(range) = context.facts.dsack else { return };
    for resent in ledger.iter_mut().filter(|resent| resent.spans(range.start)) {
        resent.duplicates += 1;
        let retransmissions = resent.copies.len() - 1;
        let most = retransmissions.saturating_sub(resent.duplicates);
        resent.note(Evidence::DSack, Bound::AtMost(most), context.frame);
    }
}

/// When the newest segment was sent that was sent once and that this reports first.
pub(crate) fn delivered_original(context: &Context<'_>) -> Option<Instant> {
    let facts = context.facts;
    let newest = facts.newest_acked.filter(|sent| !sent.was_retransmitted());
    let newest = newest.map(|sent| sent.first_sent);
    let highest = facts.sacked_end.and_then(|end| context.flight.segment_at(end - 1));
    let highest = highest.filter(|sent| !sent.was_retransmitted()).map(|sent| sent.first_sent);
    newest.max(highest)
}

/// Packets may overtake others that were sent by so much before them.
pub(crate) fn reordering(trips: &RoundTrips) -> Duration {
    trips.least.map_or(Duration::from_millis(50), |least| least / 4)
}

/// When the copy of a range was sent that must have been the one to arrive.
pub(crate) fn delivered_copy(resent: &Resent) -> Option<Instant> {
    let (most, least) = resent.bounds();
    let last = resent.copies.len() - 1;
    (least == last && most.is_none_or(|most| most >= last)).then(|| resent.copies[last].at)
}

/// When the newest was sent of what an acknowledgment shows to have arrived.
#[derive(Clone, Copy)]
pub(crate) struct Delivered {
    /// Of retransmissions.
    pub copy: Option<Instant>,
    /// Of all.
    pub any: Option<Instant>,
}

/// RFC 8985: copies that were sent before something that arrived, and have not arrived, are lost.
fn overtaken(ledger: &mut Ledger, context: &Context<'_>, delivered: Delivered) {
    let reordering = reordering(context.trips);
    let now = context.facts.at;
    let sack = context.flight.uses_sack();
    for resent in ledger.iter_mut() {
        let told_now = resent.cover.is_some_and(|cover| cover.at == now);
        let sent = match told_now {
            false if resent.cover.is_some() => continue,
            // SACK would have told of an arrival before that of the other retransmission; without it
            // nothing is told of what is behind the first gap.
            false if sack || resent.start <= context.facts.ack => delivered.any,
            true if sack => delivered.copy,
            _ => continue,
        };
        let Some(sent) = sent else { continue };
        let lost = resent.copies.iter().take_while(|copy| copy.at + reordering < sent).count();
        let lost = lost.min(resent.copies.len() - 1);
        if lost > 0 {
            resent.note(Evidence::OvertakenCopies, Bound::AtLeast(lost), context.frame);
        }
    }
}

/// A copy known to be in vain leads to a duplicate acknowledgment. As long as none has come, copies
/// sent after it have not arrived either.
fn duplicates_to_come(ledger: &mut Ledger, context: &Context<'_>) {
    let facts = context.facts;
    if !ledger.iter().any(|resent| resent.cover.is_some_and(|cover| cover.at == facts.at)) {
        return;
    }
    let Some(first) = duplicate_to_come(ledger, context) else { return };
    for resent in ledger.iter_mut() {
        let covered = resent.cover.is_some_and(|cover| cover.at == facts.at);
        if !covered || resent.end > facts.ack || resent.has_older_timestamp() {
            continue;
        }
        let after = resent.copies.iter().skip(1).position(|copy| copy.at > first);
        if let Some(most) = after {
            resent.note(Evidence::DuplicatesToCome, Bound::AtMost(most), context.frame);
        }
    }
}

/// When the first of the copies left that are known to be in vain and that had not arrived, or that is
/// the newest to have arrived.
fn duplicate_to_come(ledger: &Ledger, context: &Context<'_>) -> Option<Instant> {
    let facts = context.facts;
    if let Some(range) = facts.dsack {
        let reported = ledger.iter().filter(|resent| resent.spans(range.start));
        return reported.filter_map(|resent| Some(resent.copies.last()?.at)).max();
    }
    let since = ledger.last_duplicate();
    let in_vain = |resent: &&Resent| match resent.cover {
        // Since the path goes on, nothing more is to come of it.
        Some(_) if resent.due <= facts.at => false,
        _ if resent.is_syn => false,
        // An echo says that none of its copies had come yet.
        Some(cover) if cover.at == facts.at => resent.has_older_timestamp(),
        Some(_) => {
            resent.original() == Original::Arrived || soonest(resent, context.trips) == Some(0)
        }
        None => false,
    };
    let copies = ledger.iter().filter(in_vain).flat_map(|resent| resent.copies.iter().skip(1));
    copies.map(|copy| copy.at).filter(|&at| since.is_none_or(|since| at > since)).min()
}

/// What earlier acknowledgments expected next was sent once, and arrives: so its original came after
/// that of what they acknowledged.
fn in_order(ledger: &mut Ledger, context: &Context<'_>) {
    let facts = context.facts;
    let oldest = facts.oldest_acked.filter(|sent| !sent.was_retransmitted());
    for resent in ledger.iter_mut().filter(|resent| resent.watched) {
        let Some(next) = resent.next.filter(|&next| next < facts.ack) else { continue };
        resent.watched = false;
        if let Some(oldest) = oldest.filter(|sent| sent.seq <= next) {
            resent.next = None;
            order(resent, oldest.first_sent, context.frame);
        }
    }
}

/// The next original was sent before some of the copies, and arrived after the range did: they did
/// not make the range arrive.
pub(crate) fn order(resent: &mut Resent, sent: Instant, frame: u64) {
    let later = resent.copies.iter().position(|copy| copy.at > sent);
    if let Some(copy @ 1..) = later {
        resent.note(Evidence::OriginalsInOrder, Bound::AtMost(copy - 1), frame);
    }
}

/// The first copy, if any, that was sent too shortly before the acknowledgment to be its cause; it
/// and later ones were not, so that the one before it or an earlier one arrived.
fn soonest(resent: &Resent, trips: &RoundTrips) -> Option<usize> {
    let (cover, least) = (resent.cover?, trips.least?);
    let too_soon = |at: Instant| cover.at.since(at) * 100 < least * TOO_SOON;
    resent.copies.iter().skip(1).position(|copy| copy.at <= cover.at && too_soon(copy.at))
}

/// Did the first acknowledgment come when an answer to a retransmission was due?
pub(crate) fn in_time(resent: &Resent, trips: &RoundTrips) -> bool {
    let (Some(cover), Some(least)) = (resent.cover, trips.least) else { return true };
    let most = trips.smoothed.map_or(least, |smoothed| smoothed * 3 / 4).max(least) * 2;
    let answers = |at: Instant| (least..=most).contains(&cover.at.since(at));
    resent.copies.iter().skip(1).any(|copy| answers(copy.at))
}

/// Nothing more is heard of it: what remains to be said.
pub(crate) fn at_end(resent: &mut Resent, trips: &RoundTrips, vantage: Vantage) {
    if vantage == Vantage::Receiver {
        resent.signs.clear();
        arrived(resent);
        return;
    }
    let frame = resent.cover.map_or(0, |cover| cover.frame);
    if let Some(most) = soonest(resent, trips) {
        resent.note(Evidence::AckTooSoon, Bound::AtMost(most), frame);
    }
}

/// The receiver's capture sees which copies arrive.
fn arrived(resent: &mut Resent) {
    let seen: Vec<(usize, u64, Arrival)> = resent
        .retransmissions()
        .map(|(index, _, again)| (index, again.frame, again.arrival))
        .collect();
    for (index, frame, arrival) in seen {
        match arrival {
            Arrival::Again => {
                resent.note(Evidence::BothCopiesSeen, Bound::AtMost(index - 1), frame);
            }
            Arrival::FillsHole => {
                resent.note(Evidence::FillsHole, Bound::AtLeast(index), frame);
            }
            Arrival::Acknowledged => {
                resent.note(Evidence::AlreadyAcknowledged, Bound::AtMost(index - 1), frame);
            }
            Arrival::New | Arrival::Reordered | Arrival::Earlier => {}
        }
    }
}
