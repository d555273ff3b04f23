//! Any text is a scenario or an error, never a panic.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use rtolab_scenario::Scenario;

const SHIPPED: &[&str] = &[
    include_str!("../../../../scenarios/frto2002-delays.toml"),
    include_str!("../../../../scenarios/frto2002-outages.toml"),
    include_str!("../../../../scenarios/bench-b.toml"),
    include_str!("../everything.toml"),
];

/// Pieces of scenarios, valid and invalid.
const TOKENS: &[&str] = &[
    "rate",
    "link",
    "[link]",
    "[[flow]]",
    "name",
    "tcp.rto",
    "=",
    "\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    "\n",
    "#",
    ".",
    "-1",
    "0",
    "1e9",
    "nan",
    "true",
    "\"28.8 kbit/s\"",
    "\"200 ms\"",
    "\"18446744073 s\"",
    "\"4294967295 packets\"",
    "\"traces/cellular.up\"",
    "\"../..\"",
    "\"router\"",
    "{ exponential = \"1 s\" }",
    "{ gamma = { mean = \"1 s\", deviation = \"2 s\" } }",
    "{ empirical = { values = [\"1 s\", \"0 s\"] } }",
    "{ empirical = { file = \"traces/jitter.txt\" } }",
    "{ uniform = [\"0 s\", \"0 s\"] }",
    "99999999999999999999",
    "1979-05-27",
    "\\u0000",
];

fn token() -> impl Strategy<Value = String> {
    prop_oneof![4 => select(TOKENS).prop_map(str::to_string), 1 => "\\PC{0,8}"]
}

/// A shipped scenario in which some lines are cut, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<Index>(), any::<Index>(), token(), 0..4);
    (select(SHIPPED), prop::collection::vec(change, 1..4)).prop_map(|(text, changes)| {
        let mut lines: Vec<_> = text.lines().map(str::to_string).collect();
        for (line, within, token, kind) in changes {
            let at = line.index(lines.len());
            let middle: Vec<_> = lines[at].char_indices().map(|(start, _)| start).collect();
            let middle = if middle.is_empty() { 0 } else { *within.get(&middle) };
            match kind {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[within.index(lines.len())].clone()),
                2 => lines[at].insert_str(middle, &token),
                _ => lines[at].replace_range(middle.., &token),
            }
        }
        lines.join("\n")
    })
}

fn key() -> impl Strategy<Value = String> {
    let steps: Vec<_> =
        "link wireless bottleneck lan forward rate spikes length constant outages random good \
        scripted tcp rto min mss flow transfer bulk count stagger start access title duration \
        name * 0 1 radio radio-2 arq retries red codel states bad priority rate_changes at \
        rate_trace delay_trace route links agent link measure to pages requests datagrams split"
            .split(' ')
            .chain([""])
            .collect();
    prop::collection::vec(select(steps), 0..6).prop_map(|steps| steps.join("."))
}

proptest! {
    #[test]
    fn any_text(text in "\\PC*") {
        let _ = Scenario::parse(&text, "tests/x.toml", &[]);
    }

    #[test]
    fn any_tokens(tokens in prop::collection::vec(token(), 0..30)) {
        let _ = Scenario::parse(&tokens.join(" "), "tests/x.toml", &[]);
    }

    #[test]
    fn any_change_of_a_scenario(text in mutated()) {
        if let Err(error) = Scenario::parse(&text, "tests/x.toml", &[]) {
            let lines = text.lines().count() + 1;
            prop_assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{error}");
        }
    }

    #[test]
    fn anything_set(text in select(SHIPPED), set in prop::collection::vec((key(), token()), 1..4)) {
        if let Err(error) = Scenario::parse(text, "tests/x.toml", &set) {
            prop_assert!(!error.problem.is_empty());
        }
    }
}
