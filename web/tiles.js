// The nodes as tiles on one canvas: a tile is as full as its node. Only tiles that changed are drawn
// again. To assistive technology the canvas is a list box whose active option is the focused tile.

import { byId, make, sizedContext, within } from './dom.js';
import { plural } from './format.js';
import { HEADING, layOut, nodeAt, neighbour } from './tile_layout.js';
import { describeNode, drawTile, paletteNow } from './tile_painter.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').ClusterState} ClusterState */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./tile_layout.js').Layout} Layout */
/** @typedef {import('./tile_painter.js').Palette} Palette */

const NAMES_OFFERED = 2000;

export class Tiles {
  /**
   * @param {Model} model
   * @param {ClusterState} state
   * @param {Store} store
   * @param {boolean} isLive
   */
  constructor(model, state, store, isLive) {
    this.model = model;
    this.state = state;
    this.store = store;
    this.box = byId('tiles', HTMLDivElement);
    this.canvas = within(this.box, 'canvas', HTMLCanvasElement);
    this.option = byId('tile-now', HTMLDivElement);
    this.tip = byId('tip', HTMLDivElement);
    this.focused = -1;
    this.shape = -1;
    this.isLive = isLive;
    /** @type {Layout} */
    this.layout = layOut(new Map(), 0, 1, 1);
    /** @type {CanvasRenderingContext2D} */
    this.context = sizedContext(this.canvas, 1, 1);
    this.palette = paletteNow();
    this.#listenToChoices();
    this.#fillChoices();
    this.#listen();
    new ResizeObserver(() => this.#arrange()).observe(this.box);
    store.subscribe((changed) => {
      if (changed.has('look')) this.palette = paletteNow();
      if (changed.has('group') || changed.has('look') || this.shape !== state.shape) this.#arrange();
      else if (changed.has('resource')) this.#drawAll();
      else this.#drawTouched();
      if (changed.has('node')) this.#mark(store.choices.node);
      else this.#describe();
    });
  }

  /** What can be chosen now; on a live page nodes come and go. */
  #fillChoices() {
    const { model, store } = this;
    offer(byId('resource', HTMLSelectElement), model.resources.map((name, index) => [String(index), name]), String(store.choices.resource));
    offer(byId('group', HTMLSelectElement),
      [['', 'nothing'], ...model.groupingLabels().map((label) => /** @type {[string, string]} */ ([label, label]))], store.choices.group);
    byId('node-names', HTMLDataListElement).replaceChildren(
      ...model.nodes.slice(0, NAMES_OFFERED).map((node) => make('option', { value: node.name })));
  }

