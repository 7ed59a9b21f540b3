// Explanations asked of the running scheduler: of a pod when it is chosen, of the pods on a node when
// somebody wants to know.

import { make } from './dom.js';
import { explanationOf } from './explanation.js';
import { age } from './format.js';
import { ask, refusalOf } from './live.js';

/** @typedef {import('./dom.js').Child} Child */
/** @typedef {import('./lists.js').View} View */
/** @typedef {import('./model.js').Explanation} Explanation */

/**
 * @typedef {object} Answer
 * @property {string} query
 * @property {number} at  when it was asked, on the scheduler's clock
 * @property {number} place  where the pod was then
 * @property {Explanation[]=} explanations
 * @property {string=} problem  why there are none
 */

const MOST_ASKED = 50;  // pods in one question
const NOT_THERE = 'This scheduler does not explain: it has no /explain. `berth explain` does, from outside.';

export class LiveExplanation {
  /** @type {Answer | undefined} */
  #answer = undefined;
  #node = -1;  // whose pods were asked about
  /** Pods on a node whose explanations are open. @type {Set<string>} */
  #open = new Set();

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  /**
   * Why the pod is where it is. Asks if it is another pod than before.
   * @param {number} pod
   * @returns {Child[]}
   */
  ofPod(pod) {
    const { model, state } = this.view;
    const query = `pod=${encodeURIComponent(model.pods[pod].fullName)}`;
    if (this.#answer?.query !== query) this.#ask(query, state.place[pod]);
    return this.#parts(state.place[pod], ([first]) => [explanationOf(this.view, first)]);
  }

  /**
   * Why the pods on a node are there; a button, until somebody wants to know.
   * @param {number} node
   * @returns {Child[]}
   */
  ofNode(node) {
    const { model, state } = this.view;
    const pods = state.podsOn(node).slice(0, MOST_ASKED).map((pod) => `pod=${encodeURIComponent(model.pods[pod].fullName)}`);
    const query = [...pods, 'suggestions=false'].join('&');
    if (this.#node !== node || !this.#answer) {
      this.#node = -1;
      return [make('p', {}, make('button', { type: 'button', 'data-key': 'why-here', onclick: () => {
        this.#node = node;
        this.#ask(query, 0);
      } }, 'Why are they here?'))];
    }
    return this.#parts(0, (explanations) => explanations.map((explanation) => make('details', {
      class: 'why', open: this.#open.has(explanation.pod), ontoggle: (/** @type {Event} */ event) => {
        if (event.target instanceof HTMLDetailsElement && event.target.open) this.#open.add(explanation.pod);
        else this.#open.delete(explanation.pod);
      },
    }, make('summary', { 'data-key': `why ${explanation.pod}` }, explanation.pod), explanationOf(this.view, explanation))));
  }

  /**
   * @param {number} placeNow
   * @param {(explanations: Explanation[]) => Child[]} show
   * @returns {Child[]}
   */
  #parts(placeNow, show) {
    const answer = /** @type {Answer} */ (this.#answer);
    const { at, explanations, place, problem } = answer;
    if (problem !== undefined) return [make('p', { class: 'explanation quiet-text' }, problem), this.#again('', placeNow)];
    if (!explanations) return [make('p', { class: 'explanation quiet-text' }, 'The scheduler is asked why…')];
    const old = placeNow === place ? '' : 'The pod is somewhere else since then.';
    return [...show(explanations),
      this.#again([`Asked ${age(this.view.store.choices.now - at)} ago.`, old].filter(Boolean).join(' '), placeNow)];
  }

  /**
   * @param {string} text
   * @param {number} placeNow
   */
  #again(text, placeNow) {
    const again = () => {
      this.#ask(/** @type {Answer} */ (this.#answer).query, placeNow);
    };
    return make('p', { class: 'quiet-text again' }, text, ' ',
      make('button', { type: 'button', class: 'link', 'data-key': 'ask-again', onclick: again }, 'Ask again'));
  }

  /**
   * @param {string} query
   * @param {number} place
   */
  async #ask(query, place) {
    const { store } = this.view;
    /** @type {Answer} */
    const answer = { query, at: store.choices.now, place };
    this.#answer = answer;
    this.#redraw();
    try {
      const response = await ask(`../explain?${query}`);
      if (response.ok) {
        answer.explanations = (await response.json()).pods ?? [];
        if (answer.explanations?.length === 0) answer.problem = 'The scheduler has nothing to say of this.';
      } else {
        const isJson = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
        answer.problem = response.status === 404 && !isJson ? NOT_THERE : `No explanation: ${await refusalOf(response)}`;
      }
    } catch (error) {
      answer.problem = `No explanation: ${error instanceof Error ? error.message : String(error)}`;
    }
    this.#redraw();
  }

  #redraw() {
    const { store } = this.view;
    store.set({ told: store.choices.told + 1 });
  }
}
