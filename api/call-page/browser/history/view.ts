/** Finds the elements of the page `/calls`, and fills its list of calls. */
import { filterCount, type ShownFilter } from '../../session/call-filter.ts';
import { agentLabel, type NamedAgent } from '../../session/chosen-agent.ts';
import { outcomeOf } from '../../session/outcome.ts';
import { startOf, type ShownCallSummary } from '../../session/record.ts';
import { clockText, costText, dayText, wayText } from '../../session/texts.ts';
import { element, make, showList } from '../shared/dom.ts';
import { outcomeTag } from '../shared/record-view.ts';

export const elements = {
  main: element('main', HTMLElement),
  problem: element('problem', HTMLElement),
  keyForm: element('key-part', HTMLFormElement),
  key: element('key', HTMLInputElement),
  filter: element('filter', HTMLFormElement),
  filterToggle: element('filter-toggle', HTMLButtonElement),
  agent: element('agent', HTMLSelectElement),
  status: element('status', HTMLSelectElement),
  from: element('from', HTMLInputElement),
  to: element('to', HTMLInputElement),
  listPart: element('list-part', HTMLElement),
  count: element('count', HTMLElement),
  zone: element('zone', HTMLElement),
  list: element('list', HTMLElement),
  more: element('more', HTMLButtonElement),
  inspector: element('inspector', HTMLElement),
  title: element('call-title', HTMLElement),
  line: element('call-line', HTMLElement),
  livePart: element('live-part', HTMLElement),
  liveState: element('live-state', HTMLElement),
  liveForm: element('live-form', HTMLFormElement),
  liveWords: element('live-words', HTMLInputElement),
  say: element('say', HTMLButtonElement),
  instruct: element('instruct', HTMLButtonElement),
  muteAgent: element('mute-agent', HTMLButtonElement),
  listen: element('listen', HTMLButtonElement),
  takeOver: element('take-over', HTMLButtonElement),
  liveNote: element('live-note', HTMLElement),
  liveVoices: element('live-voices', HTMLElement),
  facts: element('facts', HTMLElement),
  timeline: element('timeline', HTMLElement),
  median: element('median', HTMLElement),
  analysis: element('analysis', HTMLElement),
  deliveriesNote: element('deliveries-note', HTMLElement),
  deliveries: element('deliveries', HTMLElement),
};

export function showProblem(text: string | undefined): void {
  elements.problem.textContent = text ?? '';
  elements.problem.hidden = text === undefined;
}

/** @param open whether a call is shown: next to the list, or in place of the list where there is no room for both */
export function showParts({ hasKey, open }: { readonly hasKey: boolean; readonly open: boolean }): void {
  elements.keyForm.hidden = hasKey;
  elements.filter.hidden = !hasKey;
  elements.listPart.hidden = !hasKey;
  elements.inspector.hidden = !hasKey || !open;
  elements.main.classList.toggle('open', hasKey && open);
}

export function filterGiven(): ShownFilter {
  const { agent, status, from, to } = elements;
  return { agent: agent.value, status: status.value, from: from.value, to: to.value };
}

/** Focuses the filter, whose fields are behind a button on a phone. */
export function focusFilter(): void {
  (elements.filterToggle.offsetParent === null ? elements.agent : elements.filterToggle).focus();
}

export function showFilter({ expanded }: { readonly expanded: boolean }): void {
  const count = filterCount(filterGiven());
  elements.filterToggle.textContent = count === 0 ? 'Filter' : `Filter (${count})`;
  elements.filterToggle.setAttribute('aria-expanded', String(expanded));
}

/** Offers agents to choose from, next to all of them. The chosen agent stays even where it isn't offered: the list is of its calls. */
export function offerAgents(agents: readonly NamedAgent[]): void {
  const [chosen = make('option')] = elements.agent.selectedOptions;
  const options = agents.map((agent) => make('option', { value: agent.ai_agent_id }, agentLabel(agent, agents)));
  const isGone = chosen.value !== '' && agents.every(({ ai_agent_id: id }) => id !== chosen.value);
  elements.agent.replaceChildren(make('option', { value: '' }, 'All agents'), ...options, ...(isGone ? [chosen] : []));
  elements.agent.value = chosen.value;
}

const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** Returns the day and the time of day at which a call began. */
export function whenText(call: ShownCallSummary): string {
  const date = new Date(startOf(call));
  return `${dayText(date, new Date())}, ${timeOfDay.format(date)}`;
}

/** Puts the first words of a call into a place once they are known. */
export type WordsPlace = (call: ShownCallSummary, place: HTMLElement) => void;

export function showCalls(
  calls: readonly ShownCallSummary[],
  { total, open, words }: { readonly total: number; readonly open: string | undefined; readonly words: WordsPlace },
): void {
  elements.count.textContent = total === 1 ? '1 call' : `${total} calls`;
  elements.zone.textContent = `Times in ${timeOfDay.resolvedOptions().timeZone}`;
  const now = new Date();
  let day = '';
  const rows = calls.flatMap((call) => {
    const before = day;
    day = dayText(new Date(startOf(call)), now);
    const row = { kind: 'call', key: call._id, call, isOpen: call._id === open } as const;
    return day === before ? [row] : [{ kind: 'day', key: `day of ${call._id}`, day } as const, row];
  });
  showList(elements.list, rows, (row) =>
    row.kind === 'day' ? make('li', { class: 'day' }, make('h2', {}, row.day)) : make('li', {}, callLink(row.call, row.isOpen, words)),
  );
}

function callLink(call: ShownCallSummary, isOpen: boolean, words: WordsPlace): HTMLElement {
  const isStarted = call.call_start_time !== undefined;
  const said = isStarted ? make('span', { class: 'said' }) : make('span', { class: 'said quiet' }, 'Nothing was said.');
  if (isStarted) words(call, said);
  const { call_duration_seconds: seconds, cost } = call;
  return make(
    'a',
    { href: `#${call._id}`, ...(isOpen && { 'aria-current': 'true' }) },
    make('span', { class: 'name' }, call.ai_agent_name),
    outcomeTag(outcomeOf(call)),
    said,
    make('span', { class: 'time' }, timeOfDay.format(startOf(call))),
    make('span', { class: 'way' }, wayText(call)),
    make(
      'span',
      { class: 'figures' },
      ...(seconds === undefined ? [] : [make('span', {}, clockText(seconds))]),
      ...(cost === undefined ? [] : [make('span', {}, costText(cost))]),
    ),
  );
}
