//! Groups `blosc1`, `blosc1-small`, `blosc1-items`, `blosc1-drawn`: `libblosc.so.1` beside C-Blosc 1.21.6.
//!
//! Data flow: grid point or drawn cell -> [`Settings`] and bytes -> [`Pair`]: the chunks of both libraries, each of which
//! is decoded by both -> ratios.

mod drawn;
mod library;

use std::cell::RefCell;
use std::ffi::CString;
use std::process;

use crate::Bench;
use crate::codec_grid::GridPoint;
use crate::datasets::Dataset;
use crate::items::{COUNTS, call_for_each, random_positions};
use crate::report::{COMPRESS, Report, SIZE};
use crate::small;
use crate::timing::speed_ratio;
use library::{Blosc1Library, Settings};

pub use drawn::run as run_drawn;

static COLUMNS: [&str; 4] = [SIZE, COMPRESS, "decompress", "read back"];

/// Bytes that a chunk may be longer than its content.
const OVERHEAD: usize = 16;

/// Both libraries.
struct Libraries {
    ours: Blosc1Library,
    reference: Blosc1Library,
}

impl Libraries {
    /// Loads both. Ends the process with a message if one is missing.
    fn load() -> Libraries {
        let load = || Ok(Libraries { ours: Blosc1Library::ours()?, reference: Blosc1Library::reference()? });
        load().unwrap_or_else(|message: String| {
            eprintln!("side_by_side: {message}");
            process::exit(1);
        })
    }

    fn both(&self) -> [&Blosc1Library; 2] {
        [&self.ours, &self.reference]
    }
}

/// The chunks of both libraries for one content.
struct Pair<'a> {
    libraries: &'a Libraries,
    settings: Settings,
    content: &'a [u8],
    /// The chunk of ours, and that of the reference.
    chunks: [Vec<u8>; 2],
}

impl<'a> Pair<'a> {
    /// Compresses `content` with both libraries, and checks that both decode both chunks.
    ///
    /// # Panics
    /// If a library does not compress `content`, or does not decode a chunk to `content`.
    fn new(libraries: &'a Libraries, settings: Settings, content: &'a [u8], name: &str) -> Pair<'a> {
        let chunks = libraries.both().map(|library| {
            library.apply(&settings);
            let mut chunk = vec![0; content.len() + OVERHEAD];
            let cbytes = library.compress(&settings, content, &mut chunk);
            chunk.truncate(cbytes);
            chunk
        });
        for library in libraries.both() {
            for chunk in &chunks {
                let mut restored = vec![0xEE; content.len()];
                library.decompress(&settings, chunk, &mut restored);
                assert!(restored == content, "{name}: a chunk is decoded to other data");
            }
        }
        Pair { libraries, settings, content, chunks }
    }

    /// Returns the ratios of the columns of [`report`]; "decompress" and "read back" are those of the group `chunks`.
    fn ratios(&self, bench: &Bench) -> Vec<f64> {
        let Pair { libraries: Libraries { ours, reference }, settings, content, chunks } = self;
        let [own, theirs] = chunks;
        let size = theirs.len() as f64 / own.len() as f64;
        if bench.options.sizes {
            return vec![size];
        }
        // Both libraries write to the same buffer: the physical pages of a buffer change the time of a copy.
        let dest = RefCell::new(vec![0; content.len() + OVERHEAD]);
        let nthreads = settings.nthreads;
        let compress = speed_ratio(
            &bench.options,
            nthreads,
            || _ = ours.compress(settings, content, &mut dest.borrow_mut()),
            || _ = reference.compress(settings, content, &mut dest.borrow_mut()),
        );
        dest.borrow_mut().truncate(content.len());
        // Equal chunks are read from the same buffer, for the same reason.
        let own = if own == theirs { theirs } else { own };
        let [decompress, read_back] = [theirs, own].map(|chunk| {
            speed_ratio(
                &bench.options,
                nthreads,
                || ours.decompress(settings, chunk, &mut dest.borrow_mut()),
                || reference.decompress(settings, theirs, &mut dest.borrow_mut()),
            )
        });
        vec![size, compress, decompress, read_back]
    }
}

