//! `blosc2 bench`.

mod samples;

use samples::{blosc2, json, write_super_chunk};
use std::fs;

/// Checks that each tag of an XML document is closed, in order, and returns the number of elements.
fn count_elements(text: &str) -> usize {
    let (mut open, mut count) = (Vec::new(), 0);
    for piece in text.split('<').skip(1) {
        let (tag, rest) = piece.split_once('>').expect("a tag that ends");
        assert!(!rest.contains('>') || open.last() == Some(&"style"), "{rest}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else {
            count += 1;
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
    count
}

#[test]
fn the_table_has_a_row_for_each_cell_and_the_best_ones_are_recommended() {
    let dir = tempfile::tempdir().unwrap();
    write_super_chunk(&dir.path().join("s.b2frame"), false);
    let ran = blosc2(dir.path(), &["bench", "s.b2frame", "--codecs", "lz4,zstd", "--levels", "1", "-T", "2"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let rows =
        ran.stdout.lines().filter(|line| line.starts_with("lz4 ") || line.starts_with("zstd ")).count();
    assert_eq!(rows, 2 * 3, "{}", ran.stdout);
    for name in ["smallest", "fastest to read", "fastest to write", "balanced"] {
        let line = ran.stdout.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.contains("blosc2 compress --codec "), "{line}");
    }
    // The rows are balanced ones first, and the command is that of the first row.
    let first =
        ran.stdout.lines().find(|line| line.starts_with("lz4 ") || line.starts_with("zstd ")).unwrap();
    assert!(first.ends_with("balanced"), "{first}");
    let command = ran.stdout.lines().last().unwrap();
    let balanced = ran.stdout.lines().find_map(|line| line.strip_prefix("balanced          ")).unwrap();
    assert_eq!(command, balanced);
    // No chart in a pipe.
    assert!(!ran.stdout.contains("logarithmic"), "{}", ran.stdout);
}

/// Returns the numbers in a column of the rows in JSON.
fn column(report: &serde_json::Value, key: &str) -> Vec<f64> {
    report["rows"].as_array().unwrap().iter().map(|row| row[key].as_f64().unwrap()).collect()
}

#[test]
fn the_first_rows_are_the_best_ones_for_the_target() {
    let dir = tempfile::tempdir().unwrap();
    write_super_chunk(&dir.path().join("s.b2frame"), false);
    let cells = ["bench", "s.b2frame", "--codecs", "lz4,zstd", "--levels", "1,5"];
    let by_ratio = json(dir.path(), &[&cells[..], &["--json", "--target", "ratio"]].concat());
    let ratios = column(&by_ratio, "ratio");
    assert_eq!(ratios.len(), 12);
    assert!(ratios.is_sorted_by(|a, b| a >= b), "{ratios:?}");
    let by_speed = json(dir.path(), &[&cells[..], &["--json", "--target", "speed"]].concat());
    let (writes, reads) = (column(&by_speed, "compress_mb_s"), column(&by_speed, "decompress_mb_s"));
    let small = column(&by_speed, "ratio").iter().filter(|ratio| **ratio >= 1.1).count();
    let costs: Vec<f64> = writes.iter().zip(&reads).map(|(write, read)| 1.0 / write + 1.0 / read).collect();
    assert!(small > 1 && costs[..small].is_sorted(), "{small} of {costs:?}");

    let ran = blosc2(dir.path(), &[&cells[..], &["--target", "ratio", "--top", "2"]].concat());
    let rows = ran.stdout.lines().filter(|line| line.starts_with("lz4 ") || line.starts_with("zstd "));
    assert_eq!(rows.count(), 2, "{}", ran.stdout);
    let smallest = ran.stdout.lines().find_map(|line| line.strip_prefix("smallest          ")).unwrap();
    assert_eq!(ran.stdout.lines().last(), Some(smallest));
}

#[test]
fn the_time_is_bounded_and_what_was_not_measured_is_stated() {
    let dir = tempfile::tempdir().unwrap();
    let mut state = 1u64;
    let content = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as u8 & 63
    });
    let content: Vec<u8> = content.take(8 << 20).collect();
    fs::write(dir.path().join("raw"), content).unwrap();
    let arguments = ["bench", "raw", "-t", "1", "--seconds", "1"];
    let report = json(dir.path(), &[&arguments[..], &["--json"]].concat());
    let (measured, unmeasured) = (report["rows"].as_array().unwrap().len(), &report["unmeasured"]);
    // 5 codecs, 3 levels, without a filter and with bitshuffle.
    assert_eq!(unmeasured.as_u64(), Some(30 - measured as u64));
    assert!((1..30).contains(&measured), "{measured}");
    let ran = blosc2(dir.path(), &arguments);
    assert!(ran.stdout.contains(" not measured in 1 second: see --seconds"), "{}", ran.stdout);
}

#[test]
fn the_chart_is_drawn_as_text() {
    let dir = tempfile::tempdir().unwrap();
    write_super_chunk(&dir.path().join("s.b2frame"), false);
    let ran = blosc2(dir.path(), &["bench", "s.b2frame", "-c", "lz4,zstd", "-l", "1", "--chart"]);
    let plot: Vec<&str> = ran.stdout.lines().filter(|line| line.get(9..10) == Some("|")).collect();
    assert_eq!(plot.len(), 16, "{}", ran.stdout);
    assert!(plot.iter().all(|line| line.len() <= 80), "{}", ran.stdout);
    let marks = plot.iter().map(|line| line[10..].matches(['4', 's', '*']).count()).sum::<usize>();
    // Rows at the same place have one mark.
    assert!((2..=6).contains(&marks), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches('*').count(), 2, "{}", ran.stdout);
    assert!(ran.stdout.contains("* first row, 4 lz4, s zstd"), "{}", ran.stdout);
}

#[test]
fn json_and_the_chart_have_all_cells() {
    let dir = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0..30_000u32).flat_map(|n| (n * 3).to_le_bytes()).collect();
    fs::write(dir.path().join("raw <&>"), content).unwrap();
    let arguments = [
        "bench",
        "raw <&>",
        "-c",
        "lz4",
        "-l",
        "5",
        "--json",
        "--chunksize",
        "16K",
        "--sample",
        "64K",
        "--svg",
        "c.svg",
    ];
    let report = json(dir.path(), &arguments);
    assert_eq!((&report["content_bytes"], &report["sample_bytes"]), (&120_000.into(), &65_536.into()));
    assert_eq!(report["sample_chunks"], 4);
    let rows = report["rows"].as_array().unwrap();
    // No filter, shuffle and bitshuffle, for items of the size that samples have.
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert_eq!(row["typesize"], 4);
        let ratio = row["nbytes"].as_f64().unwrap() / row["cbytes"].as_f64().unwrap();
        assert!((row["ratio"].as_f64().unwrap() - ratio).abs() < 1e-9);
        assert!(
            row["compress_mb_s"].as_f64().unwrap() > 0.0 && row["decompress_mb_s"].as_f64().unwrap() > 0.0
        );
    }
    let best = rows.iter().map(|row| row["ratio"].as_f64().unwrap()).fold(0.0, f64::max);
    let smallest = &report["recommended"][0];
    assert_eq!(
        (&smallest["name"], &rows[smallest["row"].as_u64().unwrap() as usize]["ratio"]),
        (&"smallest".into(), &best.into())
    );
    let svg = fs::read_to_string(dir.path().join("c.svg")).unwrap();
    assert!(count_elements(&svg) > 30);
    assert_eq!(svg.matches("<title>").count(), 3);
    assert!(svg.contains("@media(prefers-color-scheme:dark)"));
    // The chart is not overwritten.
    assert_eq!(blosc2(dir.path(), &arguments).code, 1);
}

#[test]
fn an_empty_file_and_lossy_filters_are_errors_and_a_small_file_is_not() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("empty"), "").unwrap();
    fs::write(dir.path().join("small"), "x").unwrap();
    let ran = blosc2(dir.path(), &["bench", "empty"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (1, "blosc2: empty: no content, expected at least one byte\n")
    );
    assert_eq!(blosc2(dir.path(), &["bench", "missing"]).code, 1);
    for arguments in [["--filters", "trunc_prec:3"], ["--codecs", "zfp_acc"], ["--levels", "10"]] {
        let ran = blosc2(dir.path(), &["bench", "small", arguments[0], arguments[1]]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    }
    let ran =
        blosc2(dir.path(), &["bench", "small", "-c", "zstd", "-l", "1", "--filters", "none", "-t", "1"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}
