//! `blosc2 diff`.

use crate::support::program::blosc2_words;
use crate::support::*;
use proptest::prelude::*;

/// Runs the command, which must find a difference. Returns the first line on stdout without the names, and the other lines.
fn differences(directory: &Directory, arguments: &[&str]) -> (String, Vec<String>) {
    let output = directory.command(&[&["diff"], arguments].concat()).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut lines = printed.lines();
    let names = format!("{} {}: ", arguments[0], arguments[1]);
    let first = lines.next().unwrap().strip_prefix(&names).unwrap().to_owned();
    (first, lines.map(|line| line.strip_prefix("  ").unwrap().to_owned()).collect())
}

/// Runs the command, which must find a difference without places. Returns the line.
fn difference(directory: &Directory, first: &str, second: &str) -> String {
    let (line, places) = differences(directory, &[first, second]);
    assert!(places.is_empty());
    line
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn all_differences_are_counted_and_the_first_printed(sample in samples(), at: Vec<prop::sample::Index>) {
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
        let changed: std::collections::BTreeSet<usize> = changed.into_iter().collect();
        let position = |n: usize| {
            let (mut rest, mut position) = (n as u64, Vec::new());
            for extent in sample.shape.iter().rev() {
                position.insert(0, rest % extent);
                rest /= extent;
            }
            position
        };
        let values = |n: &usize| (*n, sample.items[*n], other.items[*n]);
        let mut expected: Vec<String> = changed
            .iter()
            .map(values)
            .map(|(n, a, b)| format!("item {:?}: {a} and {b}", position(n)))
            .take(3)
            .collect();
        if changed.len() > 3 {
            expected.push(format!("... and {} more", changed.len() - 3));
        }
        let count = format!("different items: {} of {nitems}", changed.len());
        let limit = "-n3";
        prop_assert_eq!(differences(&directory, &["a.b2nd", "b.b2nd", limit]), (count.clone(), expected.clone()));
        // A NumPy file is an array beside an array; types of the same value are equal with a tolerance.
        directory.write("b.npy", &npy("|u1", false, &sample.shape, &other.items));
        prop_assert_eq!(differences(&directory, &["a.b2nd", "b.npy", limit]), (count.clone(), expected.clone()));
        let wide: Vec<u8> = other.items.iter().flat_map(|&item| [0, item]).collect();
        directory.write("wide.npy", &npy(">i2", true, &sample.shape, &to_fortran_order(&wide, 2, &sample.shape)));
        prop_assert_eq!(differences(&directory, &["a.b2nd", "wide.npy", limit, "--atol=0"]), (count, expected));
        prop_assert_eq!(directory.run(&["diff", "a.b2nd", "wide.npy", "--atol=1"]), b"");
        let quiet = directory.command(&["diff", "-q", "a.b2nd", "b.b2nd"]).output().unwrap();
        prop_assert_eq!((quiet.status.code(), quiet.stdout.len()), (Some(1), 0));
        // Against other files, the bytes of the items are compared.
        write_schunk(&directory.path("b.b2frame"), 1, &[&other.items]);
        directory.write("b", &other.items);
        let first = changed.iter().map(values).map(|(n, a, b)| format!("offset {n}: 0x{a:02x} and 0x{b:02x}"));
        let count = format!("different bytes: {} of {nitems}", changed.len());
        let mut expected: Vec<String> = first.take(10).collect();
        if changed.len() > 10 {
            expected.push(format!("... and {} more", changed.len() - 10));
        }
        for name in ["b.b2frame", "b"] {
            prop_assert_eq!(differences(&directory, &["a.b2nd", name]), (count.clone(), expected.clone()));
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
        let common = a.len().min(b.len());
        let lengths = format!("lengths {} and {}, ", a.len(), b.len());
        let places: Vec<String> = (0..common)
            .filter(|&at| a[at] != b[at])
            .map(|at| format!("offset {at}: 0x{:02x} and 0x{:02x}", a[at], b[at]))
            .collect();
        let line = match (a.len() == b.len(), places.len()) {
            (true, count) => format!("different bytes: {count} of {common}"),
            (false, 0) => format!("{lengths}the first {common} bytes are equal"),
            (false, count) => format!("{lengths}different bytes: {count} of the first {common}"),
        };
        prop_assert_eq!(differences(&directory, &["a", "b", "-n40"]), (line.clone(), places.clone()));
        prop_assert_eq!(differences(&directory, &["a", "b.raw", "--limit", "40"]), (line, places));
    }
}

/// The counts of `numpy.isclose`, which compares with the second array.
#[test]
fn tolerances_are_those_of_numpy() {
    let directory = Directory::new();
    let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let (nan, infinity) = (f64::NAN, f64::INFINITY);
    let a = [1.0, 10.0, 11.0, nan, nan, infinity, infinity, -0.0, 1e-9];
    let b = [1.0, 11.0, 10.0, nan, 0.0, infinity, -infinity, 0.0, 0.0];
    write_array(&directory.path("a"), "<f8", 8, &[9], &[4], &bytes(&a));
    write_array(&directory.path("b"), "<f8", 8, &[9], &[4], &bytes(&b));
    let count = |options: &[&str]| {
        let (line, _) = differences(&directory, &[&["a", "b"], options].concat());
        line.strip_prefix("different items: ").unwrap().strip_suffix(" of 9").unwrap().parse::<u32>().unwrap()
    };
    // Bytes: the same NaN is equal, and zeros of both signs differ.
    assert_eq!(count(&[]), 6);
    assert_eq!(count(&["--atol=0"]), 6);
    assert_eq!(count(&["--equal-nan"]), 5);
    assert_eq!(count(&["--rtol=0.0925"]), 5);
    assert_eq!(count(&["--rtol=0.0925", "--atol=1e-8"]), 4);
    assert_eq!(count(&["--rtol=0.1", "--atol=1e-8", "--equal-nan"]), 2);
    for wrong in ["--rtol=-1", "--atol=nan", "--rtol=x"] {
        let output = directory.command(&["diff", "a", "b", wrong]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
    }
    directory.write("raw", &bytes(&a));
    directory.fails(&["diff", "a", "raw", "--rtol=1"], 2, &["expected two arrays"]);
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
    assert_eq!(difference(&directory, "a", "e"), "types <i2 and [('x', '<i2')]");
    assert_eq!(directory.run(&["diff", "a", "c", "--rtol=0"]), b"");
    assert_eq!(directory.run(&["diff", "e", "e"]), b"");
}

/// Two NaNs have one text; their bytes differ.
#[test]
fn values_of_the_same_text_are_shown_as_bytes() {
    let directory = Directory::new();
    write_array(&directory.path("a"), "<f4", 4, &[1], &[1], &0x7fc0_0000u32.to_le_bytes());
    write_array(&directory.path("b"), "<f4", 4, &[1], &[1], &0x7fc0_0001u32.to_le_bytes());
    let (_, places) = differences(&directory, &["a", "b"]);
    assert_eq!(places, ["item [0]: bytes 0000c07f and bytes 0100c07f"]);
    assert_eq!(directory.run(&["diff", "a", "b", "--equal-nan"]), b"");
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
    let (line, places) = differences(&directory, &["a", "b", "-n1"]);
    assert_eq!(line, "different items: 2 of 100000000");
    assert_eq!(places, ["item [0, 49999999]: 0 and 2", "... and 1 more"]);
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
    assert_eq!(
        run("0x"),
        (
            1,
            "a /dev/stdin: lengths 6 and 2, different bytes: 1 of the first 2\n  offset 1: 0x31 and 0x78\n"
                .to_owned()
        )
    );
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
