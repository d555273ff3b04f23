//! The configuration of a gateway's engine, from a scenario and a sender specification.

use rtolab_scenario::{Flow, Scenario};
use rtolab_tcp::Config;
use rtolab_tcp::profile::{Profile, Sysctl};
use rtolab_tcp::specification::{self, SpecificationError};

/// The default sender.
const SENDER: &str = "linux";
/// The default receive buffer, in bytes.
const BUFFER: u32 = 256 * 1024;

/// The configuration of the engine with this sender. With a `scenario` the engine receives like the
/// receiver of the first flow, and `sender` replaces that flow's sender. Without one it receives
/// like the stack with which the sender's name begins. `buffer` is the receive buffer in bytes.
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
    // The device's MTU limits it.
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
    fn a_scenario_sets_sender_and_receiver_and_a_given_sender_replaces_its_own() {
        let scenario = Scenario::parse(SCENARIO, "x.toml", &[]).unwrap();
        let config = behaviour(Some(&scenario), None, None).unwrap();
        assert_eq!((config.mss, config.receiver.buffer, config.sack), (536, 32_000, false));
        let config = behaviour(Some(&scenario), Some("sack+frto"), Some(64_000)).unwrap();
        assert_eq!((config.receiver.buffer, config.sack), (64_000, true));
        assert!(config.frto.is_some());
    }

    #[test]
    fn without_a_scenario_the_receiver_is_that_of_the_senders_stack() {
        let config = behaviour(None, None, None).unwrap();
        assert!(config.sack && config.timestamps && config.dsack);
        assert_eq!(config.window_scale, Some(0));
        assert!(behaviour(None, Some("sack+frot"), None).is_err());
    }
}
