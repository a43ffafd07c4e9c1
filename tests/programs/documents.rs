//! Runs the commands of the documents for users as they stand there: each `sh` block of README.md, docs/install.md and
//! docs/cli.md, in order, in a copy of the repository with a home directory of its own.
//!
//! Three conventions connect a document with this test:
//!
//! - the sentence "Save this as `NAME`" before another block stands for writing that block to the file;
//! - `# exit code N` behind a command is the code with which the command ends, otherwise 0;
//! - a `text` block directly behind an `sh` block has lines that the commands print. Numbers are not compared, since
//!   sizes and speeds vary.
//!
//! The copy consists of links to the files of the repository. The script `cargo.sh` is the first `cargo` in `PATH`, so that
//! little is built.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::c_program::{print_skipped, root};
use crate::installed::{
    PROFILE, cargo_of_this_build, installed_prefix, is_tool_available, target_directory, variables_of_cargo,
};

/// A fenced code block of a document.
struct Block {
    language: String,
    text: String,
    /// The number of the line with the opening fence.
    line: usize,
    /// The text between the block before and this one.
    prose: String,
}

fn parse_blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut prose = String::new();
    let mut open: Option<Block> = None;
    for (at, line) in document.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                let (language, prose) = (language.to_string(), std::mem::take(&mut prose));
                open = Some(Block { language, text: String::new(), line: at + 1, prose });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text += &format!("{line}\n"),
            (None, None) => prose += &format!("{line}\n"),
        }
    }
    assert!(open.is_none(), "a code block is not closed");
    blocks
}

/// Returns the file name in the last sentence "Save this as `NAME`" of `prose`.
fn file_to_save(prose: &str) -> Option<&str> {
    let words = "Save this as";
    let rest = prose[prose.rfind(words)? + words.len()..].trim_start();
    rest.strip_prefix('`')?.split('`').next()
}

/// Returns why a block cannot be run here.
fn reason_to_skip(block: &Block) -> Option<String> {
    let needs_root = |line: &str| line.starts_with("apt-get ") || line.starts_with("sudo ");
    if block.text.lines().any(needs_root) {
        return Some("it needs root".to_string());
    }
    ["pkg-config", "cmake", "meson", "python3"]
        .into_iter()
        .find(|tool| block.text.contains(&format!("{tool} ")) && !is_tool_available(tool))
        .map(|tool| format!("there is no {tool}"))
}

/// Returns the script that runs a line, with a check of the exit code that the document states.
fn script_of_line(line: &str) -> String {
    match line.split_once("# exit code ") {
        Some((command, code)) => format!(
            "status=0; {} || status=$?\n[ $status = {code} ] || {{ echo \"exit code $status\"; exit 1; }}\n",
            command.trim_end()
        ),
        None => format!("{line}\n"),
    }
}

/// Replaces numbers by `#`, and blanks by single spaces.
fn without_numbers(line: &str) -> String {
    let mut text = String::new();
    for word in line.split_whitespace() {
        text += if text.is_empty() { "" } else { " " };
        for c in word.chars() {
            match c {
                '0'..='9' if text.ends_with('#') => {}
                '0'..='9' => text.push('#'),
                '.' if text.ends_with('#') => {}
                _ => text.push(c),
            }
        }
    }
    text
}

/// An empty directory with links to the files of the repository, the programs that replace others, and a home directory.
struct Copy {
    place: PathBuf,
}

impl Copy {
    fn new(name: &str) -> Copy {
        let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let place = temporary.join(format!("copy-for-{name}"));
        if place.exists() {
            fs::remove_dir_all(&place).expect("the copy of the last run can be removed");
        }
        for directory in ["repository/target/reproducible", "home", "bin"] {
            fs::create_dir_all(place.join(directory)).expect("a directory");
        }
        for entry in fs::read_dir(root()).expect("the repository") {
            let name = entry.expect("an entry").file_name();
            if !["target", ".git"].iter().any(|other| name == *other) {
                symlink(root().join(&name), place.join("repository").join(&name)).expect("a link");
            }
        }
        // The scripts look for the result of the release profile, package.sh in a directory of its own.
        let built = target_directory().join(if PROFILE == "dev" { "debug" } else { PROFILE });
        for directory in ["release", "reproducible/release"] {
            symlink(&built, place.join("repository/target").join(directory)).expect("a link");
        }
        symlink(cargo_of_this_build(), place.join("bin/cargo")).expect("a link");
        Copy { place }
    }

