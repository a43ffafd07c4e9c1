//! User-defined codecs, filters, tuners and thread callbacks: their arguments, and the handling of their results
//! (codecs.md 12, 14, 15, 16; filters.md 1.2; abi.md 4.1). Every scenario runs in a child process for each library:
//! registrations and the threads callback are process-wide.

use libblosc2_test_support::support;

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::support::child::{test_again, test_name};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::SeqCst};

use blosc2::abi::{
    CBool, ContextHead, blosc2_codec, blosc2_context, blosc2_cparams, blosc2_dparams, blosc2_filter,
    blosc2_tuner,
};
use support::calls::{
    BYTE_ORDER_FLAG, Header, OwnedContext, Params, Special, compress, decompress, dparams, special_chunk,
    with_destination,
};
use support::data::Data;
use support::library::{Library, path_of_reference};
use support::random::Random;

const CHILD_VARIABLE: &str = "BLOSC2_CALLBACK_CHILD";

/// Runs the test `name` again in one child per library; the child runs `scenario`.
fn run_in_children(name: &str, scenario: fn(&'static Library)) {
    match std::env::var(CHILD_VARIABLE).as_deref() {
        Ok("reference") => return scenario(Library::reference().expect("the reference")),
        Ok(_) => return scenario(Library::ours()),
        Err(_) => {}
    }
    let mut libraries = vec!["ours"];
    libraries.extend(path_of_reference().map(|_| "reference"));
    for library in libraries {
        let output = test_again(name).env(CHILD_VARIABLE, library).output().expect("the child");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{library}: {}\n{errors}", output.status);
    }
}

/// Return value of the next call of the encoder: a size, or an error code.
static ENCODER_RESULT: AtomicI32 = AtomicI32::new(0);
static DECODER_RESULT: AtomicI32 = AtomicI32::new(0);
static ENCODER_CALLS: AtomicUsize = AtomicUsize::new(0);

/// The arguments of a codec call.
#[derive(Debug, PartialEq)]
struct EncoderArguments {
    len: i32,
    meta: u8,
    typesize: i32,
    blocksize: i32,
    codec_params: usize,
    filter_params: usize,
    chunk: usize,
}

static ENCODER_ARGUMENTS: Mutex<Vec<EncoderArguments>> = Mutex::new(Vec::new());

const OUTPUT_LEN: i32 = i32::MAX;
const INPUT_LEN: i32 = i32::MAX - 1;

unsafe extern "C" fn encode(
    _: *const u8,
    len: i32,
    output: *mut u8,
    output_len: i32,
    meta: u8,
    cparams: *mut blosc2_cparams,
    chunk: *const c_void,
) -> c_int {
    ENCODER_CALLS.fetch_add(1, SeqCst);
    // SAFETY: the library passes a valid struct.
    let cparams = unsafe { &*cparams };
    ENCODER_ARGUMENTS.lock().expect("the list").push(EncoderArguments {
        len,
        meta,
        typesize: cparams.typesize,
        blocksize: cparams.blocksize,
        codec_params: cparams.codec_params.addr(),
        filter_params: cparams.filter_params[0].addr(),
        chunk: chunk.addr(),
    });
    let answer = match ENCODER_RESULT.load(SeqCst) {
        OUTPUT_LEN => output_len + 1,
        INPUT_LEN => len,
        answer => answer,
    };
    for i in 0..answer.clamp(0, output_len) {
        // SAFETY: within `output_len` writable bytes.
        unsafe { *output.add(i as usize) = (i + 1) as u8 };
    }
    answer
}

unsafe extern "C" fn decode(
    _: *const u8,
    _: i32,
    output: *mut u8,
    len: i32,
    _: u8,
    _: *mut blosc2_dparams,
    _: *const c_void,
) -> c_int {
    // SAFETY: `len` writable bytes.
    unsafe { output.write_bytes(0x42, len as usize) };
    match DECODER_RESULT.load(SeqCst) {
        OUTPUT_LEN => len,
        answer => answer,
    }
}

fn codec(id: u8, name: &'static CStr) -> blosc2_codec {
    blosc2_codec {
        compcode: id,
        compname: name.as_ptr().cast_mut(),
        complib: id,
        version: 3,
        encoder: Some(encode),
        decoder: Some(decode),
    }
}

#[test]
fn return_values_of_user_codecs_are_checked() {
    run_in_children(test_name!(), |library| {
        // SAFETY: a valid struct with a static name.
        assert_eq!(unsafe { (library.blosc2_register_codec)(&mut codec(170, c"answers")) }, 0);
        let src = Random::new(40).bytes(4000);
        let mut cparams = Params {
            codec: 170,
            codec_meta: 9,
            typesize: 4,
            blocksize: 1500,
            filters: [0; 6],
            ..Params::default()
        }
        .cparams();
        cparams.codec_params = ptr::without_provenance_mut(0x1234);
        cparams.filter_params[0] = ptr::without_provenance_mut(0x5678);
        let run = |cparams: blosc2_cparams, answer: i32| {
            ENCODER_RESULT.store(answer, SeqCst);
            ENCODER_CALLS.store(0, SeqCst);
            ENCODER_ARGUMENTS.lock().expect("the list").clear();
            let mut context = OwnedContext::for_compression(library, cparams).expect("a context");
            let (rc, mut dest) = with_destination(8000, |dest| context.compress(&src, dest));
            dest.truncate(rc.max(0) as usize);
            (rc, dest)
        };
        for (answer, expected) in [(-1, -3), (-35, -3), (OUTPUT_LEN, -6)] {
            assert_eq!(run(cparams, answer).0, expected, "{}: answer {answer}", library.name);
        }
        let raw = 32 + 3 * 8 + 4000;
        for answer in [0, INPUT_LEN] {
            let (rc, chunk) = run(cparams, answer);
            assert_eq!(rc, raw, "{}: answer {answer}", library.name);
            assert_eq!(decompress(library, 1, &chunk, 4000).as_ref(), Ok(&src));
        }
        let (rc, chunk) = run(cparams, 2);
        assert_eq!(rc, 32 + 3 * (8 + 2), "{}", library.name);
        assert_eq!((chunk[1], chunk[2] >> 5, chunk[0x16], chunk[0x17]), (3, 6, 170, 9), "{}", library.name);
        assert_eq!(ENCODER_CALLS.load(SeqCst), 3);
        for (arguments, len) in ENCODER_ARGUMENTS.lock().expect("the list").iter().zip([1500, 1500, 1000]) {
            let expected = EncoderArguments {
                len,
                meta: 9,
                typesize: 4,
                blocksize: 1500,
                codec_params: 0x1234,
                // Uninitialised in the reference (codecs.md 18.13).
                filter_params: if library.is_reference() { arguments.filter_params } else { 0x5678 },
                chunk: src.as_ptr().addr(),
            };
            assert_eq!(*arguments, expected, "{}", library.name);
        }
        // Split blocks: one call per stream.
        let mut split = cparams;
        split.splitmode = 1;
        assert!(run(split, 2).0 > 0);
        assert_eq!(ENCODER_CALLS.load(SeqCst), 9, "{}", library.name);

        for (answer, expected) in [
            (OUTPUT_LEN, Ok(vec![0x42; 4000])),
            (1499, Err(-3)),
            (1501, Err(-3)),
            (0, Err(-3)),
            (-7, Err(-3)),
        ] {
            DECODER_RESULT.store(answer, SeqCst);
            for nthreads in [1, 4] {
                let got = decompress(library, nthreads, &chunk, 4000);
                assert!(got == expected, "{}: decoder's answer {answer}: {:?}", library.name, got.err());
            }
        }
        // The codec is not called for constant streams, at level 0 and for tiny sources.
        ENCODER_CALLS.store(0, SeqCst);
        let params = Params { codec: 170, typesize: 4, ..Params::default() };
        assert!(compress(library, &params, &[7; 4000], 8000).is_ok());
        assert!(compress(library, &Params { clevel: 0, ..params.clone() }, &src, 8000).is_ok());
        assert!(compress(library, &params, &src[..31], 8000).is_ok());
        assert_eq!(ENCODER_CALLS.load(SeqCst), 0, "{}", library.name);
    });
}

static FORWARD_RESULT: AtomicI32 = AtomicI32::new(0);
static BACKWARD_RESULT: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" fn forward(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    meta: u8,
    _: *mut blosc2_cparams,
    _: u8,
) -> c_int {
    for i in 0..len as usize {
        // SAFETY: both have `len` bytes and do not overlap.
        unsafe { *dest.add(i) = (*src.add(i)).wrapping_add(meta) };
    }
    FORWARD_RESULT.load(SeqCst)
}

