//! Each check of the parsers with its error code (`frame.md` 4.1, 4.4, 4.5), the limits of the writers (7), and
//! arbitrary bytes.

use super::empty_header;
use crate::error::{ErrorKind, Result, err, error_kind};
use crate::frame::format::header::{FIXED_HEADER_LEN, FrameHeader, FrameKind, MAX_CHUNKS};
use crate::frame::format::metalayers::{Metalayer, parse_header_section, parse_trailer_section};
use crate::frame::format::trailer;
use proptest::prelude::*;

fn parse_with(pos: usize, bytes: &[u8]) -> Result<FrameHeader> {
    let mut header = empty_header().build(&[]).unwrap();
    header[pos..pos + bytes.len()].copy_from_slice(bytes);
    let parsed = FrameHeader::parse(&header, FrameKind::Contiguous)?;
    parsed.check_for_opening(&header)?;
    Ok(parsed)
}

#[test]
fn invalid_header_fields_are_rejected_with_their_error_kind() {
    use ErrorKind::{FileRead, FrameType, InvalidHeader, VersionSupport};
    let header = empty_header().build(&[]).unwrap();
    assert_eq!(error_kind(FrameHeader::parse(&header[..86], FrameKind::Contiguous)), Some(FileRead));
    for version in 0..16 {
        let code = error_kind(parse_with(25, &[0x10 | version]));
        assert_eq!(code, (version > 3).then_some(VersionSupport), "version {version}");
    }
    // Readers ignore the width of offsets, and flags that other fields give more exactly.
    for flags in [0x02, 0x22, 0x32, 0xd2] {
        assert_eq!(parse_with(25, &[flags]).unwrap().chunksize, -1);
    }
    for byte in [1, 2, 255] {
        assert_eq!(error_kind(parse_with(26, &[byte])), Some(FrameType));
    }
    assert_eq!(error_kind(FrameHeader::parse(&header, FrameKind::Sparse)), Some(FrameType));
    for (len, code) in [(86, true), (87, false), (132, false), (133, true), (-1, true), (i32::MIN, true)] {
        let got = error_kind(parse_with(11, &len.to_be_bytes()));
        assert_eq!(got, code.then_some(InvalidHeader), "header of {len} bytes");
    }
    assert_eq!(error_kind(parse_with(16, &(-1i64).to_be_bytes())), Some(InvalidHeader));
    for typesize in [0, -1, i32::MIN] {
        assert_eq!(error_kind(parse_with(48, &i32::to_be_bytes(typesize))), Some(InvalidHeader));
    }
    assert_eq!(parse_with(48, &300i32.to_be_bytes()).unwrap().typesize, 300);
    // Version before type before length.
    let mut header = header;
    header[25..27].copy_from_slice(&[4, 1]);
    header[11] = 0xff;
    assert_eq!(error_kind(FrameHeader::parse(&header, FrameKind::Contiguous)), Some(VersionSupport));
    header[25] = 0x12;
    assert_eq!(error_kind(FrameHeader::parse(&header, FrameKind::Contiguous)), Some(FrameType));
    assert_eq!(error_kind(FrameHeader::parse(&header, FrameKind::Sparse)), Some(InvalidHeader));
}

#[test]
fn filters_beyond_nfilters_are_ignored() {
    for (nfilters, filters) in [(0, [0; 6]), (3, [1, 2, 3, 0, 0, 0]), (6, [1, 2, 3, 4, 5, 6])] {
        let mut header = empty_header().build(&[]).unwrap();
        header[70] = nfilters;
        header[71..77].copy_from_slice(&[1, 2, 3, 4, 5, 6]);
        let parsed = FrameHeader::parse(&header, FrameKind::Contiguous).unwrap();
        assert_eq!(parsed.filters, filters);
        assert_eq!(error_kind(parsed.check_for_opening(&header)), None);
    }
    assert_eq!(error_kind(parse_with(70, &[7])), Some(ErrorKind::InvalidHeader));
    // Only opening checks the number of filters.
    let mut header = empty_header().build(&[]).unwrap();
    header[70] = 255;
    let parsed = FrameHeader::parse(&header, FrameKind::Contiguous).unwrap();
    assert_eq!((error_kind(parsed.check_for_reading()), parsed.filters), (None, [0, 0, 0, 0, 0, 1]));
}

