// The sums in the head of the page.

import { byId, make } from './dom.js';
import { count } from './format.js';
import { Place } from './state.js';

/** @typedef {import('./state.js').ClusterState} ClusterState */
/** @typedef {import('./store.js').Store} Store */

/**
 * @param {ClusterState} state
 * @param {Store} store
 */
export function showCounts(state, store) {
  /** @type {[string, () => number][]} */
  const sums = [
    ['nodes', () => state.nodeCount],
    ['bound', () => state.counts[Place.BOUND]],
    ['pending', () => state.pending()],
    ['waiting', () => state.counts[Place.WAITING]],
    ['gated', () => state.counts[Place.GATED]],
    ['terminating', () => state.counts[Place.TERMINATING]],
    ['finished', () => state.counts[Place.FINISHED]],
    ['preempted', () => state.preemptions],
  ];
  const list = byId('counts', HTMLElement);
  const rows = sums.map(([name, value]) => {
    const number = make('dd', { 'data-count': name });
    const row = make('div', { class: name }, number, make('dt', {}, name));
    list.append(row);
    return { row, number, value, isAlways: ['nodes', 'bound', 'pending'].includes(name), wasThere: false };
  });
  store.subscribe(() => {
    for (const entry of rows) {
      const now = entry.value();
      entry.wasThere ||= now > 0;  // what has been there keeps its place
      entry.row.hidden = !entry.isAlways && !entry.wasThere;
      const text = count(now);
      if (entry.number.textContent !== text) entry.number.textContent = text;
    }
  });
}
