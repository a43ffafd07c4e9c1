//! Calls of `blosc2x_verify` and `blosc2x_repair`, which only our library has.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use libloading::Library as OsLibrary;

use blosc2::abi::{blosc2x_damage, blosc2x_report, blosc2x_verify_options};

use super::library::path_of_ours;
use super::super_chunk::c_path;

type VerifyFn =
    unsafe extern "C" fn(*const c_char, *const blosc2x_verify_options, blosc2x_report, *mut c_void) -> i64;
type RepairFn = unsafe extern "C" fn(*const c_char, *const c_char, blosc2x_report, *mut c_void) -> i64;

/// The two functions.
pub struct Functions {
    pub blosc2x_verify: VerifyFn,
    pub blosc2x_repair: RepairFn,
}

/// Returns the functions of our library.
pub fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        // SAFETY: the library has no observable initialisers; the symbols are functions of these types.
        unsafe {
            let loaded = OsLibrary::new(path_of_ours()).expect("our library");
            let functions = Functions {
                blosc2x_verify: *loaded.get::<VerifyFn>("blosc2x_verify").expect("blosc2x_verify"),
                blosc2x_repair: *loaded.get::<RepairFn>("blosc2x_repair").expect("blosc2x_repair"),
            };
            std::mem::forget(loaded);
            functions
        }
    })
}

/// A damaged part, as it was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub part: i32,
    pub cause: i32,
    pub nchunk: i64,
    pub offset: i64,
    pub length: i64,
    pub message: String,
}

/// Receives the reports of a call: a list of damaged parts, and the value that the function returns.
struct Reports {
    damages: Vec<Damage>,
    result: c_int,
}

unsafe extern "C" fn record(damage: *const blosc2x_damage, user_data: *mut c_void) -> c_int {
    // SAFETY: the library passes a valid struct, and the pointer to `Reports` that the call was made with.
    unsafe {
        let (damage, reports) = (&*damage, &mut *user_data.cast::<Reports>());
        reports.damages.push(Damage {
            part: damage.part,
            cause: damage.cause,
            nchunk: damage.nchunk,
            offset: damage.offset,
            length: damage.length,
            message: CStr::from_ptr(damage.message).to_string_lossy().into_owned(),
        });
        reports.result
    }
}

fn with_reports(result: c_int, call: impl FnOnce(blosc2x_report, *mut c_void) -> i64) -> (i64, Vec<Damage>) {
    let mut reports = Reports { damages: Vec::new(), result };
    let code = call(Some(record), ptr::from_mut(&mut reports).cast());
    (code, reports.damages)
}

/// Removes the reports of other data behind the frame, which are no damage.
fn damages((code, mut reports): (i64, Vec<Damage>)) -> (i64, Vec<Damage>) {
    reports.retain(|damage| damage.cause != 0);
    (code, reports)
}

/// Calls `blosc2x_verify` for the frame at byte `offset`. Returns its result and the damaged parts.
pub fn verify_at(path: &Path, offset: i64, nthreads: i16) -> (i64, Vec<Damage>) {
    damages(verify_options(path, offset, nthreads))
}

/// As [`verify_at`], with the reports of other data behind the frame.
pub fn verify_with_notes(path: &Path, offset: i64) -> (i64, Vec<Damage>) {
    verify_options(path, offset, 1)
}

fn verify_options(path: &Path, offset: i64, nthreads: i16) -> (i64, Vec<Damage>) {
    let options =
        blosc2x_verify_options { size: size_of::<blosc2x_verify_options>() as u32, nthreads, offset };
    let path = c_path(path);
    with_reports(0, |report, user_data| {
        // SAFETY: a terminated path, valid options, and the function's own data.
        unsafe { (functions().blosc2x_verify)(path.as_ptr(), &options, report, user_data) }
    })
}

/// Calls `blosc2x_verify` without options. The result is the number of reports, or an error without one.
pub fn verify(path: &Path) -> (i64, Vec<Damage>) {
    damages(verify_stopping(path, 0))
}

/// As [`verify`]; each report returns `result`.
pub fn verify_stopping(path: &Path, result: c_int) -> (i64, Vec<Damage>) {
    let path = c_path(path);
    with_reports(result, |report, user_data| {
        // SAFETY: a terminated path, no options, and the function's own data.
        unsafe { (functions().blosc2x_verify)(path.as_ptr(), ptr::null(), report, user_data) }
    })
}

/// Calls `blosc2x_repair`. Returns its result and the reports.
pub fn repair(source: &Path, destination: &Path) -> (i64, Vec<Damage>) {
    damages(repair_stopping(source, destination, 0))
}

/// As [`repair`], with the reports of other data behind the frame.
pub fn repair_with_notes(source: &Path, destination: &Path) -> (i64, Vec<Damage>) {
    repair_stopping(source, destination, 0)
}

/// As [`repair`]; each report returns `result`.
pub fn repair_stopping(source: &Path, destination: &Path, result: c_int) -> (i64, Vec<Damage>) {
    let (source, destination): (CString, CString) = (c_path(source), c_path(destination));
    with_reports(result, |report, user_data| {
        // SAFETY: two terminated paths, and the function's own data.
        unsafe { (functions().blosc2x_repair)(source.as_ptr(), destination.as_ptr(), report, user_data) }
    })
}
