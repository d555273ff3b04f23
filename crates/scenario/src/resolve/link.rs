//! Links: what holds for both directions, and what one of them has of its own.

use rtolab_link::{
    ChannelConfig, DirectionConfig, Limit, Outages, Probability, Renewal, Spikes, Stalls,
};
use rtolab_tcp::Config;
use rtolab_time::Duration;

use super::at::At;
use crate::Error;
use crate::written::value::{Chance, Written};
use crate::written::{self, Access, Direction, Link};

/// An IP and a TCP header without options, in bytes.
const HEADERS: u32 = 40;
/// The timestamps option, in bytes.
const TIMESTAMPS: u32 = 12;
/// A packet with nothing but headers and all the options that fit, in bytes.
const LARGEST_ACK: u32 = 80;

/// A link between two nodes, which must have room for the packets of `sender`.
pub(super) fn channel(link: &Link, sender: &Config, at: &At<'_>) -> Result<ChannelConfig, Error> {
    let Link { outages, forward, backward, .. } = link;
    let written = Channel { both: link.into(), outages, forward, backward };
    written.resolve(sender, at)
}

/// A flow's own link, which must have room for the packets of `sender`.
pub(super) fn access(link: &Access, sender: &Config, at: &At<'_>) -> Result<ChannelConfig, Error> {
    let Access { outages, forward, backward, .. } = link;
    let written = Channel { both: link.into(), outages, forward, backward };
    written.resolve(sender, at)
}

/// What links of both kinds are written as.
struct Channel<'a> {
    both: Direction,
    outages: &'a Option<written::Outages>,
    forward: &'a Option<Direction>,
    backward: &'a Option<Direction>,
}

impl Channel<'_> {
    fn resolve(&self, sender: &Config, at: &At<'_>) -> Result<ChannelConfig, Error> {
        let timestamps = if sender.timestamp.in_mss { 0 } else { TIMESTAMPS };
        let largest = (u32::from(sender.mss) + HEADERS + timestamps).max(LARGEST_ACK);
        check_room(&self.both, largest, at)?;
        let direction = |own: &Option<Direction>, key| {
            let none = Direction::default();
            let own = own.as_ref().unwrap_or(&none);
            check_room(own, largest, &at.key(key))?;
            Ok(merge(own, &self.both))
        };
        Ok(ChannelConfig {
            forward: direction(self.forward, "forward")?,
            backward: direction(self.backward, "backward")?,
            outages: self.outages.as_ref().map_or_else(Outages::default, outages),
            ..ChannelConfig::default()
        })
    }
}

/// A packet that is larger than a queue or buffer could never pass it.
fn check_room(written: &Direction, largest: u32, at: &At<'_>) -> Result<(), Error> {
    let Direction { queue, send_buffer, receive_buffer, .. } = written;
    let rooms =
        [("queue", queue), ("send_buffer", send_buffer), ("receive_buffer", receive_buffer)];
    for (key, room) in rooms {
        match room {
            Some(Written(Limit::Bytes(bytes))) if *bytes < largest => {
                let expected = format!("room for the largest packet, {largest} B with its headers");
                return Err(at.key(key).found(&expected));
            }
            _ => (),
        }
    }
    Ok(())
}

/// One direction: each key as its own, else as for both, else by default.
fn merge(own: &Direction, both: &Direction) -> DirectionConfig {
    let Direction { rate, delay, queue, send_buffer, receive_buffer, loss, drops, spikes, stalls } =
        own;
    let mut drops: Vec<u32> = drops
        .as_ref()
        .or(both.drops.as_ref())
        .map(|drops| drops.iter().map(|nth| nth.0).collect())
        .unwrap_or_default();
    drops.sort_unstable();
    drops.dedup();
    let room = |own: &Option<Written<Limit>>, both: &Option<Written<Limit>>| {
        own.or(*both).map_or(Limit::Unlimited, |room| room.0)
    };
    DirectionConfig {
        rate: rate.or(both.rate).map(|rate| rate.0),
        delay: delay.or(both.delay).map_or(Duration::ZERO, |delay| delay.0),
        queue: room(queue, &both.queue),
        send_buffer: room(send_buffer, &both.send_buffer),
        receive_buffer: room(receive_buffer, &both.receive_buffer),
        loss: loss.or(both.loss).map_or(Probability::ZERO, |Chance(loss)| loss),
        drops,
        spikes: spikes.as_ref().or(both.spikes.as_ref()).map(self::spikes),
        stalls: stalls.as_ref().or(both.stalls.as_ref()).map(self::stalls).unwrap_or_default(),
        ..DirectionConfig::default()
    }
}

fn spikes(written: &written::Spikes) -> Spikes {
    let written::Spikes { probability, length, holds } = written;
    Spikes {
        probability: probability.0,
        length: length.0,
        holds: holds.map(|holds| holds.0).unwrap_or_default(),
    }
}

fn stalls(written: &written::Stalls) -> Stalls {
    let written::Stalls { scripted, random, holds } = written;
    Stalls {
        scripted: scripted.as_ref().map(|script| script.0.clone()).unwrap_or_default(),
        random: random.as_ref().map(renewal),
        holds: holds.map(|holds| holds.0).unwrap_or_default(),
    }
}

fn outages(written: &written::Outages) -> Outages {
    let written::Outages { scripted, random } = written;
    Outages {
        scripted: scripted.as_ref().map(|script| script.0.clone()).unwrap_or_default(),
        random: random.as_ref().map(renewal),
    }
}

fn renewal(written: &written::Renewal) -> Renewal {
    let written::Renewal { good, bad, stationary } = written;
    Renewal { good: good.0, bad: bad.0, stationary: stationary.unwrap_or(true) }
}
