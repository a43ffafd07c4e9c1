//! Finds the library of a plugin that is installed as a Python package, by running an interpreter (`codecs.md` 13.2).
//! The interpreter is run without a shell, with a time limit. Threads that need the same plugin run one interpreter and
//! wait for its answer.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::fork_count::PerProcessLock;
use crate::os;
use crate::trace;

/// Interpreters in the order of use; the second one is run if the first one prints no path.
const INTERPRETERS: [&str; 2] = ["python", "python3"];

/// Time limit for an interpreter: importing a package from a slow disk takes seconds.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Time limit for the end of an interpreter that has answered.
const EXIT_TIME_LIMIT: Duration = Duration::from_secs(5);

/// Maximum length of an answer, in bytes; longer ones are cut.
const MAX_ANSWER_LEN: usize = 4095;

/// An answer that several threads wait for.
type SharedAnswer = Arc<OnceLock<Option<CString>>>;

/// The running requests, by process (a child of `fork` does not wait for threads of its parent) and plugin.
static RUNNING_REQUESTS: PerProcessLock<BTreeMap<(u32, String), SharedAnswer>> =
    PerProcessLock::new_static(BTreeMap::new());

/// Returns the path of the library of plugin `name`, a valid identifier, if a Python package prints it. Failures are
/// not cached: the package may be installed later.
pub(super) fn find_library_path(name: &str) -> Option<CString> {
    let key = (std::process::id(), name.to_owned());
    let answer = RUNNING_REQUESTS.write().entry(key.clone()).or_default().clone();
    let path = answer.get_or_init(|| run_interpreters(name)).clone();
    let mut requests = RUNNING_REQUESTS.write();
    // Only this request: another thread may have started a new one since.
    if requests.get(&key).is_some_and(|current| Arc::ptr_eq(current, &answer)) {
        requests.remove(&key);
    }
    path
}

fn run_interpreters(name: &str) -> Option<CString> {
    INTERPRETERS.iter().find_map(|interpreter| {
        let mut command = Command::new(interpreter);
        command.args(["-c", &python_script(name)]);
        run_for_first_line(command, TIME_LIMIT).filter(|line| !line.is_empty()).and_then(|line| {
            trace::warning(|| {
                format!("{interpreter}: the library of {name} is {:?}", String::from_utf8_lossy(&line))
            });
            CString::new(line).ok()
        })
    })
}

/// Returns the program for the interpreter. Python searches modules in the working directory first, which may contain
/// untrusted files: it is removed from the search path. Some packages cannot be imported where the Python binding of
/// the C library is not installed, although their library does not need it: the path is then printed without importing
/// the package.
fn python_script(name: &str) -> String {
    format!(
        "import sys
if sys.path[:1] == ['']: del sys.path[0]
try:
    import blosc2_{name}
    blosc2_{name}.print_libpath()
except Exception:
    import importlib.util, os
    spec = importlib.util.find_spec('blosc2_{name}')
    places = spec and spec.submodule_search_locations or []
    files = [os.path.join(place, 'libblosc2_{name}.so') for place in places]
    files = [file for file in files if os.path.isfile(file)]
    if not files: raise
    sys.stdout.write(files[0])
"
    )
}

/// Returns the first line that a command prints, without its end; `None` if it cannot be run or does not answer in
/// time.
fn run_for_first_line(mut command: Command, limit: Duration) -> Option<Vec<u8>> {
    let deadline = Instant::now() + limit;
    let mut child = match command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => {
            trace::warning(|| format!("cannot run {:?}: {error}", command.get_program()));
            return None;
        }
    };
    let line = read_line(&mut child, deadline);
    // Closes the pipe: a child that writes more gets an error.
    drop(child.stdout.take());
    let patience = if line.is_some() { EXIT_TIME_LIMIT } else { Duration::ZERO };
    wait_or_kill(&mut child, Instant::now() + patience);
    if line.is_none() {
        trace::warning(|| format!("{:?} printed no line within {limit:?}", command.get_program()));
    }
    line
}

/// Returns what the child prints up to the end of the line, or of its output; `None` when the deadline passes first.
fn read_line(child: &mut Child, deadline: Instant) -> Option<Vec<u8>> {
    let stdout = child.stdout.as_mut()?;
    let mut line = Vec::new();
    let mut part = [0; 512];
    while os::wait_for_output(stdout, deadline) {
        let length = match stdout.read(&mut part) {
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        let part = &part[..length];
        if let Some(end) = part.iter().position(|&byte| byte == b'\n') {
            line.extend_from_slice(&part[..end]);
            line.truncate(MAX_ANSWER_LEN);
            return Some(line);
        }
        line.extend_from_slice(part);
        if length == 0 || line.len() >= MAX_ANSWER_LEN {
            line.truncate(MAX_ANSWER_LEN);
            return Some(line);
        }
    }
    None
}

/// Waits until the child has ended, and kills it at the deadline.
fn wait_or_kill(child: &mut Child, deadline: Instant) {
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < deadline => std::thread::sleep(pause),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return;
            }
            // An error means that the program itself has waited for the child.
            Ok(Some(_)) | Err(_) => return,
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn shell_first_line(script: &str) -> Option<String> {
        run_for_first_line(shell(script), Duration::from_secs(20))
            .map(|line| String::from_utf8(line).unwrap())
    }

    #[test]
    fn first_line_is_returned_without_newline_and_truncated() {
        assert_eq!(shell_first_line("printf /a/b.so").as_deref(), Some("/a/b.so"));
        assert_eq!(shell_first_line("echo /a/b.so").as_deref(), Some("/a/b.so"));
        assert_eq!(shell_first_line("echo one; echo two").as_deref(), Some("one"));
        assert_eq!(shell_first_line("printf o; sleep 0.05; echo ne; exit 3").as_deref(), Some("one"));
        assert_eq!(shell_first_line("true").as_deref(), Some(""));
        assert_eq!(shell_first_line("exit 3").as_deref(), Some(""));
        let long = shell_first_line("i=0; while [ $i -lt 1000 ]; do printf 0123456789; i=$((i+1)); done");
        assert_eq!(long.expect("a line").len(), MAX_ANSWER_LEN);
        // The part that ends the line exceeds the limit.
        let long = shell_first_line("printf %100s; sleep 0.05; printf '%4050s\\n'; echo two");
        assert_eq!(long.expect("a line").len(), MAX_ANSWER_LEN);
    }

    #[test]
    fn command_that_cannot_be_run_gives_none() {
        assert_eq!(run_for_first_line(Command::new("/no/such/interpreter"), TIME_LIMIT), None);
    }

    #[test]
    fn hanging_command_is_killed_at_the_deadline() {
        let mut script = shell("echo $$ >&2; exec sleep 1000");
        script.stderr(Stdio::piped());
        // Not through `run_for_first_line`, to get at the child.
        let mut child = script.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        assert_eq!(read_line(&mut child, Instant::now() + Duration::from_millis(50)), None);
        wait_or_kill(&mut child, Instant::now());
        assert!(child.try_wait().unwrap().is_some_and(|status| !status.success()));
        assert_eq!(run_for_first_line(shell("exec sleep 1000"), Duration::from_millis(50)), None);
    }
}
