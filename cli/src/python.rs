//! Literals of Python: the notation of the header of a NumPy file, and of types with fields.

use std::fmt::{self, Display};

/// Limit for the depth of lists and tuples in each other.
const MAX_DEPTH: usize = 32;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    Number(u64),
    Bool(bool),
    List(Vec<Literal>),
    Tuple(Vec<Literal>),
    /// A dictionary whose keys are texts.
    Dictionary(Vec<(String, Literal)>),
}

impl Literal {
    /// Reads a text that is one value. An error states what was found and expected.
    pub(crate) fn parse(text: &str) -> Result<Literal, String> {
        let mut parser = Parser { rest: text };
        let value = parser.value(0)?;
        parser.skip_spaces();
        if parser.rest.is_empty() { Ok(value) } else { Err(parser.unexpected("the end")) }
    }
}

impl Display for Literal {
    /// Writes the value as Python's `repr`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, values: &[Literal]| {
            for (n, value) in values.iter().enumerate() {
                write!(f, "{}{value}", if n == 0 { "" } else { ", " })?;
            }
            Ok(())
        };
        match self {
            Literal::Text(text) => write_text(f, text),
            Literal::Number(number) => write!(f, "{number}"),
            Literal::Bool(true) => f.write_str("True"),
            Literal::Bool(false) => f.write_str("False"),
            Literal::List(values) => {
                f.write_str("[")?;
                list(f, values)?;
                f.write_str("]")
            }
            Literal::Tuple(values) => {
                f.write_str("(")?;
                list(f, values)?;
                f.write_str(if values.len() == 1 { ",)" } else { ")" })
            }
            Literal::Dictionary(entries) => {
                f.write_str("{")?;
                for (n, (key, value)) in entries.iter().enumerate() {
                    f.write_str(if n == 0 { "" } else { ", " })?;
                    write_text(f, key)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    write!(f, "{quote}")?;
    for character in text.chars() {
        match character {
            '\\' => f.write_str("\\\\")?,
            character if character == quote => write!(f, "\\{character}")?,
            character if character.is_control() => write!(f, "\\U{:08x}", u32::from(character))?,
            character => write!(f, "{character}")?,
        }
    }
    write!(f, "{quote}")
}

/// A parser: `rest` was not read yet.
struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    /// Skips spaces and `token`, if it is next. Returns whether it was.
    fn skip(&mut self, token: &str) -> bool {
        self.skip_spaces();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.skip(token) { Ok(()) } else { Err(self.unexpected(token)) }
    }

    /// Returns the error that something else follows than `expected`.
    fn unexpected(&self, expected: &str) -> String {
        let found: String = self.rest.chars().take(20).collect();
        format!("{found:?}, expected {expected}")
    }

    fn value(&mut self, depth: usize) -> Result<Literal, String> {
        if depth > MAX_DEPTH {
            return Err(self.unexpected(&format!("at most {MAX_DEPTH} lists in each other")));
        }
        self.skip_spaces();
        match self.rest.chars().next() {
            Some('\'' | '"') => self.text().map(Literal::Text),
            Some('0'..='9') => self.number().map(Literal::Number),
            Some('[') => self.values("[", "]", depth).map(|(values, _)| Literal::List(values)),
            Some('(') => {
                let (mut values, has_comma) = self.values("(", ")", depth)?;
                // Without a comma, the brackets are those of an expression.
                match values.pop() {
                    Some(value) if values.is_empty() && !has_comma => Ok(value),
                    last => {
                        values.extend(last);
                        Ok(Literal::Tuple(values))
                    }
                }
            }
            Some('{') => self.dictionary(depth),
            _ if self.skip("True") => Ok(Literal::Bool(true)),
            _ if self.skip("False") => Ok(Literal::Bool(false)),
            _ => Err(self.unexpected("a text, a number, a list, True or False")),
        }
    }

    /// Reads values between two brackets. Returns also whether a comma follows the last one.
    fn values(&mut self, open: &str, close: &str, depth: usize) -> Result<(Vec<Literal>, bool), String> {
        let (mut values, mut has_comma) = (Vec::new(), false);
        self.expect(open)?;
        while !self.skip(close) {
            values.push(self.value(depth + 1)?);
            has_comma = self.skip(",");
            if !has_comma {
                self.expect(close)?;
                break;
            }
        }
        Ok((values, has_comma))
    }

    fn dictionary(&mut self, depth: usize) -> Result<Literal, String> {
        let mut entries: Vec<(String, Literal)> = Vec::new();
        self.expect("{")?;
        while !self.skip("}") {
            self.skip_spaces();
            let key = self.text()?;
            self.expect(":")?;
            let value = self.value(depth + 1)?;
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(format!("{key:?} twice"));
            }
            entries.push((key, value));
            if !self.skip(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Literal::Dictionary(entries))
    }

    fn text(&mut self) -> Result<String, String> {
        let quote = self.rest.chars().next().filter(|first| matches!(first, '\'' | '"'));
        let quote = quote.ok_or_else(|| self.unexpected("a text"))?;
        let mut text = String::new();
        let mut chars = self.rest[1..].chars();
        loop {
            match chars.next() {
                None => return Err(self.unexpected("a text with its end")),
                Some(character) if character == quote => break,
                Some('\\') => {
                    let escaped =
                        escape(&mut chars).ok_or_else(|| self.unexpected("a text with valid escapes"))?;
                    text.push(escaped);
                }
                Some(character) => text.push(character),
            }
        }
        self.rest = chars.as_str();
        Ok(text)
    }

    fn number(&mut self) -> Result<u64, String> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = self.rest[..end].parse().map_err(|_| self.unexpected("a number below 2^64"))?;
        self.rest = &self.rest[end..];
        // Python 2 wrote long integers with this letter.
        self.rest = self.rest.strip_prefix('L').unwrap_or(self.rest);
        Ok(number)
    }
}

