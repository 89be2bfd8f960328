/** Measures what an answer gains when speech to text streams: the same questions to the same session, with rooms out of the way. */
import { answerColumns, answerRow, answersOf, type Answers } from './answers.ts';
import type { VoicePart } from './part.ts';
import { delays } from './provider-delays.ts';

const CONTENDERS = {
  batch: 'one request for each turn',
  streamed: 'one stream for each call',
  'streamed-model': 'one stream, end of turn by the detector',
} as const;

export const stt: VoicePart = async ({ host, scale, progress }) => {
  const all: { readonly contender: keyof typeof CONTENDERS; readonly answers: Answers }[] = [];
  // Contenders take turns, so that they share a slow minute of the machine.
  for (let round = 0; round < 2; round += 1)
    for (const contender of Object.keys(CONTENDERS) as (keyof typeof CONTENDERS)[]) {
      progress(`${CONTENDERS[contender]}, ${scale.turns} questions`);
      const { results, cpu } = await host.loop({
        calls: [{ ...host.loopCall(`${contender}-${round}`), turnDetection: contender === 'streamed-model' ? 'Model' : 'Silence' }],
        turns: scale.turns,
        interruptions: 0,
      });
      all.push({ contender, answers: await answersOf(host, results, cpu) });
    }
  return {
    figures: { delays, answers: all },
    tables: [
      {
        title: 'Answers with speech to text that streams, and without',
        columns: ['', ...answerColumns],
        rows: all.map(({ contender, answers }) => answerRow(answers).with(0, CONTENDERS[contender])),
        notes: [
          `A request takes ${delays.sttMs} ms, a stream has its final ${delays.streamedSttMs} ms after it is asked for; model ${delays.llmMs} ms, voice ${delays.ttsMs} ms; the wait for the end of speech is 500 ms, with the detector 300 ms to 3 s.`,
        ],
      },
    ],
  };
};
