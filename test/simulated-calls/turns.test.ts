/** A turn of the user gets one answer, to all that was said, however they pause and however late its words are known. */
import { describe, expect, it } from 'vitest';

import { toCallFailure } from '../../calls/provider-access/index.ts';
import type { RecognizerScript } from '../support/scripted-recognizer.ts';
import { SimulatedCall, type SimulatedCallOptions } from '../support/simulated-call.ts';

const WELCOME = 'Once upon a time there was a telephone.';
const TO_ALL = 'Ask both of them.';
const TO_PART = 'I am waiting.';

/** Makes a call whose agent answers another thing to the whole than to a part of it. */
function aCall({ agent = {}, ...more }: SimulatedCallOptions = {}): SimulatedCall {
  return new SimulatedCall({
    agent: { turnDetection: { mode: 'Silence', endOfSpeechDelay: '950ms' }, ...agent },
    voice: (sentence) => (sentence === WELCOME ? { msPerCharacter: 300 } : {}),
    model: ({ lastUser }) => (lastUser.includes('two questions') ? TO_ALL : TO_PART),
    ...more,
  });
}

const lateBy = (by: RecognizerScript['by'], ...delaysMs: readonly number[]): RecognizerScript => ({
  by,
  understands: (_words, index) => ({ delayMs: delaysMs[index % delaysMs.length]! }),
});

const manners = (['Silence', 'Model'] as const).flatMap((mode) =>
  [0, 2].flatMap((minWords) => [false, true].map((interrupts) => ({ mode, minWords, interrupts }))),
);

describe.each(manners)('a user who pauses, mode $mode, minWords $minWords, interrupting: $interrupts', ({ mode, minWords, interrupts }) => {
  it.each([
    ['requests', 0],
    ['requests', 300],
    ['requests', 800],
    ['requests', 1_500],
    ['stream', 0],
    ['stream', 300],
    ['stream', 1_500],
  ] as const)('gets one answer to all of it: %s, words after %d ms', async (by, delayMs) => {
    const call = aCall({
      agent: {
        turnDetection: { mode, endOfSpeechDelay: mode === 'Silence' ? '950ms' : '1600ms' },
        interruptions: { minWords },
        ...(interrupts && { welcomeMessage: WELCOME }),
      },
      recognizer: lateBy(by, delayMs),
    });
    await call.pass(2_000);
    await call.says('I have', 450, 'two questions');
    await call.pass(10_000);
    expect(call.transcript.slice(interrupts ? 1 : 0)).toEqual(['user: I have two questions', `agent: ${TO_ALL}`]);
    expect(call.requests.at(-1)?.lastUser).toBe('I have two questions');
    expect(call.heardText).not.toContain(TO_PART);
  });
});

describe('a turn', () => {
  it('may have three parts', async () => {
    const call = aCall({ recognizer: lateBy('requests', 1_500) });
    await call.says('please wait', 450, 'I have', 450, 'two questions');
    await call.pass(5_000);
    expect(call.transcript).toEqual(['user: please wait I have two questions', `agent: ${TO_ALL}`]);
  });

  it('is over when what came after it turns out to be a noise, and is answered then', async () => {
    const call = aCall({ recognizer: lateBy('requests', 200, 1_000) });
    call.speaks('please wait', 450);
    await call.pass(call.coughs(900) - call.now);
    const over = call.now;
    await call.pass(5_000);
    expect(call.transcript).toEqual(['user: please wait', `agent: ${TO_PART}`]);
    // A request begins in the pause, after a quarter of a second.
    expect(call.heard[0]!.from - over).toBeGreaterThanOrEqual(1_250);
  });

  it('does not begin with a noise that came before the answer', async () => {
    const call = aCall({ model: () => ({ text: TO_PART, delayMs: 2_500 }) });
    call.speaks('please wait', 900);
    call.coughs(400);
    await call.pass(6_000);
    await call.says('please wait');
    await call.pass(6_000);
    expect(call.transcript).toEqual(['user: please wait', `agent: ${TO_PART}`, 'user: please wait', `agent: ${TO_PART}`]);
    expect(call.at(call.messages[2]!)).toBeGreaterThan(5_900);
  });

  it('has what is known where the rest never comes: after five seconds', async () => {
    const call = aCall({ recognizer: lateBy('requests', 200, Infinity) });
    await call.says('please wait', 450, 'for me');
    const over = call.now;
    await call.until(() => call.heard.length > 0);
    expect(call.transcript).toEqual(['user: please wait']);
    expect(call.heard[0]!.from - over).toBeGreaterThanOrEqual(5_000);
    expect(call.heard[0]!.from - over).toBeLessThan(6_500);
  });

  it('ends the call where its words cannot be recognised', async () => {
    const fails = toCallFailure({ part: 'stt', provider: 'deepgram' }, 'refused', 'answers 401', { status: 401 });
    const call = aCall({ recognizer: { by: 'requests', understands: (_words, index) => (index === 0 ? {} : { fails }) } });
    await call.says('please wait', 450, 'for me');
    await call.until(() => call.ended !== undefined);
    expect(call.ended!.reason).toBe('speech_recognition_error');
    await call.pass(30_000);
    // The caller hears why.
    expect(call.heard.at(-1)?.sentence).toMatch(/goodbye|again/iu);
  });

  it('is one where the process stands still while the user speaks', async () => {
    for (const by of ['requests', 'stream'] as const) {
      const call = new SimulatedCall({ agent: { turnDetection: { endOfSpeechDelay: '3s' } }, recognizer: { by } });
      call.speaks('what does it cost to stay');
      await call.pass(300);
      await call.standStill(600);
      await call.pass(10_000);
      expect(call.transcript).toEqual(['user: what does it cost to stay', 'agent: I heard: what does it cost to stay']);
    }
  });

  it('goes on where sound that came in a stall says so, though the silence before it was long enough', async () => {
    const call = aCall();
    call.speaks('I have', 450, 'two questions');
    await call.pass(900);
    await call.standStill(1_100);
    await call.pass(10_000);
    expect(call.transcript).toEqual(['user: I have two questions', `agent: ${TO_ALL}`]);
  });

  it('has its words in their last version, though they interrupted in another one', async () => {
    const call = aCall({
      agent: { welcomeMessage: WELCOME },
      recognizer: { by: 'stream', understands: () => ({ text: 'Could you wait, please?' }) },
    });
    await call.pass(2_000);
    await call.says('good you weight');
    await call.pass(5_000);
    expect(call.transcript.slice(1)).toEqual(['user: Could you wait, please?', `agent: ${TO_PART}`]);
  });

  it('loses no word with the connection', async () => {
    const call = new SimulatedCall({ recognizer: { by: 'stream' } });
    call.speaks('one two three four five six seven eight');
    await call.pass(1_100);
    call.breakConnection();
    await call.pass(6_000);
    expect(call.transcript).toEqual([
      'user: one two three four five six seven eight',
      'agent: I heard: one two three four five six seven eight',
    ]);
  });

  it('that the microphone breaks off is over', async () => {
    const call = aCall();
    await call.says('please wait');
    call.mute();
    await call.pass(5_000);
    expect(call.transcript).toEqual(['user: please wait', `agent: ${TO_PART}`]);
  });
});

