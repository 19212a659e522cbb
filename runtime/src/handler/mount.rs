//! Subscribers as they are mounted: `b.mount(send)`, `b.mount(send.workers(32))`.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use super::{
    BuriesInGroup, BuriesInTable, CountsAttempts, DeadLetter, Declaration, Declared, DecodeFailure,
    Grouped, InTable, Leased, Mark, Marked, QueueTable, SameId, TableOf, TakesBatches,
    TakesDeadLetters,
};

/// The cap or the dead letter is set.
#[derive(Debug)]
#[doc(hidden)]
pub enum Set {}

/// The cap or the dead letter is not set.
#[derive(Debug)]
#[doc(hidden)]
pub enum Unset {}

/// Both or none of a pair.
#[diagnostic::on_unimplemented(
    message = "a cap and a dead letter are set together",
    label = "only one of them is set here",
    note = "write `.max_attempts(5).dead_letter_group(\"failed\")`, in a table without groups `.max_attempts(5).dead_letter_table::<DeadEmail>()`, or leave both away"
)]
#[doc(hidden)]
pub trait BothOrNone {}

#[diagnostic::do_not_recommend]
impl BothOrNone for (Set, Set) {}
#[diagnostic::do_not_recommend]
impl BothOrNone for (Unset, Unset) {}
#[diagnostic::do_not_recommend]
impl<D> BothOrNone for (Set, InTable<D>) {}
#[diagnostic::do_not_recommend]
impl<D> BothOrNone for (InTable<D>, Set) {}
#[diagnostic::do_not_recommend]
impl<D, E> BothOrNone for (InTable<D>, InTable<E>) {}

/// The settings of a mount, those of the attribute among them.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) name: &'static str,
    pub(crate) group: Option<String>,
    pub(crate) workers: usize,
    pub(crate) batch: Option<usize>,
    pub(crate) poll_interval: Option<Duration>,
    pub(crate) lease: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_attempts: Option<u32>,
    pub(crate) dead_letter: Option<DeadLetter>,
    pub(crate) on_decode_failure: DecodeFailure,
    pub(crate) can_fail: bool,
}

impl Settings {
    pub(crate) fn of(declaration: Declaration) -> Self {
        Self {
            name: declaration.name,
            group: declaration.group.map(str::to_owned),
            workers: declaration.workers,
            batch: declaration.batch,
            poll_interval: declaration.poll_interval,
            lease: declaration.lease,
            timeout: declaration.timeout,
            max_attempts: declaration.max_attempts,
            dead_letter: declaration.dead_letter.map(DeadLetter::from),
            on_decode_failure: declaration.on_decode_failure,
            can_fail: declaration.can_fail,
        }
    }
}

/// A subscriber with settings; what each of them returns.
///
/// `Cap` and `Dead` tell whether a cap and a dead letter are set, which go together.
#[must_use = "a subscriber does nothing until it is mounted"]
pub struct Mounted<S, Cap, Dead> {
    pub(crate) settings: Settings,
    marker: Marker<(S, Cap, Dead)>,
}

/// A type parameter that is only a name: its values are never made, sent or dropped.
type Marker<T> = PhantomData<fn() -> T>;

impl<S, Cap, Dead> fmt::Debug for Mounted<S, Cap, Dead> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mounted").field("settings", &self.settings).finish()
    }
}

/// Whether the attribute has a cap and a dead letter.
type CapOf<S> = <<S as Mark>::Handler as Declared>::Cap;

impl<S: Mark> Mounted<S, CapOf<S>, CapOf<S>> {
    fn declared() -> Self {
        let settings = Settings::of(S::Handler::DECLARATION);
        Self { settings, marker: PhantomData }
    }
}

impl<S: Mark, Cap, Dead> Mounted<S, Cap, Dead> {
    fn with(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        set(&mut self.settings);
        self
    }

    fn marked<C, D>(self) -> Mounted<S, C, D> {
        Mounted { settings: self.settings, marker: PhantomData }
    }

