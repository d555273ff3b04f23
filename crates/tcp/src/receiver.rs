//! The receiving side: reassembly, delayed acknowledgments, SACK and D-SACK blocks, timestamp
//! echoes (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2, RFC 2018, 2883, 7323).

mod ack_compression;
mod ack_due;
mod delayed_ack;
mod dupacks;
mod echo;
mod linux;
mod misbehaviour;
mod reassembly;
mod sack_memory;
mod window_growth;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::offset_of;
use core::ops::Range;

use rtolab_time::{Duration, Instant};

use crate::config::{Config, ReceiverConfig, RxtAnswer, WindowIncrease};
use crate::segment::{Codepoint, Flags, Segment};
use crate::seq::Seq;

pub use ack_due::AckDue;
use delayed_ack::DelayedAck;
use dupacks::Dupacks;
use echo::Echo;
use misbehaviour::{Misbehaviour, ReceiverState};
use sack_memory::SackMemory;

/// The receiving half of a connection. The fields that every segment needs come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// RCV.NXT: the next sequence number expected.
    rcv_nxt: Seq,
    /// The sequence number after the last byte that the application has read.
    read: Seq,
    /// The right edge of the largest window advertised.
    rcv_wnd_edge: Seq,
    due: AckDue,
    /// The flags that acknowledgments carry: RXT_ECHO until a segment with RXT is answered, ECE
    /// until the peer sends CWR.
    echoes: Flags,
    /// Delayed duplicate acknowledgments to be sent now, in addition to the one that is due.
    released: u32,
    delayed: DelayedAck,
    /// Ranges above RCV.NXT, the most recently reported first (RFC 2018 section 4).
    queued: Vec<Range<Seq>>,
    config: Arc<Config>,
    /// Present if the receiver remembers only some SACK blocks, from the first gap on.
    sack_memory: Option<Box<SackMemory>>,
    /// Present if duplicate acknowledgments may be delayed.
    dupacks: Option<Box<Dupacks>>,
    /// Present if the receiver misbehaves.
    misbehaviour: Option<Box<Misbehaviour>>,
    /// A range received twice and not yet reported (RFC 2883 section 4).
    duplicate: Option<Range<Seq>>,
    /// The sequence number of the peer's FIN, once seen.
    fin: Option<Seq>,
    echo: Echo,
}

impl Receiver {
    /// The end of the fields that tell which ranges it holds, for prefetching.
    pub(crate) const PIECES_END: usize = offset_of!(Self, config);

    /// A receiver that expects the peer's SYN.
    pub fn new(config: Arc<Config>) -> Self {
        Self {
            echo: Echo::new(config.timestamp.echo),
            rcv_nxt: Seq::FIRST,
            read: Seq::FIRST,
            rcv_wnd_edge: Seq::FIRST,
            queued: Vec::new(),
            duplicate: None,
            fin: None,
            due: AckDue::No,
            delayed: DelayedAck::new(&config),
            dupacks: config.receiver.delayed_dupacks.map(Dupacks::new).map(Box::new),
            sack_memory: None,
            misbehaviour: config.receiver.lie.map(Misbehaviour::new).map(Box::new),
            released: 0,
            echoes: Flags::NONE,
            config,
        }
    }

    #[inline(always)]
    fn config(&self) -> &ReceiverConfig {
        &self.config.receiver
    }

    /// RCV.NXT.
    pub const fn rcv_nxt(&self) -> Seq {
        self.rcv_nxt
    }

