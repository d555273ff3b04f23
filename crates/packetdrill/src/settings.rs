//! How the stack behaves: what the tool's `--so_flags` say, and the settings of a kernel that a
//! script asks for in its first lines.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use rtolab_tcp::Config;
use rtolab_tcp::config::{
    AfterClose, Algorithm, Avoidance, FullAck, Halves, Halving, IdleRestart, Nagle, RackRoundTrip,
    RackThreshold, ReorderingWindow, RepeatedTimeout, RtoFloor, SlowStart, Validation,
};
use rtolab_tcp::profile::Profile;
use rtolab_tcp::sum::{self, SumError};
use rtolab_time::Duration;
use thiserror::Error;

/// The sender where none is named.
const SENDER: &str = "linux";

/// What stands in for it.
const STOPGAP: &str = "rack+prr+cubic:linux+hystart:linux+frto:linux+undo:linux+linux";

/// What `--so_flags` say: `key=value`, with commas between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The sender, as elsewhere in the laboratory.
    pub sender: String,
    /// Where the settings lie that scripts make, one file a setting, as in `/proc/sys/net/ipv4`.
    pub sysctl: Option<PathBuf>,
    /// The address that `connect` takes without a `bind` before it.
    pub local: Local,
    /// The segment size to announce and to send, where it is not the sender's own.
    pub mss: Option<u16>,
    /// The window scale to offer, where it is not the sender's own.
    pub window_scale: Option<u8>,
    /// Which segments carry PSH.
    pub push: PushRule,
}

/// The host's own address, of either family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// For IPv4.
    pub v4: Ipv4Addr,
    /// For IPv6.
    pub v6: Ipv6Addr,
}

/// Which segments carry PSH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PushRule {
    /// The last of each write, and the last of each large packet of several segments, as on Linux.
    #[default]
    Linux,
    /// The last of each write: for scripts made of runs that know no large packets.
    Writes,
}

/// Why flags say nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// No such key.
    #[error(
        "unknown key `{0}` in --so_flags; known are sender=, sysctl=, local=, mss=, wscale=, push="
    )]
    Key(String),
    /// A value that its key does not take.
    #[error("`{value}` is no {key}= in --so_flags: {right}")]
    Value {
        /// The key.
        key: &'static str,
        /// What was found.
        value: String,
        /// What would be right.
        right: &'static str,
    },
    /// Not a sender.
    #[error(transparent)]
    Sender(#[from] SumError),
}

impl Default for Settings {
    fn default() -> Self {
        let v4 = Ipv4Addr::new(192, 168, 0, 1);
        let v6 = Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1);
        Self {
            sender: SENDER.into(),
            sysctl: None,
            local: Local { v4, v6 },
            mss: None,
            window_scale: None,
            push: PushRule::default(),
        }
    }
}

impl Settings {
    /// Reads flags.
    pub fn parse(flags: &str) -> Result<Self, SettingsError> {
        let mut settings = Self::default();
        for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
            let (key, value) = flag.split_once('=').unwrap_or(("sender", flag));
            settings.set(key, value)?;
        }
        settings.config()?;
        Ok(settings)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), SettingsError> {
        let wrong = |key, right| SettingsError::Value { key, value: value.into(), right };
        match key {
            "sender" => self.sender = value.into(),
            "sysctl" => self.sysctl = Some(value.into()),
            "local" => match value.parse() {
                Ok(IpAddr::V4(v4)) => self.local.v4 = v4,
                Ok(IpAddr::V6(v6)) => self.local.v6 = v6,
                Err(_) => return Err(wrong("local", "an address, such as 192.168.0.1")),
            },
            "mss" => {
                let bytes = value.parse().map_err(|_| wrong("mss", "a number of bytes"))?;
                self.mss = Some(bytes);
            }
            "wscale" => {
                let shift = value.parse().map_err(|_| wrong("wscale", "a shift from 0 to 14"))?;
                self.window_scale = Some(shift);
            }
            "push" => match value {
                "linux" => self.push = PushRule::Linux,
                "writes" => self.push = PushRule::Writes,
                _ => return Err(wrong("push", "linux or writes")),
            },
            _ => return Err(SettingsError::Key(key.into())),
        }
        Ok(())
    }

    /// Is ECN granted, but not asked for (`net.ipv4.tcp_ecn` 2)?
    pub fn grants_ecn_only(&self) -> bool {
        let folder = self.sysctl.as_deref();
        folder.is_some_and(|folder| Kernel { folder }.is("tcp_ecn", 2) == Some(true))
    }

    /// `net.ipv4.tcp_min_tso_segs`.
    pub fn min_segments(&self) -> Option<u64> {
        self.sysctl.as_deref().and_then(|folder| Kernel { folder }.number("tcp_min_tso_segs"))
    }

    /// The configuration of both halves, with the settings of the kernel as they are now.
    pub fn config(&self) -> Result<Config, SettingsError> {
        let mut config = sender(&self.sender)?;
        if let Some(folder) = &self.sysctl {
            Kernel { folder }.apply(&mut config);
        }
        config.mss = self.mss.unwrap_or(config.mss);
        config.window_scale = self.window_scale.or(config.window_scale);
        Ok(config)
    }
}

