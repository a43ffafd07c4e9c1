//! `blosc2 diff`.

use crate::support::program::blosc2_words;
use crate::support::*;
use proptest::prelude::*;

/// Runs the command, which must find a difference. Returns the line on stdout.
fn difference(directory: &Directory, first: &str, second: &str) -> String {
    let output = directory.command(&["diff", first, second]).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(1));
    let line = String::from_utf8(output.stdout).unwrap();
    let rest = line.strip_prefix(&format!("{first} {second}: ")).unwrap().strip_suffix('\n').unwrap();
    assert!(!rest.contains('\n'));
    rest.to_owned()
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn the_first_of_several_differences_is_found(sample in samples(), at: Vec<prop::sample::Index>) {
        let nitems = sample.shape.iter().product::<u64>() as usize;
        let sample = Sample { dtype: "|u1", typesize: 1, items: noise(nitems, 3), ..sample };
        let mut other = Sample { chunks: vec![1; sample.shape.len()], ..sample.clone() };
        let directory = Directory::new();
        sample.write(&directory.path("a.b2nd"));
        other.write(&directory.path("same.b2nd"));
        prop_assert_eq!(directory.run(&["diff", "a.b2nd", "same.b2nd"]), b"");
        prop_assume!(nitems > 0 && !at.is_empty());
        let changed: Vec<usize> = at.iter().map(|index| index.index(nitems)).collect();
        for &n in &changed {
            other.items[n] = sample.items[n] ^ 1;
        }
        other.write(&directory.path("b.b2nd"));
        let first = *changed.iter().min().unwrap();
        let mut rest = first as u64;
        let mut position = Vec::new();
        for extent in sample.shape.iter().rev() {
            position.insert(0, rest % extent);
            rest /= extent;
        }
        let (a, b) = (sample.items[first], other.items[first]);
        prop_assert_eq!(
            difference(&directory, "a.b2nd", "b.b2nd"),
            format!("item {position:?}: {a} and {b}")
        );
        // Against other files, the bytes of the items are compared.
        write_schunk(&directory.path("b.b2frame"), 1, &[&other.items]);
        directory.write("b", &other.items);
        for name in ["b.b2frame", "b"] {
            prop_assert_eq!(
                difference(&directory, "a.b2nd", name),
                format!("offset {first}: 0x{a:02x} and 0x{b:02x}")
            );
            prop_assert_eq!(directory.run(&["diff", "b.b2nd", name]), b"");
        }
    }

    #[test]
    fn bytes_are_compared_in_pieces_of_any_size(
        a in prop::collection::vec(0u8..3, 0..40),
        b in prop::collection::vec(0u8..3, 0..40),
        common in 0usize..40,
        sizes in (1usize..9, 1usize..9),
    ) {
        let start = noise(common, 1);
        let (a, b) = ([start.clone(), a].concat(), [start, b].concat());
        let directory = Directory::new();
        write_schunk(&directory.path("a"), 1, &a.chunks(sizes.0).collect::<Vec<_>>());
        write_schunk(&directory.path("b"), 1, &b.chunks(sizes.1).collect::<Vec<_>>());
        directory.write("b.raw", &b);
        prop_assert_eq!(directory.run(&["diff", "b", "b.raw"]), b"");
        if a == b {
            prop_assert_eq!(directory.run(&["diff", "a", "b"]), b"");
            return Ok(());
        }
        let lengths = if a.len() == b.len() { String::new() } else { format!("lengths {} and {}, ", a.len(), b.len()) };
        let expected = match a.iter().zip(&b).position(|(a, b)| a != b) {
            Some(at) => format!("{lengths}offset {at}: 0x{:02x} and 0x{:02x}", a[at], b[at]),
            None => format!("{lengths}the first {} bytes are equal", a.len().min(b.len())),
        };
        prop_assert_eq!(difference(&directory, "a", "b"), expected.clone());
        prop_assert_eq!(difference(&directory, "a", "b.raw"), expected);
    }
}

