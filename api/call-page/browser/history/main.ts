/** What happens on the page `/calls`: a key, a filter, a list, and the call that the address names. */
import { callsQuery, type ShownFilter } from '../../session/call-filter.ts';
import { readCallsFragment } from '../../session/calls-fragment.ts';
import type { ShownCallSummary } from '../../session/record.ts';
import { RestRefusalError, restWith, type Rest } from '../shared/rest.ts';
import { inspect, type Inspector } from './inspector.ts';
import { elements, filterGiven, showCalls, showParts, showProblem } from './view.ts';

const PAGE_SIZE = 50;

let rest: Rest | undefined;
/** Of the list that is shown: the form may say something else by now. */
let filter: ShownFilter = filterGiven();
let calls: readonly ShownCallSummary[] = [];
let total = 0;
let next: string | undefined;
let open: string | undefined;
let inspector: Inspector | undefined;
/** How many lists were asked for: an answer that comes after a later request is not shown. */
let requests = 0;
/** The first page of another list is under way. What follows the list that is there may not be asked for meanwhile. */
let isBeingReplaced = false;

function show(): void {
  showParts({ hasKey: rest !== undefined, open: open !== undefined });
  showCalls(calls, { total, open });
  elements.more.hidden = next === undefined || isBeingReplaced;
}

function fail(error: unknown): void {
  showProblem(error instanceof Error ? error.message : String(error));
  if (!(error instanceof RestRefusalError) || error.status !== 401) return;
  inspector?.close();
  rest = undefined;
  elements.key.value = '';
  show();
  elements.key.focus();
}

function useKey(key: string): void {
  rest = restWith(key);
  elements.key.value = '';
  showProblem(undefined);
  openNamed();
  void list().catch(fail);
  if (open === undefined) elements.agent.focus();
}

/** The first page of what the filter asks for, or the one after what is there. */
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
    // Back where the call was opened.
    (elements.list.querySelector<HTMLElement>(`a[href="#${before}"]`) ?? elements.count).focus();
  }
}

function takeFragment(): void {
  const { call, key } = readCallsFragment(location.hash);
  if (key === undefined) return openNamed();
  // Out of the address bar and out of the history.
  history.replaceState(null, '', `${location.pathname}${call === undefined ? '' : `#${call}`}`);
  useKey(key);
}

elements.keyForm.addEventListener('submit', (event) => {
  event.preventDefault();
  useKey(elements.key.value.trim());
});
elements.filter.addEventListener('submit', (event) => {
  event.preventDefault();
  showProblem(undefined);
  void list().then(() => elements.count.focus(), fail);
});
elements.list.addEventListener('click', ({ target }) => {
  // One that could not be read: its address is still there, and does not change.
  if (open === undefined && target instanceof Element && target.closest('a')?.hash === location.hash) openNamed();
});
elements.more.addEventListener('click', () => void list({ more: true }).catch(fail));
addEventListener('hashchange', takeFragment);

show();
takeFragment();
if (rest === undefined) elements.key.focus();
