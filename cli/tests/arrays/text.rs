//! Values as text and as bytes: `cat` and `slice`.

use crate::support::program::blosc2_words;
use crate::support::*;
use proptest::prelude::*;
use std::io::Read;
use std::process::Stdio;

fn little_endian<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| bytes(value)).collect()
}

/// Returns the text of integers of that shape: lines of the last dimension, planes of the last two.
fn expected_text(values: &[i32], shape: &[u64]) -> String {
    let Some((&row, outer)) = shape.split_last() else { return format!("{}\n", values[0]) };
    if values.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = values
        .chunks(row as usize)
        .map(|row| row.iter().map(i32::to_string).collect::<Vec<_>>().join(" ") + "\n")
        .collect();
    match outer.split_last() {
        Some((&plane, rest)) if !rest.is_empty() => {
            lines.chunks(plane as usize).map(|plane| plane.concat()).collect::<Vec<_>>().join("\n")
        }
        _ => lines.concat(),
    }
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn integers_are_lines_and_planes(sample in samples()) {
        let nitems: u64 = sample.shape.iter().product();
        let values: Vec<i32> = (0..nitems as i32).map(|n| n * 7919 - 5).collect();
        let items = little_endian(&values, i32::to_le_bytes);
        let sample = Sample { dtype: "<i4", typesize: 4, items, ..sample };
        let directory = Directory::new();
        sample.write(&directory.path("a.b2nd"));
        prop_assert_eq!(directory.text(&["cat", "a.b2nd"]), expected_text(&values, &sample.shape));
        prop_assert_eq!(directory.run(&["cat", "a.b2nd", "--format=raw"]), sample.items.clone());
        let part: Vec<i32> =
            sample.part_items().chunks(4).map(|item| i32::from_le_bytes(item.try_into().unwrap())).collect();
        let printed = directory.text(&["slice", "a.b2nd", &sample.part_text()]);
        prop_assert_eq!(printed, expected_text(&part, &sample.part_shape()));
    }

    #[test]
    fn text_of_any_items_has_one_field_for_each(sample in samples()) {
        let directory = Directory::new();
        sample.write(&directory.path("a.b2nd"));
        let text = directory.text(&["cat", "a.b2nd"]);
        let nitems = sample.shape.iter().product::<u64>() as usize;
        if nitems > 0 {
            let row = sample.shape.last().map_or(1, |&extent| extent as usize);
            // Text that is empty is an empty field, and an empty line if the row has one item.
            if row > 1 {
                let fields: Vec<usize> =
                    text.lines().filter(|line| !line.is_empty()).map(|line| line.split(' ').count()).collect();
                prop_assert_eq!(fields, vec![row; nitems / row]);
            }
        } else {
            prop_assert_eq!(text, "");
        }
    }
}

#[test]
fn each_type_has_its_text() {
    let complex = little_endian(&[1.5f32, -2.0, 0.0, f32::NAN], f32::to_le_bytes);
    let unicode = little_endian(&['é' as u32, 0, ' ' as u32, 'b' as u32], u32::to_be_bytes);
    let cases: [(&str, usize, &[u8], &str); 13] = [
        ("|b1", 1, &[0, 1], "False True"),
        ("|i1", 1, &[0xff, 1], "-1 1"),
        (">u2", 2, &[1, 0, 0, 2], "256 2"),
        ("<f2", 2, &[0, 0x3c, 0, 0xfc], "1 -inf"),
        ("<f4", 4, &little_endian(&[0.1f32, -1e30], f32::to_le_bytes), "0.1 -1e30"),
        (">f8", 8, &little_endian(&[0.1f64, 1e-10], f64::to_be_bytes), "0.1 1e-10"),
        ("<c8", 8, &complex, "1.5-2j 0+nanj"),
        ("|S3", 3, b"a\n\0a b", "a\\n a\\x20b"),
        (">U2", 8, &unicode, "é \\x20b"),
        ("|V2", 2, &[1, 2, 0xfe, 0xff], "0102 feff"),
        ("[('a', '<i2')]", 2, &[1, 2, 3, 4], "(513) (1027)"),
        ("{'names': ['a']}", 2, &[1, 2, 3, 4], "0102 0304"),
        ("<M8[D]", 8, &little_endian(&[0i64, i64::MIN], i64::to_le_bytes), "1970-01-01 NaT"),
    ];
    for (dtype, typesize, items, expected) in cases {
        let directory = Directory::new();
        write_array(&directory.path("a.b2nd"), dtype, typesize, &[2], &[2], items);
        assert_eq!(directory.text(&["cat", "a.b2nd"]), format!("{expected}\n"), "{dtype}");
    }
}

