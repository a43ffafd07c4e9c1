//! Process lifetime: forks (chunk.md 10.16), init by many threads at once (10.28), calls before init and after
//! destroy (abi.md 9.2, 9.3, 14).

use std::ffi::{CStr, c_int};
use std::sync::Barrier;

use crate::checks::{assert_ours_decodes, compressed, data, large_destsize, ours};
use crate::support::calls::{
    OwnedContext, Params, Special, compress, decompress, dparams, getitem, special_chunk, vlcompress,
    with_destination,
};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;
use crate::support::library::Library;

/// Returns the library before any call; for child processes.
fn uninitialised_library() -> &'static Library {
    Box::leak(Box::new(Library::ours_uninitialised()))
}

fn params(nthreads: i16) -> Params {
    Params { nthreads, codec: 1, typesize: 4, blocksize: 10_000, ..Params::default() }
}

/// Forks; the child runs `work` and exits with its result. An alarm ends a child that hangs.
fn run_in_fork(work: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the test is about the calls that a child may make after a fork.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork");
    if pid == 0 {
        // SAFETY: plain system calls.
        unsafe {
            libc::alarm(120);
            let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
            libc::_exit(if good { 0 } else { 1 });
        }
    }
    pid
}

#[track_caller]
fn assert_exits_with_0(pid: libc::pid_t) {
    let mut status: c_int = -1;
    // SAFETY: a child of this process; `status` is only written.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(status, 0, "the child (14: it hung)");
}

/// Compresses and decompresses with inherited contexts, with new ones, and without a context.
fn use_all_contexts(
    library: &'static Library,
    writers: &mut [OwnedContext<'_>],
    readers: &mut [OwnedContext<'_>],
    src: &[u8],
    expected: &[u8],
) {
    let mut new_writers: Vec<_> = [1, 2, 4, 6]
        .map(|n| OwnedContext::for_compression(library, params(n).cparams()).expect("a context"))
        .into();
    let mut new_readers: Vec<_> =
        [1, 2, 4, 6].map(|n| OwnedContext::for_decompression(library, dparams(n))).into();
    for writer in writers.iter_mut().chain(&mut new_writers) {
        let (rc, dest) = with_destination(large_destsize(src.len()), |dest| writer.compress(src, dest));
        assert!(dest[..rc as usize] == *expected, "{rc}");
    }
    for reader in readers.iter_mut().chain(&mut new_readers) {
        let (rc, dest) = with_destination(src.len(), |dest| reader.decompress(expected, dest));
        assert!(rc == src.len() as i32 && dest == src, "{rc}");
    }
    let (rc, dest) = with_destination(large_destsize(src.len()), |dest| {
        // SAFETY: a source and a destination with their true lengths.
        unsafe {
            let (len, room) = (src.len() as i32, dest.len() as i32);
            (library.blosc2_compress)(5, 1, 4, src.as_ptr().cast(), len, dest.as_mut_ptr().cast(), room)
        }
    });
    assert!(rc > 0, "{rc}");
    let (len, dest) = with_destination(src.len(), |out| {
        // SAFETY: as above.
        unsafe {
            (library.blosc2_decompress)(dest.as_ptr().cast(), rc, out.as_mut_ptr().cast(), out.len() as i32)
        }
    });
    assert!(len == src.len() as i32 && dest == src, "{len}");
}

#[test]
fn chunk_10_16_abi_16_23_inherited_contexts_work_after_fork() {
    in_new_process(test_name!(), || {
        let library = ours();
        let src = data(Data::SmoothFloats, 4, 300_000);
        let expected = compressed(&params(1), &src);
        // SAFETY: a plain setter; the functions without a context use threads, too.
        assert_eq!(unsafe { (library.blosc2_set_nthreads)(4) }, 1);
        let mut writers: Vec<_> = [1, 4]
            .map(|n| OwnedContext::for_compression(library, params(n).cparams()).expect("a context"))
            .into();
        let mut readers: Vec<_> = [1, 4].map(|n| OwnedContext::for_decompression(library, dparams(n))).into();
        for round in 0..5 {
            use_all_contexts(library, &mut writers, &mut readers, &src, &expected);
            let child = run_in_fork(|| {
                use_all_contexts(library, &mut writers, &mut readers, &src, &expected);
                if round % 2 == 0 {
                    // A grandchild, too.
                    assert_exits_with_0(run_in_fork(|| {
                        use_all_contexts(library, &mut writers, &mut readers, &src, &expected);
                    }));
                } else {
                    // SAFETY: no arguments.
                    unsafe { (library.blosc2_destroy)() };
                    use_all_contexts(library, &mut writers, &mut readers, &src, &expected);
                    // SAFETY: no arguments.
                    unsafe {
                        (library.blosc2_init)();
                        (library.blosc2_free_resources)();
                    }
                }
                use_all_contexts(library, &mut writers, &mut readers, &src, &expected);
                // Inherited contexts can be freed.
                writers.clear();
                readers.clear();
            });
            // The parent continues at the same time.
            use_all_contexts(library, &mut writers, &mut readers, &src, &expected);
            assert_exits_with_0(child);
        }
    });
}

/// The first call of a child is `blosc2_destroy()`.
#[test]
fn chunk_10_16_abi_14_destroy_as_first_call_of_a_child_works() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 4, 300_000);
        let expected = compressed(&params(4), &src);
        assert_exits_with_0(run_in_fork(|| {
            // SAFETY: no arguments.
            unsafe { (ours().blosc2_destroy)() };
            assert_eq!(compressed(&params(4), &src), expected);
        }));
        assert_exits_with_0(run_in_fork(|| {
            // SAFETY: a plain setter.
            assert_eq!(unsafe { (ours().blosc2_set_nthreads)(4) }, 1);
            // SAFETY: no arguments.
            unsafe { (ours().blosc2_destroy)() };
        }));
        assert_eq!(compressed(&params(4), &src), expected);
    });
}

