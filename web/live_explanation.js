// The explanation of a pod, asked of the running scheduler when the pod is chosen.

import { make } from './dom.js';
import { explanationOf } from './explanation.js';
import { age } from './format.js';
import { ask, refusalOf } from './live.js';

/** @typedef {import('./lists.js').View} View */
/** @typedef {import('./model.js').Explanation} Explanation */

/**
 * @typedef {object} Answer
 * @property {string} pod  its full name
 * @property {number} at  when it was asked, on the scheduler's clock
 * @property {number} place  where the pod was then
 * @property {Explanation=} explanation
 * @property {string=} problem  why there is none
 */

const NOT_THERE = 'This scheduler does not explain: it has no /explain. `berth explain` does, from outside.';

export class LiveExplanation {
  /** @type {Answer | undefined} */
  #answer = undefined;

  /** @param {View} view */
  constructor(view) {
    this.view = view;
  }

  /**
   * What is known of the chosen pod's explanation. Asks for it if it is another pod than before.
   * @param {number} pod
   */
  parts(pod) {
    const { model, state, store } = this.view;
    const { fullName } = model.pods[pod];
    if (this.#answer?.pod !== fullName) this.#ask(pod);
    const { explanation, problem, at, place } = /** @type {Answer} */ (this.#answer);
    if (problem !== undefined) return [make('p', { class: 'explanation quiet-text' }, problem), this.#again(pod, '')];
    if (!explanation) return [make('p', { class: 'explanation quiet-text' }, 'The scheduler is asked why…')];
    const old = state.place[pod] === place ? '' : 'The pod is somewhere else since then.';
    return [explanationOf(this.view, explanation),
      this.#again(pod, [`Asked ${age(store.choices.now - at)} ago.`, old].filter(Boolean).join(' '))];
  }

  /**
   * @param {number} pod
   * @param {string} text
   */
  #again(pod, text) {
    return make('p', { class: 'quiet-text again' }, text, ' ',
      make('button', { type: 'button', class: 'link', 'data-key': 'ask-again', onclick: () => this.#ask(pod) }, 'Ask again'));
  }

  /** @param {number} pod */
  async #ask(pod) {
    const { model, state, store } = this.view;
    /** @type {Answer} */
    const answer = { pod: model.pods[pod].fullName, at: store.choices.now, place: state.place[pod] };
    this.#answer = answer;
    try {
      const response = await ask(`../explain?pod=${encodeURIComponent(answer.pod)}`);
      if (response.ok) {
        answer.explanation = (await response.json()).pods?.[0];
        if (!answer.explanation) answer.problem = 'The scheduler has nothing to say of this pod.';
      } else {
        const isJson = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
        answer.problem = response.status === 404 && !isJson ? NOT_THERE : `No explanation: ${await refusalOf(response)}`;
      }
    } catch (error) {
      answer.problem = `No explanation: ${error instanceof Error ? error.message : String(error)}`;
    }
    store.set({ look: store.choices.look + 1 });
  }
}
