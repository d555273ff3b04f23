//! Links and their directions.

use rtolab_link::{HeaderCompression, Order};
use rtolab_time::{Duration, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::arq::Arq;
use super::changes::{Bad, DelayTrace, RateChanges, States};
use super::parsed::{Chance, Count, Parsed};
use super::queue::{CoDel, Priority, Red};
use super::spans::{Length, Outages, Spikes, Stalls};
use crate::formats::{Name, Room};
use rtolab_settings::Positive;

/// A struct with keys of its own and the keys of one direction. A link has them for both
/// directions, `forward` and `backward` for one; so has a flow's access link.
macro_rules! with_direction {
    ($(#[$about:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, expecting = "a table")]
        pub(crate) struct $name {
            $($own)*
            /// The rate. Without it serialisation takes no time.
            #[schemars(example = &"28.8 kbit/s")]
            pub rate: Option<Parsed<Rate>>,
            /// Changes of the rate.
            #[schemars(example = serde_json::json!([{ "at": "5 s", "rate": "9.6 kbit/s" }]))]
            pub rate_changes: Option<RateChanges>,
            /// A trace of mahimahi instead of a rate: a line for each packet of 1500 bytes that the
            /// link can send, the time in milliseconds. The path is relative to this file.
            #[schemars(example = &"traces/cellular.up")]
            pub rate_trace: Option<String>,
            /// The propagation delay. Default: 0 s.
            #[schemars(example = &"200 ms")]
            pub delay: Option<Parsed<Duration>>,
            /// Propagation delays over time, from a file, instead of a constant one.
            pub delay_trace: Option<DelayTrace>,
            /// A random delay that is added to the propagation delay of each frame.
            pub jitter: Option<Length>,
            /// Do frames keep their order if their delays differ? Default: kept.
            pub order: Option<Parsed<Order>>,
            /// The limit of the queue before the link's own buffers. Default: unlimited.
            #[schemars(example = &"7 packets")]
            pub queue: Option<Parsed<Room>>,
            /// Random early detection. It needs a limited queue.
            pub red: Option<Red>,
            /// Controlled delay in the queue (RFC 8289).
            pub codel: Option<CoDel>,
            /// A source of higher priority, such as voice, that interrupts transmissions.
            pub priority: Option<Priority>,
            /// The age at which a frame is dropped instead of transmitted. Default: frames do not
            /// age.
            #[schemars(example = &"3 s")]
            pub lifetime: Option<Parsed<Positive>>,
            /// The limit of the link's send buffer, which a frame leaves when it is delivered.
            /// Default: unlimited.
            #[schemars(example = &"1776 B")]
            pub send_buffer: Option<Parsed<Room>>,
            /// The limit at the receiving end for frames that wait for an earlier one. Default:
            /// unlimited.
            #[schemars(example = &"1776 B")]
            pub receive_buffer: Option<Parsed<Room>>,
            /// The probability that a frame is lost at the end of its transmission. Default: 0.
            pub loss: Option<Chance>,
            /// The probability that a frame has the fate of the previous frame, so that losses come
            /// in bursts. Default: 0.
            pub loss_memory: Option<Chance>,
            /// The frames that are lost, by number. Transmitted frames count from 1.
            #[schemars(example = serde_json::json!([23, 31]))]
            pub drops: Option<Vec<Count>>,
            /// Two random states, and the keys that differ in the bad one.
            pub bad: Option<Bad>,
            /// The probability that a delivered frame arrives twice. Default: 0.
            pub duplication: Option<Chance>,
            /// The probability that a delivered frame arrives damaged, which its checksum shows.
            /// Default: 0.
            pub corruption: Option<Chance>,
            /// Delay spikes: sudden delays of single frames.
            pub spikes: Option<Spikes>,
            /// Times at which frames are held. They continue in order afterwards.
            pub stalls: Option<Stalls>,
            /// How TCP/IP headers are compressed; not beside arq or codel. Default: none.
            #[schemars(example = &"rfc1144")]
            pub header_compression: Option<Parsed<HeaderCompression>>,
            /// A stage written in Python, by its name. Default: "none".
            #[schemars(example = &"every-tenth")]
            pub stage: Option<Parsed<Name>>,
        }

        impl From<&$name> for Direction {
            fn from(raw: &$name) -> Self {
                Self {
                    rate: raw.rate,
                    rate_changes: raw.rate_changes.clone(),
                    rate_trace: raw.rate_trace.clone(),
                    delay: raw.delay,
                    delay_trace: raw.delay_trace.clone(),
                    jitter: raw.jitter,
                    order: raw.order,
                    queue: raw.queue,
                    red: raw.red,
                    codel: raw.codel,
                    priority: raw.priority,
                    lifetime: raw.lifetime,
                    send_buffer: raw.send_buffer,
                    receive_buffer: raw.receive_buffer,
                    loss: raw.loss,
                    loss_memory: raw.loss_memory,
                    drops: raw.drops.clone(),
                    bad: raw.bad,
                    duplication: raw.duplication,
                    corruption: raw.corruption,
                    spikes: raw.spikes,
                    stalls: raw.stalls.clone(),
                    header_compression: raw.header_compression,
                    stage: raw.stage.clone(),
                    outages: None,
                }
            }
        }
    };
}

with_direction! {
    /// The keys that differ in one direction. They replace the link's.
    #[derive(Default)]
    Direction {
        /// Times at which every frame of this direction is lost, in addition to the link's outages.
        pub outages: Option<Outages>,
    }
}

with_direction! {
    /// A link between two nodes.
    Link {
        /// Its name in tables and in --set.
        #[schemars(example = &"wireless")]
        pub name: Parsed<Name>,
        /// The nodes that it connects. Forward is the direction from the first to the second.
        #[schemars(example = serde_json::json!(["router", "mobile"]))]
        pub between: [Parsed<Name>; 2],
        /// Times at which every frame of both directions is lost.
        pub outages: Option<Outages>,
        /// Two states that alternate. `bad` has the keys that differ in the second.
        pub states: Option<States>,
        /// Local retransmission, at most twice: the first is nearer to the hosts.
        #[schemars(length(max = 2))]
        pub arq: Option<Vec<Arq>>,
        /// The keys that differ in the direction from the first node to the second.
        pub forward: Option<Direction>,
        /// The keys that differ in the other direction.
        pub backward: Option<Direction>,
    }
}

with_direction! {
    /// A flow's own link between its sender and the first node of its path.
    Access {
        /// Times at which every frame of both directions is lost.
        pub outages: Option<Outages>,
        /// Two states that alternate. `bad` has the keys that differ in the second.
        pub states: Option<States>,
        /// Local retransmission, at most twice: the first is nearer to the hosts.
        #[schemars(length(max = 2))]
        pub arq: Option<Vec<Arq>>,
        /// The keys that differ in the direction from the sender.
        pub forward: Option<Direction>,
        /// The keys that differ in the direction to the sender.
        pub backward: Option<Direction>,
    }
}
