// The moment that the page shows: moved by time or by change, and played. Who is at the end of what is
// known of a running scheduler follows it.

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./store.js').Store} Store */

export class Clock {
  #last = 0;
  #speed = 15;  // seconds for all of it
  #carried = 0;  // a part of a change

  /**
   * @param {Model} model
   * @param {Store} store
   */
  constructor(model, store) {
    this.model = model;
    this.store = store;
    this.frame = this.frame.bind(this);
  }

  /** @param {number} position */
  goTo(position) {
    const last = this.model.changes.length;
    const at = Math.max(this.model.start, Math.min(last, Math.round(position)));
    const { begin, changes, duration, start } = this.model;
    const now = at === last ? duration : at === start ? begin : changes[at - 1].at;
    this.store.set({ position: at, now, follows: at === last });
  }

  /** @param {number} time */
  goToTime(time) {
    const { begin, duration, start } = this.model;
    const now = Math.max(begin, Math.min(duration, time));
    this.store.set({ position: Math.max(start, this.model.changesUntil(now)), now, follows: now === duration });
  }

  /**
   * Steps over that part of the whole run.
   * @param {number} part
   */
  skip(part) {
    const { scale, now, position } = this.store.choices;
    if (scale === 'time') this.goToTime(now + part * this.#span());
    else this.goTo(position + Math.sign(part) * Math.max(1, Math.abs(part) * this.length()));
  }

  /** @param {number} changes */
  step(changes) {
    this.goTo(this.store.choices.position + changes);
  }

  /**
   * How far that moment is into the run, 0 to 1.
   * @returns {number}
   */
  part() {
    const { scale, now, position } = this.store.choices;
    if (scale === 'time') return this.#span() > 0 ? (now - this.model.begin) / this.#span() : 1;
    return this.length() > 0 ? (position - this.model.start) / this.length() : 1;
  }

  /** @param {number} part */
  goToPart(part) {
    if (this.store.choices.scale === 'time') this.goToTime(this.model.begin + part * this.#span());
    else this.goTo(this.model.start + part * this.length());
  }

  /** The milliseconds that there are to move along. */
  #span() {
    return this.model.duration - this.model.begin;
  }

  /** How many changes there are to move along. */
  length() {
    return this.model.changes.length - this.model.start;
  }

  /** @param {number} seconds  for all of it */
  setSpeed(seconds) {
    this.#speed = seconds;
  }

  /** @param {boolean} playing */
  play(playing) {
    if (playing && this.part() >= 1) this.goToPart(0);
    this.store.set({ playing });
    this.#last = 0;
    if (playing) requestAnimationFrame(this.frame);
  }

  /** @param {number} time */
  frame(time) {
    if (!this.store.choices.playing) return;
    const passed = this.#last === 0 ? 0 : (time - this.#last) / 1000 / this.#speed;
    this.#last = time;
    const { scale, now, position } = this.store.choices;
    if (scale === 'time') {
      this.goToTime(now + passed * this.#span());
    } else {
      this.#carried += passed * this.length();
      const whole = Math.floor(this.#carried);
      this.#carried -= whole;
      if (whole > 0) this.goTo(position + whole);
    }
    if (this.part() >= 1) this.store.set({ playing: false });
    else requestAnimationFrame(this.frame);
  }
}
