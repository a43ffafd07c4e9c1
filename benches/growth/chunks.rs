//! Group `chunks`: super-chunks of 100 to 100,000 chunks, or 1,000,000 with `--full`, with LZ4 at level 5.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::calls::Params;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};
use crate::{CHUNKSIZE, CONTENTS, Options, Pair, contents, measure, print_heading, print_row};

/// Item size in bytes.
const TYPESIZE: usize = 4;

/// Appends of a batch: few, so that the number of chunks stays about the same.
const APPENDS: usize = 16;

/// Appends that are one change of a file, while it is filled.
const FILLED_TOGETHER: usize = 1000;

/// A store and, for files, the level of durability in which our library uses it (`None`: the default).
struct Place {
    name: &'static str,
    store: Store,
    level: Option<&'static str>,
}

const PLACES: [Place; 4] = [
    Place { name: "memory, sparse", store: Store::Memory, level: None },
    Place { name: "memory, frame", store: Store::MemoryFrame, level: None },
    Place { name: "file, level off", store: Store::File, level: Some("off") },
    Place { name: "file, default", store: Store::File, level: None },
];

/// Runs `open`, which creates or opens a file, at a level of durability.
pub fn with_level<T>(level: Option<&str>, open: impl FnOnce() -> T) -> T {
    if let Some(level) = level {
        // SAFETY: no other thread uses the environment: the workers of the libraries compress.
        unsafe { std::env::set_var("BLOSC2_DURABILITY", level) };
    }
    let opened = open();
    // SAFETY: as above.
    unsafe { std::env::remove_var("BLOSC2_DURABILITY") };
    opened
}

pub fn params() -> Params {
    Params { codec: 1, typesize: TYPESIZE as i32, ..Params::default() }
}

/// Returns a new super-chunk with `count` chunks.
pub fn fill(library: &'static Library, store: Store, path: &Path, count: usize) -> SuperChunk {
    let source = SuperChunk::create(library, Store::Memory, Path::new("-"), &params());
    for content in contents() {
        source.append(&content).expect("an append");
    }
    let chunks: Vec<Vec<u8>> = (0..CONTENTS as i64).map(|n| source.get_chunk(n).expect("a chunk")).collect();
    let schunk = SuperChunk::create(library, store, path, &params());
    for first in (0..count).step_by(FILLED_TOGETHER) {
        assert_eq!(schunk.lock(), 0, "a change");
        for nchunk in first..count.min(first + FILLED_TOGETHER) {
            schunk.append_chunk(&chunks[nchunk % CONTENTS]).expect("an append");
        }
        assert_eq!(schunk.unlock(), 0, "a change");
    }
    schunk
}

/// The data of a super-chunk that is opened again for each operation.
enum Stored {
    /// A super-chunk without a frame is its only handle.
    Handle(SuperChunk),
    Frame(Vec<u8>),
    File(PathBuf),
}

/// One library and its super-chunk.
struct Subject {
    library: &'static Library,
    level: Option<&'static str>,
    stored: Stored,
}

impl Subject {
    /// Our library writes the frames of both: an append to a frame takes the reference longer the more chunks there are.
    fn new(
        library: &'static Library,
        ours: &'static Library,
        place: &Place,
        scratch: &ScratchDir,
        count: usize,
    ) -> Subject {
        let level = if library.is_reference() { Some("off") } else { place.level };
        let stored = match place.store {
            Store::Memory => Stored::Handle(fill(library, place.store, Path::new("-"), count)),
            // As a file, because in memory each append is a change of its own.
            Store::MemoryFrame => {
                let path = scratch.new_path();
                drop(with_level(Some("off"), || fill(ours, Store::File, &path, count)));
                Stored::Frame(fs::read(&path).expect("a frame"))
            }
            store => {
                let path = scratch.new_path();
                drop(with_level(level, || fill(ours, store, &path, count)));
                Stored::File(path)
            }
        };
        Subject { library, level, stored }
    }

    /// Opens the super-chunk, for reading if it is a frame in memory.
    fn open(&mut self) -> SuperChunk {
        let opened = match &mut self.stored {
            Stored::Handle(_) => unreachable!("no frame"),
            // SAFETY: the frame outlives the handles, which only read it.
            Stored::Frame(frame) => unsafe {
                SuperChunk::from_borrowed_frame(self.library, frame.as_mut_ptr(), frame.len())
            },
            Stored::File(path) => with_level(self.level, || SuperChunk::open(self.library, path)),
        };
        opened.expect("a frame")
    }

