/** Runs the page `/calls`: a key, a filter, a list, and the call that the address names. */
import { errorMessageOf } from '../../../../platform/caught.ts';
import { callsQuery, type ShownFilter } from '../../session/call-filter.ts';
import { readCallsFragment } from '../../session/calls-fragment.ts';
import type { NamedAgent } from '../../session/chosen-agent.ts';
import type { ShownCallSummary } from '../../session/record.ts';
import { RestRefusalError, restWith, type Rest } from '../shared/rest.ts';
import { readFirstWords, type FirstWords } from './first-words.ts';
import { inspect, type Inspector } from './inspector.ts';
import { elements, filterGiven, focusFilter, offerAgents, showCalls, showFilter, showParts, showProblem } from './view.ts';

const PAGE_SIZE = 50;

let rest: Rest | undefined;
/** The filter of the list that is shown: the form may say something else by now. */
let filter: ShownFilter = filterGiven();
let calls: readonly ShownCallSummary[] = [];
let total = 0;
let next: string | undefined;
let open: string | undefined;
let inspector: Inspector | undefined;
let words: FirstWords | undefined;
/** Agents that the filter offers, by id. */
const agents = new Map<string, NamedAgent>();
/** On a phone the fields are shown on request only. */
let filterExpanded = false;
/** Number of lists that were asked for: an answer that comes after a later request is not shown. */
let requests = 0;
/** Set while the first page of another list is under way: the next page of the present list may not be asked for then. */
let isBeingReplaced = false;

function show(): void {
  showParts({ hasKey: rest !== undefined, open: open !== undefined });
  showFilter({ expanded: filterExpanded });
  showCalls(calls, { total, open, words: (call, place) => words?.put(call, place) });
  elements.more.hidden = next === undefined || isBeingReplaced;
}

function fail(error: unknown): void {
  showProblem(errorMessageOf(error));
  if (!(error instanceof RestRefusalError) || error.status !== 401) return;
  inspector?.close();
  rest = undefined;
  elements.key.value = '';
  show();
  elements.key.focus();
}

function offer(): void {
  offerAgents([...agents.values()].toSorted((left, right) => left.agent_name.localeCompare(right.agent_name)));
}

/** A key without `calls:create` filters by the agents of the calls that it has listed. */
async function readAgents(client: Rest): Promise<void> {
  const found = await client.agents().catch(() => []);
  if (client !== rest) return;
  for (const agent of found) agents.set(agent.ai_agent_id, agent);
  offer();
}

function useKey(key: string): void {
  rest = restWith(key);
  words?.close();
  words = readFirstWords(rest);
  agents.clear();
  void readAgents(rest);
  elements.key.value = '';
  showProblem(undefined);
  openNamed();
  void list().catch(fail);
  if (open === undefined) focusFilter();
}

/** Loads the first page of calls that pass the filter, or the page after those that are shown. */
async function list({ more = false } = {}): Promise<void> {
  if (rest === undefined) return;
  requests += 1;
  const request = requests;
  const asked = more ? filter : filterGiven();
  isBeingReplaced = !more;
  show();
  const page = await rest.calls(callsQuery(asked, { size: PAGE_SIZE, token: more ? next : undefined })).finally(() => {
    if (request !== requests) return;
    isBeingReplaced = false;
    show();
  });
  if (request !== requests) return;
  const first = more ? calls.length : 0;
  filter = asked;
  calls = more ? [...calls, ...page.calls] : page.calls;
  total = page.total_count;
  for (const { ai_agent_id: id, ai_agent_name: name } of page.calls)
    if (!agents.has(id)) agents.set(id, { ai_agent_id: id, agent_name: name });
  offer();
  next = page.next_page_token ?? undefined;
  show();
  if (more) elements.list.querySelectorAll('a')[first]?.focus();
}

function openNamed(): void {
  const before = open;
  inspector?.close();
  inspector = undefined;
  open = readCallsFragment(location.hash).call;
  show();
  if (rest !== undefined && open !== undefined) {
    showProblem(undefined);
    inspector = inspect(rest, open, (error) => {
      open = undefined;
      show();
      fail(error);
    });
    elements.title.focus();
  } else if (before !== undefined) {
    // The focus returns to where the call was opened.
    (elements.list.querySelector<HTMLElement>(`a[href="#${before}"]`) ?? elements.count).focus();
  }
}

function takeFragment(): void {
  const { call, key } = readCallsFragment(location.hash);
  if (key === undefined) return openNamed();
  // The key leaves the address bar and the history.
  history.replaceState(null, '', `${location.pathname}${call === undefined ? '' : `#${call}`}`);
  useKey(key);
}

elements.keyForm.addEventListener('submit', (event) => {
  event.preventDefault();
  useKey(elements.key.value.trim());
});
elements.filter.addEventListener('submit', (event) => event.preventDefault());
elements.filter.addEventListener('change', () => {
  showProblem(undefined);
  void list().catch(fail);
});
elements.filterToggle.addEventListener('click', () => {
  filterExpanded = !filterExpanded;
  show();
});
elements.list.addEventListener('click', ({ target }) => {
  // The address of a call that could not be read is still there, so following its link again doesn't change it.
  if (open === undefined && target instanceof Element && target.closest('a')?.hash === location.hash) openNamed();
});
elements.more.addEventListener('click', () => void list({ more: true }).catch(fail));
addEventListener('hashchange', takeFragment);

show();
takeFragment();
if (rest === undefined) elements.key.focus();
