// Whether the scheduler that the page shows answers, and whether it is shown as it is now.

import { byId } from './dom.js';

/**
 * @param {string} problem  "": it answers
 * @param {boolean} isNow
 */
export function showLink(problem, isNow) {
  const link = byId('link', HTMLElement);
  const isLost = problem !== '';
  link.hidden = false;
  const text = isLost ? `${problem}; what is shown is old, asking again` : isNow ? 'live' : 'in the past';
  if (link.textContent !== text) link.textContent = text;
  link.classList.toggle('lost', isLost);
  link.classList.toggle('past', !isLost && !isNow);
  document.documentElement.dataset.link = isLost ? 'lost' : 'live';
}
