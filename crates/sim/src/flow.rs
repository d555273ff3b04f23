//! A flow: its two ends, its way through the network, and what is counted of it.

use std::sync::Arc;

use rtolab_link::Cause;
use rtolab_net::{Copies, Hop};
use rtolab_record::{ConnectionRow, TimeoutKind, TimeoutRow, Truth};
use rtolab_tcp::receiver::AckDue;
use rtolab_tcp::spurious::Verdict;
use rtolab_tcp::{Config, Connection, Event, Flags, Retransmission, Segment, Seq};
use rtolab_time::Instant;

/// What stays the same in every run of a flow.
#[derive(Debug)]
pub struct Plan {
    pub name: Arc<str>,
    pub sender: Arc<str>,
    pub sender_config: Arc<Config>,
    pub receiver_config: Arc<Config>,
    /// From the sender to the receiver; channel indices.
    pub hops: Vec<Hop>,
    /// Back.
    pub hops_back: Vec<Hop>,
    /// Payload bytes; `None`: without end.
    pub bytes: Option<u64>,
}

/// A flow during a run.
#[derive(Clone, Debug)]
pub struct Flow {
    pub plan: Arc<Plan>,
    pub sender: Connection,
    pub receiver: Option<Connection>,
    /// Behind the highest sequence number that the sender has sent.
    sent_max: Seq,
    pub copies: Copies,
    row: ConnectionRow,
    timeouts: Vec<(TimeoutRow, Seq, u16)>,
    /// How many of the timeouts have been looked at by [`Flow::unjudged`].
    judged: usize,
    /// Packets of both directions that are on their way.
    pub under_way: u32,
}

impl Flow {
    /// A flow that begins `at`: its SYN leaves then.
    pub fn new(plan: Arc<Plan>, at: Instant) -> Self {
        let mut sender = Connection::open(plan.sender_config.clone());
        match plan.bytes {
            Some(bytes) => {
                sender.write(bytes);
                sender.close();
            }
            None => sender.write(u64::MAX / 2),
        }
        let row = ConnectionRow {
            flow: plan.name.clone(),
            flow_sender: plan.sender.clone(),
            start: at,
            ..ConnectionRow::default()
        };
        let (copies, timeouts) = (Copies::default(), Vec::new());
        Self {
            plan,
            sender,
            receiver: None,
            sent_max: Seq::FIRST,
            copies,
            row,
            timeouts,
            judged: 0,
            under_way: 0,
        }
    }

    /// The sender's segment leaves: how often its first sequence number had been sent before.
    pub fn note_sent(&mut self, segment: &Segment) -> u16 {
        if segment.len > 0 {
            self.row.segments += 1;
        }
        if segment.sequence_length() == 0 {
            return 0;
        }
        if segment.seq >= self.sent_max {
            self.sent_max = segment.end();
            return 0;
        }
        let order = self.transmissions(segment.seq).saturating_sub(1);
        let held = self
            .receiver
            .as_ref()
            .is_some_and(|receiver| receiver.receiver().holds(&(segment.seq..segment.end())));
        self.copies.resent(segment.seq, order, held);
        order
    }

    fn transmissions(&self, seq: Seq) -> u16 {
        self.sender.sender().flight().segment_at(seq).map_or(0, |sent| sent.transmissions)
    }

    /// A segment of the sender arrived; the receiver answers a SYN.
    pub fn at_receiver(&mut self, segment: &Segment, order: u16, at: Instant) -> &mut Connection {
        if segment.sequence_length() > 0 {
            self.copies.arrived(segment.seq, order);
        }
        if let Some(receiver) = &mut self.receiver {
            receiver.on_segment(segment, at);
        } else {
            debug_assert!(segment.flags.has(Flags::SYN), "a flow's first packet is its SYN");
        }
        let config = &self.plan.receiver_config;
        let receiver =
            self.receiver.get_or_insert_with(|| Connection::accept(config.clone(), segment));
        self.row.bytes += receiver.receiver().available();
        receiver.read(u64::MAX);
        while let Some(event) = receiver.poll_event() {
            if event == Event::PeerClosed {
                receiver.close();
            }
        }
        receiver
    }

