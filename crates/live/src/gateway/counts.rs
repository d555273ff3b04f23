//! The counts of a gateway.

/// Declares the counters with their names in reports.
macro_rules! counters {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// The counts of a gateway.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts {
            $($(#[$about])* pub $name: u64,)*
        }

        impl Counts {
            /// All counts with their names.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// SYNs that began a connection.
    opened,
    /// Handshakes that clients completed.
    established,
    /// Connections that both ends closed.
    closed,
    /// Connections that clients reset.
    reset_by_client,
    /// Connections that servers refused, or whose servers were unreachable.
    refused_by_server,
    /// Connections that servers reset.
    reset_by_server,
    /// Connections aborted because the client did not answer.
    timed_out,
    /// Connections reset at the idle timeout.
    idle,
    /// Half-open connections evicted for new ones.
    overrun,
    /// Connections reset when the gateway ended.
    cut,
    /// Clients rejected at the maximum number of connections.
    over_connections,
    /// Clients rejected at the memory limit.
    over_memory,
    /// Clients rejected because the system provided no socket.
    over_sockets,
    /// The maximum number of simultaneous connections, without those in TIME-WAIT.
    most_connections,
    /// The maximum payload buffered, in bytes.
    most_kept,
    /// Payload that servers accepted, in bytes.
    bytes_up,
    /// Payload that clients acknowledged, in bytes.
    bytes_down,
    /// TCP segments received.
    segments_in,
    /// TCP segments sent.
    segments_out,
    /// Retransmitted segments.
    retransmissions,
    /// Retransmission timeouts.
    timeouts,
    /// Fast retransmits.
    fast_retransmits,
    /// Tail loss probes.
    probes,
    /// Timeouts that the sender's detector found spurious.
    spurious_timeouts,
    /// Fast retransmits that the sender's detector found spurious.
    spurious_fast_retransmits,
    /// Spurious timeouts and fast retransmits after which cwnd was larger than before the verdict.
    undone,
    /// ICMP messages of routers that a segment in flight was too big for the path.
    packets_too_big,
    /// Packets without a whole TCP segment, except ICMP messages that a segment was too big.
    not_tcp,
    /// Fragments, which are dropped.
    fragments,
    /// Packets with wrong checksums.
    damaged,
    /// Packets from or to invalid addresses.
    martian,
    /// Segments dropped at the maximum number of out-of-order ranges.
    pieces,
    /// Segments that neither belong to a connection nor open one, and ICMP messages about segments
    /// that are not in flight.
    stray,
    /// Packets that the device refused.
    undelivered,
}
