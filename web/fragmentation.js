// Fragmentation: how much of what is free is free in pieces that are too small (docs/ui.md).

/** @typedef {import('./state.js').ClusterState} ClusterState */

/**
 * For each resource, the share of what is free on all nodes that is on nodes where the commonest pod
 * does not fit beside the pods that are there. The commonest pod is the one that most pending pods are
 * like in what they request; if none is pending, the one that most pods on nodes are like. NaN where
 * nothing is free, or without pods. Cordoned nodes do not count.
 * @param {ClusterState} state
 * @returns {number[]}
 */
export function fragmentation(state) {
  const { allocatable, model, nodes, used, width } = state;
  const commonest = mostOf(state.pendingShapes) ?? mostOf(state.placedShapes);
  const free = new Float64Array(width);
  const stranded = new Float64Array(width);
  if (commonest === undefined) return Array.from(free, () => NaN);
  const wanted = model.shapes[commonest];
  for (let node = 0; node < nodes.length; ++node) {
    const now = nodes[node];
    if (!now || now.cordoned) continue;
    const first = node * width;
    let fits = true;
    for (let resource = 0; resource < width && fits; ++resource) {
      fits = wanted[resource] === 0 || wanted[resource] <= allocatable[first + resource] - used[first + resource];
    }
    for (let resource = 0; resource < width; ++resource) {
      const left = Math.max(0, allocatable[first + resource] - used[first + resource]);
      free[resource] += left;
      if (!fits) stranded[resource] += left;
    }
  }
  return Array.from(free, (all, resource) => (all > 0 ? stranded[resource] / all : NaN));
}

/**
 * Where the largest number is; nothing if all are 0.
 * @param {Int32Array} counts
 */
function mostOf(counts) {
  let most = -1;
  for (let index = 0; index < counts.length; ++index) {
    if (counts[index] > (most < 0 ? 0 : counts[most])) most = index;
  }
  return most < 0 ? undefined : most;
}
