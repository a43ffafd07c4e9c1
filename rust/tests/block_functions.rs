//! Prefilters and postfilters: closures that replace blocks while chunks are compressed and decompressed.

use blosc2::{BlockPosition, Codec, Decoder, Encoder, ErrorKind, Filter, Params, SuperChunk};
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const BLOCK: usize = 1 << 14;

fn params(threads: usize) -> Params {
    Params::new().codec(Codec::Lz4).typesize(8).blocksize(BLOCK).threads(threads)
}

/// Returns content that is no whole number of items or blocks.
fn content() -> Vec<u8> {
    (0..20 * BLOCK + 4001).map(|at| (at / 3) as u8).collect()
}

/// Adds the number of the block and the place in the content to each byte, or subtracts them.
fn shift(adds: bool) -> impl Fn(BlockPosition, &[u8], &mut [u8]) -> bool + Send + Sync + Clone + 'static {
    move |block, input, output| {
        for ((place, from), to) in (block.offset..).zip(input).zip(output) {
            let change = (block.nblock + place) as u8;
            *to = if adds { from.wrapping_add(change) } else { from.wrapping_sub(change) };
        }
        true
    }
}

/// Returns what the prefilter makes of content that is divided into blocks of `blocksize` bytes.
fn shifted(content: &[u8], blocksize: usize) -> Vec<u8> {
    let numbers = content.iter().enumerate();
    numbers.map(|(at, byte)| byte.wrapping_add((at / blocksize + at) as u8)).collect()
}

