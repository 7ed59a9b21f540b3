// Whether the scheduler that the page shows answers.

import { byId } from './dom.js';

/** @param {string} problem  "": it answers */
export function showLink(problem) {
  const link = byId('link', HTMLElement);
  const isLost = problem !== '';
  link.hidden = false;
  const text = isLost ? `${problem}; what is shown is old, asking again` : 'live';
  if (link.textContent !== text) link.textContent = text;
  link.classList.toggle('lost', isLost);
  document.documentElement.dataset.link = isLost ? 'lost' : 'live';
}
