//! The rows of one flow in a traced run.

use rtolab_record::{
    ConnectionRow, Fate, PacketEvent, Place, Recording, SegmentRow, TimeoutRow, WindowRow,
};
use rtolab_tcp::Flags;
use rtolab_time::Instant;

use crate::request::RequestedPlace;

/// The rows of one flow.
pub(crate) struct FlowTrace<'a> {
    pub connection: &'a ConnectionRow,
    /// Packets at both hosts.
    pub segments: Vec<&'a SegmentRow>,
    /// The retransmissions of the sending host.
    pub timeouts: Vec<&'a TimeoutRow>,
    pub windows: Vec<&'a WindowRow>,
}

impl<'a> FlowTrace<'a> {
    /// The rows of the flow with this name; `None` if it has no connection.
    pub(crate) fn of(recording: &'a Recording, flow: &str) -> Option<Self> {
        let is_sending = |row: &&TimeoutRow| &*row.flow == flow && matches!(row.end, Place::Sender);
        let is_of_flow = |row: &&SegmentRow| recording.flow_name(row) == flow;
        Some(Self {
            connection: recording.connections.iter().find(|row| &*row.flow == flow)?,
            segments: recording.segments.iter().filter(is_of_flow).collect(),
            timeouts: recording.timeouts.iter().filter(is_sending).collect(),
            windows: recording.windows.iter().filter(|row| &*row.flow == flow).collect(),
        })
    }

    /// The time of the last event, in seconds.
    pub(crate) fn end_s(&self) -> f64 {
        let segments = self.segments.iter().map(|row| row.at);
        let last = segments.chain(self.windows.iter().map(|row| row.at)).max();
        last.map_or(0.0, Instant::secs_f64)
    }

    /// The data segments that the sender sent, in order of time.
    pub(crate) fn sent_data(&self) -> Vec<&'a SegmentRow> {
        let mut sent = self.rows((RequestedPlace::Sender, PacketEvent::Sent), has_data);
        sent.sort_by_key(|row| row.at);
        sent
    }

    /// The data segments that arrived at the receiver.
    pub(crate) fn received_data(&self) -> Vec<&'a SegmentRow> {
        self.rows((RequestedPlace::Receiver, PacketEvent::Received), has_data)
    }

    /// The packets with an acknowledgment that the receiver sends, at a host, in order of time.
    pub(crate) fn acks(&self, place: RequestedPlace) -> Vec<&'a SegmentRow> {
        let event = match place {
            RequestedPlace::Sender => PacketEvent::Received,
            RequestedPlace::Receiver => PacketEvent::Sent,
        };
        let mut acks = self.rows((place, event), |row| row.segment.flags.has(Flags::ACK));
        acks.sort_by_key(|row| row.at);
        acks
    }

    fn rows(
        &self,
        (place, event): (RequestedPlace, PacketEvent),
        what: impl Fn(&SegmentRow) -> bool,
    ) -> Vec<&'a SegmentRow> {
        let here = |row: &&&SegmentRow| {
            row.place.name() == place.name() && row.event == event && what(row)
        };
        self.segments.iter().filter(here).copied().collect()
    }
}

fn has_data(row: &SegmentRow) -> bool {
    row.segment.len > 0
}

/// Did the packet arrive, or was it in flight at the end of the run?
pub(crate) const fn is_usual(fate: Fate) -> bool {
    matches!(fate, Fate::Delivered | Fate::Underway)
}
