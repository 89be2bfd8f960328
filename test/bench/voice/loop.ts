/** Measures what the session adds to an answer by itself: no room, no network but that to the providers, no database. */
import { answerColumns, answerRow, answersOf, type Answers } from './answers.ts';
import type { VoicePart } from './part.ts';
import { delays } from './provider-delays.ts';

export const loop: VoicePart = async ({ host, scale, progress }) => {
  const all: Answers[] = [];
  for (const count of scale.calls) {
    progress(`${count} calls without rooms, ${scale.turns} questions each`);
    const calls = Array.from({ length: count }, (_, index) => host.loopCall(`loop-${count}-${index}`));
    const { results, cpu } = await host.loop({ calls, turns: scale.turns, interruptions: 0 });
    all.push(await answersOf(host, results, cpu));
  }
  return {
    figures: { delays, answers: all },
    tables: [
      {
        title: 'Answers without rooms: all calls in one process',
        columns: ['', ...answerColumns],
        rows: all.map(answerRow),
        notes: [
          `Added is voice to voice without the wait for the end of speech (500 ms) and without the time in which a provider worked (speech to text ${delays.sttMs} ms, model ${delays.llmMs} ms, voice ${delays.ttsMs} ms).`,
          host.cores !== undefined
            ? 'The process has its cores to itself; callers are in it.'
            : 'The process shares all cores: this system has no taskset.',
        ],
      },
    ],
  };
};
