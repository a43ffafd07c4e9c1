//! In a process with one thread, calls do not lock a super-chunk, unless a threads callback is installed, which may
//! start threads that use the super-chunk during a call.
//!
//! Built without the test harness, which has threads. Each scenario runs in a separate process, since the thread that
//! it starts must be the first.

use libblosc2_test_support::support;

use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use support::array::functions::ArrayPtr;
use support::array::{Array, ArraySpec};
use support::child::this_program;
use support::library::Library;
use support::super_chunk::Store;
use support::super_chunk::scratch::ScratchDir;

/// The environment variable that selects the scenario of a process: a store and a kind of call.
const SCENARIO_VARIABLE: &str = "BLOSC2_THREADS_CALLBACK_SCENARIO";

const NITEMS: usize = 1000;
const BLOCK_NITEMS: usize = 100;

/// How long the callback waits for the other thread to finish, which is possible only if that thread is not blocked
/// by a lock.
const TIME_TO_FINISH: Duration = Duration::from_millis(200);

const STORES: [Store; 4] = Store::ALL;
const CALLS: [&str; 3] = ["box", "selection", "slice"];

/// The array of the scenario, for the thread that the callback starts.
static ARRAY: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static WRITER_THREAD: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);
/// Whether the thread has been started. Later calls run the callback as well, and a second thread could outlive the
/// array.
static IS_WRITER_STARTED: AtomicBool = AtomicBool::new(false);
static IS_WRITER_DONE: AtomicBool = AtomicBool::new(false);

/// Writes `value` to item `at`.
fn write_item(array: &Array, call: &str, at: usize, value: u8) -> i32 {
    let (start, stop) = (at as i64, at as i64 + 1);
    match call {
        "box" => array.set(&[start], &[stop], &[value]),
        "selection" => array.set_orthogonal(&[vec![start]], &[value], &[1], 1),
        _ => array.schunk().set_slice(start, stop, &[value]),
    }
}

fn scenario() -> (Store, String) {
    let text = std::env::var(SCENARIO_VARIABLE).expect("a scenario");
    let (store, call) = text.split_once(' ').expect("a store and a call");
    let store = STORES.into_iter().find(|known| format!("{known:?}") == store).expect("a store");
    (store, call.to_owned())
}

/// Writes the last item.
fn write_last() {
    let raw: ArrayPtr = ARRAY.load(SeqCst).cast();
    let array = ManuallyDrop::new(Array::from_raw(Library::ours(), raw).expect("an array"));
    assert_eq!(write_item(&array, &scenario().1, NITEMS - 1, 2), 0);
    IS_WRITER_DONE.store(true, SeqCst);
}

type Job = Option<unsafe extern "C" fn(*mut c_void)>;

/// Threads callback: with the first job it starts a thread that writes to the array; the jobs run on the calling
/// thread.
unsafe extern "C" fn start_a_writer(
    _data: *mut c_void,
    job: Job,
    numjobs: c_int,
    elsize: usize,
    jobs: *mut c_void,
) {
    let mut other = WRITER_THREAD.lock().expect("the other thread");
    let is_first = !ARRAY.load(SeqCst).is_null() && !IS_WRITER_STARTED.swap(true, SeqCst);
    if is_first {
        *other = Some(thread::spawn(write_last));
    }
    // The write of the other thread runs jobs, too.
    drop(other);
    let begin = Instant::now();
    while is_first && !IS_WRITER_DONE.load(SeqCst) && begin.elapsed() < TIME_TO_FINISH {
        thread::sleep(Duration::from_millis(1));
    }
    for n in 0..numjobs as usize {
        // SAFETY: by the contract of the callback, `jobs` has `numjobs` records of `elsize` bytes, each for one call.
        unsafe { job.expect("a job")(jobs.byte_add(n * elsize)) };
    }
}

/// Returns whether the C library reports several threads; not all C libraries have this variable.
fn has_threads() -> bool {
    // SAFETY: a C string; the symbol is a `char` variable wherever it exists.
    unsafe {
        let flag = libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()).cast::<c_char>();
        !flag.is_null() && *flag == 0
    }
}

/// Writes the first item, while a thread of the callback writes the last one.
fn run_scenario() {
    let (store, call) = scenario();
    let scratch = ScratchDir::new();
    let mut spec = ArraySpec::new(&[NITEMS as i64], &[NITEMS as i32], &[BLOCK_NITEMS as i32], 1)
        .with_store(store, &scratch.new_path());
    spec.params.nthreads = 4;
    let array = spec.create_from_buffer(Library::ours(), &[0; NITEMS]);
    ARRAY.store(array.raw().cast(), SeqCst);
    assert!(!has_threads(), "the scenario needs a process without other threads");
    // SAFETY: the callback follows the contract and uses no data.
    unsafe { (Library::ours().blosc2_set_threads_callback)(Some(start_a_writer), ptr::null_mut()) };
    assert_eq!(write_item(&array, &call, 0, 1), 0);
    let other = WRITER_THREAD.lock().expect("the other thread").take();
    other.expect("the callback has jobs to run").join().expect("the other thread");
    let mut expected = [0; NITEMS];
    (expected[0], expected[NITEMS - 1]) = (1, 2);
    let left = array.to_cbuffer().expect("the items");
    assert_eq!((left[0], left[NITEMS - 1]), (1, 2), "a write is lost");
    assert!(left == expected);
}

fn main() -> ExitCode {
    if std::env::var_os(SCENARIO_VARIABLE).is_some() {
        run_scenario();
        return ExitCode::SUCCESS;
    }
    let mut failed = 0;
    for store in STORES {
        for call in CALLS {
            let mut again = this_program();
            let status = again.env(SCENARIO_VARIABLE, format!("{store:?} {call}")).status().expect("a child");
            println!("a threads callback that writes a {call} of a {store:?} ... {status}");
            failed += i32::from(!status.success());
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
