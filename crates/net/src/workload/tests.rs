//! Tests of the applications without connections.

use rtolab_link::{Distribution, Stream};
use rtolab_record::Place;
use rtolab_scenario::Workload;
use rtolab_time::{Duration, Instant, Rate};

use super::{Action, Application, Progress};

const SEGMENT: u32 = 1000;

fn at(millis: u64) -> Instant {
    Instant::START + Duration::from_millis(millis)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn application(workload: &Workload, begin: Instant) -> Application {
    Application::new(workload, begin, SEGMENT, &Stream::new(1)).unwrap()
}

fn write(at: Place, bytes: u64) -> Action {
    Action::Write { at, bytes }
}

/// The actions of the application up to `end`, without progress of the flow, with their times.
fn actions_until(application: &mut Application, end: Instant) -> Vec<(Instant, Action)> {
    let mut actions = Vec::new();
    while let Some(timer) = application.next_timer().filter(|timer| *timer <= end) {
        while let Some(action) = application.poll(timer) {
            actions.push((timer, action));
        }
    }
    actions
}

#[test]
fn a_page_waits_until_the_one_before_it_is_acknowledged_and_the_last_one_closes() {
    let pages = Workload::Pages { bytes: 5000, every: seconds(2), count: Some(3) };
    let mut web = application(&pages, at(500));
    assert_eq!((web.next_timer(), web.poll(at(499))), (Some(at(500)), None));
    assert_eq!(web.poll(at(500)), Some(write(Place::Sender, 5000)));
    assert_eq!((web.poll(at(500)), web.next_timer()), (None, None));
    // The page arrives and is acknowledged before the next one is due.
    web.on_progress(&Progress { at_receiver: 5000, ..Progress::default() }, at(900));
    let progress = Progress { at_receiver: 5000, acknowledged: 5000, ..Progress::default() };
    web.on_progress(&progress, at(1000));
    assert_eq!((web.poll(at(1000)), web.next_timer()), (None, Some(at(2500))));
    assert_eq!(web.poll(at(2500)), Some(write(Place::Sender, 5000)));
    // The third page is due while the second is in flight.
    let progress = Progress { at_receiver: 10_000, acknowledged: 9000, ..progress };
    web.on_progress(&progress, at(4700));
    assert_eq!((web.poll(at(4700)), web.next_timer()), (None, None));
    web.on_progress(&Progress { acknowledged: 10_000, ..progress }, at(4800));
    assert_eq!(web.poll(at(4800)), Some(write(Place::Sender, 5000)));
    assert_eq!(web.poll(at(4800)), Some(Action::Close));
    assert_eq!((web.poll(at(9000)), web.next_timer()), (None, None));
    let tasks: Vec<_> = web.tasks().iter().map(|task| (task.due, task.start, task.end)).collect();
    let second = (at(2500), at(2500), Some(at(4700)));
    assert_eq!(tasks, [(at(500), at(500), Some(at(900))), second, (at(4500), at(4800), None)]);
}

#[test]
fn a_request_follows_the_previous_response_after_the_think_time() {
    let think = Distribution::Constant(seconds(1));
    let dialogue = Workload::Requests { request: 200, response: 3000, think, count: Some(2) };
    let mut dialogue = application(&dialogue, at(0));
    assert_eq!((dialogue.poll(at(0)), dialogue.next_timer()), (None, None));
    let mut progress = Progress { open: true, ..Progress::default() };
    dialogue.on_progress(&progress, at(100));
    assert_eq!(dialogue.poll(at(100)), Some(write(Place::Receiver, 200)));
    progress.at_sender = 199;
    dialogue.on_progress(&progress, at(150));
    assert_eq!(dialogue.poll(at(150)), None);
    progress.at_sender = 200;
    dialogue.on_progress(&progress, at(200));
    assert_eq!(dialogue.poll(at(200)), Some(write(Place::Sender, 3000)));
    assert_eq!(dialogue.poll(at(200)), None);
    progress.at_receiver = 3000;
    dialogue.on_progress(&progress, at(300));
    assert_eq!((dialogue.poll(at(300)), dialogue.next_timer()), (None, Some(at(1300))));
    assert_eq!(dialogue.poll(at(1300)), Some(write(Place::Receiver, 200)));
    progress.at_sender = 400;
    dialogue.on_progress(&progress, at(1400));
    assert_eq!(dialogue.poll(at(1400)), Some(write(Place::Sender, 3000)));
    assert_eq!(dialogue.poll(at(1400)), Some(Action::Close));
    progress.at_receiver = 6000;
    dialogue.on_progress(&progress, at(1500));
    assert_eq!((dialogue.poll(at(9000)), dialogue.next_timer()), (None, None));
    let tasks = dialogue.tasks().iter().map(|task| (task.start, task.end, task.bytes));
    let (first, second) = ((at(100), Some(at(300)), 3200), (at(1300), Some(at(1500)), 3200));
    assert!(tasks.eq([first, second]));
}

#[test]
fn the_next_on_period_completes_a_partial_segment() {
    // A segment takes 100 ms. On periods last 250 ms and off periods 500 ms.
    let (on, off) = (Duration::from_millis(250), Duration::from_millis(500));
    let (on, off) = (Distribution::Constant(on), Distribution::Constant(off));
    let rate = Rate::from_bits_per_second(80_000).unwrap();
    let mut source = application(&Workload::OnOff { on, off, rate }, at(0));
    let times: Vec<_> =
        actions_until(&mut source, at(1600)).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [100, 200, 800, 900, 1000, 1600].map(at));
}