unsafe extern "C" fn backward(
    src: *const u8,
    dest: *mut u8,
    len: i32,
    meta: u8,
    _: *mut blosc2_dparams,
    _: u8,
) -> c_int {
    for i in 0..len as usize {
        // SAFETY: as in `forward`.
        unsafe { *dest.add(i) = (*src.add(i)).wrapping_sub(meta) };
    }
    BACKWARD_RESULT.load(SeqCst)
}

fn filter(id: u8, name: &'static CStr) -> blosc2_filter {
    blosc2_filter {
        id,
        name: name.as_ptr().cast_mut(),
        version: 1,
        forward: Some(forward),
        backward: Some(backward),
    }
}

/// The filter turns the content into zeros (chunk.md 3.6). The reference loses it, but reads the chunk of this library.
#[test]
fn content_that_a_user_filter_turns_into_zeros_is_restored() {
    run_in_children(test_name!(), |library| {
        let ours = Library::ours();
        for one in [library, ours] {
            // SAFETY: a valid struct with a static name. A second registration of the same filter has no effect.
            assert_eq!(unsafe { (one.blosc2_register_filter)(&mut filter(170, c"adds")) }, 0);
        }
        let params =
            Params { filters: [170, 0, 0, 0, 0, 0], filters_meta: [249, 0, 0, 0, 0, 0], ..Params::default() };
        for nbytes in [100, 10_000, 200_000] {
            let src = vec![7; nbytes];
            let chunk = compress(ours, &params, &src, nbytes + 100).expect("a chunk of this library");
            assert!(chunk.len() < nbytes / 2, "{} of {nbytes} bytes", chunk.len());
            for nthreads in [1, 4] {
                assert_eq!(
                    decompress(library, nthreads, &chunk, nbytes).as_ref(),
                    Ok(&src),
                    "{}",
                    library.name
                );
            }
            if library.is_reference() {
                let lost = compress(library, &params, &src, nbytes + 100).expect("a chunk of the reference");
                assert_eq!(decompress(library, 1, &lost, nbytes), Ok(vec![0; nbytes]));
            }
        }
    });
}

