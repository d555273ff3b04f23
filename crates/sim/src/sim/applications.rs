//! Applications that read from and write to flows, and gateways that relay between the legs of a
//! split connection (I-TCP).

use std::sync::Arc;

use rtolab_net::workload::{Action, Progress};
use rtolab_net::{Application, Packet, UDP_HEADER};
use rtolab_record::Place;
use rtolab_tcp::{Flags, Segment, Seq};
use rtolab_time::Instant;

use super::{Entity, Sim};

/// An application and the flow that it uses.
#[derive(Clone, Debug)]
pub struct FlowApplication {
    /// The flow's name in the scenario.
    pub flow: Arc<str>,
    pub application: Application,
    /// The leg that begins at the sending host.
    pub first: usize,
    /// The leg that ends at the receiving host.
    pub last: usize,
    /// Has it no event of its own until the flow's sender has one? See [`Sim::run_application`].
    pub is_deferred: bool,
}

impl FlowApplication {
    /// Does it only write at the sending end, whatever arrives?
    fn only_writes(&self) -> bool {
        self.first == self.last && matches!(self.application, Application::OnOff(_))
    }
}

impl Sim {
    /// Informs the application and the neighbouring legs of a packet that arrived at `place`.
    #[inline(never)]
    pub(super) fn notify_listeners(&mut self, flow: usize, place: Place) {
        let plan = &self.flows[flow].plan;
        let listeners = [plan.previous_leg, plan.next_leg, plan.application];
        let [previous, next, application] = listeners.map(|number| number.map(|it| it as usize));
        match (place, previous, next) {
            (Place::Sender, Some(previous), _) => self.relay(previous, flow),
            (Place::Receiver, _, Some(next)) => {
                if self.flows[next].begin.is_none() {
                    self.open(next, self.now());
                }
                self.relay(flow, next);
            }
            _ => {}
        }
        if let Some(application) = application {
            self.report_progress(application);
        }
    }

    /// Relays the received data between two legs at a gateway, in both directions.
    fn relay(&mut self, near: usize, far: usize) {
        self.relay_one_way((near, Place::Receiver), (far, Place::Sender));
        self.relay_one_way((far, Place::Sender), (near, Place::Receiver));
    }

    /// Relays one direction. The gateway reads as long as the unsent data fit one receive buffer.
    fn relay_one_way(&mut self, from: (usize, Place), to: (usize, Place)) {
        let buffer = self.flows[from.0].plan.configs[from.1.index()].receiver.buffer;
        loop {
            let sink = self.flows[to.0].end(to.1);
            if sink.connection.is_none() {
                return;
            }
            let room = u64::from(buffer).saturating_sub(sink.unsent());
            let source = self.flows[from.0].end_mut(from.1);
            let bytes = source.read(room);
            let exhausted = source.is_exhausted();
            self.flows[to.0].end_mut(to.1).write(bytes);
            // The receiving end closes without a call when its peer does.
            if exhausted && to.1 == Place::Sender {
                self.flows[to.0].end_mut(to.1).close();
            }
            self.drain(to.0, to.1);
            if bytes == 0 {
                return;
            }
            // The read may have opened the receive window.
            self.drain(from.0, from.1);
        }
    }

    fn report_progress(&mut self, index: usize) {
        let FlowApplication { first, last, .. } = self.applications[index];
        let sender = self.flows[first].end(Place::Sender);
        let receiver = self.flows[last].end(Place::Receiver);
        let progress = Progress {
            open: receiver.is_open(),
            acknowledged: sender.acknowledged(),
            at_sender: sender.count.read,
            at_receiver: receiver.count.read,
        };
        let now = self.now();
        self.applications[index].application.on_progress(&progress, now);
        self.run_application(index);
    }

    /// Performs the writes that were due before now at this end of the flow, if they were deferred.
    #[inline(never)]
    pub(super) fn catch_up_with_writes(&mut self, flow: usize, place: Place) {
        let Some(index) = self.flows[flow].plan.application.map(|index| index as usize) else {
            return;
        };
        let before = self.now().nanos().checked_sub(1).map(Instant::from_nanos);
        let (Some(before), Place::Sender) = (before, place) else { return };
        if !std::mem::take(&mut self.applications[index].is_deferred) {
            return;
        }
        while let Some(action) = self.applications[index].application.poll(before) {
            if let Action::Write { at, bytes } = action {
                self.flows[flow].end_mut(at).write(bytes);
            }
        }
        let timer = self.applications[index].application.next_timer();
        self.schedule(Entity::Application(index), timer);
    }

    /// Performs the pending actions of the application.
    ///
    /// While the windows alone hold back data, further writes change nothing. An application that
    /// only writes has no event then. It catches up at the next event of the sender.
    pub(super) fn run_application(&mut self, index: usize) {
        let now = self.now();
        let FlowApplication { first, last, .. } = self.applications[index];
        let mut wrote = [false; 2];
        while let Some(action) = self.applications[index].application.poll(now) {
            match action {
                Action::Write { at, bytes } => {
                    let flow = if at == Place::Sender { first } else { last };
                    self.flows[flow].end_mut(at).write(bytes);
                    wrote[at.index()] = true;
                }
                Action::Close => self.flows[first].end_mut(Place::Sender).close(),
                Action::Datagram { bytes } => self.send_datagram(first, bytes),
            }
        }
        if wrote[Place::Sender.index()] {
            self.drain(first, Place::Sender);
        }
        if wrote[Place::Receiver.index()] {
            self.drain(last, Place::Receiver);
        }
        let is_deferred = wrote[Place::Sender.index()] && self.can_defer_writes(index);
        let application = &mut self.applications[index];
        application.is_deferred = is_deferred;
        let timer = application.application.next_timer().filter(|_| !is_deferred);
        self.schedule(Entity::Application(index), timer);
    }

    /// Do further writes of the application change nothing before the sender's next event?
    fn can_defer_writes(&self, index: usize) -> bool {
        let application = &self.applications[index];
        let sender = self.flows[application.first].end(Place::Sender).connection.as_ref();
        self.is_unobserved
            && application.only_writes()
            && sender.is_some_and(|sender| sender.sender().is_backlogged())
    }

    fn send_datagram(&mut self, flow: usize, bytes: u32) {
        let end = self.flows[flow].end_mut(Place::Sender);
        let payload = Packet::datagram_payload(bytes);
        let previous = end.count.segments * u64::from(payload);
        let segment =
            Segment::new(Seq::new((Seq::FIRST + 1).value() + previous), payload, Flags::NONE);
        end.count_sent(&segment, UDP_HEADER);
        self.send_packet((flow, Place::Sender), segment, bytes);
    }
}
