//! Invalid networks.

use super::{EVERYTHING, check, errors_with_in};

#[test]
fn routes_that_lead_nowhere() {
    let links = r#"links = ["wan-2", "radio-2"]"#;
    let first = "from = \"server\"\nto = \"mobile\"\nlinks = [\"wan-2\"";
    let messages = errors_with_in(
        EVERYTHING,
        &[
            (links, "links = []"),
            (links, r#"links = ["wan-2"]"#),
            (links, r#"links = ["wan-2", "radio"]"#),
            (links, r#"links = ["radio-2", "wan-2"]"#),
            (links, r#"links = ["wan-2", "radio2"]"#),
            (links, r#"links = ["wan", "radio", "radio-2", "wan-2"]"#),
            (links, r#"links = ["wan-2", "wan-2"]"#),
            (links, r#"links = ["wan-2", "radio-2", "radio"]"#),
            (links, r#"links = "wan-2""#),
            (first, "from = \"server\"\nto = \"mobil\"\nlinks = [\"wan-2\""),
            (first, "from = \"moon\"\nto = \"mobile\"\nlinks = [\"wan-2\""),
            (first, "from = \"server\"\nto = \"server\"\nlinks = [\"wan-2\""),
            (first, "from = \"mobile\"\nto = \"server\"\nlinks = [\"wan-2\""),
            (
                first,
                "from = \"base\"\nto = \"museum\"\nlinks = [\"spur\"]\n[[route]]\nfrom = \"server\"\n\
                 to = \"mobile\"\nlinks = [\"wan-2\"",
            ),
            ("at = \"10 s\"\n", ""),
            ("at = \"10 s\"", "at = \"noon\""),
            (links, ""),
        ],
    );
    check("routes_that_lead_nowhere", &messages);
}

#[test]
fn middleboxes_that_see_nothing() {
    let snoop = "at = \"base\"\nkind = \"snoop\"";
    let messages = errors_with_in(
        EVERYTHING,
        &[
            (snoop, "at = \"bas\"\nkind = \"snoop\""),
            (snoop, "at = \"base\"\nkind = \"snop\""),
            (snoop, "at = \"base\"\nkind = \"filter\""),
            (snoop, "at = \"museum\"\nkind = \"snoop\""),
            (snoop, "kind = \"snoop\""),
            (snoop, "at = \"base\""),
            ("link = \"radio\"\n", ""),
            ("link = \"radio\"", "link = \"radio-2\""),
            ("link = \"radio\"", "link = \"radio2\""),
            ("link = \"radio\"", "link = \"spur\""),
            ("dupthresh = 2", "dupthresh = 0"),
            ("cache = 100", "cache = 0"),
            ("at = \"base-2\"", "at = \"museum\""),
            ("kind = \"filter\"", "kind = \"filter\"\ncache = 7"),
            (
                "kind = \"filter\"",
                "kind = \"filter\"\n[[agent]]\nat = \"base-2\"\nkind = \"filter\"",
            ),
        ],
    );
    let freeze = |keys: &str| format!("kind = \"freeze\"\n{keys}");
    let span = |at: u32| format!("{{ at = \"{at} s\", for = \"4 s\" }}");
    let close = freeze(&format!("disconnections = [{}, {}]", span(10), span(14)));
    let backward = freeze(&format!("disconnections = [{}, {}]", span(20), span(10)));
    let of_snoop = freeze(&format!("disconnections = [{}]\ncache = 7", span(10)));
    let filter = "kind = \"filter\"";
    let frozen = errors_with_in(
        EVERYTHING,
        &[
            (filter, &freeze("")),
            (filter, &close),
            (filter, &backward),
            (filter, &of_snoop),
            (filter, "kind = \"filter\"\nwarning = \"1 s\""),
            (filter, &freeze("disconnections = [{ at = \"10 s\", for = \"4 s\" }]\nwarning = 1")),
            (filter, "kind = \"filter\"\ndisconnections = [{ at = \"10 s\", for = \"4 s\" }]"),
            (filter, "kind = \"ebsn\""),
            (filter, "kind = \"ebsn\"\nwarning = \"1 s\""),
            (filter, "kind = \"ebsn\"\ninterval = \"0 s\""),
            (filter, "kind = \"eln\""),
            (filter, "kind = \"eln\"\nlink = \"missing\""),
            (filter, "kind = \"eln\"\ndupthresh = 2"),
            (filter, "kind = \"handover\""),
            (filter, "kind = \"handover\"\nwarning = \"1 s\""),
        ],
    );
    check("middleboxes_that_see_nothing", &[messages, frozen].join("\n"));
}

#[test]
fn nothing_to_measure() {
    let messages = errors_with_in(
        EVERYTHING,
        &[
            ("from = \"5 s\"", "from = \"105 s\""),
            ("from = \"5 s\"", "from = \"110 s\""),
            ("to = \"105 s\"", "to = \"121 s\""),
            ("to = \"105 s\"", "to = \"0 s\""),
            ("from = \"5 s\"\nto = \"105 s\"", "from = \"120 s\""),
            ("from = \"5 s\"", "form = \"5 s\""),
            ("from = \"5 s\"", "from = 5"),
        ],
    );
    check("nothing_to_measure", &messages);
}
