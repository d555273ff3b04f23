spurious("early", "an ACK within a quarter of a round trip", "docs/detector.md", |c| {
    c.detectors.add("early", || Box::new(Early));
})
