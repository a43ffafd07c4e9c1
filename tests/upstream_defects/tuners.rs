//! User-defined tuners (chunk.md 5.4, 10.1, codecs.md 15 and 18.12, abi.md 4.3): the order of the hooks, and the
//! fields of the context that they read and may change.

use std::cell::Cell;
use std::ffi::{c_double, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, Once};
use std::time::Duration;

use blosc2::abi::{blosc2_context, blosc2_schunk, blosc2_tuner};

use crate::checks::{
    DICTIONARY_CODECS, assert_all_decode, assert_ours_decodes, context_field, data, large_destsize, offsets,
    ours, set_context_field,
};
use crate::support::calls::{
    Header, OwnedContext, Params, Special, dparams, special_chunk, vlcompress, with_destination,
};
use crate::support::data::Data;
use crate::support::super_chunk::functions::Functions;
use crate::support::super_chunk::{Store, SuperChunk};

/// A tuner with all hooks; the script determines whether it keeps state.
const SCRIPTED_TUNER: c_int = 1000;
/// A tuner without any function.
const TUNER_WITHOUT_HOOKS: c_int = 1001;

/// The behaviour of the hooks, and a record of their calls.
struct TunerScript {
    log: Vec<&'static str>,
    /// Whether `init` stores its config in the context.
    keeps_state: bool,
    init: c_int,
    next: c_int,
    update: c_int,
    free: c_int,
    /// Changes the context in `next_blocksize` and `next_cparams`.
    change: Box<dyn FnMut(*mut blosc2_context) + Send>,
    /// Inspects the context in `init`, `next_*` and `update`.
    inspect: Box<dyn FnMut(&'static str, *mut blosc2_context) + Send>,
}

static SCRIPT: Mutex<Option<TunerScript>> = Mutex::new(None);
static TEST_LOCK: Mutex<()> = Mutex::new(());

fn with_script<R>(work: impl FnOnce(&mut TunerScript) -> R) -> R {
    work(SCRIPT.lock().expect("the script").as_mut().expect("a script"))
}

fn run_hook(name: &'static str, context: *mut blosc2_context, result: fn(&TunerScript) -> c_int) -> c_int {
    with_script(|script| {
        script.log.push(name);
        (script.inspect)(name, context);
        if name.starts_with("next") {
            (script.change)(context);
        }
        result(script)
    })
}

unsafe extern "C" fn init(
    config: *mut c_void,
    cctx: *mut blosc2_context,
    dctx: *mut blosc2_context,
) -> c_int {
    assert!(dctx.is_null());
    let keeps_state = with_script(|script| script.keeps_state);
    if keeps_state {
        set_context_field(cctx, offsets::TUNER_PARAMS, config);
    }
    run_hook("init", cctx, |script| script.init)
}

unsafe extern "C" fn next_blocksize(context: *mut blosc2_context) -> c_int {
    run_hook("next_blocksize", context, |script| script.next)
}

unsafe extern "C" fn next_cparams(context: *mut blosc2_context) -> c_int {
    run_hook("next_cparams", context, |script| script.next)
}

unsafe extern "C" fn update(context: *mut blosc2_context, seconds: c_double) -> c_int {
    assert!((0.0..100.0).contains(&seconds));
    run_hook("update", context, |script| script.update)
}

unsafe extern "C" fn free(context: *mut blosc2_context) -> c_int {
    run_hook("free", context, |script| script.free)
}

/// Starts a test with a new script.
fn start_script(keeps_state: bool) -> MutexGuard<'static, ()> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut tuner = blosc2_tuner {
            init: Some(init),
            next_blocksize: Some(next_blocksize),
            next_cparams: Some(next_cparams),
            update: Some(update),
            free: Some(free),
            id: SCRIPTED_TUNER,
            name: c"upstream_defects".as_ptr().cast_mut(),
        };
        let mut empty = blosc2_tuner {
            init: None,
            next_blocksize: None,
            next_cparams: None,
            update: None,
            free: None,
            id: TUNER_WITHOUT_HOOKS,
            name: c"no such plugin".as_ptr().cast_mut(),
        };
        // SAFETY: valid structs with static names, and functions that follow the contract.
        unsafe {
            assert_eq!((ours().blosc2_register_tuner)(&mut tuner), 0);
            assert_eq!((ours().blosc2_register_tuner)(&mut empty), 0);
        }
    });
    let one = TEST_LOCK.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let fresh = TunerScript {
        log: Vec::new(),
        keeps_state,
        init: 0,
        next: 0,
        update: 0,
        free: 0,
        change: Box::new(|_| ()),
        inspect: Box::new(|_, _| ()),
    };
    *SCRIPT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(fresh);
    one
}

