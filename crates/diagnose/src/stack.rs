//! A guess at the system that sends, by what it offers when a connection opens.

use rtolab_capture::End;

use crate::connection::Connection;

/// The sender's system, if its SYN is like that of one.
pub(crate) fn guess(connection: &Connection, sender: End) -> Option<&'static str> {
    let syn = connection.handshake.syns[sender as usize]?;
    let offer = syn.syn_options();
    let timestamps = syn.timestamps().is_some();
    match (offer.window_scale, timestamps, syn.window) {
        // Windows offers no timestamps, and shifts by eight (Windows Vista and later).
        (Some(8), false, 8192 | 64_240 | 65_535) => Some("windows"),
        // The BSDs and Apple's systems open with the largest window without a shift.
        (Some(6), true, 65_535) => Some("freebsd or macos"),
        (Some(3..=5), true, 65_535) => Some("macos or ios"),
        // Linux offers ten to forty-four segments of its own size.
        (Some(5..=14), _, 26_000..=29_200 | 42_000..=65_160) if offer.sack_permitted => {
            Some("linux")
        }
        _ => None,
    }
}
