//! Builds plugins, runs scenarios that find them, and uses their functions.

use std::ffi::{CString, c_int};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use blosc2::abi::{blosc2_codec, blosc2_filter, blosc2_tuner};

use crate::support::calls::{OwnedContext, Params, compress, decompress, with_destination};
use crate::support::child::in_new_process_with;
use crate::support::files::TempDir;
use crate::support::library::Library;

/// The kind of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginKind {
    Codec,
    Filter,
    Tuner,
}

pub const PLUGIN_KINDS: [PluginKind; 3] = [PluginKind::Codec, PluginKind::Filter, PluginKind::Tuner];

/// The environment variable with the plugin directory of a child.
const PLUGIN_DIRECTORY_VARIABLE: &str = "BLOSC2_TEST_PLUGINS";

/// Runs `scenario` in a separate process. `prepare` fills a directory, in which the scenario finds libraries by name.
/// If it has a subdirectory `bin`, that precedes the other directories of `PATH`.
pub fn with_plugins(name: &str, prepare: impl FnOnce(&Path), scenario: impl FnOnce(&Path)) {
    if let Some(place) = std::env::var_os(PLUGIN_DIRECTORY_VARIABLE) {
        return scenario(&PathBuf::from(place));
    }
    let directory = TempDir::new();
    prepare(directory.path());
    if !directory.join("bin").exists() {
        // Faster than the real interpreters, which would not find these plugins either.
        for name in ["python", "python3"] {
            add_script(directory.path(), name, "exit 1");
        }
    }
    let place = directory.path().to_str().expect("a path in UTF-8");
    let path = std::env::var("PATH").unwrap_or_default();
    let variables = [
        (PLUGIN_DIRECTORY_VARIABLE, place),
        ("LD_LIBRARY_PATH", place),
        ("PATH", &format!("{place}/bin:{path}")),
    ];
    in_new_process_with(name, &variables, || unreachable!("the child has its variables"));
}

/// Adds a shell script to the programs of the scenario.
pub fn add_script(place: &Path, name: &str, script: &str) {
    let file = place.join("bin").join(name);
    fs::create_dir_all(place.join("bin")).expect("a directory");
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a file to run");
}

/// Builds `capi-tests/plugin.c` with these definitions.
pub fn build_plugin(kind: PluginKind, definitions: &[&str], library: &Path) {
    let kind = format!("{kind:?}").to_uppercase();
    build_source("plugin.c", &[&[kind.as_str()], definitions].concat(), library);
}

/// Builds that file of `capi-tests` as a library with these definitions.
pub fn build_source(source: &str, definitions: &[&str], library: &Path) {
    let root = crate::support::root();
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-std=gnu11", "-O1", "-shared", "-fPIC", "-I"]).arg(root.join("include"));
    compiler.args(definitions.iter().map(|definition| format!("-D{definition}")));
    compiler.arg(root.join("capi-tests").join(source)).arg("-o").arg(library);
    let output = compiler.output().expect("the tests need a C compiler");
    assert!(output.status.success(), "{compiler:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the file name under which the plugin of that name is searched.
pub fn plugin_file_name(name: &str) -> String {
    format!("libblosc2_{name}.so")
}

/// An entry that is registered without functions, which the plugin of its name provides.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredPlugin {
    pub kind: PluginKind,
    pub id: u8,
}

impl RegisteredPlugin {
    pub fn register(library: &Library, kind: PluginKind, id: u8, name: &str) -> RegisteredPlugin {
        let name = CString::new(name).expect("no NUL in a name").into_raw();
        // SAFETY: valid structs; the name is never freed.
        let code = unsafe {
            match kind {
                PluginKind::Codec => (library.blosc2_register_codec)(&mut blosc2_codec {
                    compcode: id,
                    compname: name,
                    complib: id,
                    version: 1,
                    encoder: None,
                    decoder: None,
                }),
                PluginKind::Filter => (library.blosc2_register_filter)(&mut blosc2_filter {
                    id,
                    name,
                    version: 1,
                    forward: None,
                    backward: None,
                }),
                PluginKind::Tuner => (library.blosc2_register_tuner)(&mut blosc2_tuner {
                    init: None,
                    next_blocksize: None,
                    next_cparams: None,
                    update: None,
                    free: None,
                    id: c_int::from(id),
                    name,
                }),
            }
        };
        assert_eq!(code, 0);
        RegisteredPlugin { kind, id }
    }

    /// Returns parameters that use it, with that meta byte.
    pub fn params(self, meta: u8) -> Params {
        let params =
            Params { typesize: 1, filters: [0; 6], blocksize: 4000, splitmode: 2, ..Params::default() };
        match self.kind {
            PluginKind::Codec => Params { codec: self.id, codec_meta: meta, ..params },
            PluginKind::Filter => Params {
                codec: 1,
                filters: [0, 0, self.id, 0, 0, 0],
                filters_meta: [0, 0, meta, 0, 0, 0],
                ..params
            },
            PluginKind::Tuner => Params { codec: 1, ..params },
        }
    }

    /// Compresses and decompresses; returns a description of both results.
    pub fn round_trip(self, library: &Library, meta: u8) -> String {
        let src = doubled_random_bytes(20_000);
        let mut told = String::new();
        let chunk = match self.kind {
            PluginKind::Tuner => {
                let mut cparams = self.params(meta).cparams();
                cparams.tuner_id = c_int::from(self.id);
                let Some(mut context) = OwnedContext::for_compression(library, cparams) else {
                    return "no context".into();
                };
                let (code, mut dest) = with_destination(50_000, |dest| context.compress(&src, dest));
                dest.truncate(code.max(0) as usize);
                if code > 0 { Ok(dest) } else { Err(code) }
            }
            _ => compress(library, &self.params(meta), &src, 50_000),
        };
        match chunk {
            Ok(chunk) => {
                let _ = write!(told, "{} bytes, then ", chunk.len());
                match decompress(library, 2, &chunk, src.len()) {
                    Ok(bytes) if bytes == src => told += "right",
                    Ok(_) => told += "wrong",
                    Err(code) => {
                        let _ = write!(told, "{code}");
                    }
                }
            }
            Err(code) => {
                let _ = write!(told, "{code}");
            }
        }
        told
    }

    /// The result of `round_trip` if the plugin cannot be used.
    pub fn rejected_result(self) -> &'static str {
        match self.kind {
            PluginKind::Codec => "-7",
            PluginKind::Filter => "-18",
            PluginKind::Tuner => "no context",
        }
    }
}

/// Returns random bytes, each twice.
pub fn doubled_random_bytes(nbytes: usize) -> Vec<u8> {
    (0..nbytes).map(|at| ((at / 2).wrapping_mul(0x9E37_79B9) >> 11) as u8).collect()
}

/// Returns our library, and the reference too if it is known not to crash.
pub fn libraries(reference_survives: bool) -> Vec<&'static Library> {
    if reference_survives { crate::support::all_libraries() } else { vec![Library::ours()] }
}
