//! FreeBSD's settings, which a `sysctl` of the runner writes into a folder: one file each, with the
//! name of the setting, such as `net.inet.tcp.recvspace`.

use std::path::Path;

use rtolab_tcp::Config;
use rtolab_tcp::config::{
    AckCounts, GiveUp, InWindow, MaxWindow, RtoFloor, TimeWaitReset, WindowIncrease,
};
use rtolab_tcp::profile::Sysctl;
use rtolab_time::Duration;

use super::scale_for;

/// The settings of a FreeBSD, with its defaults for those that a script does not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeBsdSettings {
    /// `net.inet.tcp.rfc1323`: does a SYN offer timestamps and window scaling?
    pub rfc1323: bool,
    /// `net.inet.tcp.sack.enable`.
    pub sack: bool,
    /// `net.inet.tcp.ecn.enable`: 1 requests ECN, 2 only grants it.
    pub ecn: u64,
    /// `net.inet.tcp.recvspace`: the size of the receive buffer, in bytes.
    pub recvspace: u32,
    /// `kern.ipc.maxsockbuf`: the largest buffer, in bytes. It determines the window scale.
    pub max_buffer: u64,
    /// `net.inet.tcp.rexmit_initial`.
    pub rexmit_initial: Option<Duration>,
    /// `net.inet.tcp.rexmit_min`.
    pub rexmit_min: Option<Duration>,
    /// `net.inet.tcp.rexmit_slop`.
    pub rexmit_slop: Option<Duration>,
    /// `net.inet.tcp.delacktime`.
    pub delacktime: Option<Duration>,
    /// `net.inet.tcp.keepinit`: how long a SYN may be unanswered.
    pub keepinit: Option<Duration>,
    /// `net.inet.tcp.drop_synfin`: are segments with SYN and FIN dropped?
    pub drop_synfin: bool,
    /// `net.inet.tcp.insecure_rst`: does each reset in the window end a connection?
    pub insecure_rst: bool,
    /// `net.inet.tcp.insecure_syn`: does each SYN in the window?
    pub insecure_syn: bool,
    /// The MTU of the tool's device, in bytes: the runner writes the file `mtu`.
    pub mtu: Option<u64>,
}

impl FreeBsdSettings {
    /// The settings in `folder`.
    pub fn read(folder: Option<&Path>) -> Self {
        let number = |name: &str| -> Option<u64> {
            std::fs::read_to_string(folder?.join(name)).ok()?.trim().parse().ok()
        };
        let tcp = |name: &str| number(&format!("net.inet.tcp.{name}"));
        let millis = |name| tcp(name).map(Duration::from_millis);
        Self {
            rfc1323: tcp("rfc1323") != Some(0),
            sack: tcp("sack.enable") != Some(0),
            ecn: tcp("ecn.enable").unwrap_or(2),
            recvspace: tcp("recvspace").and_then(|bytes| bytes.try_into().ok()).unwrap_or(65_536),
            max_buffer: number("kern.ipc.maxsockbuf").unwrap_or(2_097_152),
            rexmit_initial: millis("rexmit_initial"),
            rexmit_min: millis("rexmit_min"),
            rexmit_slop: millis("rexmit_slop"),
            delacktime: millis("delacktime"),
            keepinit: millis("keepinit"),
            drop_synfin: tcp("drop_synfin") == Some(1),
            insecure_rst: tcp("insecure_rst") == Some(1),
            insecure_syn: tcp("insecure_syn") == Some(1),
            mtu: number("mtu"),
        }
    }

    /// Linux's settings with the same meaning.
    pub fn sysctl(&self) -> Sysctl {
        Sysctl {
            sack: Some(self.sack),
            timestamps: Some(self.rfc1323),
            window_scaling: Some(self.rfc1323),
            ecn: u32::try_from(self.ecn).ok(),
            ..Sysctl::default()
        }
    }

