/** Measures how soon an agent that is interrupted is quiet, in each mode. */
import { percentile, summarize } from '../harness/stats.ts';
import { duration, figure } from '../harness/table.ts';
import { minSpeechMs } from './agent.ts';
import type { VoicePart } from './part.ts';
import type { KnownWords } from './plan.ts';
import { delays, words } from './provider-delays.ts';

/** An agent is quiet sooner than this: silence separates its next answer from the one that is interrupted. */
const endOfSpeechMs = 1_500;
const minWords = [0, 1, 2, 3] as const;
const kinds = [
  { name: 'streamed', title: 'a stream' },
  { name: 'batch', title: 'one request for each turn' },
] as const;

const summary = (values: readonly number[]) => ({ ...summarize(values), p95: percentile(values, 95) });

/** Returns when all that the mode asks for is there, in milliseconds since the epoch. */
function interruptsAt(began: number, least: number, known: readonly KnownWords[]): number {
  const said = least === 0 ? undefined : known.find(({ at, count }) => at > began && count >= least);
  return Math.max(began + minSpeechMs, said?.at ?? 0);
}

export const bargeIn: VoicePart = async ({ host, scale, progress }) => {
  const role = await host.voiceRole(scale);
  const all = [];
  try {
    for (const { name, title } of kinds) {
      progress(`${title}: ${scale.interruptions} interruptions in each of ${minWords.length} calls`);
      const calls = await Promise.all(minWords.map((least) => host.call(`long-${name}-${least}`, { minWords: least, endOfSpeechMs })));
      const results = await host.callers({ calls, turns: 0, interruptions: scale.interruptions });
      for (const [index, { caller, interruptions, unanswered }] of results.entries()) {
        const known = await host.words(caller);
        const least = minWords[index]!;
        all.push({
          stt: title,
          minWords: least,
          unanswered,
          after: summary(interruptions.map(({ began, quiet }) => quiet - interruptsAt(began, least, known))),
          inAll: summary(interruptions.map(({ began, quiet }) => quiet - began)),
        });
      }
    }
    return {
      figures: { minSpeechMs, words, modes: all },
      tables: [
        {
          title: 'An interrupted agent is quiet',
          columns: [
            'speech to text',
            '`minWords`',
            'interruptions',
            'none came',
            'talk-over p50',
            'p95',
            'max',
            'since the first sound p50',
            'p95',
          ],
          rows: all.map(({ stt, minWords: least, unanswered, after, inAll }) => [
            stt,
            String(least),
            figure(after.count),
            figure(unanswered),
            duration(after.p50),
            duration(after.p95),
            duration(after.max),
            duration(inAll.p50),
            duration(inAll.p95),
          ]),
          notes: [
            `Talk-over: from the moment at which the mode's condition is met, ${minSpeechMs} ms of speech (\`interruptions.minSpeechDuration\`) and \`minWords\` sent by speech to text, to the last sound of the agent.`,
            `Four calls at once. A stream has each word of ${words.everyMs} ms ${words.lateMs} ms later, a request takes ${delays.sttMs} ms after the speech of 2.5 s.`,
          ],
        },
      ],
    };
  } finally {
    await role.stop();
  }
};
