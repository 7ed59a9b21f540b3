// The state of the cluster at one moment of a history, moved on and back change by change. What a
// change replaced is kept beside it, so that a step back costs as much as a step on.
//
// A pod of which the scheduler's record and the store's differ (a binding that took effect though its
// call failed) is where the store has it.

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').Change} Change */
/** @typedef {import('./model.js').NodeState} NodeState */

/** Where a pod can be. */
export const Place = Object.freeze({
  NONE: 0, CREATED: 1, ACTIVE: 2, BACKOFF: 3, UNSCHEDULABLE: 4, GATED: 5, SCHEDULING: 6, WAITING: 7,
  BINDING: 8, BOUND: 9, TERMINATING: 10, FINISHED: 11, GONE: 12,
});
export const PLACE_NAMES = [
  'not created', 'created', 'active', 'backoff', 'unschedulable', 'gated', 'being scheduled',
  'waiting at Permit', 'binding', 'bound', 'terminating', 'finished', 'deleted',
];
const PLACES = PLACE_NAMES.length;

/** @type {Record<string, number>} */
const QUEUES = {
  active: Place.ACTIVE, backoff: Place.BACKOFF, unschedulable: Place.UNSCHEDULABLE, gated: Place.GATED,
};

/** @param {number} place  whether the pod has a place on a node, in the scheduler's eyes or in the store's */
function hasNode(place) {
  return place === Place.WAITING || place === Place.BINDING || place === Place.BOUND || place === Place.TERMINATING;
}

/** @param {number} place  whether there is such a pod */
export function isThere(place) {
  return place !== Place.NONE && place !== Place.GONE;
}

/** @param {number} place  whether the pod is to get a node and has none */
function isPending(place) {
  return place >= Place.CREATED && place <= Place.SCHEDULING && place !== Place.GATED;
}

/** @param {number} length */
function roomFor(length) {
  return Math.max(64, 2 ** Math.ceil(Math.log2(length)));
}

/**
 * @template {Uint8Array | Int32Array | Float64Array} Values
 * @param {Values} values
 * @param {number} length
 * @param {number} fill
 * @returns {Values}
 */
function grown(values, length, fill = 0) {
  const larger = /** @type {Values} */ (new /** @type {any} */ (values.constructor)(length));
  larger.fill(fill, values.length);
  larger.set(values);
  return larger;
}

export class ClusterState {
  /** @param {Model} model */
  constructor(model) {
    const { changes, pods, nodes, resources, shapes } = model;
    this.model = model;
    /** How many changes have happened. */
    this.position = 0;
    /** @type {number} */
    this.now = 0;

    // Of pods.
    this.place = new Uint8Array(pods.length);
    this.node = new Int32Array(pods.length).fill(-1);
    this.since = new Float64Array(pods.length);  // in that place
    this.created = new Float64Array(pods.length);
    this.message = new Int32Array(pods.length).fill(-1);  // of the last failure: a text
    this.attempts = new Int32Array(pods.length);
    this.counts = new Int32Array(PLACES);
    // How many pods of each shape are pending, and are on nodes.
    this.pendingShapes = new Int32Array(shapes.length);
    this.placedShapes = new Int32Array(shapes.length);

    // Of nodes; use by node and resource.
    /** @type {(NodeState | undefined)[]} undefined: not there */
    this.nodes = new Array(nodes.length).fill(undefined);
    this.width = resources.length;
    this.used = new Float64Array(nodes.length * this.width);
    this.allocatable = new Float64Array(nodes.length * this.width);
    this.totalUsed = new Float64Array(this.width);
    this.totalAllocatable = new Float64Array(this.width);
    this.nodeCount = 0;
    this.preemptions = 0;

    /** Nodes that look different since somebody emptied this. @type {Set<number>} */
    this.touched = new Set();
    /** Grows when nodes come, go or have other labels. */
    this.shape = 0;

    // What each change replaced.
    this.beforePlace = new Uint8Array(changes.length);
    this.beforeNode = new Int32Array(changes.length);
    this.beforeSince = new Float64Array(changes.length);
    this.beforeMessage = new Int32Array(changes.length);
    this.beforeAttempts = new Int32Array(changes.length);
    /** @type {Map<number, NodeState | undefined>} */
    this.beforeNodes = new Map();
  }

  /** Goes to the moment before the model's first change; the model may be another. */
  fill() {
    const { shape } = this;
    Object.assign(this, new ClusterState(this.model));
    this.shape = shape + 1;
  }

