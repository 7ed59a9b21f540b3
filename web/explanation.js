// An explanation of a pod: which plugins reject which nodes, what would help, how nodes scored.

import { make } from './dom.js';
import { duration, plural } from './format.js';

/** @typedef {import('./dom.js').Child} Child */
/** @typedef {import('./lists.js').View} View */
/** @typedef {import('./model.js').Explanation} Explanation */
/** @typedef {import('./model.js').Obstacle} Obstacle */
/** @typedef {import('./model.js').Rejection} Rejection */
/** @typedef {import('./model.js').Suggestion} Suggestion */

const NODES_NAMED = 6;
const GROUPS_SHOWN = 100;

/**
 * @param {View} view
 * @param {Explanation} explanation
 */
export function explanationOf(view, explanation) {
  const { attempt, at, gate, message, notes = [], verdict } = explanation;
  const about = attempt === undefined ? '' : `attempt ${attempt}, ${duration(at ?? 0)}`;
  return make('section', { class: 'explanation', 'aria-label': 'Explanation' },
    make('h4', {}, 'Explanation ', verdict && make('span', { class: `verdict ${verdict.toLowerCase()}` }, verdict), ' ',
      about && make('small', {}, about)),
    message && make('p', { class: 'message' }, message),
    gate && make('p', {}, `scheduling gate: ${gate}`),
    ...notes.map((note) => make('p', { class: 'quiet-text' }, note)),
    ...suggestions(explanation),
    ...rejections(view, explanation.rejections ?? [], explanation.isFirstOnly ?? false),
    ...scores(view, explanation),
    ...nominated(view, explanation),
    ...preemption(view, explanation),
    ...standing(view, explanation),
    ...wakes(explanation));
}

/**
 * A node's name, as a link where there is a node to go to.
 * @param {View} view
 * @param {string} name
 * @returns {Child}
 */
function nodeName(view, name) {
  const node = view.model.nodeByName.get(name);
  return node === undefined ? name : view.nodeLink(node);
}

/**
 * @param {View} view
 * @param {string[]} nodes
 * @returns {Child[]}
 */
function nodeNames(view, nodes) {
  const named = nodes.slice(0, NODES_NAMED).flatMap((name, index) => [index > 0 && ', ', nodeName(view, name)]);
  return nodes.length > NODES_NAMED ? [...named, ` and ${nodes.length - NODES_NAMED} more`] : named;
}

/**
 * Groups of nodes by plugins.
 * @param {View} view
 * @param {Rejection[]} groups
 * @param {boolean} isFirstOnly
 * @returns {Child[]}
 */
function rejections(view, groups, isFirstOnly) {
  if (groups.length === 0) return [];
  /** @type {Map<string, number>} */
  const weights = new Map();
  for (const group of groups) {
    for (const { plugin } of group.plugins) weights.set(plugin, (weights.get(plugin) ?? 0) + group.nodes.length);
  }
  const plugins = [...weights].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([plugin]) => plugin);
  const rows = groups.slice(0, GROUPS_SHOWN).map((group) => make('tr', {},
    make('th', { scope: 'row' }, make('strong', {}, plural(group.nodes.length, 'node')), make('small', {}, ...nodeNames(view, group.nodes))),
    ...plugins.map((plugin, index) => {
      const obstacles = group.plugins.filter((obstacle) => obstacle.plugin === plugin);
      if (obstacles.length === 0 && isFirstOnly) return make('td', {}, '');
      if (obstacles.length === 0) return make('td', { class: 'passes' }, make('span', { role: 'img', 'aria-label': 'passes' }, '✓'));
      return make('td', { class: `rejects hue-${index % 6}` }, ...obstacles.map(obstacleText));
    })));
  return [
    make('h5', {}, isFirstOnly ? 'Which plugin is the first to reject which nodes' : 'Which plugin rejects which nodes'),
    make('div', { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Nodes by plugins' },
      make('table', { class: 'matrix' },
        make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'nodes'),
          ...plugins.map((plugin, index) => make('th', { scope: 'col', class: `hue-${index % 6}` }, plugin)))),
        make('tbody', {}, ...rows))),
    groups.length > GROUPS_SHOWN && make('p', { class: 'more' }, `and ${plural(groups.length - GROUPS_SHOWN, 'more group')}`),
  ];
}

/** @param {Obstacle} obstacle */
function obstacleText(obstacle) {
  const reason = obstacle.reason ?? obstacle.code ?? '';
  const detail = [obstacle.text || obstacle.subject || ''].filter((text) => text !== '' && !reason.includes(text));
  return make('p', {}, reason, ...detail.map((text) => make('small', {}, text)));
}

/**
 * @param {Explanation} explanation
 * @returns {Child[]}
 */
function suggestions({ suggestions: list = [], tried = [] }) {
  if (list.length === 0 && tried.length === 0) return [];
  if (list.length === 0) {
    return [make('h5', {}, 'Tried, and did not help'), make('ul', { class: 'tried' }, ...tried.map((text) => make('li', {}, text)))];
  }
  return [make('h5', {}, 'What would help'), make('ol', { class: 'suggestions' }, ...list.map(suggestion))];
}

/** @param {Suggestion} suggestion */
function suggestion({ summary, cost, nodes = [], commands = [], victims = [] }) {
  return make('li', {}, make('p', {}, summary),
    make('p', { class: 'quiet-text' }, [
      nodes.length > 0 && `then fits on ${nodes.slice(0, 3).join(', ')}${nodes.length > 3 ? ` and ${nodes.length - 3} more` : ''}`,
      victims.length > 0 && `costs ${victims.join(', ')}`,
      cost !== undefined && `cost ${cost}`,
    ].filter(Boolean).join(' · ')),
    ...commands.map(command));
}

