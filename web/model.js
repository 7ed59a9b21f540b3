// The data of the page: what a program that writes it promises, and the same made ready for use.
//
// A page shows a history (what was there and what happened, in virtual or real time), explanations of
// pods, or both.

/**
 * @typedef {object} PageData
 * @property {string} title
 * @property {boolean=} live  it shows the scheduler that serves it (live.js), and has no history
 * @property {string=} note  how it ended, if not as it should
 * @property {History=} history
 * @property {Explanation[]=} explanations  what `berth explain` says of pods
 * @property {Trace[]=} traces  what was found out in attempts
 * @property {import('./comparison.js').Comparison=} comparison  instead of all that
 * @property {(History | null)[]=} histories  of the comparison's runs: nodes, and pods on them
 */

/**
 * Pods, nodes and texts are named by their places in these lists.
 * @typedef {object} History
 * @property {number} duration  milliseconds
 * @property {string[]} texts
 * @property {NodeData[]} nodes  all that ever were, as they were first seen
 * @property {TemplateData[]} templates  what pods have in common
 * @property {PodData[]} pods  all that ever were; one that comes again under its name is another
 * @property {Change[]} changes  in order
 */

/**
 * Amounts by resource: cpu in thousandths, memory and storage in bytes, everything else in units.
 * @typedef {Record<string, number>} Amounts
 */

/**
 * @typedef {object} NodeState
 * @property {Record<string, string>} labels
 * @property {string[]=} taints  "key=value:Effect"
 * @property {boolean=} cordoned
 * @property {Amounts} allocatable
 * @property {Amounts=} taken  of what pods do not request: devices that are allocated to claims
 *
 * @typedef {NodeState & {name: string}} NodeData
 */

/**
 * @typedef {object} TemplateData
 * @property {string} namespace
 * @property {string=} owner  "Kind/name" of the controller
 * @property {Record<string, string>} labels
 * @property {number} priority
 * @property {string} scheduler
 * @property {string[]=} gates  scheduling gates when the pod was created
 * @property {Amounts} requests
 *
 * @typedef {{name: string, template: number}} PodData
 */

/**
 * Something that happened. `at` is milliseconds since the beginning; what the other members are
 * depends on `what`:
 *
 *   nodeAdded node now?         nodeChanged node now         nodeRemoved node
 *   created pod                 bound pod node               finished pod failed
 *   terminating pod             deleted pod                  preempted pod by node
 *   queued pod queue event      attempt pod attempt          decided pod outcome node? evaluated feasible
 *   waiting pod holds           settled pod outcome plugin?  failed pod outcome plugin? message
 *   scenario text               trouble text
 *
 * `bound` is the store's word: the pod has a node from then on.
 *
 * @typedef {object} Change
 * @property {number} at
 * @property {string} what
 * @property {number=} pod
 * @property {number=} node
 * @property {NodeState=} now
 * @property {boolean=} failed
 * @property {number=} by  a pod
 * @property {"active" | "backoff" | "unschedulable" | "gated"=} queue
 * @property {number=} event  a text
 * @property {number=} attempt
 * @property {string=} outcome  "Success", "Unschedulable", "Error", …
 * @property {number=} evaluated  nodes
 * @property {number=} feasible  nodes
 * @property {number=} score
 * @property {string[]=} plugins
 * @property {Record<string, number>=} holds  milliseconds until a plugin's wait ends, by plugin
 * @property {string=} plugin
 * @property {number=} message  a text
 * @property {number=} text  a text
 */

