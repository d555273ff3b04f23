//! The programs of a run on guests: a client and a server.

use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rtolab_scenario::Scenario;
use rtolab_time::Duration;

use super::super::argv::{ends, substitute};
use super::super::host::address;
use super::agent::{Report, Request};
use super::guests::Guests;
use super::setup;
use super::stage::{Actors, NetworkLinks, Progress, Zero};
use crate::error::Error;
use crate::programs::{OnOutput, Output, Programs};
use crate::report::{EndReason, ServerEnd};

/// The numbers of the programs.
const CLIENT: usize = 0;
const SERVER: usize = 1;
/// The programs that archive files, at the client's host and at the server's.
const ARCHIVERS: [usize; 2] = [2, 3];
/// The maximum time until a file is archived, in virtual time.
const ARCHIVE_LIMIT: Duration = Duration::from_secs(60);
/// Ends all programs of the user, and archives a folder. A program that a signal has ended has
/// closed its files a second later.
const ARCHIVE: &str = "kill -TERM -1; sleep 1; cd \"$1\" && exec tar -cf - .";
/// The interval at which to check whether the server listens.
const LISTEN_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum time until a server listens that went to the background and ended with exit code 0.
const BACKGROUND_WAIT: Duration = Duration::from_secs(3);
/// The time from when the server listens to the start of the client.
const READY: Duration = Duration::from_millis(200);
/// The interval at which to check for packets and reports.
const DAY: Duration = Duration::from_secs(86_400);
/// The variable with the server's address.
const PEER: &str = "RTOLAB_PEER";
/// The maximum number of bytes of words in a request.
const PART: usize = 1400;
/// The files that list sockets, with the state of those that listen, and of datagram sockets that
/// are not connected.
const SOCKETS: [(&str, &str); 5] = [
    ("/proc/net/tcp", " 0A "),
    ("/proc/net/tcp6", " 0A "),
    ("/proc/net/udp", " 07 "),
    ("/proc/net/udp6", " 07 "),
    ("/proc/net/sctp/eps", " 10 "),
];

/// The phase of a run, with times of the guests.
#[derive(Clone, Copy, Debug)]
enum Phase {
    Begins,
    /// The server starts: the times of the next check and of the last one.
    Listens {
        next: u64,
        last: u64,
    },
    /// The client starts at this time.
    Starts(u64),
    /// The server ended before it listened.
    ServerEnded,
    /// The client runs, at most until this time.
    Runs(Option<u64>),
    /// Files are archived, at most until this time.
    Archives(u64),
}

/// The programs of a run.
pub(super) struct Running<'a> {
    scenario: &'a Scenario,
    programs: &'a Programs<'a>,
    output: &'a mut OnOutput<'a>,
    phase: Phase,
    /// The exit statuses of programs that have ended.
    ended: [Option<ExitStatus>; 4],
    limited: bool,
    reports: u64,
    /// The time of the last check for packets and reports, and their number at that time.
    activity: (u64, u64),
}

impl<'a> Running<'a> {
    pub(super) fn new(
        scenario: &'a Scenario,
        programs: &'a Programs<'a>,
        output: &'a mut OnOutput<'a>,
    ) -> Self {
        Self {
            scenario,
            programs,
            output,
            phase: Phase::Begins,
            ended: [None; 4],
            limited: false,
            reports: 0,
            activity: (0, 0),
        }
    }

