//! Agents on the way, at nodes that packets pass.

use rtolab_net::{Agent, Onward, Packet};
use rtolab_record::Fate;

use crate::sim::{Entity, Sim};

impl Sim {
    /// The packet passes an agent.
    #[inline(never)]
    pub(crate) fn pass(&mut self, agent: usize, mut packet: Packet) {
        packet.step += 1;
        let mut onward = std::mem::take(&mut self.onward);
        let now = self.now();
        self.agents[agent].on_packet(packet, now, &mut onward);
        if onward.iter().all(|onward| onward.made_here) {
            self.flows[packet.flow as usize].tally.absorbed += 1;
            self.end_way(&packet, Fate::Absorbed, now);
        }
        self.leave(agent, onward);
    }

    pub(crate) fn on_agent_timer(&mut self, agent: usize) {
        let mut onward = std::mem::take(&mut self.onward);
        let now = self.now();
        self.agents[agent].on_timer(now, &mut onward);
        self.leave(agent, onward);
    }

    /// Packets leave an agent; those that it made are copies of their own.
    fn leave(&mut self, agent: usize, mut onward: Vec<Onward>) {
        let timer = self.agents[agent].next_timer();
        self.wake(Entity::Agent(agent), timer);
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

    /// May an agent send something of its own accord?
    pub(crate) fn agents_wait(&self) -> bool {
        self.agents.iter().any(|agent| Agent::next_timer(agent).is_some())
    }
}
