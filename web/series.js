// What the plots show: values at evenly spaced moments, and what happened between them.

import { fragmentation } from './fragmentation.js';
import { ClusterState, Place } from './state.js';

/** @typedef {import('./model.js').Change} Change */
/** @typedef {import('./model.js').Model} Model */

const BUCKETS = 240;

/**
 * `x` is the place on the scale (milliseconds, or changes since the start), `at` the time there. What
 * happened in a bucket stands at its end.
 * @typedef {object} Series
 * @property {number[]} x
 * @property {number[]} at
 * @property {number} bucket  its width on the scale
 * @property {"time" | "changes"} scale
 * @property {number} begin  the time where the scale of time begins
 * @property {Record<"bound" | "pending" | "waiting" | "gated" | "finished", number[]>} pods
 * @property {number[]} bindings
 * @property {number[]} succeeded  attempts
 * @property {number[]} failed  attempts
 * @property {number[]} preemptions
 * @property {(number | null)[]} median  milliseconds from creation to binding
 * @property {(number | null)[]} slowest
 * @property {number[][]} used  part of what can be allocated, by resource
 * @property {(number | null)[][]} fragmented  part of what is free, by resource
 *
 * What happened in a bucket.
 * @typedef {{bindings: number, succeeded: number, failed: number, preemptions: number, took: number[]}} Events
 */

/**
 * @param {Model} model
 * @param {"time" | "changes"} scale
 * @returns {Series}
 */
export function seriesOf(model, scale) {
  const state = new ClusterState(model);
  const isTime = scale === 'time';
  const length = isTime ? model.duration : model.changes.length - model.start;
  const buckets = isTime ? BUCKETS : Math.max(1, Math.min(BUCKETS, length));
  const series = emptySeries(model, length / buckets, scale);
  for (let bucket = 0; bucket <= buckets; ++bucket) {
    const x = length * bucket / buckets;
    const position = isTime ? model.changesUntil(x) : model.start + Math.round(x);
    const events = noEvents();
    const from = Math.max(state.position, model.start);
    state.seek(Math.max(position, model.start));
    for (let place = from; place < state.position; ++place) noteEvent(events, model.changes[place], state);
    series.x.push(x);
    series.at.push(isTime ? x : state.now);
    addState(series, state);
    addEvents(series, events);
  }
  return series;
}

/**
 * What the rail of the time line shows, without looking at the state: what happened in each part of it.
 * @typedef {Pick<Series, "x" | "bindings" | "failed" | "preemptions">} Marks
 *
 * @param {Model} model
 * @param {"time" | "changes"} scale
 * @returns {Marks}
 */
export function marksOf(model, scale) {
  const { begin, changes, duration, start } = model;
  const places = Array.from({ length: BUCKETS + 1 }, (_, place) => place);
  const [bindings, failed, preemptions] = [0, 1, 2].map(() => places.map(() => 0));
  /** @type {Record<string, number[]>} */
  const rows = { bound: bindings, failed, preempted: preemptions };
  for (let place = start; place < changes.length; ++place) {
    const row = rows[changes[place].what];
    if (!row) continue;
    const part = scale === 'time' ? (changes[place].at - begin) / Math.max(duration - begin, 1) :
      (place - start) / (changes.length - start);
    ++row[Math.max(1, Math.min(BUCKETS, Math.ceil(part * BUCKETS)))];
  }
  return { x: places, bindings, failed, preemptions };
}

/**
 * @param {Model} model
 * @param {number} bucket
 * @param {"time" | "changes"} scale
 * @returns {Series}
 */
export function emptySeries(model, bucket, scale, begin = 0) {
  return {
    x: [], at: [], bucket, scale, begin, pods: { bound: [], pending: [], waiting: [], gated: [], finished: [] },
    bindings: [], succeeded: [], failed: [], preemptions: [], median: [], slowest: [],
    used: model.resources.map(() => []), fragmented: model.resources.map(() => []),
  };
}

/**
 * @param {Series} series
 * @param {ClusterState} state
 */
export function addState(series, state) {
  series.pods.bound.push(state.counts[Place.BOUND]);
  series.pods.pending.push(state.pending());
  series.pods.waiting.push(state.counts[Place.WAITING]);
  series.pods.gated.push(state.counts[Place.GATED]);
  series.pods.finished.push(state.counts[Place.FINISHED]);
  series.used.forEach((values, resource) => {
    const all = state.totalAllocatable[resource];
    values.push(all > 0 ? state.totalUsed[resource] / all : 0);
  });
  const parts = fragmentation(state);
  series.fragmented.forEach((values, resource) => values.push(Number.isNaN(parts[resource]) ? null : parts[resource]));
}

/** @returns {Events} */
export function noEvents() {
  return { bindings: 0, succeeded: 0, failed: 0, preemptions: 0, took: [] };
}

/**
 * @param {Events} events
 * @param {Change} change
 * @param {ClusterState} state  with the change
 */
export function noteEvent(events, change, state) {
  const pod = change.pod ?? 0;
  if (change.what === 'bound' && state.attempts[pod] > 0) {
    ++events.bindings;
    events.took.push(change.at - state.created[pod]);
  } else if (change.what === 'decided' && change.outcome === 'Success') {
    ++events.succeeded;
  } else if (change.what === 'failed') {
    ++events.failed;
  } else if (change.what === 'preempted') {
    ++events.preemptions;
  }
}

/**
 * @param {Series} series
 * @param {Events} events
 */
export function addEvents(series, { bindings, succeeded, failed, preemptions, took }) {
  took.sort((a, b) => a - b);
  series.bindings.push(bindings);
  series.succeeded.push(succeeded);
  series.failed.push(failed);
  series.preemptions.push(preemptions);
  series.median.push(took.length > 0 ? took[took.length >> 1] : null);
  series.slowest.push(took.length > 0 ? took[took.length - 1] : null);
}
