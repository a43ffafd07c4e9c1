//! Any number of threads may read one array at the same time (design of this library).

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, OnceLock};

use crate::checks::ours;
use crate::support::array::{Array, ArraySpec};
use crate::support::child::{in_new_process, test_name};
use crate::support::random::{Random, from_environment};
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;

const NTHREADS: u64 = 8;

/// Calls `read` on eight threads, each with a handle to the same array and its thread number.
fn read_on_threads(array: &Array, read: impl Fn(&Array, u64) + Sync) {
    let address = array.raw().expose_provenance();
    std::thread::scope(|scope| {
        for thread in 0..NTHREADS {
            let read = &read;
            scope.spawn(move || {
                let raw = ptr::with_exposed_provenance_mut(address);
                read(&ManuallyDrop::new(Array::from_raw(ours(), raw).expect("an array")), thread);
            });
        }
    });
}

/// Each thread uses every read function; the environment sets the number of repetitions.
#[test]
fn threads_that_read_one_array_get_the_right_items() {
    let nreads = from_environment("BLOSC2_ARRAY_READS", 50);
    let scratch = ScratchDir::new();
    let items: Vec<u8> = (0..40 * 50 * 30u32).flat_map(|at| (at * 7 / 3).to_le_bytes()).collect();
    for store in Store::ALL {
        for dthreads in [1, 2] {
            let mut spec = ArraySpec::new(&[40, 50, 30], &[16, 20, 16], &[4, 10, 8], 4)
                .with_store(store, &scratch.new_path());
            spec.dthreads = dthreads;
            spec.params.codec = 1;
            let array = spec.create_from_buffer(ours(), &items);
            read_on_threads(&array, |array, thread| {
                let random = &mut Random::new(thread);
                (0..nreads).for_each(|_| read_once(random, array, &items));
            });
        }
    }
}

/// Released when all threads of the test are inside a read.
static READERS_INSIDE: OnceLock<Barrier> = OnceLock::new();
static CALLS: AtomicU64 = AtomicU64::new(0);

type Job = Option<unsafe extern "C" fn(*mut c_void)>;

/// Threads callback: waits until all threads of the test are inside a read, then runs the jobs of this thread.
unsafe extern "C" fn wait_for_all(
    _data: *mut c_void,
    job: Job,
    numjobs: c_int,
    elsize: usize,
    jobs: *mut c_void,
) {
    CALLS.fetch_add(1, Relaxed);
    READERS_INSIDE.get_or_init(|| Barrier::new(NTHREADS as usize)).wait();
    for n in 0..numjobs as usize {
        // SAFETY: by the contract of the callback, `jobs` has `numjobs` records of `elsize` bytes, each for one call.
        unsafe { job.expect("a job")(jobs.byte_add(n * elsize)) };
    }
}

/// The test would hang if one read excluded another.
#[test]
fn threads_read_one_array_at_the_same_time() {
    in_new_process(test_name!(), || {
        const NITEMS: usize = 10_000;
        let scratch = ScratchDir::new();
        let items: Vec<u8> = (0..NITEMS).map(|item| (item / 30) as u8).collect();
        for store in Store::ALL {
            let mut spec = ArraySpec::new(&[NITEMS as i64], &[NITEMS as i32], &[1000], 1)
                .with_store(store, &scratch.new_path());
            spec.dthreads = 2;
            let array = spec.create_from_buffer(ours(), &items);
            // SAFETY: the callback follows the contract and uses no data.
            unsafe { (ours().blosc2_set_threads_callback)(Some(wait_for_all), ptr::null_mut()) };
            CALLS.store(0, Relaxed);
            read_on_threads(&array, |array, _| {
                assert!(array.to_cbuffer().as_ref() == Ok(&items), "{store:?}");
                assert!(array.get(&[5], &[9990]).as_deref() == Ok(&items[5..9990]), "{store:?}");
                let list: Vec<i64> = (0..NITEMS as i64).step_by(500).collect();
                let right: Vec<u8> = items.iter().copied().step_by(500).collect();
                let read = array.get_orthogonal(&[list], &[20], 20, 20);
                assert!(read == (0, right), "{store:?}");
            });
            assert_eq!(CALLS.load(Relaxed), 3 * NTHREADS, "{store:?}");
            // SAFETY: as above.
            unsafe { (ours().blosc2_set_threads_callback)(None, ptr::null_mut()) };
        }
    });
}

/// Compares one read, by a function chosen at random, with the original items.
fn read_once(random: &mut Random, array: &Array, items: &[u8]) {
    let item = |at: [i64; 3]| &items[(at[0] * 1500 + at[1] * 30 + at[2]) as usize * 4..][..4];
    let draw = |random: &mut Random| -> [i64; 3] { [40, 50, 30].map(|length| random.below(length) as i64) };
    match random.below(8) {
        0 => assert!(array.to_cbuffer().as_deref() == Ok(items), "everything"),
        1 => {
            let at = draw(random);
            let flat = at[0] * 1500 + at[1] * 30 + at[2];
            assert_eq!(array.get_sparse(&[flat, 0], 8, 8).1, [item(at), item([0, 0, 0])].concat());
        }
        2 => {
            let (a, b) = (draw(random), draw(random));
            let lists = [vec![a[0], b[0]], vec![a[1]], vec![b[2], a[2]]];
            let right: Vec<u8> = [a[0], b[0]]
                .iter()
                .flat_map(|&i| [item([i, a[1], b[2]]), item([i, a[1], a[2]])].concat())
                .collect();
            assert_eq!(array.get_orthogonal(&lists, &[2, 1, 2], 16, 16), (0, right));
        }
        3..=4 => {
            let at = draw(random);
            assert_eq!(array.get(&at, &at.map(|at| at + 1)).as_deref(), Ok(item(at)), "{at:?}");
        }
        _ => {
            let (a, b) = (draw(random), draw(random));
            let (mut start, mut stop) = ([0; 3], [0; 3]);
            for dim in 0..3 {
                start[dim] = a[dim].min(b[dim]);
                stop[dim] = a[dim].max(b[dim]) + 1;
            }
            let mut right = Vec::new();
            for i in start[0]..stop[0] {
                for j in start[1]..stop[1] {
                    let from = (i * 1500 + j * 30 + start[2]) as usize * 4;
                    right.extend(&items[from..from + (stop[2] - start[2]) as usize * 4]);
                }
            }
            assert!(array.get(&start, &stop).as_ref() == Ok(&right), "{start:?}..{stop:?}");
        }
    }
}
