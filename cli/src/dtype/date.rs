//! Points in time of NumPy as text.

/// The units with fewer digits than a second: their numbers of digits.
const DIGITS: [(&str, u32); 7] =
    [("s", 0), ("ms", 3), ("us", 6), ("ns", 9), ("ps", 12), ("fs", 15), ("as", 18)];

/// Returns a number of units since 1970 as ISO 8601, as precise as the unit. `unit` is for example `[ns]` or `[25us]`. `None`
/// for another unit.
pub(super) fn to_text(number: i64, unit: &str) -> Option<String> {
    let unit = unit.strip_prefix('[')?.strip_suffix(']')?;
    let digits = unit.find(|c: char| !c.is_ascii_digit())?;
    let factor: i128 = if digits == 0 { 1 } else { unit[..digits].parse().ok()? };
    let number = i128::from(number).checked_mul(factor)?;
    Some(match &unit[digits..] {
        "Y" => format!("{:04}", 1970 + number),
        "M" => format!("{:04}-{:02}", 1970 + number.div_euclid(12), number.rem_euclid(12) + 1),
        "W" => date(number.checked_mul(7)?),
        "D" => date(number),
        "h" => format!("{}T{:02}", date(number.div_euclid(24)), number.rem_euclid(24)),
        "m" => minutes(number),
        unit => {
            let &(_, digits) = DIGITS.iter().find(|(known, _)| *known == unit)?;
            let parts = 10i128.pow(digits);
            let seconds = number.div_euclid(parts);
            let text = format!("{}:{:02}", minutes(seconds.div_euclid(60)), seconds.rem_euclid(60));
            match digits {
                0 => text,
                _ => format!("{text}.{:0width$}", number.rem_euclid(parts), width = digits as usize),
            }
        }
    })
}

fn minutes(number: i128) -> String {
    let of_day = number.rem_euclid(24 * 60);
    format!("{}T{:02}:{:02}", date(number.div_euclid(24 * 60)), of_day / 60, of_day % 60)
}

/// Returns the date of a number of days since 1970-01-01 in the proleptic Gregorian calendar.
fn date(days: i128) -> String {
    /// Days of 400 years, after which the calendar repeats.
    const CYCLE: i128 = 146_097;
    // Years that begin in March, so that the leap day is their last one; 719468 days are between 0000-03-01 and 1970.
    let days = days + 719_468;
    let of_cycle = days.rem_euclid(CYCLE);
    let year_of_cycle = (of_cycle - of_cycle / 1460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = days.div_euclid(CYCLE) * 400 + year_of_cycle + i128::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_precise_as_their_unit() {
        for (number, unit, expected) in [
            (0, "[D]", "1970-01-01"),
            (-1, "[D]", "1969-12-31"),
            (11_016, "[D]", "2000-02-29"),
            (-25_508, "[D]", "1900-03-01"),
            (50, "[Y]", "2020"),
            (-1, "[M]", "1969-12"),
            (1, "[W]", "1970-01-08"),
            (-1, "[h]", "1969-12-31T23"),
            (61, "[m]", "1970-01-01T01:01"),
            (1_600_000_000, "[s]", "2020-09-13T12:26:40"),
            (1_600_000_000_123, "[ms]", "2020-09-13T12:26:40.123"),
            (-1, "[ns]", "1969-12-31T23:59:59.999999999"),
            (3, "[25us]", "1970-01-01T00:00:00.000075"),
            (5, "[as]", "1970-01-01T00:00:00.000000000000000005"),
        ] {
            assert_eq!(to_text(number, unit).as_deref(), Some(expected));
        }
        for unit in ["", "[]", "[x]", "[7]", "[s/3]"] {
            assert_eq!(to_text(1, unit), None);
        }
        for unit in ["Y", "M", "W", "D", "h", "m", "s", "as"] {
            for number in [i64::MIN, i64::MAX] {
                assert!(to_text(number, &format!("[{unit}]")).is_some());
                to_text(number, &format!("[99999999999999999999{unit}]"));
            }
        }
    }
}
