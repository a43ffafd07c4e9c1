//! Shared checks of the tests: that our library and the reference decode a chunk, and that every part of it can be
//! read.

use blosc2::abi::{CBool, blosc2_postfilter_params, blosc2_prefilter_params};

use crate::support::calls::{BytesResult, OwnedContext, Params, decompress, dparams, with_destination};
use crate::support::data::Data;
use crate::support::library::{Context, Library};
use crate::support::random::Random;

pub const CODECS: [u8; 5] = [0, 1, 2, 4, 5];
/// The codecs that support dictionaries.
pub const DICTIONARY_CODECS: [u8; 3] = [1, 2, 5];
pub const SHUFFLE: u8 = 1;
pub const BITSHUFFLE: u8 = 2;
pub const DELTA: u8 = 3;
pub const TRUNC_PREC: u8 = 4;

pub fn ours() -> &'static Library {
    Library::ours()
}

/// Returns `nbytes` bytes of that kind for items of `typesize` bytes, the same in every run.
pub fn data(kind: Data, typesize: usize, nbytes: usize) -> Vec<u8> {
    kind.generate(&mut Random::new(nbytes as u64 + 77), typesize, nbytes)
}

/// A destination size in which every chunk fits.
pub fn large_destsize(nbytes: usize) -> usize {
    16 * nbytes + 100_000
}

/// Returns the slots of a pipeline, with `ids` in the last slots.
pub fn pipeline(ids: &[u8]) -> [u8; 6] {
    let mut filters = [0; 6];
    filters[6 - ids.len()..].copy_from_slice(ids);
    filters
}

/// Compresses with our library into a large enough destination.
#[track_caller]
pub fn compressed(params: &Params, src: &[u8]) -> Vec<u8> {
    let chunk = crate::support::calls::compress(ours(), params, src, large_destsize(src.len()));
    chunk.unwrap_or_else(|code| panic!("error {code} with {params:?}, {} bytes", src.len()))
}

#[track_caller]
pub fn assert_outcome(what: &str, outcome: BytesResult, expected: &[u8]) {
    match outcome {
        Err(code) => panic!("{what}: error {code}"),
        Ok(bytes) if bytes == expected => {}
        Ok(bytes) => {
            let at = bytes.iter().zip(expected).position(|(a, b)| a != b);
            panic!("{what}: {} bytes for {}, first difference at {at:?}", bytes.len(), expected.len());
        }
    }
}

/// Checks that our library decodes the chunk, with one thread and with four.
#[track_caller]
pub fn assert_ours_decodes(chunk: &[u8], expected: &[u8]) {
    for nthreads in [1, 4] {
        let outcome = decompress(ours(), nthreads, chunk, expected.len());
        assert_outcome(&format!("ours, {nthreads} threads"), outcome, expected);
    }
}

/// Checks that the reference decodes the chunk, if it is available.
#[track_caller]
pub fn assert_reference_decodes(chunk: &[u8], expected: &[u8]) {
    if let Some(reference) = Library::reference() {
        for nthreads in [1, 4] {
            let outcome = decompress(reference, nthreads, chunk, expected.len());
            assert_outcome(&format!("the reference, {nthreads} threads"), outcome, expected);
        }
    }
}

#[track_caller]
pub fn assert_all_decode(chunk: &[u8], expected: &[u8]) {
    assert_ours_decodes(chunk, expected);
    assert_reference_decodes(chunk, expected);
}

/// Reads `count` parts of the chunk with `context`, including parts that begin or end at block boundaries.
#[track_caller]
pub fn assert_items(
    context: &mut OwnedContext<'_>,
    chunk: &[u8],
    decoded: &[u8],
    random: &mut Random,
    count: usize,
) {
    let unit = usize::from(chunk[3]);
    let nitems = decoded.len() / unit;
    let blocksize = i32::from_le_bytes(chunk[8..12].try_into().expect("four bytes")) as usize;
    let block_items = (blocksize / unit).max(1);
    for _ in 0..count {
        let start = match random.below(3) {
            0 => (block_items * random.below(nitems / block_items + 1)).min(nitems),
            1 => (block_items * random.below(nitems / block_items + 1) + block_items / 2).min(nitems),
            _ => random.below(nitems + 1),
        };
        let leftover = nitems % block_items;
        let len = *random.pick(&[1, 2, block_items, leftover, block_items + 1, 2 * block_items, nitems]);
        let len = if random.one_in(2) { random.below(nitems + 1) } else { len };
        let len = len.min(nitems - start);
        let (rc, items) =
            with_destination(len * unit, |dest| context.getitem(chunk, start as i32, len as i32, dest));
        let expected = &decoded[start * unit..(start + len) * unit];
        assert!(
            rc == expected.len() as i32 && items == expected,
            "items {start}+{len} of {nitems}, {block_items} in a block: {rc}"
        );
    }
}

