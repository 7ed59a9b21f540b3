// The tabs of the details: arrow keys move between them.

import { byId } from './dom.js';

/** @typedef {import('./store.js').Store} Store */

export const TABS = ['queues', 'decisions', 'node', 'pod'];

/** @param {Store} store */
export function showTabs(store) {
  const tabs = TABS.map((name) => byId(`tab-${name}`, HTMLButtonElement));
  const panels = TABS.map((name) => byId(`panel-${name}`, HTMLDivElement));
  tabs.forEach((tab, index) => {
    tab.addEventListener('click', () => store.set({ tab: TABS[index] }));
    tab.addEventListener('keydown', (event) => {
      /** @type {Record<string, number>} */
      const moves = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: TABS.length - 1 };
      if (!(event.key in moves)) return;
      event.preventDefault();
      const next = (moves[event.key] + TABS.length) % TABS.length;
      store.set({ tab: TABS[next] });
      tabs[next].focus();
    });
  });
  const show = () => {
    TABS.forEach((name, index) => {
      const isChosen = name === store.choices.tab;
      tabs[index].setAttribute('aria-selected', String(isChosen));
      tabs[index].tabIndex = isChosen ? 0 : -1;
      panels[index].hidden = !isChosen;
    });
  };
  show();
  const detail = byId('detail', HTMLElement);
  store.subscribe((changed) => {
    if (changed.has('tab')) show();
    // Where the details are below the nodes, what was chosen may be out of sight.
    const isChosen = changed.has('tab') || changed.has('node') || changed.has('pod');
    if (isChosen && detail.getBoundingClientRect().top > window.innerHeight * 0.8) detail.scrollIntoView();
  });
}
