use super::*;
use std::fs;
use std::os::fd::AsRawFd;
use std::thread;

fn text(reader: &CachedReader) -> crate::Result<String> {
    reader.with(|stream| {
        let mut bytes = vec![0; stream.size()? as usize];
        stream.read_exact_at(0, &mut bytes)?;
        Ok(String::from_utf8(bytes).expect("text"))
    })
}

/// Revalidates the reader with the current identity of its path.
fn revalidated(reader: &CachedReader) -> bool {
    reader.revalidate(stamp_at(reader.path()).map(|there| there.stamp.identity))
}

#[test]
fn a_handle_is_kept_and_followed() {
    let dir = TempDir::new();
    let reader = CachedReader::new(Backend::native(), dir.c_path("file"));
    assert_eq!(code(text(&reader)), -15);
    assert!(!revalidated(&reader));
    fs::write(dir.join("file"), "one").unwrap();
    assert_eq!(text(&reader).unwrap(), "one");
    let descriptor = || reader.with(|stream| Ok(stream.as_file().map(AsRawFd::as_raw_fd))).unwrap();
    assert_eq!(descriptor(), descriptor());
    assert!(!revalidated(&reader));
    fs::write(dir.join("file"), "two").unwrap();
    assert!(!revalidated(&reader), "the same file");
    assert_eq!(text(&reader).unwrap(), "two");
    fs::write(dir.join("new"), "three").unwrap();
    fs::rename(dir.join("new"), dir.join("file")).unwrap();
    assert_eq!(text(&reader).unwrap(), "two", "not looked at yet");
    assert!(revalidated(&reader));
    assert!(!revalidated(&reader));
    assert_eq!(text(&reader).unwrap(), "three");
    assert!(!revalidated(&reader));
    fs::remove_file(dir.join("file")).unwrap();
    assert!(!revalidated(&reader));
    assert_eq!(text(&reader).unwrap(), "three", "the old file can still be read");
}

#[test]
fn without_keeping_every_use_opens() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "one").unwrap();
    let reader = CachedReader::uncached(Backend::native(), dir.c_path("file"));
    assert_eq!(text(&reader).unwrap(), "one");
    fs::remove_file(dir.join("file")).unwrap();
    assert!(!revalidated(&reader));
    assert_eq!(code(text(&reader)), -15);
}

#[test]
fn a_use_outlives_the_handle() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "one").unwrap();
    let reader = CachedReader::new(Backend::native(), dir.c_path("file"));
    text(&reader).unwrap();
    reader
        .with(|stream| {
            fs::write(dir.join("new"), "two").unwrap();
            fs::rename(dir.join("new"), dir.join("file")).unwrap();
            assert!(revalidated(&reader));
            assert_eq!(text(&reader)?, "two");
            let mut bytes = [0; 3];
            stream.read_exact_at(0, &mut bytes)?;
            assert_eq!(&bytes, b"one");
            Ok(())
        })
        .unwrap();
}

#[test]
fn threads_read_while_the_file_is_replaced() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "0000").unwrap();
    let reader = CachedReader::new(Backend::native(), dir.c_path("file"));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..500 {
                    revalidated(&reader);
                    let text = text(&reader).unwrap();
                    assert!(text.len() == 4 && text.bytes().all(|byte| byte == text.as_bytes()[0]), "{text}");
                }
            });
        }
        for i in 0..200 {
            fs::write(dir.join("new"), (i % 10).to_string().repeat(4)).unwrap();
            fs::rename(dir.join("new"), dir.join("file")).unwrap();
        }
    });
}
