use super::*;
use crate::abi::{CBool, blosc2_stdio_params};
use crate::os::FileStat;
use std::fs;
use std::ptr::null_mut;

#[test]
fn open_modes_limit_reading_writing_and_creating() {
    let (dir, backend) = (TempDir::new(), Backend::native());
    let path = dir.c_path("file");
    for mode in [OpenMode::Read, OpenMode::Update] {
        assert_eq!(error_code(backend.open(&path, mode)), -15);
    }
    fs::write(dir.join("file"), "0123456789").unwrap();
    let update = backend.open(&path, OpenMode::Update).unwrap();
    update.write_at(2, b"ab", WriteUnit::Bytes).unwrap();
    let mut bytes = [0; 4];
    update.read_exact_at(1, &mut bytes).unwrap();
    assert_eq!(&bytes, b"1ab4");
    let append = backend.open(&path, OpenMode::Append).unwrap();
    assert_eq!(append.size().unwrap(), 10);
    append.write_at(11, b"end", WriteUnit::Item).unwrap();
    append.write_at(0, b"x", WriteUnit::Item).unwrap();
    assert_eq!(fs::read(dir.join("file")).unwrap(), b"x1ab456789\0end");
    let read = backend.open(&path, OpenMode::Read).unwrap();
    assert_eq!(error_code(read.write_at(0, b"y", WriteUnit::Bytes)), -14);
    assert_eq!(error_code(read.truncate(0)), -25);
    update.truncate(3).unwrap();
    assert_eq!(read.size().unwrap(), 3);
    backend.open(&path, OpenMode::Create).unwrap();
    assert_eq!(read.size().unwrap(), 0);
    backend.open(&dir.c_path("new"), OpenMode::Append).unwrap();
    assert_eq!(fs::read(dir.join("new")).unwrap(), b"");
}

/// The times of files have 64 bits, with 32-bit processors too.
#[test]
fn file_of_the_next_century_has_a_stamp() {
    let dir = TempDir::new();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(5_000_000_000);
    fs::File::create(dir.join("file")).unwrap().set_modified(time).unwrap();
    let found = FileStat::at(&dir.c_path("file")).expect("the file");
    assert_eq!(found.modified, (5_000_000_000, 0));
}

#[test]
fn reads_stop_at_the_end_of_the_file() {
    let (dir, backend) = (TempDir::new(), Backend::native());
    fs::write(dir.join("file"), "0123456789").unwrap();
    let stream = backend.open(&dir.c_path("file"), OpenMode::Read).unwrap();
    let mut bytes = [b'.'; 4];
    assert_eq!(stream.read_at(8, &mut bytes).unwrap(), 2);
    assert_eq!(&bytes, b"89..");
    assert_eq!(stream.read_at(10, &mut bytes).unwrap(), 0);
    assert_eq!(stream.read_at(1 << 40, &mut bytes).unwrap(), 0);
    assert_eq!(error_code(stream.read_exact_at(7, &mut bytes)), -13);
    assert_eq!(error_code(stream.read_exact_at(u64::MAX, &mut bytes)), -13);
    stream.read_exact_at(10, &mut []).unwrap();
    assert!(stream.borrow_at(0, 1).unwrap().is_none());
    // Windows does not open directories.
    if let Ok(directory) = backend.open(&dir.c_path("."), OpenMode::Read) {
        assert_eq!(error_code(directory.read_exact_at(0, &mut bytes)), -13);
    }
}

#[test]
fn vectored_write_writes_all_parts_in_order() {
    let (dir, backend) = (TempDir::new(), Backend::native());
    let stream = backend.open(&dir.c_path("file"), OpenMode::Create).unwrap();
    let texts: Vec<Vec<u8>> = (0..100u8).map(|i| vec![i; usize::from(i % 7) * 300]).collect();
    let parts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    stream.write_vectored_at(5, &parts).unwrap();
    let mut expected = vec![0; 5];
    expected.extend(texts.concat());
    assert_eq!(fs::read(dir.join("file")).unwrap(), expected);
    stream.write_vectored_at(0, &[]).unwrap();
    stream.write_vectored_at(0, &[b"", b"ab", b"", b"", b"c", b""]).unwrap();
    assert_eq!(fs::read(dir.join("file")).unwrap()[..5], *b"abc\0\0");
    assert_eq!(error_code(stream.write_vectored_at(u64::MAX - 5, &[b"ab"])), -14);
    let read = backend.open(&dir.c_path("file"), OpenMode::Read).unwrap();
    assert_eq!(error_code(read.write_vectored_at(0, &[b"ab"])), -14);
}

