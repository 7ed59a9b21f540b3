// The sides of a comparison beside each other (docs/compare.md): their nodes and figures at the moment
// chosen, plots of all of them over one time line, and the pods that went elsewhere up to that moment, with
// the reason.

import { byId, colour, make } from './dom.js';
import { count, duration, percent } from './format.js';
import { SideTiles } from './side_tiles.js';

/** @typedef {import('./model.js').History} History */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./vendor/uplot/uPlot.d.ts')} Plot */

/**
 * What `berth compare -o json` prints.
 * @typedef {object} Comparison
 * @property {{inputs: string[], sides: {name: string}[], seeds: number[]}} sweep
 * @property {Run[]} runs
 *
 * @typedef {object} Run
 * @property {string} input
 * @property {string} side
 * @property {number} seed
 * @property {Figures} figures
 * @property {Timeline=} series
 * @property {Difference=} difference  from the first side
 *
 * @typedef {{[name: string]: number | string | Figures}} Figures
 *
 * @typedef {object} Timeline
 * @property {number[]} at  seconds
 * @property {number[]} nodesUsed
 * @property {Record<string, number[]>} use  by resource
 * @property {Record<string, number[]>} imbalance
 * @property {number[]} podsAt  seconds
 * @property {number[]} bound
 * @property {number[]} pending
 *
 * @typedef {object} Difference
 * @property {string} against
 * @property {{elsewhere: number, onlyThere: number, onlyHere: number}} pods
 * @property {{there: Place, here: Place, cause?: Cause}=} firstDivergence
 * @property {Moved[]} moved
 *
 * @typedef {{node?: string, pod?: string, at?: number}} Place
 * @typedef {{type: string, plugin?: string, text: string}} Cause
 *
 * @typedef {object} Moved
 * @property {string} pod
 * @property {Place=} there
 * @property {Place=} here
 * @property {boolean=} diverged
 * @property {number=} podsElsewhereThen
 * @property {Cause=} cause
 */

/**
 * Something that changes over time, on one side.
 * @typedef {{x: number[], y: number[]}} Steps
 * @typedef {{title: string, text: (value: number) => string, of: (series: Timeline) => Steps}} Subject
 */

const HEIGHT = 140;
const PLAY_SECONDS = 15;
const NEVER = Infinity;

/**
 * @param {Comparison} comparison
 * @param {(History | null)[]} histories  by run
 * @param {Store} store
 */
export function showComparison(comparison, histories, store) {
  new ComparisonView(comparison, histories, store);
}