fn take_log() -> Vec<&'static str> {
    with_script(|script| std::mem::take(&mut script.log))
}

fn marker(n: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(0x1000 + n)
}

fn tuned_cparams(params: &Params) -> blosc2::abi::blosc2_cparams {
    let mut cparams = params.cparams();
    cparams.tuner_id = SCRIPTED_TUNER;
    cparams.tuner_params = marker(0);
    cparams.codec_params = marker(1);
    cparams.filter_params = [2, 3, 4, 5, 6, 7].map(marker);
    cparams
}

fn tuned_context(params: &Params) -> Option<OwnedContext<'static>> {
    OwnedContext::for_compression(ours(), tuned_cparams(params))
}

#[test]
fn codecs_15_tuner_with_state_gets_next_cparams_and_update() {
    let _one = start_script(true);
    let src = data(Data::Ramp, 8, 10_000);
    let mut writer = tuned_context(&Params::default()).expect("a context");
    assert_eq!(take_log(), ["init"]);
    for _ in 0..3 {
        let (rc, dest) = with_destination(20_000, |dest| writer.compress(&src, dest));
        assert_all_decode(&dest[..rc as usize], &src);
        assert_eq!(take_log(), ["next_cparams", "update"]);
    }
    // The chunk does not fit: `update` is called, too.
    assert_eq!(with_destination(50, |dest| writer.compress(&src, dest)).0, 0);
    assert_eq!(take_log(), ["next_cparams", "update"]);
    let (rc, _) = with_destination(30_000, |dest| writer.vlcompress(&[src.clone(), src.clone()], dest));
    assert!(rc > 0);
    assert_eq!(take_log(), ["next_cparams", "update"]);
    // Arguments are checked after `next_cparams`; if they are invalid, `update` is not called.
    assert_eq!(with_destination(31, |dest| writer.compress(&src, dest)).0, -35);
    assert_eq!(take_log(), ["next_cparams"]);
    // Partial reads do not call the tuner.
    let chunk = crate::checks::compressed(&Params::default(), &src);
    assert_eq!(with_destination(8, |dest| writer.getitem(&chunk, 1, 1, dest)).0, 8);
    assert!(take_log().is_empty());
    drop(writer);
    assert_eq!(take_log(), ["free"]);
}

#[test]
fn codecs_15_tuner_without_state_gets_next_blocksize() {
    let _one = start_script(false);
    let src = data(Data::Ramp, 8, 10_000);
    let mut writer = tuned_context(&Params::default()).expect("a context");
    assert_eq!(take_log(), ["init"]);
    for _ in 0..3 {
        let (rc, dest) = with_destination(20_000, |dest| writer.compress(&src, dest));
        assert_all_decode(&dest[..rc as usize], &src);
        assert_eq!(take_log(), ["next_blocksize"]);
    }
    let (rc, _) = with_destination(30_000, |dest| writer.vlcompress(&[src.clone(), src], dest));
    assert!(rc > 0);
    assert_eq!(take_log(), ["next_blocksize"]);
    drop(writer);
    assert!(take_log().is_empty());
}

#[test]
fn codecs_15_6_tuner_sets_the_blocksize_of_special_chunks() {
    for (keeps_state, expected) in
        [(true, &["init", "next_cparams", "free"][..]), (false, &["init", "next_blocksize"])]
    {
        let _one = start_script(keeps_state);
        with_script(|script| {
            script.change = Box::new(|context| set_context_field(context, offsets::BLOCKSIZE, 800));
        });
        let mut dest = [0u8; 40];
        let cparams = tuned_cparams(&Params::default());
        // SAFETY: a destination of that length.
        let rc = unsafe { (ours().blosc2_chunk_zeros)(cparams, 8000, dest.as_mut_ptr().cast(), 40) };
        assert_eq!((rc, Header::parse(&dest).blocksize), (32, 800));
        assert_eq!(take_log(), expected);
        with_script(|script| script.next = -3);
        // SAFETY: as above.
        let rc = unsafe { (ours().blosc2_chunk_zeros)(cparams, 8000, dest.as_mut_ptr().cast(), 40) };
        assert_eq!(rc, -36);
        take_log();
        with_script(|script| script.init = -3);
        // SAFETY: as above.
        let rc = unsafe { (ours().blosc2_chunk_zeros)(cparams, 8000, dest.as_mut_ptr().cast(), 40) };
        assert_eq!(rc, -32);
    }
}