describe('turnDetection', () => {
  const longest = async (turnDetection: object, more: SimulatedCallOptions = {}) => {
    const call = new SimulatedCall({ agent: { turnDetection, call: { endAfterSilence: '600s' } }, ...more });
    await call.says('what does it cost');
    await call.until(() => call.turns.length > 0);
    return call.turns[0]!;
  };

  it('says how long the agent waits for more', async () => {
    expect((await longest({ mode: 'Silence', endOfSpeechDelay: '200ms' })).eou).toBeLessThan(500);
    expect((await longest({ mode: 'Silence', endOfSpeechDelay: '15s' })).eou).toBe(15_000);
    // The wait is three fifths of the delay where the detector is sure, and all of it where it isn't.
    expect((await longest({ mode: 'Model', endOfSpeechDelay: '15s' })).eou).toBe(9_000);
    expect((await longest({ mode: 'Model', endOfSpeechDelay: '15s' }, { turnIsOver: () => 0 })).eou).toBe(15_000);
    expect((await longest({ mode: 'Model', endOfSpeechDelay: '500ms' }, { turnIsOver: () => 0 })).eou).toBe(3_000);
  });

  it('lets a pause that is shorter end no sentence, and asks the detector about each', async () => {
    const heard: string[] = [];
    const turnIsOver = (words: string): number => (heard.push(words), words.endsWith('tickets') ? 1 : 0);
    const call = new SimulatedCall({ turnIsOver });
    await call.says('I would like', 1_200, 'two tickets');
    await call.pass(5_000);
    expect(call.transcript[0]).toBe('user: I would like two tickets');
    expect(heard).toHaveLength(2);
  });
});

describe('an answer', () => {
  it.each([
    // The words are asked for after 128 ms of silence, and come 200 ms later; a whole turn after 256 ms.
    ['stream', { eou: 328, stt: 328, llmTtft: 300, ttsTtfb: 260, v2v: 888 }],
    ['requests', { eou: 456, stt: 456, llmTtft: 300, ttsTtfb: 260, v2v: 1_016 }],
  ] as const)('is measured from voice to voice: %s', async (by, figures) => {
    const call = new SimulatedCall({ recognizer: { by } });
    await call.pass(1_000);
    await call.says('what does it cost');
    await call.pass(5_000);
    expect(call.turns).toMatchObject([figures]);
  });

  it('is asked for in the pause, and said when the turn is over', async () => {
    const call = new SimulatedCall({ recognizer: { by: 'stream' }, agent: { turnDetection: { mode: 'Silence', endOfSpeechDelay: '1s' } } });
    await call.says('what does it cost');
    const over = call.now;
    await call.pass(5_000);
    expect(call.requests[0]!.at - over).toBeLessThan(400);
    expect(call.turns).toMatchObject([{ eou: 1_000, llmTtft: 300 }]);
    expect(call.heard[0]!.from - over).toBeLessThan(1_400);
  });

  it('comes to words after none: the agent waits for the user where it has no welcome message', async () => {
    const call = new SimulatedCall();
    await call.pass(5_000);
    expect(call.askedOfVoice).toEqual([]);
    await call.says('hello');
    await call.pass(5_000);
    expect(call.transcript).toEqual(['user: hello', 'agent: I heard: hello']);
  });

  it('is put into words for the voice, and written down as it was written', async () => {
    const [welcomeMessage, answer] = ['**Parley** is [here. 👋', 'It was ~~$5~~ and is $4 for a *stray sign.'];
    const call = new SimulatedCall({
      agent: { welcomeMessage, speech: { replacements: [{ written: 'Parley', spoken: 'par lay' }] } },
      model: () => answer,
    });
    await call.pass(5_000);
    await call.says('hello');
    await call.pass(10_000);
    expect(call.heard.map(({ text }) => text)).toEqual([
      'par lay is [here.',
      'It was formerly 5 dollars, and is 4 dollars for a stray sign.',
    ]);
    expect(call.transcript).toEqual([`agent: ${welcomeMessage}`, 'user: hello', `agent: ${answer}`]);
  });
});