#[test]
fn removing_missing_file_succeeds_and_full_directory_fails() {
    let (dir, backend) = (TempDir::new(), Backend::native());
    fs::write(dir.join("file"), "1").unwrap();
    fs::create_dir_all(dir.join("full/inner")).unwrap();
    assert_eq!(error_code(backend.remove(&dir.c_path("file"))), 0);
    assert!(!dir.join("file").exists());
    assert_eq!(error_code(backend.remove(&dir.c_path("file"))), 0);
    assert_eq!(error_code(backend.remove(&dir.c_path("full"))), -31);
}

#[test]
fn locking_is_enabled_by_the_parameters() {
    // The environment variable is tested in `environment`, in child processes.
    assert!(!Backend::native().needs_locking());
    for locking in [CBool::FALSE, CBool::TRUE, CBool(7)] {
        let mut params = blosc2_stdio_params { locking };
        // SAFETY: parameters of that back-end.
        let backend = unsafe { resolve(0, (&raw mut params).cast()) }.unwrap();
        assert!(backend.is_native() && backend.id() == 0 && !backend.is_zero_copy());
        assert_eq!(backend.needs_locking(), locking.get());
        backend.destroy().unwrap();
        backend.destroy().unwrap();
    }
    // SAFETY: NULL is allowed, and these ids are not registered.
    unsafe {
        assert!(!resolve(0, null_mut()).unwrap().needs_locking());
        assert_eq!(error_code(resolve(2, null_mut())), -30);
        assert_eq!(error_code(resolve(250, null_mut())), -30);
    }
}

/// Positions beyond 2 and 4 GiB, in a file with a hole: calls with offsets of 32 bits fail there.
#[test]
fn positions_beyond_4_gib_are_those_of_the_file() {
    let (dir, backend) = (TempDir::new(), Backend::native());
    let path = dir.c_path("file");
    for position in [(1u64 << 31) - 3, (1 << 32) - 3] {
        let stream = backend.open(&path, OpenMode::Create).unwrap();
        stream.write_vectored_at(position, &[b"abc", b"def"]).unwrap();
        stream.write_at(position + 6, b"ghi", WriteUnit::Bytes).unwrap();
        let stream = backend.open(&path, OpenMode::Update).unwrap();
        let mut bytes = [0; 9];
        stream.read_exact_at(position, &mut bytes).unwrap();
        assert_eq!(&bytes, b"abcdefghi");
        assert_eq!(stream.size().unwrap(), position + 9);
        let observed = read_file_stamp(&path).expect("the stamp of the file");
        assert_eq!(observed.stamp.size, position + 9);
        assert!(super::super::native::identity(&fs::File::open(dir.join("file")).unwrap()).is_some());
        stream.truncate(position + 1).unwrap();
        assert_eq!(stream.size().unwrap(), position + 1);
    }
}

#[test]
fn exported_stdio_functions_accept_positions_beyond_4_gib() {
    let dir = TempDir::new();
    let path = dir.c_path("file");
    let position = (1i64 << 32) - 2;
    let stream = stdio::open(&path, c"wb+").unwrap();
    let mut bytes = [0u8; 4];
    // SAFETY: an open stream, which is closed once; four bytes are read and written.
    unsafe {
        let file = (*stream).file;
        assert_eq!(stdio::write(file, b"abcd".as_ptr().cast(), 4, position), 4);
        assert_eq!(stdio::size(file).unwrap(), position + 4);
        assert_eq!(stdio::read(file, bytes.as_mut_ptr().cast(), 4, position), 4);
        stdio::truncate(file, position + 1).unwrap();
        assert_eq!(stdio::size(file).unwrap(), position + 1);
        stdio::close(stream).unwrap();
    }
    assert_eq!(&bytes, b"abcd");
    // The file is opened again with its length.
    let again = stdio::open(&path, c"rb").unwrap();
    // SAFETY: an open stream, which is closed once.
    unsafe {
        assert_eq!(stdio::size((*again).file).unwrap(), position + 1);
        stdio::close(again).unwrap();
    }
}
