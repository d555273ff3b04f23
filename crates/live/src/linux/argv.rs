//! Substitution of addresses in the arguments of a command.

use rtolab_scenario::Scenario;

use super::host::address;

/// The host of a command, and its peer: the ends of the first link.
pub(crate) fn ends(scenario: &Scenario) -> (usize, usize) {
    scenario.links.first().map_or((0, 0), |link| link.ends)
}

/// Replaces `{peer}` and the names of hosts in braces by addresses.
pub(crate) fn substitute(scenario: &Scenario, command: &[String]) -> Vec<String> {
    let (_, peer) = ends(scenario);
    let names = scenario.nodes.iter().enumerate();
    let places: Vec<_> = [("peer", address(peer))]
        .into_iter()
        .chain(names.map(|(host, name)| (name.as_str(), address(host))))
        .collect();
    let fill = |word: &String| {
        places.iter().fold(word.clone(), |word, (name, address)| {
            word.replace(&format!("{{{name}}}"), &address.to_string())
        })
    };
    command.iter().map(fill).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        title = "A link"
        duration = "1 s"
        [[link]]
        name = "wireless"
        between = ["remote", "mobile"]
        [[flow]]
        name = "flow"
        from = "mobile"
        to = "remote"
        "#;

    #[test]
    fn names_in_braces_become_addresses() {
        let command = ["x", "{peer}", "http://{mobile}:80/{remote}", "${peer", "{other}"];
        let scenario = Scenario::parse(SCENARIO, "x.toml", &[]).unwrap();
        let expected = ["x", "10.83.0.2", "http://10.83.0.2:80/10.83.0.1", "${peer", "{other}"];
        assert_eq!(substitute(&scenario, &command.map(String::from)), expected);
    }
}
