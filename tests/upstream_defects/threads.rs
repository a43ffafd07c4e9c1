//! Threads: the caller's threads callback, contexts that share workers, and the fields of the layout for threads
//! (chunk.md 5.5, 6, 10.25, checks 35 to 43, abi.md 16.22 and 16.31). Each test runs in a separate process.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use blosc2::abi::blosc2_prefilter_params;

use crate::checks::{
    CODECS, DELTA, SHUFFLE, assert_items, assert_ours_decodes, compressed, context_field, data,
    large_destsize, offsets, ours, pipeline, preparams, set_context_field,
};
use crate::support::calls::{Header, OwnedContext, Params, dparams, getitem, vlcompress, with_destination};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::library::Context;
use crate::support::random::Random;

type Job = Option<unsafe extern "C" fn(*mut c_void)>;

/// Records the calls of a threads callback.
#[derive(Default)]
struct CallCounter {
    calls: AtomicUsize,
    jobs: AtomicUsize,
}

impl CallCounter {
    fn record(data: *mut c_void, numjobs: c_int, elsize: usize) {
        assert!(numjobs > 1 && elsize > 0);
        // SAFETY: the tests install static data of this type.
        let seen = unsafe { &*data.cast::<CallCounter>() };
        seen.calls.fetch_add(1, Relaxed);
        seen.jobs.fetch_add(numjobs as usize, Relaxed);
    }

    fn take_counts(&self) -> (usize, usize) {
        (self.calls.swap(0, Relaxed), self.jobs.swap(0, Relaxed))
    }
}

unsafe extern "C" fn run_in_order(
    data: *mut c_void,
    job: Job,
    numjobs: c_int,
    elsize: usize,
    jobs: *mut c_void,
) {
    CallCounter::record(data, numjobs, elsize);
    for i in 0..numjobs as usize {
        // SAFETY: as the contract requires, each record is used once.
        unsafe { job.expect("a job")(jobs.byte_add(i * elsize)) };
    }
}

unsafe extern "C" fn run_backwards(
    data: *mut c_void,
    job: Job,
    numjobs: c_int,
    elsize: usize,
    jobs: *mut c_void,
) {
    CallCounter::record(data, numjobs, elsize);
    for i in (0..numjobs as usize).rev() {
        // SAFETY: as in `run_in_order`.
        unsafe { job.expect("a job")(jobs.byte_add(i * elsize)) };
    }
}

unsafe extern "C" fn run_in_threads(
    data: *mut c_void,
    job: Job,
    numjobs: c_int,
    elsize: usize,
    jobs: *mut c_void,
) {
    CallCounter::record(data, numjobs, elsize);
    let (job, jobs) = (job.expect("a job"), jobs.addr());
    std::thread::scope(|scope| {
        for i in 0..numjobs as usize {
            // SAFETY: as in `run_in_order`; all threads end before this returns.
            scope.spawn(move || unsafe {
                job(std::ptr::with_exposed_provenance_mut(jobs + i * elsize));
            });
        }
        // The callback uses the address with the provenance of the array.
        std::hint::black_box(jobs);
    });
}

type Callback = unsafe extern "C" fn(*mut c_void, Job, c_int, usize, *mut c_void);

fn install_callback(callback: Option<Callback>) -> &'static CallCounter {
    let seen: &'static CallCounter = Box::leak(Box::default());
    // SAFETY: the callbacks above follow the contract, and the data are static.
    unsafe {
        (ours().blosc2_set_threads_callback)(callback, std::ptr::from_ref(seen).cast_mut().cast());
    }
    seen
}

fn params(nthreads: i16) -> Params {
    Params { nthreads, codec: 1, typesize: 4, blocksize: 10_000, ..Params::default() }
}