    /// Returns a handle that may be changed. The subject is not opened again.
    fn into_handle(mut self) -> SuperChunk {
        if let Stored::Frame(frame) = &self.stored {
            // Frames that are changed have to be in `malloc` memory, which their handles may move.
            // SAFETY: `malloc` accepts any size.
            let copy: *mut u8 = unsafe { libc::malloc(frame.len()) }.cast();
            assert!(!copy.is_null(), "memory");
            // SAFETY: a new block of the length of the frame. It is not freed.
            let opened = unsafe {
                copy.copy_from_nonoverlapping(frame.as_ptr(), frame.len());
                SuperChunk::from_borrowed_frame(self.library, copy, frame.len())
            };
            return opened.expect("a frame");
        }
        match self.stored {
            Stored::Handle(schunk) => schunk,
            _ => self.open(),
        }
    }
}

pub fn read_chunk(schunk: &SuperChunk, nchunk: i64, dest: &mut [u8]) {
    // SAFETY: a destination of its stated length.
    let rc = unsafe {
        (schunk.functions.blosc2_schunk_decompress_chunk)(
            schunk.raw(),
            nchunk,
            dest.as_mut_ptr().cast(),
            dest.len() as i32,
        )
    };
    assert_eq!(rc as usize, CHUNKSIZE, "{}: chunk {nchunk}", schunk.library.name);
}

fn read_item(schunk: &SuperChunk, item: i64) -> [u8; TYPESIZE] {
    let mut dest = [0; TYPESIZE];
    // SAFETY: a destination for one item.
    let rc = unsafe {
        (schunk.functions.blosc2_schunk_get_slice_buffer)(
            schunk.raw(),
            item,
            item + 1,
            dest.as_mut_ptr().cast(),
        )
    };
    assert_eq!(rc, 0, "{}: item {item}", schunk.library.name);
    dest
}

/// Measures all operations with `count` chunks in a place.
fn measure_place(
    libraries: [&'static Library; 2],
    place: &Place,
    count: usize,
) -> Vec<(&'static str, [f64; 2])> {
    let scratch = ScratchDir::new();
    let contents = contents();
    let mut subjects = libraries.map(|library| Subject::new(library, libraries[0], place, &scratch, count));
    let mut results = Vec::new();
    let items = (count * (CHUNKSIZE / TYPESIZE)) as u64;
    if !matches!(subjects[0].stored, Stored::Handle(_)) {
        let [ours, theirs] = &mut subjects;
        let mut pair: Pair = [ours, theirs].map(|subject| Box::new(|| drop(subject.open())) as _);
        results.push(("open, close", measure(&mut pair, None)));
        drop(pair);
        let [ours, theirs] = &mut subjects;
        let mut pair: Pair = [ours, theirs].map(|subject| {
            let mut random = Random::new(5);
            Box::new(move || _ = read_item(&subject.open(), (random.next() % items) as i64)) as _
        });
        results.push(("open, read an item, close", measure(&mut pair, None)));
    }
    let handles = subjects.map(Subject::into_handle);
    for schunk in &handles {
        let mut dest = vec![0; CHUNKSIZE];
        let last = count - 1;
        read_chunk(schunk, last as i64, &mut dest);
        assert!(dest == contents[last % CONTENTS], "{}: the last chunk", schunk.library.name);
        assert_eq!(read_item(schunk, items as i64 - 1), dest[CHUNKSIZE - TYPESIZE..]);
    }
    let mut pair: Pair = handles.each_ref().map(|schunk| {
        let (mut random, mut dest) = (Random::new(6), vec![0; CHUNKSIZE]);
        Box::new(move || read_chunk(schunk, (random.next() % count as u64) as i64, &mut dest)) as _
    });
    results.push(("read a chunk", measure(&mut pair, None)));
    let mut pair: Pair = handles.each_ref().map(|schunk| {
        let mut random = Random::new(7);
        Box::new(move || _ = read_item(schunk, (random.next() % items) as i64)) as _
    });
    results.push(("read an item", measure(&mut pair, None)));
    let mut pair: Pair = handles.each_ref().map(|schunk| {
        // Each library has a copy, so that the caches have none from an append of the other.
        let mut next = (0..CONTENTS).cycle();
        let contents = contents.clone();
        Box::new(move || _ = schunk.append(&contents[next.next().unwrap_or(0)]).expect("an append")) as _
    });
    results.insert(0, ("append", measure(&mut pair, Some(APPENDS))));
    drop(pair);
    for path in fs::read_dir(scratch.path()).expect("a directory").flatten() {
        let _ = fs::remove_file(path.path());
    }
    results
}

pub fn run(libraries: [&'static Library; 2], options: &Options) {
    let mut counts = vec![100, 1_000, 10_000, 100_000];
    if options.full {
        counts.push(1_000_000);
    }
    for place in PLACES.iter().filter(|place| options.has_row(place.name)) {
        print_heading(place.name, "microseconds, chunks");
        let results: Vec<_> =
            counts.iter().map(|&count| (count, measure_place(libraries, place, count))).collect();
        for operation in 0..results[0].1.len() {
            for (count, results) in &results {
                let (name, costs) = results[operation];
                print_row(&format!("{name}, {count}"), costs, costs[1] / costs[0]);
            }
        }
    }
}
