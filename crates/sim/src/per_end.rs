//! Values of the ends of flows.

use rtolab_record::Place;

/// A value for each end of each flow, made when it is first needed.
#[derive(Clone, Debug, Default)]
pub struct PerEnd<T>(Vec<[T; 2]>);

impl<T: Default> PerEnd<T> {
    /// The value of an end, by the number of its flow.
    pub fn get_mut(&mut self, (flow, place): (u32, Place)) -> &mut T {
        let flow = flow as usize;
        if self.0.len() <= flow {
            self.0.resize_with(flow + 1, Default::default);
        }
        &mut self.0[flow][place.index()]
    }

    /// The value of an end; `None` if no end of this flow or of a later one has had one.
    pub fn get(&self, (flow, place): (u32, Place)) -> Option<&T> {
        self.0.get(flow as usize).map(|ends| &ends[place.index()])
    }

    /// The values of all ends.
    #[cfg(test)]
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }
}