    /// How many calls of the handler are in work at once; 8 unless the attribute says otherwise.
    pub fn workers(self, workers: usize) -> Self {
        self.with(|settings| settings.workers = workers)
    }

    /// How many rows a call of the handler is given at most; only for a handler that takes a slice.
    pub fn batch(self, rows: usize) -> Self
    where
        S: TakesBatches,
    {
        self.with(|settings| settings.batch = Some(rows))
    }

    /// Which group of the table is worked on.
    pub fn group(self, group: impl Into<String>) -> Self
    where
        TableOf<S>: Grouped,
    {
        self.with(|settings| settings.group = Some(group.into()))
    }

    /// How long to wait after a claim that found less than it could have; a second by default.
    pub fn poll_interval(self, interval: Duration) -> Self {
        self.with(|settings| settings.poll_interval = Some(interval))
    }

    /// For how long a row is leased, and leased again while it is in work; 30 seconds by default.
    pub fn lease(self, lease: Duration) -> Self
    where
        TableOf<S>: Leased,
    {
        self.with(|settings| settings.lease = Some(lease))
    }

    /// How long a call of the handler may take; without it, for ever. It ends as a retry, of all
    /// rows of a batch.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|settings| settings.timeout = Some(timeout))
    }

    /// What happens to a row whose message cannot be decoded.
    pub fn on_decode_failure(self, then: DecodeFailure) -> Self {
        self.with(|settings| settings.on_decode_failure = then)
    }

    /// How often a row is delivered at most; together with
    /// [`dead_letter_group`](Self::dead_letter_group) or, in a table without groups,
    /// [`dead_letter_table`](Self::dead_letter_table).
    pub fn max_attempts(self, attempts: u32) -> Mounted<S, Set, Dead>
    where
        TableOf<S>: CountsAttempts,
    {
        self.with(|settings| settings.max_attempts = Some(attempts)).marked()
    }

    /// The group to which a row goes when its attempts are spent.
    pub fn dead_letter_group(self, group: impl Into<String>) -> Mounted<S, Cap, Set>
    where
        TableOf<S>: BuriesInGroup,
    {
        let group = DeadLetter::Group(group.into());
        self.with(|settings| settings.dead_letter = Some(group)).marked()
    }

    /// The table to which a row goes when its attempts are spent. It has the columns of the row's
    /// own table, with the same names and types, and may have more.
    pub fn dead_letter_table<D>(self) -> Mounted<S, Cap, InTable<D>>
    where
        D: TakesDeadLetters<Id: SameId<<TableOf<S> as QueueTable>::Id>>,
        TableOf<S>: BuriesInTable,
    {
        self.with(|settings| settings.dead_letter = Some(DeadLetter::Table(D::TABLE))).marked()
    }
}

/// Marks a [`Mounted`] among the things that can be mounted.
#[derive(Debug)]
#[doc(hidden)]
pub enum Done {}

/// A subscriber that can be mounted: the function under `#[subscriber]`, or what one of its
/// settings returned.
///
/// `Args` are the function's arguments; nobody names them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a subscriber",
    label = "not a subscriber",
    note = "put `#[subscriber(Table)]` on the function, and mount it by its name: `b.mount(send)`"
)]
pub trait Mount<Args>: Sized {
    /// The subscriber's marker type.
    #[doc(hidden)]
    type Subscriber: Mark;
    /// Whether a cap is set.
    #[doc(hidden)]
    type Cap;
    /// Whether a dead letter is set.
    #[doc(hidden)]
    type Dead;

    /// The settings so far.
    #[doc(hidden)]
    fn mounted(self) -> Mounted<Self::Subscriber, Self::Cap, Self::Dead>;

    /// See [`Mounted::workers`].
    fn workers(self, workers: usize) -> Mounted<Self::Subscriber, Self::Cap, Self::Dead> {
        self.mounted().workers(workers)
    }

