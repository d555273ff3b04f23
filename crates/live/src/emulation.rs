//! Two hosts, a link between them, and a command.

use rtolab_link::ChannelConfig;

use crate::error::Error;
use crate::report::Report;

/// A link between two hosts in real time.
///
/// Each host is a network namespace with a TUN device `link0`: the first `rtolab-<pid>-a` with
/// [`Emulation::ADDRESSES`]`[0]`, the second `rtolab-<pid>-b` with the other, so that a process
/// runs one emulation at a time. IPv4 packets that one sends go through the channel to the other;
/// the rest is dropped in silence. Time 0 of the channel is the start of the command.
///
/// The command runs in the first host's namespace with the caller's standard streams. In its
/// arguments `{peer}` and a host's name in braces stand for the address. Its environment holds
/// `RTOLAB_PEER`, the peer's address, and `RTOLAB_PEER_NETNS`, the peer's namespace, where
/// `ip netns exec` can run a server.
#[derive(Clone, Debug)]
pub struct Emulation<'a> {
    /// The link's name, as the scenario says; it names the link's random processes.
    pub link: &'a str,
    /// What the link is like.
    pub channel: &'a ChannelConfig,
    /// The seed of the run.
    pub seed: u64,
    /// The hosts' names, the one where the command runs first.
    pub hosts: [&'a str; 2],
    /// The program and its arguments.
    pub command: &'a [String],
}

impl Emulation<'_> {
    /// The hosts' addresses.
    pub const ADDRESSES: [&'static str; 2] = ["10.83.0.1", "10.83.0.2"];

    /// Runs the command to its end, then takes all down again. `interrupted` is asked ten times a
    /// second and after every signal; once it says yes, the command is ended and its report given.
    ///
    /// # Errors
    /// When something is missing ([`Error`] says what), or the system refuses. All is taken down
    /// then, too. What a killed process left behind is taken down by the next run.
    #[cfg(target_os = "linux")]
    pub fn run(&self, interrupted: &mut dyn FnMut() -> bool) -> Result<Report, Error> {
        let argv = self.argv();
        crate::namespace::check(&argv)?;
        let ends = crate::namespace::join(Self::ADDRESSES)?;
        crate::pump::run(self, &argv, &ends, interrupted)
    }

    /// Says that this is not Linux.
    #[cfg(not(target_os = "linux"))]
    pub fn run(&self, _interrupted: &mut dyn FnMut() -> bool) -> Result<Report, Error> {
        Err(Error::NotLinux)
    }

    /// The command with addresses in place of names.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code))]
    fn argv(&self) -> Vec<String> {
        let [here, peer] = Self::ADDRESSES;
        let places = [("peer", peer), (self.hosts[0], here), (self.hosts[1], peer)];
        let fill = |word: &String| {
            places.iter().fold(word.clone(), |word, (name, address)| {
                word.replace(&format!("{{{name}}}"), address)
            })
        };
        self.command.iter().map(fill).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_become_addresses() {
        let command = ["x", "{peer}", "http://{mobile}:80/{remote}", "${peer", "{other}"];
        let emulation = Emulation {
            link: "wireless",
            channel: &ChannelConfig::default(),
            seed: 1,
            hosts: ["remote", "mobile"],
            command: &command.map(String::from),
        };
        let expected = ["x", "10.83.0.2", "http://10.83.0.2:80/10.83.0.1", "${peer", "{other}"];
        assert_eq!(emulation.argv(), expected);
    }
}
