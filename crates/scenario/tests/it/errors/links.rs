//! Invalid links.

use rtolab_scenario::Scenario;

use super::{EVERYTHING, check, errors_with, errors_with_in, message};

/// The errors of [`super::VALID`] if these keys replace the loss of the wireless link.
fn errors_with_keys(cases: &[&str]) -> String {
    let cases: Vec<_> = cases.iter().map(|wrong| ("loss = 0.05", *wrong)).collect();
    errors_with(&cases)
}

#[test]
fn rates_of_zero() {
    let messages = errors_with_in(
        EVERYTHING,
        &[
            (r#"rate = "14.4 kbit/s""#, r#"rate = "0 kbit/s""#),
            (r#"rate = "9.6 kbit/s""#, r#"rate = "0 bit/s""#),
            (r#"rate = "64 kbit/s""#, r#"rate = "0 bit/s""#),
            (r#"rate = "4 Mbit/s""#, r#"rate = "0 bit/s""#),
        ],
    );
    check("rates_of_zero", &messages);
}

#[test]
fn invalid_changes() {
    let messages = errors_with_keys(&[
        r#"rate_changes = [{ at = "5 s", rate = "1 kbit/s" }, { at = "5 s", rate = "2 kbit/s" }]"#,
        r#"rate_changes = [{ at = "5 s", rate = "1 kbit/s" }, { at = "4 s", rate = "2 kbit/s" }]"#,
        r#"rate_changes = [{ at = "5 s" }]"#,
        r#"rate_changes = [{ from = "5 s", rate = "1 kbit/s" }]"#,
        r#"rate_changes = { at = "5 s", rate = "1 kbit/s" }"#,
    ]);
    let changes = r#"rate_changes = [{ at = "5 s", rate = "1 kbit/s" }]"#;
    let unpaced = errors_with(&[(r#"rate = "28.8 kbit/s""#, changes)]);
    check("invalid_changes", &[messages, unpaced].join("\n"));
}

#[test]
fn stalls_that_never_end() {
    let messages = errors_with(&[
        (r#"for = "1 s""#, r#"for = "10 s""#),
        (r#"{ at = "50 s", for = "1 s" }"#, r#"{ at = "70 s", for = "1 s" }"#),
        (
            r#"for = "1 s" }]"#,
            "for = \"1 s\" }]\nrandom = { good = { uniform = [\"0 s\", \"0 s\"] }, \
                              bad = { constant = \"1 s\" } }",
        ),
        (
            r#"for = "1 s" }]"#,
            "for = \"1 s\" }]\nrandom = { good = { constant = \"0 s\" }, \
                              bad = { constant = \"1 s\" } }",
        ),
    ]);
    check("stalls_that_never_end", &messages);
}

#[test]
fn endless_outages() {
    let messages = errors_with(&[
        (
            "[link.outages.random]",
            "[link.outages]\nscripted = [{ at = \"0 s\", for = \"60 s\" }]\n\
                                   [link.outages.random]",
        ),
        (
            "[link.outages.random]",
            "[link.outages]\nscripted = [{ at = \"0 s\", for = \"5 s\" }, \
                                   { at = \"5 s\", for = \"100 s\" }]\n[link.outages.random]",
        ),
        ("drops = [1, 2]", "outages = { scripted = [{ at = \"0 s\", for = \"90 s\" }] }"),
        ("good = { uniform = [\"0.1 s\", \"20 s\"] }", "good = { uniform = [\"0 s\", \"0 s\"] }"),
    ]);
    let link = r#"outages = { scripted = [{ at = "10 s", for = "50 s" }] }"#;
    let own = r#"forward = { outages = { scripted = [{ at = "0 s", for = "10 s" }] } }"#;
    let together = errors_with(&[("name = \"lan\"", &format!("name = \"lan\"\n{link}\n{own}"))]);
    check("endless_outages", &[messages, together].join("\n"));
}

#[test]
fn invalid_states() {
    let states = r#"states = { good = { constant = "1 s" }, bad = { constant = "1 s" } }"#;
    let messages = errors_with_keys(&[
        "bad = { loss = 0.1 }",
        states,
        "bad = {}",
        "bad = { lose = 0.1 }",
        "bad = { loss = 10 }",
        r#"states = { good = { constant = "1 s" } }"#,
        r#"states = { good = { constant = "1 s" }, bad = { exponential = "0 s" } }"#,
        r#"states = { good = "1 s", bad = { constant = "1 s" } }"#,
    ]);
    let own = errors_with(&[("drops = [1, 2]", "bad = { loss = 0.1 }")]);
    let trace = "[link.backward]\nrate_trace = \"traces/cellular.up\"\n[link.backward.stalls]";
    let traced = EVERYTHING.replace("[link.backward.stalls]", trace);
    let traced = format!("rate_trace with bad.rate\n{}\n", message(&traced));
    check("invalid_states", &[messages, own, traced].join("\n"));
}

#[test]
fn correlations_without_jitter() {
    let messages = errors_with(&[
        ("loss = 0.05", "loss = 0.05\njitter_correlation = \"1 s\""),
        ("loss = 0.05", "jitter = { constant = \"1 s\" }\njitter_correlation = \"0 s\""),
        (
            "name = \"lan\"",
            "name = \"lan\"\nforward.jitter.constant = \"1 s\"\nbackward.jitter_correlation = \"1 s\"",
        ),
    ]);
    check("correlations_without_jitter", &messages);
}

#[test]
fn loss_memory_without_losses() {
    let memory = ("loss = 0.05", "loss_memory = 0.3");
    let messages = errors_with(&[
        memory,
        ("loss = 0.05", "loss = 0\nloss_memory = 0.3"),
        ("loss = 0.05", "loss = 0.05\nloss_memory = 1"),
        ("loss = 0.05", "loss = 0.05\nloss_memory = -0.5"),
        ("loss = 0.05", "duplication = 2"),
        ("loss = 0.05", "corruption = \"10 %\""),
        ("name = \"lan\"", "name = \"lan\"\nforward.loss = 0.1\nbackward.loss_memory = 0.3"),
    ]);
    check("loss_memory_without_losses", &messages);
}

#[test]
fn invalid_red() {
    let messages = errors_with_in(
        EVERYTHING,
        &[
            ("min = 5, max = 15", "min = 15, max = 15"),
            ("min = 5, max = 15", "min = 16, max = 15"),
            ("min = 5, max = 15", "min = 50, max = 60"),
            ("min = 5, max = 15", "min = -1, max = 15"),
            ("min = 5, max = 15", "min = 5, max = inf"),
            ("min = 5, max = 15", "min = \"5 packets\", max = 15"),
            ("min = 5, max = 15", "max = 15"),
            ("min = 2000, max = 6000", "min = 5, max = 15"),
            ("min = 2000, max = 6000", "min = 9000, max = 16000"),
            ("max_p = 0.1", "max_p = 0"),
            ("weight = 0.002", "weight = 1.5"),
            ("gentle = true", "gentle = 1"),
            ("queue = \"50 packets\"\n", ""),
            ("queue = \"50 packets\"", "queue = \"unlimited\""),
            ("rate = \"10 Mbit/s\"\n", ""),
            ("gentle = true", "packet_time = \"0 s\""),
            ("lifetime = \"3 s\"", "codel = {}"),
            ("lifetime = \"3 s\"", "lifetime = \"0 s\""),
        ],
    );
    check("invalid_red", &messages);
}

#[test]
fn invalid_codel() {
    let messages = errors_with_keys(&[
        r#"codel = { target = "0 s" }"#,
        r#"codel = { target = "100 ms" }"#,
        r#"codel = { interval = "5 ms" }"#,
        r#"codel = { target = "20 ms", interval = "10 ms" }"#,
        r#"codel = { tarket = "5 ms" }"#,
        "codel = true",
    ]);
    check("invalid_codel", &messages);
}

#[test]
fn priority_that_leaves_no_time() {
    let messages = errors_with_keys(&[
        r#"priority = { good = { constant = "1 s" }, bad = { constant = "1 s" }, every = "20 ms" }"#,
        r#"priority = { good = { constant = "1 s" }, bad = { constant = "1 s" }, every = "0 s", packet = "72 B" }"#,
        r#"priority = { good = { constant = "1 s" }, bad = { constant = "1 s" }, every = "20 ms", packet = "0 B" }"#,
        r#"priority = { good = { constant = "1 s" }, bad = { constant = "1 s" }, every = "20 ms", packet = "144 B" }"#,
        r#"priority = { good = { constant = "1 s" }, bad = { constant = "1 s" }, every = "20 ms", packet = "72 packets" }"#,
    ]);
    let unpaced = r#"priority = { good = { constant = "1 s" }, bad = { constant = "1 s" }, every = "20 ms", packet = "72 B" }"#;
    let unpaced = errors_with(&[("name = \"lan\"", &format!("name = \"lan\"\n{unpaced}"))]);
    check("priority_that_leaves_no_time", &[messages, unpaced].join("\n"));
}

#[test]
fn invalid_arq() {
    let third = "notices = \"gap\"\n[[link.arq]]\nretries = 1\ntimeout = \"1 s\"";
    let messages = errors_with_in(
        EVERYTHING,
        &[
            ("notices = \"gap\"", third),
            ("notices = \"gap\"", "notices = \"gaps\""),
            ("order = \"kept\"", "order = \"keep\""),
            ("retries = 3\n", ""),
            ("retries = 3", "retries = -1"),
            ("timeout = \"1 s\"\n", ""),
            ("timeout = \"1 s\"", "timeout = \"400 ms\""),
            ("fragment = \"40 B\"", "fragment = \"0 B\""),
            ("fragment = \"40 B\"", "fragment = \"40\""),
            ("header = \"7 B\"", "header = 7"),
            ("report = \"8 B\"", "report = \"8 GB\""),
            ("queue = \"50 packets\"", "queue = \"50 packets\"\nsend_buffer = \"8 kB\""),
            (
                "[link.backward.stalls]",
                "[link.backward]\nreceive_buffer = \"7 packets\"\n\
                                    [link.backward.stalls]",
            ),
        ],
    );
    check("invalid_arq", &messages);
}

#[test]
fn invalid_header_compression() {
    let of = |link: &str, kind: &str| format!("{link}\nheader_compression = \"{kind}\"");
    let (radio, second) = ("name = \"radio\"", "name = \"radio-2\"");
    let messages = errors_with_in(
        EVERYTHING,
        &[
            (radio, &of(radio, "vj")),
            (radio, &of(radio, "rfc1144")),
            (second, &of(second, "rfc2507")),
        ],
    );
    let forward = of("[link.forward]", "rfc1144");
    let one = errors_with_in(EVERYTHING, &[("[link.forward]", &forward)]);
    check("invalid_header_compression", &[messages, one].join("\n"));
    // This says what is so by default.
    let none = EVERYTHING.replacen(radio, &of(radio, "none"), 1);
    Scenario::parse(&none, "tests/x.toml", &[]).expect("no headers are compressed beside ARQ");
}

#[test]
fn invalid_laws() {
    let messages = errors_with_keys(&[
        r#"jitter = { lognormal = { median = "30 ms" } }"#,
        r#"jitter = { lognormal = { median = "0 s", sigma = 1 } }"#,
        r#"jitter = { lognormal = { median = "30 ms", sigma = 0 } }"#,
        r#"jitter = { lognormal = { median = "30 ms", sigma = 5.1 } }"#,
        r#"jitter = { lognormal = { mean = "30 ms", sigma = 1 } }"#,
        r#"jitter = { lognormal = "30 ms" }"#,
        r#"jitter = { log-normal = { median = "30 ms", sigma = 1 } }"#,
        r#"jitter = { gamma = { mean = "30 ms", deviation = "301 ms" } }"#,
        r#"jitter = { gamma = { mean = "30 ms", deviation = "299 us" } }"#,
        r#"jitter = { pareto = { minimum = "30 ms", shape = 1 } }"#,
        r#"jitter = { pareto = { minimum = "30 ms", shape = "heavy" } }"#,
        "jitter = { empirical = {} }",
        "jitter = { empirical = { values = [] } }",
        r#"jitter = { empirical = { values = ["0 s", "0 s"] } }"#,
        r#"jitter = { empirical = { values = ["1 s", 2] } }"#,
        r#"jitter = { empirical = { values = ["1 s"], file = "x" } }"#,
        r#"jitter = { empirical = { file = "traces/jiter.txt" } }"#,
    ]);
    check("invalid_laws", &messages);
}

#[test]
fn invalid_choices_and_times() {
    let messages = errors_with_keys(&[
        "order = \"fre\"",
        "order = true",
        r#"jitter = "30 ms""#,
        r#"jitter = { uniform = ["30 ms", "0 s"] }"#,
        r#"jitter = { normal = "30 ms" }"#,
        r#"lifetime = "3""#,
    ]);
    check("invalid_choices_and_times", &messages);
}

#[test]
fn a_list_in_place_of_a_table_names_the_key_that_takes_it() {
    for key in ["stalls", "outages"] {
        let list = format!(r#"forward = {{ {key} = [{{ at = "1 s", for = "2 s" }}] }}"#);
        let error = errors_with_keys(&[&list]);
        let expected = "found a list of 1 table; expected a table such as { scripted = [...] }";
        assert!(error.contains(&format!("link.wireless.forward.{key}: {expected}")), "{error}");
    }
}
