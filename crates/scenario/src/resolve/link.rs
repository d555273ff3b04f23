//! Links: the keys of both directions, and those that they share.

use rtolab_link::{
    BadState, ChannelConfig, DirectionConfig, Discipline, HeaderCompression, Limit, Outages,
    Probability,
};
use rtolab_time::Duration;

use super::direction::{Layer, Layers};
use super::key::Key;
use super::run::Run;
use super::spans;
use crate::Result;
use crate::raw::Channel;

/// Both directions of a link.
pub(super) fn channel(written: &Channel, run: &Run<'_>, at: &Key<'_>) -> Result<ChannelConfig> {
    let Channel { outages, states, arq, forward, backward, both } = written;
    let own = [(forward, "forward"), (backward, "backward")];
    let link = Layer::new(both, at.clone(), run)?;
    let [one, other] = own.map(|(written, key)| Layer::new(&written.keys, at.key(key), run));
    let (one, other) = (one?, other?);
    let layers = [&link, &one, &other];
    let [link, one, other] = layers;
    let packets = run.packets();
    let config = ChannelConfig {
        forward: Layers { own: one, link }.resolve(&forward.outages, packets)?,
        backward: Layers { own: other, link }.resolve(&backward.outages, packets)?,
        outages: outages.clone(),
        states: states.clone(),
        arq: arq.clone(),
    };
    check_outages(&config, run.duration, at)?;
    check_states(&config, layers, at)?;
    check_memory(&config, layers)?;
    check_correlation(&config, layers)?;
    check_arq(&config, &at.key("arq"))?;
    check_compression(&config, layers)?;
    Ok(config)
}

/// Outages must not cover the whole run in either direction.
fn check_outages(config: &ChannelConfig, duration: Duration, at: &Key<'_>) -> Result<()> {
    let Outages { scripted: both, .. } = &config.outages;
    spans::check_outages(&[both], duration, &at.key("outages"))?;
    for (key, direction) in [("forward", &config.forward), ("backward", &config.backward)] {
        let own = &direction.outages.scripted;
        spans::check_outages(&[both, own], duration, &at.key(key).key("outages"))?;
    }
    Ok(())
}

/// `bad` needs `states`, and `states` needs `bad`.
fn check_states(config: &ChannelConfig, layers: [&Layer<'_>; 3], at: &Key<'_>) -> Result<()> {
    let differs = [&config.forward, &config.backward].map(|one| one.bad != BadState::default());
    match (&config.states, layers.iter().find_map(|layer| layer.place("bad"))) {
        (None, Some(bad)) => {
            let expected = "expected states, how long the good and the bad one last";
            Err(bad.error(format!("found a bad state in a link of only one; {expected}")))
        }
        (Some(_), _) if differs == [false, false] => {
            let expected = "expected bad, what differs in the bad one, such as { loss = 0.1 }";
            Err(at.key("states").error(format!("found two states that are alike; {expected}")))
        }
        _ => Ok(()),
    }
}

/// `loss_memory` needs losses.
fn check_memory(config: &ChannelConfig, layers: [&Layer<'_>; 3]) -> Result<()> {
    let lossless = |one: &DirectionConfig| {
        let bad = one.bad.loss.unwrap_or(Probability::ZERO);
        one.loss == Probability::ZERO && bad == Probability::ZERO
    };
    let (forward, backward) = (&config.forward, &config.backward);
    let none = [lossless(forward) && lossless(backward), lossless(forward), lossless(backward)];
    for (layer, none) in layers.into_iter().zip(none) {
        let Some(at) = layer.place("loss_memory") else { continue };
        if none {
            let problem = "found no losses to remember; expected loss, or bad.loss with states";
            return Err(at.error(problem));
        }
    }
    Ok(())
}

/// `jitter_correlation` needs jitter.
fn check_correlation(config: &ChannelConfig, layers: [&Layer<'_>; 3]) -> Result<()> {
    let has = [config.forward.jitter.is_some(), config.backward.jitter.is_some()];
    for (layer, has) in layers.into_iter().zip([has[0] || has[1], has[0], has[1]]) {
        let Some(at) = layer.place("jitter_correlation").filter(|_| !has) else { continue };
        let expected = "expected jitter, such as { exponential = \"30 ms\" }";
        return Err(at.error(format!("found no jitter to correlate; {expected}")));
    }
    Ok(())
}

/// Where the outcome of a frame depends on later ones, headers are not compressed.
fn check_compression(config: &ChannelConfig, layers: [&Layer<'_>; 3]) -> Result<()> {
    let ChannelConfig { forward, backward, arq, .. } = config;
    let compresses = |one: &DirectionConfig| one.header_compression != HeaderCompression::None;
    let controls = |one: &DirectionConfig| matches!(one.discipline, Discipline::CoDel(_));
    let both = [forward, backward];
    let other = match (arq.is_empty(), both.into_iter().any(controls)) {
        _ if !both.into_iter().any(compresses) => return Ok(()),
        (false, _) => "arq",
        (true, true) => "codel",
        (true, false) => return Ok(()),
    };
    for layer in layers {
        let key = "header_compression";
        if let Some(at) = layer.place(key) {
            return Err(at.error(format!("found {key} beside {other}; expected only one of them")));
        }
    }
    Ok(())
}

/// ARQ replaces the buffers, and its timeout must exceed the round trip of the link.
fn check_arq(config: &ChannelConfig, at: &Key<'_>) -> Result<()> {
    let ChannelConfig { forward, backward, arq, .. } = config;
    let rooms = [forward, backward].map(|one| [one.send_buffer, one.receive_buffer]);
    if !arq.is_empty() && rooms.as_flattened().iter().any(|room| *room != Limit::Unlimited) {
        let problem = "found arq beside send_buffer or receive_buffer; expected only one of them";
        return Err(at.error(problem));
    }
    let round_trip = forward.delay + backward.delay;
    for (index, arq) in arq.iter().enumerate() {
        if arq.timeout <= round_trip {
            let expected = format!("more than the {round_trip} that an answer takes");
            return Err(at.index(index).key("timeout").found(&expected));
        }
    }
    Ok(())
}
