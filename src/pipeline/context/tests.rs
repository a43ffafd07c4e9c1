//! Reads and writes of a context's head through the pointer that C has, between calls and inside callbacks. No test
//! here runs a codec in C: `scripts/check-miri.sh` runs these tests under Miri, which checks that no access through the
//! pointer conflicts with a reference of the library.

use super::super::compress::ContentSource;
use super::*;
use crate::abi::{BLOSC_LZ4, BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, blosc2_tuner};
use crate::registry;
use std::ffi::{c_double, c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

/// A context as C code holds it: a pointer, and nothing else.
struct CContext(*mut blosc2_context);

impl CContext {
    fn for_compression(cparams: &blosc2_cparams) -> CContext {
        // SAFETY: pointers in the parameters are NULL or live as long as the context in every test.
        CContext(unsafe { Context::for_compression(cparams) }.unwrap().into_c())
    }

    fn for_decompression(dparams: &blosc2_dparams) -> CContext {
        // SAFETY: pointers in the parameters are NULL or live as long as the context in every test.
        CContext(unsafe { Context::for_decompression(dparams) }.unwrap().into_c())
    }

    /// Returns the head, which C code reads and writes when no function of the library runs.
    fn head(&self) -> *mut ContextHead {
        self.0.cast()
    }

    /// Returns the context, as a function of the library uses it.
    fn as_context(&self) -> &Context {
        // SAFETY: a context that is not freed, used by this thread.
        unsafe { &*self.0.cast::<Context>() }
    }

    fn compress(&self, source: &[u8]) -> Vec<u8> {
        let mut chunk = vec![0; source.len() + 1000];
        let len =
            self.as_context().compress(ContentSource::Buffer(source), chunk[..].as_mut().into()).unwrap();
        chunk.truncate(len);
        chunk
    }

    fn decompress(&self, chunk: &[u8], len: usize) -> Vec<u8> {
        let mut content = vec![0xEE; len];
        assert_eq!(self.as_context().decompress(chunk, None, content[..].as_mut().into()).unwrap(), len);
        content
    }
}

impl Drop for CContext {
    fn drop(&mut self) {
        // SAFETY: a context that is not freed yet, and not used again.
        drop(unsafe { OwnedContext::from_c(self.0) });
    }
}

fn lz4_cparams() -> blosc2_cparams {
    blosc2_cparams { typesize: 2, compcode: BLOSC_LZ4 as u8, ..BLOSC2_CPARAMS_DEFAULTS }
}

fn make_content(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at / 7) as u8).collect()
}

#[test]
fn fields_that_c_writes_between_calls_are_used() {
    let context = CContext::for_compression(&lz4_cparams());
    let head = context.head();
    let source = make_content(400);
    let first = context.compress(&source);
    // SAFETY: no function of the library runs.
    unsafe {
        assert_eq!((*head).destsize, first.len() as i32);
        assert_eq!((*head).do_compress, 1);
        (*head).blocksize = 64;
        (*head).clevel = 0;
        (*head).typesize = 4;
        (*head).filters = [0; 6];
        (*head).new_nthreads = 1;
    }
    let second = context.compress(&source);
    let header = ChunkHeader::parse(&second).unwrap();
    assert_eq!((header.blocksize, header.typesize, header.filters), (64, 4, [0; 6]));
    // SAFETY: the head of a context that is alive; no function of the library runs.
    unsafe {
        assert_eq!(((*head).blocksize, (*head).nblocks, (*head).leftover), (64, 7, 400 % 64));
        assert_eq!(((*head).header_blocksize, (*head).destsize), (64, second.len() as i32));
    }
    let mut told = BLOSC2_CPARAMS_DEFAULTS;
    context.as_context().store_cparams(&mut told);
    assert_eq!((told.blocksize, told.clevel, told.typesize), (64, 0, 4));

    let reader = CContext::for_decompression(&BLOSC2_DPARAMS_DEFAULTS);
    for chunk in [&first, &second] {
        assert_eq!(reader.decompress(chunk, source.len()), source);
        // SAFETY: the head of a context that is alive; no function of the library runs.
        let (blocksize, filters) = unsafe { ((*reader.head()).blocksize, (*reader.head()).filters) };
        let header = ChunkHeader::parse(chunk).unwrap();
        assert_eq!((blocksize, filters), (header.blocksize, header.filters));
    }
    assert_eq!(reader.as_context().dparams().typesize, 4);
}

