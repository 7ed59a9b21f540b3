// Pods that wait at Permit: buttons that let one go or turn it away, for those who may.

import { make } from './dom.js';
import { ask, refusalOf } from './live.js';

/** @typedef {import('./lists.js').View} View */

/** What became of the last order for a pod, by its full name. @type {Map<string, string>} */
const answers = new Map();
const ANSWERS_KEPT = 100;

/**
 * @param {View} view
 * @param {number} pod
 */
export function permitButtons(view, pod) {
  const { fullName } = view.model.pods[pod];
  const holders = view.live?.holds.get(pod) ?? [];
  /** @param {"allow" | "reject"} action */
  const button = (action) => make('button', {
    type: 'button', class: action, 'data-key': `${action} ${pod}`,
    'aria-label': `${action === 'allow' ? 'Allow' : 'Reject'} ${fullName}`,
    onclick: () => order(view, fullName, action),
  }, action === 'allow' ? 'Allow' : 'Reject');
  const answer = answers.get(fullName);
  return make('div', { class: 'permit' },
    holders.length > 0 && make('span', { class: 'quiet-text' }, `held by ${holders.join(', ')}`),
    button('allow'), button('reject'),
    answer && make('span', { class: 'answer' }, answer));
}

/**
 * @param {View} view
 * @param {string} fullName
 * @param {"allow" | "reject"} action
 */
async function order(view, fullName, action) {
  let answer = '';
  try {
    const path = fullName.split('/').map(encodeURIComponent).join('/');
    const response = await ask(`../debug/waiting-pods/${path}/${action}`, 'POST');
    answer = response.ok ? `${action === 'allow' ? 'allowed' : 'rejected'}` : await refusalOf(response);
  } catch (error) {
    answer = error instanceof Error ? error.message : String(error);
  }
  answers.delete(fullName);
  answers.set(fullName, answer);
  if (answers.size > ANSWERS_KEPT) answers.delete([...answers.keys()][0]);
  view.say(`${fullName}: ${answer}`);
  view.live?.hurry();
  view.store.set({ told: view.store.choices.told + 1 });
}
