//! Sentences about connections that failed: nothing answered, or a reset ended them.

use rtolab_capture::PacketTooBig;
use serde_json::json;

use super::sentence::Sentence;
use super::words::{bytes, counted, seconds};
use crate::failure::FailureKind::{
    self, DataUnanswered, KeepAliveUnanswered, NotAccepted, Refused, Reset, SynAckUnanswered,
    SynUnanswered,
};
use crate::totals::{CaptureTotals, FailedConnections};

/// One sentence for each kind of failure.
pub(super) fn sentences(totals: &CaptureTotals) -> impl Iterator<Item = Sentence> {
    totals.failures.iter().map(|(kind, failed)| sentence(*kind, failed, totals))
}

fn sentence(kind: FailureKind, failed: &FailedConnections, totals: &CaptureTotals) -> Sentence {
    let text = if totals.is_single() { one(kind, failed) } else { several(kind, failed) };
    let meaning = match totals.lone_syns() {
        Some(syns) if syns.to_one_server && kind == SynAckUnanswered => {
            "Clients whose addresses a SYN flood forges do not answer."
        }
        _ => meaning(kind, failed),
    };
    let too_big = totals.too_big.filter(|_| kind == DataUnanswered && failed.full_size_only);
    let text = match too_big {
        None => format!("{text} {meaning}"),
        Some(PacketTooBig { router, mtu, .. }) => format!(
            "{text} The handshake got through and no full segment did. {router} says that its MTU \
             is {mtu} (ICMP), and the sender ignores it: look at its firewall, and at those before \
             it. Let them pass these messages, or use a smaller MTU, or `sysctl \
             net.ipv4.tcp_mtu_probing=1` on the sender."
        ),
    };
    let repeats = match kind {
        SynUnanswered | SynAckUnanswered | NotAccepted | DataUnanswered => {
            format!("{}, no answer", counted(failed.repeats, "retransmission"))
        }
        KeepAliveUnanswered => format!("{}, no answer", counted(failed.repeats, "probe")),
        Refused | Reset => counted(failed.count, "reset"),
    };
    let mut figures = vec![
        ("connections", json!(failed.count)),
        ("repeats", json!(failed.repeats)),
        ("silent", json!(failed.silent)),
        ("outstanding", json!(failed.outstanding)),
    ];
    if let Some(PacketTooBig { router, mtu, .. }) = too_big {
        figures.extend([("router", json!(router.to_string())), ("mtu", json!(mtu))]);
    }
    Sentence::new(text, repeats, &figures)
}

fn one(kind: FailureKind, failed: &FailedConnections) -> String {
    let FailedConnections { peer, silent, outstanding, by, .. } = failed;
    let (silent, left) = (seconds(*silent), bytes(*outstanding));
    match kind {
        SynUnanswered => format!("{peer} never answered the client's SYN, for {silent}."),
        Refused => format!("{peer} refused the connection: a reset answered the SYN."),
        SynAckUnanswered => {
            format!("The connection never opened: {peer} never acknowledged the server's SYN-ACK.")
        }
        NotAccepted => {
            format!(
                "{peer} did not take the connection: after its SYN-ACK, which the client \
                 acknowledged, it answered nothing for {silent}."
            )
        }
        DataUnanswered if *outstanding == 0 => {
            format!("{peer} never acknowledged the FIN: for the last {silent} it sent nothing.")
        }
        DataUnanswered if failed.arrived => format!(
            "In the connection's last {silent} {peer} acknowledged none of {left}, although other \
             packets of it came."
        ),
        DataUnanswered => format!(
            "In the connection's last {silent} nothing came back from {peer}, and {left} stayed \
             without an acknowledgment."
        ),
        KeepAliveUnanswered => {
            format!("In the connection's last {silent} {peer} answered no keep-alive.")
        }
        Reset => {
            let text = match outstanding {
                0 if failed.foreign_hops.is_none() => {
                    format!(
                        "A reset of the {by} ended the connection right after its data: the {by} no \
                         longer had the connection."
                    )
                }
                0 => format!("A reset of the {by} ended the connection."),
                _ => format!("The {by} reset the connection, with {left} not acknowledged."),
            };
            match failed.foreign_hops {
                Some([reset, others]) => format!(
                    "{text} The reset has a hop limit of {reset}, other packets of the {by} one of \
                     {others}."
                ),
                None => text,
            }
        }
    }
}

