//! Text that is formatted with fallible allocation: where memory ends, it ends.

use std::fmt::{self, Write};

/// A constant text, or one that was formatted.
#[derive(Debug)]
pub enum Text {
    /// Part of the program.
    Constant(&'static str),
    /// Formatted; shorter than asked for if memory ran out.
    Formatted(String),
}

impl Text {
    /// Formats `text` as far as there is memory.
    pub fn new(text: fmt::Arguments<'_>) -> Text {
        if let Some(constant) = text.as_str() {
            return Text::Constant(constant);
        }
        let mut formatted = Fallible(String::new());
        // An error means that memory has run out, or that a `Display` failed: what is there is kept.
        let _ = formatted.write_fmt(text);
        Text::Formatted(formatted.0)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match self {
            Text::Constant(text) => text,
            Text::Formatted(text) => text,
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A string that refuses what it has no memory for.
struct Fallible(String);

impl Write for Fallible {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.try_reserve(text.len()).map_err(|_| fmt::Error)?;
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert!(matches!(Text::new(format_args!("constant")), Text::Constant("constant")));
        let number = std::hint::black_box(5);
        assert_eq!(Text::new(format_args!("{number} and {:?}", "more")).as_str(), "5 and \"more\"");
    }
}
