/** Tests what happens when the user speaks while the agent does. */
import { describe, expect, it } from 'vitest';

import { SimulatedCall, type SimulatedCallOptions } from '../support/simulated-call.ts';

const STORY = 'Once upon a time there was a telephone.';
const MS_PER_CHARACTER = 200;
const STORY_MS = STORY.length * MS_PER_CHARACTER;

/** Makes a call whose agent has told its story for two seconds. */
async function toldAStory({ agent = {}, ...more }: SimulatedCallOptions = {}): Promise<SimulatedCall> {
  const call = new SimulatedCall({
    agent: { welcomeMessage: STORY, ...agent },
    voice: (sentence) => ({ msPerCharacter: sentence === STORY ? MS_PER_CHARACTER : 60 }),
    model: () => 'I listen.',
    ...more,
  });
  await call.pass(2_100);
  return call;
}

/** Returns what was heard of the story. */
const storyOf = (call: SimulatedCall) => call.heard.find(({ sentence }) => sentence === STORY)!;

describe('an interruption', () => {
  it.each(['requests', 'stream'] as const)('ends what the agent says, and what was not heard was not said: %s', async (by) => {
    const call = await toldAStory({ recognizer: { by } });
    const from = call.now;
    await call.says('wait a moment please');
    await call.pass(5_000);
    expect(call.heard.map(({ text }) => text.trim())).toEqual(['Once upon a', 'I listen.']);
    expect(call.transcript).toEqual(['agent: Once upon a …', 'user: wait a moment please', 'agent: I listen.']);
    // The agent is silent half a second into what the user says, and nothing of it is heard again.
    expect(storyOf(call).until - from).toBeGreaterThanOrEqual(450);
    expect(storyOf(call).until - from).toBeLessThanOrEqual(600);
    expect(call.requests.at(-1)?.asked).toEqual(['agent: Once upon a', 'user: wait a moment please']);
  });

  it('is none where the agent allows none: it finishes, and hears nothing meanwhile', async () => {
    const call = await toldAStory({ agent: { interruptions: { mode: 'Never' } } });
    await call.says('wait a moment please');
    await call.pass(10_000);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(storyOf(call)).toMatchObject({ text: STORY, ms: STORY_MS, until: storyOf(call).from + STORY_MS });
    expect(call.requests).toEqual([]);
  });

  it('takes as long a speech as the agent asks for', async () => {
    const call = await toldAStory({ agent: { interruptions: { minSpeechDuration: '2s' } } });
    await call.says('yes of course');
    await call.pass(10_000);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(storyOf(call).until - storyOf(call).from).toBe(STORY_MS);
    expect(call.requests).toEqual([]);
  });

  it('happens after as long a speech', async () => {
    const call = await toldAStory({ agent: { interruptions: { minSpeechDuration: '1s' } } });
    const from = call.now;
    await call.says('stop it now or never again');
    await call.pass(3_000);
    expect(storyOf(call).until - from).toBeGreaterThanOrEqual(950);
    expect(storyOf(call).until - from).toBeLessThanOrEqual(1_100);
    expect(call.transcript[0]).toMatch(/…$/);
    expect(call.transcript.slice(1)).toEqual(['user: stop it now or never again', 'agent: I listen.']);
  });

  it('takes as many words as the agent asks for', async () => {
    const call = await toldAStory({ agent: { interruptions: { minWords: 3 } } });
    await call.says('yes of');
    await call.pass(1_000);
    expect(call.requests).toEqual([]);
    expect(storyOf(call).until).toBeGreaterThan(call.now - 100);
    await call.says('please stop that now');
    await call.pass(3_000);
    expect(call.transcript.slice(1)).toEqual(['user: please stop that now', 'agent: I listen.']);
  });

  it.each([
    // The third word is over after 900 ms.
    { when: 'one after the other', interimMs: 100, least: 1_000, most: 1_250 },
    { when: 'before the speech is long enough', interimMs: 0, least: 900, most: 1_150 },
  ])('of so many words happens at the last of them, not at the end of the turn: $when', async ({ interimMs, least, most }) => {
    const call = await toldAStory({ agent: { interruptions: { minWords: 3 } }, recognizer: { by: 'stream', interimMs } });
    const from = call.now;
    await call.says('please stop that now and never begin again');
    await call.pass(3_000);
    expect(storyOf(call).until - from).toBeGreaterThanOrEqual(least);
    expect(storyOf(call).until - from).toBeLessThanOrEqual(most);
    expect(call.transcript.slice(1)).toEqual(['user: please stop that now and never begin again', 'agent: I listen.']);
  });

  it('that was only a long noise lets the agent go on where it was', async () => {
    const call = await toldAStory();
    call.coughs(1_200);
    await call.pass(20_000);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    // The story is complete, and nothing is heard twice.
    expect(storyOf(call)).toMatchObject({ text: STORY, ms: STORY_MS });
    // The agent waits for words until it is known that there are none.
    expect(storyOf(call).until - storyOf(call).from - STORY_MS).toBeLessThan(1_500);
  });

  it('that was only a long noise holds the agent up for two seconds at most, however long it takes to find that out', async () => {
    const call = await toldAStory({ recognizer: { by: 'requests', understands: () => ({ delayMs: 4_000 }) } });
    const over = call.coughs(1_200);
    // The time counts from when the pause is sure.
    await call.pass(over + 2_200 - call.now);
    expect(storyOf(call).until).toBeLessThan(over);
    await call.pass(200);
    expect(storyOf(call).until).toBeGreaterThan(over + 2_200);
    await call.pass(20_000);
    expect(storyOf(call)).toMatchObject({ text: STORY, ms: STORY_MS });
  });

  it.each(['requests', 'stream'] as const)('is no cough: there is no hole in what the agent says: %s', async (by) => {
    const call = await toldAStory({ recognizer: { by } });
    for (const ms of [100, 200, 300, 400]) {
      call.coughs(ms);
      call.speaks(300);
    }
    await call.pass(10_000);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(storyOf(call).until - storyOf(call).from).toBe(STORY_MS);
  });

  it('is no sign that somebody listens, however long: the agent does not even pause where the words are known in time', async () => {
    const call = await toldAStory({ recognizer: { by: 'stream' } });
    await call.says('uh-huh okay right');
    await call.pass(10_000);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(storyOf(call).until - storyOf(call).from).toBe(STORY_MS);
    expect(call.requests).toEqual([]);
  });

  it('is none where it turns out that somebody only listens: the agent goes on where it was', async () => {
    const call = await toldAStory({ recognizer: { by: 'requests' } });
    await call.says('uh-huh okay right');
    await call.pass(10_000);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(storyOf(call)).toMatchObject({ text: STORY, ms: STORY_MS });
    expect(call.requests).toEqual([]);
  });

  it('is none by words that the agent takes for a sign of listening', async () => {
    const call = await toldAStory({ agent: { interruptions: { acknowledgements: ['passt schon'] } }, recognizer: { by: 'stream' } });
    await call.says('passt schon okay passt schon');
    await call.pass(10_000);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(storyOf(call).until - storyOf(call).from).toBe(STORY_MS);
    expect(call.requests).toEqual([]);
  });

  it.each(['requests', 'stream'] as const)('is a stop word at once, however short the speech is: %s', async (by) => {
    const interruptions = { minSpeechDuration: '5s', minWords: 4, acknowledgements: ['hold on'], stopWords: ['hold on'] };
    const call = await toldAStory({ agent: { interruptions }, recognizer: { by } });
    await call.says('hold on');
    await call.pass(5_000);
    expect(call.transcript).toEqual(['agent: Once upon a …', 'user: hold on', 'agent: I listen.']);
    expect(call.requests.at(-1)?.asked).toEqual(['agent: Once upon a', 'user: hold on']);
  });

  it('before the answer has begun leaves nothing of that answer', async () => {
    const call = new SimulatedCall({
      agent: { welcomeMessage: 'Good morning.' },
      model: ({ lastUser }) => (lastUser.includes('questions') ? 'Ask them.' : { text: 'A single thing.', delayMs: 2_000 }),
    });
    await call.pass(2_000);
    await call.says('I have', 1_500, 'two questions');
    await call.pass(5_000);
    expect(call.requests.map(({ lastUser }) => lastUser)).toEqual(['I have', 'two questions']);
    expect(call.heard.map(({ text }) => text)).toEqual(['Good morning.', 'Ask them.']);
    expect(call.requests.at(-1)?.asked).toEqual(['agent: Good morning.', 'user: I have', 'user: two questions']);
  });

  it('before the answer has begun is a part of the question where the agent allows none: one answer, to all of it', async () => {
    const call = new SimulatedCall({
      agent: { interruptions: { mode: 'Never' } },
      recognizer: { by: 'stream' },
      model: ({ lastUser }) => (lastUser.includes('questions') ? 'Ask them.' : { text: 'A single thing.', delayMs: 2_000 }),
    });
    await call.says('I have', 1_500, 'two questions');
    await call.pass(8_000);
    expect(call.heard.map(({ text }) => text)).toEqual(['Ask them.']);
  });

  it('before anything of the welcome message is heard leaves nothing of it', async () => {
    const call = new SimulatedCall({
      agent: { welcomeMessage: STORY },
      voice: (sentence) => ({ delayMs: sentence === STORY ? 4_000 : 100 }),
      model: () => 'I am here, go ahead.',
    });
    await call.says('is anybody there');
    await call.pass(8_000);
    expect(call.heard.map(({ text }) => text)).toEqual(['I am here, go ahead.']);
    expect(call.requests.map(({ asked }) => asked)).toEqual([['user: is anybody there']]);
    expect(call.transcript).toEqual(['user: is anybody there', 'agent: I am here, go ahead.']);
  });
});

