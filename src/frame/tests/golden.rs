//! Frames that the reference has written (`frame.md` 1.8, `schunk.md` 23), parsed and built again.

use super::{empty_header, hex};
use crate::chunk::{ChunkHeader, SpecialValue};
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader, FrameKind, has_magic};
use crate::frame::format::index::{self, IndexEncoder, IndexEntry, Offsets, encode_entry};
use crate::frame::format::metalayers::{Metalayer, parse_header_section, parse_trailer_section};
use crate::frame::format::trailer;

const EMPTY: &str = include_str!("../../../tests/golden/frames/empty.hex");

const TWO_CHUNKS: &str = include_str!("../../../tests/golden/frames/two_chunks.hex");

const MEMCPYED_CHUNKS: &str = include_str!("../../../tests/golden/frames/stored.hex");

/// Parses a frame, checks its parts against the expected ones, and builds each part again.
fn check_parse_and_rebuild(
    frame: &[u8],
    header: &FrameHeader,
    codes: &[i64],
    meta: &[&[u8]],
    vlmeta: &[&[u8]],
) {
    assert!(has_magic(frame));
    let parsed = FrameHeader::parse(frame, header.kind).unwrap();
    assert_eq!(&parsed, header);
    parsed.check_for_opening(frame).unwrap();
    assert_eq!(parsed.frame_len, frame.len() as u64);
    let (head, rest) = frame.split_at(parsed.header_len);
    let metalayers = parse_header_section(head).unwrap();
    assert_eq!(metalayers.iter().map(|m| m.name).collect::<Vec<_>>(), meta);
    assert_eq!(parsed.build(&metalayers).unwrap(), head);

    let tail = &frame[frame.len() - trailer::MIN_LEN..];
    let trailer_len = trailer::parse_trailer_len(tail, parsed.frame_len).unwrap();
    let (body, end) = rest.split_at(rest.len() - trailer_len);
    let vlmetalayers = parse_trailer_section(end).unwrap();
    assert_eq!(vlmetalayers.iter().map(|m| m.name).collect::<Vec<_>>(), vlmeta);
    assert_eq!(trailer::build(&vlmetalayers).unwrap(), end);

    let payload = if parsed.kind == FrameKind::Contiguous { parsed.cbytes as usize } else { 0 };
    let chunk = &body[payload..];
    let nbytes = || index::stored_nbytes(&ChunkHeader::parse(chunk)?);
    assert_eq!(parsed.nchunks(nbytes).unwrap(), codes.len() as i64);
    if codes.is_empty() {
        assert!(chunk.is_empty());
        return;
    }
    let offsets = index::decode(chunk, codes.len()).unwrap();
    assert!(offsets.iter().eq(codes.iter().copied()));
    assert_eq!(IndexEncoder::new().encode(&offsets, 0, codes.len()).unwrap(), chunk);
}

#[test]
fn empty_frame_is_parsed_and_rebuilt() {
    check_parse_and_rebuild(&hex(EMPTY), &empty_header(), &[], &[], &[]);
    let built = [empty_header().build(&[]).unwrap(), trailer::build(&[]).unwrap()].concat();
    assert_eq!(built, hex(EMPTY));
    assert_eq!(built.len() - 97, trailer::EMPTY_LEN);
}

#[test]
fn frame_with_metalayers_and_special_chunk_is_parsed_and_rebuilt() {
    let header = FrameHeader {
        header_len: 0x72,
        frame_len: 310,
        nbytes: 64,
        cbytes: 64,
        chunksize: 32,
        has_vlmetalayers: true,
        ..empty_header()
    };
    let frame = hex(TWO_CHUNKS);
    let codes = [0, encode_entry(IndexEntry::Special(SpecialValue::Zero))];
    check_parse_and_rebuild(&frame, &header, &codes, &[b"abc"], &[b"v"]);
    let metalayer = Metalayer { name: b"abc", content: &[1, 2, 3] };
    assert_eq!(parse_header_section(&frame[..0x72]).unwrap(), [metalayer]);
    let vlmetalayers = parse_trailer_section(&frame[0xe2..]).unwrap();
    assert_eq!(&vlmetalayers[0].content[32..], b"hello");

    // The same frame as a directory, whose index file has no payload.
    let mut sparse = [&frame[..0x72], &frame[0xb2..]].concat();
    sparse[26] = 1;
    sparse[23] = 0xf6;
    sparse[22] = 0;
    let header = FrameHeader { kind: FrameKind::Sparse, frame_len: 246, ..header };
    check_parse_and_rebuild(&sparse, &header, &codes, &[b"abc"], &[b"v"]);
}