#[test]
fn a_prefilter_replaces_each_block_and_a_postfilter_undoes_it() {
    let content = content();
    for threads in [1, 2, 4] {
        for level in [0, 5] {
            for filters in [vec![], vec![Filter::Shuffle], vec![Filter::Delta, Filter::Shuffle]] {
                let params = params(threads).level(level).filters(filters.clone());
                let mut encoder = Encoder::with_prefilter(&params, shift(true)).unwrap();
                let mut decoder = Decoder::with_postfilter(threads, shift(false)).unwrap();
                // More than one chunk with the same encoder.
                for content in [&content[..], &content[..5], &content[..9], &content[..BLOCK], &[]] {
                    let what = format!("{threads} {level} {filters:?} {}", content.len());
                    let chunk = encoder.compress(content).unwrap();
                    let blocksize = chunk.info().blocksize.max(1);
                    assert!(chunk.decompress().unwrap() == shifted(content, blocksize), "{what}");
                    assert!(decoder.decompress(&chunk).unwrap() == content, "{what}");
                    let mut into = vec![0; content.len() + 32];
                    let len = encoder.compress_into(content, &mut into).unwrap().unwrap();
                    assert_eq!(&into[..len], chunk.as_bytes(), "{what}");
                    if content.len() > 2 * BLOCK {
                        for items in [0..1, 2047..2050, 40_000..40_500] {
                            let bytes = 8 * items.start..8 * items.end;
                            assert_eq!(decoder.read_items(&chunk, items).unwrap(), content[bytes], "{what}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_closure_gets_the_number_and_the_offset_of_each_block() {
    type Calls = Arc<Mutex<BTreeSet<(usize, usize, usize)>>>;
    let content = content();
    let expected: BTreeSet<_> =
        (0..21).map(|n| (n, n * BLOCK, BLOCK.min(content.len() - n * BLOCK))).collect();
    let recorder = |calls: &Calls, expected_input: Vec<u8>| {
        let calls = Arc::clone(calls);
        move |block: BlockPosition, input: &[u8], output: &mut [u8]| {
            assert_eq!(input, &expected_input[block.offset..][..input.len()]);
            calls.lock().unwrap().insert((block.nblock, block.offset, output.len()));
            output.copy_from_slice(input);
            input.len() == output.len()
        }
    };
    for threads in [1, 3] {
        let calls = Calls::default();
        let mut encoder =
            Encoder::with_prefilter(&params(threads), recorder(&calls, content.clone())).unwrap();
        let chunk = encoder.compress(&content).unwrap();
        assert_eq!(*calls.lock().unwrap(), expected, "{threads}");
        assert_eq!(chunk, blosc2::compress(&content, &params(1)).unwrap(), "as without a prefilter");
        calls.lock().unwrap().clear();
        let mut decoder = Decoder::with_postfilter(threads, recorder(&calls, content.clone())).unwrap();
        assert!(decoder.decompress(&chunk).unwrap() == content);
        assert_eq!(*calls.lock().unwrap(), expected, "{threads}");
    }
}

#[test]
fn a_postfilter_runs_on_every_kind_of_chunk() {
    let invert = |_: BlockPosition, input: &[u8], output: &mut [u8]| {
        output.iter_mut().zip(input).for_each(|(to, from)| *to = !from);
        true
    };
    let noise: Vec<u8> =
        (0..100_000u32).map(|n| (n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    let chunks = [
        blosc2::Chunk::zeros(100_000, &params(1)).unwrap(),
        blosc2::Chunk::repeated(&[1, 2, 3, 4, 5, 6, 7, 8], 100_000, &params(1)).unwrap(),
        blosc2::compress(&noise, &params(1)).unwrap(),
        blosc2::compress(&noise, &params(1).level(0)).unwrap(),
        blosc2::compress(&noise[..999], &params(1)).unwrap(),
        blosc2::compress_for_blosc1(&noise, &params(1)).unwrap(),
        blosc2::compress(&content(), &params(1).codec(Codec::Zstd).dictionary(true)).unwrap(),
    ];
    for (n, chunk) in chunks.iter().enumerate() {
        let expected: Vec<u8> = chunk.decompress().unwrap().iter().map(|byte| !byte).collect();
        for threads in [1, 2] {
            let mut decoder = Decoder::with_postfilter(threads, invert).unwrap();
            assert!(decoder.decompress(chunk).unwrap() == expected, "{n} {threads}");
            assert_eq!(decoder.read_items(chunk, 7..9).unwrap(), expected[56..72], "{n} {threads}");
        }
    }
}

#[test]
fn a_closure_that_fails_or_panics_is_an_error() {
    let content = content();
    // In the middle of the chunk, so that other blocks are done already or meanwhile.
    let fails = |block: BlockPosition, _: &[u8], _: &mut [u8]| block.nblock != 11;
    let panics = |block: BlockPosition, _: &[u8], output: &mut [u8]| {
        assert_ne!(block.nblock, 11, "a closure of a test panics");
        output.fill(1);
        true
    };
    let chunk = blosc2::compress(&content, &params(1)).unwrap();
    for threads in [1, 2] {
        let mut encoders = [
            Encoder::with_prefilter(&params(threads), fails).unwrap(),
            Encoder::with_prefilter(&params(threads), panics).unwrap(),
        ];
        for encoder in &mut encoders {
            assert_eq!(encoder.compress(&content).unwrap_err().kind(), ErrorKind::FilterPipeline);
            // It can be used again.
            assert!(encoder.compress(&content[..5 * BLOCK]).is_ok());
        }
        let mut decoders = [
            Decoder::with_postfilter(threads, fails).unwrap(),
            Decoder::with_postfilter(threads, panics).unwrap(),
        ];
        for decoder in &mut decoders {
            assert_eq!(decoder.decompress(&chunk).unwrap_err().kind(), ErrorKind::Postfilter);
            assert!(decoder.read_items(&chunk, 0..10).is_ok());
            assert!(decoder.read_items(&chunk, 11 * BLOCK / 8..11 * BLOCK / 8 + 1).is_err());
        }
    }
    assert!(Encoder::with_prefilter(&params(1).level(10), fails).is_err());
    assert!(Decoder::with_postfilter(0, fails).is_err());
}

#[test]
fn blocks_of_different_lengths_have_no_closures() {
    let blocks: [&[u8]; 2] = [b"one", b"another"];
    let closure = |_: BlockPosition, _: &[u8], _: &mut [u8]| true;
    let error = Encoder::with_prefilter(&params(1), closure).unwrap().compress_blocks(&blocks).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParam);
    let chunk = Encoder::new(&params(1)).unwrap().compress_blocks(&blocks).unwrap();
    let mut decoder = Decoder::with_postfilter(1, closure).unwrap();
    let errors = [
        decoder.decompress(&chunk).unwrap_err(),
        decoder.decompress_blocks(&chunk).unwrap_err(),
        decoder.decompress_block(&chunk, 1).unwrap_err(),
    ];
    assert!(errors.iter().all(|error| error.kind() == ErrorKind::InvalidParam), "{errors:?}");
}

#[test]
fn a_closure_is_dropped_with_its_encoder_and_may_use_the_library() {
    let (uses, params) = (Arc::new(AtomicUsize::new(0)), params(2));
    let nested = {
        let (uses, params) = (Arc::clone(&uses), params.clone());
        move |_: BlockPosition, input: &[u8], output: &mut [u8]| {
            uses.fetch_add(1, Ordering::Relaxed);
            let chunk = blosc2::compress(input, &params).unwrap();
            output.copy_from_slice(&chunk.decompress().unwrap());
            true
        }
    };
    let content = content();
    let mut encoder = Encoder::with_prefilter(&params, nested).unwrap();
    // Encoders are moved between threads.
    let chunk = std::thread::scope(|scope| {
        let (encoder, content) = (&mut encoder, &content);
        scope.spawn(move || encoder.compress(content)).join().unwrap().unwrap()
    });
    assert!(chunk.decompress().unwrap() == content);
    assert!(uses.load(Ordering::Relaxed) >= 21);
    assert_eq!(Arc::strong_count(&uses), 2);
    drop(encoder);
    assert_eq!(Arc::strong_count(&uses), 1);
}

#[test]
fn c_blosc2_reads_a_chunk_that_was_made_with_a_prefilter() {
    let python = std::env::var_os("BLOSC2_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).args(["-c", "import blosc2"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("BLOSC2_REQUIRE_PYTHON").is_none(), "{python:?} does not have blosc2");
        println!("SKIPPED: {python:?} does not have blosc2; BLOSC2_PYTHON names one that has");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (content, params) = (content(), params(2));
    let chunk = Encoder::with_prefilter(&params, shift(true)).unwrap().compress(&content).unwrap();
    std::fs::write(directory.path().join("chunk"), chunk.as_bytes()).unwrap();
    std::fs::write(directory.path().join("expected"), shifted(&content, BLOCK)).unwrap();
    let mut schunk = SuperChunk::create(directory.path().join("frame"), &params).unwrap();
    schunk.append_chunk(&chunk).unwrap();
    drop(schunk);
    let script = "
import blosc2
expected = open('expected', 'rb').read()
assert blosc2.decompress2(open('chunk', 'rb').read()) == expected
assert blosc2.open('frame').decompress_chunk(0) == expected
";
    let output = Command::new(&python).args(["-c", script]).current_dir(directory.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
