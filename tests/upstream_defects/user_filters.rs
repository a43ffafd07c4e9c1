//! User-defined filters: their arguments, and the handling of their return values (filters.md 1.2, 15 Q3, 16 D5,
//! codecs.md 14.2 and 19.12).

use std::ffi::{c_int, c_void};
use std::sync::{Mutex, Once};

use blosc2::abi::{blosc2_cparams, blosc2_dparams, blosc2_filter};

use crate::checks::{
    BITSHUFFLE, DELTA, SHUFFLE, assert_items_in_all_contexts, assert_ours_decodes, compressed, data, ours,
    pipeline,
};
use crate::schunk_fixtures::int32_bytes;
use crate::support::calls::{
    Header, OwnedContext, Params, compress, decompress, dparams, getitem, with_destination,
};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// Adds its meta byte to every byte; with a meta of 200 or more one of the two functions fails.
const ADDING_FILTER: u8 = 170;
/// As [`ADDING_FILTER`], and records its arguments.
const RECORDING_FILTER: u8 = 171;

const FORWARD_1: u8 = 200;
const FORWARD_MINUS_1: u8 = 201;
const FORWARD_MINUS_9: u8 = 202;
const BACKWARD_1: u8 = 203;
const BACKWARD_MINUS_1: u8 = 204;
const BACKWARD_MINUS_7: u8 = 205;
const BACKWARD_MINUS_9: u8 = 206;

unsafe fn add(src: *const u8, dest: *mut u8, len: i32, meta: u8) {
    for i in 0..len as usize {
        // SAFETY: two buffers of `len` bytes.
        unsafe { *dest.add(i) = (*src.add(i)).wrapping_add(meta) };
    }
}

unsafe extern "C" fn forward(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    meta: u8,
    _: *mut blosc2_cparams,
    _: u8,
) -> c_int {
    // SAFETY: the library passes two buffers of `len` bytes.
    unsafe { add(src, dest, len, meta) };
    match meta {
        FORWARD_1 => 1,
        FORWARD_MINUS_1 => -1,
        FORWARD_MINUS_9 => -9,
        _ => 0,
    }
}

unsafe extern "C" fn backward(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    meta: u8,
    _: *mut blosc2_dparams,
    _: u8,
) -> c_int {
    // SAFETY: as in `forward`.
    unsafe { add(src, dest, len, meta.wrapping_neg()) };
    match meta {
        BACKWARD_1 => 1,
        BACKWARD_MINUS_1 => -1,
        BACKWARD_MINUS_7 => -7,
        BACKWARD_MINUS_9 => -9,
        _ => 0,
    }
}

/// Copies; its backward function updates a chunk, once each time [`PENDING_UPDATE`] is set.
const CHUNK_UPDATING_FILTER: u8 = 175;

/// A super-chunk, the number of a chunk in it, and the new content of that chunk.
struct PendingUpdate {
    schunk: *const SuperChunk,
    nchunk: i64,
    chunk: Vec<u8>,
}
// SAFETY: the test that sets it waits until the call that takes it has returned.
unsafe impl Send for PendingUpdate {}

static PENDING_UPDATE: Mutex<Option<PendingUpdate>> = Mutex::new(None);

unsafe extern "C" fn copy(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    _: u8,
    _: *mut blosc2_cparams,
    _: u8,
) -> c_int {
    // SAFETY: as in `forward`.
    unsafe { add(src, dest, len, 0) };
    0
}

unsafe extern "C" fn copy_and_update_chunk(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    _: u8,
    _: *mut blosc2_dparams,
    _: u8,
) -> c_int {
    // SAFETY: as in `forward`.
    unsafe { add(src, dest, len, 0) };
    let meddling = PENDING_UPDATE.lock().expect("the place").take();
    if let Some(PendingUpdate { schunk, nchunk, chunk }) = meddling {
        // SAFETY: the super-chunk of the test that set this value.
        unsafe { (*schunk).update_chunk(nchunk, &chunk).expect("updated") };
    }
    0
}

/// Addresses of source and destination, length, meta, id.
type FilterArgs = (usize, usize, i32, u8, u8);

