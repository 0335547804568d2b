//! Places the nodes of a directed graph in layers, so that edges point down and cross rarely.

/// The widest layer, in pixels; GitHub shows pages about this wide.
const MAX_WIDTH: f64 = 1060.0;
/// The least space between two neighbors in a layer.
const GAP: f64 = 22.0;
/// The width that a long edge takes in the layers that it passes through.
const EDGE_WIDTH: f64 = 6.0;
/// How many orders to start from, and how often to sweep over the layers from each.
const STARTS: u64 = 12;
const SWEEPS: usize = 16;
const POSITION_ROUNDS: usize = 60;

/// Where everything goes. Layer 0 is at the bottom.
pub(super) struct Layout {
    pub(super) layers: usize,
    /// The layer and the horizontal center of each node.
    pub(super) nodes: Vec<(usize, f64)>,
    /// For each edge the points that it passes: layer and horizontal position.
    pub(super) edges: Vec<Vec<(usize, f64)>>,
    pub(super) width: f64,
}

/// Lays out nodes of these widths, with edges from users to what they use.
pub(super) fn layout(widths: &[f64], edges: &[(usize, usize)]) -> Layout {
    let downward = break_cycles(widths.len(), edges);
    let layers = assign_layers(widths, &downward);
    let mut levels = Levels::new(widths, &downward, layers);
    levels.order();
    let x = levels.positions();
    let point = |vertex: usize| (levels.layer[vertex], x[vertex]);
    let routes = downward.iter().zip(edges).zip(&levels.routes).map(|((down, edge), route)| {
        let points = route.iter().map(|vertex| point(*vertex));
        if down == edge { points.collect() } else { points.rev().collect() }
    });
    let right = (0..x.len()).map(|at| x[at] + levels.width[at] / 2.0).fold(0.0, f64::max);
    Layout {
        layers: levels.rows.len(),
        nodes: (0..widths.len()).map(point).collect(),
        edges: routes.collect(),
        width: right,
    }
}

/// Reverses the edges that close a cycle.
fn break_cycles(count: usize, edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    fn visit(node: usize, edges: &[(usize, usize)], state: &mut [u8], back: &mut [bool]) {
        state[node] = 1;
        for (at, (_, to)) in edges.iter().enumerate().filter(|(_, (from, _))| *from == node) {
            match state[*to] {
                0 => visit(*to, edges, state, back),
                1 => back[at] = true,
                _ => {}
            }
        }
        state[node] = 2;
    }
    let mut state = vec![0; count];
    let mut back = vec![false; edges.len()];
    for node in 0..count {
        if state[node] == 0 {
            visit(node, edges, &mut state, &mut back);
        }
    }
    edges.iter().zip(back).map(|((from, to), back)| if back { (*to, *from) } else { (*from, *to) }).collect()
}

/// Puts every node above all that it uses, as low as possible, or just below its users if there are more of those.
fn assign_layers(widths: &[f64], edges: &[(usize, usize)]) -> Vec<usize> {
    let count = widths.len();
    let mut height = vec![0; count];
    for _ in 0..count {
        for (from, to) in edges {
            height[*from] = height[*from].max(height[*to] + 1);
        }
    }
    let is_connected = |node: &usize| edges.iter().any(|(from, to)| from == node || to == node);
    let (mut bottom_up, isolated): (Vec<usize>, Vec<usize>) = (0..count).partition(is_connected);
    bottom_up.sort_by_key(|node| height[*node]);
    let mut layer = vec![0; count];
    let mut used: Vec<f64> = Vec::new();
    let has_room =
        |used: &[f64], at: usize, width: f64| used.get(at).is_none_or(|used| used + width <= MAX_WIDTH);
    for node in bottom_up.iter().copied() {
        let below = edges.iter().filter(|(from, _)| *from == node).map(|(_, to)| layer[*to] + 1);
        let mut at = below.max().unwrap_or(0);
        while !has_room(&used, at, widths[node]) {
            at += 1;
        }
        layer[node] = at;
        used.resize(used.len().max(at + 1), 0.0);
        used[at] += widths[node] + GAP;
    }
    for node in bottom_up.into_iter().rev() {
        let users: Vec<usize> =
            edges.iter().filter(|(_, to)| *to == node).map(|(from, _)| layer[*from]).collect();
        let uses = edges.iter().filter(|(from, _)| *from == node).count();
        let highest = users.iter().min().map_or(layer[node], |lowest| lowest - 1);
        if users.len() > uses {
            let better = (layer[node] + 1..=highest).rev().find(|at| has_room(&used, *at, widths[node]));
            if let Some(at) = better {
                used[layer[node]] -= widths[node] + GAP;
                used[at] += widths[node] + GAP;
                layer[node] = at;
            }
        }
    }
    for node in isolated {
        let at = (0..used.len()).find(|at| has_room(&used, *at, widths[node])).unwrap_or(used.len());
        layer[node] = at;
        used.resize(used.len().max(at + 1), 0.0);
        used[at] += widths[node] + GAP;
    }
    // Moving nodes up may have emptied a layer.
    let mut taken: Vec<usize> = layer.clone();
    taken.sort_unstable();
    taken.dedup();
    layer.iter().map(|at| taken.partition_point(|other| other < at)).collect()
}

