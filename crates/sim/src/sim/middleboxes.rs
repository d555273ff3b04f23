//! Middleboxes at the nodes that packets pass.

use rtolab_net::{Middlebox, Onward, Packet};
use rtolab_record::Fate;

use super::{Entity, Sim};

impl Sim {
    /// The packet reaches a middlebox.
    #[inline(never)]
    pub(super) fn on_middlebox(&mut self, middlebox: usize, mut packet: Packet) {
        packet.step += 1;
        let mut onward = std::mem::take(&mut self.onward);
        let now = self.now();
        self.middleboxes[middlebox].on_packet(packet, now, &mut onward);
        if onward.iter().all(|onward| onward.made_here) {
            self.flows[packet.flow as usize].tally.absorbed += 1;
            self.end_copy(&packet, Fate::Absorbed, now);
        }
        self.release(middlebox, onward);
    }

    pub(super) fn on_middlebox_timer(&mut self, middlebox: usize) {
        let mut onward = std::mem::take(&mut self.onward);
        let now = self.now();
        self.middleboxes[middlebox].on_timer(now, &mut onward);
        self.release(middlebox, onward);
    }

    /// Forwards what leaves a middlebox; each packet that it made is a copy of its own.
    fn release(&mut self, middlebox: usize, mut onward: Vec<Onward>) {
        let timer = self.middleboxes[middlebox].next_timer();
        self.schedule(Entity::Middlebox(middlebox), timer);
        for Onward { mut packet, made_here } in onward.drain(..) {
            if made_here {
                packet.copy = self.next_copy();
                let flow = &mut self.flows[packet.flow as usize];
                flow.under_way += 1;
                flow.tally.local += 1;
                self.trace.made(&packet);
            }
            self.forward(&mut packet);
        }
        self.onward = onward;
    }

    /// May a middlebox still send a packet when a timer of its own expires?
    pub(super) fn has_middlebox_timer(&self) -> bool {
        self.middleboxes.iter().any(|middlebox| Middlebox::next_timer(middlebox).is_some())
    }
}