class ComparisonView {
  /**
   * @param {Comparison} comparison
   * @param {(History | null)[]} histories
   * @param {Store} store
   */
  constructor(comparison, histories, store) {
    this.comparison = comparison;
    /** @type {Map<Run, History>} */
    this.histories = new Map();
    comparison.runs.forEach((run, place) => {
      const history = histories[place];
      if (history) this.histories.set(run, history);
    });
    const { inputs, sides } = comparison.sweep;
    this.sides = sides.map(({ name }) => name);
    this.input = inputs[0] ?? '';
    this.other = this.sides[1] ?? '';
    this.resource = '';
    this.moment = NEVER;
    this.end = 0;
    this.playing = 0;
    /** @type {{plot: Plot, hand: HTMLElement, legend: HTMLElement[], lines: number[][], x: number[], text: (value: number) => string}[]} */
    this.drawn = [];
    this.section = byId('comparison', HTMLElement);
    this.section.hidden = false;
    this.onlyDifferent = true;

    this.slider = make('input', {
      type: 'range', min: 0, max: 1000, value: 1000, 'aria-label': 'Moment', class: 'moment',
      oninput: () => this.#goTo(this.slider.valueAsNumber / 1000 * this.end),
    });
    this.clock = make('output', { class: 'clock' });
    this.play = make('button', { type: 'button', onclick: () => this.#togglePlay() }, 'Play');
    this.resources = make('select', { onchange: () => {
      this.resource = this.resources.value;
      this.tiles.setResource(this.resource);
      this.#draw();
    } });
    const tiles = make('div', { class: 'sides' });
    this.nodes = panel('Nodes', [], tiles);
    this.now = make('div', { class: 'comparison-table' });
    this.figures = make('div', { class: 'comparison-table' });
    this.plots = make('div', { class: 'plots' });
    this.moved = make('div', { class: 'moved' });
    this.section.replaceChildren(
      make('div', { class: 'panel comparison-time' }, this.play, this.slider, this.clock,
        choice('input', inputs, (name) => {
          this.input = name;
          this.#show();
        }),
        choice('against the first', this.sides.slice(1), (name) => {
          this.other = name;
          this.#show();
        })),
      this.nodes,
      panel('At this moment', [], this.now),
      panel('Over time', [make('label', {}, 'resource ', this.resources)], this.plots),
      panel('Pods that went elsewhere', [], this.moved),
      panel('Figures', [make('label', {}, make('input', { type: 'checkbox', checked: true, onchange: (/** @type {Event} */ event) => {
        this.onlyDifferent = event.target instanceof HTMLInputElement && event.target.checked;
        this.#showFigures();
      } }), ' only what differs')], this.figures));
    this.tiles = new SideTiles(tiles);
    store.subscribe((changed) => {
      if (!changed.has('look')) return;
      this.tiles.arrange();
      this.#draw();
    });
    this.#show();
  }

  /** The runs of the input, by side: with the first seed that has one. */
  #runs() {
    return this.sides.map((side) => this.comparison.runs.find((run) => run.input === this.input && run.side === side));
  }

  #show() {
    const runs = this.#runs();
    this.end = Math.max(0, ...runs.map((run) => number(run?.figures.duration)));
    const names = [...new Set(runs.flatMap((run) => Object.keys(run?.series?.use ?? {})))];
    this.resources.replaceChildren(...names.map((name) => make('option', {}, name)));
    if (!names.includes(this.resource)) this.resource = names[0] ?? '';
    this.resources.value = this.resource;
    const histories = runs.map((run) => run && this.histories.get(run));
    this.nodes.hidden = histories.every((history) => history === undefined);
    this.tiles.show(histories.map((history, side) => ({ name: this.sides[side], history })));
    this.tiles.setResource(this.resource);
    this.#showFigures();
    this.#showMoved();
    this.#draw();
    this.#goTo(Math.min(this.moment, this.end));
  }

