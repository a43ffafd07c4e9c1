//! Statics of the library: no lock for which a child of a fork could wait for ever, because a thread of its parent held
//! it at the fork. `PerProcessLock` and `once_cell::race` are for statics.

use crate::references::for_each_source;

/// Statics of `std` locks that no thread waits for, with the file.
const NEVER_WAITED_FOR: [(&str, &str); 2] =
    [("src/buffers/mod.rs", "PROCESS_LIST"), ("src/pipeline/scratch.rs", "SHARED_SCRATCH")];

/// Returns the names of statics in `source` whose type is a lock of the standard library or of `parking_lot`.
fn locks_of(source: &str) -> Vec<&str> {
    let locks = ["Mutex<", "RwLock<", "OnceLock<", "LazyLock<", "Once ", "Condvar "];
    let before_tests = source.split("mod tests {").next().unwrap_or("");
    let statics = before_tests.lines().filter_map(|line| line.split_once("static ")?.1.split_once(": "));
    statics
        .filter(|(_, kind)| locks.iter().any(|lock| kind.starts_with(lock)))
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn no_thread_waits_for_the_lock_of_a_static() {
    let mut found = Vec::new();
    for dir in ["src", "blosc1/src", "rust/src"] {
        for_each_source(&super::root().join(dir), &mut |file, source| {
            let file = file.strip_prefix(super::root()).unwrap().to_str().unwrap().to_string();
            if !file.contains("tests") {
                found.extend(locks_of(source).into_iter().map(|name| (file.clone(), name.to_string())));
            }
        });
    }
    found.sort();
    let found: Vec<_> = found.iter().map(|(file, name)| (&file[..], &name[..])).collect();
    assert_eq!(found, NEVER_WAITED_FOR);
}

#[test]
fn statics_of_locks_are_found() {
    let source = "pub(super) static A: Mutex<u8> = x;\n  static B: Once = y;\nstatic C: AtomicU8 = z;\nfn f(g: Mutex<u8>) {}";
    assert_eq!(locks_of(source), ["A", "B"]);
}