    /// Returns a shell in the copy.
    fn shell(&self) -> Command {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BLOSC")) {
            command.env_remove(name);
        }
        // The home directory is another one, but not that of the toolchain.
        for (variable, directory) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            if std::env::var_os(variable).is_none() && home.join(directory).is_dir() {
                command.env(variable, home.join(directory));
            }
        }
        command
            .current_dir(self.place.join("repository"))
            .env("HOME", self.place.join("home"))
            .env("PATH", format!("{}:{path}", self.place.join("bin").display()))
            .envs(variables_of_cargo())
            // xz takes minutes for packages that are not optimised.
            .envs([("DPKG_DEB_COMPRESSOR_TYPE", "gzip"), ("DPKG_DEB_COMPRESSOR_LEVEL", "1")])
            .env_remove("CARGO")
            .env_remove("CARGO_TARGET_DIR");
        command
    }
}

/// Runs the blocks of a document, and compares their output with the `text` blocks.
fn run_document(name: &str) {
    let document = fs::read_to_string(root().join(name)).expect("the document");
    let blocks = parse_blocks(&document);
    assert!(blocks.iter().any(|block| block.language == "sh"), "{name} has no commands");
    // The libraries are built once for all tests of this binary.
    installed_prefix();
    let copy = Copy::new(&name.replace('/', "-"));
    let mut script = "exec 2>&1\nset -eu\n".to_string();
    for block in &blocks {
        if let Some(file) = file_to_save(&block.prose) {
            fs::write(copy.place.join("repository").join(file), &block.text)
                .expect("the file can be written");
        } else if block.language == "sh" {
            if let Some(reason) = reason_to_skip(block) {
                print_skipped(&format!("{name}, line {}: {reason}", block.line));
                continue;
            }
            script += &format!("echo '### line {}'\n", block.line);
            script.extend(block.text.lines().map(script_of_line));
        }
    }
    let output = copy.shell().args(["-c", &script]).output().expect("a shell");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "the commands of {name} fail, {}:\n{printed}", output.status);

    for pair in blocks.windows(2) {
        let [commands, expected] = pair else { continue };
        if commands.language != "sh" || expected.language != "text" || !expected.prose.trim().is_empty() {
            continue;
        }
        let Some(rest) = printed.split(&format!("### line {}\n", commands.line)).nth(1) else { continue };
        let lines: Vec<String> =
            rest.split("\n### line ").next().expect("a text").lines().map(without_numbers).collect();
        for line in expected.text.lines().map(without_numbers) {
            assert!(
                lines.contains(&line),
                "{name}, line {}: `{line}` is not printed, but:\n{}",
                expected.line,
                lines.join("\n")
            );
        }
    }
}

#[test]
fn commands_of_the_readme_work() {
    run_document("README.md");
}

#[test]
fn commands_of_the_installation_work() {
    run_document("docs/install.md");
}

#[test]
fn commands_of_the_command_line_work() {
    run_document("docs/cli.md");
}

/// The Rust code in README is a part of an example, which is compiled and run.
#[test]
fn rust_code_of_the_readme_is_that_of_an_example() {
    let squeeze = |text: &str| text.split_whitespace().collect::<String>();
    let example =
        squeeze(&fs::read_to_string(root().join("rust/examples/array_on_disk.rs")).expect("the example"));
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let blocks = parse_blocks(&readme);
    let code = blocks.iter().find(|block| block.language == "rust").expect("a block in Rust");
    for part in code.text.split("\n\n") {
        assert!(example.contains(&squeeze(part)), "the example does not have:\n{part}");
    }
}

#[test]
fn blocks_and_conventions_are_parsed() {
    let blocks = parse_blocks(
        "a\n\n```sh\nx\n```\n\n```text\n1.5 of 20  s\n```\nSave this as\n`p.c`:\n\n```c\n;\n```\n",
    );
    let found: Vec<_> = blocks.iter().map(|block| (block.language.as_str(), block.text.as_str())).collect();
    assert_eq!(found, [("sh", "x\n"), ("text", "1.5 of 20  s\n"), ("c", ";\n")]);
    assert_eq!(blocks[1].line, 7);
    assert_eq!(file_to_save(&blocks[2].prose), Some("p.c"));
    assert_eq!(file_to_save(&blocks[0].prose), None);
    assert_eq!(without_numbers(" 1.5 of 20  s"), "# of # s");
    assert_eq!(script_of_line("ls"), "ls\n");
    assert!(
        script_of_line("ls x  # exit code 2").starts_with("status=0; ls x || status=$?\n[ $status = 2 ]")
    );
}
