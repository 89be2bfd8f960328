/** Parts of a call's record that both pages show. */
import { medianLatencies } from '../../../../voice/calls/turn-latencies.ts';
import type { Analysis, ShownCall } from '../../session/record.ts';
import { facts, make } from './dom.ts';
import { makeWaterfall } from './waterfall-view.ts';

export function showAnalysis(part: HTMLElement, analysis: Analysis | undefined): void {
  part.hidden = analysis === undefined;
  if (analysis === undefined) return;
  part.replaceChildren(make('h3', {}, 'Analysis'), analysisBody(analysis));
}

function analysisBody({ status, items, error }: Analysis): HTMLElement {
  if (status === 'failed') return make('p', { class: 'problem' }, `The analysis failed: ${error?.message ?? 'no reason is known'}`);
  if (status !== 'completed') return make('p', { class: 'quiet', role: 'status' }, 'The model reads the transcript…');
  return make(
    'dl',
    { class: 'facts' },
    ...facts(items.map(({ name, result, error: why }) => [name, why?.message ?? (result === null ? '–' : String(result))])),
  );
}

/** The median of all answers. */
export function showMedian(part: HTMLElement, { turns }: ShownCall): void {
  part.hidden = turns.length === 0;
  const heading = turns.length === 1 ? 'One answer' : `Median of ${turns.length} answers`;
  part.replaceChildren(make('h3', {}, heading), makeWaterfall(medianLatencies(turns)));
}
