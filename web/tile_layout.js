// Where the tile of each node stands: groups under each other, each a block of rows.

/**
 * @typedef {object} Group
 * @property {string} name
 * @property {number[]} nodes  in order
 * @property {number} top  of the heading
 * @property {number} tilesTop
 *
 * @typedef {object} Layout
 * @property {Group[]} groups
 * @property {number} pitch  from tile to tile
 * @property {number} size  of a tile
 * @property {number} across  tiles in a row
 * @property {number} height
 * @property {Int32Array} left  by node
 * @property {Int32Array} top  by node
 * @property {number[]} order  nodes, as they stand
 */

export const HEADING = 22;
const LARGEST = 96;
const SMALLEST = 8;

/**
 * @param {Map<string, number[]>} groups  names to nodes
 * @param {number} nodes  how many there are
 * @param {number} width
 * @param {number} height  that is best not exceeded
 * @returns {Layout}
 */
export function layOut(groups, nodes, width, height) {
  const heading = groups.size > 1 || !groups.has('') ? HEADING : 0;
  const sizes = [...groups.values()].map((group) => group.length);
  let pitch = LARGEST;
  while (pitch > SMALLEST && heightOf(sizes, width, pitch, heading) > height) --pitch;
  const gap = pitch >= 16 ? 3 : pitch >= 11 ? 2 : 1;
  const across = Math.max(1, Math.floor((width + gap) / pitch));
  /** @type {Layout} */
  const layout = {
    groups: [], pitch, size: pitch - gap, across, height: 0,
    left: new Int32Array(nodes), top: new Int32Array(nodes), order: [],
  };
  let top = 0;
  for (const [name, members] of groups) {
    const tilesTop = top + heading;
    layout.groups.push({ name, nodes: members, top, tilesTop });
    members.forEach((node, index) => {
      layout.left[node] = (index % across) * pitch;
      layout.top[node] = tilesTop + Math.floor(index / across) * pitch;
    });
    layout.order.push(...members);
    top = tilesTop + Math.ceil(members.length / across) * pitch + (heading > 0 ? 6 : 0);
  }
  layout.height = Math.max(top, pitch);
  return layout;
}

/**
 * @param {number[]} sizes
 * @param {number} width
 * @param {number} pitch
 * @param {number} heading
 */
function heightOf(sizes, width, pitch, heading) {
  const across = Math.max(1, Math.floor(width / pitch));
  return sizes.reduce((sum, size) => sum + heading + 6 + Math.ceil(size / across) * pitch, 0);
}

/**
 * The node whose tile is there, or -1.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 */
export function nodeAt(layout, x, y) {
  const column = Math.floor(x / layout.pitch);
  if (x < 0 || column >= layout.across) return -1;
  for (const group of layout.groups) {
    const row = Math.floor((y - group.tilesTop) / layout.pitch);
    const node = row < 0 ? undefined : group.nodes[row * layout.across + column];
    if (node !== undefined && y < layout.top[node] + layout.pitch) return node;
  }
  return -1;
}

/**
 * The node beside another one.
 * @param {Layout} layout
 * @param {number} node
 * @param {string} key  of the keyboard
 */
export function neighbour(layout, node, key) {
  const { order } = layout;
  const place = order.indexOf(node);
  if (place < 0) return order[0] ?? -1;
  switch (key) {
    case 'ArrowLeft': return order[Math.max(0, place - 1)];
    case 'ArrowRight': return order[Math.min(order.length - 1, place + 1)];
    case 'Home': return order[0];
    case 'End': return order[order.length - 1];
  }
  // Up and down: the nearest tile in the same column, in the next group if need be.
  const sign = key === 'ArrowDown' ? 1 : -1;
  for (let at = place + sign; at >= 0 && at < order.length; at += sign) {
    if (layout.left[order[at]] === layout.left[node] && layout.top[order[at]] !== layout.top[node]) return order[at];
  }
  return node;
}