    /// Has the peer's FIN arrived in order?
    pub fn has_received_fin(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt > fin)
    }

    /// Bytes that the application may read.
    #[inline]
    pub fn available(&self) -> u64 {
        let end = match self.fin {
            Some(fin) if self.rcv_nxt > fin => fin,
            _ => self.rcv_nxt,
        };
        end.since(self.read)
    }

    /// The application took `bytes`.
    #[inline]
    pub fn read(&mut self, bytes: u64) {
        let bytes = bytes.min(self.available());
        self.read = Seq::new(self.read.value() + bytes);
    }

    /// When the next acknowledgment is due.
    #[inline]
    pub fn ack_due(&self) -> AckDue {
        let held = self.dupacks.as_ref().and_then(|dupacks| dupacks.until());
        match (self.due, held) {
            (AckDue::No, Some(until)) => AckDue::At(until),
            (AckDue::At(at), Some(until)) => AckDue::At(at.min(until)),
            (due, _) => due,
        }
    }

    /// When the acknowledgment of what arrived in order is due.
    #[inline]
    pub const fn due(&self) -> AckDue {
        self.due
    }

    /// Did everything arrive in order, was it read, and is there nothing more to report about it?
    pub fn is_in_order(&self) -> bool {
        self.queued.is_empty() && self.has_only_gaps()
    }

    /// Was everything in order read, and is there nothing to report but ranges above a gap?
    pub(crate) fn has_only_gaps(&self) -> bool {
        self.read == self.rcv_nxt
            && self.fin.is_none()
            && self.duplicate.is_none()
            && self.released == 0
            && self.dupacks.as_ref().is_none_or(|dupacks| dupacks.until().is_none())
            && self.echoes == Flags::NONE
            && self.is_conforming()
    }

    /// May duplicate acknowledgments be delayed?
    pub(crate) const fn delays_dupacks(&self) -> bool {
        self.dupacks.is_some()
    }

    /// Is everything acknowledged that arrived, and would the next segment advertise the same
    /// window?
    pub(crate) fn is_answered(&self, mss: u32) -> bool {
        self.due == AckDue::No
            && self.offered() == self.window(mss)
            && self.echo.has_acknowledged(self.rcv_nxt)
            && self.delayed.is_idle()
    }

    /// The rest of the largest window advertised, in bytes.
    #[inline(always)]
    pub(crate) fn offered(&self) -> u32 {
        self.rcv_wnd_edge.since(self.rcv_nxt) as u32
    }

    /// [Takes](Self::take) and [reads](Self::read) the next segment, which carries data and fits,
    /// while [all is in order](Self::is_in_order).
    #[inline(always)]
    pub(crate) fn take_next(&mut self, segment: &Segment, at: Instant) {
        self.delayed.arrived(segment, at, &self.config.receiver);
        self.rcv_nxt += segment.len;
        self.read = self.rcv_nxt;
        self.due = self.delayed.in_order(segment, at, self.due, &self.config.receiver);
    }

    /// An acknowledgment that advertises `window` is sent while all is in order.
    #[inline(always)]
    pub(crate) fn acknowledge_all(&mut self, window: u32) {
        self.rcv_wnd_edge = self.rcv_wnd_edge.max(self.rcv_nxt + window);
        self.echo.acknowledged(self.rcv_nxt);
        self.delayed.acknowledged();
        self.due = AckDue::No;
    }

    /// Is an acknowledgment due at once?
    #[inline]
    pub const fn is_ack_due_now(&self) -> bool {
        matches!(self.due, AckDue::Now)
    }

    /// Makes an acknowledgment due at once.
    pub fn ack_now(&mut self) {
        self.due = AckDue::Now;
    }

    /// The connection is closed: nothing more is acknowledged.
    pub fn cancel_acks(&mut self) {
        (self.due, self.released, self.echoes) = (AckDue::No, 0, Flags::NONE);
    }

    /// The segment is dropped; it is acknowledged at once if it has data.
    pub fn drop_unacceptable(&mut self, segment: &Segment) {
        if segment.sequence_length() > 0 {
            self.due = AckDue::Now;
        }
    }

    /// Processes the segment's RXT flag, which is answered even if the segment is dropped.
    pub fn note_rxt(&mut self, segment: &Segment) {
        let marked = segment.flags.has(Flags::RXT) && !segment.flags.has(Flags::SYN);
        if self.config().rxt_echo && marked && segment.sequence_length() > 0 {
            self.echoes |= Flags::RXT_ECHO;
            if self.config().rxt_answer == RxtAnswer::AtOnce {
                self.due = AckDue::Now;
            }
        }
    }

    /// Processes the ECN bits of an acceptable segment: every acknowledgment echoes a CE mark until
    /// CWR answers it (RFC 3168 section 6.1.3).
    pub fn note_congestion(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::CWR) {
            self.echoes = self.echoes.without(Flags::ECE);
        }
        if segment.codepoint() == Codepoint::Ce {
            self.echoes |= Flags::ECE;
        }
    }

    /// The flags of the next acknowledgment: [`Flags::RXT_ECHO`], [`Flags::ECE`].
    pub const fn echo_flags(&self) -> Flags {
        self.echoes
    }

    /// Must a pure acknowledgment with the echo of RXT be sent before a segment with data?
    pub fn is_rxt_echo_due(&self) -> bool {
        self.echoes.has(Flags::RXT_ECHO) && self.config().rxt_answer == RxtAnswer::AtOnce
    }

    /// The window to advertise, in bytes: the free part of the buffer, and never less than was
    /// advertised before (RFC 9293 section 3.8.6: a window is not shrunk). By default an increase
    /// smaller than half the buffer and than a segment of `mss` bytes is not advertised (section
    /// 3.8.6.2.2).
    #[inline(always)]
    pub fn window(&self, mss: u32) -> u32 {
        let unread = self.rcv_nxt.since(self.read) as u32;
        let room = self.config().buffer.saturating_sub(unread);
        let offered = self.rcv_wnd_edge.since(self.rcv_nxt) as u32;
        let worth = match self.config().window_increase {
            WindowIncrease::Segment => mss.min(self.config().buffer / 2),
            WindowIncrease::Byte => 1,
        };
        if room >= offered.saturating_add(worth) { room } else { offered }
    }

    /// Did reading open a window that was too small for a segment of `mss` bytes? The sender waits
    /// for a window update then, and sends nothing that would be acknowledged.
    #[inline]
    pub fn has_reopened_window(&self, mss: u32) -> bool {
        let offered = self.rcv_wnd_edge.since(self.rcv_nxt) as u32;
        offered < mss.min(self.config().buffer / 2) && self.window(mss) > offered
    }

    /// The peer's SYN arrived.
    pub fn synchronise(&mut self, syn: &Segment) {
        self.rcv_nxt = syn.seq + 1;
        self.read = self.rcv_nxt;
        self.rcv_wnd_edge = self.rcv_nxt + self.config().buffer;
        self.echo.synchronise(syn);
    }

    /// The handshake is complete at `at`, with this SRTT and RTO of the own end.
    pub(crate) fn note_established(&mut self, at: Instant, srtt: Option<Duration>, rto: Duration) {
        self.delayed.note_established(at, srtt, rto);
    }

    /// This end sends data.
    pub(crate) fn note_data_sent(&mut self, at: Instant) {
        self.delayed.data_sent(at);
    }

    /// TS.Recent, to be echoed.
    pub const fn recent(&self) -> Option<u32> {
        self.echo.recent()
    }

    /// RFC 7323 section 5.3 (R1): is the segment's timestamp older than TS.Recent?
    pub fn is_old(&self, segment: &Segment, at: Instant) -> bool {
        self.echo.is_old(segment, at)
    }

    /// By how many ticks of the peer's clock its timestamp is older than TS.Recent.
    pub fn ticks_behind(&self, segment: &Segment) -> u32 {
        self.echo.ticks_behind(segment)
    }

    /// The segment is dropped for its old timestamp, and acknowledged at once.
    pub fn drop_by_paws(&mut self, segment: &Segment) {
        self.due = AckDue::Now;
        if segment.sequence_length() > 0 && segment.seq < self.rcv_nxt {
            self.delayed.duplicate(false, &self.config.receiver);
            if self.config().dsack_old {
                // Linux reports nothing above RCV.NXT (`tcp_send_dupack`).
                let end = segment.end().min(self.rcv_nxt);
                self.duplicate = self.duplicate_part(&(segment.seq..end));
            }
        }
    }

    /// RFC 9293 section 3.10.7.4, first check: does any of the segment lie in the window?
    pub fn accepts(&self, segment: &Segment) -> bool {
        let edge = self.rcv_wnd_edge.max(self.rcv_nxt);
        match segment.sequence_length() {
            0 => segment.seq >= self.rcv_nxt && (segment.seq < edge || segment.seq == self.rcv_nxt),
            _ => segment.seq < edge && segment.end() > self.rcv_nxt,
        }
    }

    /// Is `seq` in the window (RFC 9293 section 3.10.7.4, for a segment without data)?
    pub fn is_in_window(&self, seq: Seq) -> bool {
        seq == self.rcv_nxt || (seq > self.rcv_nxt && seq < self.rcv_wnd_edge)
    }

    /// Does the segment end within the largest window advertised?
    #[inline]
    pub fn fits(&self, segment: &Segment) -> bool {
        segment.end() <= self.rcv_wnd_edge
    }

    /// Updates TS.Recent from the segment by the configured rule; to be called before the segment
    /// is acknowledged (RFC 7323 section 4.3).
    pub fn note_timestamp(&mut self, segment: &Segment, at: Instant) {
        self.echo.note(segment, self.rcv_nxt, at);
    }

    /// Completes the acknowledgment in `segment`, whose acknowledgment number, window and
    /// timestamps are set: adds SACK blocks if the peer permits them, and records that it is sent.
    #[inline]
    pub fn acknowledge(&mut self, segment: &mut Segment, sack: SackUse) {
        self.rcv_wnd_edge = self.rcv_wnd_edge.max(self.rcv_nxt + segment.window);
        self.echo.acknowledged(self.rcv_nxt);
        self.delayed.acknowledged();
        self.due = match self.released {
            0 => AckDue::No,
            _ => AckDue::Now,
        };
        self.released = self.released.saturating_sub(1);
        self.echoes = self.echoes.without(Flags::RXT_ECHO);
        let duplicate = self.duplicate.take();
        if sack != SackUse::None && (duplicate.is_some() || !self.queued.is_empty()) {
            self.report(segment, sack, duplicate);
        }
    }

    /// Adds SACK blocks, the D-SACK block of a `duplicate` first.
    fn report(&self, segment: &mut Segment, sack: SackUse, duplicate: Option<Range<Seq>>) {
        let mut room = self.config().max_sack_blocks as usize;
        let blocks = self.sack_memory.as_ref().map_or(&*self.queued, |memory| memory.blocks());
        let mut enclosing = None;
        if let (SackUse::WithDuplicates, Some(part)) = (sack, duplicate) {
            let encloses = |block: &&Range<Seq>| block.start <= part.start && part.end <= block.end;
            enclosing = blocks.iter().find(encloses).filter(|_| self.sack_memory.is_none());
            segment.push_sack(part.clone());
            room = room.saturating_sub(1);
        }
        let others = blocks.iter().filter(|block| Some(*block) != enclosing);
        for block in enclosing.into_iter().chain(others).take(room) {
            segment.push_sack(block.clone());
        }
    }

    /// Does it acknowledge truthfully?
    #[inline(always)]
    pub(crate) fn is_conforming(&self) -> bool {
        self.misbehaviour.is_none()
    }

    /// Falsifies the acknowledgment in `segment` before SACK blocks are [added](Self::acknowledge).
    /// The peer sends at most `smss` bytes per segment.
    #[cold]
    pub(crate) fn falsify(&mut self, segment: &mut Segment, smss: u32, at: Instant) {
        let Some(misbehaviour) = &mut self.misbehaviour else { return };
        if let (true, Some(end)) =
            (misbehaviour.fills_gaps(segment), self.queued.iter().map(|r| r.end).max())
        {
            self.rcv_nxt = self.rcv_nxt.max(end);
            self.queued.clear();
            self.sack_memory = None;
        }
        let gap = !self.queued.is_empty();
        let lie = misbehaviour
            .falsify(segment, &ReceiverState { nxt: self.rcv_nxt, fin: self.fin, gap, smss, at });
        self.released += lie.released;
        self.duplicate = lie.duplicate.or(self.duplicate.take());
    }

    /// The timer of a delayed acknowledgment, or of delayed duplicates, may have expired.
    pub fn on_timer(&mut self, at: Instant) {
        let released = self.dupacks.as_mut().map_or(0, |dupacks| dupacks.released(at));
        if released > 0 {
            self.released = released - 1;
            self.due = AckDue::Now;
        }
        if matches!(self.due, AckDue::At(deadline) if deadline <= at) {
            self.delayed.expired(&self.config.receiver);
            self.due = AckDue::Now;
        }
    }
}

/// Which SACK information acknowledgments carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackUse {
    /// None.
    None,
    /// SACK blocks.
    Blocks,
    /// SACK and D-SACK blocks.
    WithDuplicates,
}

#[cfg(test)]
mod tests;