/**
 * Why a pod has no node, what would help it, or why it has the node that it has (docs/explain.md).
 * @typedef {object} Explanation
 * @property {string} pod  "namespace/name"
 * @property {string=} verdict
 * @property {string=} message
 * @property {string=} gate
 * @property {string[]=} notes
 * @property {number=} at  milliseconds: made of an attempt at that time
 * @property {number=} attempt
 * @property {boolean=} isFirstOnly  no plugin was asked about a node after the first that rejected it
 * @property {Rejection[]=} rejections  nearest to fitting first
 * @property {Suggestion[]=} suggestions  cheapest first
 * @property {string[]=} tried
 * @property {string=} chosen
 * @property {string[]=} ties
 * @property {number=} margin
 * @property {NodeScore[]=} scores  best first
 * @property {Record<string, string[]>=} wakes  by plugin
 * @property {Preemption=} preemption
 * @property {{node: string, pods: string[]}[]=} nominated  without these pods it would fit there
 * @property {QueueStanding=} queue  of a pod without a node, in a running scheduler
 * @property {{node: string, since?: string, holders?: {plugin: string, until?: string}[]}=} permit
 *
 * @typedef {{node?: string, victims?: string[], message?: string, reasons?: {text: string, nodes: string[]}[]}} Preemption
 *
 * Times as Kubernetes writes them.
 * @typedef {object} QueueStanding
 * @property {string} place
 * @property {string=} since
 * @property {string=} until
 * @property {number=} attempts
 * @property {string[]=} rejectedBy
 * @property {(string | object)[]=} missed
 *
 * @typedef {object} Rejection
 * @property {string[]} nodes
 * @property {Obstacle[]} plugins
 *
 * @typedef {object} Obstacle
 * @property {string} plugin
 * @property {string=} code
 * @property {string=} reason
 * @property {string=} subject
 * @property {string=} text
 *
 * @typedef {object} Suggestion
 * @property {string=} code
 * @property {string} summary
 * @property {number=} cost
 * @property {string[]=} nodes
 * @property {string[]=} commands
 * @property {string[]=} victims
 *
 * @typedef {object} NodeScore
 * @property {string} node
 * @property {number} total
 * @property {{plugin: string, raw?: number, normalized?: number, weighted: number}[]} plugins
 */

/**
 * What an attempt found out about each node, as `berth evaluate` prints it.
 * @typedef {object} Trace
 * @property {number} at  milliseconds
 * @property {number} attempt
 * @property {object} decision
 * @property {string} decision.pod
 * @property {Record<string, TraceVerdict>=} decision.rejected  by node
 * @property {Record<string, TraceVerdict[]>=} decision.alsoRejected
 * @property {Record<string, Record<string, number>>=} decision.scores  by node and plugin
 * @property {Record<string, number>=} decision.totals
 * @property {string[]=} decision.best
 * @property {string=} decision.chosen
 * @property {string=} decision.message
 * @property {string=} decision.error
 * @property {{node?: string, victims?: string[], message?: string}=} decision.preempt
 *
 * @typedef {{code: string, plugin?: string, reasons?: string[]}} TraceVerdict
 */

/**
 * A pod, with what it has in common with others.
 * @typedef {object} Pod
 * @property {number} index
 * @property {string} name
 * @property {string} fullName  "namespace/name"
 * @property {TemplateData} template
 * @property {Float64Array} requests  by resource
 * @property {number} shape  pods that request the same have the same number
 */

/** A history made ready: pods complete, amounts as vectors, changes by pod. */
export class Model {
  /** @param {History} history */
  constructor(history) {
    /** When the first change that is kept could happen: milliseconds. A running scheduler's are forgotten. */
    this.begin = 0;
    this.duration = history.duration;
    this.texts = history.texts;
    this.nodes = history.nodes;
    this.changes = history.changes;
    /** @type {string[]} */
    this.resources = resourcesOf(history);
    /** What pods request, by shape. @type {Float64Array[]} */
    this.shapes = [];
    /** @type {Map<string, number>} */
    this.shapeOf = new Map();
    const shapes = history.templates.map((template) => this.#shape(template));
    /** @type {Pod[]} */
    this.pods = history.pods.map((pod, index) =>
      this.#pod(index, pod.name, history.templates[pod.template], shapes[pod.template]));
    /** How many changes make the cluster that there was at the beginning. */
    this.start = startOf(this.changes);
    /** @type {Map<string, number>} */
    this.nodeByName = new Map(this.nodes.map((node, index) => [node.name, index]));
    /** @type {Map<number, number[]> | undefined} */
    this.changesByPod = undefined;
  }

  /**
   * Shows this history from now on.
   * @param {History} history
   */
  fill(history) {
    Object.assign(this, new Model(history));
  }

  /**
   * Puts a pod that has come at that place of `pods`.
   * @param {number} index
   * @param {string} name
   * @param {TemplateData} template
   */
  putPod(index, name, template) {
    this.pods[index] = this.#pod(index, name, template, this.#shape(template));
  }

  /**
   * Puts a node that has come at that place of `nodes`.
   * @param {number} index
   * @param {NodeData} node
   */
  putNode(index, node) {
    this.nodes[index] = node;
    this.nodeByName.set(node.name, index);
  }

  /**
   * A change that has just happened.
   * @param {Change} change
   */
  append(change) {
    const { pod } = change;
    if (pod !== undefined && this.changesByPod) {
      const places = this.changesByPod.get(pod);
      if (places) places.push(this.changes.length);
      else this.changesByPod.set(pod, [this.changes.length]);
    }
    this.changes.push(change);
    this.duration = Math.max(this.duration, change.at);
  }

  /**
   * Forgets the oldest changes.
   * @param {number} count
   */
  forget(count) {
    this.begin = this.changes[count - 1].at;
    this.changes.splice(0, count);
    this.changesByPod = undefined;
  }

  /**
   * @param {number} index
   * @param {string} name
   * @param {TemplateData} template
   * @param {number} shape
   * @returns {Pod}
   */
  #pod(index, name, template, shape) {
    return { index, name, fullName: `${template.namespace}/${name}`, template, requests: this.shapes[shape], shape };
  }

  /** @param {TemplateData} template */
  #shape({ requests }) {
    const vector = this.#vector(requests, 1);
    const key = vector.join(' ');
    const known = this.shapeOf.get(key);
    if (known !== undefined) return known;
    this.shapeOf.set(key, this.shapes.length);
    return this.shapes.push(vector) - 1;
  }

