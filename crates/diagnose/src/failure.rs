//! How a connection failed: an end got no answer, or a reset ended the connection.

use rtolab_capture::End;
use rtolab_tcp::Seq;
use serde::Serialize;

use crate::closing::CloseState;
use crate::connection::{Connection, name};
use crate::half_connection::HalfConnection;
use crate::vantage::Vantage;

/// The minimum number of retransmissions, or of keep-alive probes, after which an end without any
/// answer counts as unanswered. One is enough for a SYN.
const MIN_UNANSWERED: u32 = 3;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Nothing answered the client's SYNs.
    SynUnanswered,
    /// A reset answered the SYN.
    Refused,
    /// Nothing acknowledged the server's SYN-ACKs.
    SynAckUnanswered,
    /// The server repeated its SYN-ACK or sent nothing more, although the client acknowledged it.
    NotAccepted,
    /// Nothing answered data or a FIN any more.
    DataUnanswered,
    /// Nothing answered the keep-alive probes (RFC 9293 section 3.8.4).
    KeepAliveUnanswered,
    /// A reset ended the connection while data was outstanding, one without an ACK field right
    /// after data of the same end, or one with a foreign hop limit.
    Reset,
}

impl FailureKind {
    /// The name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SynUnanswered => "syn-unanswered",
            Self::Refused => "refused",
            Self::SynAckUnanswered => "syn-ack-unanswered",
            Self::NotAccepted => "not-accepted",
            Self::DataUnanswered => "data-unanswered",
            Self::KeepAliveUnanswered => "keep-alive-unanswered",
            Self::Reset => "reset",
        }
    }

    /// Did the connection never open?
    pub const fn is_of_opening(self) -> bool {
        matches!(
            self,
            Self::SynUnanswered | Self::Refused | Self::SynAckUnanswered | Self::NotAccepted
        )
    }
}

/// The failure of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ConnectionFailure {
    /// What happened.
    pub kind: FailureKind,
    /// `client` or `server`: the end that got no answer, or that sent the reset.
    pub from: &'static str,
    /// The number of retransmissions without an answer, or of keep-alive probes.
    pub repeats: u64,
    /// The time without an answer, in seconds: until the last packet of the connection, from the
    /// last packet of the other end or the first transmission of what it did not acknowledge.
    pub silent: f64,
    /// The payload that was never acknowledged, in bytes; after a reset, of both ends.
    pub outstanding: u64,
    /// Is the first outstanding segment the first one of full size? Then the path may discard large
    /// packets.
    pub full_size_only: bool,
    /// The hop limit of the reset and that of the end's first packet, if they differ: then a device
    /// on the path may have sent the reset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_hops: Option<[u8; 2]>,
    /// Of a connection that was not accepted: was the capture made at the server, so that the
    /// packets of the client had arrived there? Of unanswered data: did other packets of the peer
    /// arrive meanwhile?
    #[serde(skip)]
    pub arrived: bool,
    /// Has a reset that answers data no ACK field? So a host answers what arrives for a connection
    /// that it does not know (RFC 9293 section 3.10.7.1).
    #[serde(skip)]
    pub is_unknown_to_host: bool,
}

impl ConnectionFailure {
    /// The number of retransmissions that nothing answered: the last ones of [`Self::from`].
    pub(crate) const fn unanswered(&self) -> usize {
        match self.kind {
            FailureKind::Refused | FailureKind::Reset | FailureKind::KeepAliveUnanswered => 0,
            _ => self.repeats as usize,
        }
    }
}

