//! The error messages in full, as snapshots.

use std::path::Path;

use rtolab_scenario::{FileAccess, Prototypes, Scenario};

mod flows;
mod links;
mod network;
mod traces;

/// Every key of links, networks and workloads.
const EVERYTHING: &str = include_str!("../everything.toml");

const VALID: &str = r#"title = "A test"
duration = "60 s"

[[link]]
name = "lan"
between = ["remote", "router"]

[[link]]
name = "wireless"
between = ["router", "mobile"]
rate = "28.8 kbit/s"
queue = "7 packets"
send_buffer = "1776 B"
loss = 0.05

[link.spikes]
probability = 0.02
length = { exponential = "3.5 s" }

[link.backward]
drops = [1, 2]

[link.backward.stalls]
scripted = [{ at = "28 s", for = "12 s" }, { at = "50 s", for = "1 s" }]

[link.outages.random]
good = { uniform = ["0.1 s", "20 s"] }
bad = { exponential = "3.5 s" }

[tcp]
sender = "sack"
mss = "256 B"
window_scale = 7
recovery.bugfix = "careful"

[tcp.rto]
min = "1 s"
k = 4

[tcp.window]
initial = "2 segments"
max_burst = "3 segments"

[receiver]
buffer = "32 kB"
ack_every = 2

[[flow]]
name = "transfer"
from = "remote"
to = "mobile"
bytes = "102400 B"
start = "0 s"
count = 2
"#;

/// The error of the scenario `text`.
fn message(text: &str) -> String {
    match Scenario::parse(text, "tests/x.toml", &[]) {
        Ok(_) => panic!("no error in {text}"),
        Err(error) => error.to_string().replace("tests/", ""),
    }
}

/// The errors of [`VALID`] for each pair, if its second text replaces its first.
fn errors_with(cases: &[(&str, &str)]) -> String {
    errors_with_in(VALID, cases)
}

/// The errors of `text` for each pair, if its second text replaces its first.
fn errors_with_in(text: &str, cases: &[(&str, &str)]) -> String {
    let case = |(right, wrong): &(&str, &str)| {
        assert_eq!(text.matches(right).count(), 1, "{right}");
        let message = message(&text.replace(right, wrong));
        match wrong.trim() {
            "" => format!("without {}\n{message}\n", right.trim()),
            wrong => format!("{wrong}\n{message}\n"),
        }
    };
    cases.iter().map(case).collect::<Vec<_>>().join("\n")
}

/// The errors of [`VALID`] for each pair, if the key is set to the value.
fn errors_if_set(cases: &[(&str, &str)]) -> String {
    let case = |(key, value): &(&str, &str)| {
        let first = ("title".to_string(), "Set".to_string());
        let set = [first, ((*key).to_string(), (*value).to_string())];
        let error = Scenario::parse(VALID, "x.toml", &set).unwrap_err();
        format!("{key} = {value}\n{error}\n")
    };
    cases.iter().map(case).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(name: &str, messages: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, messages));
}

#[test]
fn the_right_scenario_is_right() {
    Scenario::parse(VALID, "x.toml", &[]).unwrap();
}

