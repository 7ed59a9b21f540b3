// The colours of how full something is: one hue from pale to strong, another one past full.

const STEPS = 100;

/** @param {string} text  "rgb(1, 2, 3)" */
function parse(text) {
  return (text.match(/\d+/g) ?? ['0', '0', '0']).map(Number);
}

/**
 * A function from 0…1 to a colour, through the given ones.
 * @param {string[]} stops  "rgb(…)", from empty to full
 * @param {string} over  for more than 1
 * @returns {(part: number) => string}
 */
export function makeRamp(stops, over) {
  const parsed = stops.map(parse);
  const colours = Array.from({ length: STEPS + 1 }, (_, step) => {
    const at = step / STEPS * (parsed.length - 1);
    const low = Math.min(Math.floor(at), parsed.length - 2);
    const mixed = parsed[low].map((value, index) => Math.round(value + (parsed[low + 1][index] - value) * (at - low)));
    return `rgb(${mixed.join(' ')})`;
  });
  return (part) => (part > 1.0001 ? over : colours[Math.round(Math.max(0, Math.min(1, part)) * STEPS)]);
}
