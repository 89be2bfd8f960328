/** Tests tools in a call: when they run, what is heard meanwhile, and what the model knows of them. */
import { describe, expect, it } from 'vitest';

import { aTool } from '../support/scripted-tool.ts';
import { SimulatedCall, type AskedModel } from '../support/simulated-call.ts';

const hasResult = ({ asked }: AskedModel): boolean => asked.at(-1)!.startsWith('result');
const results = (call: SimulatedCall): readonly string[] => call.requests.at(-1)!.asked.filter((item) => item.startsWith('result'));

describe('tools', () => {
  it('say that they start, that they take long, and that they are done', async () => {
    const messages = { start: 'One moment, {{caller}}.', delayed: 'Still looking.', complete: 'Found it.', failed: 'No luck.' };
    const lookUp = aTool('look_up', { messages });
    const call = new SimulatedCall({
      data: { caller: 'Ada' },
      tools: [lookUp.definition],
      model: (request) => (hasResult(request) ? 'It costs nine hundred.' : { calls: [{ name: 'look_up', args: '{"id":"7"}' }] }),
    });
    await call.says('what does it cost');
    await call.until(() => call.heardText.includes('Still looking.'));
    // The answer comes five seconds after the call of the tool began.
    expect(call.heard[1]!.from - call.heard[0]!.from).toBeGreaterThanOrEqual(4_950);
    expect(call.heard[1]!.from - call.heard[0]!.from).toBeLessThan(5_100);
    lookUp.gives('900');
    await call.pass(5_000);
    expect(call.transcript).toEqual([
      'user: what does it cost',
      'agent: One moment, Ada.',
      'agent: Still looking.',
      'agent: Found it.',
      'agent: It costs nine hundred.',
    ]);
    expect(call.heard.map(({ text }) => `agent: ${text}`)).toEqual(call.transcript.slice(1));
    expect(lookUp.runs).toEqual([{ id: '7' }]);
  });

  it('of one turn run side by side, and each speaks for itself', async () => {
    const good = aTool('good', { messages: { start: 'First begins.', complete: 'First is done.', failed: 'First failed.' } });
    const bad = aTool('bad', { messages: { start: 'Second begins.', complete: 'Second is done.', failed: 'Second failed.' } });
    const call = new SimulatedCall({
      tools: [good.definition, bad.definition],
      model: (request) => (hasResult(request) ? 'That is done.' : { calls: ['good', 'bad'] }),
    });
    await call.says('do it all');
    await call.until(() => bad.runs.length === 1);
    expect(good.runs).toHaveLength(1);
    bad.fails('broken');
    await call.pass(3_000);
    good.gives('it');
    await call.pass(5_000);
    expect(call.transcript.slice(1)).toEqual([
      'agent: First begins.',
      'agent: Second begins.',
      'agent: Second failed.',
      'agent: First is done.',
      'agent: That is done.',
    ]);
    // The results come in the order of their calls.
    expect(results(call)).toEqual(['result: good "it"', 'result: bad "broken"']);
  });

  it('are not run with half of their arguments, and the attempt is recorded', async () => {
    const refund = aTool('refund');
    const call = new SimulatedCall({
      tools: [refund.definition],
      model: (request) =>
        hasResult(request)
          ? 'It is not done.'
          : { text: 'One moment.', calls: [{ name: 'refund', args: '{"amount": 12', complete: false }] },
    });
    await call.says('give me my money');
    await call.pass(5_000);
    expect(refund.runs).toEqual([]);
    expect(results(call)).toEqual([expect.stringContaining('nothing was done')]);
    expect(call.toolCalls).toMatchObject([{ name: 'refund', failed: true, arguments: { unreadable_arguments: '{"amount": 12' } }]);
    expect(call.transcript.slice(1)).toEqual(['agent: One moment.', 'agent: It is not done.']);
  });

  it('begin while the model still speaks; whoever interrupts it stops none that has effects, and the next turn knows of it', async () => {
    const book = aTool('book');
    const call = new SimulatedCall({
      tools: [book.definition],
      voice: (sentence) => ({ msPerCharacter: sentence.startsWith('Let me') ? 300 : 40 }),
      model: ({ lastUser, asked }) => {
        if (lastUser.includes('book')) return { text: 'Let me book that for you right away.', calls: ['book'] };
        return asked.some((item) => item.includes('table 7')) ? 'It is table seven.' : 'I am still at it.';
      },
    });
    await call.says('please book a table');
    await call.until(() => call.heard.length > 0);
    expect(book.runs).toHaveLength(1);
    await call.pass(2_000);
    await call.says('wait a moment');
    await call.until(() => call.heardText.includes('I am still at it.'));
    // The call has a result in each request, if only that it runs.
    expect(results(call)).toEqual([expect.stringContaining('still running')]);
    book.gives('table 7');
    await call.pass(5_000);
    expect(call.heard.at(-1)!.text).toBe('It is table seven.');
    expect(results(call)).toEqual(['result: book "table 7"']);
    await call.says('and now');
    await call.pass(5_000);
    expect(call.requests.at(-1)!.asked.slice(-3)).toEqual(
      ['user: wait a moment', 'agent: I am still at it.', 'agent: It is table seven.', 'user: and now'].slice(-3),
    );
    expect(book.runs).toHaveLength(1);
  });

  it('that take long let the conversation go on, and are answered for once, when they are done', async () => {
    const book = aTool('book', { messages: { complete: 'It is booked.' } });
    const call = new SimulatedCall({
      tools: [book.definition],
      model: ({ lastUser, asked }) => {
        if (asked.some((item) => item.includes('table 7'))) return 'It is table seven.';
        return lastUser.includes('book') ? { calls: ['book'] } : 'I am still at it.';
      },
    });
    await call.says('please book a table');
    await call.pass(3_000);
    await call.says('are you there');
    await call.pass(4_000);
    expect(call.transcript.at(-1)).toBe('agent: I am still at it.');
    book.gives('table 7');
    await call.pass(10_000);
    expect(call.transcript.slice(-2)).toEqual(['agent: It is booked.', 'agent: It is table seven.']);
    expect(book.runs).toHaveLength(1);
  });

  it.each(['stream', 'requests'] as const)(
    'that are done while the user speaks are answered for with what the user says: %s',
    async (by) => {
      const book = aTool('book');
      const call = new SimulatedCall({
        recognizer: { by },
        tools: [book.definition],
        model: ({ lastUser }) => (lastUser.includes('book') ? { calls: ['book'] } : 'It is table seven, and we open at six.'),
      });
      await call.says('please book a table');
      await call.pass(2_000);
      call.speaks('and when do you open');
      await call.pass(700);
      book.gives('table 7');
      await call.pass(8_000);
      expect(call.requests.filter(hasResult)).toEqual([]);
      expect(call.requests.at(-1)!.asked).toEqual([
        'user: please book a table',
        'call: book',
        'result: book "table 7"',
        'user: and when do you open',
      ]);
      expect(call.transcript).toEqual([
        'user: please book a table',
        'user: and when do you open',
        'agent: It is table seven, and we open at six.',
      ]);
    },
  );

  it('that are done during a long noise are answered for after it', async () => {
    const book = aTool('book');
    const call = new SimulatedCall({
      tools: [book.definition],
      model: (request) => (hasResult(request) ? 'It is table seven.' : { calls: ['book'] }),
    });
    await call.says('please book a table');
    await call.pass(2_000);
    call.coughs(1_500);
    await call.pass(1_000);
    book.gives('table 7');
    await call.pass(5_000);
    expect(call.transcript).toEqual(['user: please book a table', 'agent: It is table seven.']);
    expect(call.requests.filter(hasResult)).toHaveLength(1);
  });

  it('that only wait for the user are stopped by words', async () => {
    const stopped: boolean[] = [];
    const waits = aTool('wait_for_keys', {
      stopsOnInterruption: true,
      run: (_args, signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => (stopped.push(true), resolve({ succeeded: false, forModel: 'no keys' }))),
        ),
    });
    const call = new SimulatedCall({
      tools: [waits.definition],
      model: ({ lastUser }) => (lastUser.includes('code') ? { text: 'Please type it.', calls: ['wait_for_keys'] } : 'Then say it.'),
    });
    await call.says('I have a code');
    await call.pass(5_000);
    expect(stopped).toEqual([]);
    await call.says('I have no keys');
    await call.pass(4_000);
    expect(stopped).toEqual([true]);
    expect(call.transcript.slice(-2)).toEqual(['user: I have no keys', 'agent: Then say it.']);
  });
});