struct ForwardCall(FilterArgs, blosc2_cparams);
// SAFETY: the pointers inside are only compared.
unsafe impl Send for ForwardCall {}

static FORWARD_CALLS: Mutex<Vec<ForwardCall>> = Mutex::new(Vec::new());
static BACKWARD_CALLS: Mutex<Vec<(FilterArgs, i16, i32)>> = Mutex::new(Vec::new());

unsafe extern "C" fn forward_and_record(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    meta: u8,
    cparams: *mut blosc2_cparams,
    id: u8,
) -> c_int {
    // SAFETY: the library passes a valid struct and two buffers of `len` bytes.
    unsafe {
        let told = (src.addr(), dest.addr(), len, meta, id);
        FORWARD_CALLS.lock().expect("the list").push(ForwardCall(told, *cparams));
        add(src, dest, len, meta);
    }
    0
}

unsafe extern "C" fn backward_and_record(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    meta: u8,
    dparams: *mut blosc2_dparams,
    id: u8,
) -> c_int {
    // SAFETY: as in `forward_and_record`.
    unsafe {
        let told = (src.addr(), dest.addr(), len, meta, id);
        BACKWARD_CALLS.lock().expect("the list").push((told, (*dparams).nthreads, (*dparams).typesize));
        add(src, dest, len, meta.wrapping_neg());
    }
    0
}

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (id, name, forward, backward) in [
            (ADDING_FILTER, c"add", Some(forward as _), Some(backward as _)),
            (RECORDING_FILTER, c"telltale", Some(forward_and_record as _), Some(backward_and_record as _)),
            (CHUNK_UPDATING_FILTER, c"meddler", Some(copy as _), Some(copy_and_update_chunk as _)),
        ] {
            let mut filter =
                blosc2_filter { id, name: name.as_ptr().cast_mut(), version: 1, forward, backward };
            // SAFETY: a valid struct with a static name and functions that follow the contract.
            assert_eq!(unsafe { (ours().blosc2_register_filter)(&mut filter) }, 0);
        }
    });
}

/// Parameters with a pipeline in which [`ADDING_FILTER`] has the meta `meta`.
fn params(filters: &[u8], meta: u8, nthreads: i16) -> Params {
    let mut params = Params {
        codec: 1,
        typesize: 4,
        blocksize: 20_000,
        nthreads,
        filters: pipeline(filters),
        ..Params::default()
    };
    params.filters_meta =
        params.filters.map(|id| if id == ADDING_FILTER || id == RECORDING_FILTER { meta } else { 0 });
    params
}

#[test]
fn codecs_14_2_user_filters_round_trip_at_any_pipeline_position() {
    register();
    let src = data(Data::SmoothFloats, 4, 90_001);
    for filters in [
        &[ADDING_FILTER][..],
        &[ADDING_FILTER, SHUFFLE],
        &[SHUFFLE, ADDING_FILTER],
        &[ADDING_FILTER, ADDING_FILTER, ADDING_FILTER],
        &[ADDING_FILTER, DELTA, ADDING_FILTER],
        &[DELTA, ADDING_FILTER],
        &[ADDING_FILTER, DELTA],
        &[SHUFFLE, ADDING_FILTER, BITSHUFFLE, DELTA, ADDING_FILTER, SHUFFLE],
    ] {
        let chunk = compressed(&params(filters, 17, 1), &src);
        assert!(!Header::parse(&chunk).is_memcpyed());
        assert_eq!(compressed(&params(filters, 17, 4), &src), chunk, "{filters:?}");
        assert_ours_decodes(&chunk, &src);
        assert_items_in_all_contexts(&chunk, &src);
    }
}

/// Check 12: every return value of a forward function except 0.
#[test]
fn codecs_19_12_nonzero_forward_results_fail_the_compression() {
    register();
    let src = data(Data::SmoothFloats, 4, 90_001);
    for filters in
        [&[ADDING_FILTER][..], &[ADDING_FILTER, SHUFFLE], &[SHUFFLE, ADDING_FILTER], &[ADDING_FILTER, DELTA]]
    {
        for nthreads in [1, 4] {
            for meta in [FORWARD_1, FORWARD_MINUS_1, FORWARD_MINUS_9] {
                let params = params(filters, meta, nthreads);
                assert_eq!(compress(ours(), &params, &src, 200_000), Err(-18), "{filters:?}, {meta}");
                let dict = Params { use_dict: true, ..params };
                assert_eq!(compress(ours(), &dict, &src, 200_000), Err(-18), "{filters:?}, {meta}");
                // Uncompressed chunks are not filtered.
                let plain = Params { clevel: 0, ..dict };
                assert_ours_decodes(&compressed(&plain, &src), &src);
            }
        }
    }
}

