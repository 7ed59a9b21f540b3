// One node: what it is, how full it is of everything, and who is there.

import { byId, make } from './dom.js';
import { amount, percent, plural } from './format.js';
import { keepFilled } from './lists.js';
import { LiveExplanation } from './live_explanation.js';
import { Place, PLACE_NAMES } from './state.js';

/** @typedef {import('./lists.js').View} View */

const SHOWN = 250;

/** @param {View} view */
export function showNode(view) {
  const panel = byId('panel-node', HTMLDivElement);
  const asked = new LiveExplanation(view);
  keepFilled(view, panel, ['position', 'now', 'tab', 'node', 'told'], () => {
    const { node } = view.store.choices;
    if (node < 0) return [make('p', { class: 'empty' }, 'Choose a node: click its tile, or go there with the arrow keys and press Enter.')];
    const now = view.state.nodes[node];
    const heading = make('h3', { class: 'name', id: 'node-name' }, view.model.nodes[node].name);
    if (!now) return [heading, make('p', { class: 'empty' }, 'This node is not there at this moment.')];
    const pods = view.state.podsOn(node);
    return [
      heading,
      make('p', { class: 'marks' },
        now.cordoned && make('span', { class: 'mark strong' }, 'cordoned'),
        ...(now.taints ?? []).map((taint) => make('span', { class: 'mark strong' }, taint)),
        ...Object.entries(now.labels).map(([key, value]) => make('span', { class: 'mark' }, `${key}=${value}`))),
      gauges(view, node),
      make('h4', {}, plural(pods.length, 'pod')),
      pods.length > 0 && podTable(view, pods),
      pods.length > SHOWN && make('p', { class: 'more' }, `and ${plural(pods.length - SHOWN, 'more pod')}`),
      ...(view.isNow() && pods.length > 0 ? asked.ofNode(node) : []),
      view.live && !view.isNow() && view.backToNow('The scheduler explains how things are, not how they were.'),
    ];
  });
}

/**
 * @param {View} view
 * @param {number} node
 */
function gauges(view, node) {
  const { model, state } = view;
  const rows = model.resources.map((name, resource) => {
    const [used, all] = [state.used[node * state.width + resource], state.allocatable[node * state.width + resource]];
    if (used === 0 && all === 0) return null;
    const part = all > 0 ? used / all : NaN;
    const meter = make('div', { class: 'meter' }, make('div', { class: part > 1 ? 'over' : '' }));
    /** @type {HTMLElement} */ (meter.firstChild).style.width = `${Math.min(1, part || 0) * 100}%`;
    return make('tr', {}, make('th', { scope: 'row' }, name), make('td', { class: 'meter-cell' }, meter),
      make('td', { class: 'figure' }, `${amount(name, used)} of ${amount(name, all)}`),
      make('td', { class: 'figure' }, percent(part)));
  });
  return make('table', { class: 'gauges' }, make('caption', { class: 'unseen' }, 'Requested of what can be allocated'),
    make('tbody', {}, ...rows));
}

/**
 * The head of a column, without the domain of an extended resource.
 * @param {string} name
 */
function resourceHead(name) {
  return make('th', { scope: 'col', class: 'figure', title: name }, name.slice(name.lastIndexOf('/') + 1));
}

/**
 * @param {View} view
 * @param {number[]} pods
 */
function podTable(view, pods) {
  const { model, state } = view;
  const asked = model.resources.map((_, resource) => resource)
    .filter((resource) => model.resources[resource] !== 'pods' && pods.some((pod) => model.pods[pod].requests[resource] > 0));
  return make('div', { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Pods on the node' },
    make('table', { class: 'pods' },
      make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'pod'),
        ...asked.map((resource) => resourceHead(model.resources[resource])),
        make('th', { scope: 'col', class: 'figure' }, 'priority'), make('th', { scope: 'col', class: 'figure' }, view.live ? 'for' : 'since'))),
      make('tbody', {}, ...pods.slice(0, SHOWN).map((pod) => make('tr', {},
        make('th', { scope: 'row' }, view.podLink(pod),
          state.place[pod] !== Place.BOUND && make('small', {}, ` ${PLACE_NAMES[state.place[pod]]}`)),
        ...asked.map((resource) => make('td', { class: 'figure' },
          model.pods[pod].requests[resource] > 0 ? amount(model.resources[resource], model.pods[pod].requests[resource]) : '–')),
        make('td', { class: 'figure' }, model.pods[pod].template.priority),
        make('td', { class: 'figure' }, view.since(state.since[pod])))))));
}
