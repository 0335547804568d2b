//! The time of day, which is handed in so that tests can move it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize, Serializer};

const MS_PER_DAY: i64 = 86_400_000;

/// A moment, in milliseconds since 1970 in UTC; it displays as RFC 3339 text and serializes as the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Takes milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns milliseconds since 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the moment `duration` later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// Returns the moment `duration` earlier.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// Returns the UTC day.
    pub fn day(self) -> Day {
        Day(self.0.div_euclid(MS_PER_DAY))
    }

    /// Returns RFC 3339 text in UTC, such as `2026-07-28T09:30:00.250Z`.
    pub fn to_rfc3339(self) -> String {
        let ms = self.0.rem_euclid(MS_PER_DAY);
        let (seconds, ms) = (ms / 1000, ms % 1000);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z", self.day())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// A day in UTC; it displays and serializes as its date, such as `2026-07-28`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

impl Day {
    /// Takes the number of days since 1970-01-01.
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// Returns the number of days since 1970-01-01.
    pub const fn number(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A clock: the system's, or one that a test moves. Clones share it.
#[derive(Debug, Clone)]
pub struct Clock(Kind);

#[derive(Debug, Clone)]
enum Kind {
    System,
    Fake(Arc<AtomicI64>),
}

impl Clock {
    /// Follows the machine's clock.
    pub fn system() -> Self {
        Self(Kind::System)
    }

    /// Stands still at `start` until it is advanced.
    pub fn fake(start: Timestamp) -> Self {
        Self(Kind::Fake(Arc::new(AtomicI64::new(start.as_millis()))))
    }

    /// Moves a fake clock and its clones forward; the machine's clock cannot be moved.
    pub fn advance(&self, duration: Duration) {
        if let Kind::Fake(now) = &self.0 {
            now.fetch_add(millis(duration), Ordering::Relaxed);
        }
    }

    /// Returns the present moment.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::System => Timestamp(system_now()),
            Kind::Fake(now) => Timestamp(now.load(Ordering::Relaxed)),
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the room that reads the machine's clock")]
fn system_now() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => millis(since),
        Err(error) => -millis(error.duration()),
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Turns a day number into year, month and day; the algorithm is Howard Hinnant's `civil_from_days`.
fn civil(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_rfc_3339() {
        let texts = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_785_230_999_250, "2026-07-28T09:29:59.250Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ];
        for (millis, text) in texts {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
        }
    }

    #[test]
    fn a_fake_clock_moves_only_when_told_and_its_clones_with_it() {
        let clock = Clock::fake(Timestamp::from_millis(1000));
        let clone = clock.clone();
        clock.advance(Duration::from_millis(500));
        assert_eq!(clone.now(), Timestamp::from_millis(1500));
        assert_eq!(serde_json::to_string(&clone.now()).unwrap(), "1500");
    }

    #[test]
    fn the_machines_clock_is_in_this_century() {
        assert!(Clock::system().now() > Timestamp::from_millis(1_700_000_000_000));
    }
}
