//! The fast path of an arrival: the reply takes the packet's slot, and nothing is copied.

use rtolab_link::CopyId;
use rtolab_net::{Condition, Packet};
use rtolab_record::Place;
use rtolab_tcp::Reply;
use rtolab_time::Instant;

use super::{Entity, Sim};
use crate::flow::{SimFlow, pair};
use crate::transit::Slot;

impl Sim {
    /// Processes a packet that leaves its last pipe.
    #[inline(always)]
    pub(super) fn on_arrival_fast_path(&mut self, slot: Slot) {
        let packet = self.transit.packet_mut(slot);
        let flow = &mut self.flows[packet.flow as usize];
        if !self.is_unobserved || flow.has_listeners || packet.condition != Condition::Intact {
            return self.on_arrival_slow_path(slot);
        }
        let (index, place) = (packet.flow as usize, packet.destination());
        let data = packet.to_receiver && packet.segment.len > 0;
        match flow.reply_in_place(packet, self.now) {
            Reply::NotHandled => return self.on_arrival_slow_path(slot),
            Reply::Handled => {
                flow.in_network -= 1;
                self.transit.drop(slot);
                return self.drain(index, place);
            }
            Reply::NothingToTransmit => {
                flow.in_network -= 1;
                self.transit.drop(slot);
            }
            Reply::Segment => {
                packet.copy = CopyId(self.copies);
                self.copies += 1;
                let (bytes, step) = (packet.bytes, packet.step);
                self.forward_in_place(slot, (bytes, step), self.now);
            }
        }
        self.counters.data_packets_delivered += u64::from(data);
        let flow = &self.flows[index];
        let Some(connection) = &flow.end(place).connection else { return };
        if !connection.has_nothing_to_transmit_on_fast_path() {
            return self.drain(index, place);
        }
        let timer = connection.next_timer_on_fast_path();
        self.schedule_timer(Entity::Host(index, place), timer);
    }

    #[inline(never)]
    fn on_arrival_slow_path(&mut self, slot: Slot) {
        let packet = self.transit.take(slot);
        self.on_arrival(&packet);
    }
}

impl SimFlow {
    /// Processes an intact packet and turns it into the reply, if nothing else happens.
    #[inline(always)]
    fn reply_in_place(&mut self, packet: &mut Packet, at: Instant) -> Reply {
        let place = packet.destination();
        let (here, there) = pair(&mut self.ends, place);
        let Some(connection) = &mut here.connection else { return Reply::NotHandled };
        let (seq, len) = (packet.segment.seq, packet.segment.len);
        let rcv_nxt = connection.receiver().rcv_nxt();
        let reply = connection.answer(&mut packet.segment, at);
        if reply == Reply::NotHandled {
            return reply;
        }
        if len > 0 {
            there.copies.delivered(seq, packet.order);
            here.count.read += connection.receiver().rcv_nxt().since(rcv_nxt);
            if packet.to_receiver {
                self.tally.delay.count(at.since(packet.sent));
            }
        }
        if reply == Reply::Segment {
            packet.order = 0;
            here.note_sent_new(&packet.segment);
            packet.sent = at;
            packet.bytes = Packet::size_of(&packet.segment);
            packet.to_receiver = place == Place::Sender;
            packet.step = self.route(place, at);
        }
        reply
    }
}
