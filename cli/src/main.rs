//! The command `blosc2`: one verb for each task, in [`verbs`].
//!
//! Data flow: arguments ([`args`]) -> a verb -> the crate `blosc2` -> results on stdout, progress and messages on stderr
//! ([`terminal`]). A verb that writes a file writes a temporary file next to it, and renames it at the end ([`output`]).
//!
//! Exit codes: 0, also if the reader of the output ends early; 1 for a problem with data (damage, a difference, a failed
//! read or write); 2 for arguments that are not valid, for a file that was saved in part, and for files that could not be
//! compared. A signal ends the command as a program without a handler.

mod args;
mod array_reader;
mod boxes;
mod buffers;
mod damage;
mod dtype;
mod error;
mod input;
mod kind;
mod msgpack;
mod npy;
mod npy_file;
mod os;
mod output;
mod pipe;
mod pipeline;
mod probe;
mod python;
mod ranges;
mod remote;
mod results;
mod size;
mod source;
mod sparse;
mod store;
mod terminal;
mod transfer;
mod values;
mod verbs;
mod walk;

use args::{Arguments, Verb};
use clap::FromArgMatches;
use error::Failure;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;
use terminal::Terminal;

fn main() -> ExitCode {
    // The variables that it would apply are defaults of arguments.
    blosc2::ignore_environment();
    let (words, hints) = args::with_new_spellings(std::env::args_os().collect());
    let parsed = args::command()
        .try_get_matches_from(&words)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => {
            print_usage(&error, &words);
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let terminal = Terminal::new(arguments.quiet, arguments.verbose);
    hints.iter().for_each(|hint| terminal.warning(hint));
    output::remove_temporary_files_on_interrupt();
    remote::configure(
        &arguments.remote_options,
        arguments.remote_timeout.map(Duration::from_secs),
        arguments.requests,
    );
    let code = match run(&arguments.verb, &terminal) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = failure.message() {
                terminal.error(message);
            }
            ExitCode::from(failure.exit_code())
        }
    };
    if arguments.requests {
        terminal.requests(&remote::transfers(), arguments.verb.is_json());
    }
    code
}

/// Prints the help, or an error of the arguments, with URLs that have no secret.
fn print_usage(error: &clap::Error, words: &[OsString]) {
    let text = error.render().to_string();
    let words = words.iter().filter_map(|word| word.to_str());
    let values = words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]).flatten();
    let with_names = values.fold(text.clone(), |text, value| {
        text.replace(value, &remote::name(value.into()).display().to_string())
    });
    // Of a broken pipe, nothing can be reported.
    let _ = match with_names == text {
        true => error.print(),
        false => io::stderr().write_all(with_names.as_bytes()),
    };
}

fn run(verb: &Verb, terminal: &Terminal) -> Result<(), Failure> {
    match verb {
        Verb::Info(arguments) => verbs::info::run(arguments, terminal),
        Verb::Compress(arguments) if arguments.decompress => {
            verbs::decompress::run(&arguments.to_decompress(), terminal)
        }
        Verb::Compress(arguments) => verbs::compress::run(arguments, terminal),
        Verb::Decompress(arguments) => verbs::decompress::run(arguments, terminal),
        Verb::Import(arguments) => verbs::import::run(arguments, terminal),
        Verb::Export(arguments) => verbs::export::run(arguments, terminal),
        Verb::Cat(arguments) => verbs::cat::run(arguments, terminal),
        Verb::Slice(arguments) => verbs::slice::run(arguments, terminal),
        Verb::Verify(arguments) => verbs::verify::run(arguments, terminal),
        Verb::Repair(arguments) => verbs::repair::run(arguments, terminal),
        Verb::Recompress(arguments) => verbs::recompress::run(arguments, terminal),
        Verb::Append(arguments) => verbs::append::run(arguments, terminal),
        Verb::Bench(arguments) => verbs::bench::run(arguments, terminal),
        Verb::Meta(arguments) => verbs::meta::run(arguments),
        Verb::Diff(arguments) => verbs::diff::run(arguments, terminal),
        Verb::Generate(arguments) => verbs::generate::run(arguments),
    }
}
