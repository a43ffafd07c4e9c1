//! Files of this command in Python, and the reverse, with NumPy and python-blosc2.
//!
//! The environment variable `BLOSC2_PYTHON` names a Python that has both modules; without it, `python3` is tried. A
//! machine without them skips the test with a message, unless `BLOSC2_REQUIRE_PYTHON` is set.

mod program;

use program::blosc2_command;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// The types of the arrays; without `V`, which python-blosc2 stores as a type with one field.
const DTYPES: &str = "?;i1;u1;<i2;>i2;<u4;>u8;<i8;<f2;>f2;<f4;>f4;<f8;<c8;>c16;S5;U3;>U3;<M8[ns];>m8[25s];\
    [('a', '<i4'), ('b', [('c', '>f8', (2,)), ('d', 'S3')])]";
/// The shapes of the arrays, separated by semicolons.
const SHAPES: &str = ";3;2,0,4;1;4,5;2,3,4;2,1,3,2,2";

/// Defines `cases()`: pairs of a name and an array.
const CASES: &str = "
import sys, numpy as np, blosc2
def cases():
    dtypes, shapes = sys.argv[1].split(';'), sys.argv[2].split(';')
    for d, dtype in enumerate(dtypes):
        dtype = eval(dtype) if dtype.startswith('[') else dtype
        for s, shape in enumerate(shapes):
            shape = tuple(int(extent) for extent in shape.split(',') if extent)
            count = int(np.prod(shape)) * np.dtype(dtype).itemsize
            if np.dtype(dtype).kind in 'SU':
                array = np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)
            else:
                data = np.arange(count) % 2 if dtype == '?' else np.arange(count) * 7
                array = data.astype('u1').view(dtype).reshape(shape)
            yield f'{d}-{s}', array
def check(found, expected, name):
    assert found.dtype == expected.dtype, (name, found.dtype, expected.dtype)
    assert found.shape == expected.shape, (name, found.shape, expected.shape)
    assert found.tobytes() == expected.tobytes(), (name, found, expected)
";

/// Writes NumPy files in both orders, and arrays of python-blosc2.
const WRITE: &str = "
for name, array in cases():
    np.save(f'{name}.c.npy', array)
    np.save(f'{name}.f.npy', np.asfortranarray(array) if array.ndim else array)
    blosc2.asarray(array, urlpath=f'{name}.python.b2nd')
print('\\n'.join(name for name, _ in cases()))
";

/// Reads what the command has written.
const CHECK: &str = "
for name, array in cases():
    for order in 'cf':
        opened = blosc2.open(f'{name}.{order}.b2nd')
        check(opened[()] if array.ndim == 0 else opened[:], array, name)
        assert opened.dtype == array.dtype and opened.shape == array.shape, name
    for source in ['python', 'c']:
        check(np.load(f'{name}.{source}.exported.npy'), array, name)
    if array.ndim:
        check(np.load(f'{name}.last.npy'), array[..., -1] if array.shape[-1] else array, name)
";

/// Returns the Python that has the modules.
fn python() -> Option<OsString> {
    let python = std::env::var_os("BLOSC2_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).args(["-c", "import numpy, blosc2"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    assert!(
        std::env::var_os("BLOSC2_REQUIRE_PYTHON").is_none(),
        "{python:?} does not have the modules numpy and blosc2"
    );
    // Not `eprintln`, whose text is shown for tests that fail only.
    let message =
        format!("SKIPPED: {python:?} does not have numpy and blosc2; BLOSC2_PYTHON names one that has\n");
    std::io::stderr().write_all(message.as_bytes()).unwrap();
    None
}

