//! The packet trace and the window samples of a run.

use std::sync::Arc;

use rtolab_net::Packet;
use rtolab_record::{Fate, PacketEvent, Place, SegmentRow, WindowRow};
use rtolab_tcp::Connection;
use rtolab_time::{Duration, Instant};

use crate::flow::SimFlow;

/// The recorder. If nothing is recorded, it costs one comparison per packet.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    packets: Option<Packets>,
    windows: Option<Vec<WindowRow>>,
}

/// Every packet event, and the fate of every copy by its number.
#[derive(Clone, Debug, Default)]
struct Packets {
    rows: Vec<SegmentRow>,
    /// The rows of retransmissions, by index, and the number of earlier transmissions of each.
    retransmissions: Vec<(usize, u16)>,
    fates: Vec<CopyFate>,
}

/// The fate of a copy, when it arrived or was lost, and for how long links held it.
type CopyFate = (Fate, Option<Instant>, Duration);

impl Trace {
    /// Records packets, windows, both or neither.
    pub fn new(packets: bool, windows: bool) -> Self {
        Self { packets: packets.then(Packets::default), windows: windows.then(Vec::new) }
    }

    /// Is anything recorded?
    #[inline]
    pub const fn is_on(&self) -> bool {
        self.packets.is_some() || self.windows.is_some()
    }

    /// The size of the rows so far, in bytes.
    pub fn bytes(&self) -> usize {
        let packets = match &self.packets {
            Some(packets) => {
                size_of::<SegmentRow>() * packets.rows.len()
                    + size_of::<(usize, u16)>() * packets.retransmissions.len()
                    + size_of::<CopyFate>() * packets.fates.len()
            }
            None => 0,
        };
        let windows = match &self.windows {
            Some(windows) => size_of::<WindowRow>() * windows.len(),
            None => 0,
        };
        packets + windows
    }

    /// Records a packet that leaves its host.
    pub fn on_departure(&mut self, packet: &Packet, at: Instant) {
        self.on_new_copy(packet);
        let Some(packets) = &mut self.packets else { return };
        packets.add(packet, at, PacketEvent::Sent);
    }

    /// Adds a new copy, which a host or a middlebox sends.
    pub fn on_new_copy(&mut self, packet: &Packet) {
        let Some(packets) = &mut self.packets else { return };
        debug_assert_eq!(packets.fates.len() as u64, packet.copy.0, "copies are numbered in order");
        packets.fates.push((Fate::Underway, None, Duration::ZERO));
    }

    /// Records a packet that arrives at its destination.
    pub fn on_arrival(&mut self, packet: &Packet, at: Instant) {
        self.on_end(packet, Fate::Delivered, at);
        let Some(packets) = &mut self.packets else { return };
        packets.add(packet, at, PacketEvent::Received);
    }

    /// Sets the fate of a copy that arrives or is lost. If a link duplicated the copy, its first
    /// arrival counts.
    pub fn on_end(&mut self, packet: &Packet, fate: Fate, at: Instant) {
        let Some(packets) = &mut self.packets else { return };
        let known = &mut packets.fates[packet.copy.0 as usize];
        if known.0 != Fate::Delivered {
            (known.0, known.1) = (fate, Some(at));
        }
    }

    /// Adds the time for which a link held a copy. If a link duplicated the copy, only the first
    /// counts.
    pub fn on_held(&mut self, packet: &Packet, held: Duration) {
        let Some(packets) = &mut self.packets else { return };
        if !packet.condition.is_duplicate() {
            packets.fates[packet.copy.0 as usize].2 += held;
        }
    }

    /// Records a sample of the sender's windows.
    pub fn on_window(&mut self, sender: &Connection, at: Instant, name: &Arc<str>) {
        let Some(windows) = &mut self.windows else { return };
        let sender = sender.sender();
        let (window, estimate) = (sender.window(), sender.rtt().estimate());
        windows.push(WindowRow {
            flow: name.clone(),
            at,
            cwnd: window.cwnd(),
            ssthresh: Some(window.ssthresh()).filter(|ssthresh| *ssthresh != u64::MAX),
            flight: sender.flight().size(),
            srtt: estimate.map(|estimate| estimate.srtt),
            rttvar: estimate.map(|estimate| estimate.rttvar),
            rto: sender.rto(),
        });
    }

    /// The rows, with the fate of every copy.
    pub fn into_rows(self, flows: &[SimFlow]) -> (Vec<SegmentRow>, Vec<WindowRow>) {
        let Packets { mut rows, retransmissions, fates } = self.packets.unwrap_or_default();
        for row in &mut rows {
            (row.fate, row.fate_at, row.held) = fates[row.copy as usize];
        }
        for (index, order) in retransmissions {
            let row = &mut rows[index];
            let sender = match row.event {
                PacketEvent::Sent => row.place,
                PacketEvent::Received => row.place.other(),
            };
            let copies = &flows[row.flow as usize].end(sender).copies;
            row.unneeded = copies.earlier_copy_delivered(row.segment.seq, order);
        }
        (rows, self.windows.unwrap_or_default())
    }
}

impl Packets {
    fn add(&mut self, packet: &Packet, at: Instant, event: PacketEvent) {
        let at_sender = packet.to_receiver == (event == PacketEvent::Sent);
        if packet.order > 0 {
            self.retransmissions.push((self.rows.len(), packet.order));
        }
        self.rows.push(SegmentRow {
            flow: packet.flow,
            at,
            place: if at_sender { Place::Sender } else { Place::Receiver },
            event,
            copy: packet.copy.0,
            segment: packet.segment,
            bytes: packet.bytes,
            retransmission: packet.order > 0,
            unneeded: false,
            fate: Fate::Underway,
            fate_at: None,
            held: Duration::ZERO,
        });
    }
}
