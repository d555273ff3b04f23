//! Tests of link-layer headers and of unknown link types.

use super::*;

/// A tag of IEEE 802.1Q.
fn tag(ether_type: u16) -> Vec<u8> {
    [&ether_type.to_be_bytes()[..], &[0, 5]].concat()
}

#[test]
fn frames_of_every_link_type() {
    for (addresses, ether_type) in [(V4, [0x08, 0x00]), (V6, [0x86, 0xdd])] {
        let bytes = ip(&packet(0, addresses, 10));
        let macs = [7; 12];
        let ethernet = [&macs[..], &ether_type].concat();
        let vlan = [&macs[..], &tag(0x8100), &ether_type].concat();
        let double = [&macs[..], &tag(0x88a8), &tag(0x8100), &ether_type].concat();
        let double_before_802_1ad = [&macs[..], &tag(0x9100), &tag(0x8100), &ether_type].concat();
        let cooked = [&[0; 14][..], &ether_type].concat();
        let cooked_vlan = [&[0; 14][..], &tag(0x8100), &ether_type].concat();
        let cooked2 = [&ether_type[..], &[0; 18]].concat();
        for (link_type, header) in [
            (1, ethernet),
            (1, vlan),
            (1, double),
            (1, double_before_802_1ad),
            (101, vec![]),
            (12, vec![]),
            (14, vec![]),
            (228, vec![]),
            (229, vec![]),
            (0, vec![2, 0, 0, 0]),
            (108, vec![0, 0, 0, 2]),
            (113, cooked),
            (113, cooked_vlan),
            (276, cooked2),
        ] {
            // Short Ethernet frames are padded; the padding is not part of the IP packet.
            let frame = [&header[..], &bytes, &[0xee; 6]].concat();
            let file = ByteOrder::Little.pcap(0xa1b2_c3d4, link_type, [0, 0], &frame);
            assert_eq!(read_whole(&file), [packet(0, addresses, 10)], "link type {link_type}");
        }
    }
}

#[test]
fn a_truncated_frame_is_skipped_or_has_the_length_of_its_headers() {
    let bytes = ip(&packet(0, V4, 10));
    let header = [&[7; 12][..], &tag(0x88a8), &tag(0x8100), &[0x08, 0x00]].concat();
    let frame = [header, bytes].concat();
    for captured in 0..frame.len() {
        let mut file = ByteOrder::Little.pcap(0xa1b2_c3d4, 1, [0, 0], &frame[..captured]);
        file[36..40].copy_from_slice(&(frame.len() as u32).to_le_bytes());
        let (packets, error, skipped) = read(&file);
        assert!(error.is_none());
        // TCP's fixed header suffices without its options.
        let whole = captured >= 22 + 20 + 20;
        assert_eq!(packets.len(), usize::from(whole), "{captured}");
        assert_eq!(skipped.other + skipped.malformed, u64::from(!whole));
        for one in packets {
            assert_eq!(one.checksum, Checksum::Cut);
            let known = captured >= 22 + 20 + 32;
            let mut expected = packet(0, V4, 10);
            expected.segment.timestamps = expected.segment.timestamps.filter(|_| known);
            assert_eq!(one.packet, expected);
        }
    }
}

#[test]
fn a_capture_with_only_an_unknown_link_type_is_an_error() {
    let known = "expected Ethernet (1), raw IP (101, 228, 229), loopback (0, 108) or Linux \
                 cooked (113, 276)";
    assert_eq!(
        message(&ByteOrder::Little.pcap(0xa1b2_c3d4, 105, [0, 0], &[0; 40])),
        format!("the packet at byte 24 has link type 105; {known}")
    );
    let file = [
        ByteOrder::Big.section(),
        ByteOrder::Big.interface(105, &[]),
        ByteOrder::Big.frame(0, 0, &[]),
    ];
    assert_eq!(
        message(&file.concat()),
        format!("the packet at byte 48 has link type 105; {known}")
    );
}

#[test]
fn packets_of_an_interface_with_an_unknown_link_type_are_skipped() {
    let bytes = ip(&packet(0, V4, 10));
    let order = ByteOrder::Little;
    let file = [
        order.section(),
        order.interface(105, &[]),
        order.interface(101, &[]),
        order.interface(195, &[]),
        order.frame(0, 1, &[0; 40]),
        order.frame(1, 2, &bytes),
        order.frame(2, 3, &[0; 40]),
        order.frame(0, 4, &[0; 40]),
        order.frame(1, 5, &bytes),
    ]
    .concat();
    let mut reader = Reader::new(&file[..]).expect("a capture");
    let numbers: Vec<u64> = reader.by_ref().map(|one| one.expect("whole").number).collect();
    assert_eq!(numbers, [2, 5]);
    assert_eq!(reader.skipped(), Skipped { unknown_link: 3, ..Skipped::default() });
    assert!(reader.unknown_links().eq([105, 195]));
}

#[test]
fn the_fingerprint_of_a_syn_has_its_options_in_order() {
    let mut syn = packet(0, V4, 0);
    syn.segment.flags = Flags::SYN;
    syn.segment.syn = SynOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        ..SynOptions::default()
    };
    let (captured, ..) = read(&ByteOrder::Little.pcap(0xa1b2_c3d4, 101, [0, 0], &ip(&syn)));
    let syn_fingerprint = captured[0].syn_fingerprint.as_ref().expect("it is a SYN");
    assert_eq!(
        (syn_fingerprint.hops, &syn_fingerprint.options[..]),
        (64, &[2, 1, 3, 1, 1, 4, 1, 1, 8][..])
    );
    let (captured, ..) =
        read(&ByteOrder::Little.pcap(0xa1b2_c3d4, 101, [0, 0], &ip(&packet(0, V4, 9))));
    assert_eq!(captured[0].syn_fingerprint, None);
}

#[test]
fn the_packets_of_several_interfaces_are_sorted_by_time() {
    let bytes = ip(&packet(0, V4, 10));
    let order = ByteOrder::Little;
    let frames = [order.frame(0, 1, &bytes), order.frame(0, 4, &bytes), order.frame(1, 2, &bytes)];
    let frames = [&frames.concat()[..], &order.frame(1, 3, &bytes), &[6, 0, 0, 0]].concat();
    let numbers = |interfaces: usize| -> Vec<u64> {
        let described = order.interface(101, &[]).repeat(interfaces);
        let file = [order.section(), described, frames.clone()].concat();
        let mut packets = Reader::new(&file[..]).expect("a capture").in_order();
        let numbers = packets.by_ref().map_while(Result::ok).map(|one| one.number).collect();
        assert!(packets.next().is_none(), "nothing follows the error");
        numbers
    };
    assert_eq!(numbers(2), [1, 3, 4, 2]);
    assert_eq!(numbers(1), [1, 2]);
}
