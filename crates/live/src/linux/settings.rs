//! The settings of a host's kernel, and the check that they are effective.
//!
//! A namespace may silently refuse a setting, for example a congestion control. Therefore all
//! settings are read back: sysctls and routes here, and negotiated options from a connection's
//! `TCP_INFO`.

use std::fs;
use std::io::{self, ErrorKind};

use rtolab_packet::{IPV4_HEADER, TCP_HEADER};
use rtolab_scenario::Kernel;
use rtolab_time::Duration;

use super::sys::TcpInfo;
use crate::error::Error;
use crate::report::EffectiveSettings;

/// IP and TCP headers without options, in bytes.
const HEADERS: u32 = (IPV4_HEADER + TCP_HEADER) as u32;
/// The timestamps option, in bytes.
const TIMESTAMPS: u32 = 12;
/// The buffer memory in bytes, enough for any connection.
const MEMORY: u64 = 4 << 20;

/// The sysctls of a namespace, below `net`, with their values.
pub(crate) fn controls(kernel: &Kernel) -> Vec<(&'static str, String)> {
    let Kernel { sack, dsack, timestamps, frto, recovery, early_retrans, window, .. } = kernel;
    let mut controls = vec![
        ("ipv4/tcp_sack", u8::from(*sack).to_string()),
        ("ipv4/tcp_dsack", u8::from(*dsack).to_string()),
        ("ipv4/tcp_timestamps", u8::from(*timestamps).to_string()),
        ("ipv4/tcp_frto", frto.to_string()),
        ("ipv4/tcp_recovery", recovery.to_string()),
        ("ipv4/tcp_early_retrans", early_retrans.to_string()),
        ("ipv4/tcp_reordering", kernel.reordering.to_string()),
        ("ipv4/tcp_ecn", kernel.ecn.to_string()),
        ("ipv4/tcp_slow_start_after_idle", u8::from(kernel.slow_start_after_idle).to_string()),
        // A large send buffer, so that it never limits the application.
        ("ipv4/tcp_wmem", format!("4096\t{MEMORY}\t{}", 8 * MEMORY)),
    ];
    if let Some(timeouts) = kernel.syn_linear_timeouts {
        controls.push(("ipv4/tcp_syn_linear_timeouts", timeouts.to_string()));
    }
    if kernel.thin_linear_timeouts {
        controls.push(("ipv4/tcp_thin_linear_timeouts", "1".to_string()));
    }
    if let Some(retries) = kernel.retries2 {
        controls.push(("ipv4/tcp_retries2", retries.to_string()));
    }
    if let Some(rto_max) = kernel.rto_max {
        controls.push(("ipv4/tcp_rto_max_ms", (rto_max.nanos() / 1_000_000).to_string()));
    }
    if kernel.tun {
        controls.push(("ipv4/ip_forward", "1".to_string()));
    }
    if let Some(window) = window {
        // Small packets occupy far more memory than their bytes. The memory must not be a limit.
        let memory = MEMORY.max(16 * u64::from(*window));
        controls.push(("ipv4/tcp_rmem", format!("4096\t{memory}\t{memory}")));
    }
    controls
}

/// Applies the settings to the calling thread's namespace, and reads them back.
pub(crate) fn apply(kernel: &Kernel, host: &str) -> Result<EffectiveSettings, Error> {
    // The write fails on a machine without IPv6.
    let _ = fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    let mut effective = EffectiveSettings::new();
    for (name, wanted) in controls(kernel) {
        let file = format!("/proc/sys/net/{name}");
        let refused = |source: io::Error| match source.kind() {
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
                Error::allowed("set a sysctl")(source)
            }
            _ => Error::Setting {
                host: host.to_string(),
                setting: name.replace('/', "."),
                problem: format!("cannot be set to {wanted}: {source}"),
            },
        };
        fs::write(&file, &wanted).map_err(refused)?;
        let found = fs::read_to_string(&file).map_err(refused)?;
        agree(host, &name.replace('/', "."), (&wanted, found.trim()))?;
        effective.push((name.replace("ipv4/", ""), found.trim().replace('\t', " ")));
    }
    Ok(effective)
}

pub(crate) fn agree(host: &str, setting: &str, (wanted, found): (&str, &str)) -> Result<(), Error> {
    if wanted == found {
        return Ok(());
    }
    Err(Error::Setting {
        host: host.to_string(),
        setting: setting.to_string(),
        problem: format!("is {found}, expected {wanted}"),
    })
}

/// The attributes of a host's routes.
pub(crate) fn route(kernel: &Kernel) -> Vec<String> {
    let Kernel { congestion, rto_min, window, initial_window, .. } = kernel;
    let mut words = vec!["rto_min".to_string(), format!("{}ms", millis(*rto_min))];
    words.extend(["congctl".to_string(), congestion.clone()]);
    words.extend(window.iter().flat_map(|window| ["window".to_string(), window.to_string()]));
    words.extend(initial_window.iter().flat_map(|it| ["initcwnd".to_string(), it.to_string()]));
    words
}

/// A time in milliseconds, rounded up, as routes store it; at least 1.
pub(crate) const fn millis(span: Duration) -> u64 {
    let millis = span.nanos().div_ceil(1_000_000);
    if millis == 0 { 1 } else { millis }
}

