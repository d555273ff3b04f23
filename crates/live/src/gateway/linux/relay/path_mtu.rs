//! ICMP messages of routers whose next link has a smaller MTU.

use rtolab_packet::PacketTooBig;
use rtolab_time::Instant;

use super::Relay;
use crate::gateway::error::GatewayError;

impl Relay<'_> {
    /// Processes a packet that is not TCP: a router's message that a segment was too big, or else
    /// nothing.
    pub(super) fn on_other_packet(
        &mut self,
        packet: &[u8],
        now: Instant,
    ) -> Result<(), GatewayError> {
        let Some(message) = PacketTooBig::parse(packet) else {
            self.counts.not_tcp += 1;
            return Ok(());
        };
        let id = self.table.find(&message.path.reversed());
        let tcp_side = id.and_then(|id| self.table.get_mut(id)).and_then(|it| it.tcp_side());
        let accepted = tcp_side.is_some_and(|tcp_side| tcp_side.on_packet_too_big(&message, now));
        let Some(id) = id.filter(|_| accepted) else {
            self.counts.stray += 1;
            return Ok(());
        };
        self.counts.packets_too_big += 1;
        self.transmit(id, now)?;
        self.mark_pending(id);
        Ok(())
    }
}
