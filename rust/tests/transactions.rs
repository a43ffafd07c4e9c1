//! Transactions of super-chunks and arrays that fail, in every kind of storage.

use blosc2::{Array, Durability, Error, ErrorKind, OpenOptions, Params, Result, SuperChunk};
use std::collections::BTreeMap;
use std::path::Path;

/// The content and the metalayers of a super-chunk.
#[derive(Debug, PartialEq)]
struct State {
    content: Vec<Vec<u8>>,
    fixed: BTreeMap<String, Vec<u8>>,
    variable: BTreeMap<String, Vec<u8>>,
}

fn state(schunk: &SuperChunk) -> State {
    State {
        content: (0..schunk.nchunks()).map(|n| schunk.decompress_chunk(n).unwrap()).collect(),
        fixed: schunk.metalayers().fixed_map().unwrap(),
        variable: schunk.metalayers().variable_map().unwrap(),
    }
}

fn params() -> Params {
    Params::new().typesize(4)
}

/// Adds a metalayer of each kind and three chunks.
fn fill(schunk: &mut SuperChunk) {
    schunk.metalayers_mut().unwrap().set_fixed("fixed", b"fixed before").unwrap();
    schunk.metalayers_mut().unwrap().set_variable("variable", b"before").unwrap();
    for n in 0..3u8 {
        schunk.append(&[n; 4000]).unwrap();
    }
}

/// Changes every part of a filled super-chunk.
fn change(schunk: &mut SuperChunk) -> Result<()> {
    schunk.append(&[9; 4000])?;
    schunk.delete_chunk(0)?;
    schunk.update_chunk(0, &blosc2::compress(&[8; 4000], &params())?)?;
    schunk.write_items(1500, &[7; 400])?;
    schunk.metalayers_mut()?.set_fixed("fixed", b"fixed behind")?;
    schunk.metalayers_mut()?.set_variable("variable", b"changed")?;
    schunk.metalayers_mut()?.set_variable("new", b"new")
}

fn failure() -> Error {
    std::io::Error::other("the program gives up").into()
}

/// Super-chunks in memory, and in files and directories at each durability.
fn each_storage(folder: &Path, check: impl Fn(SuperChunk, Option<&Path>)) {
    check(SuperChunk::new(&params()).unwrap(), None);
    check(SuperChunk::new_frame(&params()).unwrap(), None);
    for (n, durability) in [Durability::Off, Durability::Kill, Durability::Power].into_iter().enumerate() {
        for directory in [false, true] {
            let path = folder.join(format!("{n}{directory}"));
            let options =
                OpenOptions::new().write(true).create_new(true).directory(directory).durability(durability);
            check(options.params(params()).open(&path).unwrap(), Some(&path));
        }
    }
}

#[test]
fn after_an_error_no_change_is_there() {
    let folder = tempfile::tempdir().unwrap();
    each_storage(folder.path(), |mut schunk, path| {
        fill(&mut schunk);
        let before = state(&schunk);
        let error = schunk.transaction(|schunk| change(schunk).and(Err::<(), _>(failure()))).unwrap_err();
        assert_eq!(error.to_string(), "the program gives up");
        assert_eq!(state(&schunk), before, "{path:?}");
        if let Some(path) = path {
            assert_eq!(state(&SuperChunk::open(path).unwrap()), before, "{path:?}");
        }

        // The super-chunk can be changed afterwards.
        schunk.transaction(change).unwrap();
        let after = state(&schunk);
        assert_ne!(after, before);
        drop(schunk);
        if let Some(path) = path {
            assert_eq!(state(&SuperChunk::open(path).unwrap()), after, "{path:?}");
            assert_eq!(blosc2::verify(path, 1).unwrap().len(), 0, "{path:?}");
        }
    });
}

#[test]
fn an_inner_transaction_that_fails_leaves_the_changes_of_the_outer_one() {
    let folder = tempfile::tempdir().unwrap();
    each_storage(folder.path(), |mut schunk, path| {
        fill(&mut schunk);
        schunk
            .transaction(|schunk| {
                schunk.append(&[5; 4000])?;
                assert!(schunk.transaction(|schunk| change(schunk).and(Err::<(), _>(failure()))).is_err());
                schunk.append(&[6; 4000])
            })
            .unwrap();
        let found = state(&schunk);
        let firsts: Vec<u8> = found.content.iter().map(|chunk| chunk[0]).collect();
        assert_eq!(firsts, [0, 1, 2, 5, 6], "{path:?}");
        assert_eq!(found.variable, BTreeMap::from([("variable".to_owned(), b"before".to_vec())]));
        if let Some(path) = path {
            drop(schunk);
            assert_eq!(state(&SuperChunk::open(path).unwrap()), found, "{path:?}");
        }
    });
}

