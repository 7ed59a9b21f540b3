// The nodes of all sides of a comparison as tiles, side beside side, at one moment. A node that the
// pointer is on is marked on every side, and said of it is what it is like there.

import { make, sizedContext } from './dom.js';
import { count } from './format.js';
import { Model } from './model.js';
import { ClusterState } from './state.js';
import { layOut, nodeAt } from './tile_layout.js';
import { describeNode, drawTile, paletteNow } from './tile_painter.js';

/** @typedef {import('./model.js').History} History */
/** @typedef {import('./tile_layout.js').Layout} Layout */
/** @typedef {import('./tile_painter.js').Palette} Palette */

const HEIGHT = 300;  // that is best not exceeded

export class SideTiles {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.box = box;
    this.resource = '';
    this.pointed = '';  // the node that the pointer is on
    this.palette = paletteNow();
    /** @type {Side[]} */
    this.sides = [];
    let width = 0;
    new ResizeObserver(() => {
      if (Math.abs(box.clientWidth - width) < 2) return;
      width = box.clientWidth;
      this.arrange();
    }).observe(box);
  }

  /**
   * Shows these sides from now on.
   * @param {{name: string, history: History | undefined}[]} sides
   */
  show(sides) {
    this.sides = sides.flatMap(({ name, history }) =>
      (history ? [new Side(name, history, (node) => this.#point(node))] : []));
    this.box.replaceChildren(...this.sides.map((side) => side.figure));
    this.arrange();
  }

  /** @param {string} resource  by which nodes are full */
  setResource(resource) {
    this.resource = resource;
    this.#drawAll();
  }

  /** Lays the tiles out anew: colours or sizes have changed. */
  arrange() {
    this.palette = paletteNow();
    for (const side of this.sides) side.arrange();
    this.#drawAll();
  }

  /** @param {number} moment  seconds */
  goTo(moment) {
    for (const side of this.sides) {
      side.goTo(moment);
      this.#draw(side);
    }
  }

  #drawAll() {
    for (const side of this.sides) {
      side.touchAll();
      this.#draw(side);
    }
  }

  /** @param {Side} side */
  #draw(side) {
    side.draw(this.palette, this.resource, this.pointed);
  }

  /** @param {string} node */
  #point(node) {
    if (node === this.pointed) return;
    const before = this.pointed;
    this.pointed = node;
    for (const side of this.sides) {
      side.touch(before);
      side.touch(node);
      this.#draw(side);
    }
  }
}

class Side {
  /**
   * @param {string} name
   * @param {History} history
   * @param {(node: string) => void} pointed
   */
  constructor(name, history, pointed) {
    this.name = name;
    this.model = new Model(history);
    this.state = new ClusterState(this.model);
    this.state.seek(this.model.changes.length);
    this.canvas = make('canvas', { role: 'img' });
    this.said = make('p', { class: 'side-said' });
    this.figure = make('figure', { class: 'side' }, make('figcaption', {}, name), this.canvas, this.said);
    /** @type {Layout} */
    this.layout = layOut(new Map(), 0, 1, 1);
    this.context = sizedContext(this.canvas, 1, 1);
    this.canvas.addEventListener('pointermove', (event) => {
      const edges = this.canvas.getBoundingClientRect();
      const node = nodeAt(this.layout, event.clientX - edges.left, event.clientY - edges.top);
      pointed(node < 0 ? '' : this.model.nodes[node].name);
    });
    this.canvas.addEventListener('pointerleave', () => pointed(''));
  }

  arrange() {
    const nodes = this.model.nodes.map((_node, index) => index);
    const width = Math.max(64, this.figure.clientWidth - 2);
    this.layout = layOut(new Map([['', nodes]]), nodes.length, width, HEIGHT);
    this.context = sizedContext(this.canvas, width, this.layout.height);
    this.context.clearRect(0, 0, width, this.layout.height);
  }

  /** @param {number} moment  seconds */
  goTo(moment) {
    const { model, state } = this;
    // A moment that was computed may be a little before the change that happens then.
    const now = moment * 1000 + 1e-3;
    state.seek(now >= model.duration ? model.changes.length : Math.max(model.start, model.changesUntil(now)));
  }

  /** @param {string} node */
  touch(node) {
    const index = this.model.nodeByName.get(node);
    if (index !== undefined) this.state.touched.add(index);
  }

  touchAll() {
    for (const node of this.layout.order) this.state.touched.add(node);
  }

  /**
   * Draws what has changed.
   * @param {Palette} palette
   * @param {string} resource
   * @param {string} pointed
   */
  draw(palette, resource, pointed) {
    const { context, layout, model, state } = this;
    const kind = Math.max(0, model.resources.indexOf(resource));
    for (const node of state.touched) {
      const [x, y, size] = [layout.left[node], layout.top[node], layout.size];
      drawTile(context, palette, { x, y, size }, model.nodes[node].name, state.nodes[node], state.fullness(node, kind));
      if (model.nodes[node].name !== pointed) continue;
      context.strokeStyle = palette.focus;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, size - 2, size - 2);
    }
    state.touched.clear();
    const node = model.nodeByName.get(pointed);
    const used = this.#nodesUsed();
    const sum = `${count(used)} of ${count(state.nodeCount)} nodes used`;
    this.said.textContent = node === undefined ? sum : describeNode(model, state, node, kind);
    this.canvas.setAttribute('aria-label', `${this.name}: ${sum}`);
  }

  /** How many nodes have pods. */
  #nodesUsed() {
    const { model, state } = this;
    const pods = model.resources.indexOf('pods');
    let used = 0;
    for (let node = 0; node < model.nodes.length; ++node) {
      if (state.nodes[node] && state.used[node * state.width + pods] > 0) ++used;
    }
    return used;
  }
}
