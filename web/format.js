// Numbers, times and amounts as text.

/**
 * A duration as Kubernetes writes it: 1h2m, 3.25s, 2ms.
 * @param {number} milliseconds
 * @returns {string}
 */
export function duration(milliseconds) {
  if (milliseconds < 0) return `-${duration(-milliseconds)}`;
  if (milliseconds < 1) return milliseconds === 0 ? '0s' : `${rounded(milliseconds * 1000)}µs`;
  if (milliseconds < 1000) return `${rounded(milliseconds)}ms`;
  if (milliseconds < 60000) return `${rounded(milliseconds / 1000)}s`;
  const seconds = Math.floor(milliseconds / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = rounded(seconds % 60 + (milliseconds % 1000) / 1000);
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${rest}s`;
}

/**
 * How long something has lasted: 42s, 5m3s, 2h10m, 3d4h.
 * @param {number} milliseconds
 */
export function age(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86400)];
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m${seconds % 60}s`;
  if (days === 0) return `${hours}h${minutes % 60}m`;
  return `${days}d${hours % 24}h`;
}

/** @param {number} value */
function rounded(value) {
  return String(Math.round(value * 1000) / 1000);
}

/** @param {number} value */
export function count(value) {
  return value.toLocaleString('en-US');
}

/** @param {number} part  0 to 1 */
export function percent(part) {
  if (Number.isNaN(part)) return '–';
  const value = part * 100;
  return `${value < 10 && value > 0 ? value.toFixed(1) : Math.round(value)}\u00a0%`;
}

/**
 * An amount as a person would write it in a manifest.
 * @param {string} resource
 * @param {number} value
 */
export function amount(resource, value) {
  if (resource === 'cpu') return value % 1000 === 0 ? String(value / 1000) : `${value}m`;
  if (resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')) {
    return bytes(value);
  }
  return count(value);
}

/** @param {number} value */
function bytes(value) {
  const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return `${Math.round(value * 10) / 10}${units[unit]}`;
}

/**
 * "1 pod", "2 pods".
 * @param {number} number
 * @param {string} one
 * @param {string=} many
 */
export function plural(number, one, many) {
  return `${count(number)} ${number === 1 ? one : many ?? `${one}s`}`;
}