  /** Makes room for the pods, shapes and nodes that the model has got. */
  grow() {
    const { nodes, pods, shapes } = this.model;
    if (pods.length > this.place.length) {
      const room = roomFor(pods.length);
      this.place = grown(this.place, room);
      this.node = grown(this.node, room, -1);
      this.since = grown(this.since, room);
      this.created = grown(this.created, room);
      this.message = grown(this.message, room, -1);
      this.attempts = grown(this.attempts, room);
    }
    if (shapes.length > this.pendingShapes.length) {
      this.pendingShapes = grown(this.pendingShapes, roomFor(shapes.length));
      this.placedShapes = grown(this.placedShapes, roomFor(shapes.length));
    }
    if (nodes.length * this.width > this.used.length) {
      this.used = grown(this.used, roomFor(nodes.length) * this.width);
      this.allocatable = grown(this.allocatable, roomFor(nodes.length) * this.width);
    }
  }

  /**
   * A change that happens now, after all others, and is not taken back: the position does not count it.
   * @param {Change} change
   */
  advance(change) {
    if (change.pod !== undefined) this.#applyToPod(change, change.pod);
    else if (change.node !== undefined) this.#applyToNode(change, change.node);
    this.now = change.at;
  }

  /**
   * Puts a pod where it is known to be.
   * @param {number} pod
   * @param {{place: number, node: number, since: number, created: number, message: number, attempts: number}} known
   */
  put(pod, { place, node, since, created, message, attempts }) {
    this.created[pod] = created;
    this.message[pod] = message;
    this.attempts[pod] = attempts;
    this.#move(pod, place, node, since);
  }

  /**
   * Puts a node there, or takes it away.
   * @param {number} node
   * @param {NodeState | undefined} now
   */
  putNode(node, now) {
    this.#setNode(node, now);
  }

  /**
   * Goes to the moment after so many changes.
   * @param {number} position
   */
  seek(position) {
    while (this.position < position) this.#apply(this.model.changes[this.position], this.position++);
    while (this.position > position) this.#undo(this.model.changes[--this.position], this.position);
    this.now = this.position === 0 ? this.model.begin : this.model.changes[this.position - 1].at;
  }

  /**
   * Forgets what the oldest changes replaced, as the model forgets them. They have happened.
   * @param {number} count
   */
  forget(count) {
    this.position -= count;
    for (const before of [this.beforePlace, this.beforeNode, this.beforeSince, this.beforeMessage, this.beforeAttempts]) {
      before.copyWithin(0, count);
    }
    this.beforeNodes = new Map([...this.beforeNodes].filter(([place]) => place >= count)
      .map(([place, node]) => [place - count, node]));
  }

  /** How many pods are pending: neither on a node nor held back. */
  pending() {
    const { counts } = this;
    return counts[Place.CREATED] + counts[Place.ACTIVE] + counts[Place.BACKOFF] +
      counts[Place.UNSCHEDULABLE] + counts[Place.SCHEDULING] + counts[Place.BINDING];
  }

  /**
   * How full a node is, 0 to 1 or more; NaN if it has none of the resource.
   * @param {number} node
   * @param {number} resource
   */
  fullness(node, resource) {
    const all = this.allocatable[node * this.width + resource];
    return all > 0 ? this.used[node * this.width + resource] / all : NaN;
  }

  /**
   * The pods in that place, longest there first.
   * @param {number} place
   */
  podsIn(place) {
    const found = [];
    for (let pod = 0; pod < this.place.length; ++pod) if (this.place[pod] === place) found.push(pod);
    return found.sort((a, b) => this.since[a] - this.since[b] || a - b);
  }

  /**
   * The pods on a node, and those that are on their way to it.
   * @param {number} node
   */
  podsOn(node) {
    const found = [];
    for (let pod = 0; pod < this.node.length; ++pod) {
      if (this.node[pod] === node && this.place[pod] >= Place.WAITING && this.place[pod] < Place.FINISHED) {
        found.push(pod);
      }
    }
    return found;
  }