#[test]
fn shapes_and_types_differ() {
    let directory = Directory::new();
    let items = [1, 0, 2, 0, 3, 0, 4, 0];
    for (name, dtype, typesize, shape) in [
        ("a", "<i2", 2, &[4][..]),
        ("b", "<i2", 2, &[2, 2]),
        ("c", "<u2", 2, &[4]),
        ("d", ">i2", 2, &[4]),
        ("e", "[('x', '<i2')]", 2, &[4]),
    ] {
        let chunks: Vec<u32> = shape.iter().map(|&extent| extent as u32).collect();
        write_array(&directory.path(name), dtype, typesize, shape, &chunks, &items);
    }
    assert_eq!(difference(&directory, "a", "b"), "shapes [4] and [2, 2]");
    assert_eq!(difference(&directory, "a", "c"), "types <i2 and <u2");
    assert_eq!(difference(&directory, "a", "d"), "types <i2 and >i2");
    assert_eq!(difference(&directory, "a", "e"), "types <i2 and \"[('x', '<i2')]\" of 2 bytes");
    assert_eq!(directory.run(&["diff", "e", "e"]), b"");
}

/// Two NaNs have one text; their bytes differ.
#[test]
fn values_of_the_same_text_are_shown_as_bytes() {
    let directory = Directory::new();
    write_array(&directory.path("a"), "<f4", 4, &[1], &[1], &0x7fc0_0000u32.to_le_bytes());
    write_array(&directory.path("b"), "<f4", 4, &[1], &[1], &0x7fc0_0001u32.to_le_bytes());
    assert_eq!(difference(&directory, "a", "b"), "item [0]: bytes 0000c07f and bytes 0100c07f");
    assert_eq!(directory.run(&["diff", "a", "a"]), b"");
}

/// The lower left box of chunks is read before the first difference, which is in the upper right one.
#[test]
fn differences_of_large_arrays_are_the_first_in_order() {
    let directory = Directory::new();
    let (rows, columns) = (2, 50_000_000);
    let mut items = vec![0; rows * columns];
    let chunks = [2, 10_000_000];
    write_array(&directory.path("a"), "|u1", 1, &[2, 50_000_000], &chunks, &items);
    items[columns + 1] = 1;
    items[columns - 1] = 2;
    write_array(&directory.path("b"), "|u1", 1, &[2, 50_000_000], &chunks, &items);
    assert_eq!(difference(&directory, "a", "b"), "item [0, 49999999]: 0 and 2");
}

#[cfg(unix)]
#[test]
fn pipes_are_compared_as_bytes() {
    let directory = Directory::new();
    write_schunk(&directory.path("a"), 1, &[b"0123", b"45"]);
    let run = |content: &str| {
        let script = format!("printf {content} | \"$@\" diff a /dev/stdin");
        let output = std::process::Command::new("sh")
            .args(["-c", &script, "sh"])
            .args(blosc2_words())
            .current_dir(directory.path(""))
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(run("012345"), (0, String::new()));
    assert_eq!(run("0123"), (1, "a /dev/stdin: lengths 6 and 4, the first 4 bytes are equal\n".to_owned()));
    assert_eq!(run("0x"), (1, "a /dev/stdin: lengths 6 and 2, offset 1: 0x31 and 0x78\n".to_owned()));
}

#[test]
fn equal_files_are_told_if_verbose() {
    let directory = Directory::new();
    write_schunk(&directory.path("a"), 1, &[b"x"]);
    let output = directory.command(&["-v", "diff", "a", "a"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]));
    assert_eq!(output.stderr, b"a a: equal\n");
}

#[test]
fn missing_and_damaged_files_are_errors() {
    let directory = Directory::new();
    write_schunk(&directory.path("a"), 1, &[b"x"]);
    directory.fails(&["diff", "a", "missing"], 2, &["missing: "]);
    // A frame without its end is damaged, no file of another kind.
    let frame = directory.read("a");
    directory.write("damaged", &frame[..50]);
    directory.fails(&["diff", "a", "damaged"], 2, &["damaged: "]);
}
