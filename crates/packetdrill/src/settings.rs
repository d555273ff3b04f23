//! The settings of the stack: the tool's `--so_flags`, and the sysctls in the first lines of a
//! script.

mod freebsd;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use rtolab_tcp::Config;
use rtolab_tcp::config::{MaxWindow, TimerClock};
use rtolab_tcp::profile::{Profile, Sysctl};
use rtolab_tcp::specification::{self, SpecificationError};
use rtolab_time::Duration;
use thiserror::Error;

pub use freebsd::FreeBsdSettings;

/// The default sender.
const SENDER: &str = "linux";

/// The MTU that the MSS of a sender is for, in bytes.
const USUAL_MTU: i64 = 1500;

/// The sysctl with the MTU of the tool's device, beside those of IPv4.
const DEVICE_MTU: &str = "../ipv6/conf/tun0/mtu";

/// The receive buffer of an operating system's profile, in bytes.
const RECEIVE_BUFFER: u32 = 262_144;

/// The `--so_flags`: `key=value`, separated by commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSettings {
    /// The sender specification.
    pub sender: String,
    /// The folder of the script's sysctls, one file each as in `/proc/sys/net/ipv4`.
    pub sysctl: Option<PathBuf>,
    /// The source address of `connect` without a `bind`.
    pub local: LocalAddresses,
    /// The MSS, in bytes; `None` is that of the sender.
    pub mss: Option<u16>,
    /// The window scale; `None` is that of the sender.
    pub window_scale: Option<u8>,
    /// The operating system that the host imitates.
    pub system: System,
    /// The rule for PSH.
    pub push: PushRule,
    /// The size of the segments that the device merged to a received packet that is larger, in
    /// bytes: the tool's `--mss`.
    pub gso: Option<u32>,
    /// The precision of the sender's timers; `None` is that of the sender.
    pub timer: Option<TimerClock>,
}

/// The host's addresses, one per family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalAddresses {
    /// The IPv4 address.
    pub v4: Ipv4Addr,
    /// The IPv6 address.
    pub v6: Ipv6Addr,
}

/// The operating system whose order of TCP options, sysctls and socket buffers a host has. The
/// sender is independent of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// Linux.
    #[default]
    Linux,
    /// FreeBSD.
    FreeBsd,
}

/// The rule that determines which segments carry PSH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PushRule {
    /// The last segment of each write and of each TSO packet, as on Linux.
    #[default]
    Linux,
    /// As on Linux with a device that does not segment (`gso_max_segs 1`): the last segment of each
    /// write, and one in each half of the largest window.
    LinuxWithoutTso,
    /// The last segment of each write, for scripts recorded in runs without TSO.
    Writes,
}

/// The reason why flags are invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// A key is unknown.
    #[error(
        "unknown key `{0}` in --so_flags; known are sender=, sysctl=, local=, mss=, wscale=, system=, push=, gso=, timer="
    )]
    Key(String),
    /// The value of a key is invalid.
    #[error("{key}= in --so_flags is `{value}`; expected {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The invalid value.
        value: String,
        /// A description of the valid values.
        expected: &'static str,
    },
    /// The sender is invalid.
    #[error(transparent)]
    Sender(#[from] SpecificationError),
}

impl Default for HostSettings {
    fn default() -> Self {
        let v4 = Ipv4Addr::new(192, 168, 0, 1);
        let v6 = Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1);
        Self {
            sender: SENDER.into(),
            sysctl: None,
            local: LocalAddresses { v4, v6 },
            mss: None,
            window_scale: None,
            system: System::default(),
            push: PushRule::default(),
            gso: None,
            timer: None,
        }
    }
}

