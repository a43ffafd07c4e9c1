//! The vectors of codecs.md 10.11.

use blosc2::internals::zfp::{Mode, Zfp, ZfpGeometry};

use crate::support::{crc32, hex};

fn float_bytes(typesize: i32, values: impl Iterator<Item = f64>) -> Vec<u8> {
    values
        .flat_map(|value| match typesize {
            4 => (value as f32).to_ne_bytes().to_vec(),
            _ => value.to_ne_bytes().to_vec(),
        })
        .collect()
}

fn zfp_of_codec(codec: u8, meta: u8) -> Zfp {
    let mode = [Mode::Accuracy, Mode::Precision, Mode::Rate][usize::from(codec - 33)];
    Zfp { mode, meta }
}

/// Returns the stream; empty if the encoder fails.
fn encode(zfp: Zfp, blockshape: &[i32], typesize: i32, block: &[u8]) -> Vec<u8> {
    let mut dest = vec![0; block.len()];
    let len = zfp.encode(ZfpGeometry { blockshape, typesize }, block, &mut dest);
    dest.truncate(len.expect("a good shape"));
    dest
}

fn decode(zfp: Zfp, blockshape: &[i32], typesize: i32, stream: &[u8]) -> Vec<u8> {
    let mut dest = vec![0; blockshape.iter().product::<i32>() as usize * typesize as usize];
    let geometry = ZfpGeometry { blockshape, typesize };
    let len = zfp.decode(geometry, stream, &mut dest).expect("a good stream");
    assert_eq!(len, dest.len());
    dest
}

#[test]
fn small_blocks_match_the_vectors() {
    let one_to_four: Vec<f64> = vec![1.0, 2.0, 3.0, 4.0];
    let five = vec![1.5, -2.25, 3.0, 0.0, 7.0];
    let halves: Vec<f64> = (0..30).map(|i| f64::from(i) * 0.5).collect();
    let sines: Vec<f64> = (0..16).map(|i| (100.0 * f64::from(i).sin()).floor()).collect();
    let squares: Vec<f64> = (0..64).map(|i| f64::from(i * i)).collect();
    let fives = "074905250100000000076d5154a400000000000080835674010000c0418360040000000000000000";
    let long = "17891205554802230009528240804008220000".to_owned() + &"00".repeat(64 - 19);
    // Codec, meta, block shape, type size, values, stream, and the decoded values if the vectors state them.
    type Vector<'a> = (u8, u8, &'a [i32], i32, &'a [f64], &'a str, Option<&'a [f64]>);
    let cases: [Vector; 11] = [
        (33, 0xff, &[4], 4, &one_to_four, "05310b0000000000", Some(&one_to_four)),
        (33, 0x01, &[4], 4, &one_to_four, "0531000000000000", Some(&[2.0; 4])),
        (34, 4, &[4], 4, &one_to_four, "05310b0000000000", Some(&one_to_four)),
        (35, 50, &[4], 4, &one_to_four, "05310b0000000000", Some(&one_to_four)),
        (35, 1, &[4], 4, &one_to_four, "0501000000000000", Some(&[0.0; 4])),
        (33, 0xfd, &[4], 8, &one_to_four, "0588590000000000", Some(&one_to_four)),
        (33, 0xfe, &[5], 4, &five, "038928d3420180820601000000000000", Some(&five)),
        (33, 0xfe, &[8], 4, &[0.0; 8], "0000000000000000", Some(&[0.0; 8])),
        (33, 0xfe, &[5, 6], 4, &halves, fives, Some(&halves)),
        (
            34,
            10,
            &[4, 4],
            8,
            &sines,
            "0d4830ac506a50b6867182911d9b59922c58bc424c79cdbff1b8332602060200",
            None,
        ),
        (35, 25, &[4, 4, 4], 4, &squares, &long, None),
    ];
    for (codec, meta, shape, typesize, values, stream, decoded) in cases {
        let what = format!("codec {codec}, meta {meta:#x}, {shape:?} of {typesize} bytes");
        let zfp = zfp_of_codec(codec, meta);
        let block = float_bytes(typesize, values.iter().copied());
        assert_eq!(encode(zfp, shape, typesize, &block), hex(stream), "{what}");
        if let Some(decoded) = decoded {
            let got = decode(zfp, shape, typesize, &hex(stream));
            assert_eq!(got, float_bytes(typesize, decoded.iter().copied()), "{what}");
        }
    }
}

