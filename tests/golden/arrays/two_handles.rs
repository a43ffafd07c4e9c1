//! Two handles of one file (b2nd.md 6.15): the changes that the second handle detects.

use crate::support::all_libraries;
use crate::support::array::{Array, ArraySpec};
use crate::support::library::Library;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk, locking_io};

fn open(library: &'static Library, path: &std::path::Path, locking: bool) -> Array {
    if locking {
        let schunk = SuperChunk::open_locking(library, path).expect("a super-chunk");
        return Array::from_super_chunk(schunk).expect("an array");
    }
    Array::open(library, path).1.expect("an array")
}

#[test]
fn second_handle_detects_growth_and_writes() {
    let scratch = ScratchDir::new();
    for library in all_libraries() {
        for store in Store::ON_DISK {
            for locking in [false, true] {
                let path = scratch.new_path();
                let spec = ArraySpec::new(&[10], &[4], &[2], 1).with_store(store, &path);
                let context = spec.try_context(library, locking.then(locking_io)).expect("a context");
                drop(context.create_from_buffer(&(1..=10).collect::<Vec<u8>>()).1.expect("an array"));
                let (first, second) = (open(library, &path, locking), open(library, &path, locking));
                let name = format!("{}: {store:?}, locking: {locking}", library.name);
                assert_eq!((first.refresh(), second.refresh()), (0, 0), "{name}");
                // Inside the last chunk: the length of the file does not change.
                assert_eq!(first.resize(&[11], None), 0, "{name}");
                assert_eq!(second.refresh(), i32::from(locking), "{name}");
                assert_eq!(second.shape(), if locking { [11] } else { [10] }, "{name}");
                // More chunks.
                assert_eq!(first.append(&[21; 9], 0), 0, "{name}");
                if store == Store::File {
                    assert_eq!(second.refresh(), 1, "{name}");
                    assert_eq!(second.shape(), [20], "{name}");
                    assert_eq!(second.get(&[11], &[20]), Ok(vec![21; 9]), "{name}");
                    assert_eq!(second.refresh(), 0, "{name}");
                }
                if locking {
                    // A write of items alone is detected too, without a call.
                    assert_eq!(first.set(&[0], &[2], &[91, 92]), 0, "{name}");
                    assert_eq!(second.get(&[0], &[3]), Ok(vec![91, 92, 3]), "{name}");
                    assert_eq!((first.set(&[1], &[2], &[93]), second.refresh()), (0, 1), "{name}");
                    assert_eq!(second.to_cbuffer(), first.to_cbuffer(), "{name}");
                }
            }
        }
    }
}