/// A fork while other threads run jobs.
#[test]
fn chunk_10_16_fork_while_jobs_run() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 4, 200_000);
        let expected = compressed(&params(4), &src);
        let over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut writer =
                        OwnedContext::for_compression(ours(), params(4).cparams()).expect("a context");
                    let mut reader = OwnedContext::for_decompression(ours(), dparams(4));
                    let (mut chunk, mut out) = (vec![0; large_destsize(src.len())], vec![0; src.len()]);
                    while !over.load(std::sync::atomic::Ordering::Relaxed) {
                        let rc = writer.compress(&src, &mut chunk);
                        assert!(chunk[..rc as usize] == expected);
                        assert_eq!(reader.decompress(&expected, &mut out), src.len() as i32);
                    }
                });
            }
            let mut reader = OwnedContext::for_decompression(ours(), dparams(4));
            for _ in 0..30 {
                assert_exits_with_0(run_in_fork(|| {
                    let mut out = vec![0; src.len()];
                    assert_eq!(reader.decompress(&expected, &mut out), src.len() as i32);
                    assert!(out == src);
                    assert_eq!(compressed(&params(4), &src), expected);
                    assert_eq!(compressed(&params(3), &src), expected);
                }));
            }
            over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    });
}

/// Eight threads call any first function at the same time: the library is initialised once and works.
#[test]
fn chunk_10_28_abi_14_init_from_many_threads() {
    for _ in 0..6 {
        in_new_process(test_name!(), || {
            let library = uninitialised_library();
            let src = data(Data::SmoothFloats, 4, 100_000);
            let barrier = Barrier::new(8);
            std::thread::scope(|scope| {
                for thread in 0..8 {
                    let (src, barrier) = (&src, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        // SAFETY: no arguments, plain setters, or terminated names.
                        unsafe {
                            match thread {
                                0 | 1 => (library.blosc2_init)(),
                                2 => assert!((library.blosc2_set_nthreads)(4) > 0),
                                3 => assert_eq!((library.blosc1_set_compressor)(c"lz4".as_ptr()), 1),
                                4 => assert!(!(library.blosc1_get_compressor)().is_null()),
                                5 => (library.blosc1_set_splitmode)(4),
                                _ => {}
                            }
                        }
                        let chunk = compress(library, &params(4), src, 200_000).expect("a chunk");
                        assert!(decompress(library, 4, &chunk, src.len()).as_ref() == Ok(src));
                        // SAFETY: a terminated name.
                        let code = unsafe { (library.blosc2_compname_to_compcode)(c"zfp_acc".as_ptr()) };
                        assert_eq!(code, 33);
                        use_all_contexts(library, &mut [], &mut [], src, &chunk);
                    });
                }
            });
            // SAFETY: no arguments.
            unsafe {
                assert!((1..=4).contains(&(library.blosc2_get_nthreads)()));
                assert_eq!((library.blosc2_free_resources)(), 0);
            }
        });
    }
}

/// All functions work before `blosc2_init()` and after `blosc2_destroy()`, each in a separate process (abi.md 9.2,
/// 9.3).
#[test]
fn abi_14_functions_work_before_init_and_after_destroy() {
    let name = test_name!();
    for what in ["context", "threads", "global", "getitem", "special", "varlen", "settings", "raw"] {
        crate::support::child::in_new_process_with(name, &[("BLOSC2_TEST_FIRST_CALL", what)], || {
            let first = std::env::var("BLOSC2_TEST_FIRST_CALL").expect("what to do");
            let library = uninitialised_library();
            for after_destroy in [false, true] {
                use_functions(library, &first);
                // SAFETY: no arguments.
                unsafe {
                    (library.blosc2_destroy)();
                    if after_destroy {
                        (library.blosc2_init)();
                        (library.blosc2_init)();
                        (library.blosc2_destroy)();
                        (library.blosc2_destroy)();
                    }
                }
            }
            for what in ["raw", "settings", "varlen", "special", "getitem", "global", "threads", "context"] {
                use_functions(library, what);
            }
        });
    }
}

