//! How the hosts behave. Most keys are declared where the engine has its settings.

use rtolab_settings::{Mss, Settings, Whole};
use rtolab_tcp::Config;
use rtolab_tcp::config::{EchoRule, ReceiverConfig};
use rtolab_tcp::profile::Profile;

use super::profile::ReceivingProfile;

/// How the sending hosts behave.
#[derive(Debug, Settings)]
pub(crate) struct Tcp {
    /// The sender: a loss recovery and further policies, or a profile. A flow may have its own, and
    /// the command line may name others.
    #[setting(example = "sack", example = "newreno+frto", unset = "sack")]
    pub sender: Option<String>,
    #[setting(flatten)]
    pub config: Config,
}

/// How the receiving hosts behave; what is not here they share with the sending ones.
#[derive(Debug, Settings)]
pub(crate) struct Receiver {
    /// The system that receives. It sets some of the keys below, and those that are written replace
    /// what it sets.
    #[setting(format = ReceivingProfile, unset = "none")]
    pub profile: Option<&'static Profile>,
    /// Which segments' timestamps are echoed.
    #[setting(unset = "as tcp.timestamp.echo")]
    pub echo: Option<EchoRule>,
    /// Is SACK accepted where it is offered?
    #[setting(unset = "true")]
    pub sack: Option<bool>,
    /// Are timestamps accepted where they are offered?
    #[setting(unset = "true")]
    pub timestamps: Option<bool>,
    /// Are duplicates reported by D-SACK (RFC 2883)?
    #[setting(unset = "false")]
    pub dsack: Option<bool>,
    /// Is explicit congestion notification accepted where it is offered (RFC 3168)?
    #[setting(unset = "true")]
    pub ecn: Option<bool>,
    /// The largest segment.
    #[setting(format = Mss, example = "256 B", unset = "as tcp.mss")]
    pub mss: Option<u16>,
    /// The window scale that answers an offer.
    #[setting(format = Whole<0, 14>, unset = "the smallest that announces the buffer")]
    pub window_scale: Option<u8>,
    #[setting(flatten)]
    pub config: ReceiverConfig,
}