describe('a goodbye', () => {
  /** Makes a call whose agent says goodbye when it is told to. */
  const leaving = (): SimulatedCall =>
    new SimulatedCall({
      model: ({ lastUser }) => (lastUser === 'that is all' ? { text: 'Goodbye then, and have a nice day!', calls: ['end_call'] } : 'Yes?'),
    });

  it('is heard to its end before the agent hangs up', async () => {
    const call = leaving();
    await call.says('that is all');
    await call.pass(10_000);
    expect(call.heard.map(({ text }) => text)).toEqual(['Goodbye then, and have a nice day!']);
    expect(call.ended!.reason).toBe('agent_ended_call');
    expect(call.ended!.at - call.heard[0]!.until).toBeLessThan(100);
  });

  it('is called off by who begins to speak in its last word', async () => {
    const call = leaving();
    await call.says('that is all');
    await call.until(() => call.heardText.endsWith('nice d'));
    await call.says('wait please');
    await call.pass(5_000);
    expect(call.ended).toBeUndefined();
    expect(call.heard.map(({ text }) => text)).toEqual(['Goodbye then, and have a nice day!', 'Yes?']);
  });

  it('is called off by what the user says in it', async () => {
    const call = leaving();
    await call.says('that is all');
    await call.until(() => call.heard.length > 0);
    await call.says('wait one more question');
    await call.pass(5_000);
    expect(call.ended).toBeUndefined();
    expect(call.transcript.slice(-2)).toEqual(['user: wait one more question', 'agent: Yes?']);
  });
});