  /** @param {number} moment  seconds */
  #goTo(moment) {
    this.moment = moment;
    this.slider.value = String(this.end > 0 ? moment / this.end * 1000 : 1000);
    this.clock.textContent = duration(Math.round(moment * 1e6) / 1e3);
    this.#moveHands();
    this.#showNow();
    this.tiles.goTo(moment);
    let shown = 0;
    for (const row of this.moved.querySelectorAll('[data-at]')) {
      const later = row instanceof HTMLElement && Number(row.dataset.at) > moment;
      row.classList.toggle('later', later);
      if (!later) ++shown;
    }
    const counter = this.moved.querySelector('.by-now');
    if (counter) counter.textContent = `${count(shown)} by now`;
  }

  #moveHands() {
    for (const { plot, hand, legend, lines, x, text } of this.drawn) {
      hand.style.transform = `translateX(${plot.valToPos(this.moment, 'x')}px)`;
      const place = lastUntil(x, this.moment);
      lines.forEach((values, side) => {
        legend[side].textContent = text(values[place] ?? 0);
      });
    }
  }

  #togglePlay() {
    if (this.playing !== 0) {
      cancelAnimationFrame(this.playing);
      this.playing = 0;
      this.play.textContent = 'Play';
      return;
    }
    if (this.moment >= this.end) this.#goTo(0);
    this.play.textContent = 'Pause';
    let before = performance.now();
    const step = (/** @type {number} */ now) => {
      this.#goTo(Math.min(this.end, this.moment + (now - before) / 1000 / PLAY_SECONDS * this.end));
      before = now;
      if (this.moment < this.end) this.playing = requestAnimationFrame(step);
      else this.#togglePlay();
    };
    this.playing = requestAnimationFrame(step);
  }

  #showNow() {
    const runs = this.#runs();
    this.now.replaceChildren(table(this.sides, subjectsFor(this.resource).map(({ title, text, of }) => ({
      name: title,
      cells: runs.map((run) => {
        if (!run?.series) return '–';
        const { x, y } = of(run.series);
        return text(y[lastUntil(x, this.moment)] ?? 0);
      }),
    }))));
  }

  #showFigures() {
    const runs = this.#runs();
    /** @type {Map<string, (number | undefined)[]>} */
    const rows = new Map();
    runs.forEach((run, side) => {
      for (const [path, value] of leaves(run?.figures ?? {}, [])) {
        const row = rows.get(path) ?? this.sides.map(() => undefined);
        row[side] = value;
        rows.set(path, row);
      }
    });
    const shown = [...rows].filter(([, values]) => !this.onlyDifferent || values.some((value) => value !== values[0]));
    this.figures.replaceChildren(shown.length === 0 ? make('p', { class: 'nothing' }, 'No difference') :
      table(this.sides, shown.map(([path, values]) => ({
        name: path, cells: values.map((value) => (value === undefined ? '–' : figureText(path, value))),
      }))));
  }

  #showMoved() {
    const run = this.#runs()[this.sides.indexOf(this.other)];
    const difference = run?.difference;
    if (!difference) {
      this.moved.replaceChildren(make('p', { class: 'nothing' }, 'Nothing to compare'));
      return;
    }
    const { elsewhere, onlyThere, onlyHere } = difference.pods;
    const { firstDivergence } = difference;
    this.moved.replaceChildren(
      make('p', {}, `${count(elsewhere)} elsewhere, ${count(onlyThere)} only on ${difference.against}, ${count(onlyHere)} only on ${this.other}; `,
        make('span', { class: 'by-now' })),
      firstDivergence?.cause && make('p', {}, 'The first decision that differs: ', firstDivergence.cause.text) || '',
      make('table', {},
        make('thead', {}, make('tr', {}, ...['at', 'pod', difference.against, this.other, 'why'].map((name) => make('th', {}, name)))),
        make('tbody', {}, ...difference.moved.map(movedRow))));
  }

  #draw() {
    for (const { plot } of this.drawn) plot.destroy();
    this.drawn = [];
    this.plots.replaceChildren();
    const runs = this.#runs();
    if (!runs.some((run) => run?.series) || this.plots.clientWidth === 0) return;
    for (const subject of subjectsFor(this.resource)) {
      const steps = runs.map((run) => (run?.series ? subject.of(run.series) : { x: [], y: [] }));
      const x = [...new Set([0, ...steps.flatMap((each) => each.x), this.end])].sort((a, b) => a - b);
      const lines = steps.map((each) => x.map((at) => each.y[lastUntil(each.x, at)] ?? 0));
      this.#drawOne(subject, x, lines);
    }
    this.#goTo(Math.min(this.moment, this.end));
  }

  /**
   * @param {Subject} subject
   * @param {number[]} x
   * @param {number[][]} lines
   */
  #drawOne({ title, text }, x, lines) {
    const legend = lines.map(() => make('b', {}));
    const area = make('div', { class: 'plot-area', role: 'img', 'aria-label': title });
    const figure = make('figure', { class: 'plot' },
      make('figcaption', {}, make('span', { class: 'plot-title' }, title), ...lines.map((_line, side) => {
        const swatch = make('i', {});
        swatch.style.background = colour(`line-${side % 6}`);
        return make('span', { class: 'line-name' }, swatch, this.sides[side], ' ', legend[side]);
      })), area);
    this.plots.append(figure);
    const axis = { stroke: colour('text-2'), font: '12px system-ui, sans-serif', grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line'), size: 4 } };
    const plot = new uPlot({
      width: figure.clientWidth, height: HEIGHT, legend: { show: false }, padding: [8, 28, 0, 0],
      hooks: { draw: [() => this.#moveHands()] },  // its scales are known then
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: [0, Math.max(this.end, 1e-6)] }, y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.08 : 1] } },
      axes: [
        { ...axis, size: 28, space: 70, values: (_plot, marks) => marks.map((mark) => duration(mark * 1000)) },
        { ...axis, size: 52, space: 26, values: (_plot, marks) => marks.map((mark) => (mark === null ? '' : text(mark))) },
      ],
      series: [{}, ...lines.map((_line, side) => ({
        stroke: colour(`line-${side % 6}`), width: 1.75, paths: uPlot.paths.stepped?.({ align: 1 }), points: { show: false },
      }))],
    }, [x, ...lines], area);
    const hand = make('div', { class: 'plot-hand' });
    plot.over.append(hand);
    plot.over.addEventListener('click', () => this.#goTo(Math.max(0, plot.posToVal(plot.cursor.left ?? 0, 'x'))));
    this.drawn.push({ plot, hand, legend, lines, x, text });
  }
}