impl HostSettings {
    /// Parses `--so_flags`. A flag without `=` is the sender.
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
        let invalid = |key, expected| SettingsError::Value { key, value: value.into(), expected };
        match key {
            "sender" => self.sender = value.into(),
            "sysctl" => self.sysctl = Some(value.into()),
            "local" => match value.parse() {
                Ok(IpAddr::V4(v4)) => self.local.v4 = v4,
                Ok(IpAddr::V6(v6)) => self.local.v6 = v6,
                Err(_) => return Err(invalid("local", "an address, such as 192.168.0.1")),
            },
            "mss" => {
                let bytes = value.parse().map_err(|_| invalid("mss", "a number of bytes"))?;
                self.mss = Some(bytes);
            }
            "wscale" => {
                let shift = value.parse().map_err(|_| invalid("wscale", "a shift from 0 to 14"))?;
                self.window_scale = Some(shift);
            }
            "gso" => {
                let bytes = value.parse().map_err(|_| invalid("gso", "a number of bytes"))?;
                self.gso = Some(bytes);
            }
            "system" => match value {
                "linux" => self.system = System::Linux,
                "freebsd" => self.system = System::FreeBsd,
                _ => return Err(invalid("system", "linux or freebsd")),
            },
            "push" => match value {
                "linux" => self.push = PushRule::Linux,
                "linux-without-tso" => self.push = PushRule::LinuxWithoutTso,
                "writes" => self.push = PushRule::Writes,
                _ => return Err(invalid("push", "linux, linux-without-tso or writes")),
            },
            "timer" => {
                self.timer = Some(match value {
                    "exact" => TimerClock::Exact,
                    "wheel-250" => TimerClock::Wheel(Duration::from_millis(4)),
                    "wheel-1000" => TimerClock::Wheel(Duration::from_millis(1)),
                    _ => return Err(invalid("timer", "exact, wheel-250 or wheel-1000")),
                });
            }
            _ => return Err(SettingsError::Key(key.into())),
        }
        Ok(())
    }

    /// The folder of Linux's settings.
    fn folder(&self) -> Option<SysctlFolder<'_>> {
        let folder = self.sysctl.as_deref().filter(|_| self.system == System::Linux);
        folder.map(|folder| SysctlFolder { folder })
    }

    /// FreeBSD's settings; `None` if the host is a Linux.
    pub fn freebsd(&self) -> Option<FreeBsdSettings> {
        (self.system == System::FreeBsd).then(|| FreeBsdSettings::read(self.sysctl.as_deref()))
    }

    /// Is ECN only used if the peer requests it (`net.ipv4.tcp_ecn` 2, FreeBSD's
    /// `net.inet.tcp.ecn.enable` 2)?
    pub fn is_ecn_passive(&self) -> bool {
        let ecn = match self.system {
            System::Linux => self.folder().and_then(|folder| folder.number("tcp_ecn")),
            System::FreeBsd => self.freebsd().map(|settings| settings.ecn),
        };
        ecn == Some(2)
    }

    /// The value of `net.ipv4.tcp_min_tso_segs`, if the script sets it.
    pub fn min_segments(&self) -> Option<u64> {
        self.folder().and_then(|folder| folder.number("tcp_min_tso_segs"))
    }

    /// The MSS of a socket, in bytes. It follows the MTU of the device, unless the flags set it.
    /// `mss` is for IPv4 and the usual MTU.
    pub fn mss_for(&self, mss: u16, is_v6: bool) -> u16 {
        let mtu = match self.system {
            System::Linux => self.folder().and_then(|folder| folder.number(DEVICE_MTU)),
            System::FreeBsd => self.freebsd().and_then(|settings| settings.mtu),
        };
        let Some(mtu) = mtu.filter(|_| self.mss.is_none()) else { return mss };
        let longer_header = if is_v6 { 20 } else { 0 };
        let differs = mtu as i64 - USUAL_MTU - longer_header;
        u16::try_from(i64::from(mss) + differs).unwrap_or(mss)
    }

    /// Is each SYN answered with a SYN cookie (`net.ipv4.tcp_syncookies` 2)?
    pub fn sends_syn_cookies(&self) -> bool {
        self.folder().is_some_and(|folder| folder.is("tcp_syncookies", 2) == Some(true))
    }

    /// The configuration of the host's sender and receiver, with the current sysctls.
    pub fn config(&self) -> Result<Config, SettingsError> {
        let files = self.folder();
        let freebsd = self.freebsd();
        let sysctl = match (&files, &freebsd) {
            (_, Some(settings)) => settings.sysctl(),
            (Some(files), None) => files.sysctl(),
            (None, None) => Sysctl::default(),
        };
        let mut config = host_config(&self.sender, &sysctl)?;
        if let Some(settings) = freebsd {
            settings.apply(&mut config);
        }
        let max_buffer = files.and_then(|files| files.number("tcp_rmem"));
        if let (Some(max_buffer), None | Some(true)) = (max_buffer, sysctl.window_scaling) {
            config.window_scale = Some(scale_for(max_buffer));
        }
        if let Some(folder) = self.folder() {
            let challenge = &mut config.connection.challenge;
            // The adapter never enters the fast path, but the runs that became scripts did.
            challenge.old_acks_within = MaxWindow::Advertised;
            let spacing = folder.number("tcp_invalid_ratelimit").map(Duration::from_millis);
            challenge.spacing = spacing.unwrap_or(challenge.spacing);
        }
        // The adapter knows what each call writes, and pushes by that.
        (config.push, config.forced_push) = (false, false);
        config.mss = self.mss.unwrap_or(config.mss);
        config.rto.timer = self.timer.unwrap_or(config.rto.timer);
        config.window_scale = self.window_scale.or(config.window_scale);
        Ok(config)
    }
}