fn use_functions(library: &'static Library, what: &str) {
    let src = data(Data::SmoothFloats, 4, 100_000);
    match what {
        "context" | "threads" => {
            let params = params(if what == "threads" { 4 } else { 1 });
            let chunk = compress(library, &params, &src, 200_000).expect("a chunk");
            assert!(decompress(library, params.nthreads, &chunk, src.len()).as_ref() == Ok(&src));
        }
        "global" => {
            let expected = compress(library, &params(1), &src, 200_000).expect("a chunk");
            use_all_contexts(library, &mut [], &mut [], &src, &expected);
        }
        "getitem" => {
            let zeros = special_chunk(library, &params(1), Special::Zeros, 4000, 32).expect("zeros");
            assert_eq!(getitem(library, 1, &zeros, 5, 3, 12), Ok(vec![0; 12]));
        }
        "special" => {
            for special in [Special::Zeros, Special::Nans, Special::Uninit, Special::Value(&[1, 2, 3, 4])] {
                assert!(special_chunk(library, &params(1), special, 4000, 100).is_ok());
            }
        }
        "varlen" => {
            let blocks = [src.clone(), src[..50].to_vec()];
            let chunk = vlcompress(library, &params(4), &blocks, 200_000).expect("a chunk");
            let mut reader = OwnedContext::for_decompression(library, dparams(4));
            assert!(reader.vldecompress(&chunk, 2).as_deref() == Ok(&blocks[..]));
        }
        // SAFETY: plain setters and getters, terminated names.
        "settings" => unsafe {
            assert_eq!((library.blosc1_set_compressor)(c"zlib".as_ptr()), 4);
            assert_eq!(CStr::from_ptr((library.blosc1_get_compressor)()), c"zlib");
            (library.blosc1_set_blocksize)(1000);
            assert_eq!((library.blosc1_get_blocksize)(), 1000);
            (library.blosc2_set_nthreads)(3);
            assert_eq!((library.blosc2_get_nthreads)(), 3);
            (library.blosc2_set_delta)(1);
            (library.blosc1_set_splitmode)(2);
        },
        _ => {
            let mut out = vec![0u8; src.len()];
            // SAFETY: two buffers of that length.
            let rc = unsafe {
                (library.blosc2_shuffle)(4, src.len() as i32, src.as_ptr().cast(), out.as_mut_ptr().cast())
            };
            assert_eq!(rc, src.len() as i32);
            // SAFETY: no arguments.
            assert_eq!(unsafe { CStr::from_ptr((library.blosc2_get_version_string)()) }, c"3.3.5");
        }
    }
}

/// Settings survive `blosc2_destroy()` and `blosc2_init()`; registrations do not (check 45; the order of calls of
/// abi.md 15 is part of the golden vectors).
#[test]
fn abi_9_1_settings_survive_destroy_and_init() {
    in_new_process(test_name!(), || {
        let library = uninitialised_library();
        let src = data(Data::SmoothFloats, 4, 100_000);
        // SAFETY: plain setters and getters, terminated names.
        unsafe {
            (library.blosc1_set_compressor)(c"zstd".as_ptr());
            (library.blosc1_set_blocksize)(12_000);
            (library.blosc2_set_nthreads)(3);
            (library.blosc2_set_delta)(-5);
            (library.blosc1_set_splitmode)(2);
            for _ in 0..3 {
                let mut chunk = vec![0u8; 300_000];
                let (from, to) = (src.as_ptr().cast(), chunk.as_mut_ptr().cast());
                let rc = (library.blosc2_compress)(5, 1, 4, from, src.len() as i32, to, 300_000);
                chunk.truncate(rc as usize);
                let header = crate::support::calls::Header::parse(&chunk);
                assert_eq!((header.udcompcode, header.blocksize, header.flags), (5, 12_000, 0x9D));
                assert_eq!(header.filters, [0, 0, 0, 0, 3, 1]);
                assert_ours_decodes(&chunk, &src);
                (library.blosc2_destroy)();
                assert_eq!((library.blosc2_free_resources)(), -1);
                (library.blosc2_init)();
                assert_eq!((library.blosc2_get_nthreads)(), 3);
                assert_eq!((library.blosc1_get_blocksize)(), 12_000);
            }
        }
    });
}