#[test]
fn return_values_of_user_filters_are_checked() {
    run_in_children(test_name!(), |library| {
        // SAFETY: a valid struct with a static name.
        assert_eq!(unsafe { (library.blosc2_register_filter)(&mut filter(170, c"answers")) }, 0);
        let src = Data::Ramp.generate(&mut Random::new(41), 4, 40_000);
        for filters in
            [[170, 0, 0, 0, 0, 0], [170, 0, 0, 0, 170, 1], [1, 170, 0, 0, 0, 0], [3, 0, 170, 0, 0, 0]]
        {
            for nthreads in [1, 4] {
                let params = Params {
                    typesize: 4,
                    blocksize: 4000,
                    filters,
                    filters_meta: [3, 5, 7, 1, 1, 0],
                    nthreads,
                    ..Params::default()
                };
                for (answer, expected) in [(1, -18), (-1, -18), (-9, -18)] {
                    FORWARD_RESULT.store(answer, SeqCst);
                    let got = compress(library, &params, &src, 50_000).err();
                    // The case of three filters, which change the source, is not tested here.
                    assert_eq!(got, Some(expected), "{}: forward {answer}", library.name);
                }
            }
        }
        FORWARD_RESULT.store(0, SeqCst);
        let params = Params {
            typesize: 4,
            blocksize: 4000,
            filters: [0, 0, 170, 0, 0, 1],
            filters_meta: [0, 0, 7, 0, 0, 0],
            ..Params::default()
        };
        let chunk = compress(library, &params, &src, 50_000).expect("a chunk");
        for (answer, expected) in [(0, Ok(&src)), (-1, Err(-1)), (-9, Err(-9)), (1, Ok(&src))] {
            // A positive return value of the filter that is undone last is no error (filters.md 15 Q3).
            BACKWARD_RESULT.store(answer, SeqCst);
            for nthreads in [1, 4] {
                let got = decompress(library, nthreads, &chunk, src.len());
                assert!(
                    got.as_ref() == expected.as_ref().map(|src| *src),
                    "{}: backward {answer}: {:?}",
                    library.name,
                    got.err()
                );
            }
        }
    });
}

