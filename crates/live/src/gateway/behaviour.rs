//! The configuration of a gateway's engine, from a scenario and a sender specification.

use rtolab_scenario::{Flow, Scenario};
use rtolab_tcp::Config;
use rtolab_tcp::profile::{Profile, Sysctl};
use rtolab_tcp::specification::{self, SpecificationError};

/// The default sender.
const SENDER: &str = "linux";
/// The default of the most unacknowledged bytes from a client.
const BUFFER: u32 = 256 * 1024;

/// The configuration of an end that sends according to `sender`, and receives like a host of its
/// kind. With a `scenario` it sends like the sending host of its first flow and receives like the
/// receiving host; without, like the system that begins the sender's name. `buffer` is the most
/// unacknowledged data from a client, in bytes.
///
/// # Errors
/// `sender` is no valid sender specification.
pub fn behaviour(
    scenario: Option<&Scenario>,
    sender: Option<&str>,
    buffer: Option<u32>,
) -> Result<Config, SpecificationError> {
    let mut config = match scenario.and_then(|scenario| scenario.flows.first()) {
        Some(flow) => of_flow(flow, sender),
        None => of_system(sender.unwrap_or(SENDER)),
    }?;
    if let Some(buffer) = buffer {
        config.receiver.buffer = buffer;
    }
    Ok(config)
}

fn of_flow(flow: &Flow, sender: Option<&str>) -> Result<Config, SpecificationError> {
    let mut config = flow.sender_config(sender)?;
    let receiver = &flow.receiver;
    config.receiver = receiver.receiver;
    config.timestamp.echo = receiver.timestamp.echo;
    config.window_scale = receiver.window_scale;
    config.dsack = receiver.dsack;
    Ok(config)
}

fn of_system(name: &str) -> Result<Config, SpecificationError> {
    let mut config = specification::sender_on(name, &Config::default(), &Sysctl::default())?;
    if let Some(system) = name.split('+').next().and_then(Profile::find) {
        system.apply_to_receiver(&mut config);
    }
    config.receiver.buffer = BUFFER;
    // As large as the device's packets allow.
    config.mss = u16::MAX;
    config.window_scale = Some(0);
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        title = "A link"
        duration = "1 s"
        [tcp]
        sender = "newreno"
        mss = "536 B"
        [receiver]
        buffer = "32 kB"
        [[link]]
        name = "wireless"
        between = ["remote", "mobile"]
        [[flow]]
        name = "flow"
        from = "remote"
        to = "mobile"
        "#;

    #[test]
    fn a_scenario_says_how_both_halves_behave_and_a_sender_replaces_its_own() {
        let scenario = Scenario::parse(SCENARIO, "x.toml", &[]).unwrap();
        let config = behaviour(Some(&scenario), None, None).unwrap();
        assert_eq!((config.mss, config.receiver.buffer, config.sack), (536, 32_000, false));
        let config = behaviour(Some(&scenario), Some("sack+frto"), Some(64_000)).unwrap();
        assert_eq!((config.receiver.buffer, config.sack), (64_000, true));
        assert!(config.frto.is_some());
    }

    #[test]
    fn without_one_it_is_the_system_that_the_sender_names() {
        let config = behaviour(None, None, None).unwrap();
        assert!(config.sack && config.timestamps && config.dsack);
        assert_eq!(config.window_scale, Some(0));
        assert!(behaviour(None, Some("sack+frot"), None).is_err());
    }
}
