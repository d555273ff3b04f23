//! `[kernel]` applies to simulated Linux hosts as to real kernels.

use rtolab_scenario::{Flow, Scenario};
use rtolab_tcp::Config;
use rtolab_tcp::config::RtoFloor;
use rtolab_time::Duration;

const SCENARIO: &str = r#"
title = "Two Linux hosts"
duration = "10 s"
[[link]]
name = "line"
between = ["left", "right"]
rate = "1 Mbit/s"
delay = "50 ms"
[receiver]
profile = "linux"
[[flow]]
name = "flow"
from = "left"
to = "right"
bytes = "100 kB"
"#;

const LEFT: &str = r#"[{ name = "left", rto_min = "1 s" }]"#;
const RIGHT: &str = r#"[{ name = "right", sack = false, rto_min = "1 s" }]"#;

fn flow(set: &[(&str, &str)]) -> Flow {
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Scenario::parse(SCENARIO, "two.toml", &set).unwrap().flows.remove(0)
}

fn sender(flow: &Flow, spec: &str) -> Config {
    flow.sender_config(Some(spec)).unwrap()
}

#[test]
fn a_linux_sender_has_the_settings_of_its_kernel() {
    let set = [("kernel.frto", "0"), ("kernel.ecn", "1"), ("kernel.host", LEFT)];
    let [plain, set] = [flow(&[]), flow(&set)].map(|flow| sender(&flow, "linux"));
    assert!(plain.frto.is_some() && set.frto.is_none());
    assert!(!plain.ecn && set.ecn);
    assert_eq!(set.rto.floor, RtoFloor::Variance(Duration::from_secs(1)));
    assert_eq!(set.recovery.rack.max_ack_delay, Duration::from_secs(1));
    let other = flow(&[("kernel.host", RIGHT)]);
    assert_eq!(sender(&other, "linux"), plain);
    let duplicated = flow(&[("kernel.syn_linear_timeouts", "0")]);
    let evenly = |flow: &Flow| sender(flow, "linux").connection.syn_linear_timeouts;
    assert_eq!([evenly(&flow(&[])), evenly(&duplicated)], [4, 0]);
}

#[test]
fn a_host_without_a_table_can_be_set() {
    let one = flow(&[("kernel.host.left.rto_min", "1 s")]);
    assert_eq!(sender(&one, "linux"), sender(&flow(&[("kernel.host", LEFT)]), "linux"));
    let both = flow(&[("kernel.host.left.frto", "0"), ("kernel.host.right.sack", "false")]);
    assert!(sender(&both, "linux").frto.is_none());
    assert!(!both.receiver.sack);
    let unknown = [("kernel.host.nobody.sack".to_string(), "false".to_string())];
    let error = Scenario::parse(SCENARIO, "two.toml", &unknown).unwrap_err().to_string();
    assert!(error.contains("nobody"), "{error}");
}

#[test]
fn other_senders_ignore_the_kernel() {
    let set = flow(&[("kernel.sack", "false"), ("kernel.rto_min", "1 s")]);
    assert_eq!(sender(&set, "sack+frto"), sender(&flow(&[]), "sack+frto"));
    assert!(!sender(&set, "linux").sack);
}

#[test]
fn a_linux_receiver_has_the_settings_of_its_kernel_except_its_own_keys() {
    let set = [("kernel.host", RIGHT), ("kernel.timestamps", "false")];
    let receiver = flow(&set).receiver;
    assert_eq!((receiver.sack, receiver.timestamps, receiver.dsack), (false, false, true));
    let own = flow(&[set[0], set[1], ("receiver.sack", "true")]).receiver;
    assert_eq!((own.sack, own.timestamps), (true, false));
    let other = flow(&[set[0], set[1], ("receiver.profile", "solaris-2007")]).receiver;
    assert!(other.sack && other.timestamps);
}

#[test]
fn a_congestion_control_that_only_kernels_have_is_an_error() {
    let set = flow(&[("kernel.congestion", "vegas")]);
    let error = set.sender_config(Some("linux")).unwrap_err().to_string();
    assert!(error.contains("`vegas`; the engine knows cubic, reno and bbr"), "{error}");
    assert!(set.sender_config(Some("sack")).is_ok());
}