#[test]
fn a_misspelt_key() {
    let messages = errors_with(&[
        ("rate =", "raet ="),
        ("duration =", "durations ="),
        ("[tcp.rto]", "[tcp.rot]"),
        ("[link.spikes]", "[link.spike]"),
        ("k = 4", "wholly_unlike = 4"),
        ("length = { exponential", "length = { exponentail"),
        (r#"{ at = "28 s","#, r#"{ from = "28 s","#),
    ]);
    check("a_misspelt_key", &messages);
}

#[test]
fn a_missing_key() {
    let messages = errors_with(&[
        ("title = \"A test\"\n", ""),
        ("duration = \"60 s\"\n", ""),
        (r#"between = ["router", "mobile"]"#, ""),
        (r#"name = "wireless""#, ""),
        ("probability = 0.02\n", ""),
        ("length = { exponential = \"3.5 s\" }\n\n", ""),
        (r#"good = { uniform = ["0.1 s", "20 s"] }"#, ""),
        (r#"{ at = "28 s", for = "12 s" }"#, r#"{ at = "28 s" }"#),
        (r#"to = "mobile""#, ""),
    ]);
    check("a_missing_key", &messages);
}

#[test]
fn a_wrong_quantity() {
    let messages = errors_with(&[
        (r#""28.8 kbit/s""#, r#""-28.8 kbit/s""#),
        (r#""28.8 kbit/s""#, r#""200 ms""#),
        (r#""28.8 kbit/s""#, r#""28.8 kbps""#),
        (r#""28.8 kbit/s""#, "28800"),
        (r#""28.8 kbit/s""#, r#""0 bit/s""#),
        (r#""60 s""#, r#""60""#),
        (r#""60 s""#, r#""0 s""#),
        (r#""60 s""#, "1979-05-27"),
        (r#""60 s""#, "99999999999999999999"),
        (r#""7 packets""#, r#""0 packets""#),
        (r#""7 packets""#, r#""7 segments""#),
        (r#""7 packets""#, r#""5 GB""#),
        (r#""2 segments""#, r#""rfc9999""#),
        (r#""3 segments""#, "3"),
        (r#""3 segments""#, r#""0 segments""#),
        (r#""102400 B""#, r#""0 B""#),
        (r#"for = "12 s""#, r#"for = "0 s""#),
    ]);
    check("a_wrong_quantity", &messages);
}

#[test]
fn a_value_of_another_kind() {
    let messages = errors_with(&[
        (r#""A test""#, "true"),
        ("k = 4", "k = 4.5"),
        ("k = 4", "k = -4"),
        (r#"["router", "mobile"]"#, r#""router""#),
        (r#"["router", "mobile"]"#, r#"["router"]"#),
        (r#"["router", "mobile"]"#, r#"["router", 7]"#),
        ("drops = [1, 2]", "drops = 1"),
        ("drops = [1, 2]", "delay = [1, 2]"),
        (r#"recovery.bugfix = "careful""#, "recovery = 5"),
        (r#"sender = "sack""#, "timestamps = 1"),
        ("[receiver]", "[[receiver]]"),
        (r#"length = { exponential = "3.5 s" }"#, r#"length = "3.5 s""#),
        (r#"["0.1 s", "20 s"]"#, r#""20 s""#),
        (r#"uniform = ["0.1 s", "20 s"]"#, ""),
        (r#"["0.1 s", "20 s"] }"#, r#"["0.1 s", "20 s"], constant = "1 s" }"#),
        ("[[flow]]", "[flow]"),
    ]);
    check("a_value_of_another_kind", &messages);
}

#[test]
fn a_value_out_of_bounds() {
    let messages = errors_with(&[
        ("loss = 0.05", "loss = 1.05"),
        ("loss = 0.05", "loss = -1"),
        ("loss = 0.05", "loss = nan"),
        ("loss = 0.05", r#"loss = "5 %""#),
        ("probability = 0.02", "probability = 2"),
        ("drops = [1, 2]", "drops = [1, 0]"),
        (r#"mss = "256 B""#, r#"mss = "0 B""#),
        (r#"mss = "256 B""#, r#"mss = "65496 B""#),
        ("window_scale = 7", "window_scale = 15"),
        ("ack_every = 2", "ack_every = 0"),
        ("k = 4", "srtt_gain = 0"),
        ("count = 2", "count = 0"),
        ("count = 2", "count = 4_000_000_000"),
        (r#"buffer = "32 kB""#, r#"buffer = "2 GB""#),
    ]);
    check("a_value_out_of_bounds", &messages);
}

#[test]
fn an_unknown_word() {
    let messages = errors_with(&[
        (r#""careful""#, r#""carefull""#),
        ("k = 4", r#"sampling = "always""#),
        ("probability = 0.02", r#"holds = "sevice""#),
    ]);
    check("an_unknown_word", &messages);
}

#[test]
fn a_renamed_word() {
    let max_burst = r#"max_burst = "3 segments""#;
    let messages = errors_with(&[
        (max_burst, r#"avoidance = "formula""#),
        (max_burst, r#"avoidance = "fraction""#),
    ]);
    check("a_renamed_word", &messages);
}

#[test]
fn a_renamed_key() {
    let keys = [
        ("tcp.newreno.bugfix", "\"careful\""),
        ("tcp.dualrtt.by_spacing", "true"),
        ("tcp.msl", "\"30 s\""),
    ];
    check("a_renamed_key", &errors_if_set(&keys));
}

#[test]
fn an_unknown_sender() {
    let messages = errors_with(&[
        (r#"sender = "sack""#, r#"sender = "sack+frot""#),
        (r#"sender = "sack""#, r#"sender = "sack+newreno""#),
        (r#"sender = "sack""#, r#"sender = "frto""#),
        ("count = 2", r#"sender = """#),
    ]);
    check("an_unknown_sender", &messages);
}

#[test]
fn an_unknown_receiver() {
    let messages = errors_with(&[
        ("ack_every = 2", r#"profile = "linux-2.5""#),
        ("ack_every = 2", r#"profile = "sack""#),
        ("ack_every = 2", "profile = 98"),
        ("ack_every = 2", "profile = \"linux-2.4\"\nheartbeat_phase = \"50 ms\""),
    ]);
    check("an_unknown_receiver", &messages);
}

#[test]
fn invalid_spans() {
    let messages = errors_with(&[
        (r#"["0.1 s", "20 s"]"#, r#"["20 s", "0.1 s"]"#),
        (r#"["0.1 s", "20 s"]"#, r#"["0 s", "0 s"]"#),
        (r#"["0.1 s", "20 s"]"#, r#"["0 s", "1 ns"]"#),
        (r#"bad = { exponential = "3.5 s" }"#, r#"bad = { constant = "0 s" }"#),
        (r#"at = "50 s""#, r#"at = "30 s""#),
    ]);
    check("invalid_spans", &messages);
}

#[test]
fn names_and_nodes() {
    let again = "[[flow]]\nname = \"transfer\"\nfrom = \"remote\"\nto = \"router\"";
    let second = "[[flow]]\nname = \"transfer-2\"\nfrom = \"remote\"\nto = \"router\"\n[[flow]]";
    let messages = errors_with(&[
        (r#"from = "remote""#, r#"from = "remoet""#),
        (r#"to = "mobile""#, r#"to = "moon""#),
        (r#"to = "mobile""#, r#"to = "remote""#),
        (r#"["remote", "router"]"#, r#"["remote", "modem"]"#),
        (r#"["remote", "router"]"#, r#"["remote", "remote"]"#),
        (r#"name = "wireless""#, r#"name = "lan""#),
        (r#"name = "wireless""#, r#"name = "the link""#),
        ("count = 2", again),
        ("[[flow]]", second),
    ]);
    check("names_and_nodes", &messages);
}

/// A key that the profiles of all senders override would have no effect.
#[test]
fn keys_that_a_profile_overrides() {
    let (sender, flow) = (
        r#"sender = "sack""#,
        r#"to = "mobile"
"#,
    );
    let messages = errors_with(&[
        (sender, r#"sender = "linux-2.4""#),
        (sender, r#"sender = "linux+frto""#),
        (flow, "to = \"mobile\"\nsender = \"freebsd-4.1\"\n"),
    ]);
    check("keys_that_a_profile_overrides", &messages);
    check("a_set_key_that_a_profile_overrides", &errors_if_set(&[("tcp.sender", "windows-98")]));

    let second = r#"
[[flow]]
name = "second"
from = "remote"
to = "mobile"
"#;
    let both = VALID.replace(flow, "to = \"mobile\"\nsender = \"linux-2.4\"\n") + second;
    Scenario::parse(&both, "x.toml", &[]).expect("the second flow's sender has the key");
    let set = |key: &str| vec![(key.to_string(), "300 ms".to_string())];
    let check_senders = |set: &[_], senders: &[&str]| {
        let scenario = Scenario::parse(VALID, "x.toml", set).unwrap();
        let senders: Vec<_> = senders.iter().map(ToString::to_string).collect();
        scenario.check_senders(&senders, set).map_err(|error| error.to_string())
    };
    check_senders(&[], &["linux-2.4"]).expect("the file's keys are for other senders");
    check_senders(&set("tcp.rto.min"), &["linux-2.4", "sack"])
        .expect("one of the senders has the key");
    check_senders(&set("tcp.rto.slop"), &["linux-2.4"]).expect("this profile leaves the key alone");
    let message = check_senders(&set("tcp.rto.min"), &["linux-2.4", "ns2-2001"]).unwrap_err();
    assert!(
        message.starts_with("--set tcp.rto.min: found \"300 ms\", but the profile linux-2.4 of")
    );
}

/// A sender that no flow uses would run under the name of another one.
#[test]
fn senders_that_no_flow_uses() {
    let first = "to = \"mobile\"\n";
    let own = "to = \"mobile\"\nsender = \"sack+frto\"\n";
    let second = "[[flow]]\nname = \"second\"\nfrom = \"remote\"\nto = \"mobile\"\n";
    let checked = |text: &str, senders: &[&str]| {
        let scenario = Scenario::parse(text, "x.toml", &[]).unwrap();
        let senders: Vec<_> = senders.iter().map(ToString::to_string).collect();
        scenario.check_senders(&senders, &[]).map_err(|error| error.to_string())
    };
    let all = VALID.replacen(first, own, 1);
    checked(&all, &[]).expect("the flows' own senders");
    checked(&format!("{all}\n{second}"), &["rack"]).expect("the second flow uses it");
    let message = checked(&all, &["rack", "linux"]).unwrap_err();
    assert!(message.contains("found the sender rack, but each flow has a sender"), "{message}");
    assert!(message.contains("has sack+frto); expected no sender"), "{message}");
    // Five flows are all listed.
    let of = |count: u32| {
        VALID.replacen(first, own, 1).replace("count = 2", &format!("count = {count}"))
    };
    let message = checked(&of(5), &["rack"]).unwrap_err();
    assert!(message.contains("transfer-5 has sack+frto); expected no sender"), "{message}");
    let message = checked(&of(6), &["rack"]).unwrap_err();
    assert!(message.contains("transfer-5 has sack+frto, and so on); expected"), "{message}");
}

#[test]
fn keys_that_do_not_go_together() {
    let min = r#"min = "1 s""#;
    let messages = errors_with(&[
        (min, "min = \"1 s\"\nmin_on_variance = \"200 ms\""),
        (min, "min = \"1 s\"\nmax = \"500 ms\""),
        (min, "min_on_variance = \"1 s\"\nmin_after_backoff = \"200 ms\""),
        (min, "arithmetic = \"ns2\""),
        (min, "timer = \"ticks\""),
        (min, "delayed_ack_parity = \"resync\""),
        (min, "min = \"1 s\"\nmin_delayed_ack = \"500 ms\""),
        (min, "min_on_variance = \"1 s\"\narithmetic = \"ns2\"\ngranularity = \"10 ms\""),
        (min, "min_on_variance = \"1 s\"\narithmetic = \"eifel\""),
        (min, "min = \"90 s\""),
        (min, "min_on_variance = \"3 min\""),
        (min, "initial = \"90 s\""),
        (min, "initial = \"3 s\"\nmax = \"2 s\""),
        (min, "slop = \"61 s\""),
        (r#""1776 B""#, r#""200 B""#),
        ("drops = [1, 2]", r#"receive_buffer = "200 B""#),
        ("count = 2", r#"access = { queue = "200 B" }"#),
        (r#"buffer = "32 kB""#, r#"buffer = "100 B""#),
        (r#"buffer = "32 kB""#, "buffer = \"300 kB\"\nwindow_scale = 2"),
        (r#"buffer = "32 kB""#, "buffer = \"32 kB\"\nheartbeat_phase = \"50 ms\""),
        (r#"start = "0 s""#, r#"start = "60 s""#),
    ]);
    let unscaled = VALID.replace("window_scale = 7\n", "").replace("32 kB", "64 KiB");
    let unscaled = format!("without window_scale = 7\n{}\n", message(&unscaled));
    check("keys_that_do_not_go_together", &[messages, unscaled].join("\n"));
}

#[test]
fn thresholds_without_the_path() {
    let tcp = r#"recovery.bugfix = "careful""#;
    let with = |keys: &str| format!("{tcp}\n{keys}");
    let messages = errors_with(&[
        (tcp, &with("dualrtt = { model = \"online\", threshold = 0.1 }")),
        (tcp, &with("dualrtt = { model = \"onlin\" }")),
        (tcp, &with("dualrtt = { model = \"table\" }")),
        (tcp, &with("dualrtt = { model = \"paper-ln\", path_delay = \"200 ms\" }")),
        (tcp, &with("dualrtt = { model = \"paper-log10\", path_rate = \"50 kbit/s\" }")),
        (r#"sender = "sack""#, r#"sender = "sack+dualrtt:table""#),
        (
            r#"sender = "sack""#,
            "sender = \"sack+dualrtt:paper-ln\"\ndualrtt.path_rate = \"50 kbit/s\"",
        ),
    ]);
    check("thresholds_without_the_path", &messages);
}

#[test]
fn nothing_to_run() {
    let messages = [
        "",
        "title = \"\"\nduration = \"1 s\"",
        &VALID[..VALID.find("[[flow]]").unwrap()],
        &format!("flow = []\n{}", &VALID[..VALID.find("[[flow]]").unwrap()]),
    ];
    check("nothing_to_run", &messages.map(message).join("\n"));
}

#[test]
fn invalid_toml() {
    let messages = errors_with(&[
        ("[tcp.window]", "[tcp.window"),
        ("[receiver]", "[tcp]"),
        ("k = 4", r#"min = "2 s""#),
        ("k = 4", "k = "),
        (r#""A test""#, "A test"),
    ]);
    check("invalid_toml", &messages);
}

#[test]
fn invalid_settings() {
    let messages = errors_if_set(&[
        ("tcp.rto.mni", "1 s"),
        ("tcp.rto.min", "5"),
        ("tcp.rto.min", "90 s"),
        ("tcp.rto", "5"),
        ("tcp.rtoo.min", "1 s"),
        ("link.wireless.rate", "200 ms"),
        ("link.wireles.rate", "1 Mbit/s"),
        ("link.wireless.forward.rate", "fast"),
        ("link.wireless.spikes", "{ probability = 2 }"),
        ("link.wireless.spikes.length.constant", "3"),
        ("link.wireless.backward.stalls.scripted.first.at", "3 s"),
        ("link.wireless.backward.stalls.scripted.2.at", "3 s"),
        ("link.wireless.backward.stalls.scripted.0.at", "3"),
        ("link.0.rate", "3 kbit/s"),
        ("agent.0.link", "lan"),
        ("link.wireless", "{}"),
        ("tcp.sender", "sack+frot"),
        ("tcp.mss.bytes", "5 B"),
        ("duration.of.run", "5 s"),
        ("", "5 s"),
        ("tcp..mss", "5 s"),
        ("a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", "5 s"),
    ]);
    check("invalid_settings", &messages);
}

/// Tables without a name are counted from 0.
#[test]
fn an_index_beyond_a_list() {
    let set = |text: &str| {
        let set = [("link.wireless.backward.stalls.scripted.2.at".to_string(), "3 s".to_string())];
        Scenario::parse(text, "x.toml", &set).unwrap_err().to_string()
    };
    let text = VALID.replace(r#", { at = "50 s", for = "1 s" }"#, "");
    assert!(set(&text).ends_with(r#"found "2" in a list of 1 table without a name; expected 0"#));
    let message = set(VALID);
    let expected = r#"found "2" in a list without names; expected an index from 0 to 1"#;
    assert!(message.ends_with(expected), "{message}");
}

/// An error elsewhere still has its line.
#[test]
fn an_error_in_the_file_beside_settings() {
    let set = [("link.wireless.delay".to_string(), "1 ms".to_string())];
    let text = VALID.replace("to = \"mobile\"", "to = \"moon\"");
    let error = Scenario::parse(&text, "x.toml", &set).unwrap_err();
    assert_eq!((error.line, error.set.as_deref()), (Some(51), None), "{error}");
    assert_eq!((error.file.as_str(), error.key.as_str()), ("x.toml", "flow.transfer.to"));
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let latin = folder.join("latin-1.toml");
    std::fs::write(&latin, b"title = \"A test\"\n# caf\xe9\n").unwrap();
    let messages = [&folder.join("missing.toml"), folder, &latin].map(|path| {
        let message = Scenario::load(path, &[]).unwrap_err().to_string();
        message.replace(&folder.display().to_string(), "FOLDER")
    });
    check("files_that_cannot_be_read", &messages.join("\n"));
}

/// A scenario that is not trusted reads only files in its folder.
#[test]
fn files_outside_of_the_folder() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let scenario = folder.join("reach.toml");
    std::fs::write(folder.join("beside.down"), "1\n").unwrap();
    let jitter = "jitter.empirical.file";
    let named = |key: &str, file: &str| {
        let key = format!("[link.forward]\n{key} = '{file}'\n[[flow]]");
        std::fs::write(&scenario, VALID.replacen("[[flow]]", &key, 1)).unwrap();
        Scenario::load_with(&scenario, &[], (FileAccess::WithinFolder, &Prototypes::default()))
            .map_err(|error| error.problem)
    };
    for file in ["/etc/passwd", "../beside.down", "traces/../../beside.down", "./beside.down"] {
        for key in ["rate_trace", jitter] {
            let messages = named(key, file).unwrap_err();
            assert!(
                messages.contains("expected a file within the scenario's folder"),
                "{file}: {messages}"
            );
        }
    }
    assert!(named(jitter, "beside.down").is_ok());
    assert!(named("rate_trace", "beside.down").is_ok());
}