#[test]
fn frame_of_memcpyed_chunks_is_parsed_and_rebuilt() {
    let header = FrameHeader {
        header_len: 0x70,
        frame_len: 283,
        clevel: 0,
        nbytes: 16,
        cbytes: 0x30,
        typesize: 1,
        chunksize: 16,
        has_vlmetalayers: true,
        ..empty_header()
    };
    check_parse_and_rebuild(&hex(MEMCPYED_CHUNKS), &header, &[0], &[b"m1"], &[b"v1"]);
}

#[test]
fn frames_of_special_chunks_match_the_golden_bytes() {
    let header = FrameHeader { nbytes: 100, blocksize: 40, chunksize: 40, frame_len: 172, ..empty_header() };
    for (kind, last) in [(SpecialValue::Zero, 0x81), (SpecialValue::Nan, 0x82), (SpecialValue::Uninit, 0x84)]
    {
        let mut chunk = hex("05 01 05 08 18 00 00 00 18 00 00 00 28 00 00 00");
        chunk.extend([0; 15]);
        chunk.push(0x30);
        chunk.extend([0, 0, 0, 0, 0, 0, 0, last]);
        assert_eq!(index::encode_special(kind, 3).unwrap(), chunk);
        let offsets = index::decode(&chunk, 3).unwrap();
        assert!(
            matches!(offsets, Offsets::Uniform { code, len: 3 } if code == encode_entry(IndexEntry::Special(kind)))
        );
        let frame = [header.build(&[]).unwrap(), chunk, trailer::build(&[]).unwrap()].concat();
        assert_eq!(frame.len(), 172);
        let parsed = FrameHeader::parse(&frame, FrameKind::Contiguous).unwrap();
        assert_eq!(parsed, header);
        assert_eq!(parsed.nchunks(|| unreachable!("chunks have one size")).unwrap(), 3);
    }
}

#[test]
fn chunks_and_blocks_of_variable_length_have_flags() {
    let header = FrameHeader { nbytes: 26, cbytes: 0x5a, chunksize: 0, typesize: 1, ..empty_header() };
    let flags = |header: &FrameHeader| header.build(&[]).unwrap()[25];
    assert_eq!(flags(&header), 0x53);
    assert_eq!(flags(&FrameHeader { flags2: 1, ..header.clone() }), 0xd3);
    assert_eq!(flags(&FrameHeader { flags2: 1, chunksize: 26, ..header.clone() }), 0x93);
    assert_eq!(flags(&FrameHeader { flags2: 0xfe, chunksize: 26, ..header.clone() }), 0x12);
    assert_eq!(header.nchunks(|| Ok(16)).unwrap(), 2);
    // An index of two entries is too short to compress.
    let offsets = Offsets::List(vec![0, 0x2a]);
    let chunk = IndexEncoder::new().encode(&offsets, 0, 2).unwrap();
    assert_eq!(chunk.len(), 48);
    assert_eq!(97 + 0x5a + chunk.len() + trailer::EMPTY_LEN, 270);
}

#[test]
fn index_after_a_deletion_may_be_8_bytes_longer() {
    let codes = [0xa20, 0, 0x1560, 0xb40, encode_entry(IndexEntry::Special(SpecialValue::Zero)), 0x1f80];
    let offsets = Offsets::List(codes.to_vec());
    let after_delete = IndexEncoder::new().encode(&offsets, 0, 7).unwrap();
    let mut wanted =
        hex("05 01 15 08 30 00 00 00 30 00 00 00 58 00 00 00  00 00 00 00 00 01 00 00 00 00 00 00 00 00
        00 00  24 00 00 00  30 00 00 00  20 00 60 40 00 80 0a 00 15 0b 00 1f");
    wanted.extend([0; 34]);
    wanted.extend([0x81, 0]);
    assert_eq!(after_delete, wanted);
    let after_append = IndexEncoder::new().encode(&offsets, 0, 6).unwrap();
    assert_eq!((after_append.len(), after_append[2] & 2), (80, 2));
    for chunk in [after_delete, after_append] {
        assert_eq!(index::decode(&chunk, 6).unwrap(), offsets);
    }
}

#[test]
fn empty_index_is_a_chunk_header_only() {
    let chunk = IndexEncoder::new().encode(&Offsets::new(), 0, 1).unwrap();
    assert_eq!(chunk.len(), 32);
    assert_eq!(index::decode(&chunk, 0).unwrap(), Offsets::new());
}

#[test]
fn has_magic_checks_bytes_2_to_9() {
    let mut frame = hex(EMPTY);
    assert!(has_magic(&frame[..10]) && !has_magic(&frame[..9]) && !has_magic(&[]));
    frame[9] = 1;
    assert!(!has_magic(&frame));
    assert!(FrameHeader::parse(&frame[..FIXED_HEADER_LEN], FrameKind::Contiguous).is_ok());
}
