//! The handshake of a connection.

use rtolab_capture::End;
use rtolab_tcp::Segment;

use super::Connection;
use crate::stack::Opening;

/// The options of a handshake.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    /// The last SYN of client and server.
    pub openings: [Option<Opening>; 2],
    /// Did the snapshot length of the capture cut off options of a SYN? If so, the window scale is
    /// unknown.
    pub is_cut: bool,
}

impl Handshake {
    /// Does the capture have the options of both ends?
    pub fn has_both(&self) -> bool {
        !self.is_cut && self.openings.iter().all(Option::is_some)
    }
}

impl Connection {
    /// Notes the options of the SYN that a SYN-ACK answers.
    #[cold]
    pub(super) fn note_syn_ack(&mut self, from: End, syn_ack: &Segment) {
        let syn = self.handshake.openings[from.other() as usize].as_ref();
        if let (Some(opening), Some(sending)) = (syn, &mut self.ends[from as usize]) {
            sending.note_answered_syn(&opening.syn, syn_ack);
        }
    }
}