/// Each job is passed to the callback once, with as many records as threads, and the result is the usual one.
#[test]
fn chunk_6_5_threads_callback_gets_each_job_once() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 4, 100_000);
        for filters in [&[SHUFFLE][..], &[DELTA, SHUFFLE], &[SHUFFLE, DELTA]] {
            let params = Params { filters: pipeline(filters), ..params(5) };
            let expected = compressed(&Params { nthreads: 1, ..params.clone() }, &src);
            for callback in [run_in_order as Callback, run_backwards, run_in_threads] {
                let seen = install_callback(Some(callback));
                for _ in 0..3 {
                    assert_eq!(compressed(&params, &src), expected);
                    assert_eq!(seen.take_counts(), (1, 5));
                    let mut reader = OwnedContext::for_decompression(ours(), dparams(3));
                    let (rc, dest) = with_destination(src.len(), |dest| reader.decompress(&expected, dest));
                    assert!(rc == src.len() as i32 && dest == src, "{rc}");
                    assert_eq!(seen.take_counts(), (1, 3));
                    assert_eq!(reader.set_maskout(&mut [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]), 0);
                    let (rc, dest) = with_destination(src.len(), |dest| reader.decompress(&expected, dest));
                    assert!(rc == src.len() as i32 && dest[10_000..30_000] == src[10_000..30_000], "{rc}");
                    assert_eq!(seen.take_counts().1 % 3, 0);
                    // Serial, whatever the number of threads (chunk.md 6.2).
                    assert_items(&mut reader, &expected, &src, &mut Random::new(1), 10);
                    compressed(&params, &src[..19_999]);
                    compressed(&Params { nthreads: 1, ..params.clone() }, &src);
                    assert_eq!(seen.take_counts(), (0, 0));
                }
                let blocks: Vec<Vec<u8>> = src.chunks(7000).map(<[u8]>::to_vec).collect();
                let chunk = vlcompress(ours(), &params, &blocks, 200_000).expect("a chunk");
                assert_eq!(seen.take_counts(), (1, 5));
                let mut reader = OwnedContext::for_decompression(ours(), dparams(3));
                assert!(reader.vldecompress(&chunk, blocks.len()).as_ref() == Ok(&blocks));
                assert_eq!(seen.take_counts(), (1, 3));
                assert!(reader.vldecompress_block(&chunk, 3).as_ref() == Ok(&blocks[3]));
                assert_eq!(seen.take_counts(), (0, 0));
            }
            install_callback(None);
        }
    });
}

/// The callback is removed while contexts use it: they continue with the library's threads, and use it again once it
/// is set again.
#[test]
fn chunk_10_25_contexts_work_after_the_callback_is_removed() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 4, 100_000);
        let expected = compressed(&params(1), &src);
        let mut writer = OwnedContext::for_compression(ours(), params(4).cparams()).expect("a context");
        let mut reader = OwnedContext::for_decompression(ours(), dparams(4));
        let mut use_both = || {
            let (rc, dest) = with_destination(large_destsize(src.len()), |dest| writer.compress(&src, dest));
            assert!(dest[..rc as usize] == expected, "{rc}");
            let (rc, dest) = with_destination(src.len(), |dest| reader.decompress(&expected, dest));
            assert!(rc == src.len() as i32 && dest == src, "{rc}");
        };
        use_both();
        for _ in 0..3 {
            let seen = install_callback(Some(run_in_order));
            use_both();
            assert_eq!(seen.take_counts(), (2, 8));
            install_callback(None);
            use_both();
            assert_eq!(seen.take_counts(), (0, 0));
        }
        let seen = install_callback(Some(run_in_threads));
        // SAFETY: no arguments.
        unsafe { (ours().blosc2_destroy)() };
        use_both();
        // The callback stays registered after `blosc2_destroy()` (abi.md 9.1).
        assert_eq!(seen.take_counts(), (2, 8));
    });
}

/// Errors of jobs that run in the callback are returned to the caller.
#[test]
fn chunk_6_5_errors_of_jobs_in_the_callback_are_returned() {
    in_new_process(test_name!(), || {
        let src = data(Data::Text, 4, 100_000);
        let chunk = compressed(&Params { codec: 5, splitmode: 2, ..params(1) }, &src);
        let start = i32::from_le_bytes(chunk[52..56].try_into().expect("four bytes")) as usize;
        let mut bad = chunk.clone();
        bad[start + 4] ^= 0xFF;
        for callback in [None, Some(run_in_order as Callback), Some(run_backwards), Some(run_in_threads)] {
            install_callback(callback);
            let mut reader = OwnedContext::for_decompression(ours(), dparams(4));
            for _ in 0..20 {
                assert_eq!(with_destination(src.len(), |dest| reader.decompress(&bad, dest)).0, -3);
                let (rc, dest) = with_destination(src.len(), |dest| reader.decompress(&chunk, dest));
                assert!(rc == src.len() as i32 && dest == src, "{rc}");
            }
        }
    });
}

