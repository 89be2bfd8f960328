/** A user who pauses within a turn gets one answer, to all that was said, however long speech to text takes for it. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import type { StagedCall } from './stage.ts';
import { openStreamingStage } from './streaming-stage.ts';

const PAUSE_MS = 450;
/** Less than speech to text takes for the last part, and far more than the pause: on a busy machine the user is heard late. */
const DELAY = { silence: '950ms', model: '1600ms' };
const parts = ['please wait', 'I have', 'two questions'];
const answers = { toAll: 'Ask both of them.', toPart: 'I am waiting.' };
const story = 'Once upon a time there was a telephone.';

afterAll(dispose);
const stage = suiteFixture(openStreamingStage);

interface Manner {
  readonly mode: 'silence' | 'model';
  /** The user speaks while the agent does. */
  readonly interrupts: boolean;
  readonly minWords: number;
}

/** A call whose user has been understood when a part of it is asked for. */
async function begun({ mode, interrupts, minWords }: Manner, spec: Readonly<Record<string, unknown>> = {}): Promise<StagedCall> {
  const call = await stage.call({
    spec: {
      turnDetection: { mode, endOfSpeechDelay: DELAY[mode] },
      interruptions: { minWords },
      ...(interrupts && { welcomeMessage: story }),
      ...spec,
    },
  });
  call.provider.speech(({ input }) => (input === story ? { msPerCharacter: 600 } : {}));
  call.provider.chat(({ lastUser }) => (lastUser.includes(parts.at(-1)!) ? answers.toAll : answers.toPart));
  await call.join();
  await call.becomes({ status: 'ongoing' });
  if (interrupts) await eventually(() => expect(call.caller.heardFor(story)).toBeGreaterThanOrEqual(1_000));
  return call;
}

/** Sound that arrives with holes is heard in more pieces, or two parts in one: what is in it says its marks. */
function hearsParts({ provider }: StagedCall, said: readonly string[], delayMs: number): void {
  provider.heard(({ marks }) => ({ text: marks.map((mark) => said[mark]).join(' '), delayMs }));
}

/** Once all is answered. */
async function outcomeOf(call: StagedCall) {
  await call.caller.hears(answers.toAll);
  const said = await eventually(async () => {
    const user = (await call.messages()).find(({ role }) => role === 'user');
    return user?.content ?? Promise.reject(new Error('nothing that the user said was written'));
  });
  return { toPartMs: call.caller.heardFor(answers.toPart), asked: call.provider.requests('chat').at(-1)?.lastUser, said };
}

function asAWhole(said: readonly string[]): object {
  const all = expect.stringMatching(new RegExp(`^${said.map((part) => `${part}( ${part})*`).join(' ')}$`)) as string;
  return { toPartMs: 0, asked: all, said: all };
}

async function end(call: StagedCall): Promise<void> {
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
}

const manners: readonly Manner[] = [
  { mode: 'silence', interrupts: false, minWords: 0 },
  { mode: 'model', interrupts: false, minWords: 2 },
  { mode: 'silence', interrupts: true, minWords: 2 },
  { mode: 'model', interrupts: true, minWords: 0 },
];
describe.concurrent.each([0, 300, 800, 1_500])('speech to text by requests, %d ms each', (sttMs) => {
  it.each(manners)('is waited for: mode $mode, minWords $minWords, interrupting: $interrupts', async (manner) => {
    const call = await begun(manner);
    const said = parts.slice(1);
    hearsParts(call, said, sttMs);
    await call.caller.speak(900, { pauseMs: PAUSE_MS, thenMs: [900] });
    expect(await outcomeOf(call)).toEqual(asAWhole(said));
    await end(call);
  });
});

describe.concurrent('speech to text by requests waits for the rest of a turn', () => {
  it('in three parts', async () => {
    const call = await begun(manners[0]!);
    hearsParts(call, parts, 1_500);
    await call.caller.speak(700, { pauseMs: PAUSE_MS, thenMs: [700, 700] });
    expect(await outcomeOf(call)).toEqual(asAWhole(parts));
    await end(call);
  });

  it('that turns out to be a noise', async () => {
    const call = await begun(manners[0]!);
    hearsParts(call, ['please wait', ''], 1_000);
    await call.caller.speak(900, { pauseMs: PAUSE_MS, thenMs: [900] });
    const spokenAt = performance.now();
    const heardAt = await call.caller.hears(answers.toPart, { since: spokenAt });
    expect(heardAt - spokenAt).toBeGreaterThan(1_000);
    // Sound that arrives with holes is heard in more pieces.
    expect(call.provider.requests('chat').at(-1)?.lastUser).toMatch(/^please wait( please wait)*$/);
    await end(call);
  });

  it('and begins after a noise that was before it', async () => {
    const call = await begun(manners[0]!);
    hearsParts(call, ['please wait', ''], 0);
    call.provider.chat(() => ({ text: answers.toPart, delayMs: 2_500 }));
    // The noise comes before the answer.
    await call.caller.speak(700, { pauseMs: 900, thenMs: [400] });
    await call.caller.hears(answers.toPart);
    await call.caller.speak(700);
    await eventually(async () => expect((await call.messages()).map(({ role }) => role)).toEqual(['user', 'agent', 'user', 'agent']));
    await end(call);
  });

  it('and answers what it knows where the rest never comes', async () => {
    const call = await begun(manners[0]!);
    call.provider.heard(({ marks }) => (marks.includes(1) ? { holdHead: new Promise(() => undefined) } : 'please wait'));
    await call.caller.speak(900, { pauseMs: PAUSE_MS, thenMs: [900] });
    const spokenAt = performance.now();
    const heardAt = await call.caller.hears(answers.toPart);
    expect(heardAt - spokenAt).toBeGreaterThan(4_500);
    await end(call);
  });

  it('and ends the call where the rest fails', async () => {
    const call = await begun(manners[0]!);
    call.provider.heard(({ marks }) => (marks.includes(1) ? { status: 401 } : 'please wait'));
    await call.caller.speak(900, { pauseMs: PAUSE_MS, thenMs: [900] });
    expect(await call.becomes({ status: 'error' })).toMatchObject({ finishReason: 'speech_recognition_error' });
  });
});

describe.concurrent('a stream waits for the rest of a turn', () => {
  it.each([300, 1_500])('with finals after %d ms', async (finalDelayMs) => {
    const call = await begun(manners[0]!, { speechToText: stage.streamingSpeechToText });
    const said = parts.slice(1);
    call.provider.streamed.hear(...said.map((text) => ({ text, finalDelayMs })));
    await call.caller.speak(900, { pauseMs: PAUSE_MS, thenMs: [900] });
    expect(await outcomeOf(call)).toEqual(asAWhole(said));
    await end(call);
  });
});
