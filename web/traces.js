// Traces of attempts (`--trace-pod`) as explanations. They know the first plugin that rejected each
// node, and no more than that.

/** @typedef {import('./model.js').Explanation} Explanation */
/** @typedef {import('./model.js').Obstacle} Obstacle */
/** @typedef {import('./model.js').Trace} Trace */
/** @typedef {import('./model.js').TraceVerdict} TraceVerdict */

const SCORES_KEPT = 50;

/**
 * @param {Trace} trace
 * @returns {Explanation}
 */
export function explanationFrom({ at, attempt, decision }) {
  const { pod, chosen, message, preempt, best, error } = decision;
  return {
    pod, at, attempt, isFirstOnly: !decision.alsoRejected, verdict: chosen ? 'Schedulable' : error ? 'Error' : 'Unschedulable', message: error ?? message,
    rejections: rejectionsOf(decision), scores: scoresOf(decision), chosen, ties: best, preemption: preempt,
  };
}

/** @param {Trace["decision"]} decision */
function rejectionsOf({ rejected = {}, alsoRejected = {} }) {
  /** @type {Map<string, {nodes: string[], plugins: Obstacle[]}>} */
  const groups = new Map();
  for (const [node, verdict] of Object.entries(rejected)) {
    const plugins = [verdict, ...alsoRejected[node] ?? []].flatMap(obstaclesOf);
    const key = JSON.stringify(plugins);
    const group = groups.get(key);
    if (group) group.nodes.push(node);
    else groups.set(key, { nodes: [node], plugins });
  }
  return [...groups.values()].sort((a, b) => a.plugins.length - b.plugins.length || b.nodes.length - a.nodes.length);
}

/**
 * @param {TraceVerdict} verdict
 * @returns {Obstacle[]}
 */
function obstaclesOf({ code, plugin = '', reasons = [''] }) {
  return reasons.map((reason) => ({ plugin, code, reason }));
}

/** @param {Trace["decision"]} decision */
function scoresOf({ scores = {}, totals = {} }) {
  return Object.entries(totals).sort(([, a], [, b]) => b - a).slice(0, SCORES_KEPT).map(([node, total]) => ({
    node, total,
    plugins: Object.entries(scores[node] ?? {}).map(([plugin, weighted]) => ({ plugin, weighted })),
  }));
}
