//! Chunks: those of the reference are read (blosc1.md 13), ours have its header, and every chunk is read back.

use crate::support::{CODECS, Random, lock_settings, ours};
use std::ffi::CStr;
use std::ops::Range;

/// Parses hexadecimal digits; spaces are ignored, and `a..b` counts from `a` to `b`.
fn parse_hex(text: &str) -> Vec<u8> {
    let byte = |digits: &str| u8::from_str_radix(digits, 16).expect("two digits");
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        match word.split_once("..") {
            Some((first, last)) => bytes.extend(byte(first)..=byte(last)),
            None => bytes.extend((0..word.len()).step_by(2).map(|at| byte(&word[at..at + 2]))),
        }
    }
    bytes
}

#[derive(Clone, Copy, Debug)]
struct Arguments {
    clevel: i32,
    doshuffle: i32,
    typesize: usize,
    codec: &'static CStr,
    blocksize: usize,
    nthreads: i32,
}

fn compress(arguments: Arguments, src: &[u8], destsize: usize) -> Result<Vec<u8>, i32> {
    let Arguments { clevel, doshuffle, typesize, codec, blocksize, nthreads } = arguments;
    ours().compress((clevel, doshuffle, typesize), src, destsize, codec, blocksize, nthreads)
}

fn decompress(chunk: &[u8], len: usize, nthreads: i32) -> Result<Vec<u8>, i32> {
    ours().decompress(chunk, len, nthreads)
}

fn read_items(chunk: &[u8], items: Range<usize>, typesize: usize) -> Result<Vec<u8>, i32> {
    ours().getitem(chunk, items.start as i32, items.len() as i32, items.len() * typesize)
}

/// The golden vectors: clevel, doshuffle, typesize, codec, content, chunk of C-Blosc 1.21.3.
fn golden_vectors() -> Vec<(Arguments, Vec<u8>, Vec<u8>)> {
    let arguments = |clevel, doshuffle, typesize, codec| Arguments {
        clevel,
        doshuffle,
        typesize,
        codec,
        blocksize: 0,
        nthreads: 1,
    };
    let numbers: Vec<u8> = (0..64_u32).flat_map(u32::to_le_bytes).collect();
    let counted = |times: usize| (0..16_u8).collect::<Vec<_>>().repeat(times);
    let with_zeros = [counted(8), vec![0; 9]].concat();
    let text = b"abcd".repeat(50);
    let rows = [
        (
            arguments(5, 1, 4, c"blosclz"),
            numbers.clone(),
            "02011104 00010000 00010000 62000000 14000000 4a000000 3f 00..1f 1f 20..3f 0000e0b400010000",
        ),
        (
            arguments(5, 1, 4, c"lz4"),
            numbers,
            "02013104 00010000 00010000 68000000 14000000 50000000 ff36 00..3f 00000000000500a3500000000000",
        ),
        (
            arguments(5, 2, 1, c"lz4"),
            counted(9),
            "02012401 90000000 90000000 33000000 14000000 1b000000 \
             1daa01001dcc01001df001002d00ff02000f01002f500000000000",
        ),
        (
            arguments(5, 2, 1, c"lz4"),
            with_zeros,
            "02012401 89000000 89000000 36000000 14000000 1e000000 \
             ff01000102030405060708090a0b0c0d0e0f10005e800000000000000000",
        ),
        (
            arguments(5, 0, 1, c"snappy"),
            text.clone(),
            "02014001 c8000000 c8000000 2a000000 14000000 12000000 c8010c61626364fe0400fe0400fe04000104",
        ),
        (
            arguments(5, 0, 1, c"zlib"),
            text.clone(),
            "02016001 c8000000 c8000000 27000000 14000000 0f000000 785e4b4c4a4e491c061800375a4cf5",
        ),
        (
            arguments(5, 0, 1, c"zstd"),
            text,
            "02019001 c8000000 c8000000 2c000000 14000000 14000000 28b52ffd20c85d000020616263640100c1294704",
        ),
        (arguments(5, 1, 8, c"lz4"), Vec::new(), "02013308 00000000 01000000 10000000"),
        (
            arguments(0, 2, 8, c"zlib"),
            b"0123456789".to_vec(),
            "02017608 0a000000 08000000 1a000000 30313233343536373839",
        ),
        (
            arguments(5, 1, 4, c"lz4hc"),
            vec![0; 128],
            "02013104 80000000 80000000 23000000 14000000 0b000000 1f00010067500000000000",
        ),
    ];
    rows.map(|(arguments, content, chunk)| (arguments, content, parse_hex(chunk))).into()
}