    /// Applies the settings that Linux lacks, and what FreeBSD 14 does besides the profile
    /// `freebsd-14`: it acknowledges every two segments of any size (`DELAY_ACK`), advertises any
    /// increase of the window (`tcp_output`), and ignores resets in TIME-WAIT (`tcp_twcheck`).
    pub fn apply(&self, config: &mut Config) {
        config.receiver.ack_counts = AckCounts::Segments;
        config.receiver.window_increase = WindowIncrease::Byte;
        config.connection.time_wait_reset = TimeWaitReset::Ignored;
        config.window_scale = self.rfc1323.then(|| scale_for(self.max_buffer));
        config.receiver.buffer = self.connected_buffer(u32::from(config.mss));
        config.rto.initial = self.rexmit_initial.unwrap_or(config.rto.initial);
        config.rto.slop = self.rexmit_slop.unwrap_or(config.rto.slop);
        if let Some(min) = self.rexmit_min {
            config.rto.floor = RtoFloor::Total(min);
        }
        config.receiver.delayed_ack = self.delacktime.unwrap_or(config.receiver.delayed_ack);
        if let Some(time) = self.keepinit {
            config.connection.limits.r2_syn = GiveUp::After(time);
        }
        let in_window = |ends| if ends { InWindow::Ends } else { InWindow::Challenged };
        let challenge = &mut config.connection.challenge;
        challenge.reset_in_window = in_window(self.insecure_rst);
        challenge.syn_in_window = in_window(self.insecure_syn);
        // The runs that became scripts knew the windows of all segments.
        challenge.old_acks_within = MaxWindow::Advertised;
    }

    /// The size of the receive buffer of a connection with segments of `mss` bytes: a multiple of
    /// it (`tcp_mss`).
    pub fn connected_buffer(&self, mss: u32) -> u32 {
        match self.recvspace > mss {
            true => self.recvspace.div_ceil(mss.max(1)) * mss,
            false => self.recvspace,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::HostSettings;

    #[test]
    fn settings_are_read_from_a_folder() {
        let folder = std::env::temp_dir().join(format!("rtolab-freebsd-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, value) in [
            ("net.inet.tcp.rfc1323", "0"),
            ("net.inet.tcp.ecn.enable", "1"),
            ("net.inet.tcp.rexmit_initial", "3000"),
            ("net.inet.tcp.keepinit", "15000"),
            ("net.inet.tcp.drop_synfin", "1"),
            ("net.inet.tcp.insecure_rst", "1"),
            ("mtu", "9000"),
        ] {
            std::fs::write(folder.join(name), format!("{value}\n")).unwrap();
        }
        let flags = format!("sender=freebsd-14,system=freebsd,sysctl={}", folder.display());
        let host = HostSettings::parse(&flags).unwrap();
        let (settings, config) = (host.freebsd().unwrap(), host.config().unwrap());
        assert!(!host.is_ecn_passive());
        assert_eq!([false, true].map(|v6| host.mss_for(1460, v6)), [8960, 8940]);
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(settings.drop_synfin && config.ecn && config.sack && !config.timestamps);
        assert_eq!((config.window_scale, config.receiver.buffer), (None, 65_700));
        assert_eq!(config.rto.initial, Duration::from_secs(3));
        assert_eq!(config.connection.limits.r2_syn, GiveUp::After(Duration::from_secs(15)));
        let challenge = config.connection.challenge;
        let reactions = (challenge.reset_in_window, challenge.syn_in_window);
        assert_eq!(reactions, (InWindow::Ends, InWindow::Challenged));
    }

    #[test]
    fn the_defaults_are_those_of_freebsd() {
        let host = HostSettings::parse("sender=freebsd-14,system=freebsd").unwrap();
        assert!(host.is_ecn_passive());
        let config = host.config().unwrap();
        assert_eq!((config.window_scale, config.timestamps), (Some(6), true));
        assert_eq!(config.receiver.buffer, 65_700);
        let settings = host.freebsd().unwrap();
        assert_eq!([1460, 1440].map(|mss| settings.connected_buffer(mss)), [65_700, 66_240]);
        assert_eq!(HostSettings::default().freebsd(), None);
    }
}