#[test]
fn chunk_5_4_tuner_errors_are_returned_as_error_codes() {
    let src = data(Data::Ramp, 8, 10_000);
    for keeps_state in [true, false] {
        let _one = start_script(keeps_state);
        with_script(|script| script.init = -1);
        assert!(tuned_context(&Params::default()).is_none());
        // A positive value is not an error.
        with_script(|script| script.init = 5);
        let mut writer = tuned_context(&Params::default()).expect("a context");
        for next in [-1, -36, i32::MIN] {
            with_script(|script| script.next = next);
            assert_eq!(with_destination(20_000, |dest| writer.compress(&src, dest)).0, -36);
            let vl = with_destination(30_000, |dest| writer.vlcompress(std::slice::from_ref(&src), dest)).0;
            assert_eq!(vl, -36);
        }
        with_script(|script| script.next = 7);
        for update in [-1, -36, 5] {
            with_script(|script| script.update = update);
            let (rc, dest) = with_destination(20_000, |dest| writer.compress(&src, dest));
            assert!(if keeps_state && update < 0 { rc == -36 } else { rc > 0 }, "{update}: {rc}");
            // The chunk is valid nevertheless.
            let cbytes = Header::parse(&dest).cbytes as usize;
            assert_all_decode(&dest[..cbytes], &src);
        }
    }
    for id in [1, 5, 31, 32, 160, 161, TUNER_WITHOUT_HOOKS, 5000, i32::MAX] {
        let mut cparams = Params::default().cparams();
        cparams.tuner_id = id;
        assert!(OwnedContext::for_compression(ours(), cparams).is_none(), "tuner {id}");
    }
    for id in [0, -1, i32::MIN] {
        let mut cparams = Params::default().cparams();
        cparams.tuner_id = id;
        let context = OwnedContext::for_compression(ours(), cparams).expect("the default tuner");
        assert_eq!(context.cparams().tuner_id, 0);
    }
}

/// A context is freed even if its tuner returns an error.
#[test]
fn codecs_18_12_context_is_freed_if_the_tuner_free_fails() {
    let _one = start_script(true);
    for result in [-1, 1] {
        with_script(|script| script.free = result);
        for nthreads in [1, 4] {
            let writer = tuned_context(&Params { nthreads, ..Params::default() });
            drop(writer.expect("a context"));
        }
    }
    // `init` fails after it has stored state: the context is not used any more.
    with_script(|script| script.init = -1);
    take_log();
    assert!(tuned_context(&Params::default()).is_none());
    assert_eq!(take_log(), ["init"]);
}

