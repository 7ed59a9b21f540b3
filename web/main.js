// The page put together: reads the data in it, makes the views and keeps them at the moment chosen.

import { Clock } from './clock.js';
import { showComparison } from './comparison.js';
import { showCounts } from './counts.js';
import { showDecisions } from './decisions.js';
import { byId, within } from './dom.js';
import { duration } from './format.js';
import { View } from './lists.js';
import { LiveSeries } from './live_series.js';
import { showLink } from './link.js';
import { LiveSource } from './live.js';
import { Model } from './model.js';
import { showNode } from './node_view.js';
import { Plots } from './plots.js';
import { showPod } from './pod_view.js';
import { showQueues } from './queues.js';
import { marksOf, seriesOf } from './series.js';
import { ClusterState } from './state.js';
import { Store } from './store.js';
import { showTabs } from './tabs.js';
import { showTheme } from './theme.js';
import { Tiles } from './tiles.js';
import { TimeBar } from './time_bar.js';
import { explanationFrom } from './traces.js';

/** @typedef {import('./model.js').History} History */
/** @typedef {import('./model.js').PageData} PageData */

/** @type {History} */
const NOTHING = { duration: 0, texts: [], nodes: [], templates: [], pods: [], changes: [] };
const ZONE = 'topology.kubernetes.io/zone';
// Where this part of all changes happens within a fiftieth of the time, time shows little.
const CROWDED = 0.5;

/**
 * @param {Model} model
 * @returns {"time" | "changes"}
 */
function scaleFor(model) {
  const length = model.changes.length - model.start;
  let most = 0;
  for (let place = model.start; place < model.changes.length; ++place) {
    most = Math.max(most, model.changesUntil(model.changes[place].at + model.duration / 50) - place);
    if (most > CROWDED * length) return 'changes';
  }
  return 'time';
}

/** @param {PageData} data */
function show(data) {
  document.title = `${data.title} · berth`;
  byId('title', HTMLElement).textContent = data.note ? `${data.title} (${data.note})` : data.title;
  const model = new Model(data.history ?? NOTHING);
  const state = new ClusterState(model);
  state.seek(model.changes.length);
  const explanations = [...data.explanations ?? [], ...(data.traces ?? []).map(explanationFrom)];
  const explained = new Set(explanations.map(({ pod }) => pod));
  const first = explained.size === 1 ? [...explained][0] : '';
  const store = new Store({
    position: model.changes.length, now: model.duration, playing: false, follows: true, reach: 0, scale: scaleFor(model), resource: 0,
    group: model.groupingLabels().includes(ZONE) ? ZONE : '', node: -1,
    pod: model.pods.findIndex((pod) => pod.fullName === first), explained: first,
    tab: explained.size > 0 ? 'pod' : 'queues', look: 0, told: 0,
  });
  store.subscribe((changed) => {
    if (changed.has('position')) state.seek(store.choices.position);
  });
  const clock = new Clock(model, store);
  const view = new View(model, state, store, clock);
  const hasCluster = data.live || data.history !== undefined;
  byId('nodes', HTMLElement).hidden = !data.live && model.nodes.length === 0;
  byId('tabs', HTMLElement).hidden = !hasCluster;
  byId('counts', HTMLElement).hidden = !hasCluster;
  if (data.live) showLive(view);
  showTabs(store);
  showTheme(store);
  if (data.comparison) {
    within(document.body, 'main', HTMLElement).hidden = true;
    showComparison(data.comparison, data.histories ?? [], store);
  }
  showCounts(state, store);
  new Tiles(model, state, store, data.live ?? false);
  showQueues(view);
  showDecisions(view);
  showNode(view);
  showPod(view, explanations);
  if (model.changes.length > model.start) {
    const bar = new TimeBar(model, store, clock, duration);
    const plots = new Plots(model, store, clock);
    const showSeries = () => {
      const series = seriesOf(model, store.choices.scale);
      bar.show(series);
      plots.show(series);
    };
    store.subscribe((changed) => {
      if (changed.has('scale')) showSeries();
    });
    showSeries();
  }
  // What is drawn depends on what there is room for.
  window.addEventListener('resize', () => store.set({ look: store.choices.look + 1 }));
  store.flush();
  document.documentElement.dataset.ready = '';
}

/**
 * Shows the scheduler that serves the page.
 * @param {View} view
 */
function showLive(view) {
  const { model, state, store, clock } = view;
  const head = new ClusterState(model);
  let problem = '';
  const series = new LiveSeries(model, head);
  const source = new LiveSource(model, state, head, store, {
    change: (change) => series.note(change),
    link: (text) => {
      problem = text;
      showLink(problem, store.choices.follows);
    },
  });
  view.live = source;
  const bar = new TimeBar(model, store, clock, (at) => view.moment(at));
  const plots = new Plots(model, store, clock);
  const toNow = byId('to-now', HTMLButtonElement);
  toNow.addEventListener('click', () => clock.goTo(Infinity));
  let isGrouped = false;
  store.subscribe((changed) => {
    if (changed.has('follows')) {
      toNow.hidden = store.choices.follows;
      showLink(problem, store.choices.follows);
    }
    if (changed.has('reach') || changed.has('scale')) bar.show(marksOf(model, store.choices.scale));
    if (!changed.has('reach')) return;
    if (!isGrouped && model.groupingLabels().includes(ZONE)) store.set({ group: ZONE });
    isGrouped ||= model.nodes.length > 0;
    if (series.step()) plots.show(series.series);
  });
  showLink('', true);
  source.run();
}

try {
  show(JSON.parse(byId('data', HTMLScriptElement).textContent ?? ''));
} catch (error) {
  const problem = byId('problem', HTMLElement);
  problem.textContent = `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  problem.hidden = false;
  throw error;
}
