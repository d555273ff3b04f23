//! The JSON Schema for editors.

use rtolab_scenario::Scenario;
use serde_json::Value as Json;

fn accepts(text: &str) -> bool {
    let document = text.parse::<toml::Table>().unwrap();
    let document = serde_json::to_value(document).unwrap();
    jsonschema::draft7::is_valid(&Scenario::schema(), &document)
}

#[test]
fn it_rejects_what_the_reader_rejects() {
    let right = include_str!("../../../scenarios/frto2002-delays.toml");
    assert!(accepts(right));
    for (part, wrong) in [
        ("rate = \"28.8", "raet = \"28.8"),
        ("28.8 kbit/s", "200 ms"),
        ("28.8 kbit/s", "-28.8 kbit/s"),
        ("28.8 kbit/s", "28.8"),
        ("7 packets", "0 packets"),
        ("probability = 0.02", "probability = 1.02"),
        ("{ exponential = \"3.5 s\" }", "\"3.5 s\""),
        ("{ exponential = \"3.5 s\" }", "{ exponential = \"3.5 s\", constant = \"1 s\" }"),
        ("{ exponential = \"3.5 s\" }", "{ uniform = [\"1 s\"] }"),
        ("{ exponential = \"3.5 s\" }", "{ lognormal = { median = \"1 s\" } }"),
        ("{ exponential = \"3.5 s\" }", "{ lognormal = { median = \"1 s\", sigma = 0 } }"),
        ("{ exponential = \"3.5 s\" }", "{ gamma = { mean = \"1 s\", deviation = 3 } }"),
        ("{ exponential = \"3.5 s\" }", "{ pareto = { minimum = \"1 s\", shape = 1001 } }"),
        ("{ exponential = \"3.5 s\" }", "{ empirical = { values = [] } }"),
        ("{ exponential = \"3.5 s\" }", "{ empirical = { value = [\"1 s\"] } }"),
        ("[\"router\", \"mobile\"]", "[\"router\"]"),
        ("\"careful\"", "\"carefull\""),
        ("dupthresh = 3", "dupthresh = 0"),
        ("k = 4", "k = 4.5"),
        ("title = ", "# title = "),
        ("to = \"mobile\"", ""),
    ] {
        let text = right.replacen(part, wrong, 1);
        assert_ne!(text, right, "{part}");
        assert!(!accepts(&text), "{wrong}");
        assert!(Scenario::parse(&text, "x.toml", &[]).is_err(), "{wrong}");
    }
}

#[test]
fn it_accepts_every_distribution() {
    let right = include_str!("../../../scenarios/frto2002-delays.toml");
    for law in [
        "{ constant = \"1 s\" }",
        "{ uniform = [\"1 s\", \"2 s\"] }",
        "{ lognormal = { median = \"1 s\", sigma = 0.5 } }",
        "{ gamma = { mean = \"1 s\", deviation = \"2 s\" } }",
        "{ pareto = { minimum = \"1 s\", shape = 1.5 } }",
        "{ empirical = { values = [\"1 s\", \"2 s\"], interpolate = true } }",
        "{ empirical = { file = \"traces/jitter.txt\" } }",
    ] {
        let text = right.replacen("{ exponential = \"3.5 s\" }", law, 1);
        assert_ne!(text, right);
        assert!(accepts(&text), "{law}");
        Scenario::parse(&text, "tests/x.toml", &[]).unwrap();
    }
}

#[test]
fn it_accepts_every_key() {
    assert!(accepts(include_str!("everything.toml")));
}

/// The schema of every key, with its dotted key.
fn keys<'a>(schema: &'a Json, key: &str, found: &mut Vec<(String, &'a Json)>) {
    for choice in schema["oneOf"].as_array().into_iter().flatten().chain([schema, &schema["items"]])
    {
        for (step, schema) in choice["properties"].as_object().into_iter().flatten() {
            let key = format!("{key}.{step}");
            keys(schema, &key, found);
            found.push((key, schema));
        }
    }
}

#[test]
fn it_describes_every_key_with_valid_examples() {
    let schema = Scenario::schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let mut found = Vec::new();
    keys(&schema, "", &mut found);
    assert!(found.len() > 150, "{}", found.len());
    for (key, schema) in found {
        let choice =
            key.ends_with("constant") || key.ends_with("uniform") || key.ends_with("exponential");
        assert!(choice || schema["description"].is_string(), "{key}: {schema}");
        for example in schema["examples"].as_array().into_iter().flatten() {
            assert!(jsonschema::draft7::is_valid(schema, example), "{key}: {example}");
        }
        assert!(!schema.to_string().contains("null"), "{key}: {schema}");
    }
}
