//! Damaged array frames: for any content of the metalayer and the frame, opening, reading and changing the array
//! returns an error or a result that is consistent in itself. No byte outside the buffers (which lie next to
//! inaccessible pages) is read or written, no call hangs or panics, and the memory in use grows by no more than
//! [`crate::support::memory::max_memory`].
//!
//! ```text
//! BLOSC2_ARRAY_MUTANTS=50000 cargo test --release --test damaged_input arrays::
//! ```
//!
//! runs that many mutants in all, half of them as buffers and half as files and directories;
//! `BLOSC2_ARRAY_MUTANT_SEED` selects another sample and `BLOSC2_ARRAY_MUTANT_ONLY=<case>` replays one case of it.
//! Ranges of cases run in child processes, so that a crash or a hang is a failed test that names its case.

mod exercise;
mod mutation;
mod originals;

use std::fs;

use crate::support::array::Array;
use crate::support::child::test_name;
use crate::support::guard::GuardedBuffer;
use crate::support::library::Library;
use crate::support::mutants::{MutantTest, Mutants};
use crate::support::random::Random;
use crate::support::super_chunk::SuperChunk;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::watchdog;
use originals::{Files, Original, originals};

const MUTANT_TEST: MutantTest =
    MutantTest { prefix: "BLOSC2_ARRAY_MUTANT", seed: 23, mutants: 2000, forms: 2 };
const CAPACITY: usize = 1 << 20;

/// How a mutant is passed to the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Buffer,
    Path,
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
        self.originals[*original].differences(files)
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
    match form {
        Form::Buffer => {
            let frame = &files["frame"];
            let at_end = !random.one_in(4);
            let buffer = guarded.edge_bytes(frame.len(), at_end);
            buffer.copy_from_slice(frame);
            watchdog::record_step();
            let (rc, array) = Array::from_frame_copy(library, buffer);
            assert_eq!(rc < 0, array.is_none(), "from_cframe gives {rc}");
            if let Some(array) = array {
                exercise::read_array(random, &array);
                exercise::change_array(random, &array);
            }
            watchdog::record_step();
            // SAFETY: the buffer outlives the array, which is only read.
            let (_, borrowed) =
                unsafe { Array::from_borrowed_frame(library, buffer.as_mut_ptr(), buffer.len()) };
            if let Some(array) = borrowed {
                exercise::read_array(random, &array);
            }
            assert!(buffer == frame.as_slice(), "reading changed the buffer");
        }
        Form::Path => {
            let path = scratch.new_path();
            if let Some(frame) = files.get("frame") {
                fs::write(&path, frame).expect("a file");
            } else {
                fs::create_dir(&path).expect("a directory");
                for (name, bytes) in files {
                    fs::write(path.join(name), bytes).expect("a file");
                }
            }
            watchdog::record_step();
            let array = if random.one_in(4) {
                SuperChunk::open(library, &path).and_then(|schunk| Array::from_super_chunk(schunk).ok())
            } else {
                let (rc, array) = Array::open(library, &path);
                assert_eq!(rc < 0, array.is_none(), "open gives {rc}");
                array
            };
            if let Some(array) = array {
                exercise::read_array(random, &array);
                if random.one_in(2) {
                    exercise::change_array(random, &array);
                }
            }
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.expect("a path to remove");
        }
    }
}

fn run_in_children(name: &str, form: Form) {
    MUTANT_TEST.run(name, form, form as u64, || Cases {
        form,
        originals: originals(form == Form::Buffer),
        scratch: ScratchDir::new(),
        guarded: GuardedBuffer::new(CAPACITY),
    });
}

#[test]
fn damaged_buffers_give_an_error_or_a_consistent_array() {
    run_in_children(test_name!(), Form::Buffer);
}

#[test]
fn damaged_paths_give_an_error_or_a_consistent_array() {
    run_in_children(test_name!(), Form::Path);
}

/// All calls on the damaged arrays also work on the valid ones.
#[test]
fn all_calls_work_on_valid_arrays() {
    let scratch = ScratchDir::new();
    for original in originals(true) {
        let random = &mut Random::new(1);
        for _ in 0..5 {
            let (rc, array) = Array::from_frame_copy(Library::ours(), &mut original.files["frame"].clone());
            let array = array.unwrap_or_else(|| panic!("{}: {rc}", original.name));
            exercise::read_array(random, &array);
            if !Library::ours().is_reference() {
                // The reference divides by zero in some cases (b2nd.md D13).
                exercise::change_array(random, &array);
            }
        }
        let path = scratch.new_path();
        fs::write(&path, &original.files["frame"]).expect("a file");
        exercise::read_array(random, &Array::open(Library::ours(), &path).1.expect("an array"));
    }
}
