//! The child processes. They run tasks with the library `capi-tests/fault_injection.c` preloaded.

use std::ffi::{CStr, CString, OsString, c_int, c_long, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;

use crate::c_program::{build, root};
use crate::contents::{Contents, Form};
use crate::failed_changes;
use crate::faults::Fault;
use crate::histories::{self, HistoryKind};
use crate::levels::{self, Level};
use crate::operations::{self, ours};
use crate::support::child::{test_again, test_name};
use crate::support::super_chunk::Store;

/// The environment variable of a child: the name of a task and its numbers.
const TASK: &str = "BLOSC2_DURABILITY_TASK";
/// The environment variable of a child: the path of the frame, or of the list of tasks.
const PATH: &str = "BLOSC2_DURABILITY_PATH";
/// The environment variable of a child: the path of the log, if the calls are recorded.
const LOG: &str = "BLOSC2_DURABILITY_LOG";

/// What a child does with the files at a path.
#[derive(Clone, Copy, Debug)]
pub enum Task {
    /// Creates the files of an operation.
    Make { operation: usize, store: Store },
    /// Runs an operation with a fault in one of its calls.
    Change { operation: usize, fault: Fault, call: usize },
    /// Opens and reads the files, with a fault in one of the calls.
    Open { form: Form, fault: Fault, call: usize },
    /// Creates the files of a history.
    MakeHistory { kind: HistoryKind },
    /// Runs the first steps of a history.
    History { kind: HistoryKind, seed: u64, steps: u64 },
    /// Runs a history whose changes fail at random.
    FailedChanges { kind: HistoryKind, seed: u64, steps: u64, has_checksums: bool },
    /// Runs each task of a list in a process that is forked for it. (The start of a new program takes 1.4 ms.)
    Batch,
    /// Runs the steps of a history from a number on, until the process is killed.
    Loop { kind: HistoryKind, seed: u64, first: u64 },
}

impl Task {
    /// Returns the value of the environment variable.
    fn encode(self) -> String {
        match self {
            Task::Make { operation, store } => format!("make {operation} {}", store as u8),
            Task::Change { operation, fault, call } => {
                format!("change {operation} {} {call}", fault.number())
            }
            Task::Open { form, fault, call } => format!("open {} {} {call}", form as u8, fault.number()),
            Task::MakeHistory { kind } => format!("make-history {}", kind.number()),
            Task::History { kind, seed, steps } => format!("history {} {seed} {steps}", kind.number()),
            Task::FailedChanges { kind, seed, steps, has_checksums } => {
                format!("failed-changes {} {seed} {steps} {}", kind.number(), u64::from(has_checksums))
            }
            Task::Batch => "batch".to_owned(),
            Task::Loop { kind, seed, first } => format!("loop {} {seed} {first}", kind.number()),
        }
    }

    fn decode(text: &str) -> Task {
        let mut words = text.split(' ');
        let name = words.next().expect("a name");
        let numbers: Vec<u64> = words.map(|word| word.parse().expect("a number")).collect();
        match (name, &numbers[..]) {
            ("make", &[operation, store]) => {
                Task::Make { operation: operation as usize, store: Store::ALL[store as usize] }
            }
            ("change", &[operation, fault, call]) => Task::Change {
                operation: operation as usize,
                fault: Fault::of_number(fault),
                call: call as usize,
            },
            ("open", &[form, fault, call]) => Task::Open {
                form: Form::ALL[form as usize],
                fault: Fault::of_number(fault),
                call: call as usize,
            },
            ("make-history", &[kind]) => Task::MakeHistory { kind: HistoryKind::of_number(kind) },
            ("history", &[kind, seed, steps]) => {
                Task::History { kind: HistoryKind::of_number(kind), seed, steps }
            }
            ("failed-changes", &[kind, seed, steps, has_checksums]) => Task::FailedChanges {
                kind: HistoryKind::of_number(kind),
                seed,
                steps,
                has_checksums: has_checksums == 1,
            },
            ("batch", []) => Task::Batch,
            ("loop", &[kind, seed, first]) => Task::Loop { kind: HistoryKind::of_number(kind), seed, first },
            _ => panic!("{TASK}={text}"),
        }
    }
}

/// What a counted call does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call {
    /// Writes a range that contains a number of sector boundaries.
    Write {
        boundaries: usize,
    },
    /// Synchronises a file or a directory.
    Sync,
    Other,
}

/// The result of a child.
#[derive(Debug)]
pub struct Reply {
    /// Whether the task succeeded.
    pub succeeded: bool,
    /// The calls that were counted.
    pub calls: Vec<Call>,
}

/// Returns the library that injects faults; it is compiled once.
fn preloaded() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let arguments: Vec<OsString> = ["-shared", "-fPIC", "-ldl"].map(OsString::from).to_vec();
        build("fault_injection.c", &root().join("include"), "preload", &arguments)
    })
}

/// Returns a command for a child with a task, without the preloaded library.
pub fn command(task: Task, level: Level, path: &Path) -> Command {
    let mut command = test_again(test_name!(runs_the_task_of_a_child));
    command.env(levels::VARIABLE, level.name()).env(TASK, task.encode()).env(PATH, path);
    command
}

