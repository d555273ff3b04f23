//! The TCP connections of a command, found in the packets.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use rtolab_record::Place;

use crate::log::{Log, Sent};
use crate::packet::{Header, TCP};
use crate::recording::Known;

/// Both ends of a connection, in the order in which its first packet went, and what each sent.
struct Connection {
    ends: [SocketAddrV4; 2],
    bytes: [u64; 2],
    packets: Vec<(usize, usize)>,
}

/// Says of every packet which connection it belongs to, and names the connections. The end that
/// sends more data is the sender.
pub(crate) fn connections(log: &mut Log) -> Vec<Known> {
    let mut numbers = BTreeMap::new();
    let mut found: Vec<Connection> = Vec::new();
    for (copy, sent) in log.sent.iter().enumerate() {
        let Some(ends) = ends(sent) else { continue };
        let [from, to] = ends;
        let number = *numbers.entry([from.min(to), from.max(to)]).or_insert_with(|| {
            found.push(Connection { ends, bytes: [0; 2], packets: Vec::new() });
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
    fn known(&self) -> Known {
        let [client, server] = self.ends;
        Known {
            name: Arc::from(format!("{client} to {server}")),
            sender: "linux".into(),
            set: None,
            bytes: None,
            tasks: Vec::new(),
        }
    }
}

/// Where a TCP segment comes from and where it goes.
fn ends(sent: &Sent) -> Option<[SocketAddrV4; 2]> {
    let head = sent.head();
    let header = Header::read(head)?;
    let [from, to] = header.ports.filter(|_| head[9] == TCP)?;
    let address = |at: usize| Ipv4Addr::from([0, 1, 2, 3].map(|byte| head[at + byte]));
    Some([SocketAddrV4::new(address(12), from), SocketAddrV4::new(address(16), to)])
}
