//! Return codes of the functions for variable-length chunks (chunk.md 3.11, 4.6): dictionaries with codecs that do
//! not support them, and lazy chunks with a damaged trailer.

use std::ffi::{c_int, c_void};

use blosc2::abi::{blosc2_codec, blosc2_cparams, blosc2_dparams};

use crate::support::calls::{BytesResult, OwnedContext, Params, dparams, vlcompress, with_destination};
use crate::support::files::TempDir;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};

/// Registered with both libraries by the test that uses it; no other test of this process uses the id.
const USER_CODEC: u8 = 231;

unsafe extern "C" fn copy_half(
    input: *const u8,
    input_len: i32,
    output: *mut u8,
    output_len: i32,
    _: u8,
    _: *mut blosc2_cparams,
    _: *const c_void,
) -> c_int {
    let half = input_len / 2;
    if half > output_len {
        return 0;
    }
    // SAFETY: the library passes buffers of these lengths.
    unsafe { output.copy_from_nonoverlapping(input, half as usize) };
    half
}

unsafe extern "C" fn copy_twice(
    input: *const u8,
    input_len: i32,
    output: *mut u8,
    output_len: i32,
    _: u8,
    _: *mut blosc2_dparams,
    _: *const c_void,
) -> c_int {
    for at in 0..output_len {
        // SAFETY: as in `copy_half`; the index is less than `input_len`.
        unsafe { output.add(at as usize).write(*input.add((at % input_len) as usize)) };
    }
    output_len
}

/// Returns blocks whose second half equals the first, which are compressible with every codec.
fn blocks(count: usize, len: usize) -> Vec<Vec<u8>> {
    let half = |n: usize| (0..len / 2).map(move |at| ((at * at / 7 + n) & 0x1F) as u8);
    (0..count).map(|n| half(n).chain(half(n)).collect()).collect()
}

#[test]
fn vl_chunks_of_codecs_without_dictionaries_ignore_use_dict() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    for library in [ours, reference] {
        let mut codec = blosc2_codec {
            compcode: USER_CODEC,
            compname: c"halves".as_ptr().cast_mut(),
            complib: USER_CODEC,
            version: 1,
            encoder: Some(copy_half),
            decoder: Some(copy_twice),
        };
        // SAFETY: an initialised struct, which is copied; the name is static.
        assert_eq!(unsafe { (library.blosc2_register_codec)(&mut codec) }, 0);
    }
    for codec in [0, 4, USER_CODEC] {
        for clevel in [0, 1, 5, 9] {
            if codec == 0 && clevel == 0 {
                // The C library crashes (`support::known_defects`, `VlBloscLzLevel0`).
                continue;
            }
            // With too few samples for a dictionary, and with enough of them.
            for (count, len) in [(1, 1000), (3, 1000), (10, 5000), (40, 500)] {
                let blocks = blocks(count, len);
                let params = Params { codec, clevel, use_dict: true, typesize: 1, ..Params::default() };
                let what = format!("{params:?}, {count} blocks of {len} bytes");
                let room = 2 * count * len + 40_000;
                let plain = Params { use_dict: false, ..params.clone() };
                let chunk = vlcompress(ours, &params, &blocks, room);
                assert_eq!(chunk, vlcompress(ours, &plain, &blocks, room), "as without: {what}");
                let theirs = vlcompress(reference, &params, &blocks, room);
                for (writer, chunk) in [(ours, &chunk), (reference, &theirs)] {
                    let chunk = chunk.as_ref().unwrap_or_else(|rc| panic!("{}: {rc}: {what}", writer.name));
                    for reader in [ours, reference] {
                        let read = OwnedContext::for_decompression(reader, dparams(1))
                            .vldecompress(chunk, blocks.len());
                        assert!(
                            read.as_ref() == Ok(&blocks),
                            "{} reads {}: {:?}: {what}",
                            reader.name,
                            writer.name,
                            read.err()
                        );
                    }
                }
                // The parameter is kept, except at level 0, as in every compression.
                let remembered = [ours, reference].map(|library| {
                    let mut context =
                        OwnedContext::for_compression(library, params.cparams()).expect("a context");
                    let (code, _) = with_destination(room, |dest| context.vlcompress(&blocks, dest));
                    assert!(code > 0, "{}: {code}: {what}", library.name);
                    context.cparams().use_dict
                });
                assert_eq!(remembered[0], remembered[1], "{what}");
                // A single buffer is rejected as before.
                let buffers = [ours, reference].map(|library| {
                    let mut context =
                        OwnedContext::for_compression(library, params.cparams()).expect("a context");
                    with_destination(room, |dest| context.compress(&blocks[0], dest)).0
                });
                assert_eq!(buffers, [-8, -8], "{what}");
            }
        }
    }
}

