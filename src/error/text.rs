//! Text that is formatted with fallible allocation: if memory runs out, the text is truncated.

use std::fmt::{self, Write};

/// A constant or formatted text.
#[derive(Debug)]
pub enum Text {
    /// A string literal of the program.
    Constant(&'static str),
    /// Formatted; truncated if memory ran out.
    Formatted(String),
}

impl Text {
    /// Formats `text`; truncates the result if memory runs out.
    pub fn new(text: fmt::Arguments<'_>) -> Text {
        if let Some(constant) = text.as_str() {
            return Text::Constant(constant);
        }
        let mut formatted = FallibleString(String::new());
        // An error means that memory has run out, or that a `Display` failed: the text up to that point is kept.
        let _ = formatted.write_fmt(text);
        Text::Formatted(formatted.0)
    }

    /// Returns the text.
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

/// A string that returns an error if it cannot allocate memory for an addition.
struct FallibleString(String);

impl Write for FallibleString {
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
    fn constant_text_is_borrowed_and_arguments_are_formatted() {
        assert!(matches!(Text::new(format_args!("constant")), Text::Constant("constant")));
        let number = std::hint::black_box(5);
        assert_eq!(Text::new(format_args!("{number} and {:?}", "more")).as_str(), "5 and \"more\"");
    }
}
