/** The elements of the page `/calls`, and its list of calls. */
import type { ShownFilter } from '../../session/call-filter.ts';
import type { ShownCallSummary } from '../../session/record.ts';
import { clockText } from '../../session/texts.ts';
import { element, make, showList } from '../shared/dom.ts';

export const elements = {
  main: element('main', HTMLElement),
  problem: element('problem', HTMLElement),
  keyForm: element('key-part', HTMLFormElement),
  key: element('key', HTMLInputElement),
  filter: element('filter', HTMLFormElement),
  agent: element('agent', HTMLInputElement),
  agents: element('agents', HTMLElement),
  status: element('status', HTMLSelectElement),
  from: element('from', HTMLInputElement),
  to: element('to', HTMLInputElement),
  listPart: element('list-part', HTMLElement),
  count: element('count', HTMLElement),
  list: element('list', HTMLElement),
  more: element('more', HTMLButtonElement),
  inspector: element('inspector', HTMLElement),
  title: element('call-title', HTMLElement),
  facts: element('facts', HTMLElement),
  timeline: element('timeline', HTMLElement),
  recordingNote: element('recording-note', HTMLElement),
  playerPart: element('player-part', HTMLElement),
  position: element('position', HTMLElement),
  waveform: element('waveform', HTMLCanvasElement),
  player: element('player', HTMLAudioElement),
  download: element('download', HTMLAnchorElement),
  median: element('median', HTMLElement),
  analysis: element('analysis', HTMLElement),
  deliveriesNote: element('deliveries-note', HTMLElement),
  deliveries: element('deliveries', HTMLElement),
};

export function showProblem(text: string | undefined): void {
  elements.problem.textContent = text ?? '';
  elements.problem.hidden = text === undefined;
}

/** @param open whether a call is shown: next to the list, or in its place where there is no room for both */
export function showParts({ hasKey, open }: { readonly hasKey: boolean; readonly open: boolean }): void {
  elements.keyForm.hidden = hasKey;
  elements.filter.hidden = !hasKey;
  elements.listPart.hidden = !hasKey;
  elements.inspector.hidden = !hasKey || !open;
  elements.main.classList.toggle('wide', hasKey);
  elements.main.classList.toggle('open', hasKey && open);
}

export function filterGiven(): ShownFilter {
  const { agent, status, from, to } = elements;
  return { agent: agent.value, status: status.value, from: from.value, to: to.value };
}

const when = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function whenText({ call_start_time: started, created_at: created }: ShownCallSummary): string {
  return when.format(new Date(started ?? created));
}

export function statusTag(text: string, isBad: boolean): HTMLElement {
  return make('span', { class: isBad ? 'tag failed' : 'tag' }, text);
}

export function showCalls(
  calls: readonly ShownCallSummary[],
  { total, open }: { readonly total: number; readonly open: string | undefined },
): void {
  elements.count.textContent = total === 1 ? '1 call' : `${total} calls`;
  showList(
    elements.list,
    calls.map((call) => ({ key: call._id, call, isOpen: call._id === open })),
    ({ call, isOpen }) => make('li', {}, callLink(call, isOpen)),
  );
  const known = new Map(calls.map(({ ai_agent_id: id, ai_agent_name: name }) => [id, name]));
  elements.agents.replaceChildren(...[...known].map(([id, name]) => make('option', { value: id }, name)));
}

function callLink(call: ShownCallSummary, isOpen: boolean): HTMLElement {
  return make(
    'a',
    { href: `#${call._id}`, ...(isOpen && { 'aria-current': 'true' }) },
    make(
      'span',
      { class: 'row' },
      make('span', { class: 'name' }, call.ai_agent_name),
      statusTag(call.call_finish_reason ?? call.call_status, call.call_status === 'error'),
    ),
    make(
      'span',
      { class: 'row quiet' },
      make('span', {}, whenText(call)),
      make('span', {}, call.call_duration_seconds === undefined ? '' : clockText(call.call_duration_seconds)),
    ),
  );
}
