use super::*;
use crate::io::replacement::Replacement;
use std::fs;
#[cfg(unix)]
use std::os::fd::AsRawFd;
use std::thread;

fn read_text(reader: &PathReader) -> crate::Result<String> {
    reader.with_stream(|stream| {
        let mut bytes = vec![0; stream.size()? as usize];
        stream.read_exact_at(0, &mut bytes)?;
        Ok(String::from_utf8(bytes).expect("text"))
    })
}

/// Revalidates the reader with the current identity of its path.
fn revalidate_path(reader: &PathReader) -> bool {
    reader.revalidate(read_file_stamp(&reader.path).map(|there| there.stamp.version()))
}

#[test]
#[cfg(unix)]
fn cached_handle_is_replaced_when_the_path_names_another_file() {
    let dir = TempDir::new();
    let reader = PathReader::new(dir.c_path("file"));
    assert_eq!(error_code(read_text(&reader)), -15);
    assert!(!revalidate_path(&reader));
    fs::write(dir.join("file"), "one").unwrap();
    assert_eq!(read_text(&reader).unwrap(), "one");
    let descriptor = || reader.with_stream(|stream| Ok(stream.as_file().map(AsRawFd::as_raw_fd))).unwrap();
    assert_eq!(descriptor(), descriptor());
    assert!(!revalidate_path(&reader));
    fs::write(dir.join("file"), "two").unwrap();
    assert!(!revalidate_path(&reader), "the same file");
    assert_eq!(read_text(&reader).unwrap(), "two");
    fs::write(dir.join("new"), "three").unwrap();
    fs::rename(dir.join("new"), dir.join("file")).unwrap();
    assert_eq!(read_text(&reader).unwrap(), "two", "not looked at yet");
    assert!(revalidate_path(&reader));
    assert!(!revalidate_path(&reader));
    assert_eq!(read_text(&reader).unwrap(), "three");
    assert!(!revalidate_path(&reader));
    fs::remove_file(dir.join("file")).unwrap();
    assert!(!revalidate_path(&reader));
    assert_eq!(read_text(&reader).unwrap(), "three", "the old file can still be read");
}

#[test]
fn uncached_reader_opens_the_file_for_every_read() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "one").unwrap();
    let reader = PathReader::uncached(dir.c_path("file"));
    assert_eq!(read_text(&reader).unwrap(), "one");
    fs::remove_file(dir.join("file")).unwrap();
    assert!(!revalidate_path(&reader));
    assert_eq!(error_code(read_text(&reader)), -15);
}

#[test]
fn replaced_handle_reads_the_new_file_without_opening_it() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "one").unwrap();
    fs::write(dir.join("new"), "two").unwrap();
    for (reader, is_kept) in
        [(PathReader::new(dir.c_path("file")), true), (PathReader::uncached(dir.c_path("file")), false)]
    {
        assert_eq!(read_text(&reader).unwrap(), "one");
        reader.replace_open_file(Some(fs::File::open(dir.join("new")).unwrap()));
        assert_eq!(read_text(&reader).unwrap(), if is_kept { "two" } else { "one" });
        assert!(revalidate_path(&reader), "the path names the old file");
        assert_eq!(read_text(&reader).unwrap(), "one");
        reader.replace_open_file(None);
        fs::rename(dir.join("file"), dir.join("moved")).unwrap();
        assert_eq!(error_code(read_text(&reader)), -15, "the file is opened again");
        fs::rename(dir.join("moved"), dir.join("file")).unwrap();
    }
}

#[test]
fn running_read_keeps_the_old_file_after_revalidation() {
    let dir = TempDir::new();
    fs::write(dir.join("file"), "one").unwrap();
    let reader = PathReader::new(dir.c_path("file"));
    read_text(&reader).unwrap();
    reader
        .with_stream(|stream| {
            fs::write(dir.join("new"), "two").unwrap();
            fs::rename(dir.join("new"), dir.join("file")).unwrap();
            assert!(revalidate_path(&reader));
            assert_eq!(read_text(&reader)?, "two");
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
    let reader = PathReader::new(dir.c_path("file"));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..500 {
                    revalidate_path(&reader);
                    let text = read_text(&reader).unwrap();
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

/// A handle that has replaced the file itself continues with the new one, and detects the next replacement.
#[test]
fn replacement_after_an_own_replacement_is_detected() {
    let dir = TempDir::new();
    let uncached = PathReader::uncached(dir.c_path("file"));
    for reader in [PathReader::new(dir.c_path("file")), uncached] {
        let replace = |text: &str| {
            let new = Replacement::prepare(&reader.path, text.as_bytes()).expect("written");
            new.commit(false).expect("replaced").expect("a new file")
        };
        fs::write(dir.join("file"), "one").unwrap();
        assert_eq!(read_text(&reader).unwrap(), "one");
        reader.replace_open_file(Some(replace("two")));
        assert!(!revalidate_path(&reader));
        assert_eq!(read_text(&reader).unwrap(), "two");
        // The second file may get the number of the first one, which was removed.
        for text in ["three", "four"] {
            std::thread::sleep(std::time::Duration::from_millis(20));
            replace(text);
        }
        assert!(revalidate_path(&reader));
        assert!(!revalidate_path(&reader));
        assert_eq!(read_text(&reader).unwrap(), "four");
    }
}
