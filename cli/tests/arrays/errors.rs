//! Messages and exit codes.

use crate::support::*;

#[test]
fn existing_files_are_kept_without_force() {
    let directory = Directory::new();
    directory.write("a.npy", &npy("|u1", false, &[2], &[1, 2]));
    directory.write("a.b2nd", b"old");
    directory.fails(&["import", "a.npy", "a.b2nd"], 1, &["a.b2nd: exists already; --force overwrites it"]);
    assert_eq!(directory.read("a.b2nd"), b"old");
    directory.run(&["import", "--force", "a.npy", "a.b2nd"]);
    assert_eq!(directory.text(&["cat", "a.b2nd"]), "1 2\n");
    directory.fails(&["export", "a.b2nd", "a.npy"], 1, &["a.npy: exists already"]);
    directory.run(&["export", "--force", "a.b2nd", "a.npy", "--slice=1"]);
    assert_eq!(directory.read("a.npy"), npy("|u1", false, &[], &[2]));
}

#[test]
fn inputs_that_do_not_fit_say_what_was_expected() {
    let directory = Directory::new();
    let whole = npy("<i4", false, &[2, 3], &[0; 24]);
    directory.write("short.npy", &whole[..whole.len() - 1]);
    directory.write("long.npy", &[whole.as_slice(), b"x"].concat());
    directory.write("header.npy", &whole[..40]);
    directory.write("raw", &[0; 24]);
    directory.write("object.npy", &npy("|O", false, &[2], &[0; 16]));
    directory.write("huge.npy", &npy("<f8", false, &[1 << 40, 1 << 40], &[]));
    directory.write("many.npy", &npy("|u1", false, &[1; 17], &[0]));
    let mut fields = npy("<i4", false, &[2], &[0; 8]);
    // A list in place of the text of a type.
    let at = fields.windows(5).position(|part| part == b"'<i4'").unwrap();
    fields[at..at + 5].copy_from_slice(b"[()] ");
    directory.write("fields.npy", &fields);
    for (name, code, expected) in [
        ("short.npy", 1, "23 bytes of items, expected 24 for the shape [2, 3] and the type <i4"),
        ("long.npy", 1, "25 bytes of items, expected 24"),
        ("header.npy", 1, "it ends in the header"),
        ("raw", 1, "the magic number is missing; raw numbers need --shape and --dtype"),
        ("object.npy", 1, "type \"|O\", expected for example f4"),
        ("fields.npy", 1, "type [()], expected for example '<f4'"),
        ("huge.npy", 1, "expected fewer than 2^64 bytes"),
        ("many.npy", 2, "17 dimensions, expected at most 16"),
        ("missing.npy", 1, "missing.npy: "),
        (".", 1, ".: "),
    ] {
        directory.fails(&["import", name, "a.b2nd"], code, &[expected]);
    }
    let raw = |shape: &str, dtype: &str, code, expected: &str| {
        let (shape, dtype) = (format!("--shape={shape}"), format!("--dtype={dtype}"));
        directory.fails(&["import", "raw", "a.b2nd", &shape, &dtype], code, &[expected]);
    };
    raw("5", "<i4", 1, "raw: 24 bytes of items, expected 20 for the shape [5] and the type <i4");
    raw("7", "i4", 1, "raw: 24 bytes of items, expected 28");
    let output = directory.command(&["import", "raw", "a.b2nd", "--shape=6", "--dtype=i3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("type \"i3\", expected for example f4"));
    let arguments = ["import", "-", "a.b2nd", "--shape=5", "--dtype=u1"];
    directory.fails(&arguments, 1, &["stdin: 0 bytes of items, expected 5"]);
}

#[test]
fn arguments_that_do_not_fit_are_usage_errors() {
    let directory = Directory::new();
    directory.write("a.npy", &npy("<i4", false, &[2, 3], &[0; 24]));
    for (option, expected) in [
        ("--chunks=2", "--chunks with 1 extents, expected 2, for the shape [2, 3]"),
        ("--blocks=1,1,1", "--blocks with 3 extents, expected 2"),
        ("--chunks=0,3", "--chunks [0, 3], expected extents of at least 1"),
        ("--blocksize=4K", "expected --blocks"),
        ("--chunks=1000000,1000000", "Invalid parameter"),
    ] {
        directory.fails(&["import", "a.npy", "a.b2nd", option], 2, &[expected]);
    }
    let arguments = ["import", "a.npy", "a.b2nd", "--chunks=1,3", "--blocks=2,3"];
    directory.fails(&arguments, 2, &["--blocks [2, 3], expected at most --chunks: [1, 3]"]);
    directory.fails(&["import", "a.npy", "-"], 2, &["expected the name of a file"]);
    let only_shape = directory.command(&["import", "a.npy", "a.b2nd", "--shape=6"]).output().unwrap();
    assert_eq!(only_shape.status.code(), Some(2));
    directory.run(&["import", "a.npy", "a.b2nd"]);
    directory.fails(&["slice", "a.b2nd", "::0"], 2, &["expected a step other than 0"]);
    directory.fails(
        &["slice", "a.b2nd", "0,3"],
        2,
        &["range \"3\" of dimension 1, expected a number in 0 to 2"],
    );
    directory.fails(&["slice", "a.b2nd", "-3"], 2, &["dimension 0, expected a number in 0 to 1"]);
    directory.fails(&["export", "a.b2nd", "b", "--slice=0,0,0"], 2, &["3 dimensions, expected at most 2"]);
}

#[test]
fn other_files_than_arrays_are_errors() {
    let directory = Directory::new();
    write_schunk(&directory.path("a.b2frame"), 1, &[b"abc"]);
    directory.write("text", b"no frame");
    directory.fails(&["export", "a.b2frame", "a.npy"], 1, &["a.b2frame: no array, expected one"]);
    for verb in [&["cat", "text"][..], &["slice", "text", ":"], &["export", "text", "a.npy"]] {
        directory.fails(verb, 1, &["text: "]);
    }
    directory.fails(&["cat", "missing"], 1, &["missing: "]);
    write_array(&directory.path("a.b2nd"), "[('x', '|O')]", 2, &[1], &[1], &[1, 2]);
    directory.fails(
        &["export", "a.b2nd", "a.npy"],
        1,
        &["a.b2nd: items of type \"[('x', '|O')]\" with 2 bytes"],
    );
    directory.run(&["export", "a.b2nd", "a.raw"]);
    assert_eq!(directory.read("a.raw"), [1, 2]);
}

#[test]
fn damaged_chunks_are_errors_and_leave_no_file() {
    let directory = Directory::new();
    let content = noise(100_000, 1);
    write_array(&directory.path("a.b2nd"), "|u1", 1, &[100_000], &[100_000], &content);
    let mut frame = directory.read("a.b2nd");
    // The compressed length in the header of the chunk, whose content is stored behind its 32 bytes.
    let at = frame.windows(16).position(|bytes| *bytes == content[..16]).expect("a stored chunk");
    frame[at - 32 + 12] ^= 0xff;
    directory.write("a.b2nd", &frame);
    directory.fails(&["export", "a.b2nd", "a.npy"], 1, &["a.b2nd: "]);
    directory.fails(&["cat", "a.b2nd"], 1, &["a.b2nd: "]);
    directory.write("b", &[0; 10]);
    directory.fails(&["diff", "b", "a.b2nd"], 2, &["a.b2nd: "]);
}
