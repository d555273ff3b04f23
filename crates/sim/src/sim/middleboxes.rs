//! Middleboxes on the routes of packets.

use rtolab_net::{Middlebox, OutgoingPacket, Packet};
use rtolab_record::Fate;

use super::{Entity, Sim};

impl Sim {
    /// Processes a packet that reaches a middlebox.
    #[inline(never)]
    pub(super) fn on_middlebox(&mut self, middlebox: usize, mut packet: Packet) {
        packet.step += 1;
        let mut outgoing = std::mem::take(&mut self.outgoing);
        let now = self.now();
        self.middleboxes[middlebox].on_packet(packet, now, &mut outgoing);
        if outgoing.iter().all(|outgoing| outgoing.is_generated) {
            self.flows[packet.flow as usize].tally.absorbed += 1;
            self.end_copy(&packet, Fate::Absorbed, now);
        }
        self.release(middlebox, outgoing);
    }

    pub(super) fn on_middlebox_timer(&mut self, middlebox: usize) {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        let now = self.now();
        self.middleboxes[middlebox].on_timer(now, &mut outgoing);
        self.release(middlebox, outgoing);
    }

    /// Forwards the packets that leave a middlebox. Each packet that the middlebox made is a new
    /// copy.
    fn release(&mut self, middlebox: usize, mut outgoing: Vec<OutgoingPacket>) {
        let timer = self.middleboxes[middlebox].next_timer();
        self.schedule(Entity::Middlebox(middlebox), timer);
        for OutgoingPacket { mut packet, is_generated } in outgoing.drain(..) {
            if is_generated {
                packet.copy = self.next_copy();
                let flow = &mut self.flows[packet.flow as usize];
                flow.in_network += 1;
                flow.tally.local += 1;
                self.trace.on_new_copy(&packet);
                if let Some(scoring) = &mut self.scoring {
                    scoring.in_network.enter(&packet);
                }
            }
            self.forward(&mut packet);
        }
        self.outgoing = outgoing;
    }

    /// Is a timer of a middlebox running, so that it may still send a packet?
    pub(super) fn has_middlebox_timer(&self) -> bool {
        self.middleboxes.iter().any(|middlebox| Middlebox::next_timer(middlebox).is_some())
    }
}
