//! Links and their directions.

use rtolab_link::Order;
use rtolab_time::{Duration, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::arq::Arq;
use super::changes::{Bad, DelayTrace, RateChanges, States};
use super::parsed::{Chance, Count, Parsed};
use super::quantity::{Name, Positive, Room};
use super::queue::{CoDel, Priority, Red};
use super::spans::{Length, Outages, Spikes, Stalls};

/// A struct with keys of its own and the keys of one direction. A link has them for both
/// directions, `forward` and `backward` for one; so has a flow's access link.
macro_rules! with_direction {
    ($(#[$about:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, expecting = "a table")]
        pub(crate) struct $name {
            $($own)*
            /// How fast it sends; without it serialisation takes no time.
            #[schemars(example = &"28.8 kbit/s")]
            pub rate: Option<Parsed<Rate>>,
            /// Other rates from given times on.
            #[schemars(example = serde_json::json!([{ "at": "5 s", "rate": "9.6 kbit/s" }]))]
            pub rate_changes: Option<RateChanges>,
            /// A trace of mahimahi instead of a rate: a line for each packet of 1500 bytes that the
            /// link can send, the time in milliseconds. The path is relative to this file.
            #[schemars(example = &"traces/cellular.up")]
            pub rate_trace: Option<String>,
            /// The propagation delay. Default: 0 s.
            #[schemars(example = &"200 ms")]
            pub delay: Option<Parsed<Duration>>,
            /// Propagation delays that change as in a file, instead of one.
            pub delay_trace: Option<DelayTrace>,
            /// A random delay besides, drawn for each frame.
            pub jitter: Option<Length>,
            /// Do frames keep their order where their delays differ? Default: kept.
            pub order: Option<Parsed<Order>>,
            /// Room in the queue before the link's own buffers. Default: unlimited.
            #[schemars(example = &"7 packets")]
            pub queue: Option<Parsed<Room>>,
            /// Random early detection in a queue that is limited.
            pub red: Option<Red>,
            /// Controlled delay in the queue (RFC 8289).
            pub codel: Option<CoDel>,
            /// A source of higher priority that interrupts what is being sent, voice say.
            pub priority: Option<Priority>,
            /// A frame that is older than this when its transmission would begin is dropped.
            /// Default: frames do not age.
            #[schemars(example = &"3 s")]
            pub lifetime: Option<Parsed<Positive>>,
            /// Room in the link's send buffer, which a frame leaves when it is delivered.
            /// Default: unlimited.
            #[schemars(example = &"1776 B")]
            pub send_buffer: Option<Parsed<Room>>,
            /// Room at the far end for frames that wait for an earlier one. Default: unlimited.
            #[schemars(example = &"1776 B")]
            pub receive_buffer: Option<Parsed<Room>>,
            /// The chance of each frame to be lost at the end of its transmission. Default: 0.
            pub loss: Option<Chance>,
            /// The chance that a frame fares as the one before it did, instead of independently:
            /// losses come in bursts. Default: 0.
            pub loss_memory: Option<Chance>,
            /// The frames that are lost, counted from 1 as they are transmitted.
            #[schemars(example = serde_json::json!([23, 31]))]
            pub drops: Option<Vec<Count>>,
            /// What differs in the bad one of two states.
            pub bad: Option<Bad>,
            /// The chance of each delivered frame to arrive twice. Default: 0.
            pub duplication: Option<Chance>,
            /// The chance of each delivered frame to arrive damaged, so that a checksum finds it.
            /// Default: 0.
            pub corruption: Option<Chance>,
            /// Sudden delays of single frames.
            pub spikes: Option<Spikes>,
            /// Spans in which frames are held, to go on in order afterwards.
            pub stalls: Option<Stalls>,
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
                    stage: raw.stage.clone(),
                    outages: None,
                }
            }
        }
    };
}

with_direction! {
    /// What differs in one direction: a key that is given here stands instead of the link's.
    #[derive(Default)]
    Direction {
        /// Spans in which every frame of this direction is lost, besides the link's.
        pub outages: Option<Outages>,
    }
}

with_direction! {
    /// A link between two nodes.
    Link {
        /// What it is called in tables and in --set.
        #[schemars(example = &"wireless")]
        pub name: Parsed<Name>,
        /// The nodes that it joins; forward leads from the first to the second.
        #[schemars(example = serde_json::json!(["router", "mobile"]))]
        pub between: [Parsed<Name>; 2],
        /// Spans in which every frame of either direction is lost.
        pub outages: Option<Outages>,
        /// Two states that take turns; `bad` says what differs in the second.
        pub states: Option<States>,
        /// Local retransmission, at most twice: the first is nearer to the hosts.
        #[schemars(length(max = 2))]
        pub arq: Option<Vec<Arq>>,
        /// What differs on the way from the first node to the second.
        pub forward: Option<Direction>,
        /// What differs on the way back.
        pub backward: Option<Direction>,
    }
}

with_direction! {
    /// A flow's own link between its sender and the first node of its path.
    Access {
        /// Spans in which every frame of either direction is lost.
        pub outages: Option<Outages>,
        /// Two states that take turns; `bad` says what differs in the second.
        pub states: Option<States>,
        /// Local retransmission, at most twice: the first is nearer to the hosts.
        #[schemars(length(max = 2))]
        pub arq: Option<Vec<Arq>>,
        /// What differs on the way from the sender.
        pub forward: Option<Direction>,
        /// What differs on the way to the sender.
        pub backward: Option<Direction>,
    }
}
