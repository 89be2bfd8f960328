import { Option } from 'commander';

import { progress } from '../harness/progress.ts';
import { benchmark, onServers } from '../harness/suite.ts';
import { bargeIn } from './barge-in.ts';
import { benchEndOfTurn } from './eot.ts';
import { startHost, type VoiceHost } from './host.ts';
import { loop } from './loop.ts';
import { capacityOf, type VoiceScale } from './part.ts';
import { soak } from './soak.ts';
import { stt } from './stt.ts';
import { traces } from './traces.ts';
import { webrtc } from './webrtc.ts';

const full: VoiceScale = {
  calls: [1, 5, 10],
  turns: 12,
  joins: 20,
  interruptions: 20,
  traceRounds: 10,
  soak: 200,
  lanes: 1,
  ready: 2,
  perProcess: 8,
  cores: 1,
};

export const run = benchmark<VoiceScale, VoiceHost, { readonly sources?: true }>({
  name: 'voice',
  description:
    'calls: what the platform adds to an answer at 1, 5 and 10 calls on one core, without a room (loop), with speech to text that streams (stt), the end of a turn by the detector and by silence (eot), with real WebRTC, with the time from joining to the first word (webrtc), how soon an interrupted agent is quiet (barge-in), memory over 200 calls one after the other (soak), and, where it is asked for, the processor time of calls with traces and without (traces)',
  parts: {
    loop: onServers(loop),
    stt: onServers(stt),
    eot: () => benchEndOfTurn(),
    webrtc: onServers(webrtc),
    'barge-in': onServers(bargeIn),
    soak: onServers(soak),
    traces: onServers(traces),
  },
  // This part takes 25 minutes by itself.
  onRequest: ['traces'],
  full,
  quick: { ...full, calls: [1, 3], turns: 2, joins: 2, interruptions: 2, traceRounds: 2, soak: 4 },
  numbers: {
    turns: [`questions that each caller asks (${full.turns})`, (turns) => ({ turns })],
    rounds: [`of calls with traces and without (${full.traceRounds})`, (traceRounds) => ({ traceRounds })],
    soak: [`calls one after the other (${full.soak})`, (count) => ({ soak: count })],
    lanes: [`of these, so many at the same time (${full.lanes})`, (lanes) => ({ lanes })],
    ready: [`processes that are kept ready for the next calls (${full.ready})`, (ready) => ({ ready })],
    'per-process': [`calls that share a process (${full.perProcess})`, (perProcess) => ({ perProcess })],
    joins: [`calls one after the other whose beginning is timed (${full.joins})`, (joins) => ({ joins })],
    cores: [`cores of what is measured (${full.cores})`, (cores) => ({ cores })],
    calls: [`how many calls at once, in place of ${full.calls.join(', ')}`, (count) => ({ calls: [1, count] })],
  },
  options: [new Option('--sources', 'run the roles from their sources and not from the bundle; figures are a little worse')],
  start: ({ scale, flags: { sources = false } }) =>
    startHost({ progress, fromSources: sources, cores: scale.cores, capacity: capacityOf(scale) }),
});
