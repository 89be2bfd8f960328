/** What happens when the user speaks while the agent does. */
import { setTimeout as delay } from 'node:timers/promises';

import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage, type StagedCall } from './stage.ts';

const story = 'Once upon a time there was a telephone.';

afterAll(dispose);
const stage = suiteFixture(openStage);

/** A call whose agent has begun to tell a story, by itself. @param lastsMs long where it is to be interrupted, however slow the machine is */
async function toldAStory(interruptions: Readonly<Record<string, unknown>>, lastsMs: number): Promise<StagedCall> {
  const call = await stage.call({ spec: { welcomeMessage: story, interruptions } });
  call.provider.speech(({ input }) => (input === story ? { msPerCharacter: lastsMs / story.length } : {}));
  call.provider.chat(() => 'I listen.');
  await call.join();
  await eventually(() => expect(call.caller.heardFor(story)).toBeGreaterThanOrEqual(1_500));
  return call;
}

async function end(call: StagedCall): Promise<void> {
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
}

const contents = async (call: StagedCall) => (await call.messages()).map(({ role, interrupted }) => [role, interrupted]);

describe.concurrent('an interruption', () => {
  it('ends what the agent says, the welcome message too, and what was not heard was not said', async () => {
    const call = await toldAStory({}, 12_000);
    let understoodAt = Number.NaN;
    call.provider.heard(async () => {
      const silence = () => call.caller.heard.slice(-3).map(({ frequency }) => frequency);
      await eventually(() => expect(silence()).toEqual([undefined, undefined, undefined]));
      understoodAt = performance.now();
      return 'wait a moment';
    });
    const from = performance.now();
    await call.caller.speak(1_500);
    await call.caller.hears('I listen.', { since: from });
    // Nor is a bit of it heard again when it is known that it does not go on.
    expect(call.caller.lastHeard(story)).toBeLessThan(understoodAt);
    await eventually(async () =>
      expect(await contents(call)).toEqual([
        ['agent', true],
        ['user', false],
        ['agent', false],
      ]),
    );
    const [spoken] = await call.messages();
    expect(story.startsWith(spoken!.content)).toBe(true);
    expect(spoken!.content.length).toBeGreaterThan(3);
    expect(spoken!.content.length / story.length).toBeLessThan(call.caller.heardFor(story) / 12_000 + 0.2);
    // The model knows no more of it than the user.
    expect(JSON.stringify(call.provider.requests('chat').at(-1)?.messages)).not.toContain('telephone');
    await end(call);
  });

  it('is none where the agent allows none: it finishes', async () => {
    const call = await toldAStory({ enabled: false }, 8_000);
    call.provider.heard(() => 'wait a moment');
    await call.caller.speak(2_000);
    await eventually(async () => expect(await contents(call)).toEqual([['agent', false]]));
    expect(call.caller.heardFor(story)).toBeGreaterThan(7_000);
    expect(call.provider.requests('chat')).toHaveLength(0);
    await end(call);
  });

  it('takes as long a speech as the agent asks for', async () => {
    const call = await toldAStory({ minSpeechDuration: '2s' }, 8_000);
    call.provider.heard(() => 'yes of course');
    await call.caller.speak(1_000);
    await eventually(async () => expect(await contents(call)).toEqual([['agent', false]]));
    expect(call.caller.heardFor(story)).toBeGreaterThan(7_000);
    expect(call.provider.requests('chat')).toHaveLength(0);
    await end(call);
  });

  it('happens after as long a speech', async () => {
    const call = await toldAStory({ minSpeechDuration: '1s' }, 20_000);
    call.provider.heard(() => 'stop');
    const from = performance.now();
    await call.caller.speak(2_500);
    await call.caller.hears('I listen.', { since: from });
    const until = call.caller.lastHeard(story)! - from;
    expect(until).toBeGreaterThan(900);
    expect((await contents(call))[0]).toEqual(['agent', true]);
    await end(call);
  });

  it('takes as many words as the agent asks for', async () => {
    const call = await toldAStory({ minWords: 3 }, 30_000);
    let words = 'yes';
    call.provider.heard(() => words);
    await call.caller.speak(1_000);
    await eventually(() => expect(call.provider.requests('transcriptions')).not.toEqual([]));
    await delay(700);
    const from = performance.now();
    expect(call.provider.requests('chat')).toHaveLength(0);
    await call.caller.hears(story, { since: from });
    words = 'please stop that now';
    await call.caller.speak(1_000);
    await call.caller.hears('I listen.', { since: from });
    expect((await call.messages()).find(({ role }) => role === 'user')?.content).toMatch(/please stop that now$/);
    await end(call);
  });

  it('that was only a noise lets the agent go on where it was', async () => {
    const call = await toldAStory({}, 8_000);
    call.provider.heard(() => '');
    await call.caller.speak(1_200);
    await eventually(async () => expect(await contents(call)).toEqual([['agent', false]]));
    expect(call.caller.heardFor(story)).toBeGreaterThan(6_500);
    await end(call);
  });

  it('before the answer has begun leaves nothing of that answer', async () => {
    const answer = 'A single thing.';
    const call = await stage.call({ spec: { welcomeMessage: 'Good morning.' } });
    const [goesOn, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let words = 'I have';
    call.provider.heard(async () => {
      if (words === 'I have') return words;
      // The model answers what it was asked before while the rest is being understood.
      await finished.promise;
      goesOn.resolve();
      await delay(500);
      return words;
    });
    call.provider.chat(({ lastUser }) => (lastUser.includes('questions') ? 'Ask them.' : { text: answer, holdHead: goesOn.promise }));
    await call.join();
    await call.caller.hears('Good morning.');
    await delay(1_000);
    await call.caller.speak(1_000);
    await eventually(() => expect(call.provider.requests('chat')).toHaveLength(1));
    words = 'two questions';
    await call.caller.speak(1_200);
    finished.resolve();
    await call.caller.hears('Ask them.');
    expect(call.caller.heardFor(answer)).toBe(0);
    await end(call);
  });
});

// Not beside the others: a voice may be silent for ten seconds, and the user has to be understood in that time.
describe('an interruption', () => {
  it('before anything of the welcome message is heard leaves nothing of it', async () => {
    const speech = Promise.withResolvers<void>();
    const call = await stage.call({ spec: { welcomeMessage: story } });
    call.provider.speech(({ input }) => (input === story ? { holdSound: speech.promise } : {}));
    call.provider.heard(() => 'is anybody there');
    call.provider.chat(() => 'I am here, go ahead.');
    await call.join();
    await call.becomes({ status: 'ongoing' });
    await eventually(() => expect(call.provider.requests('speech')).toHaveLength(1));
    await call.caller.speak(1_500);
    await call.caller.hears('I am here, go ahead.');
    speech.resolve();
    expect(call.caller.heardFor(story)).toBe(0);
    expect(JSON.stringify(call.provider.requests('chat').at(-1)?.messages)).not.toContain('Once');
    // Who leaves before a message is over has heard less of it. What arrives with holes may be two questions.
    await eventually(async () =>
      expect((await call.messages()).map(({ content }) => content).join('; ')).toMatch(
        /^is anybody there(( |; )is anybody there|; I am here, go ahead\.)*; I am here, go ahead\.$/,
      ),
    );
    await end(call);
  });
});