    /// See [`Mounted::batch`].
    fn batch(self, rows: usize) -> Mounted<Self::Subscriber, Self::Cap, Self::Dead>
    where
        Self::Subscriber: TakesBatches,
    {
        self.mounted().batch(rows)
    }

    /// See [`Mounted::group`].
    fn group(self, group: impl Into<String>) -> Mounted<Self::Subscriber, Self::Cap, Self::Dead>
    where
        TableOf<Self::Subscriber>: Grouped,
    {
        self.mounted().group(group)
    }

    /// See [`Mounted::poll_interval`].
    fn poll_interval(self, interval: Duration) -> Mounted<Self::Subscriber, Self::Cap, Self::Dead> {
        self.mounted().poll_interval(interval)
    }

    /// See [`Mounted::lease`].
    fn lease(self, lease: Duration) -> Mounted<Self::Subscriber, Self::Cap, Self::Dead>
    where
        TableOf<Self::Subscriber>: Leased,
    {
        self.mounted().lease(lease)
    }

    /// See [`Mounted::timeout`].
    fn timeout(self, timeout: Duration) -> Mounted<Self::Subscriber, Self::Cap, Self::Dead> {
        self.mounted().timeout(timeout)
    }

    /// See [`Mounted::on_decode_failure`].
    fn on_decode_failure(
        self,
        then: DecodeFailure,
    ) -> Mounted<Self::Subscriber, Self::Cap, Self::Dead> {
        self.mounted().on_decode_failure(then)
    }

    /// See [`Mounted::max_attempts`].
    fn max_attempts(self, attempts: u32) -> Mounted<Self::Subscriber, Set, Self::Dead>
    where
        TableOf<Self::Subscriber>: CountsAttempts,
    {
        self.mounted().max_attempts(attempts)
    }

    /// See [`Mounted::dead_letter_group`].
    fn dead_letter_group(
        self,
        group: impl Into<String>,
    ) -> Mounted<Self::Subscriber, Self::Cap, Set>
    where
        TableOf<Self::Subscriber>: BuriesInGroup,
    {
        self.mounted().dead_letter_group(group)
    }

    /// See [`Mounted::dead_letter_table`].
    fn dead_letter_table<D>(self) -> Mounted<Self::Subscriber, Self::Cap, InTable<D>>
    where
        D: TakesDeadLetters<Id: SameId<<TableOf<Self::Subscriber> as QueueTable>::Id>>,
        TableOf<Self::Subscriber>: BuriesInTable,
    {
        self.mounted().dead_letter_table()
    }
}

#[diagnostic::do_not_recommend]
impl<S: Mark, Cap, Dead> Mount<Done> for Mounted<S, Cap, Dead> {
    type Subscriber = S;
    type Cap = Cap;
    type Dead = Dead;

    fn mounted(self) -> Self {
        self
    }
}

macro_rules! functions {
    ($(($($argument:ident),*))*) => { $(
        #[diagnostic::do_not_recommend]
        impl<F, S, R, $($argument),*> Mount<($($argument,)*)> for F
        where
            F: FnOnce($($argument),*) -> R,
            R: Marked<Mark = S>,
            S: Mark,
        {
            type Subscriber = S;
            type Cap = CapOf<S>;
            type Dead = CapOf<S>;

            // The function itself is not needed: its type leads to the declaration.
            fn mounted(self) -> Mounted<S, CapOf<S>, CapOf<S>> {
                Mounted::declared()
            }
        }
    )* };
}

functions! {
    () (A0) (A0, A1) (A0, A1, A2) (A0, A1, A2, A3) (A0, A1, A2, A3, A4) (A0, A1, A2, A3, A4, A5)
    (A0, A1, A2, A3, A4, A5, A6) (A0, A1, A2, A3, A4, A5, A6, A7)
    (A0, A1, A2, A3, A4, A5, A6, A7, A8)
}