#[test]
fn an_application_that_is_never_on_does_nothing() {
    let (on, off) = (Distribution::Constant(Duration::ZERO), Distribution::Constant(seconds(1)));
    let rate = Rate::from_bits_per_second(80_000).unwrap();
    let mut source = application(&Workload::OnOff { on, off, rate }, at(0));
    assert_eq!(actions_until(&mut source, at(60_000)), []);
}

#[test]
fn the_mean_rate_follows_from_the_on_and_off_periods() {
    let on = Distribution::Exponential(Duration::from_millis(1500));
    let off = Distribution::Exponential(Duration::from_millis(500));
    let rate = Rate::from_bits_per_second(800_000).unwrap();
    let mut source = application(&Workload::OnOff { on, off, rate }, at(0));
    let written = actions_until(&mut source, at(10_000_000)).len() as f64;
    // 100 segments per second in three quarters of 10,000 s. With mean on and off times a and b,
    // the variance of the on time within T is 2 a^2 b^2 T / (a + b)^3: here a standard deviation of
    // 0.5 % of the mean.
    assert!((written / 750_000.0 - 1.0).abs() < 0.02, "{written}");
}

#[test]
fn datagrams_leave_at_their_rate_without_drifting() {
    // The datagrams are 7/3 ms apart.
    let rate = Rate::from_bits_per_second(1_200_000).unwrap();
    let mut source = application(&Workload::Datagrams { rate, packet: 350 }, at(1000));
    let sent = actions_until(&mut source, at(8000));
    assert_eq!(sent.len(), 3001);
    assert!(sent.iter().all(|(_, action)| *action == Action::Datagram { bytes: 350 }));
    assert_eq!((sent[0].0, sent[3].0, sent[3000].0), (at(1000), at(1007), at(8000)));
}

#[test]
fn the_same_stream_gives_the_same_periods() {
    let span = Distribution::Exponential(seconds(1));
    let rate = Rate::from_bits_per_second(8000).unwrap();
    let on_off = Workload::OnOff { on: span.clone(), off: span, rate };
    let times = |seed| {
        let mut source = Application::new(&on_off, at(0), 100, &Stream::new(seed)).unwrap();
        actions_until(&mut source, at(100_000)).into_iter().map(|(at, _)| at).collect::<Vec<_>>()
    };
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
}
