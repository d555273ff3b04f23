//! The sockets of a flow in two hosts, guests or the engine.

use rtolab_record::Place;

use super::super::sockets::{IoResult, Protocol, Sockets};
use super::super::sys::TcpInfo;
use super::agent::{Request, State};
use super::engine::EngineEnd;
use crate::error::Error;

/// A flow's sockets, as last reported by their guests. A guest buffers the bytes that its socket
/// does not accept, so a write always succeeds.
pub(super) struct RemoteSockets {
    flow: usize,
    protocol: Protocol,
    states: [State; 2],
    /// The number of bytes that the session has read, by end.
    consumed: [u64; 2],
    /// Requests for the guests of these ends.
    pub outbox: Vec<(Place, Request)>,
    /// The ends at hosts that are the engine.
    pub engines: [Option<EngineEnd>; 2],
}

impl RemoteSockets {
    pub(super) fn new(flow: usize, protocol: Protocol) -> Self {
        Self {
            flow,
            protocol,
            states: Default::default(),
            consumed: [0; 2],
            outbox: Vec::new(),
            engines: [None, None],
        }
    }

    pub(super) fn report(&mut self, place: Place, state: State) {
        self.states[place.index()] = state;
    }

    /// The congestion control of the sending socket.
    pub(super) fn congestion(&self) -> &str {
        &self.states[0].congestion
    }
}

impl Sockets for RemoteSockets {
    fn protocol(&self) -> Protocol {
        self.protocol
    }

    fn connect(&mut self) -> Result<(), Error> {
        match &mut self.engines[Place::Sender.index()] {
            Some(engine) => engine.connect(),
            None => self.outbox.push((Place::Sender, Request::Connect { flow: self.flow })),
        }
        Ok(())
    }

    fn accept(&mut self) -> bool {
        let receiver = Place::Receiver.index();
        let engine = self.engines[receiver].as_ref();
        engine.map_or(self.states[receiver].opened, EngineEnd::is_open)
    }

    fn read(&mut self, place: Place, _: &mut [u8]) -> IoResult {
        if let Some(engine) = &mut self.engines[place.index()] {
            return engine.read();
        }
        let (state, consumed) = (&self.states[place.index()], &mut self.consumed[place.index()]);
        let fresh = state.read - *consumed;
        *consumed = state.read;
        match state {
            _ if fresh > 0 => IoResult::Bytes(fresh),
            State { broken: true, .. } => IoResult::Broken,
            State { ended: true, .. } => IoResult::End,
            _ => IoResult::WouldBlock,
        }
    }

    fn write(&mut self, place: Place, most: u64, closing: bool) -> IoResult {
        if let Some(engine) = &mut self.engines[place.index()] {
            return engine.write(most);
        }
        if self.states[place.index()].broken {
            return IoResult::Broken;
        }
        let request = Request::Write { flow: self.flow, place, bytes: most, closing };
        self.outbox.push((place, request));
        IoResult::Bytes(most)
    }

    fn datagram(&mut self, payload: u64) {
        let bytes = payload as u32;
        self.outbox.push((Place::Sender, Request::Datagram { flow: self.flow, bytes }));
    }

    fn finish(&mut self, place: Place) {
        match &mut self.engines[place.index()] {
            Some(engine) => engine.finish(),
            None => self.outbox.push((place, Request::Finish { flow: self.flow, place })),
        }
    }

    fn info(&self) -> Option<TcpInfo> {
        if let Some(engine) = &self.engines[Place::Sender.index()] {
            return engine.info();
        }
        let state = &self.states[Place::Sender.index()];
        (state.opened || state.broken).then_some(state.info)
    }
}