/// The values that the hooks read, at the offsets that tuner plugins are compiled for.
#[cfg(target_pointer_width = "64")]
#[test]
fn abi_4_3_tuner_reads_context_fields_at_the_abi_offsets() {
    let _one = start_script(true);
    let src = data(Data::Ramp, 4, 10_001);
    let params = Params {
        codec: 5,
        codec_meta: 9,
        clevel: 3,
        use_dict: true,
        typesize: 300,
        nthreads: 3,
        blocksize: 1000,
        splitmode: 2,
        filters: [1, 0, 0, 0, 3, 2],
        filters_meta: [4, 0, 0, 0, 0, 6],
    };
    with_script(|script| {
        script.inspect = Box::new(move |name, c| {
            assert_eq!(context_field::<c_int>(c, offsets::COMPCODE), 5, "{name}");
            assert_eq!(context_field::<u8>(c, offsets::COMPCODE_META), 9, "{name}");
            assert_eq!(context_field::<c_int>(c, offsets::CLEVEL), 3, "{name}");
            assert_eq!(context_field::<c_int>(c, offsets::USE_DICT), 1, "{name}");
            assert_eq!(context_field::<i32>(c, offsets::SPLITMODE), 2, "{name}");
            assert_eq!(context_field::<[u8; 6]>(c, offsets::FILTERS), [1, 0, 0, 0, 3, 2], "{name}");
            assert_eq!(context_field::<[u8; 6]>(c, offsets::FILTERS_META), [4, 0, 0, 0, 0, 6], "{name}");
            assert!(context_field::<*mut c_void>(c, offsets::SCHUNK).is_null(), "{name}");
            assert_eq!(context_field::<c_int>(c, offsets::DO_COMPRESS), 1, "{name}");
            assert_eq!(context_field::<*mut c_void>(c, offsets::TUNER_PARAMS), marker(0), "{name}");
            assert_eq!(context_field::<[i16; 2]>(c, offsets::NTHREADS), [3, 3], "{name}");
            if name == "init" {
                // Not yet stored (codecs.md 15.1).
                assert_eq!(context_field::<c_int>(c, offsets::TUNER_ID), 0);
                assert!(context_field::<*mut c_void>(c, offsets::CODEC_PARAMS).is_null());
                assert!(
                    context_field::<[*mut c_void; 6]>(c, offsets::FILTER_PARAMS).iter().all(|p| p.is_null())
                );
                assert_eq!(context_field::<i32>(c, offsets::TYPESIZE), 300);
                assert_eq!(context_field::<i32>(c, offsets::BLOCKSIZE), 1000);
                return;
            }
            assert_eq!(context_field::<c_int>(c, offsets::TUNER_ID), SCRIPTED_TUNER, "{name}");
            assert_eq!(context_field::<*mut c_void>(c, offsets::CODEC_PARAMS), marker(1), "{name}");
            let expected = [2, 3, 4, 5, 6, 7].map(marker);
            assert_eq!(context_field::<[*mut c_void; 6]>(c, offsets::FILTER_PARAMS), expected, "{name}");
        });
    });
    let mut writer = tuned_context(&params).expect("a context");
    let (from, mut round) = (src.as_ptr().addr(), 0);
    let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
    let list = seen.clone();
    with_script(|script| {
        script.inspect = Box::new(move |name, c| {
            let job = (
                context_field::<*const u8>(c, offsets::SRC).addr(),
                context_field::<*const u8>(c, offsets::DEST).addr(),
                context_field::<i32>(c, offsets::SOURCESIZE),
                context_field::<i32>(c, offsets::SRCSIZE),
                context_field::<i32>(c, offsets::DESTSIZE),
                context_field::<i32>(c, offsets::TYPESIZE),
            );
            list.lock().expect("the list").push((name, job));
        });
    });
    for (typesize, nbytes) in [(300, 10_001), (1, 10_001), (1, 5000)] {
        let mut place = 0;
        let (rc, dest) = with_destination(large_destsize(nbytes), |dest| {
            place = dest.as_ptr().addr();
            writer.compress(&src[..nbytes], dest)
        });
        assert_ours_decodes(&dest[..rc as usize], &src[..nbytes]);
        let seen = std::mem::take(&mut *seen.lock().expect("the list"));
        let nbytes = nbytes as i32;
        let room = large_destsize(nbytes as usize) as i32;
        assert_eq!(seen.first(), Some(&("next_cparams", (from, place, nbytes, nbytes, room, typesize))));
        // Afterwards the field contains the compressed length instead of the destination size.
        let (name, job) = seen.last().expect("an update");
        assert_eq!((*name, job.4), ("update", rc), "round {round}");
        round += 1;
    }
}

