// The plots over the run, on the scale of the time line. A line across all of them stands at the
// moment shown; a click moves there.

import { byId, colour, make, within } from './dom.js';
import { count, duration, percent } from './format.js';

/** @typedef {import('./clock.js').Clock} Clock */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./series.js').Series} Series */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./vendor/uplot/uPlot.d.ts')} Plot */
/** @typedef {(number | null)[]} Values */

/**
 * @typedef {object} Line
 * @property {string} name
 * @property {string} colour
 * @property {Values} values
 *
 * @typedef {object} Subject
 * @property {string} title
 * @property {"line" | "bars" | "points"} form
 * @property {(value: number) => string} text
 * @property {Line[]} lines
 * @property {boolean=} isLogarithmic
 */

const HEIGHT = 150;
const WHOLE_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((power) => [power, 2 * power, 5 * power]);
// Milliseconds that make round times.
const [SECOND, MINUTE, HOUR] = [1e3, 60e3, 3600e3];
const TIME_STEPS = [
  ...[1e-3, 1e-2, 0.1, 1, 10, 100].flatMap((power) => [power, 2 * power, 5 * power]),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND), ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 6, 12, 24, 48, 168].map((hours) => hours * HOUR),
];

export class Plots {
  /**
   * @param {Model} model
   * @param {Store} store
   * @param {Clock} clock
   */
  constructor(model, store, clock) {
    this.model = model;
    this.store = store;
    this.clock = clock;
    this.section = byId('plots', HTMLElement);
    this.box = within(this.section, '.plots', HTMLDivElement);
    /** @type {{plot: Plot, hand: HTMLElement, lines: Line[], legend: HTMLElement[], text: (value: number) => string}[]} */
    this.drawn = [];
    this.form = '';  // which lines are drawn
    /** @type {Series | undefined} */
    this.series = undefined;
    this.section.hidden = false;
    let width = 0;
    new ResizeObserver(() => {
      if (Math.abs(this.box.clientWidth - width) < 2) return;
      width = this.box.clientWidth;
      this.#draw();
    }).observe(this.box);
    store.subscribe((changed) => {
      if (changed.has('look')) this.#draw();
      else if (changed.has('position') || changed.has('now')) this.#moveHands();
    });
  }

  /** @param {Series} series */
  show(series) {
    this.series = series;
    const subjects = subjectsOf(series, this.model);
    if (this.form !== formOf(subjects)) return this.#draw();
    const filled = subjects.filter(isFilled);
    this.drawn.forEach((drawn, index) => {
      drawn.lines = filled[index].lines;
      drawn.plot.setData([series.x, ...drawn.lines.map((line) => line.values)]);
    });
    this.#moveHands();
  }

  #draw() {
    const { series } = this;
    for (const { plot } of this.drawn) plot.destroy();
    this.drawn = [];
    this.box.replaceChildren();
    this.form = '';
    if (!series || this.box.clientWidth === 0) return;
    const subjects = subjectsOf(series, this.model);
    this.form = formOf(subjects);
    for (const subject of subjects) this.#drawOne(subject, series);
  }

  /**
   * @param {Subject} subject
   * @param {Series} series
   */
  #drawOne(subject, series) {
    const legend = subject.lines.map(() => make('b', {}));
    const figure = make('figure', { class: 'plot' },
      make('figcaption', {}, make('span', { class: 'plot-title' }, subject.title),
        ...subject.lines.map((line, index) => {
          const swatch = make('i', {});
          swatch.style.background = colour(line.colour);
          return make('span', { class: 'line-name' }, swatch, line.name, ' ', legend[index]);
        })));
    this.box.append(figure);
    if (!isFilled(subject)) {
      figure.append(make('p', { class: 'nothing' }, 'none'));
      return;
    }
    const area = make('div', { class: 'plot-area', role: 'img', 'aria-label': summaryOf(subject) });
    figure.append(area);
    const plot = new uPlot(this.#options(subject, series, figure.clientWidth), [series.x, ...subject.lines.map((line) => line.values)], area);
    const hand = make('div', { class: 'plot-hand' });
    plot.over.append(hand);
    plot.over.addEventListener('click', () => {
      const x = plot.posToVal(plot.cursor.left ?? 0, 'x');
      if (series.scale === 'time') this.clock.goToTime((this.series ?? series).begin + x);
      else this.clock.goTo(this.model.start + x);
    });
    this.drawn.push({ plot, hand, lines: subject.lines, legend, text: subject.text });
  }

  /**
   * @param {Subject} subject
   * @param {Series} series
   * @param {number} width
   * @returns {import('./vendor/uplot/uPlot.d.ts').Options}
   */
  #options(subject, series, width) {
    const axis = {
      stroke: colour('text-2'), font: '12px system-ui, sans-serif', grid: { stroke: colour('line'), width: 1 },
      ticks: { stroke: colour('line'), size: 4 },
    };
    const powersOfTen = { stroke: colour('line'), width: 1, filter: onlyPowersOfTen };
    const bars = uPlot.paths.bars?.({ size: [0.9, 40], align: -1 });
    const isTime = series.scale === 'time';
    return {
      width, height: HEIGHT, legend: { show: false }, padding: [8, 28, 0, 0],
      hooks: { draw: [() => this.#moveHands()] },  // its scales are known then
      cursor: { y: false, points: { show: false }, sync: { key: 'berth' }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: (_plot, _low, high) => [0, Math.max(high, 1e-6)] },
        y: subject.isLogarithmic ? { distr: 3, range: (_plot, low, high) => [(low ?? 1) / 2, (high ?? 1) * 2] } : { range: (_plot, _low, high) => [0, high > 0 ? high * 1.08 : 1] },
      },
      axes: [
        { ...axis, size: 28, space: 70, incrs: isTime ? TIME_STEPS : WHOLE_STEPS, values: (_plot, marks) => marks.map((mark) => (isTime ? duration(mark) : timeAt(series, mark))) },
        {
          ...axis, size: 52, space: 26, ...(subject.isLogarithmic ? { grid: powersOfTen, ticks: { ...powersOfTen, size: 4 } } : {}),
          values: (_plot, marks) => marks.map((mark) => (mark === null ? '' : subject.text(mark))),
        },
      ],
      series: [{}, ...subject.lines.map((line) => ({
        stroke: colour(line.colour), width: subject.form === 'bars' ? 0 : 1.75,
        fill: subject.form === 'bars' ? colour(line.colour) : undefined,
        paths: subject.form === 'bars' ? bars : subject.form === 'points' ? () => null : uPlot.paths.stepped?.({ align: 1 }),
        points: { show: subject.form === 'points', size: 4, fill: colour(line.colour) },
      }))],
    };
  }

  #moveHands() {
    const { series } = this;
    if (!series) return;
    const { now, position } = this.store.choices;
    const x = series.scale === 'time' ? now - series.begin : position - this.model.start;
    let index = 0;
    while (index < series.x.length - 1 && series.x[index + 1] <= x) ++index;
    for (const { plot, hand, lines, legend, text } of this.drawn) {
      hand.style.transform = `translateX(${Math.min(plot.valToPos(x, 'x'), plot.over.clientWidth)}px)`;
      lines.forEach((line, at) => {
        const value = line.values[index];
        legend[at].textContent = value === null ? '–' : text(value);
      });
    }
  }
}