#[test]
fn nchunks_follows_from_the_sizes_or_is_rejected() {
    let nchunks = |nbytes, chunksize, cbytes, index: i64| {
        FrameHeader { nbytes, chunksize, cbytes, ..empty_header() }.nchunks(|| Ok(index))
    };
    let bad = Some(ErrorKind::InvalidHeader);
    for chunksize in [-1, 0, 10] {
        for nbytes in [0, -1, i64::MIN] {
            assert_eq!(nchunks(nbytes, chunksize, -1, 8).unwrap(), 0);
        }
    }
    assert_eq!(error_kind(nchunks(1, -1, 0, 8)), bad);
    assert_eq!(error_kind(nchunks(1, i32::MIN, 0, 8)), bad);
    assert_eq!(error_kind(nchunks(1, 1, -1, 8)), bad);
    for (nbytes, wanted) in [(1, 1), (10, 1), (11, 2), (20, 2)] {
        assert_eq!(nchunks(nbytes, 10, 0, 0).unwrap(), wanted);
    }
    assert_eq!(nchunks(MAX_CHUNKS, 1, 0, 0).unwrap(), 268_435_455);
    assert_eq!(error_kind(nchunks(MAX_CHUNKS + 1, 1, 0, 0)), bad);
    assert_eq!(error_kind(nchunks(i64::MAX, 1, 0, 0)), bad);
    assert_eq!(nchunks(5, 0, -1, 24).unwrap(), 3);
    for index in [7, -8, 8 * (MAX_CHUNKS + 1), i64::MAX, i64::MIN] {
        assert_eq!(error_kind(nchunks(5, 0, 0, index)), bad, "an index of {index} bytes");
    }
    let header = FrameHeader { nbytes: 1, chunksize: 0, ..empty_header() };
    assert_eq!(error_kind(header.nchunks(|| Err(err!(FileRead, "no index")))), Some(ErrorKind::FileRead));
}

#[test]
fn codec_clevel_and_splitmode_survive_build_and_parse() {
    for compcode in [0, 1, 2, 3, 4, 5, 6, 15, 32, 160, 255] {
        for (clevel, splitmode) in [(0, 1), (9, 2), (5, 3), (15, 4)] {
            let given = FrameHeader {
                compcode,
                clevel,
                splitmode,
                compcode_meta: 7,
                use_dict: true,
                filters: [1, 2, 3, 4, 160, 6],
                filters_meta: [6, 5, 4, 3, 2, 1],
                ..empty_header()
            };
            let bytes = given.build(&[]).unwrap();
            let nibble = if [0, 1, 2, 4, 5].contains(&compcode) { compcode } else { 6 };
            assert_eq!((bytes[27], bytes[77], bytes[28]), (clevel << 4 | nibble, compcode, splitmode - 1));
            assert_eq!(FrameHeader::parse(&bytes, FrameKind::Contiguous).unwrap(), given);
        }
    }
    let invalid = FrameHeader { splitmode: 0, ..empty_header() }.build(&[]).unwrap();
    assert_eq!(invalid[28], 0xff);
    assert_eq!(FrameHeader::parse(&invalid, FrameKind::Contiguous).unwrap().splitmode, 4);
}

#[test]
fn invalid_trailer_ends_are_rejected() {
    let end = trailer::build(&[]).unwrap();
    let tail = &end[end.len() - trailer::MIN_LEN..];
    let with_len = |len: u32, frame_len: u64| {
        let mut tail = tail.to_vec();
        tail[3..7].copy_from_slice(&len.to_be_bytes());
        trailer::parse_trailer_len(&tail, frame_len).ok()
    };
    assert_eq!(trailer::parse_trailer_len(tail, 132).unwrap(), 35);
    assert_eq!([with_len(24, 999), with_len(25, 999)], [None, Some(25)]);
    assert_eq!([with_len(100, 187), with_len(101, 187)], [Some(100), None]);
    assert_eq!(with_len(i32::MAX as u32, u64::MAX), Some(i32::MAX as usize));
    assert_eq!([with_len(1 << 31, u64::MAX), with_len(25, 0), with_len(25, 111)], [None, None, None]);
    assert!(
        trailer::parse_trailer_len(&tail[1..], 132).is_err()
            && trailer::parse_trailer_len(&end, 132).is_err()
    );
    let mut marker = tail.to_vec();
    marker[2] = 0xcd;
    assert!(trailer::parse_trailer_len(&marker, 132).is_err());
}