/**
 * @param {string} resource
 * @returns {Subject[]}
 */
function subjectsFor(resource) {
  const whole = (/** @type {number} */ value) => (Number.isInteger(value) ? count(value) : '');
  return [
    { title: 'Bindings so far', text: whole, of: (series) => ({ x: series.podsAt, y: series.bound }) },
    { title: 'Pending pods', text: whole, of: (series) => ({ x: series.podsAt, y: series.pending }) },
    { title: `Use of ${resource}`, text: percent, of: (series) => ({ x: series.at, y: series.use[resource] ?? [] }) },
    { title: `Imbalance of ${resource}`, text: percent, of: (series) => ({ x: series.at, y: series.imbalance[resource] ?? [] }) },
    { title: 'Nodes used', text: whole, of: (series) => ({ x: series.at, y: series.nodesUsed }) },
  ];
}

/**
 * @param {Moved} moved
 * @returns {HTMLTableRowElement}
 */
function movedRow({ pod, there, here, diverged, podsElsewhereThen, cause }) {
  const at = Math.min(there?.at ?? NEVER, here?.at ?? NEVER);
  const before = !diverged ? '' : podsElsewhereThen ? `the clusters had diverged, ${count(podsElsewhereThen)} pods were elsewhere: ` :
    'the clusters had diverged: ';
  return make('tr', { 'data-at': at },
    make('td', {}, duration(Math.round(at * 1e6) / 1e3)), make('td', {}, pod), make('td', {}, there?.node ?? 'no node'),
    make('td', {}, here?.node ?? 'no node'),
    make('td', {}, before && make('small', {}, before), cause?.text ?? ''));
}

/**
 * @param {Figures} figures
 * @param {string[]} path
 * @returns {[string, number][]}
 */
function leaves(figures, path) {
  return Object.entries(figures).flatMap(([name, value]) => {
    if (typeof value === 'number') return /** @type {[string, number][]} */ ([[[...path, name].join(' '), value]]);
    return typeof value === 'object' && value !== null ? leaves(value, [...path, name]) : [];
  });
}

/**
 * @param {string} path
 * @param {number} value
 */
function figureText(path, value) {
  if (path === 'duration' || path.startsWith('timeToSchedule ')) return duration(Math.round(value * 1e6) / 1e3);
  if (path.startsWith('use ') || path.startsWith('imbalance ')) return `${Math.round(value * 1e4) / 100}\u00a0%`;
  return count(Math.round(value * 1000) / 1000);
}

/**
 * The place of the last number that is not greater; -1 if there is none.
 * @param {number[]} sorted
 * @param {number} value
 */
function lastUntil(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** @param {unknown} value */
function number(value) {
  return typeof value === 'number' ? value : 0;
}

/**
 * @param {string} title
 * @param {HTMLElement[]} controls
 * @param {HTMLElement} content
 */
function panel(title, controls, content) {
  return make('section', { class: 'panel' }, make('header', {}, make('h2', {}, title), ...controls), content);
}

/**
 * A choice among names; nothing if there is none to make.
 * @param {string} label
 * @param {string[]} names
 * @param {(name: string) => void} chosen
 */
function choice(label, names, chosen) {
  if (names.length < 2) return null;
  const select = make('select', { onchange: () => chosen(select.value) }, ...names.map((name) => make('option', {}, name)));
  return make('label', {}, `${label} `, select);
}

/**
 * @param {string[]} sides
 * @param {{name: string, cells: string[]}[]} rows
 */
function table(sides, rows) {
  return make('table', {},
    make('thead', {}, make('tr', {}, make('th', {}), ...sides.map((side) => make('th', { scope: 'col' }, side)))),
    make('tbody', {}, ...rows.map(({ name, cells }) => make('tr', {}, make('th', { scope: 'row' }, name),
      ...cells.map((cell) => make('td', {}, cell))))));
}
