//! The receiver's window as the limit of a connection.

use rtolab_capture::End;
use rtolab_time::Duration;

use crate::connection::Connection;

/// The smallest ratio of the window of the handshake to all later ones that shows windows without
/// their scale. Most systems scale by more.
const MIN_UNSCALED_RATIO: u32 = 16;

/// How long the receiver's window left no room for a full segment, and how long of that it was
/// small, in seconds. Without the handshake the window scale is unknown.
pub(super) fn full_window(connection: &Connection, sender: End) -> [f64; 2] {
    let has_scale = connection.handshake.has_both();
    let sending = connection.ends[sender as usize].as_deref().filter(|_| has_scale);
    let limit = sending.map(|sending| sending.window_limit);
    limit.map_or([0.0; 2], |limit| [limit.full_for, limit.small_for].map(Duration::secs_f64))
}

/// The window of the SYN-ACK and the largest one after it, in bytes, if the path removed window
/// scaling from the SYN-ACK: the server scales its windows, and the client does not.
pub(super) fn unscaled(connection: &Connection, sender: End) -> Option<[u32; 2]> {
    let [Some(client), Some(server)] = &connection.handshake.openings else { return None };
    let [client, server] = [client, server].map(|opening| opening.syn.syn_options().window_scale);
    let is_removed = connection.handshake.has_both() && client.is_some() && server.is_none();
    let sending = connection.ends[sender as usize].as_deref();
    let limit = sending.filter(|_| is_removed && sender == End::Client)?.window_limit;
    let is_unscaled = limit.largest > 0 && limit.of_syn / limit.largest >= MIN_UNSCALED_RATIO;
    is_unscaled.then_some([limit.of_syn, limit.largest])
}