unsafe extern "C" fn counting_prefilter(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: the library passes parameters with an output of that size; the program's data is a counter.
    unsafe {
        (*(*params).user_data.cast::<AtomicUsize>()).fetch_add(1, Ordering::Relaxed);
        let blocksize = (*(*params).ctx.cast::<ContextHead>()).blocksize;
        (*params).output.write_bytes(blocksize as u8, (*params).output_size as usize);
    }
    0
}

#[test]
fn prefilter_can_read_the_context_head_and_c_can_write_its_parameters() {
    let calls = AtomicUsize::new(0);
    // SAFETY: integers and pointers, for which zero is valid.
    let mut preparams: blosc2_prefilter_params = unsafe { mem::zeroed() };
    preparams.user_data = ptr::from_ref(&calls).cast_mut().cast();
    let cparams = blosc2_cparams {
        prefilter: Some(counting_prefilter),
        preparams: &mut preparams,
        blocksize: 100,
        filters: [0; 6],
        ..lz4_cparams()
    };
    let context = CContext::for_compression(&cparams);
    let head = context.head();
    let reader = CContext::for_decompression(&BLOSC2_DPARAMS_DEFAULTS);
    for blocks in 1..4 {
        let len = blocks * 100;
        let before = calls.load(Ordering::Relaxed);
        let chunk = context.compress(&make_content(len));
        assert_eq!(calls.load(Ordering::Relaxed) - before, blocks);
        assert_eq!(reader.decompress(&chunk, len), vec![100; len]);
        // SAFETY: the context's copy of the parameters; no function of the library runs.
        unsafe {
            assert_eq!((*(*head).preparams).user_data, preparams.user_data);
            (*(*head).preparams).nchunk = 5;
        }
    }
    // Without the function the parameters are not used.
    // SAFETY: the head of a context that is alive; no function of the library runs.
    unsafe { (*head).prefilter = None };
    assert_eq!(reader.decompress(&context.compress(&make_content(300)), 300), make_content(300));
}

unsafe extern "C" fn inverting_postfilter(params: *mut blosc2_postfilter_params) -> c_int {
    // SAFETY: the library passes parameters with buffers of that size.
    unsafe {
        for at in 0..(*params).size as usize {
            (*params).output.add(at).write(!(*params).input.add(at).read());
        }
    }
    0
}

#[test]
fn postfilter_transforms_decompressed_chunks_and_items() {
    // SAFETY: integers and pointers, for which zero is valid.
    let mut postparams: blosc2_postfilter_params = unsafe { mem::zeroed() };
    let dparams = blosc2_dparams {
        postfilter: Some(inverting_postfilter),
        postparams: &mut postparams,
        ..BLOSC2_DPARAMS_DEFAULTS
    };
    let chunk = CContext::for_compression(&lz4_cparams()).compress(&make_content(300));
    let reader = CContext::for_decompression(&dparams);
    let inverted: Vec<u8> = make_content(300).into_iter().map(|byte| !byte).collect();
    assert_eq!(reader.decompress(&chunk, 300), inverted);
    // SAFETY: the context's copy of the parameters; no function of the library runs.
    unsafe { (*(*reader.head()).postparams).nchunk = 7 };
    let mut items = [0; 10];
    let wanted = ItemRange::Items { start: 3, nitems: 5 };
    assert_eq!(reader.as_context().getitem(&chunk, None, wanted, items[..].as_mut().into()).unwrap(), 10);
    assert_eq!(items, inverted[6..16]);
}