/// Check 12 and Q3: a negative result of a backward function is returned to the caller; a positive one is not an
/// error if the pipeline had nothing else to undo, and is an error otherwise.
#[test]
fn codecs_19_12_filters_q3_backward_results_reach_the_caller() {
    register();
    let src = data(Data::SmoothFloats, 4, 90_001);
    for (filters, last_to_undo) in [
        (&[ADDING_FILTER][..], true),
        (&[ADDING_FILTER, SHUFFLE], true),
        (&[ADDING_FILTER, DELTA], true),
        (&[SHUFFLE, ADDING_FILTER], false),
        (&[DELTA, ADDING_FILTER], false),
        (&[ADDING_FILTER, ADDING_FILTER], false),
        (&[DELTA, DELTA, ADDING_FILTER], false),
        (&[DELTA, SHUFFLE, ADDING_FILTER, BITSHUFFLE], false),
    ] {
        for nthreads in [1, 4] {
            for (meta, code) in [(BACKWARD_MINUS_1, -1), (BACKWARD_MINUS_7, -7), (BACKWARD_MINUS_9, -9)] {
                let chunk = compressed(&params(filters, meta, 1), &src);
                assert_eq!(decompress(ours(), nthreads, &chunk, src.len()), Err(code), "{filters:?}");
                assert_eq!(getitem(ours(), nthreads, &chunk, 30, 10, 40), Err(code), "{filters:?}");
            }
            let chunk = compressed(&params(filters, BACKWARD_1, 1), &src);
            let decoded = decompress(ours(), nthreads, &chunk, src.len());
            let items = getitem(ours(), nthreads, &chunk, 30, 10, 40);
            if last_to_undo {
                assert!(decoded.as_ref() == Ok(&src), "{filters:?}");
                assert_eq!(items.as_deref(), Ok(&src[120..160]), "{filters:?}");
            } else {
                assert_eq!(decoded.err(), Some(-18), "{filters:?}");
                assert_eq!(items, Err(-18), "{filters:?}");
            }
        }
    }
}

/// The arguments of the functions: whole blocks, buffers that do not overlap, all parameters.
#[test]
fn chunk_10_26_filters_d5_filters_get_whole_blocks_and_all_parameters() {
    register();
    let src = data(Data::SmoothFloats, 4, 90_001);
    let marker = |n: usize| std::ptr::without_provenance_mut::<c_void>(0x1000 + n);
    let params = params(&[RECORDING_FILTER, SHUFFLE, RECORDING_FILTER], 3, 1);
    let mut cparams = params.cparams();
    cparams.codec_params = marker(1);
    cparams.filter_params = [2, 3, 4, 5, 6, 7].map(marker);
    let mut context = OwnedContext::for_compression(ours(), cparams).expect("a context");
    let (rc, dest) = with_destination(200_000, |dest| context.compress(&src, dest));
    let chunk = &dest[..rc as usize];
    let told = std::mem::take(&mut *FORWARD_CALLS.lock().expect("the list"));
    assert_eq!(told.len(), 2 * 5);
    for (call, ForwardCall((from, to, len, meta, id), c)) in told.iter().enumerate() {
        let (nblock, first) = (call / 2, call % 2 == 0);
        let expected = if nblock == 4 { 10_001 } else { 20_000 };
        assert_eq!((*len, *meta, *id), (expected, 3, RECORDING_FILTER));
        assert!(from + *len as usize <= *to || to + *len as usize <= *from, "overlap");
        let block = src.as_ptr().addr() + nblock * 20_000;
        assert_eq!(first, *from == block, "the first filter reads the source");
        assert!(!(src.as_ptr().addr()..src.as_ptr().addr() + src.len()).contains(to));
        assert_eq!((c.compcode, c.clevel, c.typesize, c.blocksize), (1, 5, 4, 20_000));
        assert_eq!((c.filters, c.filters_meta), (params.filters, params.filters_meta));
        assert!(c.codec_params == marker(1) && c.filter_params == [2, 3, 4, 5, 6, 7].map(marker));
        assert!(c.tuner_params.is_null() && c.tuner_id == 0 && c.schunk.is_null());
    }
    let mut reader = OwnedContext::for_decompression(ours(), dparams(1));
    let (rc, decoded) = with_destination(src.len(), |dest| reader.decompress(chunk, dest));
    assert!(rc == src.len() as i32 && decoded == src);
    let told = std::mem::take(&mut *BACKWARD_CALLS.lock().expect("the list"));
    assert_eq!(told.len(), 2 * 5);
    for (call, ((from, to, len, meta, id), nthreads, typesize)) in told.into_iter().enumerate() {
        let expected = if call / 2 == 4 { 10_001 } else { 20_000 };
        assert_eq!((len, meta, id, nthreads, typesize), (expected, 3, RECORDING_FILTER, 1, 4));
        assert!(from + len as usize <= to || to + len as usize <= from, "overlap");
    }
}