/// Reads parts of the chunk with new contexts and with a reused one, with one thread and with four.
#[track_caller]
pub fn assert_items_in_all_contexts(chunk: &[u8], decoded: &[u8]) {
    let random = &mut Random::new(decoded.len() as u64);
    for nthreads in [1, 4] {
        for _ in 0..5 {
            let mut fresh = OwnedContext::for_decompression(ours(), dparams(nthreads));
            assert_items(&mut fresh, chunk, decoded, random, 1);
        }
        let mut again = OwnedContext::for_decompression(ours(), dparams(nthreads));
        assert_items(&mut again, chunk, decoded, random, 40);
    }
}

/// Offsets of fields of a context (abi.md 4.3). The test `abi layout` compares them with the document.
pub mod offsets {
    use std::mem::offset_of;

    use blosc2::abi::ContextHead;

    pub const SRC: usize = offset_of!(ContextHead, src);
    pub const DEST: usize = offset_of!(ContextHead, dest);
    pub const SOURCESIZE: usize = offset_of!(ContextHead, sourcesize);
    pub const BLOCKSIZE: usize = offset_of!(ContextHead, blocksize);
    pub const SPLITMODE: usize = offset_of!(ContextHead, splitmode);
    pub const SRCSIZE: usize = offset_of!(ContextHead, srcsize);
    pub const DESTSIZE: usize = offset_of!(ContextHead, destsize);
    pub const TYPESIZE: usize = offset_of!(ContextHead, typesize);
    pub const COMPCODE: usize = offset_of!(ContextHead, compcode);
    pub const COMPCODE_META: usize = offset_of!(ContextHead, compcode_meta);
    pub const CLEVEL: usize = offset_of!(ContextHead, clevel);
    pub const USE_DICT: usize = offset_of!(ContextHead, use_dict);
    pub const FILTERS: usize = offset_of!(ContextHead, filters);
    pub const FILTERS_META: usize = offset_of!(ContextHead, filters_meta);
    pub const BLOCK_MASKOUT: usize = offset_of!(ContextHead, block_maskout);
    pub const SCHUNK: usize = offset_of!(ContextHead, schunk);
    pub const DO_COMPRESS: usize = offset_of!(ContextHead, do_compress);
    pub const TUNER_PARAMS: usize = offset_of!(ContextHead, tuner_params);
    pub const TUNER_ID: usize = offset_of!(ContextHead, tuner_id);
    pub const CODEC_PARAMS: usize = offset_of!(ContextHead, codec_params);
    pub const FILTER_PARAMS: usize = offset_of!(ContextHead, filter_params);
    pub const NTHREADS: usize = offset_of!(ContextHead, nthreads);
    pub const NEW_NTHREADS: usize = offset_of!(ContextHead, new_nthreads);
    pub const THREAD_BACKEND: usize = offset_of!(ContextHead, thread_backend);
    pub const THREAD_POOL: usize = offset_of!(ContextHead, thread_pool);
}

/// Reads a field of a context, at an offset of the layout in abi.md 4.3.
pub fn context_field<T: Copy>(context: Context, offset: usize) -> T {
    // SAFETY: a live context; the layout has a field of that type at the offset, and no thread writes it now.
    unsafe { context.byte_add(offset).cast::<T>().read() }
}

/// Writes a field of a context.
pub fn set_context_field<T: Copy>(context: Context, offset: usize, value: T) {
    // SAFETY: as in `context_field`; programs and tuners may write the field between calls and in hooks.
    unsafe { context.byte_add(offset).cast::<T>().write(value) }
}

/// Returns empty prefilter parameters.
pub fn preparams() -> blosc2_prefilter_params {
    blosc2_prefilter_params {
        user_data: std::ptr::null_mut(),
        input: std::ptr::null(),
        output: std::ptr::null_mut(),
        output_size: 0,
        output_typesize: 0,
        output_offset: 0,
        nchunk: 0,
        nblock: 0,
        tid: 0,
        ttmp: std::ptr::null_mut(),
        ttmp_nbytes: 0,
        ctx: std::ptr::null_mut(),
        output_is_disposable: CBool::FALSE,
    }
}

/// Returns empty postfilter parameters.
pub fn postparams() -> blosc2_postfilter_params {
    blosc2_postfilter_params {
        user_data: std::ptr::null_mut(),
        input: std::ptr::null(),
        output: std::ptr::null_mut(),
        size: 0,
        typesize: 0,
        offset: 0,
        nchunk: 0,
        nblock: 0,
        tid: 0,
        ttmp: std::ptr::null_mut(),
        ttmp_nbytes: 0,
        ctx: std::ptr::null_mut(),
    }
}
