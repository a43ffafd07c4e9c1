//! Reads and writes of a context's head through the pointer that C has, between calls and inside callbacks. No test
//! here runs a codec in C: `scripts/check-miri.sh` runs these tests under Miri, which checks that no access through the
//! pointer conflicts with a reference of the library.

use super::super::compress::Source;
use super::*;
use crate::abi::{BLOSC_LZ4, BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, blosc2_tuner};
use crate::registry;
use std::ffi::{c_double, c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

/// A context as C code holds it: a pointer, and nothing else.
struct OfC(*mut blosc2_context);

impl OfC {
    fn compressing(cparams: &blosc2_cparams) -> OfC {
        // SAFETY: pointers in the parameters are NULL or live as long as the context in every test.
        OfC(unsafe { Context::for_compression(cparams) }.unwrap().into_c())
    }

    fn decompressing(dparams: &blosc2_dparams) -> OfC {
        // SAFETY: as above.
        OfC(unsafe { Context::for_decompression(dparams) }.unwrap().into_c())
    }

    /// Returns the head, which C code reads and writes when no function of the library runs.
    fn head(&self) -> *mut ContextHead {
        self.0.cast()
    }

    /// Returns the context, as a function of the library uses it.
    fn inside(&self) -> &Context {
        // SAFETY: a context that is not freed, used by this thread.
        unsafe { &*self.0.cast::<Context>() }
    }

    fn compress(&self, source: &[u8]) -> Vec<u8> {
        let mut chunk = vec![0; source.len() + 1000];
        let len = self.inside().compress(Source::Buffer(source), chunk[..].as_mut().into()).unwrap();
        chunk.truncate(len);
        chunk
    }

    fn decompress(&self, chunk: &[u8], len: usize) -> Vec<u8> {
        let mut content = vec![0xEE; len];
        assert_eq!(self.inside().decompress(chunk, None, content[..].as_mut().into()).unwrap(), len);
        content
    }
}

impl Drop for OfC {
    fn drop(&mut self) {
        // SAFETY: a context that is not freed yet, and not used again.
        drop(unsafe { OwnedContext::from_c(self.0) });
    }
}

fn cparams() -> blosc2_cparams {
    blosc2_cparams { typesize: 2, compcode: BLOSC_LZ4 as u8, ..BLOSC2_CPARAMS_DEFAULTS }
}

fn content(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at / 7) as u8).collect()
}

#[test]
fn fields_that_c_writes_between_calls_are_used() {
    let context = OfC::compressing(&cparams());
    let head = context.head();
    let source = content(400);
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
    // SAFETY: as above.
    unsafe {
        assert_eq!(((*head).blocksize, (*head).nblocks, (*head).leftover), (64, 7, 400 % 64));
        assert_eq!(((*head).header_blocksize, (*head).destsize), (64, second.len() as i32));
    }
    let mut told = BLOSC2_CPARAMS_DEFAULTS;
    context.inside().store_cparams(&mut told);
    assert_eq!((told.blocksize, told.clevel, told.typesize), (64, 0, 4));

    let reader = OfC::decompressing(&BLOSC2_DPARAMS_DEFAULTS);
    for chunk in [&first, &second] {
        assert_eq!(reader.decompress(chunk, source.len()), source);
        // SAFETY: as above.
        let (blocksize, filters) = unsafe { ((*reader.head()).blocksize, (*reader.head()).filters) };
        let header = ChunkHeader::parse(chunk).unwrap();
        assert_eq!((blocksize, filters), (header.blocksize, header.filters));
    }
    let mut told = BLOSC2_DPARAMS_DEFAULTS;
    reader.inside().store_dparams(&mut told);
    assert_eq!(told.typesize, 4);
}

unsafe extern "C" fn count_and_fill(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: the library passes parameters with an output of that size; the program's data is a counter.
    unsafe {
        (*(*params).user_data.cast::<AtomicUsize>()).fetch_add(1, Ordering::Relaxed);
        let blocksize = (*(*params).ctx.cast::<ContextHead>()).blocksize;
        (*params).output.write_bytes(blocksize as u8, (*params).output_size as usize);
    }
    0
}

#[test]
fn a_prefilter_reads_the_context_and_c_its_parameters() {
    let calls = AtomicUsize::new(0);
    // SAFETY: integers and pointers, for which zero is valid.
    let mut preparams: blosc2_prefilter_params = unsafe { mem::zeroed() };
    preparams.user_data = ptr::from_ref(&calls).cast_mut().cast();
    let cparams = blosc2_cparams {
        prefilter: Some(count_and_fill),
        preparams: &mut preparams,
        blocksize: 100,
        filters: [0; 6],
        ..cparams()
    };
    let context = OfC::compressing(&cparams);
    let head = context.head();
    let reader = OfC::decompressing(&BLOSC2_DPARAMS_DEFAULTS);
    for blocks in 1..4 {
        let len = blocks * 100;
        let before = calls.load(Ordering::Relaxed);
        let chunk = context.compress(&content(len));
        assert_eq!(calls.load(Ordering::Relaxed) - before, blocks);
        assert_eq!(reader.decompress(&chunk, len), vec![100; len]);
        // SAFETY: the context's copy of the parameters; no function of the library runs.
        unsafe {
            assert_eq!((*(*head).preparams).user_data, preparams.user_data);
            (*(*head).preparams).nchunk = 5;
        }
    }
    // Without the function the parameters are not used.
    // SAFETY: as above.
    unsafe { (*head).prefilter = None };
    assert_eq!(reader.decompress(&context.compress(&content(300)), 300), content(300));
}