fn thread_pool_address(context: Context) -> usize {
    context_field::<*const c_void>(context, offsets::THREAD_POOL).addr()
}

#[test]
fn chunk_5_5_context_fields_after_jobs_follow_the_abi() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 4, 100_000);
        let mut contexts: Vec<_> = [1, 4, 4, 2]
            .map(|n| OwnedContext::for_compression(ours(), params(n).cparams()).expect("a context"))
            .into();
        for context in &mut contexts {
            assert_eq!(thread_pool_address(context.raw()), 0, "nothing is started by making a context");
            assert!(with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest)).0 > 0);
        }
        let pools: Vec<_> = contexts.iter().map(|context| thread_pool_address(context.raw())).collect();
        assert!(pools[0] == 0 && pools[1] != 0 && pools[1] == pools[2] && pools[2] != pools[3], "{pools:?}");
        let backends: Vec<i16> =
            contexts.iter().map(|c| context_field(c.raw(), offsets::THREAD_BACKEND)).collect();
        assert_eq!(backends, [0, 1, 1, 1]);
        let seen = install_callback(Some(run_in_order));
        assert!(with_destination(large_destsize(src.len()), |dest| contexts[1].compress(&src, dest)).0 > 0);
        assert_eq!(
            (context_field::<i16>(contexts[1].raw(), offsets::THREAD_BACKEND), seen.take_counts()),
            (2, (1, 4))
        );
        install_callback(None);

        let mut reader = OwnedContext::for_decompression(ours(), dparams(2));
        assert_eq!(context_field::<c_int>(reader.raw(), offsets::DO_COMPRESS), 0);
        let dictionary = Params { codec: 5, use_dict: true, ..params(1) };
        for (params, format, use_dict) in [(dictionary, 4, 1), (params(1), 1, 0)] {
            let chunk = compressed(&params, &src);
            assert_eq!(reader.set_maskout(&mut [0; 10]), 0);
            assert!(!context_field::<*const c_void>(reader.raw(), offsets::BLOCK_MASKOUT).is_null());
            assert_eq!(with_destination(src.len(), |dest| reader.decompress(&chunk, dest)).0, 100_000);
            assert!(context_field::<*const c_void>(reader.raw(), offsets::BLOCK_MASKOUT).is_null());
            assert_eq!(context_field::<c_int>(reader.raw(), offsets::USE_DICT), use_dict);
            assert_eq!(context_field::<c_int>(reader.raw(), offsets::COMPCODE), format);
            assert_eq!(context_field::<i32>(reader.raw(), offsets::TYPESIZE), 4);
            assert_eq!(
                context_field::<i32>(reader.raw(), offsets::BLOCKSIZE),
                Header::parse(&chunk).blocksize
            );
        }
        assert_eq!(
            thread_pool_address(reader.raw()),
            pools[3],
            "contexts of two threads share their workers"
        );
    });
}

/// Writing `new_nthreads` changes the number of threads of the next job (check 39).
#[test]
fn abi_16_31_new_nthreads_sets_the_threads_of_the_next_job() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 4, 100_000);
        let expected = compressed(&params(1), &src);
        let seen = install_callback(Some(run_in_order));
        let mut writer = OwnedContext::for_compression(ours(), params(2).cparams()).expect("a context");
        let mut reader = OwnedContext::for_decompression(ours(), dparams(2));
        for (new, jobs, nthreads) in
            [(2, 2, 2), (5, 5, 5), (0, 0, 5), (-7, 0, 5), (1, 0, 1), (3, 3, 3), (i16::MIN, 0, 3)]
        {
            for context in [writer.raw(), reader.raw()] {
                set_context_field::<i16>(context, offsets::NEW_NTHREADS, new);
            }
            let (rc, dest) = with_destination(large_destsize(src.len()), |dest| writer.compress(&src, dest));
            assert!(dest[..rc as usize] == expected, "{new}: {rc}");
            assert_eq!(seen.take_counts().1, jobs, "{new}");
            let (rc, dest) = with_destination(src.len(), |dest| reader.decompress(&expected, dest));
            assert!(rc == src.len() as i32 && dest == src, "{new}: {rc}");
            assert_eq!(seen.take_counts().1, jobs, "{new}");
            for context in [writer.raw(), reader.raw()] {
                assert_eq!(context_field::<i16>(context, offsets::NTHREADS), nthreads, "{new}");
            }
            assert_eq!((writer.cparams().nthreads, reader.dparams().nthreads), (nthreads, nthreads));
        }
    });
}

