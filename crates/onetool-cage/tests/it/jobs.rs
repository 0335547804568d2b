//! Jobs: their output, their limits and their errors.

use std::sync::Arc;
use std::time::Duration;

use onetool_cage::{JobError, JobLimits, Jobs, SlotError, SlotLimits, Slots, WorkerCommand};

const LIMITS: JobLimits =
    JobLimits { time: Duration::from_secs(20), memory_bytes: 64 << 20, max_output: 10 << 20 };

fn jobs_with(slots: SlotLimits) -> Jobs {
    let program = env!("CARGO_BIN_EXE_onetool-cage-probe").into();
    Jobs::new(WorkerCommand { program, args: vec!["job".into()] }, Arc::new(Slots::new(slots)))
}

fn jobs() -> Jobs {
    jobs_with(SlotLimits { running: 4, memory: 4 << 30, waiting: 4 })
}

#[tokio::test]
async fn h3_a_job_returns_its_output() {
    let input = vec![7; 5 << 20];
    assert_eq!(jobs().run("echo", &input, &LIMITS).await, Ok(input));
    assert_eq!(jobs().run("echo", b"", &LIMITS).await, Ok(Vec::new()));
}

#[tokio::test]
async fn h3_a_job_that_exceeds_a_limit_fails_with_that_limit() {
    let jobs = jobs();
    let short = JobLimits { time: Duration::from_millis(300), ..LIMITS };
    assert_eq!(jobs.run("hang", b"", &short).await, Err(JobError::Time(short.time)));
    assert_eq!(jobs.run("fill", b"", &LIMITS).await, Err(JobError::Memory(LIMITS.memory_bytes)));
    assert_eq!(jobs.run("nest", b"", &LIMITS).await, Err(JobError::Nesting));
    let small = JobLimits { max_output: 99, ..LIMITS };
    assert_eq!(jobs.run("echo", &[1; 100], &small).await, Err(JobError::Output(99)));
    assert_eq!(jobs.run("echo", b"x", &small).await, Ok(b"x".to_vec()), "the next one works");
}

#[tokio::test]
async fn h3_a_job_is_caged() {
    let output = jobs().run("open", b"", &LIMITS).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output), "Permission denied (os error 13)");
}

#[tokio::test]
async fn h3_a_job_that_fails_says_why() {
    let jobs = jobs();
    let message = |result: Result<_, JobError>| result.unwrap_err().to_string();
    assert!(message(jobs.run("panic", b"", &LIMITS).await).contains("a bug"));
    assert!(message(jobs.run("none", b"", &LIMITS).await).contains("unknown job 'none'"));
    let missing = WorkerCommand { program: "/no/such/program".into(), args: Vec::new() };
    let slots = Slots::new(SlotLimits { running: 1, memory: 1 << 30, waiting: 1 });
    let error = Jobs::new(missing, Arc::new(slots)).run("echo", b"", &LIMITS).await.unwrap_err();
    assert!(matches!(error, JobError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn h9_jobs_wait_for_each_other_and_the_queue_is_bounded() {
    let jobs = jobs_with(SlotLimits { running: 1, memory: 4 << 30, waiting: 1 });
    let short = JobLimits { time: Duration::from_millis(500), ..LIMITS };
    let results = tokio::join!(
        jobs.run("hang", b"", &short),
        jobs.run("echo", b"waited", &LIMITS),
        jobs.run("echo", b"refused", &LIMITS),
    );
    assert_eq!(results.0, Err(JobError::Time(short.time)));
    assert_eq!(results.1, Ok(b"waited".to_vec()));
    assert_eq!(results.2, Err(JobError::Busy(SlotError { waiting: 1 })));
}

#[tokio::test]
async fn h6_a_job_with_files_reaches_its_directory_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().display().to_string();
    let output = jobs().run("files", input.as_bytes(), &LIMITS).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output), "mine Permission denied (os error 13)");
    let error = jobs().run("connect", input.as_bytes(), &LIMITS).await.unwrap_err();
    assert!(matches!(error, JobError::Died(_)), "{error}");
}
