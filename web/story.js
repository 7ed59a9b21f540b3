// What a change says in words.

import { make } from './dom.js';
import { duration, plural } from './format.js';

/** @typedef {import('./dom.js').Child} Child */
/** @typedef {import('./lists.js').View} View */
/** @typedef {import('./model.js').Change} Change */

/**
 * The words after the pod's or node's name, and what kind of line it is.
 * @param {View} view
 * @param {Change} change
 * @returns {{kind: string, words: Child[]}}
 */
export function wordsOf(view, change) {
  const node = change.node ?? -1;
  switch (change.what) {
    case 'created': return { kind: 'plain', words: ['created'] };
    case 'queued': return { kind: 'plain', words: [`into the ${change.queue} queue: ${view.text(change.event)}`] };
    case 'attempt': return { kind: 'plain', words: [`attempt ${change.attempt} begins`] };
    case 'decided': return decided(view, change);
    case 'waiting': return {
      kind: 'waiting', words: [`waits at Permit: ${Object.entries(change.holds ?? {})
        .map(([plugin, wait]) => `${plugin}, for ${duration(wait)} at most`).join('; ')}`],
    };
    case 'settled': return settled(view, change);
    case 'bound': return { kind: 'bound', words: ['is on ', view.nodeLink(node)] };
    case 'failed': return {
      kind: 'failed',
      words: [change.plugin ? `${change.outcome} by ${change.plugin}: ` : `${change.outcome}: `,
        make('span', { class: 'message' }, view.text(change.message))],
    };
    case 'preempted': return {
      kind: 'preempted', words: ['makes room on ', view.nodeLink(node), ' for ', view.podLink(change.by ?? 0)],
    };
    case 'terminating': return { kind: 'plain', words: ['is being deleted'] };
    case 'finished': return { kind: 'plain', words: [change.failed ? 'has failed' : 'has succeeded'] };
    case 'deleted': return { kind: 'plain', words: ['is gone'] };
    case 'nodeAdded': return { kind: 'node', words: ['node added'] };
    case 'nodeChanged': return { kind: 'node', words: ['node changed'] };
    case 'nodeRemoved': return { kind: 'node', words: ['node removed'] };
    case 'trouble': return { kind: 'failed', words: [view.text(change.text)] };
  }
  return { kind: 'scenario', words: [view.text(change.text)] };
}

/**
 * @param {View} view
 * @param {Change} change
 * @returns {{kind: string, words: Child[]}}
 */
function decided(view, change) {
  if (change.outcome === 'Success' && change.node !== undefined) {
    const score = change.feasible !== undefined && change.feasible > 1 ? `, score ${change.score}` : '';
    return {
      kind: 'chosen',
      words: ['gets ', view.nodeLink(change.node), ` of ${plural(change.feasible ?? 0, 'feasible node')}${score}`],
    };
  }
  const plugins = change.plugins?.length ? `, rejected by ${change.plugins.join(', ')}` : '';
  return { kind: 'plain', words: [`${plural(change.feasible ?? 0, 'feasible node')} of ${change.evaluated}${plugins}`] };
}

/**
 * @param {View} view
 * @param {Change} change
 * @returns {{kind: string, words: Child[]}}
 */
function settled(view, change) {
  if (change.outcome === 'Success') return { kind: 'waiting', words: ['is allowed by all Permit plugins'] };
  const message = view.text(change.message);
  return { kind: 'failed', words: [`its wait at Permit ends: ${change.plugin ?? ''}${message ? ` ${message}` : ''}`] };
}