  #listenToChoices() {
    const { model, store } = this;
    const resource = byId('resource', HTMLSelectElement);
    resource.addEventListener('change', () => store.set({ resource: Number(resource.value) }));
    const group = byId('group', HTMLSelectElement);
    group.addEventListener('change', () => store.set({ group: group.value }));
    const find = byId('find-node', HTMLInputElement);
    const choose = () => {
      const node = model.nodeByName.get(find.value.trim());
      if (node !== undefined) store.set({ node, tab: 'node' });
    };
    find.addEventListener('input', choose);
    find.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') choose();
    });
  }

  #listen() {
    const { box, canvas, store, tip } = this;
    /** @param {MouseEvent} event */
    const under = (event) => {
      const edges = canvas.getBoundingClientRect();
      return nodeAt(this.layout, event.clientX - edges.left, event.clientY - edges.top);
    };
    canvas.addEventListener('pointermove', (event) => {
      const node = under(event);
      tip.hidden = node < 0;
      if (node < 0) return;
      tip.textContent = this.describe(node);
      const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
      tip.style.left = `${Math.max(8, left)}px`;
      tip.style.top = `${event.clientY + 18}px`;
    });
    canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
    canvas.addEventListener('click', (event) => {
      const node = under(event);
      if (node >= 0) store.set({ node, tab: 'node' });
    });
    box.addEventListener('focus', () => {
      if (this.focused < 0) this.#focus(store.choices.node >= 0 ? store.choices.node : this.layout.order[0] ?? -1);
      else this.#drawTile(this.focused);
    });
    box.addEventListener('blur', () => {
      if (this.focused >= 0) this.#drawTile(this.focused);
    });
    box.addEventListener('keydown', (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === 'Enter' || event.key === ' ') {
        if (this.focused >= 0) store.set({ node: this.focused, tab: 'node' });
      } else if (['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) {
        this.#focus(neighbour(this.layout, this.focused, event.key));
      } else {
        return;
      }
      event.preventDefault();
    });
  }

  /**
   * A node's name and how full it is.
   * @param {number} node
   */
  describe(node) {
    return describeNode(this.model, this.state, node, this.store.choices.resource);
  }

  /** @param {number} node */
  #focus(node) {
    const before = this.focused;
    this.focused = node;
    if (before >= 0) this.#drawTile(before);
    if (node < 0) return;
    this.#drawTile(node);
    this.#describe();
    const top = this.layout.top[node];
    if (top < this.box.scrollTop + HEADING) this.box.scrollTop = top - HEADING;
    const bottom = top + this.layout.pitch;
    if (bottom > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = bottom - this.box.clientHeight + 8;
  }

  #describe() {
    const { focused, layout, option } = this;
    if (focused < 0) return;
    const text = this.describe(focused);
    if (option.textContent !== text) option.textContent = text;
    option.setAttribute('aria-selected', String(focused === this.store.choices.node));
    option.setAttribute('aria-setsize', String(layout.order.length));
    option.setAttribute('aria-posinset', String(layout.order.indexOf(focused) + 1));
  }

  /** @param {number} node  that has been chosen */
  #mark(node) {
    if (node >= 0) this.#focus(node);
    if (this.chosen !== undefined && this.chosen >= 0) this.#drawTile(this.chosen);
    this.chosen = node;
    if (node >= 0) this.#drawTile(node);
    this.#describe();
    byId('said', HTMLElement).textContent = node >= 0 ? `Chosen: ${this.describe(node)}` : '';
  }

  #arrange() {
    const { group } = this.store.choices;
    const { model, state } = this;
    if (this.isLive && this.shape !== state.shape) this.#fillChoices();
    this.shape = state.shape;
    /** @type {Map<string, number[]>} */
    const groups = new Map();
    model.nodes.forEach((node, index) => {
      if (this.isLive && !state.nodes[index]) return;  // in a recorded run it keeps its place
      const labels = (state.nodes[index] ?? node).labels;
      const name = group === '' ? '' : labels[group] ?? '(none)';
      const members = groups.get(name);
      if (members) members.push(index);
      else groups.set(name, [index]);
    });
    const sorted = new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
    const width = Math.max(64, this.box.clientWidth - 2);
    this.layout = layOut(sorted, model.nodes.length, width, Math.max(260, window.innerHeight * 0.42));
    this.context = sizedContext(this.canvas, width, this.layout.height);
    this.#drawAll();
  }

  #drawAll() {
    const { context, layout, state } = this;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.font = '600 12px system-ui, sans-serif';
    context.textBaseline = 'alphabetic';
    for (const group of layout.groups) {
      if (group.tilesTop === group.top) continue;
      context.fillStyle = this.palette.text;
      const label = group.name;
      context.fillText(label, 0, group.top + 15);
      const width = context.measureText(label).width;
      context.fillStyle = this.palette.faint;
      context.fillText(`  ${plural(group.nodes.length, 'node')}`, width, group.top + 15);
    }
    for (const node of layout.order) this.#drawTile(node);
    state.touched.clear();
    drawLegend(this.palette);
  }

  #drawTouched() {
    for (const node of this.state.touched) this.#drawTile(node);
    this.state.touched.clear();
  }

  /** @param {number} node */
  #drawTile(node) {
    if (this.isLive && !this.state.nodes[node]) return;
    const { context, layout, palette, state } = this;
    const [x, y, size] = [layout.left[node], layout.top[node], layout.size];
    drawTile(context, palette, { x, y, size }, this.model.nodes[node].name, state.nodes[node], state.fullness(node, this.store.choices.resource));
    const isFocused = node === this.focused && document.activeElement === this.box;
    if (node !== this.store.choices.node && !isFocused) return;
    context.strokeStyle = isFocused ? palette.focus : palette.text;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, size - 2, size - 2);
  }
}

/**
 * @param {HTMLSelectElement} select
 * @param {[string, string][]} options  values and texts
 * @param {string} chosen
 */
function offer(select, options, chosen) {
  const now = [...select.options].map(({ value, text }) => `${value} ${text}`);
  if (now.join('\n') !== options.map((option) => option.join(' ')).join('\n')) {
    select.replaceChildren(...options.map(([value, text]) => make('option', { value }, text)));
  }
  select.value = chosen;
}

/** @param {Palette} palette */
function drawLegend(palette) {
  const canvas = byId('ramp', HTMLCanvasElement);
  const context = sizedContext(canvas, 120, 10);
  for (let x = 0; x < 120; ++x) {
    context.fillStyle = palette.ramp(x / 119);
    context.fillRect(x, 0, 1, 10);
  }
}