#[test]
fn registration_checks_ids_names_and_table_space() {
    run_in_children(test_name!(), |library| {
        let register_codec = |id, name| {
            // SAFETY: a valid struct with a static name.
            unsafe { (library.blosc2_register_codec)(&mut codec(id, name)) }
        };
        let register_filter = |id, name| {
            // SAFETY: as above.
            unsafe { (library.blosc2_register_filter)(&mut filter(id, name)) }
        };
        let register_tuner = |id, name: &'static CStr| {
            let mut tuner = blosc2_tuner {
                init: Some(tuner_init),
                next_blocksize: Some(next_blocksize),
                next_cparams: Some(next_cparams),
                update: Some(update),
                free: Some(tuner_free),
                id,
                name: name.as_ptr().cast_mut(),
            };
            // SAFETY: as above.
            unsafe { (library.blosc2_register_tuner)(&mut tuner) }
        };
        assert_eq!([0, 159].map(|id| register_codec(id, c"a")), [-8, -8], "{}", library.name);
        assert_eq!([160, 255].map(|id| register_codec(id, c"a")), [0, 0], "{}", library.name);
        assert_eq!(register_codec(160, c"a"), 0, "{}: the same again", library.name);
        assert_eq!(register_codec(160, c"b"), -8, "{}: another name", library.name);
        assert_eq!([0, 159].map(|id| register_filter(id, c"a")), [-1, -1], "{}", library.name);
        assert_eq!([160, 255].map(|id| register_filter(id, c"a")), [0, 0], "{}", library.name);
        assert_eq!(register_filter(160, c"a"), 0, "{}: the same again", library.name);
        assert_eq!(register_filter(160, c"b"), -1, "{}: another name", library.name);
        assert_eq!([0, 31, 159].map(|id| register_tuner(id, c"a")), [-1; 3], "{}", library.name);
        assert_eq!(register_tuner(100_000, c"a"), 0, "{}", library.name);
        assert_eq!(register_tuner(100_000, c"b"), -1, "{}: another name", library.name);
        // btune, the one above and 253 others fill the table of 255.
        for id in 0..253 {
            assert_eq!(register_tuner(1000 + id, c"a"), 0, "{}: tuner {id}", library.name);
        }
        assert_eq!(register_tuner(5000, c"a"), -7, "{}: a full table", library.name);
        assert_eq!(register_tuner(1000, c"a"), -7, "{}: known, in a full table", library.name);

        let mut name: *const c_char = ptr::null();
        // SAFETY: valid out-pointer; names are static.
        unsafe {
            assert_eq!((library.blosc2_compcode_to_compname)(255, &mut name), 255);
            assert_eq!(CStr::from_ptr(name), c"a");
            assert_eq!((library.blosc2_compname_to_compcode)(c"a".as_ptr()), 160, "the first of that name");
            // A second init has no effect; the next init after `blosc2_destroy()` removes them.
            (library.blosc2_init)();
            assert_eq!((library.blosc2_compname_to_compcode)(c"a".as_ptr()), 160, "{}", library.name);
            (library.blosc2_destroy)();
            (library.blosc2_init)();
            assert_eq!((library.blosc2_compname_to_compcode)(c"a".as_ptr()), -1, "{}", library.name);
        }
    });
}

/// One letter per call of a tuner hook, in order.
static HOOK_CALLS: Mutex<String> = Mutex::new(String::new());
/// Whether `init` stores state in the context, the return value of the next hook, and the block size it sets.
static KEEPS_STATE: AtomicI32 = AtomicI32::new(0);
static HOOK_RESULT: AtomicI32 = AtomicI32::new(0);
static HOOK_BLOCKSIZE: AtomicI32 = AtomicI32::new(0);
static UPDATED_SIZE: AtomicI32 = AtomicI32::new(-1);

fn record_call(letter: char) {
    HOOK_CALLS.lock().expect("the calls").push(letter);
}

fn take_calls() -> String {
    std::mem::take(&mut HOOK_CALLS.lock().expect("the calls"))
}

/// Returns the part of a context whose layout tuners rely on (abi.md 4.3).
unsafe fn context_head<'a>(context: *mut blosc2_context) -> &'a mut ContextHead {
    // SAFETY: the caller passes a live context, which only the hook uses during the call.
    unsafe { &mut *context.cast::<ContextHead>() }
}

