// How a node's tile is drawn, and what is said of it.

import { colour } from './dom.js';
import { amount, percent, plural } from './format.js';
import { makeRamp } from './ramp.js';

/** @typedef {import('./model.js').Model} Model */
/** @typedef {import('./model.js').NodeState} NodeState */
/** @typedef {import('./state.js').ClusterState} ClusterState */

const GAUGE_FROM = 14;  // smaller tiles have their colour all over
const NAMED_FROM = 60;  // tiles that have room for their name
const NAME_HEIGHT = 18;

/**
 * @typedef {object} Palette
 * @property {(part: number) => string} ramp
 * @property {string} text
 * @property {string} faint
 * @property {string} line
 * @property {string} none
 * @property {string} focus
 * @property {string} mark
 * @property {string} back
 */

/** @returns {Palette} */
export function paletteNow() {
  const ramp = makeRamp([colour('fill-0'), colour('fill-1'), colour('fill-2'), colour('fill-3')], colour('over'));
  return {
    ramp, text: colour('text'), faint: colour('text-2'), line: colour('line-strong'), none: colour('panel-2'),
    focus: colour('accent'), mark: colour('mark'), back: colour('panel'),
  };
}

/**
 * The name, or as much of it as there is room for.
 * @param {CanvasRenderingContext2D} context
 * @param {string} ink
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {string} name
 */
function drawName(context, ink, x, y, width, name) {
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'alphabetic';
  context.fillStyle = ink;
  let shown = name;
  while (shown.length > 1 && context.measureText(shown === name ? name : `${shown}…`).width > width) shown = shown.slice(0, -1);
  context.fillText(shown === name ? name : `${shown}…`, x, y + 13);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Palette} palette
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {NodeState} now
 */
function drawMarks(context, palette, x, y, size, now) {
  if (now.cordoned) {
    context.strokeStyle = palette.back;
    context.lineWidth = Math.max(3, size / 6) + 1;
    line(context, x, y, size);
    context.strokeStyle = palette.mark;
    context.lineWidth = Math.max(1.5, size / 9);
    line(context, x, y, size);
  }
  if (now.taints?.some((taint) => !taint.endsWith(':PreferNoSchedule'))) {
    const side = Math.max(3, Math.round(size / 3));
    context.fillStyle = palette.mark;
    context.beginPath();
    context.moveTo(x + size - side, y);
    context.lineTo(x + size, y);
    context.lineTo(x + size, y + side);
    context.fill();
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function line(context, x, y, size) {
  context.save();
  context.beginPath();
  context.rect(x, y, size, size);
  context.clip();
  context.beginPath();
  context.moveTo(x, y + size);
  context.lineTo(x + size, y);
  context.stroke();
  context.restore();
}

/**
 * A node's name and how full it is.
 * @param {Model} model
 * @param {ClusterState} state
 * @param {number} node
 * @param {number} resource
 */
export function describeNode(model, state, node, resource) {
  const name = model.nodes[node].name;
  const now = state.nodes[node];
  if (!now) return `${name}: not there`;
  const at = node * state.width + resource;
  const kind = model.resources[resource];
  const fullness = state.fullness(node, resource);
  const use = Number.isNaN(fullness) ? `no ${kind}` :
    `${kind} ${percent(fullness)} (${amount(kind, state.used[at])} of ${amount(kind, state.allocatable[at])})`;
  const pods = plural(state.used[node * state.width + model.resources.indexOf('pods')], 'pod');
  const marks = [now.cordoned && 'cordoned', ...(now.taints ?? [])].filter(Boolean);
  return [`${name}: ${use}`, pods, ...marks].join(', ');
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Palette} palette
 * @param {{x: number, y: number, size: number}} place
 * @param {string} name
 * @param {NodeState | undefined} now  undefined: the node is not there
 * @param {number} part  how full it is; NaN: it has none of the resource
 */
export function drawTile(context, palette, { x, y, size }, name, now, part) {
  context.clearRect(x, y, size, size);
  const nameHeight = size >= NAMED_FROM ? NAME_HEIGHT : 0;
  if (nameHeight > 0) drawName(context, palette.text, x + 3, y, size - 6, name);
  if (now) {
    drawFullness(context, palette, x, y + nameHeight, size, size - nameHeight, part);
    drawMarks(context, palette, x, y, size, now);
    return;
  }
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.setLineDash([2, 2]);
  context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
  context.setLineDash([]);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Palette} palette
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 * @param {number} part
 */
function drawFullness(context, palette, x, y, width, height, part) {
  if (Number.isNaN(part)) {
    context.fillStyle = palette.none;
    context.fillRect(x, y, width, height);
    return;
  }
  const isGauge = width >= GAUGE_FROM;
  context.fillStyle = isGauge ? palette.ramp(0) : palette.ramp(part);
  context.fillRect(x, y, width, height);
  if (!isGauge || part <= 0) return;
  const tall = Math.max(1, Math.round(height * Math.min(1, part)));
  context.fillStyle = palette.ramp(part);
  context.fillRect(x, y + height - tall, width, tall);
}
