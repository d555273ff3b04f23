//! Data that an end sent and that never reached the capture point.

use rtolab_capture::End;

use crate::closing::CloseState;
use crate::connection::{Connection, name};
use crate::vantage::Vantage;

/// Data that an end sent, as its later sequence numbers show, that the capture lacks, and that
/// nothing acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeverArrived {
    /// `client` or `server`: the end that sent it.
    pub from: &'static str,
    pub bytes: u64,
    /// Is that at least a full segment, and did no other data of that end reach the capture point?
    pub is_all: bool,
}

impl NeverArrived {
    /// The end of a connection shows it: until then a retransmission may bring the data.
    pub fn in_connection(connection: &Connection) -> Option<Self> {
        if connection.close_state == CloseState::Open || connection.seen.contains(&0) {
            return None;
        }
        [End::Server, End::Client].into_iter().find_map(|end| {
            let sending = connection.ends[end as usize].as_deref()?;
            let bytes = sending.arrivals.lacking();
            // At the sender, it is the capture that missed the data.
            let is_known = connection.turnarounds.vantage(end) != Vantage::Sender
                && connection.timestamps.missing_since(end).is_none();
            let is_all = sending.bytes == 0 && bytes >= u64::from(sending.mss);
            // Other sequence numbers, such as those of a second SYN-ACK, are no data.
            let is_allowed = bytes <= sending.window_limit.most().into();
            (bytes > 0 && is_known && is_allowed).then_some(Self { from: name(end), bytes, is_all })
        })
    }
}