/// The failure of a connection that has ended, or with which the capture ends.
pub(crate) fn failure(connection: &Connection) -> Option<ConnectionFailure> {
    let direction = |end: End| connection.ends[end as usize].as_deref();
    let [client, server] = &connection.handshake.openings;
    if let (Some(_), None, Some(sending)) = (client, server, direction(End::Client)) {
        let reset = connection.reset.filter(|reset| reset.from == End::Server);
        let repeats = sending.sender_state.unanswered();
        return match connection.seen {
            [_, 0] if sending.bytes == 0 && repeats > 0 => {
                Some(unanswered(connection, (End::Client, sending), FailureKind::SynUnanswered))
            }
            [_, 1] if reset.is_some() => Some(ConnectionFailure {
                repeats: 0,
                ..unanswered(connection, (End::Server, sending), FailureKind::Refused)
            }),
            _ => None,
        };
    }
    if connection.seen.contains(&0) {
        // One direction shows no answers.
        return reset(connection);
    }
    if let Some(sending) = direction(End::Server) {
        let is_unopened = server.is_some() && sending.flight().una() == Seq::FIRST;
        if is_unopened && sending.sender_state.unanswered() >= MIN_UNANSWERED {
            return Some(unanswered(
                connection,
                (End::Server, sending),
                FailureKind::SynAckUnanswered,
            ));
        }
    }
    if let Some(failure) = not_accepted(connection) {
        return Some(failure);
    }
    for end in [End::Client, End::Server] {
        let Some(sending) = direction(end) else { continue };
        let is_reset = connection.reset.is_some_and(|reset| reset.from == end.other());
        if is_reset || connection.timestamps.missing_since(end.other()).is_some() {
            continue;
        }
        let state = &sending.sender_state;
        if sending.flight().size() > 0 && state.unanswered() >= MIN_UNANSWERED {
            return Some(unanswered(connection, (end, sending), FailureKind::DataUnanswered));
        }
        if let Some(failure) = full_segments_unanswered(connection, (end, sending)) {
            return Some(failure);
        }
        if state.unanswered_probes() >= MIN_UNANSWERED {
            let kind = FailureKind::KeepAliveUnanswered;
            let repeats = u64::from(state.unanswered_probes());
            return Some(ConnectionFailure {
                repeats,
                ..unanswered(connection, (end, sending), kind)
            });
        }
    }
    reset(connection)
}

/// The failure of a connection that the server did not accept: it sent nothing but SYN-ACKs,
/// although the client acknowledged them, and retransmitted its data if it had any.
fn not_accepted(connection: &Connection) -> Option<ConnectionFailure> {
    let [Some(client), Some(server)] = &connection.ends else { return None };
    let (client, server) = (client.as_ref(), server.as_ref());
    let [_, from_server] = connection.seen;
    let has_handshake = connection.handshake.openings.iter().all(Option::is_some);
    let syn = Seq::FIRST + 1;
    let sent_only_syn_acks = server.flight().max() == syn
        && server.flight().una() == syn
        && from_server == server.retransmissions + 1;
    let is_reset = connection.reset.is_some_and(|reset| reset.from == End::Server);
    let is_unanswered = client.flight().una() == syn && !is_reset;
    let retransmissions = client.retransmissions + server.retransmissions;
    let failure = unanswered(connection, (End::Client, client), FailureKind::NotAccepted);
    let arrived = connection.turnarounds.vantage(End::Client) == Vantage::Receiver;
    // A path that discards large packets looks the same at the client.
    let may_be_path = failure.full_size_only && !arrived && server.retransmissions == 0;
    let is_failure = has_handshake
        && sent_only_syn_acks
        && is_unanswered
        && retransmissions >= u64::from(MIN_UNANSWERED)
        && connection.timestamps.missing_since(End::Server).is_none()
        && !may_be_path;
    is_failure.then_some(ConnectionFailure {
        repeats: retransmissions,
        full_size_only: false,
        arrived,
        ..failure
    })
}

/// The failure of a connection of which no full segment was acknowledged, although packets of the
/// other end came, such as its FIN.
fn full_segments_unanswered(
    connection: &Connection,
    (end, sending): (End, &HalfConnection),
) -> Option<ConnectionFailure> {
    let failure = unanswered(connection, (end, sending), FailureKind::DataUnanswered);
    let head = sending.flight().head()?;
    let is_failure = failure.full_size_only
        && sending.retransmissions >= u64::from(MIN_UNANSWERED)
        && sending.sender_state.backoffs(head.seq) >= MIN_UNANSWERED;
    is_failure.then_some(ConnectionFailure {
        repeats: sending.retransmissions,
        silent: connection.last.since(head.first_sent).secs_f64(),
        arrived: true,
        ..failure
    })
}

