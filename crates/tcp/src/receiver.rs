//! The receiving side: reassembly, delayed acknowledgments, SACK and D-SACK blocks, timestamp
//! echoes (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2, RFC 2018, 2883, 7323).

use alloc::vec::Vec;
use core::ops::Range;

use rtolab_time::Instant;

use crate::config::{EchoRule, ReceiverConfig};
use crate::segment::{Flags, Segment};
use crate::seq::Seq;

/// When the next acknowledgment leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckDue {
    /// Nothing to acknowledge.
    #[default]
    No,
    /// At once.
    Now,
    /// At this instant, unless something takes it along before.
    At(Instant),
}

/// What a receiver keeps of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    echo: EchoRule,
    /// RCV.NXT: the next sequence number expected.
    nxt: Seq,
    /// Behind the last byte that the application has read.
    read: Seq,
    /// Right edge of the largest window offered.
    edge: Seq,
    /// Ranges above RCV.NXT, those reported latest first (RFC 2018 section 4).
    queued: Vec<Range<Seq>>,
    /// A range received twice and not yet reported (RFC 2883 section 4).
    duplicate: Option<Range<Seq>>,
    /// Where the peer's FIN lies, once seen.
    fin: Option<Seq>,
    due: AckDue,
    /// In-order segments since the last acknowledgment.
    unacknowledged: u32,
    /// A segment with RXT is still to be answered.
    rxt: bool,
    /// Last.ACK.sent of RFC 7323.
    last_ack: Seq,
    /// TS.Recent, once there was a timestamp.
    recent: Option<u32>,
}

impl Receiver {
    /// Expects the peer's SYN first.
    pub const fn new(config: ReceiverConfig, echo: EchoRule) -> Self {
        Self {
            config,
            echo,
            nxt: Seq::FIRST,
            read: Seq::FIRST,
            edge: Seq::FIRST,
            queued: Vec::new(),
            duplicate: None,
            fin: None,
            due: AckDue::No,
            unacknowledged: 0,
            rxt: false,
            last_ack: Seq::FIRST,
            recent: None,
        }
    }

    /// RCV.NXT.
    pub const fn nxt(&self) -> Seq {
        self.nxt
    }

    /// Has the peer's FIN arrived in order?
    pub fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Bytes that the application may read.
    pub fn available(&self) -> u64 {
        let end = match self.fin {
            Some(fin) if self.nxt > fin => fin,
            _ => self.nxt,
        };
        end.since(self.read)
    }

    /// The application took so many bytes.
    pub fn read(&mut self, bytes: u64) {
        let bytes = bytes.min(self.available());
        self.read = Seq::new(self.read.value() + bytes);
    }

    /// Does the receiver hold all of this range?
    pub fn holds(&self, range: &Range<Seq>) -> bool {
        range.end <= self.nxt
            || self
                .queued
                .iter()
                .any(|block| block.start <= range.start.max(self.nxt) && range.end <= block.end)
    }

    /// When the next acknowledgment is due.
    pub const fn ack_due(&self) -> AckDue {
        self.due
    }

    /// An acknowledgment is due at once, whatever arrived.
    pub fn ack_now(&mut self) {
        self.due = AckDue::Now;
    }

    /// Takes note of the segment's RXT flag: it is answered at once, whatever else becomes of the
    /// segment.
    pub fn note_rxt(&mut self, segment: &Segment) {
        let marked = segment.flags.has(Flags::RXT) && !segment.flags.has(Flags::SYN);
        if self.config.rxt_echo && marked && segment.sequence_length() > 0 {
            self.rxt = true;
            self.due = AckDue::Now;
        }
    }

    /// Does a pure acknowledgment with RXT have to leave before anything that would take the
    /// acknowledgment along?
    pub const fn owes_rxt(&self) -> bool {
        self.rxt
    }

    /// The window to offer in bytes: what the buffer has room for, and never less than was
    /// offered before (RFC 9293 section 3.8.6: a window is not shrunk). An opening smaller than
    /// half the buffer, or than a segment of `mss` bytes, is not offered (section 3.8.6.2.2).
    pub fn window(&self, mss: u32) -> u32 {
        let unread = self.nxt.since(self.read) as u32;
        let room = self.config.buffer.saturating_sub(unread);
        let offered = self.edge.since(self.nxt) as u32;
        let worth = mss.min(self.config.buffer / 2);
        if room >= offered.saturating_add(worth) { room } else { offered }
    }

    /// Did reading open a window that had been too small for a segment of `mss` bytes? The sender
    /// waits for it, and nothing that it sends would bring the news.
    pub fn reopens(&self, mss: u32) -> bool {
        let offered = self.edge.since(self.nxt) as u32;
        offered < mss.min(self.config.buffer / 2) && self.window(mss) > offered
    }

    /// The peer's SYN arrived.
    pub fn synchronise(&mut self, syn: &Segment) {
        self.nxt = syn.seq + 1;
        self.read = self.nxt;
        self.edge = self.nxt + self.config.buffer;
        self.last_ack = syn.seq;
        self.recent = syn.timestamps().map(|timestamps| timestamps.value);
    }

    /// TS.Recent, to be echoed.
    pub const fn recent(&self) -> Option<u32> {
        self.recent
    }

