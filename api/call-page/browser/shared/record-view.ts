/** Shows the parts of a call's record that both pages have. */
import { medianLatencies } from '../../../../calls/turn-latencies.ts';
import type { Analysis, ShownCall } from '../../session/record.ts';
import type { Outcome } from '../../session/outcome.ts';
import { costText, plainName } from '../../session/texts.ts';
import { make, showList } from './dom.ts';
import { makeBreakdown } from './latency-view.ts';

export interface Fact {
  readonly name: string;
  readonly text: string;
  /** Set for an identifier, which gets a button to copy it: it is long, and people need it elsewhere. */
  readonly copies?: boolean;
}

export function showFacts(list: HTMLElement, facts: readonly Fact[]): void {
  showList(
    list,
    facts.map((fact) => ({ key: fact.name, ...fact })),
    ({ name, text, copies = false }) =>
      make('div', {}, make('dt', {}, name), make('dd', {}, ...(copies ? [make('code', { title: text }, text), copyButton(text)] : [text]))),
  );
}

/** Returns the facts of a call that both pages show the same way. */
export function commonFacts({ _id: id, cost }: ShownCall): readonly Fact[] {
  return [...(cost === undefined ? [] : [{ name: 'Cost', text: costText(cost) }]), { name: 'Call', text: id, copies: true }];
}

function copyButton(text: string): HTMLElement {
  const button = make('button', { type: 'button', class: 'small', 'aria-live': 'polite' }, 'Copy');
  // Browsers have a clipboard for pages from this machine or over https only.
  button.hidden = !isSecureContext;
  button.addEventListener('click', () => {
    void navigator.clipboard.writeText(text).then(
      () => (button.textContent = 'Copied'),
      () => (button.textContent = 'Not allowed'),
    );
  });
  return button;
}

/** Says in words how a call ended, with the code of the API where one points at it. */
export function outcomeTag({ text, code, tone }: Outcome): HTMLElement {
  return make('span', { class: tone === 'usual' ? 'outcome' : `outcome tag ${tone}`, title: code }, text);
}

export function showAnalysis(part: HTMLElement, analysis: Analysis | undefined): void {
  part.hidden = analysis === undefined;
  if (analysis === undefined) return;
  part.replaceChildren(make('h3', {}, 'Analysis'), analysisBody(analysis));
}

function analysisBody({ status, items, error }: Analysis): HTMLElement {
  if (status === 'failed') return make('p', { class: 'problem' }, `The analysis failed: ${error?.message ?? 'no reason is known'}`);
  if (status !== 'completed') return make('p', { class: 'quiet', role: 'status' }, 'The model reads the transcript…');
  const list = make('dl', { class: 'facts' });
  showFacts(
    list,
    items.map(({ name, result, error: why }) => ({ name: plainName(name), text: why?.message ?? resultWord(result) })),
  );
  return list;
}

function resultWord(result: string | number | boolean | null): string {
  if (result === null) return '–';
  return typeof result === 'boolean' ? (result ? 'yes' : 'no') : String(result);
}

/** Shows the median latencies of all answers. */
export function showMedian(part: HTMLElement, { turns }: ShownCall): void {
  part.hidden = turns.length === 0;
  const heading = turns.length === 1 ? 'Latency, one answer' : `Latency, median of ${turns.length} answers`;
  part.replaceChildren(make('h3', {}, heading), makeBreakdown(medianLatencies(turns), { scale: true }));
}
