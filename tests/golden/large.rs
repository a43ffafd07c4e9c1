//! Super-chunks and arrays of more than 2 and 4 GiB, by slices and at once. Their chunks are constants, so that they need little
//! memory; long buffers are one piece of memory at many addresses. With pointers of 32 bits, they are accessed by slices only.

use std::path::Path;

use crate::support::array::{Array, ArraySpec};
use crate::support::calls::Params;
use crate::support::library::Library;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// Bytes of a chunk.
const CHUNK: i64 = 8 << 20;
/// Bytes of a super-chunk or an array: more than 4 GiB, and no multiple of a chunk.
const TOTAL: i64 = (4 << 30) + 5 * CHUNK / 2;
/// Bytes of a row of an array.
const ROW: i64 = 1 << 20;
/// The first positions that numbers of 31 and 32 bits do not have.
const BORDERS: [i64; 2] = [1 << 31, 1 << 32];

/// Bytes that are written on both sides of a border, half of them before it.
fn marks() -> Vec<u8> {
    (1..=200).collect()
}

fn for_each_library_and_store(test: impl Fn(&'static Library, Store, &Path)) {
    let scratch = ScratchDir::new();
    for library in crate::support::all_libraries() {
        for store in [Store::Memory, Store::File] {
            test(library, store, &scratch.new_path());
        }
    }
}

fn check_marks(schunk: &SuperChunk) {
    let name = schunk.library.name;
    assert_eq!((schunk.nbytes(), schunk.nchunks()), (TOTAL, (TOTAL + CHUNK - 1) / CHUNK), "{name}");
    let wide = [&[0; 50], &marks()[..], &[0; 50]].concat();
    for border in BORDERS {
        assert_eq!(schunk.get_slice(border - 150, border + 150, 300), Ok(wide.clone()), "{name}: {border}");
        assert_eq!(schunk.get_sparse(&[border, 5, border - 1], 3), Ok(vec![101, 0, 100]), "{name}: {border}");
        let chunks = schunk.slice_nchunks(border - 1, border + 1);
        assert_eq!(chunks, Ok(vec![border / CHUNK - 1, border / CHUNK]), "{name}");
        let chunk = schunk.decompress(border / CHUNK).expect("a chunk");
        assert!(chunk[..100] == marks()[100..] && chunk[100..].iter().all(|&byte| byte == 0), "{name}");
    }
    assert_eq!(schunk.get_slice(TOTAL - 10, TOTAL, 10), Ok(vec![0; 10]), "{name}");
    assert!(schunk.get_slice(TOTAL - 10, TOTAL + CHUNK, CHUNK as usize + 10).is_err(), "{name}");
}

#[test]
fn super_chunks_beyond_2_and_4_gib() {
    for_each_library_and_store(|library, store, path| {
        let name = library.name;
        let schunk = SuperChunk::create(
            library,
            store,
            path,
            &Params { typesize: 1, blocksize: 1 << 18, ..Params::default() },
        );
        assert_eq!(schunk.fill_special(TOTAL, 1, CHUNK as i32), (TOTAL + CHUNK - 1) / CHUNK, "{name}");
        for border in BORDERS {
            assert_eq!(schunk.set_slice(border - 100, border + 100, &marks()), 0, "{name}: {border}");
        }
        check_marks(&schunk);
        if store.is_on_disk() {
            let again = SuperChunk::open(library, path).expect("a super-chunk");
            check_marks(&again);
        }
        #[cfg(all(unix, target_pointer_width = "64"))]
        if store == Store::Memory {
            at_once::super_chunk(&schunk);
        }
        #[cfg(target_pointer_width = "32")]
        if name == "ours" {
            // The length exceeds that of any buffer: the call returns before it reads or writes.
            assert_eq!(schunk.get_slice(0, TOTAL, 10), Err(-12));
            assert_eq!(schunk.set_slice(0, TOTAL, &[1; 10]), -12);
            check_marks(&schunk);
        }
    });
}

/// Returns the box of an array with the marks around a border: two rows, 100 bytes of each.
fn box_at(border: i64) -> ([i64; 2], [i64; 2]) {
    let row = border / ROW;
    ([row - 1, ROW - 100], [row + 1, ROW])
}

fn check_array(array: &Array) {
    for border in BORDERS {
        let (start, stop) = box_at(border);
        assert_eq!(array.get(&start, &stop), Ok(marks()), "{border}");
        let wide = array.get(&[start[0] - 1, start[1] - 1], &stop).expect("a box");
        let expected = [&[0; 102], &marks()[..100], &[0], &marks()[100..]].concat();
        assert_eq!(wide, expected, "{border}");
    }
    let last = [TOTAL / ROW, ROW];
    assert_eq!(array.get(&last.map(|stop| stop - 1), &last), Ok(vec![0]));
}

#[test]
fn arrays_beyond_2_and_4_gib() {
    for_each_library_and_store(|library, store, path| {
        let spec = ArraySpec::new(&[TOTAL / ROW, ROW], &[(CHUNK / ROW) as i32, ROW as i32], &[1, 1 << 18], 1);
        let array = spec.with_store(store, path).zeros(library);
        for border in BORDERS {
            let (start, stop) = box_at(border);
            assert_eq!(array.set(&start, &stop, &marks()), 0, "{}: {border}", library.name);
        }
        check_array(&array);
        if store.is_on_disk() {
            check_array(&Array::open(library, path).1.expect("an array"));
        }
        #[cfg(all(unix, target_pointer_width = "64"))]
        if store == Store::Memory {
            at_once::array(&array);
        }
        let shape = [TOTAL / ROW + 4096, ROW];
        assert_eq!(array.resize(&shape, None), 0);
        check_array(&array);
        assert_eq!(array.get(&shape.map(|stop| stop - 1), &shape), Ok(vec![0]));
    });
}

/// Transfers between a super-chunk or an array and one buffer of more than 4 GiB.
#[cfg(all(unix, target_pointer_width = "64"))]
mod at_once {
    use super::*;
    use crate::support::system::{map_repeated, unmap_repeated};

    /// A piece of memory at many addresses.
    struct Repeated {
        start: *mut u8,
        len: usize,
    }

    impl Repeated {
        /// Returns a buffer of `len` bytes whose parts of `CHUNK` bytes are the same memory.
        fn new(len: i64) -> Repeated {
            let len = (len as usize).next_multiple_of(CHUNK as usize);
            Repeated { start: map_repeated(len, CHUNK as usize), len }
        }

        fn bytes(&mut self, start: i64, len: usize) -> &mut [u8] {
            assert!(len <= CHUNK as usize && start as usize + len <= self.len);
            // SAFETY: inside the mapping, and short enough that no byte of it is at two places.
            unsafe { std::slice::from_raw_parts_mut(self.start.add(start as usize), len) }
        }
    }

    impl Drop for Repeated {
        fn drop(&mut self) {
            // SAFETY: mapped by `new`, and not used afterwards.
            unsafe { unmap_repeated(self.start, self.len) }
        }
    }

    pub fn super_chunk(schunk: &SuperChunk) {
        let (name, mut buffer) = (schunk.library.name, Repeated::new(TOTAL));
        for border in BORDERS {
            // SAFETY: the buffer has the length of the slice.
            let read = |stop| unsafe {
                (schunk.functions.blosc2_schunk_get_slice_buffer)(schunk.raw(), 0, stop, buffer.start.cast())
            };
            assert_eq!(read(border + 100), 0, "{name}");
            assert_eq!(buffer.bytes(border - 100, 200), marks(), "{name}: {border}");
        }
        buffer.bytes(0, CHUNK as usize).fill(7);
        buffer.bytes(0, 200).copy_from_slice(&marks());
        // SAFETY: the buffer has the length of the slice.
        let written = unsafe {
            (schunk.functions.blosc2_schunk_set_slice_buffer)(schunk.raw(), 0, TOTAL, buffer.start.cast())
        };
        assert_eq!(written, 0, "{name}");
        for border in BORDERS {
            let expected = [&[7; 10], &marks()[..], &[7; 10]].concat();
            assert_eq!(schunk.get_slice(border - 10, border + 210, 220), Ok(expected), "{name}");
        }
    }

    pub fn array(array: &Array) {
        let mut buffer = Repeated::new(TOTAL);
        let (start, stop) = ([0, 0], [TOTAL / ROW, ROW]);
        for border in BORDERS {
            let stop = [border / ROW + 1, ROW];
            // SAFETY: the buffer has the length of the box.
            let read = unsafe {
                (array.functions.b2nd_get_slice_cbuffer)(
                    array.raw(),
                    start.as_ptr(),
                    stop.as_ptr(),
                    buffer.start.cast(),
                    stop.as_ptr(),
                    stop[0] * ROW,
                )
            };
            assert_eq!(read, 0);
            assert_eq!(buffer.bytes(border + ROW - 100, 100), &marks()[100..], "{border}");
        }
        // SAFETY: the buffer has the length of the array.
        let read = unsafe { (array.functions.b2nd_to_cbuffer)(array.raw(), buffer.start.cast(), TOTAL) };
        assert_eq!(read, 0);
        assert!(buffer.bytes(TOTAL - CHUNK / 2, CHUNK as usize / 2).iter().all(|&byte| byte == 0));
        // The same box again: zeros, and the marks at the end of a row.
        buffer.bytes(0, CHUNK as usize).fill(0);
        // SAFETY: the buffer has the length of the array.
        let written = unsafe {
            (array.functions.b2nd_set_slice_cbuffer)(
                buffer.start.cast(),
                stop.as_ptr(),
                TOTAL,
                start.as_ptr(),
                stop.as_ptr(),
                array.raw(),
            )
        };
        assert_eq!(written, 0);
        for border in BORDERS {
            let (start, stop) = box_at(border);
            assert_eq!(array.get(&start, &stop), Ok(vec![0; 200]), "{border}");
            assert_eq!(array.set(&start, &stop, &marks()), 0);
        }
        check_array(array);
    }
}