/// The chunk can be read for every block size that a tuner chooses, also if it changes from call to call.
#[test]
fn chunk_10_01_codecs_18_12_any_blocksize_of_a_tuner_gives_a_valid_chunk() {
    let sizes = [
        0,
        1001,
        7,
        -5,
        4000,
        i32::MIN,
        100_000_000,
        3,
        i32::MAX,
        1,
        1002,
        536_866_816,
        536_866_817,
        0,
        20_000,
        250,
        16_385,
        2,
    ];
    for (keeps_state, nthreads) in [(true, 1), (false, 4)] {
        let _one = start_script(keeps_state);
        for (typesize, kind) in [(4, Data::Ramp), (12, Data::Text), (300, Data::Text), (8, Data::Noise)] {
            let src = data(kind, typesize, 20_003);
            for codec in [0, 1, 5] {
                for splitmode in [1, 2, 4] {
                    let mut list = sizes.into_iter();
                    with_script(|script| {
                        script.change = Box::new(move |context| {
                            let size = list.next().expect("one for each call");
                            set_context_field(context, offsets::BLOCKSIZE, size);
                        });
                    });
                    let params =
                        Params { codec, splitmode, nthreads, typesize: typesize as i32, ..Params::default() };
                    let mut writer = tuned_context(&params).expect("a context");
                    for size in sizes {
                        let (rc, dest) =
                            with_destination(large_destsize(src.len()), |dest| writer.compress(&src, dest));
                        assert!(rc > 0, "blocksize {size}, {params:?}: {rc}");
                        let chunk = &dest[..rc as usize];
                        assert!(Header::parse(chunk).blocksize <= 20_003, "blocksize {size}");
                        assert_all_decode(chunk, &src);
                    }
                }
            }
        }
    }
}

/// A tuner may change the other parameters, too; invalid ones return an error and cause no crash.
#[test]
fn codecs_15_2_tuner_can_change_parameters_and_invalid_ones_fail() {
    let _one = start_script(true);
    let src = data(Data::SmoothFloats, 4, 20_000);
    type Change = fn(*mut blosc2_context);
    let changes: [(Change, i32); 14] = [
        (|c| set_context_field(c, offsets::COMPCODE, 5), 1),
        (|c| set_context_field(c, offsets::COMPCODE, 77), -7),
        (|c| set_context_field(c, offsets::COMPCODE, -1), -7),
        (|c| set_context_field(c, offsets::COMPCODE, i32::MAX), -7),
        (|c| set_context_field(c, offsets::CLEVEL, 9), 1),
        (|c| set_context_field(c, offsets::CLEVEL, 0), 1),
        (|c| set_context_field(c, offsets::CLEVEL, 10), -8),
        (|c| set_context_field(c, offsets::CLEVEL, -1), -8),
        (|c| set_context_field(c, offsets::FILTERS, [1u8, 2, 3, 3, 2, 1]), 1),
        (|c| set_context_field(c, offsets::FILTERS, [31u8, 2, 3, 3, 2, 1]), -18),
        (|c| set_context_field(c, offsets::SPLITMODE, 77), 1),
        (|c| set_context_field(c, offsets::TYPESIZE, 0), -12),
        (|c| set_context_field(c, offsets::TYPESIZE, i32::MIN), -12),
        (|c| set_context_field(c, offsets::TYPESIZE, 7), 1),
    ];
    for nthreads in [1, 4] {
        for (index, (change, expected)) in changes.into_iter().enumerate() {
            with_script(|script| script.change = Box::new(change));
            let params = Params { codec: 1, typesize: 4, nthreads, blocksize: 4000, ..Params::default() };
            let mut writer = tuned_context(&params).expect("a context");
            for _ in 0..2 {
                let (rc, dest) =
                    with_destination(large_destsize(src.len()), |dest| writer.compress(&src, dest));
                assert_eq!(rc.min(1), expected, "change {index}");
                if rc > 0 {
                    assert_ours_decodes(&dest[..rc as usize], &src);
                }
            }
        }
    }
}

/// With a dictionary, the tuner gets the size of the chunk that is returned.
#[test]
fn chunk_5_4_tuner_update_gets_the_size_of_the_dictionary_chunk() {
    let _one = start_script(true);
    let src = data(Data::Text, 4, 50_000);
    for codec in DICTIONARY_CODECS {
        let told = std::sync::Arc::new(Mutex::new(0));
        let last = told.clone();
        with_script(|script| {
            script.inspect = Box::new(move |name, context| {
                if name == "update" {
                    *last.lock().expect("the length") = context_field::<i32>(context, offsets::DESTSIZE);
                }
            });
        });
        let params = Params { codec, use_dict: true, typesize: 4, blocksize: 5000, ..Params::default() };
        let mut writer = tuned_context(&params).expect("a context");
        let (rc, dest) = with_destination(large_destsize(src.len()), |dest| writer.compress(&src, dest));
        assert!(Header::parse(&dest).uses_dictionary());
        assert_eq!(*told.lock().expect("the length"), rc);
        assert_all_decode(&dest[..rc as usize], &src);
    }
}

