//! Invalid networks.

use rtolab_scenario::Scenario;

use super::{EVERYTHING, check, errors_with_in, message};

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

/// The kinds of middleboxes with the keys that they need, at a node.
fn middleboxes_at(node: &str) -> [(&'static str, String); 8] {
    let times = "disconnections = [{ at = \"10 s\", for = \"4 s\" }]";
    let all = [
        ("snoop", "link = \"radio\""),
        ("eln", "link = \"radio\""),
        ("filter", ""),
        ("freeze", times),
        ("ebsn", times),
        ("handover", times),
        ("unreachable", times),
        ("path-hint", times),
    ];
    all.map(|(kind, keys)| {
        (kind, format!("[[agent]]\nat = \"{node}\"\nkind = \"{kind}\"\n{keys}\n"))
    })
}

const THREE_NODES: &str = "title = \"x\"\nduration = \"10 s\"\n\
     [[link]]\nname = \"radio\"\nbetween = [\"base\", \"mobile\"]\n\
     [[link]]\nname = \"wan\"\nbetween = [\"base\", \"server\"]\n\
     [[flow]]\nname = \"f\"\nfrom = \"server\"\nto = \"mobile\"\nbytes = \"1 kB\"\n";

fn read(text: &str) {
    Scenario::parse(text, "x.toml", &[]).unwrap();
}

/// Routes pass middleboxes only between two links (`RoutingTable::add`), so one at an end would
/// have no effect.
#[test]
fn middleboxes_at_the_ends_of_flows_are_refused() {
    for (kind, table) in middleboxes_at("mobile") {
        let error = message(&format!("{THREE_NODES}{table}"));
        let expected = "agent[0].at: found \"mobile\", an end of its flows; expected a node between \
                        the ends of a flow, such as base";
        assert!(error.ends_with(expected), "{kind}: {error}");
    }
    for (kind, table) in middleboxes_at("base") {
        read(&format!("{THREE_NODES}{table}"));
        // A split flow ends at the gateway.
        let error = message(&format!("{THREE_NODES}split = [\"base\"]\n{table}"));
        assert!(error.contains("at: found \"base\", an end of its flows"), "{kind}: {error}");
    }
    let two_nodes = THREE_NODES.replace("from = \"server\"", "from = \"base\"");
    for (kind, table) in middleboxes_at("base") {
        let error = message(&format!("{two_nodes}{table}"));
        let expected = "expected a node between the ends of a flow, such as one that another link \
                        joins to base";
        assert!(error.ends_with(expected), "{kind}: {error}");
        // An access link lies before the first node.
        let access = format!("{two_nodes}access = {{ delay = \"1 ms\" }}\n{table}");
        read(&access);
    }
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