/** @param {string} text */
function command(text) {
  const button = make('button', { type: 'button', class: 'copy', 'aria-label': `Copy: ${text}` }, 'Copy');
  button.addEventListener('click', async () => {
    button.textContent = await copied(text) ? 'Copied' : 'Select and copy';
    window.setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  return make('div', { class: 'command' }, make('code', {}, text), button);
}

/**
 * Puts text on the clipboard.
 * @param {string} text
 */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {View} view
 * @param {Explanation} explanation
 * @returns {Child[]}
 */
function scores(view, { scores: list = [], chosen, margin, ties = [] }) {
  if (list.length === 0) return [];
  const plugins = list[0].plugins.map(({ plugin }) => plugin);
  const rows = list.slice(0, GROUPS_SHOWN).map(({ node, total, plugins: points }) => make('tr', { class: node === chosen ? 'chosen' : '' },
    make('th', { scope: 'row' }, nodeName(view, node)),
    make('td', { class: 'figure total' }, total),
    ...plugins.map((plugin) => {
      const found = points.find((entry) => entry.plugin === plugin);
      const detail = found?.raw === undefined ? false : `raw ${found.raw}, normalized ${found.normalized}`;
      return make('td', { class: 'figure', title: detail }, found ? found.weighted : '–');
    })));
  return [
    make('h5', {}, 'Scores'),
    make('p', { class: 'quiet-text' }, [
      chosen && `chosen: ${chosen}`, margin !== undefined && margin !== null && `ahead by ${margin}`,
      ties.length > 1 && `${ties.length} nodes share the highest total`,
    ].filter(Boolean).join(' · ')),
    make('div', { class: 'scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Scores of nodes by plugins' },
      make('table', { class: 'matrix' },
        make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'node'), make('th', { scope: 'col', class: 'figure' }, 'total'),
          ...plugins.map((plugin) => make('th', { scope: 'col' }, plugin)))),
        make('tbody', {}, ...rows))),
  ];
}

/**
 * @param {View} view
 * @param {Explanation} explanation
 * @returns {Child[]}
 */
function nominated(view, { nominated: nodes = [] }) {
  if (nodes.length === 0) return [];
  return [make('h5', {}, 'Would fit without nominated pods'), ...nodes.slice(0, GROUPS_SHOWN).map(({ node, pods }) =>
    make('p', {}, 'on ', nodeName(view, node), `, without ${pods.join(', ')}`))];
}

/**
 * How the pod stands in the scheduler's queue, or at Permit.
 * @param {View} view
 * @param {Explanation} explanation
 * @returns {Child[]}
 */
function standing(view, { permit, queue }) {
  /** @type {[string, Child[]][]} */
  const rows = [];
  if (queue) {
    rows.push(['place', [queue.place]], ['since', [timeOf(queue.since)]], ['until', [timeOf(queue.until)]],
      ['attempts', [queue.attempts]], ['rejected by', [queue.rejectedBy?.join(', ')]],
      ['missed', [queue.missed?.map((event) => (typeof event === 'string' ? event : JSON.stringify(event))).join(', ')]]);
  }
  if (permit) {
    rows.push(['node', [nodeName(view, permit.node)]], ['since', [timeOf(permit.since)]],
      ...(permit.holders ?? []).map(({ plugin, until }) => /** @type {[string, Child[]]} */ (
        ['held by', [`${plugin}${until ? `, until ${timeOf(until)}` : ''}`]])));
  }
  const filled = rows.filter(([, parts]) => parts.some((part) => part !== undefined && part !== ''));
  if (filled.length === 0) return [];
  return [make('h5', {}, permit ? 'Held at Permit' : 'In the queue'), make('dl', { class: 'facts' },
    ...filled.map(([name, parts]) => make('div', {}, make('dt', {}, name), make('dd', {}, ...parts))))];
}

/** @param {string | undefined} time  as Kubernetes writes it */
function timeOf(time) {
  if (!time) return '';
  const read = new Date(time);
  return Number.isNaN(read.getTime()) ? time : read.toLocaleTimeString('en-GB');
}

/**
 * @param {View} view
 * @param {Explanation} explanation
 * @returns {Child[]}
 */
function preemption(view, { preemption: outcome }) {
  if (!outcome) return [];
  const { node, victims = [], message, reasons = [] } = outcome;
  const text = node ? `makes room on ${node}${victims.length > 0 ? ` by evicting ${victims.join(', ')}` : ''}` : message ?? 'does not help';
  return [make('h5', {}, 'Preemption'), make('p', {}, text),
    reasons.length > 0 && make('ul', { class: 'tried' }, ...reasons.slice(0, GROUPS_SHOWN).map((reason) =>
      make('li', {}, reason.text, make('small', {}, ' ', plural(reason.nodes.length, 'node'), ': ', ...nodeNames(view, reason.nodes)))))];
}

/**
 * @param {Explanation} explanation
 * @returns {Child[]}
 */
function wakes({ wakes: events }) {
  if (!events || Object.keys(events).length === 0) return [];
  return [
    make('h5', {}, 'What will wake it'),
    make('dl', { class: 'facts' }, ...Object.entries(events).map(([plugin, names]) =>
      make('div', {}, make('dt', {}, plugin), make('dd', {}, names.join(', '))))),
  ];
}
