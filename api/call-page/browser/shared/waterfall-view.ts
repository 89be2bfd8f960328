/** The latencies of an answer, drawn. */
import { LATENCY_NAMES, latencyText, type TurnLatencies } from '../../../../voice/calls/turn-latencies.ts';
import { waterfallOf } from '../../session/waterfall.ts';
import { make, makeSvg } from './dom.ts';

const ROW = 7;
const GAP = 2;

export function makeWaterfall(turn: TurnLatencies): HTMLElement {
  const { bars, length } = waterfallOf(turn);
  const percent = (ms: number): string => `${((ms / length) * 100).toFixed(2)}%`;
  const height = bars.length * (ROW + GAP);
  const chart = makeSvg(
    'svg',
    { class: 'bars', width: '100%', height, 'aria-hidden': 'true' },
    ...bars.map(({ stage, from, to }, index) =>
      makeSvg('rect', {
        class: `stage-${stage}`,
        x: percent(from),
        y: index * (ROW + GAP),
        width: percent(to - from),
        height: ROW,
        rx: 2,
      }),
    ),
  );
  const legend = bars.map(({ stage }) =>
    make('li', {}, make('span', { class: `swatch stage-${stage}` }), `${LATENCY_NAMES[stage]} `, make('b', {}, latencyText(turn[stage]))),
  );
  const total = make('li', {}, `${LATENCY_NAMES.v2v} `, make('b', {}, latencyText(turn.v2v)));
  return make('div', { class: 'waterfall' }, chart, make('ul', {}, total, ...legend));
}
