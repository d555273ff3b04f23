//! Profiles of current systems: `profile/` of the crate.

use crate::script::Script;
use crate::script::pair::End;
use rtolab_tcp::Config;
use rtolab_tcp::config::{
    Algorithm, CongestionAlgorithm, IdleRestart, LinearFor, PrrBound, Reduction, Response,
    RtoFloor, SlowStartExit,
};
use rtolab_tcp::profile::{Profile, Sysctl};
use rtolab_tcp::specification::{self, SpecificationError};
use rtolab_time::Duration;

fn linux(kernel: &Sysctl) -> Config {
    specification::sender_on("linux", &Config::default(), kernel).unwrap()
}

#[test]
fn linux_is_its_policies_and_more_settings() {
    let config = linux(&Sysctl::default());
    let parts = "rack+prr+cubic:linux+hystart:linux+frto:linux+undo:linux+linux";
    let spec = specification::sender(parts, &Config::default()).unwrap();
    assert_eq!(
        config.recovery,
        rtolab_tcp::config::RecoveryConfig {
            rack: config.recovery.rack,
            reduction: Reduction::Prr(PrrBound::Linux),
            ..spec.recovery
        }
    );
    assert_eq!((config.frto, &config.detectors), (spec.frto, &spec.detectors));
    assert_eq!((config.congestion, config.response), (spec.congestion, spec.response));
    assert_eq!(config.rto.floor, RtoFloor::Variance(Duration::from_millis(200)));
}

/// It takes an echo of 0 for none (`tcp_tsopt_ecr_before`), so it must not send 0 as a timestamp.
#[test]
fn linux_counts_an_echo_of_its_first_millisecond() {
    let syn = End::open(&linux(&Sysctl::default())).sends_one(0);
    assert_eq!(syn.timestamps().map(|timestamps| timestamps.value), Some(1));
}

#[test]
fn each_setting_of_a_kernel_changes_linux() {
    let plain = linux(&Sysctl::default());
    let none = Sysctl::default;
    for kernel in [
        Sysctl { congestion: Some("reno".into()), ..none() },
        Sysctl { sack: Some(false), ..none() },
        Sysctl { dsack: Some(false), ..none() },
        Sysctl { timestamps: Some(false), ..none() },
        Sysctl { window_scaling: Some(false), ..none() },
        Sysctl { frto: Some(0), ..none() },
        Sysctl { recovery: Some(0), ..none() },
        Sysctl { recovery: Some(3), ..none() },
        Sysctl { recovery: Some(5), ..none() },
        Sysctl { early_retrans: Some(0), ..none() },
        Sysctl { reordering: Some(5), ..none() },
        Sysctl { ecn: Some(1), ..none() },
        Sysctl { slow_start_after_idle: Some(false), ..none() },
        Sysctl { syn_linear_timeouts: Some(0), ..none() },
        Sysctl { thin_linear_timeouts: Some(true), ..none() },
        Sysctl { rto_min: Some(Duration::from_secs(1)), ..none() },
        Sysctl { rto_max: Some(Duration::from_secs(5)), ..none() },
        Sysctl { retries2: Some(8), ..none() },
    ] {
        assert_ne!(linux(&kernel), plain, "{kernel:?}");
    }
}

#[test]
fn the_default_kernel_settings_change_nothing() {
    let kernel = Sysctl {
        congestion: Some("cubic".into()),
        sack: Some(true),
        dsack: Some(true),
        timestamps: Some(true),
        window_scaling: Some(true),
        frto: Some(2),
        recovery: Some(1),
        early_retrans: Some(3),
        reordering: Some(3),
        ecn: Some(2),
        slow_start_after_idle: Some(true),
        syn_linear_timeouts: Some(4),
        thin_linear_timeouts: Some(false),
        rto_min: Some(Duration::from_millis(200)),
        rto_max: Some(Duration::from_secs(120)),
        retries2: None,
    };
    assert_eq!(linux(&kernel), linux(&Sysctl::default()));
}

#[test]
fn a_policy_overrides_kernel_settings_which_only_linux_has() {
    let kernel = Sysctl { frto: Some(0), recovery: Some(0), ..Sysctl::default() };
    let config =
        specification::sender_on("linux+frto:rfc5682", &Config::default(), &kernel).unwrap();
    assert!(config.frto.is_some() && config.recovery.algorithm == Algorithm::Sack);
    let floor = Sysctl { rto_min: Some(Duration::from_secs(9)), ..Sysctl::default() };
    for name in ["sack+frto:linux", "linux-2.4"] {
        let set = specification::sender_on(name, &Config::default(), &floor);
        assert_eq!(set, specification::sender(name, &Config::default()));
    }
}

#[test]
fn a_back_off_policy_overrides_that_of_the_kernel() {
    for thin in [None, Some(false), Some(true)] {
        let kernel = Sysctl { thin_linear_timeouts: thin, ..Sysctl::default() };
        let of =
            |name| specification::sender_on(name, &Config::default(), &kernel).unwrap().backoff;
        assert_eq!((of("linux").linear > 0), thin == Some(true));
        let linear = of("linux+backoff:linear");
        assert_eq!((linear.linear, linear.linear_for), (6, LinearFor::All));
        let thin = of("linux+backoff:thin");
        assert_eq!((thin.linear, thin.linear_for), (6, LinearFor::ThinStreams));
    }
}