/// Runs a child. Returns its result, the text behind `RESULT `; `None` if the child was killed.
fn result_of(task: Task, level: Level, path: &Path, log: Option<&Path>) -> Option<String> {
    let mut command = command(task, level, path);
    command.env("LD_PRELOAD", preloaded());
    if let Some(log) = log {
        command.env(LOG, log);
    }
    let output = command.output().expect("a child");
    if output.status.signal() == Some(libc::SIGKILL) {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let result = text.lines().find_map(|line| line.strip_prefix("RESULT "));
    let result = result.unwrap_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        panic!("{task:?} at level {}: {}\n{text}\n{errors}", level.name(), output.status)
    });
    Some(result.to_owned())
}

/// Runs a child, which appends its calls to `log` if there is one. Returns `None` if the child was killed.
pub fn run(task: Task, level: Level, path: &Path, log: Option<&Path>) -> Option<Reply> {
    let result = result_of(task, level, path, log)?;
    let mut numbers = result.split(' ').map(|number| number.parse::<i64>().expect("a number"));
    let succeeded = numbers.next() == Some(1);
    let calls = numbers.map(|number| match usize::try_from(number) {
        Ok(boundaries) => Call::Write { boundaries },
        Err(_) if number == -2 => Call::Sync,
        Err(_) => Call::Other,
    });
    Some(Reply { succeeded, calls: calls.collect() })
}

/// Runs tasks, each in a process of its own. Returns for each whether it succeeded; `None` if the process was killed.
/// `list` is the path of a file that is overwritten.
pub fn run_all(tasks: &[(Task, PathBuf)], level: Level, list: &Path) -> Vec<Option<bool>> {
    if tasks.is_empty() {
        return Vec::new();
    }
    let lines: Vec<String> =
        tasks.iter().map(|(task, path)| format!("{}\t{}\n", task.encode(), path.display())).collect();
    fs::write(list, lines.concat()).expect("a list of tasks");
    let results = result_of(Task::Batch, level, list, None).expect("a child that is not killed");
    let results = results.split(' ').map(|result| match result {
        "killed" => None,
        "1" => Some(true),
        "0" => Some(false),
        _ => panic!("the result {result}"),
    });
    let results: Vec<Option<bool>> = results.collect();
    assert_eq!(results.len(), tasks.len());
    results
}

/// Runs a child, which must succeed.
#[track_caller]
pub fn run_expecting_success(task: Task, level: Level, path: &Path, log: Option<&Path>) -> Reply {
    let reply = run(task, level, path, log).expect("a child that is not killed");
    assert!(reply.succeeded, "{task:?} at level {}, without a fault", level.name());
    reply
}

/// The functions of the preloaded library.
pub struct Preloaded {
    fault_start: extern "C" fn(c_int, c_long),
    fault_stop: extern "C" fn() -> c_long,
    fault_call: extern "C" fn(c_long) -> c_int,
    memory_fail: extern "C" fn(usize, c_long),
    memory_stop: extern "C" fn(),
    record_start: extern "C" fn(*const libc::c_char),
    record_mark: extern "C" fn(c_long),
    record_stop: extern "C" fn(),
}

/// Returns the address of a function of the preloaded library.
fn find(name: &CStr) -> *mut c_void {
    // SAFETY: a terminated name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!found.is_null(), "the library with {name:?} is not preloaded");
    found
}

impl Preloaded {
    fn find() -> Preloaded {
        // SAFETY: functions of the preloaded library with these signatures.
        unsafe {
            Preloaded {
                fault_start: std::mem::transmute::<*mut c_void, extern "C" fn(c_int, c_long)>(find(
                    c"fault_start",
                )),
                fault_stop: std::mem::transmute::<*mut c_void, extern "C" fn() -> c_long>(find(
                    c"fault_stop",
                )),
                fault_call: std::mem::transmute::<*mut c_void, extern "C" fn(c_long) -> c_int>(find(
                    c"fault_call",
                )),
                memory_fail: std::mem::transmute::<*mut c_void, extern "C" fn(usize, c_long)>(find(
                    c"memory_fail",
                )),
                memory_stop: std::mem::transmute::<*mut c_void, extern "C" fn()>(find(c"memory_stop")),
                record_start: std::mem::transmute::<*mut c_void, extern "C" fn(*const libc::c_char)>(find(
                    c"record_start",
                )),
                record_mark: std::mem::transmute::<*mut c_void, extern "C" fn(c_long)>(find(c"record_mark")),
                record_stop: std::mem::transmute::<*mut c_void, extern "C" fn()>(find(c"record_stop")),
            }
        }
    }

    /// Runs `change` with an armed fault. Returns the result of `change` and the calls.
    pub fn run_armed(
        &self,
        fault: Fault,
        call: usize,
        change: &mut dyn FnMut() -> bool,
    ) -> (bool, Vec<Call>) {
        (self.fault_start)(fault.kind(), call as c_long);
        let succeeded = change();
        let ncalls = (self.fault_stop)();
        let calls = (0..ncalls).map(|number| match (self.fault_call)(number) {
            -2 => Call::Sync,
            boundaries => {
                usize::try_from(boundaries).map_or(Call::Other, |boundaries| Call::Write { boundaries })
            }
        });
        (succeeded, calls.collect())
    }
}