/**
 * The time at a place of the scale of changes.
 * @param {Series} series
 * @param {number} x
 */
function timeAt(series, x) {
  const index = Math.round(x / Math.max(series.bucket, 1e-9));
  return duration(Math.round(series.at[Math.min(index, series.at.length - 1)] * 100) / 100);
}

/**
 * @param {Plot} _plot
 * @param {number[]} marks
 */
function onlyPowersOfTen(_plot, marks) {
  return marks.map((mark) => (Math.abs(Math.log10(mark) - Math.round(Math.log10(mark))) < 1e-6 ? mark : null));
}

/** @param {Subject} subject */
function isFilled({ lines }) {
  return lines.some((line) => line.values.some((value) => value !== null && value !== 0));
}

/**
 * What can be drawn in the same plots, with other values.
 * @param {Subject[]} subjects
 */
function formOf(subjects) {
  return subjects.map((subject) => `${isFilled(subject)} ${subject.lines.map(({ name }) => name)}`).join('|');
}

/** @param {Subject} subject */
function summaryOf({ title, lines, text }) {
  const last = lines.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    return known.length > 0 ? `${name} up to ${text(Math.max(.../** @type {number[]} */ (known)))}` : '';
  });
  return `${title}: ${last.filter(Boolean).join(', ')}`;
}

/**
 * @param {Series} series
 * @param {Model} model
 * @returns {Subject[]}
 */
function subjectsOf(series, model) {
  const step = series.scale === 'time' ? `per ${duration(Number(series.bucket.toPrecision(2)))}` :
    series.bucket < 1.5 ? 'per change' : `per ${count(Math.round(series.bucket))} changes`;
  const whole = (/** @type {number} */ value) => (Number.isInteger(value) ? count(value) : '');
  const { pods } = series;
  const states = /** @type {[keyof typeof pods, string][]} */ ([
    ['bound', 'bound'], ['pending', 'pending'], ['waiting', 'waiting'], ['gated', 'gated'], ['finished', 'finished'],
  ]);
  return [
    {
      title: 'Pods', form: 'line', text: whole,
      lines: states.filter(([name]) => pods[name].some((value) => value > 0))
        .map(([name, tint]) => ({ name, colour: tint, values: pods[name] })),
    },
    {
      title: 'Requested of allocatable', form: 'line', text: percent,
      lines: model.resources.map((name, index) => ({ name, colour: `line-${index % 6}`, values: series.used[index] }))
        .filter((line) => line.values.some((value) => value > 0)).slice(0, 5),
    },
    { title: 'Bindings', form: 'bars', text: whole, lines: [{ name: step, colour: 'bound', values: series.bindings }] },
    {
      title: 'Time to schedule', form: 'points', text: duration, isLogarithmic: true,
      lines: [
        { name: 'median', colour: 'bound', values: positive(series.median) },
        { name: 'slowest', colour: 'pending', values: positive(series.slowest) },
      ],
    },
    {
      title: 'Attempts', form: 'bars', text: whole,
      lines: [
        { name: 'without a node', colour: 'failed', values: stacked(series.failed, series.succeeded) },
        { name: 'with a node', colour: 'bound', values: series.succeeded },
      ],
    },
    { title: 'Preemptions', form: 'bars', text: whole, lines: [{ name: step, colour: 'preempted', values: series.preemptions }] },
    {
      title: 'Fragmentation', form: 'line', text: percent,
      lines: model.resources.map((name, index) => ({ name, colour: `line-${index % 6}`, values: series.fragmented[index] }))
        .filter(({ name, values }) => name !== 'pods' && values.some((value) => value !== null && value > 0)).slice(0, 5),
    },
  ];
}

/**
 * A logarithm needs more than nothing.
 * @param {Values} values
 */
function positive(values) {
  return values.map((value) => (value === null ? null : Math.max(value, 0.001)));
}

/**
 * The sums where there is something to stack: bars that stand behind others.
 * @param {number[]} values
 * @param {number[]} below
 */
function stacked(values, below) {
  return values.map((value, index) => (value > 0 ? value + below[index] : 0));
}
