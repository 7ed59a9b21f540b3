// The stream of decisions, newest first, up to the moment shown.

import { byId, make } from './dom.js';
import { count } from './format.js';
import { keepFilled } from './lists.js';
import { wordsOf } from './story.js';

/** @typedef {import('./lists.js').View} View */

const SHOWN = 100;
// Those that tell a reader something; what leads to them is in each pod's own story.
const TOLD = new Set([
  'decided', 'failed', 'waiting', 'settled', 'bound', 'preempted', 'finished', 'terminating', 'scenario', 'trouble',
  'nodeAdded', 'nodeRemoved', 'nodeChanged',
]);

/** @param {View} view */
export function showDecisions(view) {
  const panel = byId('panel-decisions', HTMLDivElement);
  keepFilled(view, panel, ['position', 'tab'], () => {
    const items = [];
    const { position } = view.store.choices;
    for (let place = position - 1; place >= view.model.start && items.length < SHOWN; --place) {
      const change = view.model.changes[place];
      // Its failure follows, with the message.
      if (!TOLD.has(change.what) || (change.what === 'decided' && change.outcome !== 'Success')) continue;
      const { kind, words } = wordsOf(view, change);
      const subject = change.pod !== undefined ? view.podLink(change.pod) :
        change.node !== undefined ? view.nodeLink(change.node) : null;
      items.push(make('li', { class: kind }, view.momentLink(place), make('div', {}, subject, subject && ' ', ...words)));
    }
    if (items.length === 0) return [make('p', { class: 'empty' }, 'Nothing has been decided yet.')];
    return [
      !view.live && make('p', { class: 'quiet-text' }, `Up to change ${count(position)} of ${count(view.model.changes.length)}, newest first`),
      make('ol', { class: 'stream' }, ...items),
    ];
  });
}
