//! Scenarios that name prototypes.

use crate::noop_prototypes;
use rtolab_scenario::{Prototypes, Scenario};

const SCENARIO: &str = r#"title = "A stage, a response and a detector of one's own"
duration = "60 s"

[[link]]
name = "radio"
between = ["left", "right"]
backward.stage = "own"

[tcp]
response = "mine"

[[flow]]
name = "transfer"
from = "left"
to = "right"
sender = "sack+keen"
"#;

fn read(text: &str, prototypes: &Prototypes) -> Result<Scenario, String> {
    let scenario = Scenario::parse_with(text, "x.toml", &[], prototypes);
    scenario.map_err(|error| error.to_string())
}

#[test]
fn a_scenario_names_prototypes_at_their_keys() {
    let scenario = read(SCENARIO, &noop_prototypes::prototypes()).unwrap();
    let channel = &scenario.links[0].channel;
    assert_eq!(channel.backward.stage.as_ref().map(|own| &*own.name), Some("own"));
    assert_eq!(channel.forward.stage, None);
    let flow = &scenario.flows[0];
    let all = noop_prototypes::prototypes().policies;
    let response = |spec: Option<&str>| {
        let config = flow.sender_with(spec, &all).unwrap();
        (config.responder.map(|own| own.name), config.response)
    };
    assert_eq!(response(None), (Some("mine"), None));
    assert_eq!(flow.receiver.responder, None);
}

#[test]
fn a_sender_that_names_a_response_has_that_response() {
    let text = SCENARIO.replace("sender = \"sack+keen\"\n", "");
    let scenario = read(&text, &noop_prototypes::prototypes()).unwrap();
    let own = |spec| scenario.flows[0].sender_config(Some(spec)).unwrap().responder.is_some();
    assert!(own("sack+eifel") && own("sack") && own("linux-2.4"));
    assert!(!own("sack+eifel:half") && !own("sack+eifel+none") && !own("linux"));
}

#[test]
fn an_unknown_prototype_is_reported_with_its_place() {
    let cases = [
        ("\"own\"", "\"on\"", "x.toml:7: link.radio.backward.stage: found \"on\""),
        ("\"mine\"", "\"hlaf\"", "x.toml:10: tcp.response: found \"hlaf\""),
        ("+keen", "+kean", "x.toml:16: flow.transfer.sender: found the unknown policy \"kean\""),
    ];
    for (right, wrong, place) in cases {
        let message =
            read(&SCENARIO.replace(right, wrong), &noop_prototypes::prototypes()).unwrap_err();
        assert!(message.starts_with(place), "{message}");
    }
    let with_typo = |found: &str, known: &Prototypes| {
        read(&SCENARIO.replace("\"mine\"", found), known).unwrap_err()
    };
    let near = with_typo("\"mime\"", &noop_prototypes::prototypes());
    let expected = "expected a prototype of a response, or one of 15, such as \"mine\", ";
    assert!(near.contains(expected) && near.ends_with("did you mean \"mine\"?"), "{near}");
    let none = with_typo("\"hlaf\"", &Prototypes::default());
    let expected = "a prototype of a response, or one of 14, such as \"half\", ";
    assert!(none.contains(expected) && none.ends_with("did you mean \"half\"?"), "{none}");
}