#[test]
fn a_call_that_fails_in_a_transaction_does_not_keep_its_changes() {
    let folder = tempfile::tempdir().unwrap();
    each_storage(folder.path(), |mut schunk, path| {
        fill(&mut schunk);
        let before = state(&schunk);
        // The items begin in the last chunk and end behind it.
        let result = schunk.transaction(|schunk| {
            schunk.append(&[5; 4000])?;
            schunk.write_items(3900, &[1; 4000])
        });
        assert!(result.is_err());
        assert_eq!(state(&schunk), before, "{path:?}");
    });
}

#[test]
fn after_a_panic_no_change_is_there() {
    let folder = tempfile::tempdir().unwrap();
    each_storage(folder.path(), |mut schunk, path| {
        fill(&mut schunk);
        let before = state(&schunk);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            schunk.transaction(|schunk| -> Result<()> {
                change(schunk)?;
                panic!("of the test")
            })
        }));
        assert!(caught.is_err());
        assert_eq!(state(&schunk), before, "{path:?}");
        schunk.append(&[4; 4000]).unwrap();
        assert_eq!(schunk.nchunks(), 4);
    });
}

#[test]
fn a_super_chunk_that_was_opened_for_reading_has_no_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it");
    fill(&mut SuperChunk::create(&path, &params()).unwrap());
    let mut schunk = SuperChunk::open(&path).unwrap();
    assert_eq!(schunk.transaction(|_| Ok(())).unwrap_err().kind(), ErrorKind::FileWrite);
}

/// Changes of the shape, of items and of a metalayer.
fn change_array(array: &mut Array<i32>) -> Result<()> {
    array.resize(&[6, 5])?;
    array.write((2.., 1), &[-1, -2, -3, -4])?;
    array.append(0, &[7; 10])?;
    array.metalayers_mut()?.set_variable("rows", b"more")
}

#[test]
fn arrays_have_their_shape_and_items_back() {
    let folder = tempfile::tempdir().unwrap();
    let items: Vec<i32> = (0..20).collect();
    let builder = || Array::<i32>::builder([4, 5]).chunks([2, 3]).blocks([1, 2]);
    let mut arrays = vec![(builder().in_memory_from(&items).unwrap(), None)];
    for (n, durability) in [Durability::Off, Durability::Kill, Durability::Power].into_iter().enumerate() {
        for directory in [false, true] {
            let path = folder.path().join(format!("{n}{directory}"));
            let builder = builder().directory(directory).durability(durability);
            arrays.push((builder.create_from(&path, &items).unwrap(), Some(path)));
        }
    }
    for (mut array, path) in arrays {
        let is_as_before = |array: &Array<i32>| {
            assert_eq!(array.shape(), [4, 5], "{path:?}");
            assert_eq!(array.read(..).unwrap(), items, "{path:?}");
            assert_eq!(array.metalayers().unwrap().variable("rows").unwrap(), None, "{path:?}");
        };
        let error = array.transaction(|array| change_array(array).and(Err::<(), _>(failure()))).unwrap_err();
        assert_eq!(error.to_string(), "the program gives up");
        is_as_before(&array);
        let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            array.transaction(|array| -> Result<()> {
                change_array(array).unwrap();
                panic!("the program panics")
            })
        }));
        assert!(panics.is_err());
        is_as_before(&array);
        if let Some(path) = &path {
            is_as_before(&Array::open(path).unwrap());
        }

        array.transaction(change_array).unwrap();
        let is_changed = |array: &Array<i32>| {
            assert_eq!(array.shape(), [8, 5], "{path:?}");
            assert_eq!(array.read((.., 1)).unwrap(), [1, 6, -1, -2, -3, -4, 7, 7], "{path:?}");
        };
        is_changed(&array);
        if let Some(path) = &path {
            is_changed(&Array::open(path).unwrap());
        }
    }
}