#[test]
fn mask_is_visible_in_the_head_and_cleared_after_one_use() {
    let mut params = lz4_cparams();
    (params.blocksize, params.clevel) = (100, 0);
    let chunk = CContext::for_compression(&params).compress(&make_content(300));
    let reader = CContext::for_decompression(&BLOSC2_DPARAMS_DEFAULTS);
    let head = reader.head();
    reader.as_context().set_mask(vec![0, 1, 0]);
    // SAFETY: the context's copy of the mask; no function of the library runs.
    unsafe {
        assert_eq!((*head).block_maskout_nitems, 3);
        assert!((*(*head).block_maskout.add(1)).get());
    }
    let mut expected = make_content(300);
    expected[100..200].fill(0xEE);
    assert_eq!(reader.decompress(&chunk, 300), expected);
    // SAFETY: the head of a context that is alive; no function of the library runs.
    unsafe { assert!((*head).block_maskout.is_null() && (*head).block_maskout_nitems == 0) };
    assert_eq!(reader.decompress(&chunk, 300), make_content(300));
}

/// The context that `init` of the tuner got; a tuner may keep the pointer.
static TUNED_CONTEXT: AtomicPtr<blosc2_context> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn tuner_init(
    state: *mut c_void,
    context: *mut blosc2_context,
    _: *mut blosc2_context,
) -> c_int {
    TUNED_CONTEXT.store(context, Ordering::Relaxed);
    // SAFETY: a fully initialised context, which runs nothing during the call.
    unsafe { (*context.cast::<ContextHead>()).tuner_params = state };
    0
}

unsafe extern "C" fn tuner_next(context: *mut blosc2_context) -> c_int {
    assert_eq!(context, TUNED_CONTEXT.load(Ordering::Relaxed));
    // SAFETY: the library calls the tuner with the context, whose head is alive and which no other code uses.
    unsafe { (*TUNED_CONTEXT.load(Ordering::Relaxed).cast::<ContextHead>()).blocksize = 120 };
    0
}

unsafe extern "C" fn tuner_update(_: *mut blosc2_context, _: c_double) -> c_int {
    // SAFETY: the library calls the tuner with the context, whose head is alive; `tuner_init` has stored the state, a
    // number.
    unsafe {
        let head = TUNED_CONTEXT.load(Ordering::Relaxed).cast::<ContextHead>();
        *(*head).tuner_params.cast::<i32>() += (*head).destsize;
    }
    0
}

unsafe extern "C" fn tuner_free(context: *mut blosc2_context) -> c_int {
    // SAFETY: the library calls the tuner with the context, whose head is alive and which no other code uses.
    unsafe { (*context.cast::<ContextHead>()).tuner_params = ptr::null_mut() };
    0
}

#[test]
fn tuner_can_write_the_block_size_through_a_kept_context_pointer() {
    let tuner = blosc2_tuner {
        init: Some(tuner_init),
        next_blocksize: Some(tuner_next),
        next_cparams: Some(tuner_next),
        update: Some(tuner_update),
        free: Some(tuner_free),
        id: 177,
        name: ptr::null_mut(),
    };
    registry::register_tuner(&tuner, Some(c"of the tests")).unwrap();
    let mut state = 0i32;
    let state = &raw mut state;
    let cparams = blosc2_cparams { tuner_id: 177, tuner_params: state.cast(), ..lz4_cparams() };
    let context = CContext::for_compression(&cparams);
    assert_eq!(context.0, TUNED_CONTEXT.load(Ordering::Relaxed));
    let mut total = 0;
    for _ in 0..2 {
        let chunk = context.compress(&make_content(600));
        assert_eq!(ChunkHeader::parse(&chunk).unwrap().blocksize, 120);
        total += chunk.len();
    }
    // SAFETY: no function of the library runs.
    unsafe { assert_eq!(*state as usize, total) };
}
