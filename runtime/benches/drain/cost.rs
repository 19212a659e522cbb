//! What a round costs this process: processor time and allocations.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What some rows cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) cpu_seconds_per_1000_rows: f64,
    pub(crate) allocations_per_row: f64,
}

/// Counts from now on.
pub(crate) struct Meter {
    cpu: f64,
    allocations: Region<'static, System>,
}

impl Meter {
    pub(crate) fn start() -> Self {
        Self { cpu: cpu_seconds(), allocations: Region::new(ALLOCATOR) }
    }

    pub(crate) fn stop(&self, rows: usize) -> Cost {
        let rows = rows as f64;
        let allocations = self.allocations.change().allocations as f64;
        Cost {
            cpu_seconds_per_1000_rows: (cpu_seconds() - self.cpu) * 1000.0 / rows,
            allocations_per_row: allocations / rows,
        }
    }
}

/// The processor time of this process so far, in its kernel's ticks of 10 ms; zero where the system
/// has no `/proc`.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the program's name in parentheses; user and system time are 14 and 15.
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ').skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