fn unanswered(
    connection: &Connection,
    (end, sending): (End, &HalfConnection),
    kind: FailureKind,
) -> ConnectionFailure {
    let flight = sending.flight();
    let last_answer = sending.sender_state.last_ack().unwrap_or(connection.began);
    let waits_from = flight.head().map_or(last_answer, |head| head.first_sent.max(last_answer));
    let is_first_full = |sent: &rtolab_tcp::Sent| sending.first_full == Some(sent.seq);
    let has_handshake = connection.handshake.openings.iter().all(Option::is_some);
    ConnectionFailure {
        kind,
        from: name(end),
        repeats: u64::from(sending.sender_state.unanswered()),
        silent: connection.last.since(waits_from).secs_f64(),
        outstanding: payload(sending, None),
        full_size_only: has_handshake && flight.head().is_some_and(is_first_full),
        foreign_hops: None,
        arrived: false,
        is_unknown_to_host: false,
    }
}

/// The outstanding payload of a direction, in bytes. `ack` is the ACK field of a reset, which the
/// flight does not process.
fn payload(sending: &HalfConnection, ack: Option<Seq>) -> u64 {
    let flight = sending.flight();
    let fin = flight.last().is_some_and(|last| last.flags.has(rtolab_tcp::Flags::FIN));
    let syn = flight.una() == Seq::FIRST && flight.size() > 0;
    // An ACK of what was never sent acknowledges nothing (RFC 5961 section 5).
    let ack = ack.filter(|ack| *ack <= flight.max());
    let acked = ack.map_or(0, |ack| ack.since(flight.una()));
    let of_syn = u64::from(syn && acked == 0);
    let of_fin = u64::from(fin && acked < flight.size());
    flight.size().saturating_sub(acked).saturating_sub(of_fin + of_syn)
}

/// Did this end send more than the other one, and full segments?
fn is_transfer(connection: &Connection, end: End) -> bool {
    let sending = connection.ends[end as usize].as_deref();
    let has_full = sending.is_some_and(|sending| sending.first_full.is_some());
    has_full && connection.main_sender() == end
}

/// A reset that ended the connection while data was outstanding, one without an ACK field right
/// after data of the same end, or one with a foreign hop limit.
fn reset(connection: &Connection) -> Option<ConnectionFailure> {
    let reset = connection.reset.filter(|reset| reset.close_state == CloseState::Open)?;
    let outstanding = [End::Client, End::Server].into_iter().filter_map(|end| {
        let ack = reset.ack.filter(|_| reset.from != end);
        connection.ends[end as usize].as_deref().map(|sending| payload(sending, ack))
    });
    let outstanding = outstanding.sum();
    // A host answers like that what arrives for a connection that it no longer has. A program that
    // closes by a reset sends an ACK field.
    let is_answer = reset.is_after_data && reset.ack.is_none();
    let ends_transfer = is_answer && is_transfer(connection, reset.from);
    let is_failure = outstanding > 0 || ends_transfer || reset.foreign_hops.is_some();
    is_failure.then_some(ConnectionFailure {
        kind: FailureKind::Reset,
        from: name(reset.from),
        repeats: 0,
        silent: 0.0,
        outstanding,
        full_size_only: false,
        foreign_hops: reset.foreign_hops,
        arrived: false,
        is_unknown_to_host: reset.ack.is_none() && !reset.is_after_data,
    })
}

#[cfg(test)]
mod tests {
    use super::FailureKind::*;

    #[test]
    fn a_failure_has_the_name_of_documents() {
        let all = [
            SynUnanswered,
            Refused,
            SynAckUnanswered,
            NotAccepted,
            DataUnanswered,
            KeepAliveUnanswered,
            Reset,
        ];
        for kind in all {
            assert_eq!(serde_json::json!(kind), kind.name());
            let opens = matches!(kind, DataUnanswered | KeepAliveUnanswered | Reset);
            assert_eq!(kind.is_of_opening(), !opens);
        }
        assert_eq!(SynAckUnanswered.name(), "syn-ack-unanswered");
    }
}