/// With an extent of 0 there are no values, whatever the product of the others is.
#[test]
fn arrays_without_items_are_empty() {
    let directory = Directory::new();
    directory.write("raw", b"");
    for shape in ["0,1099511627776,1099511627776", "3,0", "0", "2,0,2"] {
        directory.run(&["import", "--force", "raw", "a.b2nd", "--dtype=f8", &format!("--shape={shape}")]);
        assert_eq!(directory.text(&["cat", "a.b2nd"]), "", "{shape}");
        assert_eq!(directory.text(&["export", "a.b2nd", "-"]), "", "{shape}");
        assert_eq!(directory.text(&["diff", "a.b2nd", "raw"]), "", "{shape}");
        assert_eq!(directory.text(&["diff", "a.b2nd", "a.b2nd"]), "", "{shape}");
    }
}

#[test]
fn several_files_are_concatenated() {
    let directory = Directory::new();
    write_array(&directory.path("a.b2nd"), "|u1", 1, &[2, 2], &[2, 2], &[1, 2, 3, 4]);
    write_schunk(&directory.path("b.b2frame"), 1, &[b"one ", b"two\n"]);
    assert_eq!(directory.text(&["cat", "a.b2nd", "b.b2frame", "a.b2nd"]), "1 2\n3 4\none two\n1 2\n3 4\n");
    assert_eq!(directory.run(&["cat", "--format=raw", "a.b2nd", "b.b2frame"]), b"\x01\x02\x03\x04one two\n");
    assert_eq!(directory.run(&["cat", "--format=text", "b.b2frame"]), b"one two\n");
}

#[test]
fn slices_of_super_chunks_are_items() {
    let directory = Directory::new();
    // Chunks of different sizes, and a content that ends within an item.
    write_schunk(&directory.path("a.b2frame"), 2, &[b"00112233", b"44"]);
    for (ranges, expected) in [
        ("0:2", "0011"),
        ("3:5", "3344"),
        ("-1", "44"),
        (":", "0011223344"),
        ("2:2", ""),
        ("::2", "002244"),
        ("3::-2", "3311"),
        ("1:99", "11223344"),
    ] {
        assert_eq!(directory.text(&["slice", "a.b2frame", ranges]), expected, "{ranges}");
    }
    directory.fails(&["slice", "a.b2frame", "6"], 2, &["\"6\"", "a number in 0 to 4"]);
    directory.fails(&["slice", "a.b2frame", "0,1"], 2, &["2 dimensions, expected at most 1"]);
}

#[test]
fn slices_have_steps_as_in_numpy() {
    let directory = Directory::new();
    let items: Vec<u8> = (0..60).collect();
    write_array(&directory.path("a.b2nd"), "|u1", 1, &[6, 10], &[4, 3], &items);
    for (part, expected) in [
        ("::2,1", "1 21 41\n"),
        ("...,::-4", "9 5 1\n19 15 11\n29 25 21\n39 35 31\n49 45 41\n59 55 51\n"),
        ("4:1:-2,8:100", "48 49\n28 29\n"),
        ("-1,::3", "50 53 56 59\n"),
        ("5:2,::2", ""),
    ] {
        assert_eq!(directory.text(&["slice", "a.b2nd", part]), expected, "{part}");
        let raw: Vec<u8> = expected.split_whitespace().map(|number| number.parse().unwrap()).collect();
        assert_eq!(directory.run(&["slice", "--format=raw", "a.b2nd", part]), raw, "{part}");
        directory.run(&["export", "--force", "a.b2nd", "a.npy", &format!("--slice={part}")]);
        assert!(directory.read("a.npy").ends_with(&raw) && directory.read("a.npy").len() == 128 + raw.len());
    }
}

