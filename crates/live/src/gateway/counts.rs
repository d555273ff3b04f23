//! What a gateway has done.

/// Counters with their names, which reports give them, too.
macro_rules! counters {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// What a gateway has done, counted.
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
    /// Of these, handshakes that clients completed.
    established,
    /// Connections that both ends closed.
    closed,
    /// That clients reset.
    reset_by_client,
    /// That servers refused, or whose servers could not be reached.
    refused_by_server,
    /// That servers reset.
    reset_by_server,
    /// That were given up, for the client did not answer.
    timed_out,
    /// That moved nothing for too long.
    idle,
    /// Half-open ones that made room for others.
    overrun,
    /// That were cut off as the gateway ended.
    cut,
    /// Clients that were turned away, for there were too many connections.
    over_connections,
    /// Turned away, for there was no memory to promise them.
    over_memory,
    /// Turned away, for the system gave no socket.
    over_sockets,
    /// The most connections at once, those in TIME-WAIT left out.
    most_connections,
    /// The most payload kept at once, in bytes.
    most_kept,
    /// Payload that servers took, in bytes.
    bytes_up,
    /// Payload that clients acknowledged, in bytes.
    bytes_down,
    /// TCP segments that arrived.
    segments_in,
    /// Segments that left.
    segments_out,
    /// Of these, those that had left before.
    retransmissions,
    /// Retransmission timeouts.
    timeouts,
    /// Fast retransmits.
    fast_retransmits,
    /// Tail loss probes.
    probes,
    /// Timeouts that the sender found spurious, and answered as its response says.
    spurious_timeouts,
    /// Fast retransmits that it found spurious.
    spurious_fast_retransmits,
    /// Of the spurious ones, those after which the congestion window was larger than before the
    /// verdict.
    undone,
    /// Packets that were not whole TCP segments.
    not_tcp,
    /// Fragments, which are dropped.
    fragments,
    /// Packets whose checksums do not hold.
    damaged,
    /// Packets from or for addresses that no host has.
    martian,
    /// Segments that would have made too many pieces.
    pieces,
    /// Segments of no connection, and no beginning of one.
    stray,
    /// Packets that the device did not take.
    undelivered,
}
