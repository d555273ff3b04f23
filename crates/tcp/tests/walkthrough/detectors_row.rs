DetectorKind {
    name: "early",
    about: "an acknowledgment comes within a quarter of the smallest round trip",
    source: "docs/detector.md",
    make: || Box::new(Early),
}
