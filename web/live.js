// The running scheduler that serves the page: how all stands (a snapshot), then what changes, asked
// for again and again. What comes is put into the model. Two states have it: one is always up to date,
// the other is the moment that the views show, which may be one of the last minutes.

import { isThere, Place } from './state.js';

/** @typedef {import('./model.js').Change} Change */
/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').NodeState} NodeState */
/** @typedef {import('./model.js').TemplateData} TemplateData */
/** @typedef {import('./state.js').ClusterState} ClusterState */
/** @typedef {import('./store.js').Store} Store */

/**
 * How a scheduler stands. Times are milliseconds on its clock, `at` that of the snapshot; `wall` is the
 * same moment, milliseconds since 1970. What happened before the scheduler began has negative times.
 * @typedef {object} LiveSnapshot
 * @property {string} cursor
 * @property {number} at
 * @property {number} wall
 * @property {(NodeState & {name: string, gone?: boolean})[]} nodes  "gone": pods are there, but no node
 * @property {TemplateData[]} templates
 * @property {string[]} texts
 * @property {LivePod[]} pods
 *
 * @typedef {object} LivePod
 * @property {string} uid
 * @property {string} name
 * @property {number} template
 * @property {string} place  "created", "active", "backoff", "unschedulable", "gated", "scheduling",
 *   "waiting", "binding", "bound", "terminating" or "finished"
 * @property {number} since
 * @property {number=} created
 * @property {number=} node
 * @property {number=} attempt
 * @property {string[]=} holds  plugins that hold it at Permit
 * @property {string=} gate  the plugin that keeps it out of the queue
 * @property {number=} message
 */

/**
 * What has changed. A change is one of model.js, but that pods are named by their UIDs, nodes by their
 * names, and texts stand as they are; `created` has the pod's name and template as well.
 * @typedef {object} LiveChanges
 * @property {string} cursor
 * @property {number} at
 * @property {boolean} isAll  nothing more has happened
 * @property {Record<string, any>[]} changes
 */

const ASK_EVERY = 500;  // milliseconds
const ASK_AGAIN_AFTER = [500, 1000, 2000, 5000];  // failures
const ANSWER_WITHIN = 30000;
const CHANGES_KEPT = 50000;  // then the older half is forgotten

/** @type {Record<string, number>} */
const PLACES = {
  created: Place.CREATED, active: Place.ACTIVE, backoff: Place.BACKOFF, unschedulable: Place.UNSCHEDULABLE,
  gated: Place.GATED, scheduling: Place.SCHEDULING, waiting: Place.WAITING, binding: Place.BINDING,
  bound: Place.BOUND, terminating: Place.TERMINATING, finished: Place.FINISHED,
};

export class LiveSource {
  #cursor = '';
  #failures = 0;
  /** @type {(() => void) | undefined} */
  #wake = undefined;
  /** @type {Map<string, number>} */
  #podByUid = new Map();
  /** @type {Map<string, number>} */
  #texts = new Map();
  /** @type {number[]} */
  #freePods = [];
  /** @type {number[]} */
  #freeNodes = [];
  /** @type {Map<string, TemplateData>} */
  #templates = new Map();

  /**
   * @param {Model} model
   * @param {ClusterState} state  that is shown: moved by the store's position
   * @param {ClusterState} head  as of now
   * @param {Store} store
   * @param {{change: (change: Change) => void, link: (problem: string) => void}} listeners  of each
   *   change after it has been put in, and of whether the scheduler answers (no problem: "")
   */
  constructor(model, state, head, store, listeners) {
    this.model = model;
    this.state = state;
    this.head = head;
    this.store = store;
    this.listeners = listeners;
    /** Milliseconds since 1970 at the beginning of the scheduler's clock. */
    this.wallAtStart = 0;
    /** Plugins that hold a pod at Permit. @type {Map<number, string[]>} */
    this.holds = new Map();
    /** Plugins that keep a pod out of the queue. @type {Map<number, string>} */
    this.gates = new Map();
  }

