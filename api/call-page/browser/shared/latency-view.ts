/** Shows the latencies of an answer: one line, which opens to show their parts. */
import { LATENCY_NAMES, type TurnLatencies } from '../../../../calls/turn-latencies.ts';
import { secondsText } from '../../session/texts.ts';
import { isSlow, waterfallOf, type Bar } from '../../session/waterfall.ts';
import { make, makeSvg } from './dom.ts';

export function makeLatency(turn: TurnLatencies): HTMLElement {
  const isSlowAnswer = isSlow(turn);
  const line = turn.v2v === null ? 'Latency' : `Answered in ${secondsText(turn.v2v)}${isSlowAnswer ? ', slow' : ''}`;
  return make('details', { class: isSlowAnswer ? 'latency slow' : 'latency' }, make('summary', {}, line), makeBreakdown(turn));
}

/** Makes a row with name, bar and figure for each latency. @param scale whether the length of the bars is explained below them */
export function makeBreakdown(turn: TurnLatencies, { scale = false } = {}): HTMLElement {
  const { bars, length } = waterfallOf(turn);
  const breakdown = make('dl', { class: 'breakdown' }, ...bars.map((bar) => barRow(bar, length)));
  if (scale) {
    const axis = make('span', { class: 'axis' }, make('span', {}, '0'), make('span', {}, secondsText(length)));
    breakdown.append(make('div', { 'aria-hidden': 'true' }, make('dt'), make('dd', {}, axis)));
  }
  return breakdown;
}

function barRow({ stage, from, to }: Bar, length: number): HTMLElement {
  const percent = (ms: number): string => `${((ms / length) * 100).toFixed(2)}%`;
  const bar = makeSvg('rect', { x: percent(from), width: percent(to - from), height: '100%', rx: 2 });
  const chart = makeSvg('svg', { 'aria-hidden': 'true' }, bar);
  return make('div', { class: stage }, make('dt', {}, LATENCY_NAMES[stage]), make('dd', {}, chart, make('b', {}, secondsText(to - from))));
}
