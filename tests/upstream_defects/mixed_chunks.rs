//! Super-chunks in which some chunks use a user-defined codec: no lock is held while that codec runs, so another call
//! can change the super-chunk meanwhile.

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, Once};

use blosc2::abi::{blosc2_codec, blosc2_cparams, blosc2_dparams, blosc2_schunk};

use crate::checks::{compressed, data, ours};
use crate::support::calls::Params;
use crate::support::data::Data;
use crate::support::super_chunk::functions::Functions;
use crate::support::super_chunk::{Store, SuperChunk};

/// Encodes a stream as 3 bytes; decodes to `x`, after it has updated a chunk of [`SCHUNK_TO_UPDATE`].
const CODEC: u8 = 173;
const CHUNKSIZE: usize = 64_000;

/// The super-chunk of which the decoder updates chunk 1; NULL for none.
static SCHUNK_TO_UPDATE: AtomicPtr<blosc2_schunk> = AtomicPtr::new(ptr::null_mut());
/// The new content of chunk 1.
static NEW_CHUNK: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// Held by a test while it uses these statics.
static TEST_LOCK: Mutex<()> = Mutex::new(());

unsafe extern "C" fn encode(
    _: *const u8,
    _: i32,
    output: *mut u8,
    room: i32,
    _: u8,
    _: *mut blosc2_cparams,
    _: *const c_void,
) -> c_int {
    assert!(room >= 3);
    // SAFETY: the library passes `room` writable bytes.
    unsafe { output.copy_from_nonoverlapping([1, 2, 3].as_ptr(), 3) };
    3
}

unsafe extern "C" fn decode_and_change(
    _: *const u8,
    _: i32,
    output: *mut u8,
    room: i32,
    _: u8,
    _: *mut blosc2_dparams,
    _: *const c_void,
) -> c_int {
    // SAFETY: the library passes `room` writable bytes.
    unsafe { output.write_bytes(b'x', room as usize) };
    let schunk = SCHUNK_TO_UPDATE.swap(ptr::null_mut(), Ordering::Relaxed);
    if !schunk.is_null() {
        let mut chunk = NEW_CHUNK.lock().expect("the chunk");
        let functions = Functions::of(ours());
        // SAFETY: the test stored a pointer to its super-chunk, which is live during the call; the chunk is copied.
        let updated = unsafe { (functions.blosc2_schunk_update_chunk)(schunk, 1, chunk.as_mut_ptr(), true) };
        assert_eq!(updated, 2);
    }
    room
}

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut codec = blosc2_codec {
            compcode: CODEC,
            compname: c"changes chunks".as_ptr().cast_mut(),
            complib: CODEC,
            version: 1,
            encoder: Some(encode as _),
            decoder: Some(decode_and_change as _),
        };
        // SAFETY: a valid struct with a static name and functions that follow the contract.
        assert_eq!(unsafe { (ours().blosc2_register_codec)(&mut codec) }, 0);
    });
}

/// Returns a chunk that is decoded by the codec of this test.
fn chunk_of_codec(typesize: i32) -> Vec<u8> {
    let params = Params { codec: CODEC, typesize, blocksize: 32_000, filters: [0; 6], ..Params::default() };
    compressed(&params, &data(Data::Noise, 4, CHUNKSIZE))
}

