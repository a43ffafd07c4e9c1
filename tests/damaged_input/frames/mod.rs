//! Damaged frames: for arbitrary bytes, opening, reading and changing them returns an error or a result that is
//! consistent in itself. No byte outside the buffers (which lie next to inaccessible pages) is read or written, no
//! call hangs or panics, and the memory in use grows by no more than [`crate::support::memory::max_memory`].
//!
//! ```text
//! BLOSC2_MUTANTS=50000 cargo test --release --test damaged_input frames::
//! ```
//!
//! runs that many mutants in all, a third of them each as buffers, as files and as directories; `BLOSC2_MUTANT_SEED`
//! selects another sample and `BLOSC2_MUTANT_ONLY=<case>` replays one case of it. Ranges of cases run in child
//! processes, so that a crash or a hang is a failed test that names its case.

mod exercise;
pub mod fields;
pub mod mutation;
pub mod originals;

use std::fs;

use crate::support::child::test_name;
use crate::support::guard::GuardedBuffer;
use crate::support::library::Library;
use crate::support::mutants::{MutantTest, Mutants};
use crate::support::random::Random;
use crate::support::super_chunk::SuperChunk;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::watchdog;
use exercise::Exercise;
use fields::Files;
use originals::{Original, originals};

const MUTANT_TEST: MutantTest = MutantTest { prefix: "BLOSC2_MUTANT", seed: 17, mutants: 3000, forms: 3 };
const CAPACITY: usize = 1 << 20;

/// How a mutant is passed to the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Buffer,
    File,
    Directory,
}

/// The cases of one form, and the directory in which they run.
struct Cases {
    form: Form,
    originals: Vec<Original>,
    scratch: ScratchDir,
    guarded: GuardedBuffer,
}

impl Mutants for Cases {
    /// The index of the original, and the bytes.
    type Mutant = (usize, Files);

    fn draw(&self, random: &mut Random) -> Self::Mutant {
        let which = random.below(self.originals.len());
        let original = &self.originals[which];
        let mut files = original.files.clone();
        for _ in 0..*random.pick(&[0, 1, 1, 1, 1, 1, 2, 2, 3]) {
            mutation::mutate(random, original, &mut files);
        }
        (which, files)
    }

    fn size(&self, (_, files): &Self::Mutant) -> usize {
        files.values().map(Vec::len).sum()
    }

    fn run(&mut self, random: &mut Random, (_, files): &Self::Mutant) {
        run_case(random, self.form, files, &self.scratch, &mut self.guarded);
    }

    fn describe(&self, (original, files): &Self::Mutant) -> String {
        describe(&self.originals[*original], files)
    }
}

/// Runs one case; a failed check panics.
fn run_case(
    random: &mut Random,
    form: Form,
    files: &Files,
    scratch: &ScratchDir,
    guarded: &mut GuardedBuffer,
) {
    let library = Library::ours();
    let exercise = Exercise;
    match form {
        Form::Buffer => {
            let frame = &files["frame"];
            let at_end = !random.one_in(4);
            let buffer = guarded.edge_bytes(frame.len(), at_end);
            buffer.copy_from_slice(frame);
            watchdog::record_step();
            if let Some(schunk) = SuperChunk::from_frame_copy(library, buffer) {
                exercise.read(random, &schunk);
                exercise.change(random, &schunk);
            }
            watchdog::record_step();
            // SAFETY: the buffer outlives the super-chunk, which is only read.
            let borrowed =
                unsafe { SuperChunk::from_borrowed_frame(library, buffer.as_mut_ptr(), buffer.len()) };
            if let Some(schunk) = borrowed {
                exercise.read(random, &schunk);
            }
            assert!(buffer == frame.as_slice(), "reading changed the buffer");
            // SAFETY: a new block of that size. It is not freed here, since the reference may have moved it.
            let owned = unsafe {
                let owned = libc::malloc(frame.len().max(1)).cast::<u8>();
                std::ptr::copy_nonoverlapping(frame.as_ptr(), owned, frame.len());
                SuperChunk::from_borrowed_frame(library, owned, frame.len())
            };
            if let Some(schunk) = owned {
                exercise.change(random, &schunk);
            }
        }
        Form::File | Form::Directory => {
            let path = scratch.new_path();
            if form == Form::File {
                fs::write(&path, &files["frame"]).expect("a file");
            } else {
                fs::create_dir(&path).expect("a directory");
                for (name, bytes) in files {
                    fs::write(path.join(name), bytes).expect("a file");
                }
            }
            watchdog::record_step();
            if let Some(schunk) = SuperChunk::open(library, &path) {
                exercise.read(random, &schunk);
                if random.one_in(2) {
                    exercise.change(random, &schunk);
                }
            }
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.expect("a path to remove");
        }
    }
}

/// Describes the original and the differences of the mutant.
pub fn describe(original: &Original, files: &Files) -> String {
    let mut text = format!("of {}", original.name);
    for (name, bytes) in files {
        let Some(before) = original.files.get(name) else {
            text += &format!("; {name} is new");
            continue;
        };
        let changed: Vec<String> = (0..bytes.len().min(before.len()))
            .filter(|&at| bytes[at] != before[at])
            .take(12)
            .map(|at| format!("[{at:#x}] {:02x} -> {:02x}", before[at], bytes[at]))
            .collect();
        if bytes.len() != before.len() || !changed.is_empty() {
            text += &format!("; {name}: {} -> {} bytes, {changed:?}", before.len(), bytes.len());
        }
    }
    let missing = original.files.keys().filter(|name| !files.contains_key(*name));
    missing.fold(text, |text, name| text + &format!("; {name} is gone"))
}

fn run_in_children(name: &str, form: Form) {
    MUTANT_TEST.run(name, form, form as u64, || Cases {
        form,
        originals: originals(form),
        scratch: ScratchDir::new(),
        guarded: GuardedBuffer::new(CAPACITY),
    });
}

#[test]
fn damaged_buffers_give_an_error_or_a_consistent_schunk() {
    run_in_children(test_name!(), Form::Buffer);
}

#[test]
fn damaged_files_give_an_error_or_a_consistent_schunk() {
    run_in_children(test_name!(), Form::File);
}

#[test]
fn damaged_directories_give_an_error_or_a_consistent_schunk() {
    run_in_children(test_name!(), Form::Directory);
}
