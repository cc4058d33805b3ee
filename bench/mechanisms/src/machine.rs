//! The machine, and how long things take on it.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// Seconds by the clock, and CPU seconds of all threads.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    pub wall: f64,
    pub cpu: f64,
}

/// Runs `work` and says how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Took) {
    let (begun, before) = (Instant::now(), cpu_seconds());
    let done = work();
    (done, Took { wall: begun.elapsed().as_secs_f64(), cpu: cpu_seconds() - before })
}

/// CPU seconds of all threads of this process, to the nanosecond.
pub fn cpu_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 * 1e-9
}

/// Processor, cores and how busy they are, for the head of a section.
pub fn describe() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown processor", |line| line.trim_start_matches(['\t', ' ', ':']));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("?").to_owned();
    format!("{model}, {cores} cores, load {load} at the start of the section")
}

/// The one in the middle; of an even number the upper of the two.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