/// The nodes and, after them, a vertex for each layer that a long edge passes through.
struct Levels {
    width: Vec<f64>,
    layer: Vec<usize>,
    nodes: usize,
    /// The vertices of each layer, from left to right.
    rows: Vec<Vec<usize>>,
    /// The neighbors of each vertex in the layers above and below.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// The vertices of each edge, from top to bottom.
    routes: Vec<Vec<usize>>,
}

impl Levels {
    fn new(widths: &[f64], edges: &[(usize, usize)], layers: Vec<usize>) -> Self {
        let mut levels = Self {
            width: widths.to_vec(),
            nodes: widths.len(),
            rows: vec![Vec::new(); layers.iter().max().map_or(0, |top| top + 1)],
            layer: layers,
            above: vec![Vec::new(); widths.len()],
            below: vec![Vec::new(); widths.len()],
            routes: Vec::new(),
        };
        for (from, to) in edges {
            let mut route = vec![*from];
            for layer in (levels.layer[*to] + 1..levels.layer[*from]).rev() {
                route.push(levels.width.len());
                levels.width.push(EDGE_WIDTH);
                levels.layer.push(layer);
                levels.above.push(Vec::new());
                levels.below.push(Vec::new());
            }
            route.push(*to);
            for pair in route.windows(2) {
                levels.below[pair[0]].push(pair[1]);
                levels.above[pair[1]].push(pair[0]);
            }
            levels.routes.push(route);
        }
        levels
    }

    /// Orders the vertices of each layer so that few edges cross.
    fn order(&mut self) {
        let mut best: Option<(usize, Vec<Vec<usize>>)> = None;
        for start in 0..STARTS {
            self.shuffle(start);
            for sweep in 0..SWEEPS {
                self.sweep(sweep % 2 == 0);
                self.swap_neighbors();
                let crossings = self.crossings();
                if best.as_ref().is_none_or(|(least, _)| crossings < *least) {
                    best = Some((crossings, self.rows.clone()));
                }
            }
        }
        self.rows = best.map(|(_, rows)| rows).unwrap_or_default();
    }

    /// Puts the vertices in an order that depends only on the number.
    fn shuffle(&mut self, number: u64) {
        for row in &mut self.rows {
            row.clear();
        }
        let mut vertices: Vec<usize> = (0..self.width.len()).collect();
        if number > 0 {
            let mixed = |vertex: &usize| {
                (*vertex as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ number << 32).rotate_left(29)
                    ^ number
            };
            vertices.sort_by_key(mixed);
        }
        for vertex in vertices {
            self.rows[self.layer[vertex]].push(vertex);
        }
    }

    /// Orders each layer by the mean place of the neighbors in the layer before it.
    fn sweep(&mut self, down: bool) {
        let mut place = self.places();
        let count = self.rows.len();
        for step in 1..count {
            let row = if down { count - 1 - step } else { step };
            let neighbors = if down { &self.above } else { &self.below };
            let key = |vertex: usize| {
                let near = &neighbors[vertex];
                // A vertex without neighbors stays where it is.
                if near.is_empty() {
                    place[vertex]
                } else {
                    near.iter().map(|it| place[*it]).sum::<f64>() / count_of(near)
                }
            };
            let mut keyed: Vec<(f64, usize)> = self.rows[row].iter().map(|it| (key(*it), *it)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.rows[row] = keyed.into_iter().map(|(_, vertex)| vertex).collect();
            for (at, vertex) in self.rows[row].iter().enumerate() {
                place[*vertex] = fraction(at, self.rows[row].len());
            }
        }
    }

    fn places(&self) -> Vec<f64> {
        let mut place = vec![0.0; self.width.len()];
        for row in &self.rows {
            for (at, vertex) in row.iter().enumerate() {
                place[*vertex] = fraction(at, row.len());
            }
        }
        place
    }

    /// Swaps neighbors as long as that removes crossings.
    fn swap_neighbors(&mut self) {
        let mut index: Vec<usize> = vec![0; self.width.len()];
        for row in &self.rows {
            row.iter().enumerate().for_each(|(at, vertex)| index[*vertex] = at);
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for row in &mut self.rows {
                for at in 1..row.len() {
                    let (left, right) = (row[at - 1], row[at]);
                    let crossings = |left: usize, right: usize| {
                        let count = |near: &[Vec<usize>]| -> usize {
                            let pairs = near[left]
                                .iter()
                                .map(|a| near[right].iter().filter(|b| index[**b] < index[*a]).count());
                            pairs.sum()
                        };
                        count(&self.above) + count(&self.below)
                    };
                    if crossings(right, left) < crossings(left, right) {
                        row.swap(at - 1, at);
                        index[left] = at;
                        index[right] = at - 1;
                        has_changed = true;
                    }
                }
            }
        }
    }

    fn crossings(&self) -> usize {
        let place = self.places();
        let mut count = 0;
        for row in &self.rows {
            let edges: Vec<(f64, f64)> = row
                .iter()
                .flat_map(|vertex| self.below[*vertex].iter().map(|to| (place[*vertex], place[*to])))
                .collect();
            for (at, a) in edges.iter().enumerate() {
                count += edges[at + 1..].iter().filter(|b| (a.0 - b.0) * (a.1 - b.1) < 0.0).count();
            }
        }
        count
    }

    /// Returns the horizontal center of each vertex: near its neighbors, and never over another vertex.
    fn positions(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.width.len()];
        for row in &self.rows {
            let total: f64 = row.iter().map(|it| self.width[*it] + GAP).sum();
            let mut left = -total / 2.0;
            for vertex in row {
                x[*vertex] = left + self.width[*vertex] / 2.0;
                left += self.width[*vertex] + GAP;
            }
        }
        for round in 0..POSITION_ROUNDS {
            let count = self.rows.len();
            for step in 0..count {
                let row = &self.rows[if round % 2 == 0 { step } else { count - 1 - step }];
                let wanted: Vec<(f64, f64)> = row.iter().map(|it| self.wanted(*it, &x)).collect();
                let widths: Vec<f64> = row.iter().map(|it| self.width[*it]).collect();
                for (vertex, center) in row.iter().zip(spread(&wanted, &widths)) {
                    x[*vertex] = center;
                }
            }
        }
        let left = (0..x.len()).map(|at| x[at] - self.width[at] / 2.0).fold(f64::INFINITY, f64::min);
        x.iter().map(|center| center - left).collect()
    }

