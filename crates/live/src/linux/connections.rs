//! The connections of a command, found in its packets: TCP connections, SCTP associations, and UDP
//! between two ports.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use rtolab_packet::{Path, protocol::IpNumber};
use rtolab_record::Place;

use super::log::{Log, Sent};
use super::recording::FlowInfo;

/// The protocol, the sending end and the receiving end.
type Ends = (IpNumber, [SocketAddr; 2]);

/// A connection, with its packets. The sender of its first packet is the first end.
struct Connection {
    protocol: IpNumber,
    ends: [SocketAddr; 2],
    bytes: [u64; 2],
    packets: Vec<(usize, usize)>,
}

/// Assigns every packet to a connection, and names the connections. The end that sends more is the
/// sender.
pub(crate) fn find(log: &mut Log) -> Vec<FlowInfo> {
    let mut numbers = BTreeMap::new();
    let mut found: Vec<Connection> = Vec::new();
    for (copy, sent) in log.sent.iter().enumerate() {
        let Some((protocol, ends)) = ends(sent) else { continue };
        let [from, to] = ends;
        let key = (protocol, [from.min(to), from.max(to)]);
        let number = *numbers.entry(key).or_insert_with(|| {
            found.push(Connection { protocol, ends, bytes: [0; 2], packets: Vec::new() });
            found.len() - 1
        });
        let connection = &mut found[number];
        let end = usize::from(from != connection.ends[0]);
        connection.bytes[end] += u64::from(sent.length);
        connection.packets.push((copy, end));
    }
    for (flow, connection) in found.iter().enumerate() {
        let sender = usize::from(connection.bytes[1] > connection.bytes[0]);
        for (copy, end) in &connection.packets {
            let place = if *end == sender { Place::Sender } else { Place::Receiver };
            log.sent[*copy].flow = Some((flow, place));
        }
    }
    found.iter().map(Connection::known).collect()
}

impl Connection {
    fn known(&self) -> FlowInfo {
        let [client, server] = self.ends;
        FlowInfo {
            name: Arc::from(format!("{client} to {server}")),
            sender: match self.protocol {
                IpNumber::TCP => "linux",
                IpNumber::SCTP => "sctp",
                _ => "udp",
            }
            .into(),
            set: None,
            bytes: None,
            tasks: Vec::new(),
        }
    }
}

/// The protocol and the ends of a TCP segment, an SCTP packet or a datagram.
fn ends(sent: &Sent) -> Option<Ends> {
    let ip = sent.ip()?;
    let path = Path { addresses: ip.header.addresses, ports: ip.ports()? };
    Some((ip.protocol, [path.from(), path.to()]))
}
