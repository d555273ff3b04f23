//! A kernel's counters, from `/proc/net/snmp` and `/proc/net/netstat` of a namespace.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::error::Error;
use crate::report::Counts;

/// The counters of the namespace in which they were opened.
#[derive(Debug)]
pub(crate) struct Counters {
    files: [File; 2],
}

impl Counters {
    /// Opens the counters of the calling thread's namespace. Any thread can read them later.
    pub(crate) fn open() -> Result<Self, Error> {
        let open = |name| File::open(format!("/proc/thread-self/net/{name}"));
        let files = open("snmp").and_then(|snmp| Ok([snmp, open("netstat")?]));
        Ok(Self { files: files.map_err(Error::system("read the kernel's counters"))? })
    }

    /// The counters of TCP.
    pub(crate) fn read(&self) -> io::Result<Counts> {
        let mut counts = Counts::new();
        for file in &self.files {
            parse(&whole(file)?, &mut counts);
        }
        Ok(counts)
    }
}

fn whole(file: &File) -> io::Result<String> {
    let mut text = vec![0; 16_384];
    let mut length = 0;
    loop {
        match file.read_at(&mut text[length..], length as u64)? {
            0 => break,
            read => length += read,
        }
        if length == text.len() {
            text.resize(2 * length, 0);
        }
    }
    text.truncate(length);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Adds the counters in the text. Each protocol has two lines: the names and the numbers.
pub(crate) fn parse(text: &str, counts: &mut Counts) {
    let lines: Vec<_> = text.lines().collect();
    for pair in lines.chunks_exact(2) {
        let (Some((protocol, names)), Some((_, numbers))) =
            (pair[0].split_once(':'), pair[1].split_once(':'))
        else {
            continue;
        };
        if !matches!(protocol, "Tcp" | "TcpExt") {
            continue;
        }
        for (name, number) in names.split_whitespace().zip(numbers.split_whitespace()) {
            if let Ok(number) = number.parse() {
                counts.insert(format!("{protocol}{name}"), number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::since;

    #[test]
    fn the_line_before_the_numbers_has_their_names() {
        let text = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn InSegs\nTcp: 200 -1 17\n";
        let mut counts = Counts::new();
        parse(text, &mut counts);
        let expected = [("TcpInSegs".to_string(), 17), ("TcpRtoMin".to_string(), 200)];
        assert_eq!(counts, expected.into());
        let mut later = counts.clone();
        parse("TcpExt: TCPTimeouts\nTcpExt: 3\n", &mut later);
        assert_eq!(since(&counts, &later), [("TcpExtTCPTimeouts".to_string(), 3)].into());
    }
}
