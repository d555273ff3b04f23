//! How the hosts behave. Most keys are declared where the engine has its settings.

use rtolab_settings::{IntegerRange, Mss, Settings};
use rtolab_tcp::Config;
use rtolab_tcp::config::{EchoRule, ReceiverConfig};
use rtolab_tcp::profile::Profile;

use super::profile::ReceivingProfile;

/// The sending hosts.
#[derive(Debug, Settings)]
pub(crate) struct Tcp {
    /// The sender: a loss recovery and further policies, or a profile. A flow may have its own, and
    /// the command line may name others.
    #[setting(example = "sack", example = "newreno+frto", unset = "sack")]
    pub sender: Option<String>,
    #[setting(flatten)]
    pub config: Config,
}

/// The receiving hosts. They share all other settings with the sending hosts.
#[derive(Debug, Settings)]
pub(crate) struct Receiver {
    /// The receiving system. It sets some of the keys below; keys of the file take precedence.
    #[setting(format = ReceivingProfile, unset = "none")]
    pub profile: Option<&'static Profile>,
    /// The rule for the timestamps that are echoed.
    #[setting(unset = "as tcp.timestamp.echo")]
    pub echo: Option<EchoRule>,
    /// Is SACK accepted if the peer offers it?
    #[setting(unset = "true")]
    pub sack: Option<bool>,
    /// Are timestamps accepted if the peer offers them?
    #[setting(unset = "true")]
    pub timestamps: Option<bool>,
    /// Are duplicates reported by D-SACK (RFC 2883)?
    #[setting(unset = "false")]
    pub dsack: Option<bool>,
    /// Is explicit congestion notification accepted if the peer offers it (RFC 3168)?
    #[setting(unset = "true")]
    pub ecn: Option<bool>,
    /// The maximum segment size.
    #[setting(format = Mss, example = "256 B", unset = "as tcp.mss")]
    pub mss: Option<u16>,
    /// The window scale that answers an offer.
    #[setting(format = IntegerRange<0, 14>, unset = "the smallest that announces the buffer")]
    pub window_scale: Option<u8>,
    #[setting(flatten)]
    pub config: ReceiverConfig,
}
