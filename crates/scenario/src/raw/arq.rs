//! Local retransmission by a link itself.

use rtolab_link::{Notices, Order};
use schemars::JsonSchema;
use serde::Deserialize;

use super::parsed::{Parsed, Whole};
use rtolab_settings::{Positive, Size};

/// Local retransmission (ARQ) of frames that transmission errors and outages destroy, in both
/// directions.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { retries = 3, timeout = \"1 s\" }")]
pub(crate) struct Arq {
    /// The largest number of retransmissions of a block.
    #[schemars(example = 3)]
    pub retries: Whole<0, { u32::MAX }>,
    /// The time after which an unacknowledged block is retransmitted.
    #[schemars(example = &"1 s")]
    pub timeout: Parsed<Positive>,
    /// Are packets delivered in order, or as soon as they are complete? Default: free.
    pub order: Option<Parsed<Order>>,
    /// The largest block, in bytes: packets are split into blocks. Without it a packet is a block.
    #[schemars(example = &"40 B")]
    pub fragment: Option<Parsed<Size<1, 65_535>>>,
    /// The header of a block. Default: 0 B.
    #[schemars(example = &"7 B")]
    pub header: Option<Parsed<Size<0, 65_535>>>,
    /// The size of a report about the blocks that arrived. A report of 0 B takes no time. Default:
    /// 0 B.
    #[schemars(example = &"8 B")]
    pub report: Option<Parsed<Size<0, 65_535>>>,
    /// When the far end notices that a block is missing. Default: damage.
    pub notices: Option<Parsed<Notices>>,
}
