//! Frames as buffers, files and directories: opening one returns NULL, or a super-chunk whose parts can all be read and
//! changed without a memory error or panic.

#![no_main]

use libblosc2_fuzz::container::{remove, scratch_path, unpack, write};
use libblosc2_fuzz::frame_exercise::Exercise;
use libblosc2_fuzz::support::guard::GuardedBuffer;
use libblosc2_fuzz::support::random::Random;
use libblosc2_fuzz::support::super_chunk::SuperChunk;
use libblosc2_fuzz::{library, split_seed};
use libfuzzer_sys::fuzz_target;

/// Reads all parts of the super-chunk; in one of four inputs, also changes it.
fn exercise(schunk: &SuperChunk, may_change: bool, random: &mut Random) {
    Exercise.read(random, schunk);
    if may_change && random.one_in(4) {
        Exercise.change(random, schunk);
    }
}

fn check_in_memory(frame: &[u8], random: &mut Random) {
    let (library, at_end) = (library(), !random.one_in(4));
    let mut guarded = GuardedBuffer::new(frame.len());
    let buffer = guarded.edge_bytes(frame.len(), at_end);
    buffer.copy_from_slice(frame);
    let schunk = if random.one_in(2) {
        SuperChunk::from_frame_copy(library, buffer)
    } else {
        // SAFETY: the buffer outlives the super-chunk, which is only read.
        unsafe { SuperChunk::from_borrowed_frame(library, buffer.as_mut_ptr(), buffer.len()) }
    };
    if let Some(schunk) = schunk {
        Exercise.read(random, &schunk);
    }
    assert!(buffer == frame, "reading changed the buffer");
    if random.one_in(4)
        && let Some(schunk) = SuperChunk::from_frame_copy(library, buffer)
    {
        Exercise.change(random, &schunk);
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((data, mut random)) = split_seed(input) else { return };
    let (library, random) = (library(), &mut random);
    let files = unpack(data);
    if let Some(frame) = files.get("frame").filter(|_| random.one_in(2)) {
        return check_in_memory(frame, random);
    }
    let path = scratch_path();
    write(&files, &path);
    if let Some(schunk) = SuperChunk::open(library, &path) {
        exercise(&schunk, true, random);
    }
    remove(&path);
});
