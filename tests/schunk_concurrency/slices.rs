//! Slices over several chunks are read and written atomically: a reader never gets a part of a write of another
//! thread or handle. And filters get the number of the chunk that they process, whatever other threads read
//! meanwhile.

use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use blosc2::abi::{CBool, blosc2_prefilter_params, blosc2_storage};

use crate::content::duration;
use crate::support::calls::Params;
use crate::support::library::Library;
use crate::support::super_chunk::functions::Functions;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// A super-chunk that threads share.
struct SharedSchunk(SuperChunk);

// SAFETY: the tests check that threads may share it.
unsafe impl Sync for SharedSchunk {}
// SAFETY: as above.
unsafe impl Send for SharedSchunk {}

const NCHUNKS: i32 = 4;
const ITEMS: i64 = 250 * NCHUNKS as i64;

/// Returns all items with the same value.
fn equal_items(value: i32) -> Vec<u8> {
    value.to_le_bytes().repeat(ITEMS as usize)
}

fn int32_params() -> Params {
    Params { typesize: 4, ..Params::default() }
}

fn append_zeros(schunk: &SuperChunk) {
    for chunk in equal_items(0).chunks(1000) {
        schunk.append(chunk).expect("appended");
    }
}

/// Writes whole slices through one handle and reads them through another, which may be the same.
fn write_and_read(writer: &SharedSchunk, reader: &SharedSchunk, what: &str) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|n| {
                let over = &over;
                scope.spawn(move || {
                    let mut reads = 0;
                    while !over.load(Relaxed) || reads == 0 {
                        // The boundaries are not those of chunks either.
                        let (start, stop) = (100 * n, ITEMS - 33 * n);
                        let got = reader.0.get_slice(start, stop, 4 * (stop - start) as usize);
                        let got = got.unwrap_or_else(|code| panic!("{what}: error {code}"));
                        let first = &got[..4];
                        assert!(got.chunks(4).all(|item| item == first), "{what}: a slice of two states");
                        reads += 1;
                    }
                })
            })
            .collect();
        let end = Instant::now() + duration() / 8;
        let mut value = 1;
        while Instant::now() < end && !readers.iter().any(|reader| reader.is_finished()) {
            assert_eq!(writer.0.set_slice(0, ITEMS, &equal_items(value)), 0, "{what}");
            value += 1;
        }
        over.store(true, Relaxed);
    });
}

#[test]
fn threads_never_read_a_part_of_a_slice_write() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let schunk =
            SharedSchunk(SuperChunk::create(Library::ours(), store, &scratch.new_path(), &int32_params()));
        append_zeros(&schunk.0);
        write_and_read(&schunk, &schunk, &format!("{store:?}"));
    }
}

#[test]
fn locking_handles_never_read_a_part_of_a_slice_write() {
    let scratch = ScratchDir::new();
    for store in Store::ON_DISK {
        let path = scratch.new_path();
        append_zeros(&SuperChunk::create(Library::ours(), store, &path, &int32_params()));
        let open = || SharedSchunk(SuperChunk::open_locking(Library::ours(), &path).expect("a super-chunk"));
        write_and_read(&open(), &open(), &format!("two handles on a {store:?}"));
    }
}

static PREFILTER_NCHUNKS: Mutex<Vec<i64>> = Mutex::new(Vec::new());

/// Copies the block, and records the number of the chunk.
unsafe extern "C" fn recording_prefilter(params: *mut blosc2_prefilter_params) -> i32 {
    // SAFETY: the library passes a block of the source and a buffer of the same size to fill.
    unsafe {
        PREFILTER_NCHUNKS.lock().expect("the list").push((*params).nchunk);
        ptr::copy_nonoverlapping((*params).input, (*params).output, (*params).output_size as usize);
    }
    0
}

#[test]
fn prefilters_get_the_nchunk_of_their_chunk() {
    // SAFETY: plain numbers and pointers that may be NULL.
    let mut preparams: blosc2_prefilter_params = unsafe { std::mem::zeroed() };
    let mut cparams = int32_params().cparams();
    cparams.prefilter = Some(recording_prefilter);
    cparams.preparams = &mut preparams;
    let mut storage = blosc2_storage {
        contiguous: CBool::FALSE,
        urlpath: ptr::null_mut(),
        cparams: &mut cparams,
        dparams: ptr::null_mut(),
        io: ptr::null_mut(),
    };
    // SAFETY: a storage whose pointers are valid during the call.
    let raw = unsafe { (Functions::of(Library::ours()).blosc2_schunk_new)(&mut storage) };
    let schunk = &SharedSchunk(SuperChunk::from_raw(Library::ours(), raw).expect("a super-chunk"));
    let over = &AtomicBool::new(false);
    const APPENDS: i64 = 2000;
    thread::scope(|scope| {
        scope.spawn(move || {
            while !over.load(Relaxed) {
                if schunk.0.nchunks() > 0 {
                    assert_eq!(schunk.0.decompress_into(0, 1000).map(|bytes| bytes.len()), Ok(1000));
                }
            }
        });
        for n in 0..APPENDS {
            assert_eq!(schunk.0.append(&equal_items(n as i32)[..1000]), Ok(n + 1));
        }
        over.store(true, Relaxed);
    });
    assert_eq!(*PREFILTER_NCHUNKS.lock().expect("the list"), (0..APPENDS).collect::<Vec<_>>());
}