/// Sizes and checksums of streams of `((i*7919) % 1000)/8 - 60`; `None` is uncompressed.
#[test]
fn larger_blocks_match_the_sizes_and_checksums() {
    const SHAPES: [&[i32]; 4] = [&[50], &[9, 14], &[6, 5, 11], &[4, 5, 6, 7]];
    type Stream = Option<(usize, u32)>;
    let table: [(u8, u8, [Stream; 8]); 7] = [
        (
            33,
            0xfe,
            [
                Some((104, 0x4239fd4b)),
                Some((112, 0x33f13944)),
                Some((248, 0x7a728c21)),
                Some((256, 0x371402b3)),
                None,
                Some((1336, 0xe873db59)),
                None,
                Some((3688, 0x0b546b96)),
            ],
        ),
        (
            33,
            0xfb,
            [
                Some((160, 0x2934ffe1)),
                Some((168, 0xbb6ba06c)),
                Some((384, 0x63e23a68)),
                Some((392, 0x19933692)),
                None,
                Some((2056, 0x706984c0)),
                None,
                Some((5536, 0x765a1ef4)),
            ],
        ),
        (
            33,
            0x01,
            [
                Some((48, 0x46a736bd)),
                Some((56, 0x624e4a64)),
                Some((112, 0xc1094900)),
                Some((120, 0x6865fd0d)),
                Some((608, 0xae8e4227)),
                Some((616, 0x5cf23d4a)),
                Some((1832, 0x0d46a695)),
                Some((1832, 0x3d110e59)),
            ],
        ),
        (
            34,
            0x04,
            [
                Some((64, 0x109083a8)),
                Some((72, 0xd591e691)),
                Some((144, 0xcd2045f0)),
                Some((144, 0x93c872b9)),
                Some((736, 0x4741de6e)),
                Some((736, 0x8c0b6e57)),
                Some((2048, 0x189a3294)),
                Some((2048, 0xdb271500)),
            ],
        ),
        (
            34,
            0x0c,
            [
                Some((104, 0x0617af06)),
                Some((112, 0x18d20cb7)),
                Some((248, 0x3fe555ce)),
                Some((256, 0xdf08485a)),
                Some((1312, 0x42c3ac4e)),
                Some((1312, 0x357ccf5a)),
                None,
                Some((3528, 0x924fa405)),
            ],
        ),
        (
            35,
            0x0a,
            [
                Some((24, 0xfaab2e05)),
                Some((48, 0xbd71899a)),
                Some((80, 0x2a730835)),
                Some((160, 0xfbb5affa)),
                Some((312, 0x5a599c5a)),
                Some((616, 0x9c8801a3)),
                Some((824, 0x0508d658)),
                Some((1640, 0xadf4acb7)),
            ],
        ),
        (
            35,
            0x25,
            [
                Some((80, 0xca6f5da0)),
                Some((160, 0xb75a811f)),
                Some((288, 0xc1253a27)),
                Some((576, 0xd4242f9c)),
                Some((1144, 0x9d4df992)),
                Some((2280, 0x7f7788a4)),
                Some((3032, 0x8572f3f5)),
                Some((6064, 0xb8f71de7)),
            ],
        ),
    ];
    for (codec, meta, row) in table {
        for (at, expected) in row.into_iter().enumerate() {
            let (shape, typesize) = (SHAPES[at / 2], [4, 8][at % 2]);
            let count = shape.iter().product::<i32>();
            let values = (0..count).map(|i| f64::from((i * 7919) % 1000) / 8.0 - 60.0);
            let stream = encode(zfp_of_codec(codec, meta), shape, typesize, &float_bytes(typesize, values));
            let got = (!stream.is_empty()).then(|| (stream.len(), crc32(&stream)));
            assert_eq!(got, expected, "codec {codec}, meta {meta:#x}, {shape:?} of {typesize} bytes");
        }
    }
}
