//! Links: the keys of both directions, and those that they share.

use rtolab_link::{
    Arq, BadState, ChannelConfig, DirectionConfig, Discipline, HeaderCompression, Limit, Order,
    Outages, Probability, States,
};
use rtolab_time::Duration;

use super::direction::{Layer, Layers};
use super::key::Key;
use super::{Run, spans};
use crate::Result;
use crate::raw::{self, Access, Direction, Link};

/// The most nested ARQ layers of a link (such as LLC over RLC).
const MOST_ARQS: usize = 2;

/// A link between two nodes.
pub(super) fn channel(link: &Link, run: &Run<'_>, at: &Key<'_>) -> Result<ChannelConfig> {
    let Link { outages, states, arq, forward, backward, .. } = link;
    let written = Channel { both: link.into(), outages, states, arq, forward, backward };
    written.resolve(run, at)
}

/// The access link of a flow.
pub(super) fn access(link: &Access, run: &Run<'_>, at: &Key<'_>) -> Result<ChannelConfig> {
    let Access { outages, states, arq, forward, backward, .. } = link;
    let written = Channel { both: link.into(), outages, states, arq, forward, backward };
    written.resolve(run, at)
}

/// The raw keys of a link of either kind.
struct Channel<'a> {
    both: Direction,
    outages: &'a Option<raw::Outages>,
    states: &'a Option<raw::States>,
    arq: &'a Option<Vec<raw::Arq>>,
    forward: &'a Option<Direction>,
    backward: &'a Option<Direction>,
}

impl Channel<'_> {
    fn resolve(&self, run: &Run<'_>, at: &Key<'_>) -> Result<ChannelConfig> {
        let none = Direction::default();
        let link = Layer::new(&self.both, at.clone(), run)?;
        let forward = Layer::new(self.forward.as_ref().unwrap_or(&none), at.key("forward"), run)?;
        let backward =
            Layer::new(self.backward.as_ref().unwrap_or(&none), at.key("backward"), run)?;
        let layers = [&link, &forward, &backward];
        let config = ChannelConfig {
            forward: Layers { own: &forward, link: &link }.resolve(run.packets())?,
            backward: Layers { own: &backward, link: &link }.resolve(run.packets())?,
            outages: spans::outages(self.outages.as_ref()),
            states: self.states.as_ref().map(states),
            arq: self.arq.iter().flatten().map(arq).collect(),
        };
        check_outages(&config, run.duration, at)?;
        check_states(&config, layers, at)?;
        check_memory(&config, layers)?;
        check_arq(&config, &at.key("arq"))?;
        check_compression(&config, layers)?;
        Ok(config)
    }
}

fn states(written: &raw::States) -> States {
    let raw::States { good, bad, stationary, shared } = written;
    States { residence: spans::alternation(good, bad, *stationary), shared: shared.unwrap_or(true) }
}

fn arq(written: &raw::Arq) -> Arq {
    let raw::Arq { retries, timeout, order, fragment, header, report, notices } = written;
    Arq {
        retries: retries.0,
        order: order.map_or(Order::Free, |order| order.0),
        fragment: fragment.map(|fragment| fragment.0),
        header: header.map_or(0, |header| header.0),
        report: report.map_or(0, |report| report.0),
        notices: notices.map(|notices| notices.0).unwrap_or_default(),
        timeout: timeout.0,
    }
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
    match (config.states, layers.iter().find_map(|layer| layer.place("bad", |keys| keys.bad))) {
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
        let Some(at) = layer.place("loss_memory", |keys| keys.loss_memory) else { continue };
        if none {
            let problem = "found no losses to remember; expected loss, or bad.loss with states";
            return Err(at.error(problem));
        }
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
        if let Some(at) = layer.place(key, |keys| keys.header_compression) {
            return Err(at.error(format!("found {key} beside {other}; expected only one of them")));
        }
    }
    Ok(())
}

/// ARQ replaces the buffers, and its timeout must exceed the round trip of the link.
fn check_arq(config: &ChannelConfig, at: &Key<'_>) -> Result<()> {
    let ChannelConfig { forward, backward, arq, .. } = config;
    if arq.len() > MOST_ARQS {
        let problem = format!("found {} in a link; expected {MOST_ARQS} at most", arq.len());
        return Err(at.error(problem));
    }
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
