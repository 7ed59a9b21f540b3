// What the plots show: values at evenly spaced moments, and what happened between them.

import { ClusterState, Place } from './state.js';

/** @typedef {import('./model.js').Model} Model */

const BUCKETS = 240;

/**
 * `x` is the place on the scale (milliseconds, or changes since the start), `at` the time there. What
 * happened in a bucket stands at its end.
 * @typedef {object} Series
 * @property {number[]} x
 * @property {number[]} at
 * @property {number} bucket  its width on the scale
 * @property {Record<"bound" | "pending" | "waiting" | "gated" | "finished", number[]>} pods
 * @property {number[]} bindings
 * @property {number[]} succeeded  attempts
 * @property {number[]} failed  attempts
 * @property {number[]} preemptions
 * @property {(number | null)[]} median  milliseconds from creation to binding
 * @property {(number | null)[]} slowest
 * @property {number[][]} used  part of what can be allocated, by resource
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
  const series = emptySeries(model, length / buckets);
  for (let bucket = 0; bucket <= buckets; ++bucket) {
    const x = length * bucket / buckets;
    const position = isTime ? model.changesUntil(x) : model.start + Math.round(x);
    const from = state.position;
    state.seek(Math.max(position, model.start));
    series.x.push(x);
    series.at.push(isTime ? x : state.now);
    addState(series, state);
    addEvents(series, state, from);
  }
  return series;
}

/**
 * @param {Model} model
 * @param {number} bucket
 * @returns {Series}
 */
function emptySeries(model, bucket) {
  return {
    x: [], at: [], bucket, pods: { bound: [], pending: [], waiting: [], gated: [], finished: [] },
    bindings: [], succeeded: [], failed: [], preemptions: [], median: [], slowest: [],
    used: model.resources.map(() => []),
  };
}

/**
 * @param {Series} series
 * @param {ClusterState} state
 */
function addState(series, state) {
  series.pods.bound.push(state.counts[Place.BOUND]);
  series.pods.pending.push(state.pending());
  series.pods.waiting.push(state.counts[Place.WAITING]);
  series.pods.gated.push(state.counts[Place.GATED]);
  series.pods.finished.push(state.counts[Place.FINISHED]);
  series.used.forEach((values, resource) => {
    const all = state.totalAllocatable[resource];
    values.push(all > 0 ? state.totalUsed[resource] / all : 0);
  });
}

/**
 * @param {Series} series
 * @param {ClusterState} state
 * @param {number} from  the position before the bucket
 */
function addEvents(series, state, from) {
  let [bindings, succeeded, failed, preemptions] = [0, 0, 0, 0];
  /** @type {number[]} */
  const took = [];
  for (let place = Math.max(from, state.model.start); place < state.position; ++place) {
    const change = state.model.changes[place];
    if (change.what === 'bound' && state.attempts[change.pod ?? 0] > 0) {
      ++bindings;
      took.push(change.at - state.created[change.pod ?? 0]);
    } else if (change.what === 'decided' && change.outcome === 'Success') {
      ++succeeded;
    } else if (change.what === 'failed') {
      ++failed;
    } else if (change.what === 'preempted') {
      ++preemptions;
    }
  }
  took.sort((a, b) => a - b);
  series.bindings.push(bindings);
  series.succeeded.push(succeeded);
  series.failed.push(failed);
  series.preemptions.push(preemptions);
  series.median.push(took.length > 0 ? took[took.length >> 1] : null);
  series.slowest.push(took.length > 0 ? took[took.length - 1] : null);
}