unsafe extern "C" fn tuner_init(
    config: *mut c_void,
    context: *mut blosc2_context,
    other: *mut blosc2_context,
) -> c_int {
    record_call('i');
    assert!(other.is_null() && !context.is_null());
    if KEEPS_STATE.load(SeqCst) != 0 {
        // SAFETY: a live context.
        unsafe { context_head(context) }.tuner_params = config;
    }
    HOOK_RESULT.load(SeqCst)
}

unsafe extern "C" fn next_blocksize(context: *mut blosc2_context) -> c_int {
    record_call('b');
    // SAFETY: as in `tuner_init`.
    unsafe { context_head(context) }.blocksize = HOOK_BLOCKSIZE.load(SeqCst);
    HOOK_RESULT.load(SeqCst)
}

unsafe extern "C" fn next_cparams(context: *mut blosc2_context) -> c_int {
    record_call('c');
    // SAFETY: as in `tuner_init`.
    unsafe { context_head(context) }.blocksize = HOOK_BLOCKSIZE.load(SeqCst);
    HOOK_RESULT.load(SeqCst)
}

unsafe extern "C" fn update(context: *mut blosc2_context, seconds: f64) -> c_int {
    record_call('u');
    assert!(seconds >= 0.0);
    // SAFETY: as in `tuner_init`.
    UPDATED_SIZE.store(unsafe { context_head(context) }.destsize, SeqCst);
    HOOK_RESULT.load(SeqCst)
}

unsafe extern "C" fn tuner_free(_: *mut blosc2_context) -> c_int {
    record_call('f');
    0
}

#[test]
fn tuner_hooks_are_called_in_order() {
    run_in_children(test_name!(), |library| {
        let mut tuner = blosc2_tuner {
            init: Some(tuner_init),
            next_blocksize: Some(next_blocksize),
            next_cparams: Some(next_cparams),
            update: Some(update),
            free: Some(tuner_free),
            id: 180,
            name: c"mock".as_ptr().cast_mut(),
        };
        // SAFETY: a valid struct with a static name.
        assert_eq!(unsafe { (library.blosc2_register_tuner)(&mut tuner) }, 0);
        let src = Data::Text.generate(&mut Random::new(42), 4, 30_000);
        let mut state = 7u64;
        let cparams = |use_dict: bool| {
            let params = Params { typesize: 4, codec: 1, use_dict, ..Params::default() };
            let mut cparams = params.cparams();
            cparams.tuner_id = 180;
            cparams.tuner_params = (&raw const state).cast_mut().cast();
            cparams
        };
        for (keeps_state, use_dict, expected) in [
            (false, false, ["i", "b", "b", ""]),
            (true, false, ["i", "cu", "cu", "f"]),
            (true, true, ["i", "cuu", "cuu", "f"]),
        ] {
            KEEPS_STATE.store(keeps_state.into(), SeqCst);
            HOOK_RESULT.store(0, SeqCst);
            let mut context = OwnedContext::for_compression(library, cparams(use_dict)).expect("a context");
            assert_eq!(take_calls(), expected[0], "{}: creation", library.name);
            // The reference also reports its training pass as a compression; our library reports each compression
            // once.
            let expected = match library.is_reference() {
                true => expected,
                false => expected.map(|calls| if calls == "cuu" { "cu" } else { calls }),
            };
            for (round, blocksize) in [(1, 4000), (2, 6000)] {
                HOOK_BLOCKSIZE.store(blocksize, SeqCst);
                let (rc, dest) = with_destination(90_000, |dest| context.compress(&src, dest));
                assert!(rc > 0, "{}: {rc}", library.name);
                assert_eq!(take_calls(), expected[round], "{}: compression {round}", library.name);
                if keeps_state {
                    assert_eq!(UPDATED_SIZE.load(SeqCst), rc, "{}", library.name);
                }
                let chunk = &dest[..rc as usize];
                // The reference writes a wrong header if the size changes between calls (chunk.md 10.1).
                if !library.is_reference() {
                    assert_eq!(Header::parse(chunk).blocksize, blocksize);
                    assert_eq!(decompress(library, 1, chunk, src.len()).as_ref(), Ok(&src));
                }
            }
            for hook_fails in [-1, -12] {
                HOOK_RESULT.store(hook_fails, SeqCst);
                let (rc, _) = with_destination(90_000, |dest| context.compress(&src, dest));
                assert_eq!(rc, -36, "{}: a hook that fails", library.name);
            }
            take_calls();
            drop(context);
            assert_eq!(take_calls(), expected[3], "{}: release", library.name);
        }
        assert!(
            OwnedContext::for_compression(library, cparams(false)).is_none(),
            "{}: init fails",
            library.name
        );
        take_calls();
        HOOK_RESULT.store(0, SeqCst);
        let mut params = Params { typesize: 4, ..Params::default() }.cparams();
        params.tuner_id = 180;
        let mut dest = [0u8; 32];
        // SAFETY: a destination of its stated length.
        let rc = unsafe { (library.blosc2_chunk_zeros)(params, 4000, dest.as_mut_ptr().cast(), 32) };
        assert_eq!(rc, 32, "{}", library.name);
        assert_eq!(take_calls(), "ib", "{}: a special chunk", library.name);
        state += 1;
        assert_eq!(state, 8);
    });
}