fn sender(name: &str) -> Result<Config, SumError> {
    if name == SENDER && Profile::find(SENDER).is_none() {
        return sum::sender(STOPGAP, &Config::default()).map(|mut config| {
            config.rto.floor = RtoFloor::Variance(Duration::from_millis(200));
            config.rto.max = Duration::from_secs(120);
            config.window.halving = Halving::Segments;
            config.window.halves = Halves::Window;
            config.window.slow_start = SlowStart::Delivered;
            config.window.validation = Validation::Linux;
            config.window.full_ack = FullAck::Ssthresh;
            config.window.avoidance = Avoidance::ByteCounting;
            config.window.repeated_timeout = RepeatedTimeout::OncePerWindow;
            config.nagle = Nagle::Minshall;
            config.connection.after_close = AfterClose::Resets;
            config.recovery.rack.timer_slack = Duration::from_millis(2);
            config.recovery.rack.round_trip = RackRoundTrip::LookedAtLast;
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
        self.apply_options(config);
        self.apply_recovery(config);
        if let Some(restarts) = self.is("tcp_slow_start_after_idle", 0) {
            config.window.idle_restart =
                if restarts { IdleRestart::Off } else { IdleRestart::LastSent };
        }
        if let Some(floor) = self.number("tcp_rto_min_us") {
            config.rto.floor = RtoFloor::Variance(Duration::from_micros(floor));
        }
    }

    /// What is negotiated.
    fn apply_options(&self, config: &mut Config) {
        if let Some(without) = self.is("tcp_timestamps", 0) {
            config.timestamps = !without;
        }
        config.sack &= self.is("tcp_sack", 0) != Some(true);
        config.dsack &= self.is("tcp_dsack", 0) != Some(true);
        // 1: asked for and granted; 2: granted.
        if let Some(ecn) = self.number("tcp_ecn") {
            config.ecn = ecn == 1 || ecn == 2;
        }
        if let Some(largest) = self.number("tcp_rmem") {
            config.window_scale = Some(scale_for(largest));
        }
        if self.is("tcp_window_scaling", 0) == Some(true) {
            config.window_scale = None;
        }
    }

    fn apply_recovery(&self, config: &mut Config) {
        if self.is("tcp_frto", 0) == Some(true) {
            config.frto = None;
        }
        if let Some(dupthresh) = self.number("tcp_reordering") {
            config.recovery.dupthresh = dupthresh as u32;
        }
        if let Some(probes) = self.number("tcp_early_retrans") {
            config.recovery.rack.tail_loss_probe = matches!(probes, 3 | 4);
        }
        if let Some(bits) = self.number("tcp_recovery") {
            if bits & 1 == 0 && config.recovery.algorithm == Algorithm::Rack {
                config.recovery.algorithm = Algorithm::Sack;
            }
            if bits & 2 != 0 {
                config.recovery.rack.reordering_window = ReorderingWindow::Static;
            }
            if bits & 4 != 0 {
                config.recovery.rack.threshold = RackThreshold::TimeOnly;
            }
        }
    }
}

/// The smallest shift that lets 16 bits offer `largest` bytes (`tcp_select_initial_window`).
fn scale_for(largest: u64) -> u8 {
    (0..14).find(|shift| largest >> shift <= 65_535).unwrap_or(14)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_who_sends_and_what_it_offers() {
        let settings =
            Settings::parse("sender=newreno+frto,mss=1000,wscale=3,push=writes").unwrap();
        let config = settings.config().unwrap();
        assert_eq!((config.mss, config.window_scale), (1000, Some(3)));
        assert!(config.frto.is_some() && !config.sack);
        assert_eq!(settings.push, PushRule::Writes);
        assert_eq!(Settings::parse("").unwrap(), Settings::default());
    }

    #[test]
    fn wrong_flags_say_what_is_wrong() {
        let message = |flags| Settings::parse(flags).unwrap_err().to_string();
        assert!(message("sendr=sack").starts_with("unknown key `sendr`"));
        assert!(message("mss=big").contains("`big` is no mss="));
        assert!(message("local=here").contains("an address"));
        assert!(message("sack+frot").contains("unknown policy `frot`"));
    }

    #[test]
    fn the_settings_of_a_kernel_are_read_from_a_folder() {
        let folder = std::env::temp_dir().join(format!("rtolab-sysctl-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, value) in [("tcp_sack", "0\n"), ("tcp_rmem", "4096\t131072\t15728640\n")] {
            std::fs::write(folder.join(name), value).unwrap();
        }
        let settings = Settings { sysctl: Some(folder.clone()), ..Settings::default() };
        let config = settings.config().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((config.sack, config.window_scale), (false, Some(8)));
    }
}