    /// Returns where a vertex wants to be, and how much: long edges should be straight.
    fn wanted(&self, vertex: usize, x: &[f64]) -> (f64, f64) {
        let (mut sum, mut weight) = (0.0, 0.0);
        for near in self.above[vertex].iter().chain(&self.below[vertex]) {
            let inner = usize::from(vertex >= self.nodes) + usize::from(*near >= self.nodes);
            let strength = [1.0, 2.0, 6.0][inner];
            sum += strength * x[*near];
            weight += strength;
        }
        if weight > 0.0 { (sum / weight, weight) } else { (x[vertex], 0.1) }
    }
}

/// Returns the centers nearest to the wanted ones that keep the order and the gaps (isotonic regression).
fn spread(wanted: &[(f64, f64)], widths: &[f64]) -> Vec<f64> {
    let mut offset = 0.0;
    let mut offsets = Vec::new();
    for (at, width) in widths.iter().enumerate() {
        if at > 0 {
            offset += f64::midpoint(widths[at - 1], *width) + GAP;
        }
        offsets.push(offset);
    }
    // Blocks of neighbors that touch: mean, weight, length.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for ((center, weight), offset) in wanted.iter().zip(&offsets) {
        let mut block = (center - offset, *weight, 1);
        while let Some(last) = blocks.last().filter(|last| last.0 > block.0) {
            let weight = last.1 + block.1;
            block = ((last.0 * last.1 + block.0 * block.1) / weight, weight, last.2 + block.2);
            blocks.pop();
        }
        blocks.push(block);
    }
    let starts = blocks.iter().flat_map(|(mean, _, length)| std::iter::repeat_n(*mean, *length));
    starts.zip(offsets).map(|(start, offset)| start + offset).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a few neighbors")]
fn count_of(list: &[usize]) -> f64 {
    list.len() as f64
}

/// Returns the place of an index in a list, between 0 and 1.
#[expect(clippy::cast_precision_loss, reason = "a few vertices")]
fn fraction(at: usize, length: usize) -> f64 {
    (at as f64 + 0.5) / length as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_above_what_they_use() {
        let edges = [(0, 1), (1, 2), (0, 2), (3, 2), (2, 4), (4, 0)];
        let layout = layout(&[80.0; 6], &edges);
        let layer = |node: usize| layout.nodes[node].0;
        // 4 → 0 closes a cycle, so it goes up.
        for (from, to) in &edges[..5] {
            assert!(layer(*from) > layer(*to), "{from} {to}");
        }
        assert_eq!(layout.edges[2].len(), 3, "0 → 2 passes the layer of 1");
        assert!(layer(4) < layer(0));
        assert_eq!(layout.edges[5].first().unwrap().0, layer(4));
    }

    #[test]
    fn nodes_in_a_layer_do_not_overlap() {
        let edges: Vec<(usize, usize)> = (1..9).map(|node| (0, node)).collect();
        let layout = layout(&[100.0; 9], &edges);
        let mut nodes = layout.nodes.clone();
        nodes.sort_by(|a, b| a.partial_cmp(b).unwrap());
        for pair in nodes.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            assert!(pair[1].1 - pair[0].1 >= 100.0 + GAP - 1e-6);
        }
        assert!(layout.width <= MAX_WIDTH + 1e-6);
    }

    #[test]
    fn a_tree_has_no_crossings() {
        let edges = [(0, 4), (0, 3), (1, 6), (1, 5), (2, 1), (2, 0)];
        let mut levels = Levels::new(&[50.0; 7], &edges, assign_layers(&[50.0; 7], &edges));
        levels.order();
        assert_eq!(levels.crossings(), 0);
    }
}
