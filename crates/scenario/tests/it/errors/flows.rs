//! Invalid flows.

use super::{EVERYTHING, check, errors_with_in};

#[test]
fn invalid_workloads() {
    let pages = r#"pages = { bytes = "100 kB", every = "5 s", count = 20 }"#;
    let bytes = format!("bytes = \"1 kB\"\n{pages}");
    let split = format!("split = [\"base\"]\n{pages}");
    let messages = errors_with_in(
        EVERYTHING,
        &[
            (pages, bytes.as_str()),
            (pages, r#"pages = { bytes = "0 B", every = "5 s" }"#),
            (pages, r#"pages = { bytes = "1 kB", every = "0 s" }"#),
            (pages, r#"pages = { bytes = "1 kB" }"#),
            (pages, r#"pages = { bytes = "1 kB", every = "5 s", count = 0 }"#),
            (pages, "pages = 20"),
            (r#"request = "200 B""#, r#"request = "0 B""#),
            (r#"response = "20 kB""#, r#"response = "0 B""#),
            (r#"response = "20 kB""#, r#"reponse = "20 kB""#),
            (r#"think = { exponential = "1 s" }"#, r#"think = "1 s""#),
            (r#"off = { exponential = "50 ms" }, "#, ""),
            (r#"off = { exponential = "50 ms" }"#, r#"off = { exponential = "0 s" }"#),
            ("split = [\"base\"]", split.as_str()),
        ],
    );
    check("invalid_workloads", &messages);
}

#[test]
fn invalid_datagrams() {
    let packet = r#"packet = "200 B""#;
    let messages = errors_with_in(
        EVERYTHING,
        &[
            (packet, r#"packet = "27 B""#),
            (packet, r#"packet = "1 MB""#),
            (packet, r#"packet = "9 kB""#),
            (", packet = \"200 B\"", ""),
            (&format!("{packet} }}"), &format!("{packet} }}\nsender = \"sack\"")),
            (&format!("{packet} }}"), &format!("{packet} }}\nsplit = [\"base\"]")),
            (&format!("{packet} }}"), &format!("{packet} }}\nbytes = \"1 kB\"")),
            (packet, "packet = \"1500 B\" }\naccess = { forward.queue = \"400 B\""),
        ],
    );
    check("invalid_datagrams", &messages);
}

#[test]
fn splits_that_are_not_on_the_path() {
    let messages = errors_with_in(
        EVERYTHING,
        &[
            ("split = [\"base\"]", "split = [\"bas\"]"),
            ("split = [\"base\"]", "split = [\"museum\"]"),
            ("split = [\"base\"]", "split = [\"server\"]"),
            ("split = [\"base\"]", "split = [\"mobile\"]"),
            ("split = [\"base\"]", "split = [\"base\", \"base\"]"),
            ("split = [\"base\"]", "split = [\"base\", \"base-2\"]"),
            ("split = [\"base\"]", "split = \"base\""),
        ],
    );
    check("splits_that_are_not_on_the_path", &messages);
}

#[test]
fn invalid_sets_and_ends() {
    let messages = errors_with_in(
        EVERYTHING,
        &[
            ("set = \"a\"", "set = \"set a\""),
            ("set = \"a\"", "set = 1"),
            ("name = \"voice\"\nfrom = \"server\"", "name = \"voice\"\nfrom = \"serve\""),
            ("name = \"voice\"\nfrom = \"server\"", "name = \"voice\"\nfrom = \"mobile\""),
        ],
    );
    check("invalid_sets_and_ends", &messages);
}
