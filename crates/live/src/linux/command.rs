//! A command on a scenario's links.

use std::os::fd::OwnedFd;
use std::process::Child;
use std::thread;

use rtolab_record::Run;
use rtolab_time::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::argv::ends;
use super::connections;
use super::forwarder::{Forwarder, timespec};
use super::host::{Host, Origin};
use super::log::Log;
use super::namespace::Namespaces;
use super::recording;
use super::routes::Routes;
use super::stop::{Stop, StopSignal};
use super::workload::{self, counts};
use crate::emulation::{EmulationResult, Emulator, PacketLogging};
use crate::error::Error;
use crate::report::EndReason;

/// The interval at which `interrupted` is called.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of packets recorded, because a command may run for long.
const MAX_PACKETS: usize = 2_000_000;
/// The time for an interrupted command to exit after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the command and forwards packets until it ends.
pub(crate) fn run(
    emulation: &Emulator<'_>,
    (argv, logging): (&[String], PacketLogging),
    interrupted: &mut dyn FnMut() -> bool,
) -> Result<EmulationResult, Error> {
    let scenario = emulation.scenario;
    workload::check_for_command(scenario)?;
    let routes = Routes::new(scenario)?;
    let namespaces = Namespaces::new(&scenario.nodes)?;
    let nodes = scenario.nodes.iter().zip(&scenario.kernels).enumerate();
    let host = |(number, (name, kernel)): (usize, (&String, _))| {
        Host::new((number, name), kernel, Origin::Named(namespaces.name(number)))
    };
    let hosts: Vec<Host> = nodes.map(host).collect::<Result<_, _>>()?;
    let (here, peer) = ends(scenario);
    let before = counts(&hosts)?;
    let log = Log::new(match logging {
        PacketLogging::Off => 0,
        PacketLogging::Headers => MAX_PACKETS,
    });
    let measured = (Instant::START, Instant::START + scenario.duration);
    let draws = (emulation.seed, measured, scenario.emulation.begin);
    let mut forwarder = Forwarder::new((&hosts, &routes), draws, log, Vec::new());
    let stop = Stop::new()?;
    let ended = thread::scope(|scope| {
        let forwarding = scope.spawn(|| forwarder.run(&stop));
        let ended = namespaces
            .command(here, argv)
            .env("RTOLAB_PEER", hosts[peer].address.to_string())
            .env("RTOLAB_PEER_NETNS", namespaces.name(peer))
            .env("RTOLAB_NETNS", Namespaces::prefix())
            .spawn()
            .map_err(Error::system("start the command"))
            .and_then(|child| {
                RunningCommand::new(child)?.wait(interrupted, &|| forwarding.is_finished())
            });
        stop.set(StopSignal::Stop);
        let forwarded = forwarding.join().expect("the forwarding thread does not panic");
        forwarded.and(ended)
    })?;
    let after = counts(&hosts)?;
    let hosts: Vec<_> = hosts.iter().zip(before.into_iter().zip(after)).collect();
    let ending = forwarder.ending();
    let mut network = forwarder.network;
    let outcome = (ended, Vec::new(), workload::reports(&hosts));
    let report = recording::report((emulation, &routes), &network, &ending, outcome);
    let run = Run { run: 0, seed: emulation.seed, sender: "linux".into() };
    let known = connections::find(&mut network.log);
    let recording =
        recording::recording((emulation, &routes), run, (&mut network, ending.at), (&known, &[]));
    Ok(EmulationResult { recording, report })
}

/// A running command. Dropping this ends it.
struct RunningCommand {
    child: Child,
    /// Readable when the command has exited.
    watch: OwnedFd,
}

impl RunningCommand {
    fn new(mut child: Child) -> Result<Self, Error> {
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(watch) => Ok(Self { child, watch }),
            Err(refused) => {
                let _ = child.kill().and_then(|()| child.wait());
                Err(Error::system("watch the command")(refused))
            }
        }
    }

    /// Waits until it ends, the caller interrupts it, or forwarding fails.
    fn wait(
        mut self,
        interrupted: &mut dyn FnMut() -> bool,
        broken: &dyn Fn() -> bool,
    ) -> Result<EndReason, Error> {
        loop {
            let mut fds = [PollFd::new(&self.watch, PollFlags::IN)];
            match poll(&mut fds, Some(&timespec(POLL_INTERVAL))) {
                // After a signal the caller may want to stop.
                Ok(0) | Err(Errno::INTR) if interrupted() || broken() => {
                    return Ok(EndReason::Interrupted);
                }
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => break,
                Err(refused) => return Err(Error::system("wait for the command")(refused)),
            }
        }
        Ok(EndReason::Exited(self.child.wait().map_err(Error::system("wait for the command"))?))
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.child.try_wait() {
            return;
        }
        // An error means that the command has exited.
        let _ = pidfd_send_signal(&self.watch, Signal::TERM);
        let mut fds = [PollFd::new(&self.watch, PollFlags::IN)];
        if !matches!(poll(&mut fds, Some(&timespec(GRACE))), Ok(1)) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
