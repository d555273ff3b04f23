//! Keys of `[tcp]` that have no effect because a profile overrides them, and senders that no flow
//! uses.

use std::collections::BTreeSet;

use rtolab_settings::show;
use rtolab_tcp::Config;
use rtolab_tcp::profile::Profile;

use crate::document::{Document, Node, Step, Value};
use crate::raw::Tcp;
use crate::{Flow, Result, ScenarioError, Workload};

/// The most flows that an error lists.
const LISTED: usize = 5;

/// The keys of `[tcp]` in the document, each as an error with its value as the problem.
pub(crate) fn in_document(document: &Document) -> Vec<ScenarioError> {
    let mut keys = Vec::new();
    let mut path = vec![Step::Key("tcp".to_string())];
    if let Some(node) = document.node(&path) {
        collect(document, node, &mut path, &mut keys);
    }
    keys
}

/// The keys of `[tcp]` in `set`, in the same form.
pub(crate) fn in_set(set: &[(String, String)]) -> Vec<ScenarioError> {
    let keys = set.iter().filter(|(key, _)| key.starts_with("tcp."));
    let error = |(key, value): &(String, String)| ScenarioError {
        file: String::new(),
        line: None,
        set: Some(key.clone()),
        key: key.clone(),
        problem: format!("{value:?}"),
    };
    keys.map(error).collect()
}

fn collect(document: &Document, node: &Node, path: &mut Vec<Step>, keys: &mut Vec<ScenarioError>) {
    match &node.value {
        Value::Table(entries) => {
            for entry in entries {
                path.push(Step::Key(entry.key.clone()));
                collect(document, &entry.node, path, keys);
                path.pop();
            }
        }
        _ => keys.push(document.error(path, node.to_string())),
    }
}

/// The flows that have a sender.
fn connections(flows: &[Flow]) -> impl Iterator<Item = &Flow> {
    flows.iter().filter(|flow| !matches!(flow.workload, Workload::Datagrams { .. }))
}

/// Checks that a flow uses `senders`, if there are any.
pub(crate) fn check_use(flows: &[Flow], senders: &[String]) -> Result<()> {
    let Some(first) = senders.first() else { return Ok(()) };
    let connections: Vec<_> = connections(flows).collect();
    if connections.is_empty() || connections.iter().any(|flow| !flow.own_sender) {
        return Ok(());
    }
    let own = connections.iter().take(LISTED);
    let own: Vec<_> = own.map(|flow| format!("{} has {}", flow.name, flow.sender)).collect();
    let others = if connections.len() > LISTED { ", and so on" } else { "" };
    let problem = format!(
        "found the sender {first}, but each flow has a sender of its own ({}{others}); expected no \
         sender beside the scenario's, or a flow without the key sender",
        own.join(", ")
    );
    Err(ScenarioError {
        file: String::new(),
        line: None,
        set: None,
        key: "flow".to_string(),
        problem,
    })
}

/// Checks that each of `keys` has an effect if flows without a sender of their own use `senders`,
/// or the scenario's sender if there are none.
pub(crate) fn check(keys: &[ScenarioError], flows: &[Flow], senders: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut profiles = Vec::new();
    for flow in connections(flows) {
        let own = [flow.sender.clone()];
        let names = if flow.own_sender || senders.is_empty() { &own } else { senders };
        for name in names.iter().filter(|name| seen.insert((*name).clone())) {
            let first = name.split_once('+').map_or(name.as_str(), |(first, _)| first);
            let Some(profile) = Profile::find(first) else { return Ok(()) };
            let mut after = Config::clone(&flow.tcp);
            profile.apply_with(&flow.kernel, &mut after);
            profiles.push((name.clone(), profile, flow.tcp.clone(), after));
        }
    }
    for key in keys {
        let shown = |config: &Config| {
            let path: Vec<_> = key.key.split('.').skip(1).collect();
            show(&mut Tcp { sender: None, config: config.clone() }, &path)
        };
        let effects = profiles.iter().map(|(_, _, before, after)| (shown(before), shown(after)));
        let effects: Vec<_> = effects.collect();
        let overrides = |(before, after): &(Option<String>, _)| before.is_some() && before != after;
        if let (Some((name, profile, ..)), true) = (profiles.first(), effects.iter().all(overrides))
        {
            let set = effects[0]
                .1
                .as_ref()
                .map_or("replaces it".to_string(), |value| format!("sets it to {value}"));
            let kernel = match profile.kernel {
                Some(_) => ", a key of [kernel] instead",
                None => "",
            };
            let problem = format!(
                "found {}, but the profile {} of the sender {name:?} {set}; expected no such key \
                 beside it{kernel}, or a sender without a profile",
                key.problem, profile.name
            );
            return Err(ScenarioError { problem, ..key.clone() });
        }
    }
    Ok(())
}