const TWO_METALAYERS: [Metalayer<'static>; 2] =
    [Metalayer { name: b"one", content: b"first" }, Metalayer { name: b"", content: b"" }];

#[test]
fn invalid_metalayer_sections_are_rejected_with_their_error_kind() {
    use ErrorKind::{Data, ReadBuffer};
    let header = empty_header().build(&TWO_METALAYERS).unwrap();
    let end = trailer::build(&TWO_METALAYERS).unwrap();
    type Parse = fn(&[u8]) -> Result<Vec<Metalayer<'_>>>;
    let sections: [(&[u8], usize, u16, Parse); 2] =
        [(&header, FIXED_HEADER_LEN, 16, parse_header_section), (&end, 2, 8192, parse_trailer_section)];
    for (good, start, max, parse) in sections {
        assert_eq!(parse(good).unwrap(), TWO_METALAYERS);
        let with = |pos: usize, bytes: &[u8]| {
            let mut bad = good.to_vec();
            bad[start + pos..][..bytes.len()].copy_from_slice(bytes);
            error_kind(parse(&bad))
        };
        // Sections that end before the map, before its length, before the first entry and inside its parts.
        for len in (0..=4).chain(5..=6).chain([7, 8, 10, 11, 12, 15]) {
            assert_eq!(error_kind(parse(&good[..start + len])), Some(ReadBuffer), "{len} bytes");
        }
        // Readers ignore the marker of the array and the size of the map.
        for pos in [0, 1, 2, 3] {
            assert_eq!(with(pos, &[0xff]), None);
        }
        assert_eq!(with(4, &[0xdf]), Some(Data));
        assert_eq!(with(5, &(max + 1).to_be_bytes()), Some(Data));
        assert_eq!(with(5, &[0, 0]), None);
        assert_eq!(with(7, &[0xc3]), Some(Data));
        assert_eq!(with(11, &[0xd1]), Some(Data));
        let offset = |offset: i32| with(12, &offset.to_be_bytes());
        let limit = good.len() as i32;
        assert_eq!([offset(-1), offset(limit), offset(i32::MIN)], [Some(Data); 3]);
        assert_eq!([offset(limit - 1), offset(limit - 4)], [Some(ReadBuffer); 2]);
        assert_eq!(offset(start as i32), Some(Data), "no content there");
        let content = 7 + (6 + 3) + 6 + 3;
        assert_eq!(good[start + content], 0xc6);
        let length = |len: i32| with(content + 1, &len.to_be_bytes());
        assert_eq!([length(-1), length(i32::MIN)], [Some(Data); 2]);
        let left = limit - (start + content + 5) as i32;
        assert_eq!([length(left + 1), length(i32::MAX)], [Some(ReadBuffer); 2]);
        assert_eq!(length(left), None);
    }
    // A name whose length exceeds the section.
    let mut cut = header[..FIXED_HEADER_LEN + 9].to_vec();
    cut[FIXED_HEADER_LEN + 7] = 0xbf;
    assert_eq!(error_kind(parse_header_section(&cut)), Some(ReadBuffer));
}

#[test]
fn overlapping_metalayer_contents_are_limited() {
    // A trailer of `count` metalayers, of which all but one share the content of the last.
    let shared = |count: usize| {
        let content = 9 + 7 * count + 3;
        let mut end = vec![0x94, 1, 0x93, 0xcd, 0, 0, 0xde];
        end.extend((count as u16).to_be_bytes());
        for _ in 0..count {
            end.extend([0xa1, b'x', 0xd2]);
            end.extend((content as i32).to_be_bytes());
        }
        end.extend([0xdc, 0, 0, 0xc6]);
        end.extend(100_000i32.to_be_bytes());
        end.extend(vec![7; 100_000]);
        end
    };
    for (count, code) in [(1, None), (16, None), (17, Some(ErrorKind::Data)), (8192, Some(ErrorKind::Data))] {
        assert_eq!(error_kind(parse_trailer_section(&shared(count))), code, "{count}");
    }
}

#[test]
fn too_many_or_too_large_metalayers_are_not_written() {
    let header = empty_header();
    let many: Vec<_> = (0..17).map(|_| Metalayer { name: b"n", content: b"c" }).collect();
    assert_eq!(error_kind(header.build(&many)), Some(ErrorKind::InvalidParam));
    assert_eq!(error_kind(trailer::build(&many)), Some(ErrorKind::Failure));
    let (bytes, end) = (header.build(&many[1..]).unwrap(), trailer::build(&many[1..]).unwrap());
    assert_eq!(parse_header_section(&bytes).unwrap(), many[1..]);
    assert_eq!(parse_trailer_section(&end).unwrap(), many[1..]);
    for (len, code) in [(31, None), (32, Some(ErrorKind::InvalidParam)), (300, Some(ErrorKind::InvalidParam))]
    {
        let name = vec![b'n'; len];
        let named = [Metalayer { name: &name, content: b"" }];
        assert_eq!(error_kind(header.build(&named)), code);
        assert_eq!(error_kind(trailer::build(&named)), code);
    }
    // 16 contents of 128 MiB exceed 31 bits; none of them is copied.
    let big = vec![0; 128 << 20];
    let huge = [Metalayer { name: b"h", content: &big }; 16];
    assert_eq!(error_kind(header.build(&huge)), Some(ErrorKind::InvalidParam));
    assert_eq!(error_kind(trailer::build(&huge)), Some(ErrorKind::InvalidParam));
}

fn bytes(max: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..max)
}

