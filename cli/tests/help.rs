//! The help of the command and of each verb, compared with the files in `tests/help`. With `BLOSC2_UPDATE_SNAPSHOTS=1`,
//! the files are written.

mod program;

use program::blosc2_command;
use std::path::PathBuf;
use std::process::Stdio;

const VERBS: [&str; 15] = [
    "info",
    "compress",
    "decompress",
    "import",
    "export",
    "cat",
    "slice",
    "verify",
    "repair",
    "recompress",
    "append",
    "bench",
    "diff",
    "meta",
    "generate",
];

/// Returns the help of a verb, or of the command. No stream is a terminal, so that the width is that of `COLUMNS`.
fn help(verb: Option<&str>, columns: &str) -> String {
    let mut command = blosc2_command();
    command.args(verb).arg("--help").env("COLUMNS", columns).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success());
    assert!(output.stderr.is_empty());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_is_as_recorded() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    let verbs = VERBS.iter().map(|verb| Some(*verb)).chain([None]);
    for verb in verbs {
        let found = help(verb, "100");
        let path = directory.join(format!("{}.txt", verb.unwrap_or("blosc2")));
        if std::env::var_os("BLOSC2_UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::write(&path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == expected, "{}: expected\n{expected}\nfound\n{found}", path.display());
    }
}

#[test]
fn all_verbs_are_recorded() {
    let help = help(None, "100");
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let names = commands.lines().filter_map(|line| {
        line.strip_prefix("  ")?.split_whitespace().next().filter(|_| !line.starts_with("   "))
    });
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert_eq!(names, VERBS);
}

#[test]
fn help_is_not_wider_than_100_columns_and_has_no_escape_sequences() {
    for verb in VERBS.iter().map(|verb| Some(*verb)).chain([None]) {
        let help = help(verb, "300");
        assert_eq!(help, self::help(verb, "100"), "a wider terminal changes the help of {verb:?}");
        assert!(!help.contains('\u{1b}'));
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}