/// A reader such as `head` ends the command without a message.
#[test]
fn a_closed_pipe_is_no_error() {
    let directory = Directory::new();
    let values: Vec<u8> = (0..4_000_000u32).map(|n| n as u8).collect();
    write_array(&directory.path("a.b2nd"), "|u1", 1, &[1000, 4000], &[100, 4000], &values);
    write_schunk(&directory.path("b.b2frame"), 1, &[&values]);
    write_schunk(&directory.path("c.b2frame"), 1, &vec![&b"item"[..]; 10_000]);
    directory.write("noise", &noise(4_000_000, 7));
    let cases: [&[&str]; 8] = [
        &["decompress", "-q", "b.b2frame", "-o", "-"],
        &["compress", "-q", "noise", "-o", "-"],
        &["info", "--chunks", "c.b2frame"],
        &["cat", "a.b2nd", "a.b2nd"],
        &["cat", "b.b2frame"],
        &["cat", "--format=raw", "a.b2nd"],
        &["slice", "a.b2nd", "1:"],
        &["export", "a.b2nd", "-"],
    ];
    for arguments in cases {
        let mut command = directory.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 100]).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn binary_values_are_not_written_to_a_terminal() {
    let directory = Directory::new();
    write_array(&directory.path("a.b2nd"), "|S2", 2, &[1], &[1], b"hi");
    write_schunk(&directory.path("b.b2frame"), 1, &[b"hello"]);
    let refused: [&[&str]; 4] = [
        &["cat", "b.b2frame"],
        &["cat", "--format=raw", "a.b2nd"],
        &["slice", "b.b2frame", "1:3"],
        &["export", "a.b2nd", "-"],
    ];
    for arguments in refused {
        let (code, text) = on_terminal(&directory, arguments);
        assert_eq!(code, 2, "{arguments:?}: {text}");
        assert!(text.contains("stdout is a terminal"), "{arguments:?}: {text}");
        let (code, text) = on_terminal(&directory, &[arguments, &["--force"]].concat());
        assert_eq!(code, 0, "{arguments:?}: {text}");
        assert!(["hello", "hi", "el"].contains(&text.as_str()), "{arguments:?}: {text}");
    }
    assert_eq!(on_terminal(&directory, &["cat", "a.b2nd"]), (0, "hi\r\n".to_owned()));
    assert_eq!(on_terminal(&directory, &["cat", "--format=text", "b.b2frame"]), (0, "hello".to_owned()));
}

/// Runs the command with a terminal. Returns the exit code and what is shown.
fn on_terminal(directory: &Directory, arguments: &[&str]) -> (u32, String) {
    let pair = portable_pty::native_pty_system().openpty(portable_pty::PtySize::default()).unwrap();
    let mut command = portable_pty::CommandBuilder::from_argv(blosc2_words());
    command.args(arguments);
    command.cwd(directory.path(""));
    let mut child = pair.slave.spawn_command(command).unwrap();
    let mut reader = pair.master.try_clone_reader().unwrap();
    drop(pair.slave);
    let mut shown = Vec::new();
    // The end of a terminal is an error on some systems.
    let _ = reader.read_to_end(&mut shown);
    (child.wait().unwrap().exit_code(), String::from_utf8(shown).unwrap())
}

/// A record with a gap, an array and text with characters that CSV and JSON quote.
const RECORD: &str = "[('n', '>i2'), ('', '|V1'), ('text', '|S4'), ('at', '<f4', (2,))]";

fn record(n: i16, text: &[u8; 4], at: [f32; 2]) -> Vec<u8> {
    [&n.to_be_bytes()[..], &[9], text, &at[0].to_le_bytes(), &at[1].to_le_bytes()].concat()
}

