// What the reader of the page has chosen, and who wants to know when it changes. Views change it with
// `set` and are called once per frame with the names of what has changed.

/**
 * @typedef {object} Choices
 * @property {number} position  how many changes have happened
 * @property {number} now  milliseconds
 * @property {boolean} playing
 * @property {boolean} follows  it is the end of what is known: a running scheduler is followed
 * @property {number} reach  grows when a running scheduler has told what is new: milliseconds
 * @property {"time" | "changes"} scale  of the time line and the plots
 * @property {number} resource  how full nodes are of what
 * @property {string} group  a label key, or ""
 * @property {number} node  -1: none
 * @property {number} pod  -1: none
 * @property {string} explained  the full name of the pod whose explanation is shown, or ""
 * @property {string} tab
 * @property {number} look  grows when colours or sizes have changed
 * @property {number} told  grows when a live scheduler has answered something
 *
 * @typedef {Set<keyof Choices>} Changed
 */

export class Store {
  /** @type {((changed: Changed) => void)[]} */
  #views = [];
  /** @type {Changed} */
  #changed = new Set();
  #frame = 0;

  /** @param {Choices} choices */
  constructor(choices) {
    /** @type {Readonly<Choices>} */
    this.choices = choices;
  }

  /** @param {(changed: Changed) => void} view */
  subscribe(view) {
    this.#views.push(view);
  }

  /** @param {Partial<Choices>} choices */
  set(choices) {
    for (const [name, value] of Object.entries(choices)) {
      const key = /** @type {keyof Choices} */ (name);
      if (this.choices[key] !== value) this.#changed.add(key);
    }
    this.choices = { ...this.choices, ...choices };
    if (this.#changed.size > 0 && this.#frame === 0) {
      this.#frame = requestAnimationFrame(() => this.flush());
    }
  }

  /** Calls the views now. */
  flush() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const changed = this.#changed;
    this.#changed = new Set();
    if (changed.size > 0) for (const view of this.#views) view(changed);
  }
}