proptest! {
    #[test]
    fn parsed_headers_survive_build_and_parse(bytes in bytes(200), version in 0u8..4, kind in 0u8..2) {
        let mut bytes = bytes;
        let sparse = kind == 1;
        if bytes.len() > 26 {
            bytes[25] = bytes[25] & 0xf0 | version;
            bytes[26] = kind;
            bytes[11..14].fill(0);
            bytes[16] &= 0x7f;
        }
        let kind = if sparse { FrameKind::Sparse } else { FrameKind::Contiguous };
        if let Ok(header) = FrameHeader::parse(&bytes, kind) {
            prop_assert!(FIXED_HEADER_LEN <= header.header_len && header.header_len as u64 <= header.frame_len);
            let _ = (header.check_for_reading(), header.check_for_opening(&bytes), header.nchunks(|| Ok(800)));
            let built = header.build(&[]).unwrap();
            let again = FrameHeader::parse(&built, kind).unwrap();
            // `build` derives these fields from the others.
            let version = again.version;
            prop_assert_eq!(again, FrameHeader { header_len: 97, version, ..header });
        }
        let _ = trailer::parse_trailer_len(&bytes, 500);
    }

    #[test]
    fn metalayers_survive_build_and_parse(
        layers in proptest::collection::vec((bytes(32), bytes(100)), 0..=16),
        damage in proptest::collection::vec((0usize..4096, any::<u8>()), 0..4),
        cut in 0usize..4096,
    ) {
        let layers: Vec<_> = layers.iter().map(|(name, content)| Metalayer { name, content }).collect();
        let mut header = empty_header().build(&layers).unwrap();
        let mut end = trailer::build(&layers).unwrap();
        prop_assert_eq!(&parse_header_section(&header).unwrap(), &layers);
        prop_assert_eq!(&parse_trailer_section(&end).unwrap(), &layers);
        let tail = &end[end.len() - trailer::MIN_LEN..];
        prop_assert_eq!(trailer::parse_trailer_len(tail, 87 + end.len() as u64).unwrap(), end.len());
        let map: usize = layers.iter().map(|m| 6 + m.name.len()).sum();
        prop_assert_eq!(usize::from(header[90]) + 256 * usize::from(header[89]), 7 + map);
        prop_assert_eq!(usize::from(end[5]) + 256 * usize::from(end[4]), 6 + map);
        for (pos, byte) in damage {
            let (h, t) = (header.len() - 87, end.len());
            header[87 + pos % h] = byte;
            end[pos % t] = byte;
        }
        header.truncate(cut % header.len() + 1);
        end.truncate(cut % end.len() + 1);
        let _ = (parse_header_section(&header), parse_trailer_section(&end));
    }

    #[test]
    fn parsing_any_bytes_as_metalayers_does_not_panic(bytes in bytes(300)) {
        let _ = (parse_header_section(&bytes), parse_trailer_section(&bytes));
        let mut mapped = bytes;
        if mapped.len() > 100 {
            mapped[91..94].copy_from_slice(&[0xde, 0, 3]);
            mapped[6..9].copy_from_slice(&[0xde, 0, 3]);
        }
        let _ = (parse_header_section(&mapped), parse_trailer_section(&mapped));
    }
}
