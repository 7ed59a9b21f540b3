// One pod: how it stands, its story, and its explanation if the data has one.

import { byId, make } from './dom.js';
import { explanationOf } from './explanation.js';
import { amount, plural } from './format.js';
import { keepFilled } from './lists.js';
import { LiveExplanation } from './live_explanation.js';
import { permitButtons } from './permit.js';
import { isThere, Place, PLACE_NAMES } from './state.js';
import { wordsOf } from './story.js';

/** @typedef {import('./lists.js').View} View */
/** @typedef {import('./model.js').Explanation} Explanation */

const NAMES_OFFERED = 2000;

/**
 * @param {View} view
 * @param {Explanation[]} explanations
 */
export function showPod(view, explanations) {
  const panel = byId('panel-pod', HTMLDivElement);
  const find = finder(view, explanations);
  const asked = new LiveExplanation(view);
  keepFilled(view, panel, ['position', 'now', 'tab', 'pod', 'explained', 'told'], () => {
    const { pod, explained, now } = view.store.choices;
    const about = explanationsAt(explanations.filter((explanation) => explanation.pod === explained), now);
    const content = pod < 0 && about.length === 0 ?
      [explanations.length > 0 ? explainedPods(view, explanations) :
        make('p', { class: 'empty' }, 'Choose a pod: in a queue, among the decisions or on a node, or by its name.')] :
      [
        make('h3', { class: 'name', id: 'pod-name' }, explained),
        pod >= 0 && facts(view, pod),
        pod >= 0 && view.isNow() && view.state.place[pod] === Place.WAITING && permitButtons(view, pod),
        ...about.map((explanation) => explanationOf(view, explanation)),
        ...(pod >= 0 && view.isNow() && isThere(view.state.place[pod]) ? asked.ofPod(pod) : []),
        pod >= 0 && view.live && !view.isNow() && view.backToNow('The scheduler explains how things are, not how they were.'),
        pod >= 0 && story(view, pod),
      ];
    return [find, ...content];
  });
}

/**
 * The pods that there are explanations of, to choose from.
 * @param {View} view
 * @param {Explanation[]} explanations
 */
function explainedPods(view, explanations) {
  const verdicts = new Map(explanations.map(({ pod, verdict }) => [pod, verdict ?? '']));
  return make('ul', { class: 'rows', 'aria-label': 'Pods that are explained' }, ...[...verdicts].map(([name, verdict]) =>
    make('li', {}, make('button', {
      type: 'button', class: 'link', 'data-key': `explained ${name}`,
      onclick: () => view.store.set({ explained: name, pod: view.model.pods.findIndex((pod) => pod.fullName === name) }),
    }, name), make('span', { class: `verdict ${verdict.toLowerCase()}` }, verdict))));
}

/**
 * Of those that were made of attempts, the last one until then.
 * @param {Explanation[]} explanations  of one pod
 * @param {number} now
 */
function explanationsAt(explanations, now) {
  const last = explanations.findLast(({ at }) => at !== undefined && at <= now);
  return explanations.filter((explanation) => explanation.at === undefined || explanation === last);
}

/**
 * @param {View} view
 * @param {Explanation[]} explanations
 */
function finder(view, explanations) {
  const list = make('datalist', { id: 'pod-names' });
  const input = make('input', {
    type: 'search', list: 'pod-names', autocomplete: 'off', spellcheck: 'false', placeholder: 'namespace/name', id: 'find-pod',
    'data-key': 'find-pod',
  });
  /** Full names and the pods that have them now, -1: nothing but an explanation. @returns {Map<string, number>} */
  const namesNow = () => {
    const names = new Map(explanations.map(({ pod }) => [pod, -1]));
    for (const { fullName, index } of view.model.pods) if (!isGone(view, index)) names.set(fullName, index);
    return names;
  };
  const offer = () => {
    list.replaceChildren(...[...namesNow().keys()].slice(0, NAMES_OFFERED).map((name) => make('option', { value: name })));
  };
  const choose = () => {
    const text = input.value.trim();
    delete input.dataset.typing;
    if (text === '') return;
    const names = namesNow();
    const name = names.has(text) ? text : [...names.keys()].find((other) => other.endsWith(`/${text}`));
    if (name !== undefined) view.store.set({ pod: names.get(name) ?? -1, explained: name });
  };
  input.addEventListener('focus', offer);
  input.addEventListener('input', () => { input.dataset.typing = ''; });
  input.addEventListener('change', choose);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') choose();
  });
  return make('p', { class: 'finder' }, make('label', {}, 'find ', input), list);
}

/**
 * Whether a live page has forgotten the pod; a recorded one shows all that ever were.
 * @param {View} view
 * @param {number} pod
 */
function isGone(view, pod) {
  return view.live !== undefined && !isThere(view.state.place[pod]);
}

/**
 * @param {View} view
 * @param {number} pod
 */
function facts(view, pod) {
  const { model, state } = view;
  const { template, requests } = model.pods[pod];
  const place = state.place[pod];
  const node = state.node[pod];
  const message = view.text(state.message[pod]);
  const asked = model.resources.flatMap((name, resource) =>
    (name === 'pods' || requests[resource] === 0 ? [] : [`${name} ${amount(name, requests[resource])}`]));
  /** @type {[string, import('./dom.js').Child[]][]} */
  const rows = [
    ['state', [make('strong', { class: `place place-${place}` }, PLACE_NAMES[place]),
      place !== Place.NONE && (view.live ? ` for ${view.lasted(state.since[pod])}` : ` since ${view.since(state.since[pod])}`)]],
    ['node', node >= 0 && place !== Place.GONE ? [view.nodeLink(node)] : []],
    ['message', message ? [make('span', { class: 'message' }, message)] : []],
    ['attempts', state.attempts[pod] > 0 ? [state.attempts[pod]] : []],
    ['requests', [asked.join(', ') || 'nothing']],
    ['priority', [template.priority]],
    ['owner', template.owner ? [template.owner] : []],
    ['gates', template.gates ? [template.gates.join(', ')] : []],
    ['labels', [Object.entries(template.labels).map(([key, value]) => `${key}=${value}`).join(', ')]],
    ['scheduler', template.scheduler === 'default-scheduler' ? [] : [template.scheduler]],
  ];
  return make('dl', { class: 'facts' }, ...rows.filter(([, value]) => value.some((part) => part !== '' && part !== false))
    .map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, ...value))));
}

/**
 * @param {View} view
 * @param {number} pod
 */
function story(view, pod) {
  const places = view.model.story(pod);
  const { position } = view.store.choices;
  return make('section', {},
    make('h4', {}, 'Story ', make('small', {}, plural(places.length, 'change'))),
    make('ol', { class: 'stream' }, ...places.map((place) => {
      const { kind, words } = wordsOf(view, view.model.changes[place]);
      return make('li', { class: place < position ? kind : `${kind} future` }, view.momentLink(place), make('div', {}, ...words));
    })));
}
