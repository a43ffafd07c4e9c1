//! The command, NumPy files and a model of slices.

#[path = "../program/mod.rs"]
pub(crate) mod program;

use program::blosc2_command;
use proptest::prelude::*;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory in which the command runs.
pub(crate) struct Directory(tempfile::TempDir);

impl Directory {
    pub(crate) fn new() -> Directory {
        Directory(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = blosc2_command();
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs the command, which must succeed without messages. Returns stdout.
    pub(crate) fn run(&self, arguments: &[&str]) -> Vec<u8> {
        succeeded(&self.command(arguments).output().unwrap())
    }

    /// Runs the command with that content of stdin, as [`run`](Self::run).
    pub(crate) fn run_with_stdin(&self, arguments: &[&str], content: &[u8]) -> Vec<u8> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(content).unwrap();
        succeeded(&child.wait_with_output().unwrap())
    }

    /// Runs the command, which must succeed. Returns stdout as text.
    pub(crate) fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.run(arguments)).unwrap()
    }

    /// Runs the command, which must fail with that exit code and one line on stderr that contains all of `expected`.
    /// Nothing new is in the directory then.
    pub(crate) fn fails(&self, arguments: &[&str], code: i32, expected: &[&str]) {
        let before = self.names();
        let output = self.command(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
        for part in expected {
            assert!(stderr.contains(part), "{arguments:?}: {stderr}, expected {part:?}");
        }
        assert_eq!(self.names(), before, "{arguments:?}");
    }

    fn names(&self) -> Vec<std::ffi::OsString> {
        let mut names: Vec<_> =
            self.0.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }
}

fn succeeded(output: &Output) -> Vec<u8> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), stderr.as_ref()), (Some(0), ""));
    output.stdout.clone()
}

/// Returns the bytes of a NumPy file, which begins as NumPy writes it.
pub(crate) fn npy(dtype: &str, fortran_order: bool, shape: &[u64], items: &[u8]) -> Vec<u8> {
    npy_with_descr(&format!("'{dtype}'"), fortran_order, shape, items)
}

/// Returns the bytes of a NumPy file whose items have fields.
pub(crate) fn npy_of(fields: &str, shape: &[u64], items: &[u8]) -> Vec<u8> {
    npy_with_descr(fields, false, shape, items)
}

fn npy_with_descr(descr: &str, fortran_order: bool, shape: &[u64], items: &[u8]) -> Vec<u8> {
    let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    let extents = if shape.len() == 1 { extents.trim_end() } else { extents.trim_end_matches(", ") };
    let order = if fortran_order { "True" } else { "False" };
    let mut header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': ({extents}), }}");
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(items);
    bytes
}

/// Writes an array.
pub(crate) fn write_array(
    path: &Path,
    dtype: &str,
    typesize: usize,
    shape: &[u64],
    chunks: &[u32],
    items: &[u8],
) {
    let builder = blosc2::AnyArray::builder(shape.iter().copied(), dtype, typesize);
    let mut array = builder.chunks(chunks.iter().copied()).create(path).unwrap();
    array.write_bytes(.., items).unwrap();
}

/// Writes a super-chunk with those chunks.
pub(crate) fn write_schunk(path: &Path, typesize: usize, chunks: &[&[u8]]) {
    let params = blosc2::Params::new().typesize(typesize);
    let mut schunk = blosc2::SuperChunk::create(path, &params).unwrap();
    for chunk in chunks {
        schunk.append(chunk).unwrap();
    }
}

/// Returns the items of a part of an array, one by one.
pub(crate) fn sliced(items: &[u8], typesize: usize, shape: &[u64], ranges: &[Range<u64>]) -> Vec<u8> {
    let mut numbers = vec![0];
    for (range, extent) in ranges.iter().zip(shape) {
        numbers = numbers.iter().flat_map(|n| range.clone().map(move |at| n * extent + at)).collect();
    }
    numbers.iter().flat_map(|&n| items[n as usize * typesize..][..typesize].to_vec()).collect()
}

/// Returns items that are in C order in Fortran order.
pub(crate) fn to_fortran_order(items: &[u8], typesize: usize, shape: &[u64]) -> Vec<u8> {
    let nitems: u64 = shape.iter().product();
    let item = |mut number: u64| {
        // The position of the item that is `number` in Fortran order, and its number in C order.
        let position: Vec<u64> = shape
            .iter()
            .map(|&extent| {
                let at = number % extent;
                number /= extent;
                at
            })
            .collect();
        let number = position.iter().zip(shape).fold(0, |n, (at, extent)| n * extent + at);
        items[number as usize * typesize..][..typesize].to_vec()
    };
    (0..nitems).flat_map(item).collect()
}