fn several(kind: FailureKind, failed: &FailedConnections) -> String {
    let FailedConnections { count, number, peer, by, .. } = failed;
    let connections = counted(*count, "connection");
    let such = match count {
        1 => format!("number {number}"),
        _ => format!("such as number {number}"),
    };
    match kind {
        SynUnanswered => format!("{connections} got no answer to the SYN, {such} to {peer}."),
        Refused => format!("A reset refused {connections}, {such} to {peer}."),
        SynAckUnanswered => {
            format!("{connections} never opened: the SYN-ACK was not acknowledged, {such}.")
        }
        NotAccepted => format!(
            "The server did not take {connections}, {such} to {peer}: after its SYN-ACK, which the \
             client acknowledged, it answered nothing."
        ),
        DataUnanswered => format!("{connections} got no answer any more, {such}."),
        KeepAliveUnanswered => {
            format!("{connections} got no answer to keep-alives any more, {such}.")
        }
        Reset => format!(
            "{connections} ended by a reset while data was not acknowledged, right after data, or \
             with another hop limit, {such} by the {by}."
        ),
    }
}

/// What causes it, and where to look.
const fn meaning(kind: FailureKind, failed: &FailedConnections) -> &'static str {
    match kind {
        SynUnanswered => {
            "The host is down or unreachable, or a firewall discards SYNs: check the address, the \
             route and the firewalls."
        }
        Refused => {
            "No program listens on that port, or a firewall rejects the connection: `ss -ltn` on \
             the server shows its listening ports."
        }
        SynAckUnanswered => {
            "The way back to the client loses it, or a firewall discards it: check the route from \
             the server to the client."
        }
        NotAccepted if failed.arrived => {
            "The client's packets arrived there: the listen queue of the server was full, or its \
             firewall discarded them. Let the program accept connections faster, or lengthen the \
             queue: the `backlog` of its `listen()` and `sysctl net.core.somaxconn`; `nstat -az \
             TcpExtListenOverflows` there counts what it discarded."
        }
        NotAccepted => {
            "A server whose listen queue is full does that: `nstat -az TcpExtListenOverflows` \
             there counts what it discarded. Let its program accept connections faster, or \
             lengthen the queue: the `backlog` of its `listen()` and `sysctl net.core.somaxconn`. \
             A path that discards the client's packets looks the same; a capture at the server \
             shows whether they arrive."
        }
        DataUnanswered if failed.full_size_only => {
            "The handshake got through and no full segment did. A path whose MTU is smaller than \
             the hosts know looks like that, if no ICMP message about it arrives: try `ping -M do \
             -s SIZE`, a smaller MTU, or `sysctl net.ipv4.tcp_mtu_probing=1` on the sender."
        }
        DataUnanswered | KeepAliveUnanswered => {
            "The other host or the path failed, or a firewall or NAT on the path forgot the \
             connection."
        }
        Reset if failed.foreign_hops.is_some() => {
            "So a firewall or another device on the path probably sent it in that end's name."
        }
        Reset if failed.is_unknown_to_host => {
            "The reset answers data and has no ACK field: its host did not know the connection, \
             because it had restarted or given it up, or because a NAT on the path had given the \
             client another port. A device on the path may have sent it, too."
        }
        Reset if failed.outstanding == 0 => {
            "Its program or system gave up, or a device on the path reset it in the other end's \
             name: look at its log, or capture there."
        }
        Reset => {
            "Its program or system gave up, or a device on the path sent the reset in its name: \
             look at its log."
        }
    }
}
