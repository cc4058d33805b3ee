//! The machine, and how long things take on it.

use std::time::Instant;

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

/// CPU seconds of all threads of this process, to the nanosecond; zero where the system does not say.
pub fn cpu_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    tasks.filter_map(of).sum::<f64>() * 1e-9
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

/// The mean and 1.96 standard deviations, as the paper prints them; a single value alone.
pub fn spread(values: &[f64]) -> String {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() == 1 {
        return format!("{mean:.3}");
    }
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
    format!("{mean:.3}±{:.3}", 1.96 * variance.sqrt())
}