static JOB_COUNTS: Mutex<Vec<c_int>> = Mutex::new(Vec::new());

unsafe extern "C" fn run_jobs_sequentially(
    data: *mut c_void,
    dojob: Option<unsafe extern "C" fn(*mut c_void)>,
    numjobs: c_int,
    size: usize,
    jobs: *mut c_void,
) {
    assert_eq!(data.addr(), 0xABC);
    JOB_COUNTS.lock().expect("the jobs").push(numjobs);
    let dojob = dojob.expect("a job");
    for i in 0..numjobs as usize {
        // SAFETY: the contract of the callback: one call per element.
        unsafe { dojob(jobs.byte_add(i * size)) };
    }
}

unsafe extern "C" fn run_jobs_on_threads(
    _: *mut c_void,
    dojob: Option<unsafe extern "C" fn(*mut c_void)>,
    numjobs: c_int,
    size: usize,
    jobs: *mut c_void,
) {
    JOB_COUNTS.lock().expect("the jobs").push(numjobs);
    let dojob = dojob.expect("a job");
    let jobs = jobs.expose_provenance();
    std::thread::scope(|scope| {
        // In reverse order.
        for i in (0..numjobs as usize).rev() {
            scope.spawn(move || {
                // SAFETY: as in `run_jobs_sequentially`.
                unsafe { dojob(ptr::with_exposed_provenance_mut::<c_void>(jobs + i * size)) };
            });
        }
    });
}

#[test]
fn threads_callback_runs_the_jobs() {
    run_in_children(test_name!(), |library| {
        let src = Data::Mixed.generate(&mut Random::new(43), 4, 500_000);
        let params = Params { codec: 1, typesize: 4, blocksize: 20_000, nthreads: 3, ..Params::default() };
        let serial =
            compress(library, &Params { nthreads: 1, ..params.clone() }, &src, 600_000).expect("a chunk");
        for callback in [run_jobs_sequentially as unsafe extern "C" fn(_, _, _, _, _), run_jobs_on_threads] {
            // SAFETY: set before any context of this loop exists.
            unsafe {
                (library.blosc2_set_threads_callback)(Some(callback), ptr::without_provenance_mut(0xABC))
            };
            let chunk = compress(library, &params, &src, 600_000).expect("a chunk");
            assert_eq!(*JOB_COUNTS.lock().expect("the jobs"), [3], "{}", library.name);
            if callback as usize == run_jobs_sequentially as *const () as usize || !library.is_reference() {
                assert!(chunk == serial, "{}: other bytes than serially", library.name);
            }
            assert_eq!(decompress(library, 5, &chunk, src.len()).as_ref(), Ok(&src));
            assert_eq!(
                std::mem::take(&mut *JOB_COUNTS.lock().expect("the jobs")),
                [3, 5],
                "{}",
                library.name
            );
            // One block, or one thread: the callback is not called.
            assert!(compress(library, &params, &src[..30_000], 40_000).is_ok());
            assert!(decompress(library, 1, &chunk, src.len()).is_ok());
            assert!(JOB_COUNTS.lock().expect("the jobs").is_empty(), "{}", library.name);
        }
        // SAFETY: no context is alive.
        unsafe { (library.blosc2_set_threads_callback)(None, ptr::null_mut()) };
        assert!(decompress(library, 5, &serial, src.len()).is_ok());
        assert!(JOB_COUNTS.lock().expect("the jobs").is_empty(), "{}", library.name);
    });
}