/// A chunk that was copied before a user-defined codec ran is not cached for later reads: it may have been changed.
#[test]
fn block_of_a_chunk_changed_during_the_read_is_not_cached() {
    register();
    let _one = TEST_LOCK.lock();
    let params = Params { typesize: 4, blocksize: 32_000, ..Params::default() };
    let (old, new): (Vec<u8>, Vec<u8>) = (
        (0..CHUNKSIZE).map(|at| (at / 64) as u8).collect(),
        (0..CHUNKSIZE).map(|at| (at / 64) as u8 ^ 0x5a).collect(),
    );
    let schunk = SuperChunk::create(ours(), Store::Memory, Path::new(""), &params);
    schunk.append_chunk(&chunk_of_codec(4)).expect("appended");
    schunk.append(&old).expect("appended");
    *NEW_CHUNK.lock().expect("the chunk") = compressed(&params, &new);
    let per_chunk = (CHUNKSIZE / 4) as i64;
    let part = 28_000;
    SCHUNK_TO_UPDATE.store(schunk.raw(), Ordering::Relaxed);
    // The end of chunk 0, whose codec changes chunk 1, and a part of chunk 1 that is large enough to cache a block.
    let both = schunk.get_slice(per_chunk - 4, per_chunk + part / 4, 16 + part as usize).expect("a slice");
    assert!(SCHUNK_TO_UPDATE.load(Ordering::Relaxed).is_null(), "the codec did not run");
    assert_eq!(both[..16], [b'x'; 16]);
    // Both contents are valid: the chunk changed during this read.
    assert!(both[16..] == old[..part as usize] || both[16..] == new[..part as usize]);
    for start in [0, 1000, 6000] {
        let read = schunk.get_slice(per_chunk + start, per_chunk + start + 10, 40).expect("a slice");
        assert_eq!(read, new[4 * start as usize..][..40], "after the change, from item {start} on");
    }
}

/// The codec of a metalayer can change the super-chunk: no lock is held while it runs.
#[test]
fn codec_of_a_vlmetalayer_can_change_the_super_chunk() {
    register();
    let _one = TEST_LOCK.lock();
    let params = Params { typesize: 4, ..Params::default() };
    let schunk = SuperChunk::create(ours(), Store::Memory, Path::new(""), &params);
    let (old, new) = (vec![1; CHUNKSIZE], vec![2; CHUNKSIZE]);
    schunk.append(&old).expect("appended");
    schunk.append(&old).expect("appended");
    let with_codec = Params { codec: CODEC, typesize: 1, filters: [0; 6], ..Params::default() };
    assert_eq!(schunk.vlmeta_add_with("noise", &data(Data::Noise, 4, 1000), Some(&with_codec)), 0);
    *NEW_CHUNK.lock().expect("the chunk") = compressed(&params, &new);
    SCHUNK_TO_UPDATE.store(schunk.raw(), Ordering::Relaxed);
    assert_eq!(schunk.vlmeta_get("noise"), Ok(vec![b'x'; 1000]));
    assert!(SCHUNK_TO_UPDATE.load(Ordering::Relaxed).is_null(), "the codec did not run");
    assert_eq!(schunk.decompress(1), Ok(new));
}

/// A codec that uses the block shape of the array also gets it for chunks that are read after a chunk with a
/// user-defined codec.
#[cfg(feature = "zfp")]
#[test]
fn zfp_chunk_read_after_a_user_codec_chunk_gets_the_blockshape() {
    use crate::support::array::ArraySpec;
    const ZFP_RATE: u8 = 35;
    register();
    let (rows, items) = (CHUNKSIZE as i32 / 4 / 100, CHUNKSIZE as i64 / 4);
    let mut spec = ArraySpec::new(&[2 * i64::from(rows), 100], &[rows, 100], &[rows / 2, 100], 4);
    spec.params =
        Params { codec: ZFP_RATE, codec_meta: 50, typesize: 4, filters: [0; 6], ..Params::default() };
    let array = spec.create_from_buffer(ours(), &data(Data::SmoothFloats, 4, spec.nbytes()));
    let schunk = array.schunk();
    let expected = schunk.decompress(1).expect("a chunk");
    schunk.update_chunk(0, &chunk_of_codec(4)).expect("updated");
    let read = schunk.get_slice(items - 4, 2 * items, 16 + CHUNKSIZE).expect("a slice");
    assert_eq!(read[..16], [b'x'; 16]);
    assert!(read[16..] == expected);
}
