//! Layouts from before the first stable release, and the bits of the present one that readers ignore (frame.md 1.6
//! and 1.7), made by hand from the empty frame and the one of two chunks.

use std::fs;

use crate::support::library::Library;
use crate::support::super_chunk::SuperChunk;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::{all_libraries, hex};

/// Header of a frame of int32 with one uncompressed chunk of 0..8 (frame.md 1.1), no metalayers.
const HEADER: &str = "9e a8 62 32 66 72 61 6d 65 00 d2 00 00 00 61 cf
    00 00 00 00 00 00 00 ec a4 12 00 50 03 d3 00 00
    00 00 00 00 00 20 d3 00 00 00 00 00 00 00 40 d2
    00 00 00 04 d2 00 00 00 00 d2 00 00 00 20 d1 00
    01 d1 00 01 c2 d8 06 00 00 00 00 00 01 00 00 00
    00 00 00 00 00 00 00 93 cd 00 07 de 00 00 dc 00
    00";
const PAYLOAD: &str = "05 01 17 04 20 00 00 00 20 00 00 00 40 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00
    00 00 00 00 00 00 00 00 01 00 00 00 02 00 00 00 03 00 00 00 04 00 00 00 05 00 00 00 06 00 00 00 07 00 00 00";
const INDEX: &str = "05 01 07 08 08 00 00 00 08 00 00 00 28 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00
    00 00 00 00 00 00 00 00 00 00 00 00";
const TRAILER: &str = "94 01 93 cd 00 06 de 00 00 dc 00 00 ce 00 00 00 23 d8 00
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00";

/// Builds a frame of these parts and sets its length.
fn assemble_frame(header: &[u8], trailer: &[u8]) -> Vec<u8> {
    let mut frame = [header, &hex(PAYLOAD), &hex(INDEX), trailer].concat();
    let len = frame.len() as u64;
    frame[16..24].copy_from_slice(&len.to_be_bytes());
    frame
}

fn valid_frame() -> Vec<u8> {
    assemble_frame(&hex(HEADER), &hex(TRAILER))
}

/// Returns whether it opens from a file, from a borrowed buffer and from a copied one.
fn can_open(library: &'static Library, frame: &[u8]) -> [bool; 3] {
    let scratch = ScratchDir::new();
    let path = scratch.new_path();
    fs::write(&path, frame).expect("a file");
    let mut frame = frame.to_vec();
    let expected: Vec<u8> = (0..8i32).flat_map(i32::to_le_bytes).collect();
    let holds = |schunk: SuperChunk| assert_eq!(schunk.contents(), expected, "{}", library.name);
    let file = SuperChunk::open(library, &path).map(holds).is_some();
    // SAFETY: the buffer outlives the super-chunk, which is only read.
    let borrowed = unsafe { SuperChunk::from_borrowed_frame(library, frame.as_mut_ptr(), frame.len()) };
    let borrowed = borrowed.map(holds).is_some();
    [file, borrowed, SuperChunk::from_frame_copy(library, &mut frame).map(holds).is_some()]
}

#[track_caller]
fn assert_opens(what: &str, frame: &[u8], expected: [bool; 3]) {
    for library in all_libraries() {
        assert_eq!(can_open(library, frame), expected, "{}: {what}", library.name);
    }
}

