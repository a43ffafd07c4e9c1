//! The variants of an operation that are compared: our library with several settings, and the reference.

use std::path::{Path, PathBuf};

use libloading::os::unix::{Library as OsLibrary, RTLD_LOCAL, RTLD_NOW};

use crate::Bench;
use crate::library::{Library, path_of_ours};
use crate::report::Report;
use crate::schunk::handles::StorageVariant;
use crate::support::super_chunk::Store;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::timing::seconds_with_setup;

/// The columns of the group: the speed relative to level `off`, and relative to the reference.
pub const COLUMNS: [&str; 2] = ["vs off", "vs C"];

const DURABILITY: &str = "BLOSC2_DURABILITY";
const CHECKSUMS: &str = "BLOSC2_CHECKSUMS";

/// A library with settings, which are environment variables.
#[derive(Clone, Copy)]
pub struct Variant {
    pub name: &'static str,
    pub library: &'static Library,
    settings: [(&'static str, &'static str); 2],
}

impl Variant {
    fn new(
        library: &'static Library,
        name: &'static str,
        level: &'static str,
        checksums: &'static str,
    ) -> Variant {
        Variant { name, library, settings: [(DURABILITY, level), (CHECKSUMS, checksums)] }
    }

    /// Returns our library at level `off` without checksums: the base of the first column.
    pub fn off(bench: &Bench) -> Variant {
        Variant::new(bench.ours, "off", "off", "off")
    }

    pub fn kill(bench: &Bench) -> Variant {
        Variant::new(bench.ours, "kill", "kill", "off")
    }

    pub fn power(bench: &Bench) -> Variant {
        Variant::new(bench.ours, "power", "power", "off")
    }

    /// Returns our library with its defaults: level `kill` with checksums.
    pub fn default(bench: &Bench) -> Variant {
        Variant::new(bench.ours, "default", "kill", "on")
    }

    /// Returns the reference, which ignores the settings.
    pub fn reference(bench: &Bench) -> Variant {
        Variant::new(bench.reference, "reference", "off", "off")
    }

    /// Returns every level and the reference.
    pub fn levels(bench: &Bench) -> Vec<Variant> {
        let ours = [Variant::off, Variant::kill, Variant::default, Variant::power].map(|make| make(bench));
        [&ours[..], &[Variant::reference(bench)]].concat()
    }

    /// Runs `open`, which creates or opens frames, with the settings in the environment.
    pub fn with_settings<T>(self, open: impl FnOnce() -> T) -> T {
        for (name, value) in self.settings {
            // SAFETY: only the calling thread uses the environment: the worker threads of the libraries compress.
            unsafe { std::env::set_var(name, value) };
        }
        let opened = open();
        for (name, _) in self.settings {
            // SAFETY: as above.
            unsafe { std::env::remove_var(name) };
        }
        opened
    }
}

/// A frame on disk and its handle. The files are removed on drop.
pub struct TempFrame<H> {
    pub variant: Variant,
    pub path: PathBuf,
    handle: Option<H>,
}

impl<H> TempFrame<H> {
    pub fn handle(&self) -> &H {
        self.handle.as_ref().expect("an open handle")
    }

    /// Frees the handle.
    pub fn close(&mut self) {
        self.handle = None;
    }
}

impl<H> Drop for TempFrame<H> {
    fn drop(&mut self) {
        self.close();
        let _ = std::fs::remove_dir_all(&self.path).or_else(|_| std::fs::remove_file(&self.path));
    }
}

/// An operation to measure.
pub struct Operation<'a, H> {
    pub store: Store,
    pub name: String,
    /// The first is the base of the first column, the last the reference.
    pub variants: Vec<Variant>,
    /// Creates the files, and returns the handle to work with.
    pub open: &'a dyn Fn(Variant, &Path) -> H,
    pub work: &'a dyn Fn(&mut TempFrame<H>),
    /// Reads the whole contents with a library.
    pub contents: &'a dyn Fn(&'static Library, &Path) -> Vec<u8>,
}

impl<H> Operation<'_, H> {
    /// Adds one cell for each variant of our library.
    pub fn measure(&self, bench: &Bench, report: &mut Report, scratch: &ScratchDir) {
        let family = StorageVariant::In(self.store).name();
        if !bench.options.is_selected(family, &self.name) {
            return;
        }
        let make = |number: usize| {
            let (variant, path) = (self.variants[number], scratch.new_path());
            let handle = variant.with_settings(|| (self.open)(variant, &path));
            TempFrame { variant, path, handle: Some(handle) }
        };
        let answers: Vec<Vec<u8>> = (0..self.variants.len())
            .map(|number| {
                let mut frame = make(number);
                (self.work)(&mut frame);
                frame.close();
                (self.contents)(bench.reference, &frame.path)
            })
            .collect();
        for (variant, answer) in self.variants.iter().zip(&answers) {
            assert!(*answer == answers[0], "{family} {}: other contents with {}", self.name, variant.name);
        }
        let seconds = seconds_with_setup(bench.options.rounds, self.variants.len(), make, self.work);
        let (by_reference, ours) = seconds.split_last().expect("the reference");
        for (variant, own) in self.variants.iter().zip(ours) {
            let name = format!("{}: {}", self.name, variant.name);
            report.add(family, name, vec![seconds[0] / own, by_reference / own]);
        }
    }
}

/// Prints a warning if our library has no durability levels: then all levels are `off`.
pub fn warn_without_levels() {
    // SAFETY: the library is loaded already; this only increments its reference count.
    let loaded =
        unsafe { OsLibrary::open(Some(path_of_ours()), RTLD_NOW | RTLD_LOCAL) }.expect("our library");
    // SAFETY: the symbol is only looked up.
    let symbol = unsafe { loaded.get::<unsafe extern "C" fn()>("blosc2x_schunk_set_durability") };
    if symbol.is_err() {
        eprintln!("side_by_side: this library has no durability levels; all levels are off");
    }
}