    fn start(
        &self,
        program: usize,
        command: &[String],
        (guests, links): (&mut Guests<'_>, &mut NetworkLinks<'_, '_>),
    ) -> Result<(), Error> {
        let (here, peer) = ends(self.scenario);
        let guest = if program == CLIENT || program == ARCHIVERS[0] { here } else { peer };
        let argv = substitute(self.scenario, command);
        let words = words(&argv, &address(peer).to_string())?;
        for (number, part) in words.chunks(PART).enumerate() {
            let offset = (number * PART) as u32;
            let request = Request::Words { offset, bytes: part.to_vec() };
            self.check((guest, &argv), guests.call(guest, &request, links)?.0)?;
        }
        let request = Request::Start {
            program,
            arguments: argv.len() as u32,
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
            groups: groups()?,
        };
        self.check((guest, &argv), guests.call(guest, &request, links)?.0)
    }

    /// The error of a program that could not be started.
    fn check(&self, (guest, argv): (usize, &[String]), error: i32) -> Result<(), Error> {
        if error == 0 {
            return Ok(());
        }
        let source = io::Error::from_raw_os_error(error.abs());
        let folder = std::env::current_dir().unwrap_or_default();
        Err(Error::NotRunInside {
            program: argv.first().cloned().unwrap_or_default(),
            host: self.scenario.nodes[guest].clone(),
            problem: match error {
                1.. => source.to_string(),
                _ => format!("the working folder {} is not there ({source})", folder.display()),
            },
        })
    }

    fn start_client(
        &mut self,
        now: u64,
        guests: (&mut Guests<'_>, &mut NetworkLinks<'_, '_>),
    ) -> Result<(), Error> {
        self.start(CLIENT, self.programs.client, guests)?;
        self.phase = Phase::Runs(self.programs.limit.map(|limit| now + limit.nanos()));
        Ok(())
    }

    /// Ends the programs and archives the files that are kept.
    pub(super) fn archive(
        &mut self,
        guests: &mut Guests<'_>,
        links: &mut NetworkLinks<'_, '_>,
    ) -> Result<(), Error> {
        let Some(folder) = self.programs.log_folder else { return Ok(()) };
        let until = guests.now() + ARCHIVE_LIMIT.nanos();
        let command = ["sh", "-c", ARCHIVE, "sh", folder].map(String::from);
        for program in ARCHIVERS {
            self.start(program, &command, (guests, links))?;
        }
        self.phase = Phase::Archives(until);
        self.limited = false;
        Ok(())
    }

    /// Does the server listen, or has a program opened the TUN device?
    fn is_listening(
        &self,
        guests: &mut Guests<'_>,
        links: &mut NetworkLinks<'_, '_>,
    ) -> Result<bool, Error> {
        let (_, guest) = ends(self.scenario);
        for (path, sign) in SOCKETS {
            let (_, text) = setup::file(guests, (guest, path), links)?;
            if text.lines().skip(1).any(|line| line.contains(sign)) {
                return Ok(true);
            }
        }
        let carrier = (guest, "/host/sys/class/net/stack0/carrier");
        Ok(setup::file(guests, carrier, links)?.1.trim() == "1")
    }

    fn begin(
        &mut self,
        now: u64,
        guests: (&mut Guests<'_>, &mut NetworkLinks<'_, '_>),
    ) -> Result<(), Error> {
        let Some(server) = self.programs.server else {
            return self.start_client(now, guests);
        };
        let shell = ["sh", "-c", server].map(String::from);
        self.start(SERVER, &shell, guests)?;
        self.phase = Phase::Listens { next: now, last: now + self.programs.server_wait.nanos() };
        Ok(())
    }

    /// The next phase while the server does not yet listen.
    fn next_check(
        &mut self,
        (now, last): (u64, u64),
        (guests, links): (&mut Guests<'_>, &mut NetworkLinks<'_, '_>),
    ) -> Result<Phase, Error> {
        if self.ended[SERVER].is_some_and(|status| !status.success()) {
            return Ok(self.refuse_client());
        }
        if self.is_listening(guests, links)? {
            return Ok(Phase::Starts(now + READY.nanos()));
        }
        let has_ended = self.ended[SERVER].is_some();
        Ok(match now >= last {
            true if has_ended => self.refuse_client(),
            true => Phase::Starts(now),
            false => {
                let background = if has_ended { now + BACKGROUND_WAIT.nanos() } else { last };
                let last = last.min(background);
                Phase::Listens { next: now + LISTEN_CHECK_INTERVAL.nanos(), last }
            }
        })
    }

    /// Ends the run without a client.
    fn refuse_client(&mut self) -> Phase {
        (self.output)(Output::Error, b"the server ended before it listened\n");
        Phase::ServerEnded
    }

    /// The end of the server, if it ended before the client.
    pub(super) fn server_end(&self) -> Option<ServerEnd> {
        let code = code(self.ended[SERVER]?);
        Some(ServerEnd { code, before_client: matches!(self.phase, Phase::ServerEnded) })
    }

    /// Returns an error after a day without packets and reports.
    fn check_activity(&mut self, now: u64, packets: u64) -> Result<(), Error> {
        let (since, before) = self.activity;
        if now < since + DAY.nanos() {
            return Ok(());
        }
        let count = packets + self.reports;
        if count == before {
            let program = self.programs.client.first().cloned().unwrap_or_default();
            return Err(Error::GuestsWait { program });
        }
        self.activity = (now, count);
        Ok(())
    }
}

impl Actors for Running<'_> {
    fn on_report(&mut self, report: Report, _: Zero) {
        self.reports += 1;
        match report {
            Report::Output { program, is_error, bytes } => {
                let (here, peer) = ends(self.scenario);
                let output = match ARCHIVERS.iter().position(|archiver| *archiver == program) {
                    _ if is_error => Output::Error,
                    Some(end) => Output::Archive([here, peer][end]),
                    None => Output::Standard,
                };
                (self.output)(output, &bytes);
            }
            Report::Exited { program, status } => {
                let status = ExitStatus::from_raw(status);
                if let Some(ended) = self.ended.get_mut(program) {
                    *ended = Some(status);
                }
                let is_stopped = matches!(self.phase, Phase::Archives(_));
                if program == SERVER && !status.success() && !is_stopped {
                    let said = format!("the server ended with exit code {}\n", code(status));
                    (self.output)(Output::Error, said.as_bytes());
                }
            }
            _ => {}
        }
    }

    fn proceed(
        &mut self,
        guests: &mut Guests<'_>,
        links: &mut NetworkLinks<'_, '_>,
    ) -> Result<(), Error> {
        let now = guests.now();
        match self.phase {
            Phase::Begins => self.begin(now, (guests, links))?,
            Phase::Listens { next, last } if now >= next => {
                self.phase = self.next_check((now, last), (guests, links))?;
            }
            Phase::Starts(at) if now >= at => self.start_client(now, (guests, links))?,
            Phase::Runs(Some(until)) | Phase::Archives(until) => self.limited = now >= until,
            _ => {}
        }
        self.check_activity(now, links.network.entered())
    }

    fn next_timer(&self, _: u64, _: Zero) -> Option<u64> {
        let next = match self.phase {
            Phase::Begins => return Some(0),
            Phase::Listens { next: at, .. }
            | Phase::Starts(at)
            | Phase::Runs(Some(at))
            | Phase::Archives(at) => Some(at),
            Phase::Runs(None) | Phase::ServerEnded => None,
        };
        next.into_iter().chain([self.activity.0 + DAY.nanos()]).min()
    }

    fn progress(&self) -> Progress {
        if let Phase::Archives(_) = self.phase {
            let ended = ARCHIVERS.iter().all(|program| self.ended[*program].is_some());
            return match ended || self.limited {
                true => Progress::Ended(EndReason::FlowsCompleted),
                false => Progress::Continues,
            };
        }
        if let Phase::ServerEnded = self.phase {
            return Progress::Ended(EndReason::ServerEnded);
        }
        match self.ended[CLIENT] {
            Some(status) => Progress::Ended(EndReason::Exited(status)),
            None if self.limited => Progress::Ended(EndReason::TimedOut),
            None => Progress::Continues,
        }
    }
}

/// The exit code in a shell of a program with this status.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(128 + status.signal().unwrap_or(0))
}

/// The folder, the arguments and the environment of a program, with a zero byte after each.
fn words(argv: &[String], peer: &str) -> Result<Vec<u8>, Error> {
    let folder = std::env::current_dir().map_err(Error::system("find the working folder"))?;
    let mut words = folder.into_os_string().into_vec();
    words.push(0);
    for word in argv {
        words.extend(word.bytes());
        words.push(0);
    }
    let others = std::env::vars_os().filter(|(name, _)| name != PEER);
    for (name, value) in others.chain([(PEER.into(), peer.into())]) {
        words.extend(name.into_vec());
        words.push(b'=');
        words.extend(value.into_vec());
        words.push(0);
    }
    Ok(words)
}

/// The supplementary groups of the user.
fn groups() -> Result<Vec<u32>, Error> {
    let groups = rustix::process::getgroups().map_err(Error::system("read the user's groups"))?;
    Ok(groups.into_iter().map(rustix::process::Gid::as_raw).take(256).collect())
}