unsafe extern "C" fn invert(params: *mut blosc2_postfilter_params) -> c_int {
    // SAFETY: the library passes parameters with buffers of that size.
    unsafe {
        for at in 0..(*params).size as usize {
            (*params).output.add(at).write(!(*params).input.add(at).read());
        }
    }
    0
}

#[test]
fn a_postfilter_changes_what_is_read() {
    // SAFETY: integers and pointers, for which zero is valid.
    let mut postparams: blosc2_postfilter_params = unsafe { mem::zeroed() };
    let dparams =
        blosc2_dparams { postfilter: Some(invert), postparams: &mut postparams, ..BLOSC2_DPARAMS_DEFAULTS };
    let chunk = OfC::compressing(&cparams()).compress(&content(300));
    let reader = OfC::decompressing(&dparams);
    let inverted: Vec<u8> = content(300).into_iter().map(|byte| !byte).collect();
    assert_eq!(reader.decompress(&chunk, 300), inverted);
    // SAFETY: the context's copy of the parameters; no function of the library runs.
    unsafe { (*(*reader.head()).postparams).nchunk = 7 };
    let mut items = [0; 10];
    let wanted = ItemRange::Items { start: 3, nitems: 5 };
    assert_eq!(reader.inside().getitem(&chunk, None, wanted, items[..].as_mut().into()).unwrap(), 10);
    assert_eq!(items, inverted[6..16]);
}

#[test]
fn a_mask_is_shown_to_c_and_used_once() {
    let mut params = cparams();
    (params.blocksize, params.clevel) = (100, 0);
    let chunk = OfC::compressing(&params).compress(&content(300));
    let reader = OfC::decompressing(&BLOSC2_DPARAMS_DEFAULTS);
    let head = reader.head();
    reader.inside().set_mask(vec![0, 1, 0]);
    // SAFETY: the context's copy of the mask; no function of the library runs.
    unsafe {
        assert_eq!((*head).block_maskout_nitems, 3);
        assert!((*(*head).block_maskout.add(1)).get());
    }
    let mut expected = content(300);
    expected[100..200].fill(0xEE);
    assert_eq!(reader.decompress(&chunk, 300), expected);
    // SAFETY: as above.
    unsafe { assert!((*head).block_maskout.is_null() && (*head).block_maskout_nitems == 0) };
    assert_eq!(reader.decompress(&chunk, 300), content(300));
}

/// The context that `init` of the tuner got; a tuner may keep the pointer.
static TUNED: AtomicPtr<blosc2_context> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn init(state: *mut c_void, context: *mut blosc2_context, _: *mut blosc2_context) -> c_int {
    TUNED.store(context, Ordering::Relaxed);
    // SAFETY: a fully initialised context, which runs nothing during the call.
    unsafe { (*context.cast::<ContextHead>()).tuner_params = state };
    0
}

unsafe extern "C" fn next(context: *mut blosc2_context) -> c_int {
    assert_eq!(context, TUNED.load(Ordering::Relaxed));
    // SAFETY: as above.
    unsafe { (*TUNED.load(Ordering::Relaxed).cast::<ContextHead>()).blocksize = 120 };
    0
}

unsafe extern "C" fn update(_: *mut blosc2_context, _: c_double) -> c_int {
    // SAFETY: as above; the state is a number.
    unsafe {
        let head = TUNED.load(Ordering::Relaxed).cast::<ContextHead>();
        *(*head).tuner_params.cast::<i32>() += (*head).destsize;
    }
    0
}

unsafe extern "C" fn free(context: *mut blosc2_context) -> c_int {
    // SAFETY: as above.
    unsafe { (*context.cast::<ContextHead>()).tuner_params = ptr::null_mut() };
    0
}

#[test]
fn a_tuner_keeps_the_pointer_and_writes_the_block_size() {
    let tuner = blosc2_tuner {
        init: Some(init),
        next_blocksize: Some(next),
        next_cparams: Some(next),
        update: Some(update),
        free: Some(free),
        id: 177,
        name: ptr::null_mut(),
    };
    registry::register_tuner(&tuner, Some(c"of the tests")).unwrap();
    let mut state = 0i32;
    let state = &raw mut state;
    let cparams = blosc2_cparams { tuner_id: 177, tuner_params: state.cast(), ..cparams() };
    let context = OfC::compressing(&cparams);
    assert_eq!(context.0, TUNED.load(Ordering::Relaxed));
    let mut total = 0;
    for _ in 0..2 {
        let chunk = context.compress(&content(600));
        assert_eq!(ChunkHeader::parse(&chunk).unwrap().blocksize, 120);
        total += chunk.len();
    }
    // SAFETY: no function of the library runs.
    unsafe { assert_eq!(*state as usize, total) };
}
