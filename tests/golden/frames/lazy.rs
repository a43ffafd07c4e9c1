//! Lazy chunks, byte for byte (schunk.md 23, frame.md 4.6).

use super::operations::t5_chunks;
use super::{assert_hex, for_each_library_and_store, i32_bytes, params_with_typesize};
use crate::support::calls::{Params, dparams, with_destination};
use crate::support::super_chunk::{Store, SuperChunk};
use crate::support::{hex, written_here};

const LAZY_CHUNK_0: &str = "05 01 05 04 a0 0f 00 00 00 04 00 00 65 04 00 00
    00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 08
    30 00 00 00 40 01 00 00 51 02 00 00 62 03 00 00
    00 00 00 00 61 00 00 00 00 00 00 00 10 01 00 00
    11 01 00 00 11 01 00 00 03 01 00 00";

#[test]
fn lazy_chunks_match_the_vectors() {
    for_each_library_and_store(&Store::ON_DISK, |library, store, path| {
        let params = Params { blocksize: 1024, ..params_with_typesize(4) };
        let schunk = SuperChunk::create(library, store, path, &params);
        schunk.append(&i32_bytes(0..1000)).expect("appended");
        let noise = crate::support::random::Random::new(1).bytes(4000);
        schunk.append(&noise).expect("appended");
        let mut expected = written_here(hex(LAZY_CHUNK_0), &[0]);
        if store == Store::Directory {
            expected[0x30..0x3C].fill(0);
        }
        let lazy = schunk.get_lazychunk(0).expect("a lazy chunk");
        assert_hex("lazy chunk 0", &lazy, &expected);
        let stored = schunk.get_lazychunk(1).expect("a lazy chunk");
        let mut header = hex("05 01 07 04 a0 0f 00 00 00 04 00 00 c0 0f 00 00");
        header.extend(hex("00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 08"));
        assert_hex("header of lazy chunk 1", &stored[..32], &written_here(header, &[0]));
        let mut trailer = hex("01 00 00 00");
        let position: i64 = if store == Store::Directory { 1 } else { 97 + 1125 };
        trailer.extend(position.to_le_bytes());
        trailer.extend(hex("00 04 00 00 00 04 00 00 00 04 00 00 a0 03 00 00"));
        assert_hex("trailer of lazy chunk 1", &stored[48..], &trailer);
        // Only the super-chunk's context can decode it.
        for (chunk, contents) in [(lazy, i32_bytes(0..1000)), (stored, noise)] {
            let call = |context| {
                with_destination(4000, |dest| {
                    // SAFETY: a live context, a source and a destination of their stated lengths.
                    unsafe {
                        (library.blosc2_decompress_ctx)(
                            context,
                            chunk.as_ptr().cast(),
                            chunk.len() as i32,
                            dest.as_mut_ptr().cast(),
                            4000,
                        )
                    }
                })
            };
            let (rc, dest) = call(schunk.dctx());
            assert_eq!(rc, 4000, "{}: {store:?}", library.name);
            assert!(dest == contents, "{}: {store:?}", library.name);
            let other = crate::support::calls::OwnedContext::for_decompression(library, dparams(1));
            assert_eq!(call(other.raw()).0, -12, "{}: {store:?}", library.name);
        }
    });
}

#[test]
fn lazy_chunk_of_variable_length_blocks_matches_the_vector() {
    for_each_library_and_store(&Store::ON_DISK, |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(1));
        for (chunk, _) in t5_chunks(library) {
            schunk.append_chunk(&chunk).expect("appended");
        }
        let lazy = schunk.get_lazychunk(2).expect("a lazy chunk");
        assert_eq!(lazy.len(), 76);
        let mut trailer =
            hex("02 00 00 00 6e 01 00 00 00 00 00 00 44 00 00 00 27 00 00 00 05 00 00 00 44 00 00 00");
        if store == Store::Directory {
            trailer[4..12].copy_from_slice(&2i64.to_le_bytes());
        }
        assert_hex("trailer", &lazy[48..], &trailer);
    });
}

/// A special chunk is not lazy, in any store; a repeated value is not flagged lazy.
#[test]
fn special_chunks_are_never_lazy() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let schunk = SuperChunk::create(library, store, path, &params_with_typesize(4));
        schunk.append(&[0; 4000]).expect("appended");
        schunk.append(&i32_bytes([7; 1000])).expect("appended");
        let value = super::special_int32_chunk(library, crate::support::calls::Special::Value(&[7, 0, 0, 0]));
        schunk.append_chunk(&value).expect("appended");
        assert_eq!(schunk.get_lazychunk(0), schunk.get_chunk(0), "{}: {store:?}", library.name);
        assert_eq!(schunk.get_lazychunk(2), Ok(value), "{}: {store:?}", library.name);
    });
}