/// Returns an empty table of sizes and speeds; with `--sizes`, of sizes only.
fn report(group: &'static str, bench: &Bench) -> Report {
    let columns = if bench.options.sizes { &COLUMNS[..1] } else { &COLUMNS };
    Report::new(group, columns, bench.options.summary)
}

fn settings_of(point: GridPoint, typesize: i32, is_global: bool) -> Settings {
    Settings {
        codec: CString::new(point.codec.1).expect("a name without NUL"),
        clevel: point.level,
        shuffle: point.filter.0,
        typesize: typesize as usize,
        nthreads: point.nthreads,
        is_global,
    }
}

/// Measures each point of the grid on each data set, with the functions with `_ctx` and with the others.
pub fn run(bench: &Bench) -> Report {
    let libraries = Libraries::load();
    let mut report = report("blosc1", bench);
    let sets = Dataset::load(&bench.options.data, bench.options.chunk_nbytes);
    for point in GridPoint::all(bench) {
        for set in &sets {
            for (is_global, functions) in [(false, "_ctx"), (true, "global")] {
                let name = format!("{point} {} {functions}", set.name);
                if bench.options.is_selected(point.codec.1, &name) {
                    let settings = settings_of(point, set.typesize, is_global);
                    let pair = Pair::new(&libraries, settings, &set.bytes, &name);
                    report.add(point.codec.1, name, pair.ratios(bench));
                }
            }
        }
    }
    report
}

/// Measures the middle level of the grid on the first bytes of a few data sets.
pub fn run_small(bench: &Bench) -> Report {
    let libraries = Libraries::load();
    let mut report = report("blosc1-small", bench);
    let sets = small::load_sets(bench);
    for point in GridPoint::of_middle_level(bench) {
        for set in &sets {
            for size in small::SIZES.into_iter().filter(|&size| size <= set.bytes.len()) {
                let name = format!("{point} {} {size} bytes", set.name);
                if bench.options.is_selected(point.codec.1, &name) {
                    let settings = settings_of(point, set.typesize, false);
                    let pair = Pair::new(&libraries, settings, &set.bytes[..size], &name);
                    report.add(point.codec.1, name, pair.ratios(bench));
                }
            }
        }
    }
    report
}

/// Measures the middle level of the grid: both libraries read 1, 100 and 10 000 items of the reference's chunk.
pub fn run_items(bench: &Bench) -> Report {
    let libraries = Libraries::load();
    let mut report = Report::new("blosc1-items", &["getitem"], bench.options.summary);
    let sets = crate::items::load_sets(bench);
    for point in GridPoint::of_middle_level(bench) {
        for set in &sets {
            let typesize = set.typesize as usize;
            for count in COUNTS.into_iter().filter(|&count| count * typesize <= set.bytes.len()) {
                let name = format!("{point} {} {count} items", set.name);
                if bench.options.is_selected(point.codec.1, &name) {
                    let pair =
                        Pair::new(&libraries, settings_of(point, set.typesize, false), &set.bytes, &name);
                    report.add(point.codec.1, name, vec![getitem_ratio(bench, &pair, count)]);
                }
            }
        }
    }
    report
}

fn getitem_ratio(bench: &Bench, pair: &Pair, count: usize) -> f64 {
    let Libraries { ours, reference } = pair.libraries;
    let typesize = pair.settings.typesize;
    let places = random_positions(pair.content.len() / typesize - count);
    let dest = RefCell::new(vec![0; count * typesize]);
    let chunk = &pair.chunks[1];
    for &start in &places {
        ours.getitem(chunk, start, count, &mut dest.borrow_mut());
        let wanted = &pair.content[start as usize * typesize..][..count * typesize];
        assert!(*dest.borrow() == wanted, "wrong items at {start}");
    }
    let read = |library: &Blosc1Library, start| library.getitem(chunk, start, count, &mut dest.borrow_mut());
    let ours = call_for_each(&places, |start| read(ours, start));
    let reference = call_for_each(&places, |start| read(reference, start));
    speed_ratio(&bench.options, 1, ours, reference)
}