#[cfg(unix)]
fn count_threads() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the process");
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:")).expect("a number of threads");
    line.trim().parse().expect("a number")
}

/// Threads are started by the first job that can use them, are shared, and end with `blosc2_destroy()` (check 38,
/// abi.md 9.3 and 16.20).
#[cfg(unix)]
#[test]
fn chunk_6_1_threads_start_on_demand_and_end_with_destroy() {
    in_new_process(test_name!(), || {
        // Calls of less than a millisecond may run on the caller's thread.
        let src = data(Data::SmoothFloats, 4, 16 << 20);
        let expected = compressed(&params(1), &src);
        let before = count_threads();
        let has_workers = std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1);
        let gone = || {
            // A joined thread may still be in the kernel's thread list for a short time.
            for _ in 0..5000 {
                if count_threads() == before {
                    return true;
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            false
        };
        let mut contexts: Vec<_> = (0..5)
            .map(|_| OwnedContext::for_compression(ours(), params(4).cparams()).expect("a context"))
            .collect();
        let mut reader = OwnedContext::for_decompression(ours(), dparams(4));
        assert_eq!(count_threads(), before, "no thread for a context");
        for round in 0..4 {
            for context in &mut contexts {
                let (rc, dest) =
                    with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest));
                assert!(dest[..rc as usize] == expected, "{rc}");
                let (rc, dest) = with_destination(src.len(), |dest| reader.decompress(&expected, dest));
                assert!(rc == src.len() as i32 && dest == src, "{rc}");
                let now = count_threads();
                assert!(
                    (now > before) == has_workers && now <= before + 4,
                    "{before} threads before, {now} now"
                );
            }
            // SAFETY: no arguments; a second destroy has no effect.
            unsafe {
                (ours().blosc2_destroy)();
                if round % 2 == 0 {
                    (ours().blosc2_destroy)();
                    (ours().blosc2_init)();
                }
            }
            assert!(gone(), "{} threads, {before} before", count_threads());
        }
        drop(contexts);
        drop(reader);
        assert!(gone());
    });
}

/// The bytes of a chunk do not depend on the number of threads (check 40, design 8).
#[test]
fn chunk_6_3_output_is_deterministic() {
    in_new_process(test_name!(), || {
        let src = data(Data::Mixed, 4, 300_000);
        for codec in CODECS {
            for use_dict in [false, true] {
                if use_dict && !crate::checks::DICTIONARY_CODECS.contains(&codec) {
                    continue;
                }
                for filters in [&[SHUFFLE][..], &[DELTA, SHUFFLE]] {
                    let filters = pipeline(filters);
                    let params = Params { codec, use_dict, filters, clevel: 3, ..params(1) };
                    let expected = compressed(&params, &src);
                    for nthreads in [2, 4, 7] {
                        let params = Params { nthreads, ..params.clone() };
                        let mut context =
                            OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
                        for destsize in [expected.len(), expected.len() + 5, large_destsize(src.len())] {
                            let (rc, dest) = with_destination(destsize, |dest| context.compress(&src, dest));
                            assert!(dest[..rc as usize] == expected, "codec {codec}, {nthreads}: {rc}");
                        }
                    }
                }
            }
        }
    });
}