impl Preloaded {
    /// Runs `work`, during which an allocation of the library of `min_len` bytes or more fails: number `number`.
    pub fn with_failed_allocation<R>(&self, min_len: usize, number: usize, work: impl FnOnce() -> R) -> R {
        (self.memory_fail)(min_len, number as c_long);
        let result = work();
        (self.memory_stop)();
        result
    }
}

/// Runs a task with the files at `path`. Returns whether it succeeded, and the calls that were counted.
fn run_task(preloaded: &Preloaded, task: Task, path: &Path, is_recording: bool) -> (bool, Vec<Call>) {
    match task {
        Task::Make { operation, store } => {
            operations::all()[operation].setup.make(store, path);
            (true, Vec::new())
        }
        Task::Change { operation, fault, call } => {
            let mut calls = Vec::new();
            let succeeded = operations::all()[operation].run(path, &mut |change| {
                if is_recording {
                    (preloaded.record_mark)(0);
                }
                let (mut succeeded, counted) = preloaded.run_armed(fault, call, change);
                if fault == Fault::EioRetry && !succeeded {
                    succeeded = change();
                }
                if succeeded && is_recording {
                    (preloaded.record_mark)(1);
                }
                calls = counted;
                succeeded
            });
            (succeeded, calls)
        }
        Task::Open { form, fault, call } => {
            preloaded.run_armed(fault, call, &mut || Contents::read(ours(), path, form).is_some())
        }
        Task::MakeHistory { kind } => {
            histories::make(kind, path);
            (true, Vec::new())
        }
        Task::History { kind, seed, steps } => {
            let mut acknowledge = |done| {
                (preloaded.record_mark)(done as c_long);
                done < steps
            };
            (histories::run(kind, seed, 0, path, &mut acknowledge), Vec::new())
        }
        Task::FailedChanges { kind, seed, steps, has_checksums } => {
            if has_checksums {
                // SAFETY: no other thread uses the environment.
                unsafe { std::env::set_var("BLOSC2_CHECKSUMS", "on") };
            }
            let failures = failed_changes::run(preloaded, kind, seed, steps, path);
            (true, vec![Call::Other; failures as usize])
        }
        Task::Batch | Task::Loop { .. } => unreachable!("a task that is handled by the caller"),
    }
}

/// Runs the tasks of a list, each in a forked process, and prints the results.
fn run_batch(preloaded: &Preloaded, list: &Path) {
    let list = fs::read_to_string(list).expect("a list of tasks");
    let mut results = Vec::new();
    for line in list.lines() {
        let (task, path) = line.split_once('\t').expect("a task and a path");
        // SAFETY: this process has no other thread that holds a lock; the library supports forks.
        let forked = unsafe { libc::fork() };
        assert!(forked >= 0, "no new process");
        if forked == 0 {
            let run = || run_task(preloaded, Task::decode(task), Path::new(path), false).0;
            let code = catch_unwind(AssertUnwindSafe(run)).map_or(101, i32::from);
            // SAFETY: ends the process without the exit handlers of the parent.
            unsafe { libc::_exit(code) };
        }
        let mut status = 0;
        // SAFETY: a child of this process, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(forked, &mut status, 0) }, forked);
        let status = ExitStatus::from_raw(status);
        results.push(match (status.signal(), status.code()) {
            (Some(libc::SIGKILL), _) => "killed",
            (_, Some(0)) => "0",
            (_, Some(1)) => "1",
            _ => panic!("{line}: {status}"),
        });
    }
    println!("\nRESULT {}", results.join(" "));
}

/// Runs the task of a child process and prints its result. In the process of the test run, it does nothing.
#[test]
fn runs_the_task_of_a_child() {
    let Ok(task) = std::env::var(TASK) else { return };
    let path = PathBuf::from(std::env::var_os(PATH).expect("a path"));
    let task = Task::decode(&task);
    if let Task::Loop { kind, seed, first } = task {
        histories::run_until_killed(kind, seed, first, &path);
    }
    let preloaded = Preloaded::find();
    // The library is loaded before the recording starts, and before a process is forked.
    ours();
    if let Task::Batch = task {
        return run_batch(&preloaded, &path);
    }
    let log = std::env::var_os(LOG).map(|log| CString::new(log.as_bytes()).expect("a path without NUL"));
    if let Some(log) = &log {
        (preloaded.record_start)(log.as_ptr());
    }
    let (succeeded, calls) = run_task(&preloaded, task, &path, log.is_some());
    if log.is_some() {
        (preloaded.record_stop)();
    }
    print!("\nRESULT {}", u8::from(succeeded));
    for call in calls {
        let number = match call {
            Call::Write { boundaries } => boundaries as i64,
            Call::Other => -1,
            Call::Sync => -2,
        };
        print!(" {number}");
    }
    println!();
}