/// The configuration of a host with the sender `name` and these sysctls. If the name begins with an
/// operating system, the receiver is also that of the system.
fn host_config(name: &str, sysctl: &Sysctl) -> Result<Config, SpecificationError> {
    let mut config = specification::sender_on(name, &Config::default(), sysctl)?;
    let system = name.split('+').next().and_then(Profile::find);
    if let Some(system) = system {
        system.apply_to_receiver(&mut config);
        config.receiver.buffer = RECEIVE_BUFFER;
    }
    if system.is_none_or(|system| system.kernel.is_none()) {
        sysctl.apply(&mut config);
    }
    sysctl.apply_to_receiver(&mut config);
    Ok(config)
}

/// A folder with the sysctls `net.ipv4.tcp_*`, one file each.
struct SysctlFolder<'a> {
    folder: &'a Path,
}

impl SysctlFolder<'_> {
    /// The last number of a sysctl, if it is set. In `tcp_rmem` this is the maximum size.
    fn number(&self, name: &str) -> Option<u64> {
        let text = std::fs::read_to_string(self.folder.join(name)).ok()?;
        text.split_whitespace().next_back()?.parse().ok()
    }

    fn is(&self, name: &str, value: u64) -> Option<bool> {
        self.number(name).map(|number| number == value)
    }

    fn sysctl(&self) -> Sysctl {
        let number = |name| self.number(name).map(|number| number as u32);
        let on = |name| self.is(name, 0).map(|off| !off);
        Sysctl {
            // Scripts set congestion control by a socket option.
            congestion: None,
            sack: on("tcp_sack"),
            dsack: on("tcp_dsack"),
            timestamps: on("tcp_timestamps"),
            window_scaling: on("tcp_window_scaling"),
            frto: number("tcp_frto"),
            recovery: number("tcp_recovery"),
            early_retrans: number("tcp_early_retrans"),
            reordering: number("tcp_reordering"),
            ecn: number("tcp_ecn"),
            slow_start_after_idle: on("tcp_slow_start_after_idle"),
            syn_linear_timeouts: number("tcp_syn_linear_timeouts"),
            thin_linear_timeouts: self.is("tcp_thin_linear_timeouts", 0).map(|off| !off),
            rto_min: self.number("tcp_rto_min_us").map(Duration::from_micros),
            rto_max: self.number("tcp_rto_max_ms").map(Duration::from_millis),
            retries2: number("tcp_retries2"),
        }
    }
}

