// What the panels of lists have in common: links to pods and nodes, and content that is replaced
// without taking the focus away.

import { byId, make } from './dom.js';
import { age, duration } from './format.js';

/** @typedef {import('./clock.js').Clock} Clock */
/** @typedef {import('./dom.js').Child} Child */
/** @typedef {import('./live.js').LiveSource} LiveSource */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./state.js').ClusterState} ClusterState */
/** @typedef {import('./store.js').Changed} Changed */
/** @typedef {import('./store.js').Choices} Choices */
/** @typedef {import('./store.js').Store} Store */

const REFILLS_PER_SECOND = 8;

/** What a panel is made with. */
export class View {
  /**
   * @param {Model} model
   * @param {ClusterState} state
   * @param {Store} store
   * @param {Clock} clock
   */
  constructor(model, state, store, clock) {
    this.model = model;
    this.state = state;
    this.store = store;
    this.clock = clock;
    /** Where the data comes from, if it shows a running scheduler. @type {LiveSource | undefined} */
    this.live = undefined;
  }

  /** @param {number} pod */
  podLink(pod) {
    const { fullName } = this.model.pods[pod];
    return make('button', {
      type: 'button', class: 'link', 'data-key': `pod ${pod}`,
      onclick: () => this.store.set({ pod, explained: fullName, tab: 'pod' }),
    }, fullName);
  }

  /** @param {number} node */
  nodeLink(node) {
    return make('button', {
      type: 'button', class: 'link', 'data-key': `node ${node}`,
      onclick: () => this.store.set({ node, tab: 'node' }),
    }, this.model.nodes[node].name);
  }

  /**
   * A moment, to go to.
   * @param {number} place  of a change
   */
  momentLink(place) {
    const change = this.model.changes[place];
    const isPast = place < this.store.choices.position;
    return make('button', {
      type: 'button', class: isPast ? 'link moment' : 'link moment future', 'data-key': `at ${place}`, title: 'Go to this moment',
      // A change has another place when older ones have been forgotten.
      onclick: () => this.clock.goTo(this.model.changes.indexOf(change) + 1),
    }, this.moment(change.at));
  }

  /**
   * A moment in words: the time of day, or how far it is into a recorded run.
   * @param {number} at
   */
  moment(at) {
    return this.live ? new Date(this.live.wallAtStart + at).toLocaleTimeString('en-GB') : duration(at);
  }

  /** Whether what is shown is how a running scheduler stands now. */
  isNow() {
    return this.live !== undefined && this.store.choices.follows;
  }

  /**
   * In the place of what only the present has.
   * @param {string} text
   */
  backToNow(text) {
    return make('p', { class: 'quiet-text' }, text, ' ', make('button', {
      type: 'button', class: 'link', 'data-key': 'back-to-now', onclick: () => this.clock.goTo(Infinity),
    }, 'Back to now'));
  }

  /**
   * Since when: the moment in a recorded run, how long ago it was in a live one.
   * @param {number} at
   */
  since(at) {
    return this.live ? age(this.store.choices.now - at) : duration(at);
  }

  /**
   * How long it has lasted.
   * @param {number} at
   */
  lasted(at) {
    const passed = Math.max(0, this.store.choices.now - at);
    return this.live ? age(passed) : duration(passed);
  }

  /**
   * Says something to who listens to the page.
   * @param {string} text
   */
  say(text) {
    byId('said', HTMLElement).textContent = text;
  }

  /** @param {number | undefined} index */
  text(index) {
    return index === undefined || index < 0 ? '' : this.model.texts[index];
  }
}

/**
 * Fills a panel whenever it is shown and one of these choices has changed; while the time line plays,
 * a few times a second.
 * @param {View} view
 * @param {HTMLElement} panel
 * @param {(keyof Choices)[]} choices
 * @param {() => Child[]} content
 */
export function keepFilled(view, panel, choices, content) {
  let last = -Infinity;
  let timer = 0;
  let isStale = true;
  let isHeld = false;  // a button in it is being pressed: it must not go before it is let go
  panel.addEventListener('pointerdown', () => { isHeld = true; });
  for (const end of ['pointerup', 'pointercancel']) {
    window.addEventListener(end, () => {
      if (isHeld) window.setTimeout(() => { isHeld = false; });  // after the click
    });
  }
  const fill = () => {
    window.clearTimeout(timer);
    timer = isHeld ? window.setTimeout(fill, 100) : 0;
    if (isHeld) return;
    isStale = false;
    last = performance.now();
    refill(panel, content());
  };
  view.store.subscribe((changed) => {
    isStale ||= changed.has('look') || choices.some((name) => changed.has(name));
    if (!isStale || panel.hidden) return;
    // Who types a name is not disturbed by what goes on meanwhile.
    const active = document.activeElement;
    const isTyping = active instanceof HTMLInputElement && panel.contains(active) && 'typing' in active.dataset;
    if (view.live && isTyping && [...changed].every((name) => ['now', 'position', 'reach'].includes(name))) return;
    const wait = last + 1000 / REFILLS_PER_SECOND - performance.now();
    if (wait <= 0 || !changed.has('position') || changed.has('node') || changed.has('pod')) fill();
    else if (timer === 0) timer = window.setTimeout(fill, wait);
  });
}

/**
 * @param {HTMLElement} panel
 * @param {Child[]} content
 */
function isFilledWith(panel, content) {
  const there = [...panel.firstElementChild?.childNodes ?? []];
  const parts = content.filter((part) => part !== null && part !== undefined && part !== false);
  return there.length === parts.length && parts.every((part, index) =>
    part === there[index] || (part instanceof Node && part.isEqualNode(there[index])));
}

/**
 * Replaces the content; what had the focus has it again if it is still there.
 * @param {HTMLElement} panel
 * @param {Child[]} content
 */
function refill(panel, content) {
  const active = document.activeElement;
  const key = active instanceof HTMLElement && panel.contains(active) ? active.dataset.key : undefined;
  const { scrollTop } = panel;
  const scrolled = new Map([...panel.querySelectorAll('.scroll-x')].map((box) => [box.getAttribute('aria-label'), box.scrollLeft]));
  if (isFilledWith(panel, content)) return;  // and what is selected stays so
  panel.replaceChildren(make('div', {}, ...content));
  panel.scrollTop = scrollTop;
  for (const box of panel.querySelectorAll('.scroll-x')) box.scrollLeft = scrolled.get(box.getAttribute('aria-label')) ?? 0;
  if (key === undefined) return;
  const again = [...panel.querySelectorAll('[data-key]')].find(
    (element) => element instanceof HTMLElement && element.dataset.key === key);
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}
