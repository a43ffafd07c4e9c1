//! Reports the running test case when the library under test hangs, crashes or panics. Used only in child processes:
//! it ends the process and redirects its stderr.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::files::TempDir;
use super::system::{FAULTS, redirect_stderr};

static RUN: AtomicU64 = AtomicU64::new(0);
static CASE: AtomicU64 = AtomicU64::new(0);
static STEP: AtomicU64 = AtomicU64::new(0);
/// File descriptor for the report of a crash.
static REPORT_FD: AtomicI32 = AtomicI32::new(2);

/// Starts watching a run: a case that takes longer than `limit`, or that raises a fatal signal, ends the
/// process after a line on stderr that names the run and the case.
pub fn start(run: u64, limit: Duration) {
    RUN.store(run, Relaxed);
    for signal in FAULTS {
        // SAFETY: the handler calls only async-signal-safe functions.
        unsafe { libc::signal(signal, on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t) };
    }
    std::thread::spawn(move || {
        let mut last = (u64::MAX, 0);
        loop {
            std::thread::sleep(limit);
            let now = (CASE.load(Relaxed), STEP.load(Relaxed));
            if now == last {
                write_report(b"HANG");
                std::process::exit(3);
            }
            last = now;
        }
    });
}

/// Records the start of case `case`.
pub fn set_case(case: u64) {
    CASE.store(case, Relaxed);
    STEP.store(0, Relaxed);
}

/// Records the next call of the case.
pub fn record_step() {
    STEP.fetch_add(1, Relaxed);
}

extern "C" fn on_signal(signal: libc::c_int) {
    write_report(b"CRASH");
    // SAFETY: both are async-signal-safe; the signal is delivered again with its default action.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Writes `<what> in run <seed> case <index> step <n>` to stderr, without allocating.
fn write_report(what: &[u8]) {
    let mut line = [0u8; 160];
    let mut len = 0;
    let mut put = |bytes: &[u8]| {
        line[len..len + bytes.len()].copy_from_slice(bytes);
        len += bytes.len();
    };
    put(what);
    for (name, value) in [(&b" in run "[..], &RUN), (b" case ", &CASE), (b" step ", &STEP)] {
        put(name);
        let mut digits = [0u8; 20];
        let mut value = value.load(Relaxed);
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        put(&digits[first..]);
    }
    put(b"\n");
    // SAFETY: writes `len` initialised bytes of a local buffer; async-signal-safe.
    unsafe { libc::write(REPORT_FD.load(Relaxed), line.as_ptr().cast(), len as _) };
}

/// Captures everything that this process writes to stderr: with `BLOSC_TRACE` set, the error messages of the library
/// and its panics.
pub struct CapturedStderr {
    original: File,
    captured: File,
    _directory: TempDir,
}

impl CapturedStderr {
    pub fn capture() -> CapturedStderr {
        let directory = TempDir::new();
        let mut options = File::options();
        let options = options.read(true).write(true).create_new(true);
        let captured = options.open(directory.join("stderr")).expect("a file for stderr");
        let (original, report_fd) = redirect_stderr(&captured);
        REPORT_FD.store(report_fd, Relaxed);
        CapturedStderr { original, captured, _directory: directory }
    }

    /// Returns the text written since the previous call.
    pub fn take_text(&mut self) -> String {
        let mut text = Vec::new();
        self.captured.rewind().expect("the caught text");
        self.captured.read_to_end(&mut text).expect("the caught text");
        // Descriptor 2 shares its file position with this file.
        self.captured.set_len(0).and_then(|()| self.captured.rewind()).expect("the caught text");
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Writes a line to the original stderr.
    pub fn write_line(&mut self, text: &str) {
        writeln!(self.original, "{text}").expect("the real stderr");
    }
}

impl Drop for CapturedStderr {
    fn drop(&mut self) {
        let rest = self.take_text();
        self.write_line(&rest);
        redirect_stderr(&self.original);
    }
}
