//! Signs of life where no terminal shows a bar: in a pipe, a log, a job of CI. A line on standard error every few seconds says what
//! the program is at, so that nobody takes long work for a hang. A process has one standard error, hence one heartbeat.

use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// No line follows another sooner.
const SHORTEST_PAUSE: Duration = Duration::from_secs(2);
/// Hours of work must not fill a log.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How often it is looked whether there is something to say.
const GLANCE: Duration = Duration::from_millis(200);

static HEART: OnceLock<Mutex<Heart>> = OnceLock::new();

/// What would be said next.
struct Heart {
    begun: Instant,
    spoke: Instant,
    step: Option<Step>,
    /// What an optimiser said since the last line.
    note: Option<String>,
    /// Whether the program works although no step is under way.
    at_work: bool,
}

/// A step whose end is known.
struct Step {
    name: &'static str,
    total: u64,
    done: u64,
    begun: Instant,
}

/// Begins, unless standard error is a terminal, where bars say all of this.
pub fn start() {
    if std::io::stderr().is_terminal() {
        return;
    }
    let now = Instant::now();
    let heart = Heart { begun: now, spoke: now, step: None, note: None, at_work: false };
    if HEART.set(Mutex::new(heart)).is_ok() {
        // Without a thread there are no signs of life, and the work is done all the same.
        let _ = std::thread::Builder::new().name("heartbeat".into()).spawn(beat);
    }
}

fn beat() {
    loop {
        std::thread::sleep(GLANCE);
        if let Some(mut heart) = heart() {
            let now = Instant::now();
            if let Some(line) = heart.line(now) {
                heart.spoke = now;
                eprintln!("{line}");
            }
        }
    }
}

fn heart() -> Option<MutexGuard<'static, Heart>> {
    HEART.get().map(|heart| heart.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether there is work to be waited for while no step is under way: there is in a command, not in a server that is up.
pub fn at_work(at_work: bool) {
    if let Some(mut heart) = heart() {
        heart.at_work = at_work;
    }
}

/// Something else was said.
pub fn spoke() {
    if let Some(mut heart) = heart() {
        heart.spoke = Instant::now();
    }
}

/// How an optimiser stands.
pub fn note(text: impl FnOnce() -> String) {
    if let Some(mut heart) = heart() {
        heart.note = Some(text());
    }
}

/// A step begins.
pub fn begin(name: &'static str, total: u64) {
    if let Some(mut heart) = heart() {
        heart.step = Some(Step { name, total, done: 0, begun: Instant::now() });
    }
}

/// It goes on.
pub fn advance(units: u64) {
    if let Some(mut heart) = heart()
        && let Some(step) = &mut heart.step
    {
        step.done += units;
    }
}

/// It is over.
pub fn end() {
    if let Some(mut heart) = heart() {
        heart.step = None;
    }
}

impl Heart {
    /// The line that is due now, if one is.
    fn line(&mut self, now: Instant) -> Option<String> {
        let pause = ((now - self.begun) / 20).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        if now - self.spoke < pause {
            return None;
        }
        let note = self.note.take();
        let seconds = (now - self.begun).as_secs();
        match (note, &self.step) {
            (Some(note), _) => Some(format!("{seconds} s: {note}")),
            (None, Some(step)) => Some(format!("{seconds} s: {}", step.line(now))),
            (None, None) if self.at_work => Some(format!("{seconds} s: at work")),
            (None, None) => None,
        }
    }
}

impl Step {
    fn line(&self, now: Instant) -> String {
        if self.total == 0 || self.done == 0 {
            return self.name.to_owned();
        }
        let share = self.done.min(self.total) as f64 / self.total as f64;
        let left = (now - self.begun).as_secs_f64() * (1.0 - share) / share;
        format!("{}, {:.0} %, about {left:.0} s left", self.name, 100.0 * share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_every_few_seconds_and_say_what_is_done() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut heart = Heart { begun, spoke: begun, step: None, note: None, at_work: false };
        assert_eq!(heart.line(after(60)), None, "a server that is up");
        heart.at_work = true;
        assert_eq!(heart.line(after(1)), None);
        assert_eq!(heart.line(after(2)).as_deref(), Some("2 s: at work"));
        heart.step = Some(Step { name: "travel costs", total: 8, done: 2, begun });
        assert_eq!(
            heart.line(after(6)).as_deref(),
            Some("6 s: travel costs, 25 %, about 18 s left")
        );
        heart.note = Some("gap 1e-3".into());
        assert_eq!(heart.line(after(8)).as_deref(), Some("8 s: gap 1e-3"));
        assert!(
            heart.line(after(9)).is_some_and(|line| line.contains("travel costs")),
            "notes are said once"
        );
        heart.spoke = after(396);
        assert_eq!(heart.line(after(400)), None, "long work fills no log");
    }
}