/// Checks the device and the routes in the output of `ip`.
pub(crate) fn check_shown(
    kernel: &Kernel,
    host: &str,
    (device, routes): (&str, &str),
) -> Result<EffectiveSettings, Error> {
    let mut wanted = vec![(device, "mtu", kernel.mtu.to_string())];
    if !kernel.offload {
        wanted.push((device, "gso_max_segs", "1".to_string()));
    }
    let route = route(kernel);
    wanted.extend(route.chunks(2).map(|pair| match pair[0].as_str() {
        "rto_min" => (routes, "rto_min", pair[1].clone()),
        "congctl" => (routes, "congctl", pair[1].clone()),
        "initcwnd" => (routes, "initcwnd", pair[1].clone()),
        _ => (routes, "window", pair[1].clone()),
    }));
    let mut effective = EffectiveSettings::new();
    for (shown, name, wanted) in wanted {
        let found = after(shown, name).unwrap_or("nothing");
        if normalized(found) != normalized(&wanted) {
            agree(host, name, (&wanted, found))?;
        }
        effective.push((name.to_string(), found.to_string()));
    }
    Ok(effective)
}

/// The value, with times, which `ip` shows in various units, in microseconds.
fn normalized(value: &str) -> String {
    let units = [("us", 1.0), ("ms", 1e3), ("s", 1e6)];
    let number = |(unit, scale): &(&str, f64)| {
        value.strip_suffix(unit)?.parse().ok().map(|number: f64| (number * scale).round())
    };
    let micros = units.iter().find_map(number);
    micros.map_or_else(|| value.to_string(), |micros| format!("{micros} us"))
}

/// The word after `name`; `lock` is skipped.
fn after<'a>(shown: &'a str, name: &str) -> Option<&'a str> {
    let mut words = shown.split_whitespace().skip_while(|word| *word != name).skip(1);
    words.find(|word| *word != "lock")
}

/// Checks a flow's connection against the settings of both hosts. `congestion` is its socket's
/// congestion control.
pub(crate) fn check_connection(
    flow: &str,
    (sender, receiver): (&Kernel, &Kernel),
    (info, congestion): (&TcpInfo, &str),
) -> Result<EffectiveSettings, Error> {
    let has = |bit| (info.options & bit != 0).to_string();
    let timestamps = sender.timestamps && receiver.timestamps;
    let sack = sender.sack && receiver.sack;
    let packet = sender.mtu.min(receiver.mtu);
    let mss = packet - HEADERS - if timestamps { TIMESTAMPS } else { 0 };
    let wanted = [
        ("congestion", sender.congestion.clone(), congestion.to_string()),
        ("timestamps", timestamps.to_string(), has(TcpInfo::TIMESTAMPS)),
        ("sack", sack.to_string(), has(TcpInfo::SACK)),
        ("mss", mss.to_string(), info.snd_mss.to_string()),
    ];
    let host = format!("flow `{flow}`");
    // A sender uses segments of at most half of the largest advertised window.
    let halved = receiver.window.is_some_and(|window| window < 2 * mss) && info.snd_mss < mss;
    for (name, wanted, found) in &wanted {
        if !(*name == "mss" && halved) {
            agree(&host, name, (wanted, found))?;
        }
    }
    if info.rto < sender.rto_min {
        return Err(Error::Setting {
            host,
            setting: "rto_min".to_string(),
            problem: format!("is {}, but the RTO is {}", sender.rto_min, info.rto),
        });
    }
    Ok(wanted.into_iter().map(|(name, _, found)| (name.to_string(), found)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Kernel {
        Kernel {
            congestion: "reno".to_string(),
            sack: true,
            dsack: true,
            timestamps: false,
            frto: 2,
            recovery: 1,
            early_retrans: 3,
            reordering: 3,
            ecn: 2,
            slow_start_after_idle: true,
            syn_linear_timeouts: None,
            thin_linear_timeouts: false,
            retries2: None,
            rto_max: None,
            rto_min: Duration::from_millis(200),
            window: Some(8192),
            mtu: 576,
            offload: false,
            initial_window: Some(2),
            tun: false,
        }
    }

    #[test]
    fn the_output_of_ip_is_compared_word_by_word() {
        let device = "3: link0: <POINTOPOINT> mtu 576 qdisc fq state UNKNOWN gso_max_segs 1";
        let routes = "10.83.0.0/16 scope link rto_min lock 200ms window 8192 initcwnd 2 \
                      congctl reno";
        let found = check_shown(&kernel(), "near", (device, routes)).unwrap();
        assert_eq!(found.len(), 6);
        let second = Kernel { rto_min: Duration::from_secs(1), ..kernel() };
        for shown in ["1s", "1000ms", "lock 1s"] {
            let routes = routes.replace("lock 200ms", shown);
            assert!(check_shown(&second, "near", (device, &routes)).is_ok(), "{shown}");
        }
        let refused = check_shown(&kernel(), "near", (device, &routes.replace("reno", "cubic")));
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("congctl of near is cubic, expected reno"), "{text}");
    }

    #[test]
    fn a_connection_that_contradicts_its_hosts_settings_is_an_error() {
        fn check(info: &TcpInfo, congestion: &str) -> Result<(), Error> {
            check_connection("flow", (&kernel(), &kernel()), (info, congestion)).map(drop)
        }
        let good = TcpInfo { options: TcpInfo::SACK, snd_mss: 536, ..TcpInfo::default() };
        let good = TcpInfo { rto: Duration::from_secs(1), ..good };
        assert!(check(&good, "reno").is_ok());
        assert!(check(&good, "cubic").is_err());
        for bad in [
            TcpInfo { options: TcpInfo::SACK | TcpInfo::TIMESTAMPS, ..good },
            TcpInfo { options: 0, ..good },
            TcpInfo { snd_mss: 524, ..good },
            TcpInfo { rto: Duration::from_millis(20), ..good },
        ] {
            assert!(check(&bad, "reno").is_err(), "{bad:?}");
        }
    }
}
