//! The trace of slices (schunk.md 22, T8, and the table of 12.2).

use super::{for_each_library_and_store, i32_bytes, params_with_typesize};
use crate::support::calls::Params;
use crate::support::super_chunk::{Store, SuperChunk};

#[test]
fn t8_slices() {
    for_each_library_and_store(&Store::ALL, |library, store, path| {
        let what = format!("{}: {store:?}", library.name);
        let params = Params { blocksize: 1024, ..params_with_typesize(4) };
        let schunk = SuperChunk::create(library, store, path, &params);
        let mut items: Vec<i32> = (0..2500).collect();
        for range in [0..1000, 1000..2000, 2000..2500] {
            schunk.append(&i32_bytes(range)).expect("appended");
        }
        assert_eq!(schunk.cbytes(), 2915, "{what}");
        let len = match store {
            Store::Memory => 2939,
            Store::MemoryFrame | Store::File => 3103,
            Store::Directory => 188,
        };
        assert_eq!(schunk.frame_len(), len, "{what}");
        let new: Vec<i32> = (0..2500).map(|j| 100_000 + j).collect();
        let steps = [
            (10, 20, 2963, 3151),
            (990, 1010, 3006, 3194),
            (0, 1000, 3007, 3195),
            (2000, 2500, 3013, 3201),
            (2100, 2500, 3024, 3212),
            (0, 0, 3024, 3212),
            (5, 3, 3024, 3212),
        ];
        for (start, stop, cbytes, frame_len) in steps {
            assert_eq!(schunk.set_slice(start, stop, &i32_bytes(new.iter().copied())), 0, "{what}: {start}");
            assert_eq!(schunk.cbytes(), cbytes, "{what}: {start}..{stop}");
            if store.is_contiguous() {
                assert_eq!(schunk.frame_len(), frame_len, "{what}: {start}..{stop}");
            }
            if start < stop {
                let count = (stop - start) as usize;
                items[start as usize..stop as usize].copy_from_slice(&new[..count]);
            }
            let all = i32_bytes(items.iter().copied());
            assert!(schunk.contents() == all, "{what}: after {start}..{stop}");
            for (from, to) in [(0, 2500), (7, 8), (999, 1001), (1000, 2000), (2400, 2500), (3, 3)] {
                let found = schunk.get_slice(from as i64, to as i64, 4 * (to - from));
                assert!(found.as_deref() == Ok(&all[4 * from..4 * to]), "{what}: {from}..{to}");
            }
        }
        // Past the end.
        assert_eq!(schunk.get_slice(2400, 2501, 404).err(), Some(-1), "{what}");
        assert_eq!(schunk.get_slice(0, 4000, 16_000).err(), Some(-1), "{what}");
        assert_eq!(schunk.slice_nchunks(2400, 9000), Ok((2..9).collect()), "{what}");
        assert_eq!(schunk.slice_nchunks(5, 5), Ok(vec![0]), "{what}");
        assert_eq!(schunk.slice_nchunks(1000, 1000), Ok(Vec::new()), "{what}");
        let coords = [2499, 0, 1000, 999, 0, 2000];
        let expected = i32_bytes(coords.map(|at| items[at as usize]));
        assert_eq!(schunk.get_sparse(&coords, 24), Ok(expected), "{what}");
        assert_eq!(schunk.get_sparse(&[0, 2500], 8), Err(-12), "{what}");
        assert_eq!(schunk.get_sparse(&[-1], 4), Err(-12), "{what}");
    });
}

/// Writes around the end of a short last chunk (schunk.md 12.2).
#[test]
fn set_slice_around_the_end_returns_the_documented_codes() {
    let cases = [
        (2100, 2600, 0, 2500),
        (2600, 2700, 0, 2500),
        (2100, 3001, -1, 2500),
        (3000, 3100, -1, 2500),
        (3000, 4000, -21, 2500),
        (2000, 3000, 0, 3000),
        (1500, 4000, -21, 3000),
    ];
    for (start, stop, rc, left) in cases {
        for_each_library_and_store(&Store::ALL, |library, store, path| {
            let what = format!("{}: {store:?}, {start}..{stop}", library.name);
            let params = Params { blocksize: 1024, ..params_with_typesize(4) };
            let schunk = SuperChunk::create(library, store, path, &params);
            for range in [0..1000, 1000..2000, 2000..2500] {
                schunk.append(&i32_bytes(range)).expect("appended");
            }
            let new = i32_bytes((0..stop as i32 - start as i32).map(|j| -j));
            assert_eq!(schunk.set_slice(start, stop, &new), rc, "{what}");
            assert_eq!(schunk.nbytes(), 4 * left, "{what}");
        });
    }
}
