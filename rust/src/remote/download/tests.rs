//! Copies of whole and of damaged directories.

use crate::remote::Client;
use crate::{Array, Error, Part};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

fn kind(error: Error) -> io::ErrorKind {
    io::Error::from(error).kind()
}

/// Creates an array of ten chunks in a directory.
fn create(path: &Path) {
    let items: Vec<u32> = (0..1000).map(|n| n * n).collect();
    drop(Array::<u32>::builder([1000]).chunks([100]).directory(true).create_from(path, &items).unwrap());
}

fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn directories_and_files_are_copied_byte_by_byte() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (directory.path().join("a.b2nd"), directory.path().join("copy"));
    create(&path);
    fs::write(path.join("notes.txt"), "no file of the array").unwrap();
    let url = format!("file://{}", path.display());
    for (url, damaged) in [(url.clone(), false), (format!("{url}/"), true)] {
        Client::new().download(&url, &copy, damaged).unwrap();
        let mut expected = files(&path);
        expected.remove("notes.txt");
        assert!(files(&copy) == expected, "{url}");
        assert_eq!(
            kind(Client::new().download(&url, &copy, damaged).unwrap_err()),
            io::ErrorKind::AlreadyExists
        );
        fs::remove_dir_all(&copy).unwrap();
    }
    // Longer than the part of a file that is in memory.
    for len in [0, 5, super::BUFFER * 2 + 3] {
        let bytes: Vec<u8> = (0..len as u64).map(|n| (n.wrapping_mul(0x9E37_79B9) >> 13) as u8).collect();
        fs::write(directory.path().join("file"), &bytes).unwrap();
        let url = format!("file://{}", directory.path().join("file").display());
        Client::new().download(&url, &copy, false).unwrap();
        assert!(fs::read(&copy).unwrap() == bytes, "{len}");
        fs::remove_file(&copy).unwrap();
    }
    assert_eq!(
        kind(Client::new().download("file:///no/such", &copy, true).unwrap_err()),
        io::ErrorKind::NotFound
    );
}

#[test]
fn of_a_damaged_directory_the_rest_is_copied_if_asked() {
    let directory = tempfile::tempdir().unwrap();
    let (path, copy) = (directory.path().join("a.b2nd"), directory.path().join("copy"));
    create(&path);
    let url = format!("file://{}", path.display());
    let client = Client::new();
    fs::remove_file(path.join("00000003.chunk")).unwrap();
    let error = client.download(&url, &copy, false).unwrap_err();
    assert!(error.to_string().contains("00000003.chunk"), "{error}");
    assert_eq!(kind(error), io::ErrorKind::NotFound);
    // The array, and no copy.
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    client.download(&url, &copy, true).unwrap();
    let damages = crate::verify(&copy, 1).unwrap();
    assert!(damages.len() == 1 && damages[0].nchunk == Some(3), "{damages:?}");
    fs::remove_dir_all(&copy).unwrap();

    // Without an index that can be read, the chunks are found by their names.
    let index = path.join("chunks.b2frame");
    let mut bytes = fs::read(&index).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0);
    fs::write(&index, &bytes).unwrap();
    assert!(client.download(&url, &copy, false).is_err());
    client.download(&url, &copy, true).unwrap();
    assert!(files(&copy) == files(&path));
    assert!(crate::verify(&copy, 1).unwrap().iter().any(|damage| damage.part != Part::Chunk));
}