    /// A packet of this flow was lost.
    pub fn note_lost(&mut self, cause: Cause) {
        match cause {
            Cause::Queue | Cause::Early | Cause::Lifetime => self.row.lost_queue += 1,
            Cause::Error | Cause::Script | Cause::Retries => self.row.lost_error += 1,
            Cause::Outage => self.row.lost_outage += 1,
        }
    }

    /// The receiver acknowledges.
    pub fn note_ack(&mut self) {
        self.row.acks += 1;
    }

    /// What the sender tells of itself.
    pub fn note_events(&mut self, at: Instant) {
        while let Some(event) = self.sender.poll_event() {
            match event {
                Event::Timeout(retransmission) => {
                    self.row.timeouts += 1;
                    self.note_timeout(TimeoutKind::Timeout, &retransmission);
                }
                Event::FastRetransmit(retransmission) => {
                    self.row.fast_retransmits += 1;
                    self.note_timeout(TimeoutKind::FastRetransmit, &retransmission);
                }
                Event::Judged { at, detector, verdict } => self.note_verdict(at, detector, verdict),
                Event::CloseAcknowledged => self.row.end = Some(at),
                Event::Connected | Event::PeerClosed | Event::Closed | Event::Reset => {}
            }
        }
    }

    fn note_timeout(&mut self, kind: TimeoutKind, retransmission: &Retransmission) {
        let Retransmission { at, seq, rto, backoff, cwnd } = *retransmission;
        let row = TimeoutRow {
            flow: self.plan.name.clone(),
            at,
            kind,
            seq: seq.relative(),
            rto,
            backoff,
            cwnd,
            needed: true,
            truth: None,
            verdict: None,
            detector: None,
            verdict_at: None,
        };
        let order = self.transmissions(seq);
        self.timeouts.push((row, seq, order));
    }

    fn note_verdict(&mut self, at: Instant, detector: &'static str, verdict: Verdict) {
        let last =
            self.timeouts.iter_mut().rev().find(|(row, ..)| row.kind == TimeoutKind::Timeout);
        let Some((row, ..)) = last else { return };
        let verdict = match verdict {
            Verdict::Open => return,
            Verdict::Spurious => {
                self.row.found_spurious += 1;
                "spurious"
            }
            Verdict::Genuine => "genuine",
            Verdict::Blind(_) => "blind",
        };
        (row.verdict, row.detector, row.verdict_at) = (Some(verdict), Some(detector), Some(at));
    }

    /// Is nothing under way, nor an acknowledgment being delayed?
    pub fn is_idle(&self) -> bool {
        let due = self.receiver.as_ref().map(|receiver| receiver.receiver().ack_due());
        self.under_way == 0 && due.is_none_or(|due| due == AckDue::No)
    }

    /// Has the sender an acknowledgment that covers `seq`?
    pub fn acknowledged(&self, seq: Seq) -> bool {
        self.sender.sender().flight().una() > seq
    }

    /// The next timeout or fast retransmit about which the truth is not known: its row and segment.
    pub fn unjudged(&mut self) -> Option<(usize, Seq)> {
        let row = self.judged;
        let (_, seq, _) = self.timeouts.get(row)?;
        self.judged += 1;
        Some((row, *seq))
    }

    /// The truth about that row.
    pub fn note_truth(&mut self, row: usize, truth: Truth) {
        self.timeouts[row].0.truth = Some(truth);
    }

    /// The flow's rows, now that every copy's fate is known.
    pub fn rows(&self) -> (ConnectionRow, impl Iterator<Item = TimeoutRow> + '_) {
        let mut row = self.row.clone();
        row.retransmissions = self.copies.retransmissions();
        row.unneeded = self.copies.unneeded();
        let timeouts = self.timeouts.iter().map(|(row, seq, order)| {
            let needed = !self.copies.delivered_before(*seq, *order);
            TimeoutRow { needed, ..row.clone() }
        });
        (row, timeouts)
    }
}
