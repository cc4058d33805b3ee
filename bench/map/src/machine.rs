//! The machine, and how long things take on it.

use std::time::Instant;

/// Processor and cores, for the head of a report.
pub fn describe() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown processor", |line| line.trim_start_matches(['\t', ' ', ':']));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("Machine: {model}, {cores} cores. Times are the best of several runs in this process.")
}

/// The shortest of `runs` runs, in seconds: what the work takes when nothing disturbs it.
pub fn best_of<T>(runs: usize, mut work: impl FnMut() -> T) -> f64 {
    let once = |_| {
        let begun = Instant::now();
        std::hint::black_box(work());
        begun.elapsed().as_secs_f64()
    };
    (0..runs).map(once).fold(f64::INFINITY, f64::min)
}

/// Peak resident memory of this process, in bytes.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes =
        line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Runs `work` on `threads` threads.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads").install(work)
}

/// What a child of this program printed: one number.
pub fn ask_child(arguments: &[&str]) -> f64 {
    let program = std::env::current_exe().expect("own path");
    let output = std::process::Command::new(program).args(arguments).output().expect("child");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
}