#[test]
fn golden_vectors_are_decoded_and_ours_have_the_same_header() {
    let _guard = lock_settings(&[ours()]);
    for (arguments, content, chunk) in golden_vectors() {
        assert_eq!(decompress(&chunk, content.len(), 1).as_ref(), Ok(&content), "{arguments:?}");
        let ours = compress(arguments, &content, content.len() + 16).expect("a chunk");
        assert_eq!(ours[..12], chunk[..12], "{arguments:?}");
        assert_eq!(decompress(&ours, content.len(), 1).as_ref(), Ok(&content), "{arguments:?}");
    }
}

impl Arguments {
    fn draw(random: &mut Random) -> Arguments {
        let typesizes = [1, 2, 4, 8, 16, 17, 255, 256];
        Arguments {
            clevel: random.below(10) as i32,
            doshuffle: random.below(3) as i32,
            typesize: if random.below(2) == 0 { typesizes[random.below(8)] } else { 1 + random.below(300) },
            codec: CODECS[random.below(6)],
            blocksize: if random.below(3) == 0 { random.below(50_000) } else { 0 },
            nthreads: 1 + 2 * random.below(2) as i32,
        }
    }
}

#[test]
fn drawn_chunks_are_read_back_whole_and_in_part() {
    let mut random = Random(0x5EED_0001);
    for _ in 0..2000 {
        let limit = [200, 3000, 100_000][random.below(3)];
        let len = random.below(limit);
        let (arguments, content) = (Arguments::draw(&mut random), random.content(len));
        let chunk = compress(arguments, &content, len + 16).expect("a chunk");
        assert!(!chunk.is_empty() && chunk.len() <= len + 16, "{arguments:?}");
        assert_eq!(chunk[12..16], (chunk.len() as u32).to_le_bytes(), "{arguments:?}");
        assert!(decompress(&chunk, len, arguments.nthreads) == Ok(content.clone()), "{arguments:?} {len}");
        let typesize = usize::from(chunk[3]);
        let nitems = len / typesize;
        if nitems > 0 {
            let start = random.below(nitems);
            let items = start..start + random.below(nitems - start + 1);
            let bytes = &content[items.start * typesize..items.end * typesize];
            assert!(read_items(&chunk, items, typesize).as_deref() == Ok(bytes), "{arguments:?} {len}");
        }
    }
}

/// A destination of any size gets a chunk that fits, or the result is 0; nothing is written beyond it. For chunks of one
/// block and of many.
#[test]
fn destinations_of_any_size_are_safe() {
    let mut random = Random(0x5EED_0002);
    let _guard = lock_settings(&[ours()]);
    for (len, blocksize) in [(600, 0), (2401, 128)] {
        for codec in CODECS {
            let content = random.content(len);
            for clevel in 0..=9 {
                for nthreads in [1, 4] {
                    let arguments =
                        Arguments { clevel, doshuffle: 1, typesize: 4, codec, blocksize, nthreads };
                    let whole = compress(arguments, &content, len + 16).expect("a chunk").len();
                    // Around the lengths of the header, the table of block starts and the chunk; some between them.
                    let near = |destsize: &usize| {
                        *destsize < 120 || destsize.abs_diff(whole) < 12 || destsize.abs_diff(len + 16) < 8
                    };
                    for destsize in (0..len + 40).filter(|destsize| near(destsize) || destsize % 29 == 0) {
                        let chunk = compress(arguments, &content, destsize).expect("no error");
                        assert!(chunk.len() <= destsize.min(len + 16));
                        assert_eq!(chunk.is_empty(), destsize < whole, "{arguments:?}: {destsize}, {whole}");
                        if !chunk.is_empty() {
                            assert!(decompress(&chunk, len, 1) == Ok(content.clone()));
                        }
                    }
                }
            }
        }
    }
}

/// Mutated chunks give an error or some content; nothing is read or written outside the buffers.
#[test]
fn mutated_chunks_are_safe() {
    let mut random = Random(0x5EED_0003);
    for _ in 0..300 {
        let len = 1 + random.below(3000);
        let (arguments, content) = (Arguments::draw(&mut random), random.content(len));
        let chunk = compress(arguments, &content, len + 16).expect("a chunk");
        for _ in 0..60 {
            let mut mutant = chunk.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(mutant.len());
                mutant[at] = random.next() as u8;
            }
            // The functions go by the length in the header: a chunk that is shorter is the caller's error.
            let claimed = u32::from_le_bytes(mutant[12..16].try_into().expect("4 bytes"));
            let len_field = (mutant.len() as u32).to_le_bytes();
            if claimed as usize > mutant.len() {
                mutant[12..16].copy_from_slice(&len_field);
            }
            let _ = decompress(&mutant, len, 1);
            let typesize = usize::from(mutant[3]);
            let _ = read_items(&mutant, 0..len / typesize.max(1), typesize);
        }
    }
}
