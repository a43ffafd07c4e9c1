//! NumPy files and raw numbers to arrays and back.

use crate::support::*;
use blosc2::{AnyArray, Codec, Filter, SuperChunk};
use proptest::prelude::*;

/// Returns extents as an argument.
fn list(extents: &[u32]) -> String {
    extents.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// Checks the array of a file against a sample.
fn check_array(directory: &Directory, name: &str, sample: &Sample) -> Result<(), TestCaseError> {
    let array = AnyArray::open(directory.path(name)).unwrap();
    prop_assert_eq!((array.dtype(), array.typesize()), (sample.dtype, sample.typesize));
    prop_assert_eq!(array.shape(), sample.shape.clone());
    prop_assert_eq!(array.read_bytes(..).unwrap(), sample.items.clone());
    Ok(())
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn numpy_files_become_arrays_and_numpy_files_again(sample in samples(), has_chunks: bool) {
        let directory = Directory::new();
        let c_order = npy(sample.dtype, false, &sample.shape, &sample.items);
        let items = to_fortran_order(&sample.items, sample.typesize, &sample.shape);
        directory.write("c.npy", &c_order);
        directory.write("f.npy", &npy(sample.dtype, true, &sample.shape, &items));
        let chunks = format!("--chunks={}", list(&sample.chunks));
        let options: &[&str] = if has_chunks && !sample.shape.is_empty() { &[&chunks] } else { &[] };
        for name in ["c", "f"] {
            let (source, array, result) =
                (format!("{name}.npy"), format!("{name}.b2nd"), format!("{name}.again.npy"));
            directory.run(&[&["import", &source, &array], options].concat());
            check_array(&directory, &array, &sample)?;
            directory.run(&["export", &array, &result]);
            prop_assert_eq!(directory.read(&result), c_order.clone());
        }
        directory.run_with_stdin(&[&["import", "-", "stdin.b2nd"], options].concat(), &c_order);
        check_array(&directory, "stdin.b2nd", &sample)?;
        if has_chunks && !sample.shape.is_empty() {
            let array = AnyArray::open(directory.path("c.b2nd")).unwrap();
            prop_assert_eq!(array.chunkshape(), sample.chunks);
        }
    }

    #[test]
    fn raw_numbers_become_arrays_and_raw_numbers_again(sample in samples()) {
        prop_assume!(!sample.shape.is_empty());
        let directory = Directory::new();
        directory.write("raw", &sample.items);
        let shape: Vec<String> = sample.shape.iter().map(u64::to_string).collect();
        let (shape, dtype) = (format!("--shape={}", shape.join(",")), format!("--dtype={}", sample.dtype));
        directory.run(&["import", "raw", "file.b2nd", &shape, &dtype]);
        directory.run_with_stdin(&["import", "-", "stdin.b2nd", &shape, &dtype], &sample.items);
        for name in ["file.b2nd", "stdin.b2nd"] {
            check_array(&directory, name, &sample)?;
            prop_assert_eq!(directory.run(&["export", name, "-"]), sample.items.clone());
            directory.run(&["export", "--force", name, "again"]);
            prop_assert_eq!(directory.read("again"), sample.items.clone());
        }
    }

    #[test]
    fn parts_of_arrays_are_those_of_a_model(sample in samples()) {
        let directory = Directory::new();
        sample.write(&directory.path("a.b2nd"));
        let (items, slice) = (sample.part_items(), format!("--slice={}", sample.part_text()));
        prop_assert_eq!(directory.run(&["export", "a.b2nd", "-", &slice]), items.clone());
        directory.run(&["export", "a.b2nd", "raw", &slice]);
        prop_assert_eq!(directory.read("raw"), items.clone());
        directory.run(&["export", "a.b2nd", "a.npy", &slice]);
        prop_assert_eq!(directory.read("a.npy"), npy(sample.dtype, false, &sample.part_shape(), &items));
        let printed = directory.run(&["slice", "a.b2nd", &sample.part_text(), "--format=raw"]);
        prop_assert_eq!(printed, items);
    }
}

/// Arrays that are larger than the boxes in which they are read and written, with whole rows of chunks below and above
/// the size of a box.
#[test]
fn large_arrays_are_converted_in_boxes() {
    let cases: [(&[u64], &str); 2] = [(&[40, 1500, 1500], "7,1500,1500"), (&[2, 7000, 6000], "2,900,1100")];
    for (shape, chunks) in cases {
        let directory = Directory::new();
        let nitems = shape.iter().product::<u64>() as usize;
        // Long enough rows that all boxes differ, and short enough to compress fast.
        let mut items = vec![0; nitems];
        items.chunks_mut(977).enumerate().for_each(|(n, run)| run.fill((n % 251) as u8));
        let fortran = to_fortran_order_of_bytes(&items, shape);
        directory.write("c.npy", &npy("|u1", false, shape, &items));
        directory.write("f.npy", &npy("|u1", true, shape, &fortran));
        for name in ["c", "f"] {
            let (source, array) = (format!("{name}.npy"), format!("{name}.b2nd"));
            directory.run(&["import", "--codec=lz4", "--level=1", "--chunks", chunks, &source, &array]);
            directory.run(&["export", "-f", &array, "again.npy"]);
            assert!(directory.read("again.npy") == directory.read("c.npy"), "{name}");
            assert!(directory.run(&["export", &array, "-"]) == items, "{name}");
        }
        assert_eq!(directory.text(&["diff", "c.b2nd", "f.b2nd"]), "");
    }
}

/// Returns the items of a three-dimensional array in Fortran order.
fn to_fortran_order_of_bytes(items: &[u8], shape: &[u64]) -> Vec<u8> {
    let [a, b, c] = [0, 1, 2].map(|dim| shape[dim] as usize);
    let mut fortran = vec![0; items.len()];
    // A part of a row at a time: the cache lines that it is written to are those of the other rows.
    for j in 0..b {
        for start in (0..c).step_by(64) {
            for i in 0..a {
                let row = (i * b + j) * c;
                for k in start..c.min(start + 64) {
                    fortran[(k * b + j) * a + i] = items[row + k];
                }
            }
        }
    }
    fortran
}

#[test]
fn the_parameters_of_compression_are_used() {
    let directory = Directory::new();
    directory.write("a.npy", &npy("<f8", false, &[100, 100], &noise(80_000, 1)));
    directory.run(&[
        "import",
        "a.npy",
        "a.b2nd",
        "--codec=lz4",
        "--level=3",
        "--filters=bitshuffle",
        "--chunks=50,100",
        "--blocks=10,20",
    ]);
    let array = AnyArray::open(directory.path("a.b2nd")).unwrap();
    assert_eq!((array.chunkshape(), array.blockshape()), (&[50, 100][..], &[10, 20][..]));
    let params = array.info().unwrap().params;
    assert_eq!((params.get_codec(), params.get_level()), (Codec::Lz4, 3));
    assert_eq!(params.get_filters(), [Filter::Bitshuffle]);
    directory.run(&["import", "a.npy", "default.b2nd"]);
    let params = SuperChunk::open(directory.path("default.b2nd")).unwrap().info().params;
    assert_eq!((params.get_codec(), params.get_level()), (Codec::Zstd, 2));
    assert_eq!(params.get_filters(), [Filter::Shuffle]);
}

#[test]
fn arrays_in_directories_are_exported() {
    let directory = Directory::new();
    let builder = AnyArray::builder([2, 3], "<i2", 2).directory(true);
    let items = [1_i16, 2, 3, 4, 5, 6].map(i16::to_le_bytes).concat();
    builder.create(directory.path("a.b2nd")).unwrap().write_bytes(.., &items).unwrap();
    directory.run(&["export", "a.b2nd", "a.npy", "--slice=-1"]);
    assert_eq!(directory.read("a.npy"), npy("<i2", false, &[3], &[4, 0, 5, 0, 6, 0]));
    assert_eq!(directory.text(&["cat", "a.b2nd"]), "1 2 3\n4 5 6\n");
}

#[test]
fn details_are_printed_if_verbose() {
    let directory = Directory::new();
    directory.write("a.npy", &npy("<i2", false, &[2], &[1, 0, 2, 0]));
    let stderr = |arguments: &[&str]| {
        let output = directory.command(arguments).output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(stderr(&["-v", "import", "a.npy", "a.b2nd"]).starts_with("a.npy -> a.b2nd: <i2 [2], ratio "));
    assert_eq!(stderr(&["-v", "export", "a.b2nd", "b.npy"]), "a.b2nd -> b.npy: <i2 [2]\n");
}

/// A chunk that is shorter than the chunk shape has all items of the array.
#[test]
fn arrays_with_a_short_chunk_are_read() {
    let directory = Directory::new();
    let items: Vec<i32> = (0..7 * 50).collect();
    let bytes: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
    let builder = blosc2::Array::<i32>::builder([7, 50]).chunks([8, 50]).blocks([1, 50]);
    builder.create_from(directory.path("a.b2nd"), &items).unwrap();
    let mut chunks = blosc2::OpenOptions::new().write(true).open(directory.path("a.b2nd")).unwrap();
    let params = blosc2::Params::new().typesize(4).blocksize(200);
    chunks.update_chunk(0, &blosc2::compress(&bytes, &params).unwrap()).unwrap();
    drop(chunks);
    assert_eq!(directory.run(&["export", "a.b2nd", "-"]), bytes);
    assert_eq!(directory.run(&["cat", "a.b2nd", "--format=raw"]), bytes);
    assert_eq!(directory.run(&["slice", "a.b2nd", "5:7", "--format=raw"]), bytes[1000..]);
    assert!(directory.text(&["info", "a.b2nd"]).contains("7,50"));
    directory.run(&["verify", "a.b2nd"]);
    directory.run(&["repair", "a.b2nd", "--output=saved.b2nd"]);
    directory.run(&["--quiet", "recompress", "a.b2nd", "-c", "lz4"]);
    for name in ["saved.b2nd", "a.b2nd"] {
        assert_eq!(AnyArray::open(directory.path(name)).unwrap().read_bytes(..).unwrap(), bytes, "{name}");
    }
}
