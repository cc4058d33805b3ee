//! Much at once where there are threads, one after the other where there are none.
//!
//! Whoever writes `use lrgeo_geo::parallel::*` gets rayon with the feature `parallel`, and without it the few methods of rayon's that this house uses,
//! on plain iterators: in WebAssembly there are no threads, and a phone's check of a tile needs none. Results are the same either way.

#[cfg(feature = "parallel")]
pub use rayon::prelude::*;

#[cfg(not(feature = "parallel"))]
pub use one_by_one::{IntoOneByOne, OneByOne, SliceOneByOne};

#[cfg(not(feature = "parallel"))]
mod one_by_one {
    use std::slice::{Chunks, ChunksExactMut, ChunksMut, Iter};

    /// What stands in for a parallel iterator.
    pub struct OneByOne<I>(I);

    /// `into_par_iter` for everything that can be iterated over.
    pub trait IntoOneByOne: IntoIterator + Sized {
        /// The items, in order.
        fn into_par_iter(self) -> OneByOne<Self::IntoIter> {
            OneByOne(self.into_iter())
        }
    }

    impl<T: IntoIterator> IntoOneByOne for T {}

    /// The same for slices and parts of them.
    pub trait SliceOneByOne<T> {
        /// The elements.
        fn par_iter(&self) -> OneByOne<Iter<'_, T>>;
        /// Parts of `size` elements; the last may have fewer.
        fn par_chunks(&self, size: usize) -> OneByOne<Chunks<'_, T>>;
        /// The same, to be changed.
        fn par_chunks_mut(&mut self, size: usize) -> OneByOne<ChunksMut<'_, T>>;
        /// Parts of exactly `size` elements, to be changed.
        fn par_chunks_exact_mut(&mut self, size: usize) -> OneByOne<ChunksExactMut<'_, T>>;
    }

    impl<T> SliceOneByOne<T> for [T] {
        fn par_iter(&self) -> OneByOne<Iter<'_, T>> {
            OneByOne(self.iter())
        }

        fn par_chunks(&self, size: usize) -> OneByOne<Chunks<'_, T>> {
            OneByOne(self.chunks(size))
        }

        fn par_chunks_mut(&mut self, size: usize) -> OneByOne<ChunksMut<'_, T>> {
            OneByOne(self.chunks_mut(size))
        }

        fn par_chunks_exact_mut(&mut self, size: usize) -> OneByOne<ChunksExactMut<'_, T>> {
            OneByOne(self.chunks_exact_mut(size))
        }
    }

    impl<I: Iterator> OneByOne<I> {
        /// See [`Iterator::map`].
        pub fn map<T>(self, with: impl Fn(I::Item) -> T) -> OneByOne<impl Iterator<Item = T>> {
            OneByOne(self.0.map(with))
        }

        /// Like `map`, with something to work in that is made once.
        pub fn map_init<S, T>(
            self,
            start: impl Fn() -> S,
            with: impl Fn(&mut S, I::Item) -> T,
        ) -> OneByOne<impl Iterator<Item = T>> {
            let mut state = start();
            OneByOne(self.0.map(move |item| with(&mut state, item)))
        }

        /// See [`Iterator::filter`].
        pub fn filter(
            self,
            keep: impl Fn(&I::Item) -> bool,
        ) -> OneByOne<impl Iterator<Item = I::Item>> {
            OneByOne(self.0.filter(keep))
        }

        /// See [`Iterator::filter_map`].
        pub fn filter_map<T>(
            self,
            with: impl Fn(I::Item) -> Option<T>,
        ) -> OneByOne<impl Iterator<Item = T>> {
            OneByOne(self.0.filter_map(with))
        }

        /// See [`Iterator::enumerate`].
        pub fn enumerate(self) -> OneByOne<impl Iterator<Item = (usize, I::Item)>> {
            OneByOne(self.0.enumerate())
        }

        /// See [`Iterator::zip`].
        pub fn zip<J: Iterator>(
            self,
            other: OneByOne<J>,
        ) -> OneByOne<impl Iterator<Item = (I::Item, J::Item)>> {
            OneByOne(self.0.zip(other.0))
        }

        /// Of no use without threads.
        pub fn with_min_len(self, _: usize) -> Self {
            self
        }

        /// All items as one, beginning with `start`.
        pub fn reduce(
            self,
            start: impl Fn() -> I::Item,
            join: impl Fn(I::Item, I::Item) -> I::Item,
        ) -> I::Item {
            self.0.fold(start(), join)
        }

        /// All items taken up one by one, until one fails: the only part there is.
        pub fn try_fold<S, E>(
            mut self,
            start: impl Fn() -> S,
            take: impl Fn(S, I::Item) -> Result<S, E>,
        ) -> OneByOne<impl Iterator<Item = Result<S, E>>> {
            OneByOne(std::iter::once(self.0.try_fold(start(), take)))
        }

        /// See [`Iterator::for_each`].
        pub fn for_each(self, with: impl Fn(I::Item)) {
            self.0.for_each(with);
        }

        /// See [`Iterator::try_for_each`].
        pub fn try_for_each<E>(mut self, with: impl Fn(I::Item) -> Result<(), E>) -> Result<(), E> {
            self.0.try_for_each(with)
        }

        /// See [`Iterator::count`].
        pub fn count(self) -> usize {
            self.0.count()
        }

        /// See [`Iterator::collect`].
        pub fn collect<C: FromIterator<I::Item>>(self) -> C {
            self.0.collect()
        }
    }
    impl<T, E, I: Iterator<Item = Result<T, E>>> OneByOne<I> {
        /// All parts as one, unless one failed.
        pub fn try_reduce(
            mut self,
            start: impl Fn() -> T,
            join: impl Fn(T, T) -> Result<T, E>,
        ) -> Result<T, E> {
            self.0.try_fold(start(), |all, part| join(all, part?))
        }
    }
}
