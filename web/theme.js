// Light and dark: the system's choice, until the button says otherwise for this visit.

import { byId } from './dom.js';

/** @typedef {import('./store.js').Store} Store */

/** @param {Store} store */
export function showTheme(store) {
  const button = byId('theme', HTMLButtonElement);
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const show = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', isDark() ? 'Use light colours' : 'Use dark colours');
    store.set({ look: store.choices.look + 1 });
  };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    show();
  });
  system.addEventListener('change', show);
  show();
}