#[test]
fn linux_accepts_only_known_congestion_controls() {
    let with = |name: &str| Sysctl { congestion: Some(name.into()), ..Sysctl::default() };
    let reno = linux(&with("reno"));
    assert_eq!(reno.congestion.control, CongestionAlgorithm::Reno);
    assert_eq!(reno.congestion.slow_start_exit, SlowStartExit::Loss);
    let bbr = linux(&with("bbr"));
    assert_eq!(bbr.congestion.control, CongestionAlgorithm::Bbr);
    let error = specification::sender_on("linux", &Config::default(), &with("vegas")).unwrap_err();
    assert!(
        matches!(&error, SpecificationError::Congestion { found, .. } if found == "vegas"),
        "{error}"
    );
}

#[test]
fn kernel_settings_change_the_linux_receiver() {
    let mut config = Config::default();
    Profile::find("linux").unwrap().apply_to_receiver(&mut config);
    assert!(config.sack && config.dsack && config.timestamps && config.receiver.dsack_old);
    assert_eq!(config.window.idle_restart, IdleRestart::Off, "a receiver does not send");
    let kernel =
        Sysctl { sack: Some(false), timestamps: Some(false), ecn: Some(2), ..Sysctl::default() };
    kernel.apply_to_receiver(&mut config);
    assert_eq!((config.sack, config.timestamps, config.ecn), (false, false, true));
}

#[test]
fn freebsd_and_gvisor_have_their_own_rto_bounds() {
    for (name, floor, most) in [
        ("freebsd-14", RtoFloor::Total(Duration::from_millis(30)), 64),
        ("gvisor", RtoFloor::Total(Duration::from_millis(200)), 120),
    ] {
        let rto = specification::sender(name, &Config::default()).unwrap().rto;
        assert_eq!((rto.floor, rto.max), (floor, Duration::from_secs(most)), "{name}");
        assert_eq!(rto.initial, Duration::from_secs(1), "{name}");
        let slop = if name == "freebsd-14" { 200 } else { 0 };
        assert_eq!(rto.slop, Duration::from_millis(slop), "{name}");
    }
}

#[test]
fn freebsd_undoes_what_gvisor_only_counts() {
    let [freebsd, gvisor] = ["freebsd-14", "gvisor"]
        .map(|name| specification::sender(name, &Config::default()).unwrap());
    assert_eq!((freebsd.response, gvisor.response), (Some(Response::Bsd), Some(Response::None)));
    assert!(!freebsd.detectors.is_empty() && !gvisor.detectors.is_empty());
    assert_eq!(freebsd.recovery.algorithm, Algorithm::Sack);
    assert_eq!(gvisor.recovery.algorithm, Algorithm::Rack);
}

#[test]
fn after_a_timeout_smoltcp_retransmits_the_whole_window() {
    let mut s = Script::sender("smoltcp").segments(12).offered(8).sent(1..=8);
    s.timeout().expect(1..=8).rto(2000);
    s.ack(1).expect([9]);
    s.ack(8).expect([10, 11, 12]);
}

#[test]
fn a_third_duplicate_ack_acts_like_a_timeout_in_smoltcp() {
    let mut s = Script::sender("smoltcp").segments(12).offered(8).sent(1..=8);
    s.ack(0).expect_nothing();
    s.ack(0).expect_nothing();
    s.ack(0).expect(1..=8).fast_retransmits(1);
    for _ in 0..4 {
        s.ack(0).expect_nothing();
    }
    // It may do so again as soon as SND.UNA has advanced.
    s.ack(2).expect([9, 10]);
    s.ack(2).expect_nothing();
    s.ack(2).expect_nothing();
    s.ack(2).expect(3..=10).fast_retransmits(2);
}

#[test]
fn smoltcp_resets_its_rtt_estimate_after_three_timeouts() {
    let config = specification::sender("smoltcp", &Config::default()).unwrap();
    assert_eq!(config.congestion.control, CongestionAlgorithm::None);
    let mut s = Script::sender("smoltcp").segments(12).offered(8).sent(1..=8);
    for rto in [2000, 4000, 8000] {
        s.timeout().expect(1..=8).rto(rto);
    }
    s.ack(8).expect(9..=12).rto(8000);
    // The next sample counts as the first one: the handshake took no time.
    let later = s.millis() + 600;
    s.at(later).ack(12).rto(600 + 4 * 300);
}

#[test]
fn any_recovery_works_without_congestion_control() {
    for recovery in ["tahoe", "newreno", "sack", "rack:no-tlp"] {
        let spec = format!("{recovery}+no-control");
        let mut s = Script::sender(&spec).segments(40).offered(8).sent(1..=8);
        s.ack(2).expect([9, 10]);
        s.timeout().take();
        s.ack(10).expect(11..=18);
    }
}