    /// RFC 7323 section 5.3 (R1): is the segment's timestamp older than the last one taken?
    pub fn is_old(&self, segment: &Segment) -> bool {
        match (self.recent, segment.timestamps()) {
            (Some(recent), Some(timestamps)) => (timestamps.value.wrapping_sub(recent) as i32) < 0,
            _ => false,
        }
    }

    /// RFC 9293 section 3.10.7.4, first check: does any of the segment lie in the window?
    pub fn accepts(&self, segment: &Segment) -> bool {
        let edge = self.edge.max(self.nxt);
        match segment.sequence_length() {
            0 => segment.seq >= self.nxt && (segment.seq < edge || segment.seq == self.nxt),
            _ => segment.seq < edge && segment.end() > self.nxt,
        }
    }

    /// Takes the segment's timestamp for the next echo if the rule says so; to be asked before any
    /// acknowledgment of it is made (RFC 7323 section 4.3).
    pub fn note_timestamp(&mut self, segment: &Segment) {
        let Some(timestamps) = segment.timestamps() else { return };
        let value = timestamps.value;
        let recent = self.recent.unwrap_or(value);
        let newer = (value.wrapping_sub(recent) as i32) >= 0;
        let (start, end, last) = (segment.seq, segment.end(), self.last_ack);
        let duplicate = segment.sequence_length() > 0 && end <= self.nxt;
        let take = match self.echo {
            EchoRule::Rfc1323 => start <= last && last < end,
            EchoRule::Rfc7323 => newer && start <= last && !duplicate,
            EchoRule::Linux => newer && start <= last && (!duplicate || end == last),
            EchoRule::Bsd => newer && start <= last && last <= end,
            EchoRule::Ns2bis => newer && start <= last,
            EchoRule::EchoAll => true,
        };
        if take {
            self.recent = Some(value);
        }
    }

    /// Takes payload and FIN of an acceptable or duplicate segment and decides when to
    /// acknowledge.
    pub fn take(&mut self, segment: &Segment, at: Instant) {
        let range = segment.seq..segment.end();
        if range.is_empty() {
            return;
        }
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(range.end - 1);
        }
        // The common case: the next one expected, and nothing waits for it.
        if range.start == self.nxt && self.queued.is_empty() && range.end <= self.edge {
            self.nxt = range.end;
            self.schedule(segment, at);
            return;
        }
        self.due = AckDue::Now;
        self.duplicate = self.duplicate_part(&range);
        let range = range.start.max(self.nxt)..range.end.min(self.edge);
        if !range.is_empty() {
            self.queue(range);
        }
    }

    /// RFC 5681 section 4.2: every second segment at once, one alone after the delay.
    fn schedule(&mut self, segment: &Segment, at: Instant) {
        self.unacknowledged += 1;
        let now = self.unacknowledged >= self.config.ack_every || segment.flags.has(Flags::FIN);
        self.due = match self.due {
            _ if now => AckDue::Now,
            AckDue::No => AckDue::At(at + self.config.delayed_ack),
            due => due,
        };
    }

    /// The first part of `range` that was received before.
    fn duplicate_part(&self, range: &Range<Seq>) -> Option<Range<Seq>> {
        if range.start < self.nxt {
            return Some(range.start..range.end.min(self.nxt));
        }
        let overlap = |block: &Range<Seq>| range.start.max(block.start)..range.end.min(block.end);
        self.queued
            .iter()
            .map(overlap)
            .filter(|part| !part.is_empty())
            .min_by_key(|part| part.start)
    }

    /// Merges `range` into what is queued and moves RCV.NXT on.
    fn queue(&mut self, mut range: Range<Seq>) {
        self.queued.retain(|block| {
            let touches = block.start <= range.end && range.start <= block.end;
            if touches {
                range = range.start.min(block.start)..range.end.max(block.end);
            }
            !touches
        });
        if range.start <= self.nxt {
            self.nxt = range.end;
        } else {
            self.queued.insert(0, range);
        }
    }

    /// An acknowledgment leaves in `segment`, whose acknowledgment number, window and timestamps
    /// are set: adds SACK blocks if the peer wants them, and takes note.
    pub fn acknowledge(&mut self, segment: &mut Segment, sack: SackUse) {
        self.edge = self.edge.max(self.nxt + segment.window);
        self.last_ack = self.nxt;
        self.due = AckDue::No;
        self.unacknowledged = 0;
        self.rxt = false;
        let duplicate = self.duplicate.take();
        if sack == SackUse::None {
            return;
        }
        let mut enclosing = None;
        if let (SackUse::WithDuplicates, Some(part)) = (sack, duplicate) {
            let encloses = |block: &&Range<Seq>| block.start <= part.start && part.end <= block.end;
            enclosing = self.queued.iter().find(encloses);
            segment.push_sack(part.clone());
        }
        let others = self.queued.iter().filter(|block| Some(*block) != enclosing);
        for block in enclosing.into_iter().chain(others) {
            segment.push_sack(block.clone());
        }
    }

    /// The delayed acknowledgment's timer fired.
    pub fn on_timer(&mut self, at: Instant) {
        if matches!(self.due, AckDue::At(deadline) if deadline <= at) {
            self.due = AckDue::Now;
        }
    }
}

/// Which SACK information the peer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackUse {
    /// None.
    None,
    /// SACK blocks.
    Blocks,
    /// SACK blocks and duplicate ranges.
    WithDuplicates,
}

#[cfg(test)]
mod tests;