/// A tuner cannot change the block size of variable-length blocks; the field contains the size of the largest block.
#[test]
fn codecs_15_6_tuner_cannot_change_variable_length_blocks() {
    for keeps_state in [true, false] {
        let _one = start_script(keeps_state);
        let found = std::sync::Arc::new(Mutex::new(Vec::new()));
        let list = found.clone();
        with_script(|script| {
            script.change = Box::new(move |context| {
                let sizes = (
                    context_field::<i32>(context, offsets::SOURCESIZE),
                    context_field::<i32>(context, offsets::BLOCKSIZE),
                );
                list.lock().expect("the list").push(sizes);
                set_context_field(context, offsets::BLOCKSIZE, 64);
            });
        });
        let blocks = [100, 5000, 300].map(|len| data(Data::Ramp, 4, len));
        let mut writer = tuned_context(&Params::default()).expect("a context");
        for _ in 0..2 {
            let (rc, dest) = with_destination(10_000, |dest| writer.vlcompress(&blocks, dest));
            let plain = vlcompress(ours(), &Params::default(), &blocks, 10_000).expect("a chunk");
            assert_eq!(dest[..rc as usize], plain);
            let mut reader = OwnedContext::for_decompression(ours(), dparams(1));
            assert!(reader.vldecompress(&plain, 3).as_deref() == Ok(&blocks[..]));
        }
        assert_eq!(*found.lock().expect("the list"), [(5400, 5000), (5400, 5000)]);
        assert_eq!(context_field::<i32>(writer.raw(), offsets::BLOCKSIZE), 5000);
    }
}

/// A tuner may set the number of threads of the current job.
#[test]
fn chunk_5_5_tuner_can_set_the_number_of_threads() {
    let _one = start_script(true);
    let src = data(Data::SmoothFloats, 4, 300_000);
    let params = Params { typesize: 4, blocksize: 10_000, ..Params::default() };
    let expected = crate::checks::compressed(&params, &src);
    let mut writer = tuned_context(&params).expect("a context");
    for nthreads in [4i16, 2, 0, -3, i16::MIN, 1, 4] {
        with_script(|script| {
            script.change = Box::new(move |context| {
                set_context_field(context, offsets::NEW_NTHREADS, nthreads);
                set_context_field(context, offsets::BLOCKSIZE, 10_000);
            });
        });
        let (rc, dest) = with_destination(large_destsize(src.len()), |dest| writer.compress(&src, dest));
        assert!(dest[..rc as usize] == expected, "{nthreads} threads: {rc}");
    }
    let zeros = special_chunk(ours(), &params, Special::Zeros, 4000, 32).expect("zeros");
    assert_eq!(with_destination(4, |dest| writer.getitem(&zeros, 0, 1, dest)).0, 4);
}

/// A tuner that chooses the block size [`BLOCKSIZE_OF_THREAD`].
const PER_THREAD_TUNER: c_int = 1002;

thread_local! {
    /// The block size that the tuner chooses on this thread.
    static BLOCKSIZE_OF_THREAD: Cell<i32> = const { Cell::new(0) };
}

/// Number of choices of the tuner.
static CHOICES: Mutex<usize> = Mutex::new(0);
static CHOICE_MADE: Condvar = Condvar::new();

unsafe extern "C" fn choose_for_thread(context: *mut blosc2_context) -> c_int {
    set_context_field(context, offsets::BLOCKSIZE, BLOCKSIZE_OF_THREAD.get());
    let mut choices = CHOICES.lock().expect("the choices");
    *choices += 1;
    CHOICE_MADE.notify_all();
    // Gives another thread time to choose, too, if it can.
    let _ = CHOICE_MADE.wait_timeout_while(choices, Duration::from_millis(300), |choices| *choices < 2);
    0
}

