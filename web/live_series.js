// What the plots show of a running scheduler: values since the page was opened, in as many steps as a
// plot has room for. When there are more, two become one.

import { addEvents, addState, emptySeries, noEvents, noteEvent } from './series.js';

/** @typedef {import('./model.js').Change} Change */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./series.js').Series} Series */
/** @typedef {import('./state.js').ClusterState} ClusterState */

const MOST_STEPS = 240;
const FIRST_STEP = 1000;  // milliseconds

export class LiveSeries {
  #events = noEvents();
  #began = NaN;
  #resources = '';

  /**
   * @param {Model} model
   * @param {ClusterState} state  as of now
   */
  constructor(model, state) {
    this.model = model;
    this.state = state;
    /** @type {Series} */
    this.series = emptySeries(model, FIRST_STEP, 'time');
  }

  /** @param {Change} change  that has been put into the state */
  note(change) {
    noteEvent(this.#events, change, this.state);
  }

  /**
   * Whether there is a new value.
   * @returns {boolean}
   */
  step() {
    const { series, state } = this;
    const resources = this.model.resources.join();
    // Another scheduler's clock, or other resources.
    if (!(state.now >= this.#began) || resources !== this.#resources) {
      this.#began = state.now;
      this.#resources = resources;
      this.series = emptySeries(this.model, FIRST_STEP, 'time', this.#began);
      this.#add(0);
      return true;
    }
    const x = Math.floor((state.now - this.#began) / series.bucket) * series.bucket;
    if (x <= series.x[series.x.length - 1]) return false;
    this.#add(x);
    if (series.x.length > MOST_STEPS) this.#halve();
    return true;
  }

  /** @param {number} x */
  #add(x) {
    const { series, state } = this;
    series.x.push(x);
    series.at.push(x);
    addState(series, state);
    addEvents(series, this.#events);
    this.#events = noEvents();
  }

  #halve() {
    const { series } = this;
    series.bucket *= 2;
    // Each second value, and what happened in the step before it as well.
    const last = (/** @type {any[]} */ values) => values.filter((_, index) => index % 2 === 0);
    const sum = (/** @type {number[]} */ values) =>
      last(values.map((value, index) => (index > 0 ? value + values[index - 1] : value)));
    const most = (/** @type {(number | null)[]} */ values) =>
      last(values.map((value, index) => larger(value, index > 0 ? values[index - 1] : null)));
    series.median = most(series.median);
    series.slowest = most(series.slowest);
    for (const name of /** @type {const} */ (['bindings', 'succeeded', 'failed', 'preemptions'])) series[name] = sum(series[name]);
    for (const name of /** @type {(keyof Series["pods"])[]} */ (Object.keys(series.pods))) series.pods[name] = last(series.pods[name]);
    series.used = series.used.map(last);
    series.fragmented = series.fragmented.map(last);
    series.x = last(series.x);
    series.at = last(series.at);
  }
}

/**
 * @param {number | null} a
 * @param {number | null} b
 */
function larger(a, b) {
  return a === null ? b : b === null ? a : Math.max(a, b);
}