/// A lazy chunk of variable-length blocks from a frame in `store`.
struct LazyChunk {
    schunk: SuperChunk,
    chunk: Vec<u8>,
    blocks: Vec<Vec<u8>>,
}

impl LazyChunk {
    fn new(library: &'static Library, store: Store, directory: &TempDir, noise: bool) -> LazyChunk {
        let path = directory.path().join(format!("{}-{store:?}-{noise}", library.name));
        let params = Params { codec: 1, typesize: 1, ..Params::default() };
        let schunk = SuperChunk::create(library, store, &path, &params);
        let mut random = Random::new(5);
        let blocks: Vec<Vec<u8>> = [500, 600, 700, 800]
            .map(|len| {
                let run = |at: usize| (at / 3) as u8;
                if noise { random.bytes(len) } else { (0..len).map(run).collect() }
            })
            .into();
        // Two chunks, so that bytes follow the first one.
        for _ in 0..2 {
            let chunk = vlcompress(library, &params, &blocks, 10_000).expect("a chunk");
            schunk.append_chunk(&chunk).expect("appended");
        }
        let chunk = schunk.get_lazychunk(0).expect("a lazy chunk");
        assert_eq!(chunk.len(), 32 + 4 * 4 + 12 + 4 * 4);
        LazyChunk { schunk, chunk, blocks }
    }

    /// Returns the position of the length of block `nblock` in the trailer.
    fn length_at(nblock: usize) -> usize {
        32 + 4 * 4 + 12 + 4 * nblock
    }

    fn field(&self, at: usize) -> i32 {
        i32::from_le_bytes(self.chunk[at..at + 4].try_into().expect("four bytes"))
    }

    /// Decodes a block of the chunk after writing `value` at `at`.
    fn decode(&self, nblock: usize, at: usize, value: i32) -> BytesResult {
        let mut chunk = self.chunk.clone();
        chunk[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let dparams = blosc2_dparams { schunk: self.schunk.raw().cast(), ..dparams(1) };
        OwnedContext::for_decompression(self.schunk.library, dparams)
            .vldecompress_block(&chunk, nblock as i32)
    }
}

#[test]
fn damaged_lengths_in_a_lazy_chunk_trailer_give_the_same_codes() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let directory = TempDir::new();
    for store in Store::ON_DISK {
        for noise in [false, true] {
            let [mine, theirs] =
                [ours, reference].map(|library| LazyChunk::new(library, store, &directory, noise));
            for nblock in 0..4 {
                let at = LazyChunk::length_at(nblock);
                let right = mine.field(at);
                assert_eq!(mine.decode(nblock, at, right).as_ref(), Ok(&mine.blocks[nblock]));
                // Values that are certainly invalid, and each value up to beyond the longest block.
                let wild = [i32::MIN, -1000, 10_000, 1 << 20, i32::MAX];
                for length in wild.into_iter().chain(-3..900) {
                    let theirs = theirs.decode(nblock, at, length);
                    let what =
                        format!("{store:?}, noise {noise}: block {nblock} of {length} bytes for {right}");
                    assert_eq!(mine.decode(nblock, at, length), theirs, "{what}");
                    // The lengths of other blocks have no effect.
                    let other = (nblock + 1) % 4;
                    let block = mine.decode(other, at, length);
                    assert_eq!(block.as_ref(), Ok(&mine.blocks[other]), "{what}");
                }
            }
        }
    }
}
