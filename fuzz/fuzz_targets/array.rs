//! Arrays in frames: opening one returns an error, or an array whose boxes, coordinate lists and single items can be
//! read and written without a memory error or panic.

#![no_main]

use libblosc2_fuzz::array_exercise::{change_array, read_array};
use libblosc2_fuzz::container::{remove, scratch_path, unpack, write};
use libblosc2_fuzz::support::array::Array;
use libblosc2_fuzz::support::guard::GuardedBuffer;
use libblosc2_fuzz::support::random::Random;
use libblosc2_fuzz::support::super_chunk::SuperChunk;
use libblosc2_fuzz::{library, split_seed};
use libfuzzer_sys::fuzz_target;

fn check_in_memory(frame: &[u8], random: &mut Random) {
    let (library, at_end) = (library(), !random.one_in(4));
    let mut guarded = GuardedBuffer::new(frame.len());
    let buffer = guarded.edge_bytes(frame.len(), at_end);
    buffer.copy_from_slice(frame);
    let array = match random.below(3) {
        0 => Array::from_frame_copy(library, buffer).1,
        // SAFETY: the buffer outlives the array, which is only read.
        1 => unsafe { Array::from_borrowed_frame(library, buffer.as_mut_ptr(), buffer.len()) }.1,
        _ => SuperChunk::from_frame_copy(library, buffer)
            .and_then(|schunk| Array::from_super_chunk(schunk).ok()),
    };
    if let Some(array) = array {
        read_array(random, &array);
    }
    assert!(buffer == frame, "reading changed the buffer");
    if random.one_in(4)
        && let (_, Some(array)) = Array::from_frame_copy(library, buffer)
    {
        change_array(random, &array);
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    let (library, random) = (library(), &mut random);
    let files = unpack(data);
    if let Some(frame) = files.get("frame").filter(|_| !random.one_in(4)) {
        return check_in_memory(frame, random);
    }
    let path = scratch_path();
    write(&files, &path);
    let (rc, array) = Array::open(library, &path);
    assert_eq!(rc < 0, array.is_none(), "b2nd_open gives {rc}");
    if let Some(array) = array {
        read_array(random, &array);
        if random.one_in(4) {
            change_array(random, &array);
        }
    }
    remove(&path);
});
