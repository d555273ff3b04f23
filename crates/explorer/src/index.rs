//! The scenarios and senders on offer.

use rtolab_tcp::profile::PROFILES;
use rtolab_tcp::specification;
use serde_json::{Value, json};
use toml::Table;

use crate::Texts;

/// The included scenarios with their titles, and the terms of sender specifications.
pub fn index(texts: &Texts) -> Value {
    let scenarios = texts.iter().filter_map(|(file, text)| {
        let name = file.strip_suffix(".toml")?;
        let document = text.parse::<Table>().ok()?;
        Some(json!({"name": name, "title": document.get("title")?.as_str()?}))
    });
    let policies = specification::policies().map(|policy| {
        json!({"name": policy.name, "question": policy.question.name(), "about": policy.about})
    });
    let profiles = PROFILES
        .iter()
        .map(|one| json!({"name": one.name, "question": "profile", "about": one.about}));
    json!({
        "scenarios": scenarios.collect::<Vec<_>>(),
        "senders": policies.chain(profiles).collect::<Vec<_>>(),
    })
}