/// A filter that is registered without functions, and whose plugin does not exist.
#[test]
fn codecs_14_2_filter_without_functions_fails() {
    let mut filter = blosc2_filter {
        id: 172,
        name: c"no such plugin".as_ptr().cast_mut(),
        version: 1,
        forward: None,
        backward: None,
    };
    // SAFETY: a valid struct with a static name.
    assert_eq!(unsafe { (ours().blosc2_register_filter)(&mut filter) }, 0);
    let src = data(Data::SmoothFloats, 4, 4000);
    assert_eq!(compress(ours(), &params(&[172], 0, 1), &src, 10_000), Err(-18));
    let mut chunk = compressed(&params(&[SHUFFLE], 0, 1), &src);
    chunk[0x15] = 172;
    assert_eq!(decompress(ours(), 1, &chunk, 4000), Err(-18));
}

/// A filter that changes a chunk while that chunk or another one is decoded. The call returns the chunks as they
/// were; later calls read the new contents, not blocks decoded by the first call.
#[test]
fn filter_that_updates_a_chunk_during_a_read_leaves_no_stale_block() {
    in_new_process(test_name!(), || {
        register();
        let scratch = ScratchDir::new();
        let params = Params {
            typesize: 4,
            filters: pipeline(&[SHUFFLE, CHUNK_UPDATING_FILTER]),
            blocksize: 4000,
            ..Params::default()
        };
        for store in Store::ALL {
            // The items that are read, and the chunk that is updated during the read.
            for (items, nchunk) in [(0..1750, 1), (0..750, 0), (250..1000, 0), (1100..1990, 1)] {
                let schunk = SuperChunk::create(ours(), store, &scratch.new_path(), &params);
                let mut model = int32_bytes(0..2000);
                for src in model.chunks(4000) {
                    schunk.append(src).expect("appended");
                }
                let bytes = items.start as usize * 4..items.end as usize * 4;
                let new = int32_bytes(10_000..11_000);
                let chunk = compressed(&params, &new);
                *PENDING_UPDATE.lock().expect("the place") =
                    Some(PendingUpdate { schunk: &schunk, nchunk, chunk });
                let read = schunk.get_slice(items.start, items.end, bytes.len()).expect("items");
                assert!(PENDING_UPDATE.lock().expect("the place").is_none());
                assert!(read == model[bytes.clone()], "{store:?}, {items:?}");
                let at = nchunk as usize * 4000;
                model[at..at + 4000].copy_from_slice(&new);
                for _ in 0..3 {
                    // One by one, in descending order: a cached block, decoded last, would be used first.
                    for item in items.clone().rev() {
                        let read = schunk.get_slice(item, item + 1, 4).expect("an item");
                        assert!(read == model[item as usize * 4..][..4], "{store:?}, item {item}");
                    }
                    let read = schunk.get_slice(items.start, items.end, bytes.len()).expect("items");
                    assert!(read == model[bytes.clone()], "{store:?}, {items:?}");
                }
            }
        }
    });
}