/// Threads that append to one super-chunk: each chunk has the block size that the tuner chose for it.
#[test]
fn concurrent_appends_use_the_blocksize_chosen_for_their_chunk() {
    let mut tuner = blosc2_tuner {
        init: Some(init),
        next_blocksize: Some(choose_for_thread),
        next_cparams: Some(choose_for_thread),
        update: Some(update),
        free: Some(free),
        id: PER_THREAD_TUNER,
        name: c"of threads".as_ptr().cast_mut(),
    };
    // SAFETY: a valid struct with a static name and functions that follow the contract.
    assert_eq!(unsafe { (ours().blosc2_register_tuner)(&mut tuner) }, 0);
    let params = Params { typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(ours(), Store::Memory, Path::new(""), &params);
    // SAFETY: the context of a live super-chunk.
    set_context_field(unsafe { (*schunk.raw()).cctx }, offsets::TUNER_ID, PER_THREAD_TUNER);
    let chunks = [(data(Data::SmoothFloats, 4, 40_000), 4096), (data(Data::Ramp, 4, 40_000), 8192)];
    let shared = SharedSchunk(&schunk);
    std::thread::scope(|scope| {
        for (content, blocksize) in &chunks {
            let shared = &shared;
            scope.spawn(move || {
                BLOCKSIZE_OF_THREAD.set(*blocksize);
                shared.get().append(content).expect("appended");
            });
        }
    });
    for nchunk in 0..2 {
        let content = schunk.decompress(nchunk).expect("a chunk");
        let header = Header::parse(&schunk.get_chunk(nchunk).expect("a chunk"));
        assert!(chunks.contains(&(content, header.blocksize)), "blocks of {} bytes", header.blocksize);
    }
}

/// A tuner whose `init` appends a chunk to [`SCHUNK_TO_APPEND_TO`].
const APPENDING_TUNER: c_int = 1003;
/// NULL for no super-chunk.
static SCHUNK_TO_APPEND_TO: AtomicPtr<blosc2_schunk> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn init_and_append(
    _: *mut c_void,
    _: *mut blosc2_context,
    _: *mut blosc2_context,
) -> c_int {
    let schunk = SCHUNK_TO_APPEND_TO.swap(ptr::null_mut(), Ordering::Relaxed);
    if !schunk.is_null() {
        let content = [7u8; 4000];
        // SAFETY: the test stored a pointer to its super-chunk, which is live during the call.
        let appended = unsafe {
            (Functions::of(ours()).blosc2_schunk_append_buffer)(schunk, content.as_ptr().cast(), 4000)
        };
        assert_eq!(appended, 1);
    }
    0
}

/// If a chunk is appended while a super-chunk is being filled, the fill is rejected: only an empty super-chunk can be
/// filled.
#[test]
fn fill_special_fails_if_the_tuner_appended_a_chunk() {
    let mut tuner = blosc2_tuner {
        init: Some(init_and_append),
        next_blocksize: Some(change_nothing),
        next_cparams: Some(change_nothing),
        update: Some(update),
        free: Some(free),
        id: APPENDING_TUNER,
        name: c"appends".as_ptr().cast_mut(),
    };
    // SAFETY: a valid struct with a static name and functions that follow the contract.
    assert_eq!(unsafe { (ours().blosc2_register_tuner)(&mut tuner) }, 0);
    let params = Params { typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(ours(), Store::Memory, Path::new(""), &params);
    // SAFETY: the parameters of a live super-chunk, with which special chunks are created.
    unsafe { (*(*(*schunk.raw()).storage).cparams).tuner_id = APPENDING_TUNER };
    SCHUNK_TO_APPEND_TO.store(schunk.raw(), Ordering::Relaxed);
    let filled = schunk.fill_special(3000, 1, 4000);
    assert!(SCHUNK_TO_APPEND_TO.load(Ordering::Relaxed).is_null(), "the tuner did not run");
    assert!(filled < 0, "{filled}");
    assert_eq!(schunk.contents(), [7; 4000]);
}

unsafe extern "C" fn change_nothing(_: *mut blosc2_context) -> c_int {
    0
}

/// A super-chunk that is shared by several threads.
struct SharedSchunk<'a>(&'a SuperChunk);

// SAFETY: any number of threads may use a super-chunk of our library.
unsafe impl Sync for SharedSchunk<'_> {}

impl<'a> SharedSchunk<'a> {
    fn get(&self) -> &'a SuperChunk {
        self.0
    }
}