  /**
   * Amounts as a vector in the order of `resources`.
   * @param {NodeState} node
   */
  allocatable(node) {
    return this.#vector(node.allocatable, undefined);
  }

  /**
   * What is used of a node beside its pods' requests.
   * @param {NodeState | undefined} node
   */
  taken(node) {
    return this.#vector(node?.taken ?? {}, undefined);
  }

  /**
   * The places of a pod's changes.
   * @param {number} pod
   * @returns {number[]}
   */
  story(pod) {
    if (!this.changesByPod) {
      /** @type {Map<number, number[]>} */
      const all = new Map();
      this.changes.forEach((change, place) => {
        if (change.pod === undefined) return;
        const places = all.get(change.pod);
        if (places) places.push(place);
        else all.set(change.pod, [place]);
      });
      this.changesByPod = all;
    }
    return this.changesByPod.get(pod) ?? [];
  }

  /**
   * How many changes have happened at that time.
   * @param {number} time
   */
  changesUntil(time) {
    let low = 0;
    let high = this.changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.changes[middle].at <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The label keys of nodes that group them: more than one node shares a value. */
  groupingLabels() {
    /** @type {Map<string, Set<string>>} */
    const values = new Map();
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const node of this.nodes) {
      for (const [key, value] of Object.entries(node.labels)) {
        if (!values.has(key)) values.set(key, new Set());
        values.get(key)?.add(value);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
    return [...values].filter(([key, of]) => of.size < (counts.get(key) ?? 0) && of.size <= 200)
      .map(([key]) => key).sort();
  }

  /**
   * @param {Amounts} amounts
   * @param {number | undefined} pods  how many pods it stands for, if it does
   */
  #vector(amounts, pods) {
    return Float64Array.from(this.resources, (resource) =>
      resource === 'pods' && pods !== undefined ? pods : amounts[resource] ?? 0);
  }
}

/** @param {Change[]} changes */
function startOf(changes) {
  const loaded = ['nodeAdded', 'created', 'bound'];
  const first = changes.findIndex((change) => change.at > 0 || !loaded.includes(change.what));
  return first < 0 ? changes.length : first;
}

/**
 * The resources that nodes have or pods ask for, the usual ones first.
 * @param {History} history
 */
function resourcesOf(history) {
  const usual = ['cpu', 'memory', 'pods'];
  const others = new Set();
  for (const node of history.nodes) for (const name of Object.keys(node.allocatable)) others.add(name);
  for (const change of history.changes) {
    if (change.now) for (const name of Object.keys(change.now.allocatable)) others.add(name);
  }
  for (const template of history.templates) {
    for (const name of Object.keys(template.requests)) others.add(name);
  }
  return [...usual, ...[...others].filter((name) => !usual.includes(name)).sort()];
}