  /**
   * @param {Change} change
   * @param {number} place
   */
  #apply(change, place) {
    if (change.pod !== undefined) {
      const { pod } = change;
      if (place >= this.beforePlace.length) this.#growBefore(place + 1);
      this.beforePlace[place] = this.place[pod];
      this.beforeNode[place] = this.node[pod];
      this.beforeSince[place] = this.since[pod];
      this.beforeMessage[place] = this.message[pod];
      this.beforeAttempts[place] = this.attempts[pod];
      this.#applyToPod(change, pod);
    } else if (change.node !== undefined) {
      this.beforeNodes.set(place, this.nodes[change.node]);
      this.#applyToNode(change, change.node);
    }
  }

  /** @param {number} length */
  #growBefore(length) {
    const room = roomFor(length);
    this.beforePlace = grown(this.beforePlace, room);
    this.beforeNode = grown(this.beforeNode, room);
    this.beforeSince = grown(this.beforeSince, room);
    this.beforeMessage = grown(this.beforeMessage, room);
    this.beforeAttempts = grown(this.beforeAttempts, room);
  }

  /**
   * @param {Change} change
   * @param {number} pod
   */
  #applyToPod(change, pod) {
    const before = this.place[pod];
    const isPlaced = before >= Place.BOUND;
    switch (change.what) {
      case 'created':
        this.created[pod] = change.at;
        this.#move(pod, Place.CREATED, -1, change.at);
        break;
      case 'queued':
        if (!isPlaced) this.#move(pod, QUEUES[change.queue ?? 'active'], -1, change.at);
        break;
      case 'attempt':
        this.attempts[pod] = change.attempt ?? 0;
        if (!isPlaced) this.#move(pod, Place.SCHEDULING, -1, change.at);
        break;
      case 'decided':
        if (isPlaced || change.outcome !== 'Success') break;
        this.#move(pod, before === Place.WAITING ? before : Place.BINDING, change.node ?? -1, change.at);
        break;
      case 'waiting':
        if (!isPlaced) this.#move(pod, Place.WAITING, this.node[pod], change.at);
        break;
      case 'settled':
        if (isPlaced) break;
        this.#move(pod, change.outcome === 'Success' ? Place.BINDING : Place.SCHEDULING, this.node[pod], change.at);
        break;
      case 'failed':
        this.message[pod] = change.message ?? -1;
        break;
      case 'bound':
        this.message[pod] = -1;
        this.#move(pod, Place.BOUND, change.node ?? -1, change.at);
        break;
      case 'terminating':
        if (before !== Place.FINISHED) this.#move(pod, Place.TERMINATING, this.node[pod], change.at);
        break;
      case 'finished': this.#move(pod, Place.FINISHED, this.node[pod], change.at); break;
      case 'deleted': this.#move(pod, Place.GONE, this.node[pod], change.at); break;
      case 'preempted': ++this.preemptions; break;
    }
  }

  /**
   * @param {number} pod
   * @param {number} place
   * @param {number} node
   * @param {number} since
   */
  #move(pod, place, node, since) {
    this.#count(pod, -1);
    this.place[pod] = place;
    this.node[pod] = node;
    this.since[pod] = since;
    this.#count(pod, 1);
  }

  /**
   * Adds a pod to the sums that it belongs to, or takes it out of them.
   * @param {number} pod
   * @param {1 | -1} sign
   */
  #count(pod, sign) {
    const place = this.place[pod];
    this.counts[place] += sign;
    const node = this.node[pod];
    const { requests, shape } = this.model.pods[pod];
    if (isPending(place)) this.pendingShapes[shape] += sign;
    if (node < 0 || !hasNode(place)) return;
    this.placedShapes[shape] += sign;
    for (let resource = 0; resource < this.width; ++resource) {
      this.used[node * this.width + resource] += sign * requests[resource];
      this.totalUsed[resource] += sign * requests[resource];
    }
    this.touched.add(node);
  }

  /**
   * @param {Change} change
   * @param {number} node
   */
  #applyToNode(change, node) {
    this.#setNode(node, change.what === 'nodeRemoved' ? undefined : change.now ?? this.model.nodes[node]);
  }

  /**
   * @param {number} node
   * @param {NodeState | undefined} now
   */
  #setNode(node, now) {
    const before = this.nodes[node];
    this.nodes[node] = now;
    this.nodeCount += Number(now !== undefined) - Number(before !== undefined);
    const amounts = now ? this.model.allocatable(now) : new Float64Array(this.width);
    const takenBefore = this.model.taken(before);
    const takenNow = this.model.taken(now);
    for (let resource = 0; resource < this.width; ++resource) {
      const at = node * this.width + resource;
      const taken = takenNow[resource] - takenBefore[resource];
      this.used[at] += taken;
      this.totalUsed[resource] += taken;
      this.totalAllocatable[resource] += amounts[resource] - this.allocatable[at];
      this.allocatable[at] = amounts[resource];
    }
    if (JSON.stringify(before?.labels) !== JSON.stringify(now?.labels)) ++this.shape;
    this.touched.add(node);
  }

  /**
   * @param {Change} change
   * @param {number} index
   */
  #undo(change, index) {
    if (change.pod !== undefined) {
      const { pod } = change;
      this.#count(pod, -1);
      this.place[pod] = this.beforePlace[index];
      this.node[pod] = this.beforeNode[index];
      this.since[pod] = this.beforeSince[index];
      this.message[pod] = this.beforeMessage[index];
      this.attempts[pod] = this.beforeAttempts[index];
      this.#count(pod, 1);
      if (change.what === 'preempted') --this.preemptions;
    } else if (change.node !== undefined) {
      this.#setNode(change.node, this.beforeNodes.get(index));
    }
  }
}