#[test]
fn readers_ignore_unused_bits() {
    assert_opens("as it is", &valid_frame(), [true; 3]);
    let patches: [(&str, usize, u8); 20] = [
        ("version 0", 0x19, 0x10),
        ("version 1", 0x19, 0x11),
        ("version 3", 0x19, 0x13),
        ("16-bit offsets", 0x19, 0x02),
        ("32-bit offsets", 0x19, 0x22),
        ("width 3", 0x19, 0x32),
        ("variable chunks flag", 0x19, 0x52),
        ("variable blocks flag", 0x19, 0x92),
        ("array16", 0x00, 0xDC),
        ("string marker", 0x01, 0xD9),
        ("length marker", 0x0A, 0xD3),
        ("split mode's upper bits", 0x1C, 0xFF),
        ("threads", 0x3F, 0x7F),
        ("has_vlmeta", 0x44, 0xC3),
        ("codec nibble of lizard", 0x1B, 0x53),
        ("reserved", 0x56, 0xFF),
        ("metalayers' array", 0x57, 0x00),
        ("metalayers' length", 0x59, 0xFF),
        ("metalayers' contents", 0x5E, 0x00),
        ("dictionary", 0x55, 0x01),
    ];
    for (what, at, value) in patches {
        let mut frame = valid_frame();
        frame[at] = value;
        assert_opens(what, &frame, [true; 3]);
    }
    let len = valid_frame().len();
    for (what, at) in [
        ("trailer's array", len - 35),
        ("trailer's version", len - 34),
        ("trailer's length", len - 31),
        ("fingerprint type", len - 17),
        ("fingerprint", len - 1),
    ] {
        let mut frame = valid_frame();
        frame[at] ^= 0x01;
        assert_opens(what, &frame, [true; 3]);
    }
    let mut magic = valid_frame();
    magic[2] = b'c';
    assert_opens("magic", &magic, [true, false, false]);
    let mut longer = valid_frame();
    longer.extend([1, 2, 3]);
    assert_opens("bytes behind", &longer, [true, false, false]);
    // Readers ignore bytes between the index and the trailer.
    let mut slack = valid_frame();
    slack.splice(len - 35..len - 35, [0xAB; 50]);
    slack[16..24].copy_from_slice(&(len as u64 + 50).to_be_bytes());
    assert_opens("slack", &slack, [true; 3]);
}

#[test]
fn invalid_frame_headers_are_rejected() {
    for (what, at, value) in [
        ("version 4", 0x19, 0x14),
        ("version 15", 0x19, 0x1F),
        ("a sparse frame's type", 0x1A, 0x01),
        ("an unknown type", 0x1A, 0x02),
        ("no map of metalayers", 0x5B, 0x80),
        ("17 metalayers", 0x5D, 17),
        ("seven filters", 0x46, 7),
        ("an undefined filter", 0x4C, 6),
        ("no typesize", 0x33, 0),
        ("a negative typesize", 0x30, 0x80),
        ("a negative chunk size", 0x3A, 0x80),
    ] {
        let mut frame = valid_frame();
        frame[at] = value;
        assert_opens(what, &frame, [false; 3]);
    }
}

/// 13 items, no block size, the filters at 0x41 and the metalayers at 0x52 (alpha and the first betas).
#[test]
fn header_of_13_items_is_rejected() {
    let mut header = hex(HEADER);
    header[0] = 0x9D;
    header.drain(0x34..0x39);
    header[11..15].copy_from_slice(&92i32.to_be_bytes());
    for version in [0x10, 0x11, 0x12] {
        header[0x19] = version;
        assert_opens("13 items", &assemble_frame(&header, &hex(TRAILER)), [false; 3]);
        // Also if the stated length of the header happens to be correct.
        let mut padded = [&header[..], &[0; 5]].concat();
        padded[11..15].copy_from_slice(&97i32.to_be_bytes());
        assert_opens("13 items and a gap", &assemble_frame(&padded, &hex(TRAILER)), [false; 3]);
    }
}

/// The `usermeta` trailer of 2.0.0-beta.2: a chunk, no metalayers.
#[test]
fn usermeta_trailer_is_rejected() {
    let usermeta = hex("05 01 07 08 05 00 00 00 01 00 00 00 25 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00
                        00 00 00 00 68 65 6c 6c 6f");
    for content in [Vec::new(), usermeta] {
        let mut trailer = hex("94 00 c6");
        trailer.extend((content.len() as u32).to_be_bytes());
        trailer.extend(&content);
        let len = trailer.len() + 23;
        trailer.push(0xCE);
        trailer.extend((len as u32).to_be_bytes());
        trailer.extend(hex("d8 00"));
        trailer.extend([0; 16]);
        assert_opens("usermeta", &assemble_frame(&hex(HEADER), &trailer), [false; 3]);
    }
}

/// An index of 32-bit offsets: no release wrote one, and its length is invalid.
#[test]
fn index_of_32_bit_offsets_is_rejected() {
    let mut frame = valid_frame();
    frame[0x19] = 0x22;
    let index = 97 + 64;
    frame[index + 3] = 4;
    frame[index + 4] = 4;
    frame[index + 8] = 4;
    frame[index + 12] = 36;
    frame.drain(index + 36..index + 40);
    let len = frame.len() as u64;
    frame[16..24].copy_from_slice(&len.to_be_bytes());
    assert_opens("32-bit offsets", &frame, [false; 3]);
}