  /** Asks for ever; not while nobody sees the page. */
  async run() {
    document.addEventListener('visibilitychange', () => this.hurry());
    for (;;) {
      let wait = ASK_EVERY;
      try {
        const isAll = this.#cursor === '' ? await this.#takeSnapshot() : await this.#takeChanges();
        if (this.#failures > 0) this.listeners.link('');
        this.#failures = 0;
        if (!isAll) wait = 0;
      } catch (error) {
        this.listeners.link(error instanceof Error ? error.message : String(error));
        wait = ASK_AGAIN_AFTER[Math.min(this.#failures++, ASK_AGAIN_AFTER.length - 1)];
      }
      await this.#pause(wait);
      while (document.hidden) await this.#pause(3600000);
    }
  }

  /** Asks now. */
  hurry() {
    this.#wake?.();
  }

  /** @param {number} milliseconds */
  #pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = window.setTimeout(resolve, milliseconds);
      this.#wake = () => {
        window.clearTimeout(timer);
        resolve(undefined);
      };
    });
  }

  async #takeSnapshot() {
    const answer = await ask('data/snapshot');
    if (!answer.ok) throw new Error(await refusalOf(answer));
    this.#show(await answer.json());
    return true;
  }

  async #takeChanges() {
    const answer = await ask(`data/changes?since=${encodeURIComponent(this.#cursor)}`);
    if (answer.status === 410) {
      this.#cursor = '';
      return false;
    }
    if (!answer.ok) throw new Error(await refusalOf(answer));
    return this.#take(await answer.json());
  }

  /** @param {LiveSnapshot} snapshot */
  #show(snapshot) {
    const { model, state, head, store } = this;
    const states = [state, head];
    const chosenNode = model.nodes[store.choices.node]?.name ?? '';
    model.fill({ duration: snapshot.at, texts: snapshot.texts, nodes: snapshot.nodes, templates: snapshot.templates,
      pods: snapshot.pods, changes: [] });
    model.begin = snapshot.at;
    for (const one of states) {
      one.fill();
      one.now = snapshot.at;
      snapshot.nodes.forEach((node, index) => {
        if (!node.gone) one.putNode(index, node);
      });
    }
    this.holds.clear();
    this.gates.clear();
    this.#templates.clear();
    this.#freePods = [];
    this.#freeNodes = [];
    this.#podByUid = new Map(snapshot.pods.map((pod, index) => [pod.uid, index]));
    this.#texts = new Map(snapshot.texts.map((text, index) => [text, index]));
    snapshot.pods.forEach((pod, index) => {
      const known = {
        place: PLACES[pod.place] ?? Place.CREATED, node: pod.node ?? -1, since: pod.since, created: pod.created ?? pod.since,
        message: pod.message ?? -1, attempts: pod.attempt ?? 0,
      };
      for (const one of states) one.put(index, known);
      if (pod.holds) this.holds.set(index, pod.holds);
      if (pod.gate) this.gates.set(index, pod.gate);
    });
    this.wallAtStart = snapshot.wall - snapshot.at;
    this.#cursor = snapshot.cursor;
    store.set({
      follows: true, playing: false,  // what was before is not known any more
      node: model.nodeByName.get(chosenNode) ?? -1, look: store.choices.look + 1,
      pod: model.pods.findIndex((pod) => pod.fullName === store.choices.explained),
    });
    this.#shown(snapshot.at);
  }

  /** @param {LiveChanges} answer */
  #take({ at, changes, cursor, isAll }) {
    for (const change of changes) {
      // The vectors of amounts have no place for a resource that nobody had.
      if (this.#hasNewResource(change)) {
        this.#cursor = '';
        return false;
      }
      const named = this.#named(change);
      if (!named) continue;  // of a pod that had gone when the snapshot was taken
      this.state.grow();
      this.head.grow();
      this.head.advance(named);
      this.model.append(named);
      this.#note(change, named);
      this.listeners.change(named);
    }
    this.#cursor = cursor;
    if (this.model.changes.length > CHANGES_KEPT) this.#forget();
    this.#shown(at);
    return isAll;
  }

  /** @param {number} at */
  #shown(at) {
    const { head, model, store } = this;
    head.now = at;
    model.duration = at;
    store.set(store.choices.follows ? { reach: at, now: at, position: model.changes.length } : { reach: at });
  }

  /** @param {Record<string, any>} change */
  #hasNewResource({ now, template }) {
    const amounts = now?.allocatable ?? template?.requests;
    return amounts && Object.keys(amounts).some((name) => !this.model.resources.includes(name));
  }

  /**
   * A change whose members are places in lists; nothing if it is of a pod that is not known.
   * @param {Record<string, any>} change
   * @returns {Change | undefined}
   */
  #named(change) {
    const { pod, by, node, event, message, text, ...rest } = change;
    const named = /** @type {Change} */ (rest);
    if (pod !== undefined) {
      const known = this.#podByUid.get(pod);
      const index = known ?? (change.what === 'created' ? this.#newPod(pod, change.name, change.template) : undefined);
      if (index === undefined) return undefined;
      if (known !== undefined && change.what === 'created') return undefined;  // the snapshot has it
      named.pod = index;
    }
    if (by !== undefined) named.by = this.#podByUid.get(by);
    if (node !== undefined) named.node = this.model.nodeByName.get(node) ?? this.#newNode(node, change.now);
    if (event !== undefined) named.event = this.#textNumber(event);
    if (message !== undefined) named.message = this.#textNumber(message);
    if (text !== undefined) named.text = this.#textNumber(text);
    return named;
  }

  /**
   * @param {string} uid
   * @param {string} name
   * @param {TemplateData} template
   */
  #newPod(uid, name, template) {
    const key = JSON.stringify(template);
    const shared = this.#templates.get(key) ?? template;
    this.#templates.set(key, shared);
    const index = this.#freePods.pop() ?? this.model.pods.length;
    this.model.putPod(index, name, shared);
    this.#podByUid.set(uid, index);
    return index;
  }

  /**
   * @param {string} name
   * @param {NodeState | undefined} now
   */
  #newNode(name, now) {
    const index = this.#freeNodes.pop() ?? this.model.nodes.length;
    this.model.putNode(index, { name, ...now ?? { labels: {}, allocatable: {} } });
    return index;
  }

  /** @param {string} text */
  #textNumber(text) {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    this.#texts.set(text, this.model.texts.length);
    return this.model.texts.push(text) - 1;
  }

  /**
   * What else a change says.
   * @param {Record<string, any>} change
   * @param {Change} named
   */
  #note(change, named) {
    const pod = named.pod ?? -1;
    if (change.what === 'waiting') this.holds.set(pod, Object.keys(change.holds ?? {}));
    else if (['settled', 'bound', 'deleted'].includes(change.what)) this.holds.delete(pod);
    if (change.what === 'deleted') {
      this.gates.delete(pod);
      this.#podByUid.delete(change.pod);
    }
  }

  /** Forgets the older half of the changes, and the pods, nodes and texts that only they were about. */
  #forget() {
    const { model, state, head, store } = this;
    const forgotten = CHANGES_KEPT / 2;
    if (state.position < forgotten) state.seek(forgotten);
    state.forget(forgotten);
    model.forget(forgotten);
    // Who looks at the past goes on doing so, as far as it is known.
    const { now, position } = store.choices;
    store.set({ position: Math.max(position - forgotten, 0), now: Math.max(now, model.begin) });
    const podsUsed = new Set([store.choices.pod]);
    const nodesUsed = new Set([store.choices.node, ...head.node, ...state.node, ...state.beforeNode.subarray(0, state.position)]);
    for (const { pod, by, node } of model.changes) {
      podsUsed.add(pod ?? -1).add(by ?? -1);
      nodesUsed.add(node ?? -1);
    }
    const free = new Set(this.#freePods);
    this.#freePods = model.pods.map(({ index }) => index).filter((pod) =>
      free.has(pod) || (!isThere(head.place[pod]) && !podsUsed.has(pod)));
    const nowhere = { place: Place.NONE, node: -1, since: 0, created: 0, message: -1, attempts: 0 };
    for (const pod of this.#freePods) for (const one of [state, head]) one.put(pod, nowhere);
    this.#freeNodes = model.nodes.map((_, node) => node).filter((node) => !head.nodes[node] && !nodesUsed.has(node));
    for (const node of this.#freeNodes) model.nodeByName.delete(model.nodes[node].name);
    this.#templates.clear();
    this.#renumberTexts();
  }

  #renumberTexts() {
    const { model, state, head } = this;
    const before = model.texts;
    model.texts = [];
    this.#texts.clear();
    for (const change of model.changes) {
      if (change.event !== undefined) change.event = this.#textNumber(before[change.event]);
      if (change.message !== undefined) change.message = this.#textNumber(before[change.message]);
      if (change.text !== undefined) change.text = this.#textNumber(before[change.text]);
    }
    for (const messages of [head.message, state.message, state.beforeMessage.subarray(0, state.position)]) {
      messages.forEach((message, index) => {
        if (message >= 0) messages[index] = this.#textNumber(before[message]);
      });
    }
  }
}

/**
 * @param {string} path  from the page's own
 * @param {string} method
 */
export async function ask(path, method = 'GET') {
  try {
    return await fetch(path, { method, cache: 'no-store', redirect: 'error', signal: AbortSignal.timeout(ANSWER_WITHIN) });
  } catch {
    throw new Error('the scheduler does not answer');
  }
}

/**
 * Why a request was refused, in words.
 * @param {Response} answer
 */
export async function refusalOf(answer) {
  const text = await answer.text();
  let message = text.trim().split('\n')[0];
  try {
    message = JSON.parse(text).message ?? message;
  } catch {
    // It is a sentence.
  }
  return message || `the scheduler answers with ${answer.status}`;
}
