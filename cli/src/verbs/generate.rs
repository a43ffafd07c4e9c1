//! `blosc2 generate`: man pages and shell completions, from the arguments.

use crate::args::{GenerateArguments, Generated, command};
use crate::error::{Failure, WithPath};
use clap_complete::Shell;

/// Runs the verb.
pub(crate) fn run(arguments: &GenerateArguments) -> Result<(), Failure> {
    let directory = &arguments.directory;
    std::fs::create_dir_all(directory).with_path(directory)?;
    let mut command = command();
    match arguments.what {
        Generated::Man => clap_mangen::generate_to(command, directory).with_path(directory),
        Generated::Completions => {
            for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
                clap_complete::generate_to(shell, &mut command, "blosc2", directory).with_path(directory)?;
            }
            Ok(())
        }
    }
}