/// Instrumented chunks (chunk.md 1.18, codecs.md 16).
#[test]
fn instrumented_chunks_contain_one_record_per_stream() {
    run_in_children(test_name!(), |library| {
        let src = Data::Ramp.generate(&mut Random::new(44), 4, 5000);
        for (splitmode, len, cbytes, nbytes, blocksize) in [(1, 5000, 452, 320, 64), (2, 4600, 152, 80, 16)] {
            let mut cparams =
                Params { codec: 1, typesize: 4, blocksize: 1000, splitmode, ..Params::default() }.cparams();
            cparams.instr_codec = CBool::TRUE;
            for nthreads in [1, 4] {
                cparams.nthreads = nthreads;
                let mut context = OwnedContext::for_compression(library, cparams).expect("a context");
                let (rc, dest) = with_destination(6000, |dest| context.compress(&src[..len], dest));
                assert_eq!(rc, cbytes, "{}", library.name);
                let chunk = &dest[..rc as usize];
                let header = Header::parse(chunk);
                assert_eq!(
                    (header.nbytes, header.blocksize, header.blosc2_flags),
                    (nbytes, blocksize, 0x80 | BYTE_ORDER_FLAG)
                );
                let records = decompress(library, 1, chunk, nbytes as usize).expect("records");
                for record in records.chunks(16) {
                    let ratio = f32::from_ne_bytes(record[..4].try_into().expect("four bytes"));
                    assert!(ratio > 0.0 && record[12] <= 1, "{}: {record:02x?}", library.name);
                }
            }
        }
        // Incompressible: 250 bytes in a stream of 254.
        let noise = Random::new(45).bytes(250);
        let mut cparams = Params { codec: 1, typesize: 1, filters: [0; 6], ..Params::default() }.cparams();
        cparams.instr_codec = CBool::TRUE;
        let mut context = OwnedContext::for_compression(library, cparams).expect("a context");
        let (rc, dest) = with_destination(1000, |dest| context.compress(&noise, dest));
        assert_eq!(rc, 32 + 4 + 4 + 16, "{}", library.name);
        let records = decompress(library, 1, &dest[..rc as usize], 16).expect("a record");
        assert_eq!(
            f32::from_ne_bytes(records[..4].try_into().expect("four bytes")),
            250.0 / 254.0,
            "{}",
            library.name
        );
        // Stored uncompressed: no records, and readable (chunk.md 10.19).
        if !library.is_reference() {
            cparams.clevel = 0;
            let mut context = OwnedContext::for_compression(library, cparams).expect("a context");
            let (rc, dest) = with_destination(1000, |dest| context.compress(&noise, dest));
            assert_eq!(decompress(library, 1, &dest[..rc as usize], 250).as_ref(), Ok(&noise));
        }
        let zeros = special_chunk(library, &Params::default(), Special::Zeros, 80, 32).expect("zeros");
        let mut reader = OwnedContext::for_decompression(library, dparams(1));
        assert_eq!(with_destination(80, |dest| reader.decompress(&zeros, dest)).0, 80);
    });
}

/// `new_nthreads` of a live context (abi.md 16.31): the result is correct for every value.
#[test]
fn new_nthreads_of_a_live_context_takes_effect() {
    run_in_children(test_name!(), |library| {
        let src = Data::Mixed.generate(&mut Random::new(46), 4, 500_000);
        let params = Params { codec: 1, typesize: 4, blocksize: 20_000, nthreads: 2, ..Params::default() };
        let mut context = OwnedContext::for_compression(library, params.cparams()).expect("a context");
        for nthreads in [5, 0, 1, -3, 4, 2] {
            // SAFETY: a live context that is idle.
            unsafe { context_head(context.raw()) }.new_nthreads = nthreads;
            let (rc, dest) = with_destination(600_000, |dest| context.compress(&src, dest));
            assert!(rc > 0, "{}: {nthreads} threads: {rc}", library.name);
            assert_eq!(decompress(library, 1, &dest[..rc as usize], src.len()).as_ref(), Ok(&src));
            if nthreads > 0 {
                assert_eq!(context.cparams().nthreads, nthreads, "{}", library.name);
            }
        }
    });
}