/// Returns `len` bytes that look random.
pub(crate) fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    })
    .take(len)
    .collect()
}

/// All kinds and sizes of types in both byte orders, with the size of an item.
pub(crate) const DTYPES: [(&str, usize); 32] = [
    ("|b1", 1),
    ("|i1", 1),
    ("|u1", 1),
    ("<i2", 2),
    (">i2", 2),
    ("<u2", 2),
    (">u2", 2),
    ("<i4", 4),
    (">i4", 4),
    ("<u4", 4),
    (">u4", 4),
    ("<i8", 8),
    (">i8", 8),
    ("<u8", 8),
    (">u8", 8),
    ("<f2", 2),
    (">f2", 2),
    ("<f4", 4),
    (">f4", 4),
    ("<f8", 8),
    (">f8", 8),
    ("<f16", 16),
    ("<c8", 8),
    (">c8", 8),
    ("<c16", 16),
    (">c16", 16),
    ("|S3", 3),
    ("|S300", 300),
    ("<U2", 8),
    (">U2", 8),
    ("|V5", 5),
    ("<M8[ns]", 8),
];

/// An array, and how it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub dtype: &'static str,
    pub typesize: usize,
    pub shape: Vec<u64>,
    pub chunks: Vec<u32>,
    pub items: Vec<u8>,
    /// A part inside the shape: ranges, with whether each is written as a single number.
    pub part: Vec<(Range<u64>, bool)>,
}

impl Sample {
    pub(crate) fn ranges(&self) -> Vec<Range<u64>> {
        self.part.iter().map(|(range, _)| range.clone()).collect()
    }

    /// Returns the text of the part.
    pub(crate) fn part_text(&self) -> String {
        let texts = self.part.iter().map(|(range, is_single)| match is_single {
            true => range.start.to_string(),
            false => format!("{}:{}", range.start, range.end),
        });
        texts.collect::<Vec<_>>().join(",")
    }

    /// Returns the shape of the part, without the dimensions of single numbers.
    pub(crate) fn part_shape(&self) -> Vec<u64> {
        let kept = self.part.iter().filter(|(_, is_single)| !is_single);
        kept.map(|(range, _)| range.end - range.start).collect()
    }

    pub(crate) fn part_items(&self) -> Vec<u8> {
        sliced(&self.items, self.typesize, &self.shape, &self.ranges())
    }

    pub(crate) fn write(&self, path: &Path) {
        write_array(path, self.dtype, self.typesize, &self.shape, &self.chunks, &self.items);
    }
}

/// Returns arrays of 0 to 5 dimensions, with extents from 0 on.
pub(crate) fn samples() -> impl Strategy<Value = Sample> {
    let extent = prop_oneof![1 => Just(0u64), 2 => Just(1u64), 9 => 2u64..8];
    let dimension = extent
        .prop_flat_map(|extent| (Just(extent), 1u32..6, 0..=extent, 0..=extent, any::<bool>()))
        .prop_map(|(extent, chunk, a, b, is_single)| {
            let range = a.min(b)..a.max(b);
            let is_single = is_single && extent > 0;
            let range = if is_single { a.min(extent - 1)..a.min(extent - 1) + 1 } else { range };
            (extent, chunk.min(u32::try_from(extent.max(1)).unwrap()), (range, is_single))
        });
    (prop::sample::select(&DTYPES[..]), prop::collection::vec(dimension, 0..=5), any::<u64>()).prop_map(
        |((dtype, typesize), dimensions, seed)| {
            let shape: Vec<u64> = dimensions.iter().map(|dimension| dimension.0).collect();
            let nbytes = shape.iter().product::<u64>() as usize * typesize;
            Sample {
                dtype,
                typesize,
                chunks: dimensions.iter().map(|dimension| dimension.1).collect(),
                items: noise(nbytes, seed),
                part: dimensions.into_iter().map(|dimension| dimension.2).collect(),
                shape,
            }
        },
    )
}

/// Returns the configuration of a test whose cases run the command several times.
pub(crate) fn few_cases() -> ProptestConfig {
    ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() }
}
