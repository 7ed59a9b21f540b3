// The time line: a rail with marks for what happened where, a hand that is moved, and the buttons
// that play.

import { byId, colour, sizedContext, within } from './dom.js';
import { count } from './format.js';

/** @typedef {import('./clock.js').Clock} Clock */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./series.js').Marks} Marks */
/** @typedef {import('./store.js').Store} Store */

export class TimeBar {
  /**
   * @param {Model} model
   * @param {Store} store
   * @param {Clock} clock
   * @param {(at: number) => string} text  of a moment
   */
  constructor(model, store, clock, text) {
    this.model = model;
    this.store = store;
    this.clock = clock;
    this.text = text;
    /** @type {Marks | undefined} */
    this.marks = undefined;
    this.rail = byId('rail', HTMLDivElement);
    this.hand = within(this.rail, '.hand', HTMLDivElement);
    this.canvas = within(this.rail, 'canvas', HTMLCanvasElement);
    this.output = byId('clock', HTMLOutputElement);
    this.playButton = byId('play', HTMLButtonElement);
    this.rail.setAttribute('aria-valuemax', '100');
    byId('time', HTMLElement).hidden = false;
    this.#listenToButtons();
    this.#listenToRail();
    store.subscribe((changed) => {
      if (changed.has('scale') || changed.has('look')) this.#drawMarks();
      if (['position', 'now', 'reach', 'scale', 'look'].some((name) => changed.has(/** @type {any} */ (name)))) this.#drawHand();
      if (changed.has('playing')) this.#drawPlaying();
    });
  }

  /** @param {Marks} marks  of the scale that is chosen */
  show(marks) {
    this.marks = marks;
    this.#drawMarks();
    this.#drawHand();
  }

  #listenToButtons() {
    const { clock, store } = this;
    /** @param {string} id @param {() => void} action */
    const onClick = (id, action) => byId(id, HTMLButtonElement).addEventListener('click', action);
    onClick('to-start', () => clock.goTo(0));
    onClick('to-end', () => clock.goTo(Infinity));
    onClick('step-back', () => clock.step(-1));
    onClick('step-on', () => clock.step(1));
    onClick('play', () => clock.play(!store.choices.playing));
    const speed = byId('speed', HTMLSelectElement);
    speed.addEventListener('change', () => clock.setSpeed(Number(speed.value)));
    const scale = byId('scale', HTMLSelectElement);
    scale.value = store.choices.scale;
    scale.addEventListener('change', () => store.set({ scale: scale.value === 'time' ? 'time' : 'changes' }));
  }

  #listenToRail() {
    const { clock, rail } = this;
    /** @param {PointerEvent} event */
    const follow = (event) => {
      const box = rail.getBoundingClientRect();
      clock.goToPart((event.clientX - box.left) / box.width);
    };
    rail.addEventListener('pointerdown', (event) => {
      rail.setPointerCapture(event.pointerId);
      follow(event);
    });
    rail.addEventListener('pointermove', (event) => {
      if (rail.hasPointerCapture(event.pointerId)) follow(event);
    });
    rail.addEventListener('keydown', (event) => this.#key(event));
    // Anywhere but in a control that has keys of its own.
    document.addEventListener('keydown', (event) => {
      const { target } = event;
      if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return;
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === ',') clock.step(-1);
      else if (event.key === '.') clock.step(1);
      else if (event.key === 'p') clock.play(!this.store.choices.playing);
      else if (target === document.body) this.#key(event);
    });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { clock, store } = this;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowLeft: () => (event.shiftKey ? clock.step(-1) : clock.skip(-0.01)),
      ArrowRight: () => (event.shiftKey ? clock.step(1) : clock.skip(0.01)),
      PageDown: () => clock.skip(-0.1),
      PageUp: () => clock.skip(0.1),
      Home: () => clock.goTo(0),
      End: () => clock.goTo(Infinity),
      ' ': () => clock.play(!store.choices.playing),
    };
    const action = actions[event.key];
    if (!action || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    action();
  }

  #drawMarks() {
    const { marks } = this;
    if (!marks) return;
    const [width, height] = [this.rail.clientWidth, this.rail.clientHeight];
    const context = sizedContext(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    const rows = /** @type {[number[], string][]} */ ([
      [marks.bindings, 'bound'], [marks.failed, 'failed'], [marks.preemptions, 'preempted'],
    ]);
    const last = Math.max(1, marks.x.length - 1);
    const step = width / last;
    rows.forEach(([values, name], row) => {
      const most = Math.max(...values);
      if (most === 0) return;
      context.fillStyle = colour(name);
      const base = height * (row + 1) / rows.length;
      values.forEach((value, index) => {
        if (value === 0) return;
        const tall = Math.max(4, (height / rows.length - 2) * Math.log1p(value) / Math.log1p(most));
        const left = Math.min(width - 2, Math.max(0, (index - 1) * step));
        context.fillRect(left, base - tall, Math.max(2, step - 0.5), tall);
      });
    });
  }

  #drawHand() {
    const { choices } = this.store;
    const part = this.clock.part();
    const { length } = this.model.changes;
    this.hand.style.left = `${part * 100}%`;
    this.rail.setAttribute('aria-valuenow', (part * 100).toFixed(1));
    this.rail.setAttribute('aria-valuetext',
      `${this.text(choices.now)} of ${this.text(this.model.duration)}, change ${choices.position} of ${length}`);
    this.output.textContent = this.text(choices.now);
    this.output.title = `change ${count(choices.position)} of ${count(length)}`;
  }

  #drawPlaying() {
    const { playing } = this.store.choices;
    this.playButton.setAttribute('aria-pressed', String(playing));
    within(this.playButton, 'span', HTMLSpanElement).textContent = playing ? 'Pause' : 'Play';
  }
}
