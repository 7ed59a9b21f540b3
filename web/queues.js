// The pods that have no node yet, by where they wait and why.

import { byId, make } from './dom.js';
import { count, plural } from './format.js';
import { keepFilled } from './lists.js';
import { permitButtons } from './permit.js';
import { Place } from './state.js';

/** @typedef {import('./lists.js').View} View */

const SHOWN = 25;  // pods of one message

/** @type {{title: string, class: string, places: number[], hint: string}[]} */
const QUEUES = [
  { title: 'Unschedulable', class: 'unschedulable', places: [Place.UNSCHEDULABLE], hint: 'wait for an event that may help' },
  { title: 'Backoff', class: 'backoff', places: [Place.BACKOFF], hint: 'wait out their backoff' },
  { title: 'Active', class: 'active', places: [Place.CREATED, Place.ACTIVE], hint: 'are tried next' },
  { title: 'Under way', class: 'active', places: [Place.SCHEDULING, Place.BINDING], hint: 'are being scheduled or bound' },
  { title: 'Waiting at Permit', class: 'waiting', places: [Place.WAITING], hint: 'have a node and are held' },
  { title: 'Gated', class: 'gated', places: [Place.GATED], hint: 'have scheduling gates' },
];

/** @param {View} view */
export function showQueues(view) {
  const panel = byId('panel-queues', HTMLDivElement);
  keepFilled(view, panel, ['position', 'now', 'tab', 'told'], () => {
    const filled = QUEUES.map((queue) => ({ queue, pods: queue.places.flatMap((place) => view.state.podsIn(place)) }))
      .filter(({ pods }) => pods.length > 0);
    if (filled.length === 0) return [make('p', { class: 'empty' }, 'No pod is waiting for a node.')];
    return filled.map(({ queue, pods }) => make('section', { class: `queue ${queue.class}` },
      make('h3', {}, queue.title, ' ', make('span', { class: 'number' }, count(pods.length)),
        make('small', {}, queue.hint)),
      ...groupsOf(view, queue.places[0], pods)));
  });
}

/**
 * Pods that wait for the same reason together.
 * @param {View} view
 * @param {number} place
 * @param {number[]} pods
 */
function groupsOf(view, place, pods) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const pod of pods) {
    const message = reasonOf(view, place, pod);
    const group = groups.get(message);
    if (group) group.push(pod);
    else groups.set(message, [pod]);
  }
  return [...groups].sort(([, a], [, b]) => b.length - a.length).map(([message, group]) => make('div', { class: 'group' },
    message && make('p', { class: 'message' }, message),
    make('ul', { class: 'rows' }, ...group.slice(0, SHOWN).map((pod) => rowOf(view, pod))),
    group.length > SHOWN && make('p', { class: 'more' }, `and ${plural(group.length - SHOWN, 'more pod')}`)));
}

/**
 * @param {View} view
 * @param {number} place
 * @param {number} pod
 */
function reasonOf(view, place, pod) {
  const { model, state } = view;
  if (place === Place.GATED) return (model.pods[pod].template.gates ?? []).join(', ') || (view.live?.gates.get(pod) ?? '');
  return view.text(state.message[pod]);
}

/**
 * @param {View} view
 * @param {number} pod
 */
function rowOf(view, pod) {
  const { state } = view;
  const node = state.node[pod];
  return make('li', {}, view.podLink(pod),
    node >= 0 && make('span', { class: 'on' }, 'on ', view.nodeLink(node)),
    state.attempts[pod] > 0 && make('span', { class: 'quiet-text' }, plural(state.attempts[pod], 'attempt')),
    make('span', { class: 'time-text', title: 'in this queue' },
      view.lasted(state.since[pod])),
    view.isNow() && state.place[pod] === Place.WAITING && permitButtons(view, pod));
}