/// Contexts of eight threads that share one set of workers (check 43).
#[test]
fn chunk_6_6_contexts_of_many_threads_share_the_workers() {
    in_new_process(test_name!(), || {
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                scope.spawn(move || {
                    let random = &mut Random::new(thread);
                    let src = data(Data::ALL[thread as usize], 4, 150_000 + thread as usize);
                    let pipelines: [&[u8]; 3] = [&[SHUFFLE], &[DELTA, SHUFFLE], &[2]];
                    let filters = pipeline(pipelines[random.below(3)]);
                    let codec = *random.pick(&[0, 1, 5]);
                    let params = Params { codec, filters, ..params(4) };
                    let expected = compressed(&Params { nthreads: 1, ..params.clone() }, &src);
                    let mut writer =
                        OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
                    let mut reader = OwnedContext::for_decompression(ours(), dparams(4));
                    for _ in 0..30 {
                        let (rc, dest) =
                            with_destination(large_destsize(src.len()), |dest| writer.compress(&src, dest));
                        assert!(dest[..rc as usize] == expected, "{rc}");
                        let (rc, dest) =
                            with_destination(src.len(), |dest| reader.decompress(&expected, dest));
                        assert!(rc == src.len() as i32 && dest == src, "{rc}");
                        assert_items(&mut reader, &expected, &src, random, 3);
                    }
                });
            }
        });
    });
}

/// The functions without a context, and their settings, from several threads (abi.md 16.21).
#[test]
fn abi_16_21_global_functions_work_from_many_threads() {
    in_new_process(test_name!(), || {
        let names = [c"blosclz", c"lz4", c"lz4hc", c"zlib", c"zstd"];
        std::thread::scope(|scope| {
            for thread in 0..6u64 {
                scope.spawn(move || {
                    let random = &mut Random::new(thread);
                    let src = data(Data::SmoothFloats, 4, 100_000 + 4 * thread as usize);
                    for _ in 0..60 {
                        // SAFETY: plain setters, terminated names; source and destination of their lengths.
                        unsafe {
                            let library = ours();
                            (library.blosc1_set_compressor)(random.pick(&names).as_ptr());
                            (library.blosc2_set_nthreads)(1 + random.below(4) as i16);
                            (library.blosc1_set_blocksize)(*random.pick(&[0, 4096, 10_001]));
                            (library.blosc2_set_delta)(random.below(2) as i32);
                            (library.blosc1_set_splitmode)(1 + random.below(4) as i32);
                            let mut chunk = vec![0u8; 300_000];
                            let (from, to) = (src.as_ptr().cast(), chunk.as_mut_ptr().cast());
                            let rc = (library.blosc2_compress)(5, 1, 4, from, src.len() as i32, to, 300_000);
                            assert!(rc > 0, "{rc}");
                            let mut out = vec![0u8; src.len()];
                            let (from, to) = (chunk.as_ptr().cast(), out.as_mut_ptr().cast());
                            let rc = (library.blosc2_decompress)(from, rc, to, out.len() as i32);
                            assert!(rc == src.len() as i32 && out == src, "{rc}");
                        }
                    }
                });
            }
        });
    });
}

/// Compresses with a separate context inside a running compression.
unsafe extern "C" fn compress_inside(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: the library passes a valid struct, with buffers of the stated size.
    let (input, output) = unsafe {
        let p = &*params;
        (
            std::slice::from_raw_parts(p.input, p.output_size as usize),
            std::slice::from_raw_parts_mut(p.output, p.output_size as usize),
        )
    };
    let params = Params { nthreads: 4, typesize: 4, blocksize: 1000, ..Params::default() };
    let chunk = compressed(&params, input);
    let mut reader = OwnedContext::for_decompression(ours(), dparams(4));
    if reader.decompress(&chunk, output) != output.len() as i32 {
        return 1;
    }
    i32::from(getitem(ours(), 4, &chunk, 3, 5, 20).as_deref() != Ok(&input[12..32]))
}

/// Callbacks may use the library (design 7): a job inside a job runs inline.
#[test]
fn chunk_6_5_callbacks_can_compress_inside_a_compression() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 4, 1_000_000);
        let params = Params { blocksize: 100_000, ..params(4) };
        for callback in [None, Some(run_in_threads as Callback), Some(run_backwards)] {
            install_callback(callback);
            for nthreads in [1, 4] {
                let mut parameters = preparams();
                let mut cparams = Params { nthreads, ..params.clone() }.cparams();
                cparams.prefilter = Some(compress_inside);
                cparams.preparams = &mut parameters;
                let mut writer = OwnedContext::for_compression(ours(), cparams).expect("a context");
                for _ in 0..3 {
                    let (rc, dest) =
                        with_destination(large_destsize(src.len()), |dest| writer.compress(&src, dest));
                    assert!(rc > 0, "{rc}");
                    assert_ours_decodes(&dest[..rc as usize], &src);
                }
            }
        }
    });
}