/// The smallest window scale that can advertise `max_buffer` bytes (`tcp_select_initial_window`,
/// and FreeBSD's `tcp_newtcpcb`).
fn scale_for(max_buffer: u64) -> u8 {
    (0..14).find(|shift| max_buffer >> shift <= 65_535).unwrap_or(14)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The profile assumes that an application writes all at once; a script's calls do not.
    #[test]
    fn the_adapter_pushes_by_itself() {
        let config = HostSettings::parse("sender=linux").unwrap().config().unwrap();
        assert!(!config.push && !config.forced_push);
    }

    #[test]
    fn flags_set_the_sender_and_its_options() {
        let settings =
            HostSettings::parse("sender=newreno+frto,mss=1000,wscale=3,push=writes,gso=900")
                .unwrap();
        assert_eq!(settings.system, System::Linux);
        let config = settings.config().unwrap();
        assert_eq!((config.mss, config.window_scale), (1000, Some(3)));
        assert!(config.frto.is_some() && !config.sack);
        assert_eq!((settings.push, settings.gso), (PushRule::Writes, Some(900)));
        assert_eq!(HostSettings::parse("").unwrap(), HostSettings::default());
        assert_eq!(config.rto.timer, TimerClock::Exact);
        let settings = HostSettings::parse("timer=wheel-1000,push=linux-without-tso").unwrap();
        let wheel = TimerClock::Wheel(Duration::from_millis(1));
        assert_eq!(settings.config().unwrap().rto.timer, wheel);
        assert_eq!(settings.push, PushRule::LinuxWithoutTso);
    }

    #[test]
    fn invalid_flags_are_errors() {
        let message = |flags| HostSettings::parse(flags).unwrap_err().to_string();
        assert!(message("sendr=sack").starts_with("unknown key `sendr`"));
        assert!(message("mss=big").contains("mss= in --so_flags is `big`"));
        assert!(message("local=here").contains("an address"));
        assert!(message("timer=wheel").contains("exact, wheel-250 or wheel-1000"));
        assert!(message("sack+frot").contains("unknown policy `frot`"));
    }

    #[test]
    fn sysctls_are_read_from_a_folder() {
        let folder = std::env::temp_dir().join(format!("rtolab-sysctl-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, value) in [
            ("tcp_sack", "0\n"),
            ("tcp_rmem", "4096\t131072\t15728640\n"),
            ("tcp_invalid_ratelimit", "0\n"),
        ] {
            std::fs::write(folder.join(name), value).unwrap();
        }
        let settings = HostSettings { sysctl: Some(folder.clone()), ..HostSettings::default() };
        let config = settings.config().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((config.sack, config.window_scale), (false, Some(8)));
        let challenge = config.connection.challenge;
        assert_eq!(challenge.spacing, Duration::ZERO);
        assert_eq!(challenge.old_acks_within, MaxWindow::Advertised);
        let without = HostSettings::default().config().unwrap().connection.challenge;
        assert_eq!(without.old_acks_within, MaxWindow::Possible);
    }

    #[test]
    fn the_mss_follows_the_mtu_of_the_device() {
        let root = std::env::temp_dir().join(format!("rtolab-mtu-{}", std::process::id()));
        let (sysctl, device) = (root.join("ipv4"), root.join("ipv6/conf/tun0"));
        std::fs::create_dir_all(&sysctl).unwrap();
        std::fs::create_dir_all(&device).unwrap();
        std::fs::write(device.join("mtu"), "9000\n").unwrap();
        std::fs::write(sysctl.join("tcp_syncookies"), "2\n").unwrap();
        let settings = HostSettings { sysctl: Some(sysctl), ..HostSettings::default() };
        assert_eq!([false, true].map(|v6| settings.mss_for(1460, v6)), [8960, 8940]);
        assert!(settings.sends_syn_cookies());
        let flagged = HostSettings { mss: Some(1000), ..settings };
        assert_eq!(flagged.mss_for(1000, false), 1000);
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!(HostSettings::default().mss_for(1460, true), 1460);
    }
}