/// Returns the character of an escape behind its backslash.
fn escape(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let digits = match chars.next()? {
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        character @ ('\\' | '\'' | '"') => return Some(character),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let code =
        (0..digits).try_fold(0u32, |code, _| Some(code.checked_mul(16)? + chars.next()?.to_digit(16)?));
    code.and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_read_and_written_as_python_writes_them() {
        for text in [
            "{'a': 'b', 'c': [('d', '<f4', (2, 3)), ('e', [('f', '|S3')])], 'g': (), 'h': (3,), 'i': True}",
            "'it\\\\s'",
            "\"it's\"",
            "'\"it\\'s\"'",
            "[18446744073709551615, False]",
        ] {
            assert_eq!(Literal::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Literal::parse(" ( 3L , ) "), Literal::parse("(3,)"));
        assert_eq!(Literal::parse("(((5)))"), Ok(Literal::Number(5)));
        assert_eq!(Literal::parse("'\\x41\\u00e9\\n'"), Ok(Literal::Text("Aé\n".to_owned())));
    }

    #[test]
    fn other_texts_are_errors() {
        for (text, expected) in [
            ("", "a text, a number"),
            ("-1", "a text, a number"),
            ("'a", "its end"),
            ("'\\q'", "valid escapes"),
            ("[1 2]", "expected ]"),
            ("{'a' 1}", "expected :"),
            ("{'a': 1, 'a': 2}", "\"a\" twice"),
            ("1 2", "expected the end"),
            ("99999999999999999999", "below 2^64"),
            (&"[".repeat(1_000_000), "at most 32 lists"),
        ] {
            let error = Literal::parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_value_that_is_read_again_or_an_error(text in "[{}()\\[\\]',:0-9a-cTruex\\\\\" ]{0,40}") {
            if let Ok(value) = Literal::parse(&text) {
                prop_assert_eq!(Literal::parse(&value.to_string()), Ok(value));
            }
        }
    }
}
