//! Tests that each policy has an effect. There must be a test network in which a sender with the
//! policy sends other packets than without it, and than with another policy for the same question.

use std::collections::BTreeMap;

use crate::common::test_networks::{Sent, TEST_NETWORKS, run};
use rtolab_tcp::profile::PROFILES;
use rtolab_tcp::specification::{Policy, Question, policies};

/// The packets of each sender in all test networks.
#[derive(Default)]
struct SentPackets(BTreeMap<String, Vec<Option<Sent>>>);

impl SentPackets {
    fn of(&mut self, spec: &str) -> &[Option<Sent>] {
        self.0.entry(spec.to_string()).or_insert_with(|| {
            let sent = |network| run(network, &[], spec).map(|[sent, _]| sent);
            TEST_NETWORKS.iter().map(sent).collect()
        })
    }

    /// Is there a test network in which both senders are valid and send different packets?
    fn differ(&mut self, one: &str, other: &str) -> bool {
        let one = self.of(one).to_vec();
        let pairs = one.iter().zip(self.of(other));
        pairs.filter(|(one, other)| one.is_some() && other.is_some()).any(|(a, b)| a != b)
    }
}

/// Sender specifications for a test of `policy`, with `{}` in its place.
fn templates(policy: &Policy) -> &'static [&'static str] {
    match policy.question {
        Question::Recovery => &["{}"],
        Question::Timeout | Question::Spurious | Question::Timer | Question::Congestion => {
            &["sack+{}", "newreno+{}", "rfc9002+{}"]
        }
        Question::Backoff => &["sack+{}", "newreno+{}"],
        Question::Reduction => &["sack+{}", "rack+{}"],
        Question::Network => &["sack+{}"],
        Question::Reordering => &["sack+dsack+{}", "sack+eifel:rfc3522+{}"],
        Question::SlowStart | Question::Pacing => &["sack+{}", "sack+cubic+{}"],
        Question::Response => &["sack+eifel+{}", "sack+frto+{}", "newreno+dsack+{}"],
    }
}

/// Does `policy` differ from `other`, or from its absence, in some specification?
fn policies_differ(sent_packets: &mut SentPackets, policy: &Policy, other: Option<&str>) -> bool {
    templates(policy).iter().any(|spec| {
        let without = match other {
            Some(other) => spec.replace("{}", other),
            None => spec.replace("+{}", ""),
        };
        sent_packets.differ(&spec.replace("{}", policy.name), &without)
    })
}

/// Is there a specification that is valid with either? `undo` needs `rfc9002`, which has no timeout
/// for Eifel to decide about.
fn have_common_base(
    sent_packets: &mut SentPackets,
    policy: &Policy,
    names: [&'static str; 2],
) -> bool {
    templates(policy).iter().any(|spec| {
        names
            .iter()
            .all(|name| sent_packets.of(&spec.replace("{}", name)).iter().any(Option::is_some))
    })
}

#[test]
fn each_policy_differs_from_its_absence_and_from_the_others_of_its_question() {
    let (mut sent_packets, mut indistinguishable) = (SentPackets::default(), Vec::new());
    let all: Vec<_> = policies().collect();
    for (index, policy) in all.iter().enumerate() {
        if policy.question != Question::Recovery
            && !policies_differ(&mut sent_packets, policy, None)
        {
            indistinguishable.push(format!("{} and nothing", policy.name));
        }
        for other in all[..index].iter().filter(|other| other.question == policy.question) {
            let both = [policy.name, other.name];
            if have_common_base(&mut sent_packets, policy, both)
                && !policies_differ(&mut sent_packets, policy, Some(other.name))
            {
                indistinguishable.push(format!("{} and {}", policy.name, other.name));
            }
        }
    }
    assert!(indistinguishable.is_empty(), "no test network distinguishes {indistinguishable:#?}");
}

#[test]
fn each_profile_differs_from_the_others_and_from_its_recovery() {
    let (mut sent_packets, mut indistinguishable) = (SentPackets::default(), Vec::new());
    for (index, profile) in PROFILES.iter().enumerate() {
        let recoveries = ["reno", "newreno", "sack"];
        let others = PROFILES[..index].iter().map(|other| other.name).chain(recoveries);
        for other in others {
            if !sent_packets.differ(profile.name, other) {
                indistinguishable.push(format!("{} and {other}", profile.name));
            }
        }
    }
    assert!(indistinguishable.is_empty(), "no test network distinguishes {indistinguishable:#?}");
}

/// Detectors and timers that can be combined.
const PAIRS: &[(&str, &str)] = &[
    ("frto", "eifel"),
    ("frto", "dsack"),
    ("eifel", "dsack"),
    ("eifel", "dualrtt"),
    ("minrto", "frto"),
    ("minrto", "eifel"),
    ("minrto", "dsack"),
    ("minrto", "dualrtt"),
];

#[test]
fn a_combination_differs_from_each_part_alone() {
    let (mut sent_packets, mut indistinguishable) = (SentPackets::default(), Vec::new());
    for (one, other) in PAIRS {
        for alone in [one, other] {
            let differs = ["sack", "newreno"].iter().any(|recovery| {
                let both = format!("{recovery}+{one}+{other}");
                sent_packets.differ(&both, &format!("{recovery}+{alone}"))
            });
            if !differs {
                indistinguishable.push(format!("{one}+{other} and {alone}"));
            }
        }
    }
    assert!(indistinguishable.is_empty(), "no test network distinguishes {indistinguishable:#?}");
}
