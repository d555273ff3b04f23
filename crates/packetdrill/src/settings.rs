//! How the stack behaves: what the tool's `--so_flags` say, and the settings of a kernel that a
//! script asks for in its first lines.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use rtolab_tcp::Config;
use rtolab_tcp::config::{Halving, RtoFloor};
use rtolab_tcp::profile::Profile;
use rtolab_tcp::sum::{self, SumError};
use rtolab_time::Duration;
use thiserror::Error;

/// The sender where none is named.
const SENDER: &str = "linux";

/// What stands in for it.
const STOPGAP: &str = "sack:rfc6675+frto:linux+eifel:rfc3522+dsack:linux+linux";

/// What `--so_flags` say: `key=value`, with commas between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The sender, as elsewhere in the laboratory.
    pub sender: String,
    /// Where the settings lie that scripts make, one file a setting, as in `/proc/sys/net/ipv4`.
    pub sysctl: Option<PathBuf>,
    /// The address that `connect` takes without a `bind` before it.
    pub local: Local,
}

/// The host's own address, of either family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// For IPv4.
    pub v4: Ipv4Addr,
    /// For IPv6.
    pub v6: Ipv6Addr,
}

/// Why flags say nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// No such key.
    #[error("unknown key `{0}` in --so_flags; known are sender=, sysctl= and local=")]
    Key(String),
    /// Not an address.
    #[error("`{0}` is not an address for local=, such as 192.168.0.1")]
    Address(String),
    /// Not a sender.
    #[error(transparent)]
    Sender(#[from] SumError),
}

impl Default for Settings {
    fn default() -> Self {
        let v4 = Ipv4Addr::new(192, 168, 0, 1);
        let v6 = Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1);
        Self { sender: SENDER.into(), sysctl: None, local: Local { v4, v6 } }
    }
}

impl Settings {
    /// Reads flags.
    pub fn parse(flags: &str) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
            let (key, value) = flag.split_once('=').unwrap_or(("sender", flag));
            match key {
                "sender" => settings.sender = value.into(),
                "sysctl" => settings.sysctl = Some(value.into()),
                "local" => match value.parse() {
                    Ok(IpAddr::V4(v4)) => settings.local.v4 = v4,
                    Ok(IpAddr::V6(v6)) => settings.local.v6 = v6,
                    Err(_) => return Err(SettingsError::Address(value.into())),
                },
                _ => return Err(SettingsError::Key(key.into())),
            }
        }
        settings.config()?;
        Ok(settings)
    }

    /// The configuration of both halves, with the settings of the kernel as they are now.
    pub fn config(&self) -> Result<Config, SettingsError> {
        let mut config = sender(&self.sender)?;
        if let Some(folder) = &self.sysctl {
            Kernel { folder }.apply(&mut config);
        }
        Ok(config)
    }
}

fn sender(name: &str) -> Result<Config, SumError> {
    if name == SENDER && Profile::find(SENDER).is_none() {
        return sum::sender(STOPGAP, &Config::default()).map(|mut config| {
            config.rto.floor = RtoFloor::Variance(Duration::from_millis(200));
            config.rto.max = Duration::from_secs(120);
            config.window.halving = Halving::Segments;
            config.receiver.quick_acks = 16;
            config.receiver.delayed_ack = Duration::from_millis(40);
            (config.window_scale, config.timestamps) = (Some(7), true);
            (config.sack, config.dsack) = (true, true);
            config.receiver.buffer = 262_144;
            config
        });
    }
    sum::sender(name, &Config::default())
}

/// The settings of a kernel, `net.ipv4.tcp_*`.
struct Kernel<'a> {
    folder: &'a Path,
}

impl Kernel<'_> {
    /// The last number of a setting, if it has one: of three sizes the largest.
    fn number(&self, name: &str) -> Option<u64> {
        let text = std::fs::read_to_string(self.folder.join(name)).ok()?;
        text.split_whitespace().next_back()?.parse().ok()
    }

    fn is(&self, name: &str, value: u64) -> Option<bool> {
        self.number(name).map(|number| number == value)
    }

    fn apply(&self, config: &mut Config) {
        if let Some(timestamps) = self.is("tcp_timestamps", 0) {
            config.timestamps = !timestamps;
        }
        if self.is("tcp_sack", 0) == Some(true) {
            config.sack = false;
        }
        if self.is("tcp_dsack", 0) == Some(true) {
            config.dsack = false;
        }
        if self.is("tcp_frto", 0) == Some(true) {
            config.frto = None;
        }
        if let Some(largest) = self.number("tcp_rmem") {
            config.window_scale = Some(scale_for(largest));
        }
        if self.is("tcp_window_scaling", 0) == Some(true) {
            config.window_scale = None;
        }
        if let Some(dupthresh) = self.number("tcp_reordering") {
            config.recovery.dupthresh = dupthresh as u32;
        }
        if let Some(floor) = self.number("tcp_rto_min_us") {
            config.rto.floor = RtoFloor::Variance(Duration::from_micros(floor));
        }
    }
}

/// The smallest shift that lets 16 bits offer `largest` bytes (`tcp_select_initial_window`).
fn scale_for(largest: u64) -> u8 {
    (0..14).find(|shift| largest >> shift <= 65_535).unwrap_or(14)
}