#[test]
fn tables_and_json_have_the_fields_of_records() {
    let directory = Directory::new();
    let items = [record(-1, b"a,b\0", [0.5, f32::NAN]), record(300, b"\"c\"\0", [1e-9, 2.0])].concat();
    directory.write("a.npy", &npy_of(RECORD, &[2], &items));
    directory.run(&["import", "a.npy", "a.b2nd"]);
    assert_eq!(directory.text(&["cat", "a.b2nd"]), "(-1,a,b,[0.5,nan]) (300,\\\"c\\\",[1e-9,2])\n");
    let csv = "n,text,at\n-1,\"a,b\",\"[0.5,nan]\"\n300,\"\"\"c\"\"\",\"[1e-9,2]\"\n";
    assert_eq!(directory.text(&["cat", "--csv", "a.b2nd"]), csv);
    assert_eq!(
        directory.text(&["cat", "--tsv", "a.b2nd"]),
        "n\ttext\tat\n-1\ta,b\t[0.5,nan]\n300\t\"\"\"c\"\"\"\t[1e-9,2]\n"
    );
    assert_eq!(
        directory.text(&["cat", "--format=json", "a.b2nd"]),
        "[{\"n\":-1,\"text\":\"a,b\",\"at\":[0.5,\"nan\"]}, {\"n\":300,\"text\":\"\\\"c\\\"\",\"at\":[1e-9,2]}]\n"
    );
    directory.run(&["export", "a.b2nd", "b.npy"]);
    assert_eq!(directory.read("b.npy"), directory.read("a.npy"));
    assert_eq!(directory.run(&["diff", "a.b2nd", "b.npy"]), b"");
    directory.run(&["export", "a.b2nd", "b.npy", "--force", "--slice=1"]);
    assert_eq!(directory.read("b.npy"), npy_of(RECORD, &[], &items[15..]));
    directory.write("raw", &items);
    directory.run(&["import", "raw", "raw.b2nd", "--shape=2", "--dtype", RECORD]);
    assert_eq!(directory.run(&["diff", "a.b2nd", "raw.b2nd"]), b"");
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn tables_and_json_have_all_values(sample in samples()) {
        let nitems: u64 = sample.shape.iter().product();
        let values: Vec<i32> = (0..nitems as i32).collect();
        let items = little_endian(&values, i32::to_le_bytes);
        let sample = Sample { dtype: "<i4", typesize: 4, items, ..sample };
        let directory = Directory::new();
        sample.write(&directory.path("a.b2nd"));
        let csv = directory.text(&["cat", "--csv", "a.b2nd"]);
        let row = if sample.shape.len() < 2 { 1 } else { sample.shape[sample.shape.len() - 1] as usize };
        let lines: Vec<String> = values
            .chunks(row.max(1))
            .map(|row| row.iter().map(i32::to_string).collect::<Vec<_>>().join(",") + "\n")
            .collect();
        prop_assert_eq!(csv, lines.concat());
        let mut json: serde_json::Value = serde_json::from_str(&directory.text(&["cat", "--json", "a.b2nd"])).unwrap();
        for extent in &sample.shape {
            let serde_json::Value::Array(rows) = &json else { panic!("{json}") };
            prop_assert_eq!(rows.len() as u64, *extent);
            if rows.is_empty() {
                return Ok(());
            }
            json = rows[rows.len() - 1].clone();
        }
        prop_assert_eq!(json, serde_json::json!(nitems - 1));
    }
}

#[test]
fn other_files_have_values_with_a_type() {
    let directory = Directory::new();
    write_schunk(&directory.path("a.b2frame"), 1, &[&[1, 0, 2, 0, 3], &[0, 4, 0]]);
    assert_eq!(directory.text(&["cat", "--dtype=<i2", "a.b2frame"]), "1 2 3 4\n");
    assert_eq!(directory.text(&["cat", "--dtype=<i2", "--json", "a.b2frame"]), "[1, 2, 3, 4]\n");
    assert_eq!(directory.text(&["slice", "--dtype=<i2", "--csv", "a.b2frame", "::-2"]), "4\n2\n");
    directory.fails(&["cat", "--csv", "a.b2frame"], 2, &["expected --dtype"]);
    directory.fails(&["cat", "--dtype=V3", "a.b2frame"], 1, &["8 bytes, expected whole items"]);
    write_array(&directory.path("a.b2nd"), "<f4", 4, &[1], &[1], &[0, 0, 128, 63]);
    assert_eq!(directory.text(&["cat", "--dtype=<u4", "a.b2nd"]), "1065353216\n");
    directory.fails(&["cat", "--dtype=<u2", "a.b2nd"], 2, &["expected a type of 4 bytes"]);
}