/// Runs a script in `directory`. Returns what it prints.
fn run_python(python: &OsString, script: &str, directory: &Path) -> String {
    let output = Command::new(python)
        .args(["-c", &format!("{CASES}{script}"), DTYPES, SHAPES])
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn blosc2(directory: &Path, arguments: &[&str]) {
    let output = blosc2_command().args(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn python_reads_our_files_and_we_read_those_of_python() {
    let Some(python) = python() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    let names = run_python(&python, WRITE, directory);
    assert_eq!(names.lines().count(), DTYPES.split(';').count() * SHAPES.split(';').count());
    for name in names.lines() {
        let file = |suffix: &str| format!("{name}.{suffix}");
        blosc2(directory, &["import", &file("c.npy"), &file("c.b2nd")]);
        blosc2(directory, &["import", &file("f.npy"), &file("f.b2nd")]);
        blosc2(directory, &["diff", &file("c.b2nd"), &file("python.b2nd")]);
        blosc2(directory, &["export", &file("python.b2nd"), &file("python.exported.npy")]);
        blosc2(directory, &["export", &file("c.b2nd"), &file("c.exported.npy")]);
        let dimensions = SHAPES.split(';').nth(name.rsplit('-').next().unwrap().parse().unwrap()).unwrap();
        if !dimensions.is_empty() {
            let last = [vec![":"; dimensions.split(',').count() - 1], vec!["-1"]].concat().join(",");
            blosc2(directory, &["export", &file("c.b2nd"), &file("last.npy"), "--slice", &last]);
        }
    }
    run_python(&python, CHECK, directory);
}

/// Reads the frames of the command, and writes frames and a directory for it. Each has 1 MB of numbers.
const FRAMES: &str = "
content = open('content', 'rb').read()
for codec in ['blosclz', 'lz4', 'lz4hc', 'zlib', 'zstd']:
    schunk = blosc2.open(f'{codec}.b2frame')
    assert schunk[:] == content and schunk.typesize == 4, codec
    cparams = dict(codec=getattr(blosc2.Codec, codec.upper()), typesize=4)
    blosc2.SChunk(chunksize=100_000, data=content, cparams=cparams, urlpath=f'{codec}.python.b2frame', contiguous=True)
    blosc2.SChunk(chunksize=100_000, data=content, cparams=cparams, urlpath=f'{codec}.python', contiguous=False)
";

#[test]
fn python_reads_our_frames_and_we_decompress_those_of_python() {
    let Some(python) = python() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    let content: Vec<u8> = (0..250_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    std::fs::write(directory.join("content"), &content).unwrap();
    let codecs = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
    for codec in codecs {
        let frame = format!("{codec}.b2frame");
        let sizes = ["-t", "4", "--chunksize", "300K"];
        blosc2(directory, &[&["compress", "content", "-c", codec, "-o", &frame][..], &sizes].concat());
    }
    run_python(&python, FRAMES, directory);
    for codec in codecs {
        for source in [format!("{codec}.python.b2frame"), format!("{codec}.python")] {
            blosc2(directory, &["verify", &source]);
            blosc2(directory, &["decompress", &source, "-o", "back", "--force"]);
            assert_eq!(std::fs::read(directory.join("back")).unwrap(), content, "{source}");
        }
    }
}

/// Writes a store of each kind.
const STORES: &str = "
for name in ['t.b2z', 't.b2d']:
    with blosc2.TreeStore(name, mode='w') as store:
        store['/a'] = np.arange(10)
        store['/g/b'] = np.arange(1_000_000, dtype='f4').reshape(1000, 1000)
        store['/g/s'] = blosc2.SChunk(data=b'some bytes')
        store.vlmeta['author'] = 'someone'
    with blosc2.DictStore('d' + name, mode='w', threshold=1000) as store:
        store['/a'] = np.arange(10)
        store['/g/b'] = np.arange(1_000_000, dtype='f4').reshape(1000, 1000)
        store['/g/s'] = blosc2.SChunk(data=b'some bytes')
store = blosc2.EmbedStore('e.b2e', mode='w')
store['/a'] = np.arange(10)
store['/g/b'] = np.arange(1_000_000, dtype='f4').reshape(1000, 1000)
store['/g/s'] = blosc2.SChunk(data=b'some bytes')
np.save('b.npy', np.arange(1_000_000, dtype='f4').reshape(1000, 1000))
";

#[test]
fn stores_of_python_are_read() {
    let Some(python) = python() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    run_python(&python, STORES, directory);
    let text = |arguments: &[&str]| {
        let output = blosc2_command().args(arguments).current_dir(directory).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for store in ["t.b2z", "t.b2d", "dt.b2z", "dt.b2d", "e.b2e"] {
        assert_eq!(text(&["cat", &format!("{store}/a")]), "0 1 2 3 4 5 6 7 8 9\n");
        assert_eq!(text(&["cat", &format!("{store}/g/s")]), "some bytes");
        assert_eq!(text(&["diff", &format!("{store}/g/b"), "b.npy"]), "");
        text(&["verify", store]);
        assert!(text(&["info", "--tree", store]).contains(&format!("{store}/g/b ")));
    }
    assert_eq!(text(&["meta", "get", "t.b2z/__vlmeta__", "author"]), "\"someone\"\n");
}

/// Writes pairs of arrays, most of whose items are near the limit of a tolerance. Prints type, tolerances, and the number of
/// items that NumPy finds to differ.
const TOLERANCES: &str = "
rng, n = np.random.default_rng(1), 30_000
for number, dtype in enumerate('<f2;>f2;<f4;>f4;<f8;>f8;<c8;>c8;<c16;>c16;<i2;>i8;>u4;?'.split(';')):
    for case, (rtol, atol, nan) in enumerate([(0.01, 0, 0), (0, 0.3, 1), (0.003, 0.05, 1), (0.5, 1, 0)]):
        if np.dtype(dtype).kind in 'fc':
            a = rng.normal(size=n) * 20
            if np.dtype(dtype).kind == 'c':
                a = a + 1j * rng.normal(size=n)
            b = a * (1 + rtol * rng.normal(1, 0.02, n)) + atol * rng.normal(1, 0.02, n)
            a[::50] = b[::100] = np.nan
            a[1::50] = b[1::100] = np.inf
        else:
            a, b = rng.integers(0, 2 if dtype == '?' else 100, (2, n))
        a, b = a.astype(dtype), b.astype(dtype)
        np.save(f'{number}-{case}.a.npy', a)
        np.save(f'{number}-{case}.b.npy', b)
        with np.errstate(all='ignore'):
            close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=bool(nan))
        print(f'{number}-{case}', f'--rtol={rtol}', f'--atol={atol}', nan, np.count_nonzero(~close))
";

#[test]
fn tolerances_are_those_of_numpy_for_all_numbers() {
    let Some(python) = python() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path();
    for line in run_python(&python, TOLERANCES, directory).lines() {
        let [name, rtol, atol, nan, count] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        blosc2(directory, &["import", "-f", &format!("{name}.a.npy"), "a.b2nd"]);
        let second = format!("{name}.b.npy");
        let mut arguments = vec!["diff", "a.b2nd", &second, rtol, atol];
        arguments.extend((nan == "1").then_some("--equal-nan"));
        let output = blosc2_command().args(arguments).current_dir(directory).output().unwrap();
        assert_eq!(output.status.code(), Some(i32::from(count != "0")), "{line}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let found =
            printed.split("different items: ").nth(1).map_or("0", |rest| rest.split(' ').next().unwrap());
        assert_eq!(found, count, "{line}");
    }
}
