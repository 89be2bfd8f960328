/** Tests calls that end because it is time, and what is no silence. */
import { describe, expect, it } from 'vitest';

import { SimulatedCall, type SimulatedCallOptions } from '../support/simulated-call.ts';
import { aTool } from '../support/scripted-tool.ts';

/** The silence is all that ends these calls, and nothing is said into it. */
const silent = { endAfterSilence: '20s', silenceReminder: { mode: 'Never' } };

async function ended(call: SimulatedCall): Promise<NonNullable<SimulatedCall['ended']>> {
  await call.until(() => call.ended !== undefined);
  return call.ended!;
}

const aSilentCall = (more: SimulatedCallOptions = {}): SimulatedCall => new SimulatedCall({ agent: { call: silent }, ...more });

describe('a silence', () => {
  it('is asked about, in the language of the agent, and then ends the call', async () => {
    const call = new SimulatedCall({ agent: { language: 'de-DE', welcomeMessage: 'Hallo.', call: { endAfterSilence: '10s' } } });
    const { reason } = await ended(call);
    expect(reason).toBe('inactivity_timeout');
    expect(call.transcript).toEqual(['agent: Hallo.', 'agent: Sind Sie noch da?']);
    const [welcomed, asked] = call.heard;
    expect(asked!.from - welcomed!.until).toBeGreaterThanOrEqual(5_000);
    expect(call.ended!.at - asked!.until).toBeGreaterThanOrEqual(5_000);
    expect(call.ended!.at).toBeLessThan(13_000);
  });

  it('goes on when the user answers, and is asked about again in the next one', async () => {
    const agent = { call: { endAfterSilence: '20s', silenceReminder: { message: 'Still there, {{name}}?' } } };
    const call = new SimulatedCall({ agent, data: { name: 'Ada' } });
    await call.pass(13_000);
    await call.says('hello');
    expect((await ended(call)).reason).toBe('inactivity_timeout');
    expect(call.transcript).toEqual(['agent: Still there, Ada?', 'user: hello', 'agent: I heard: hello', 'agent: Still there, Ada?']);
    const [, answered, again] = call.heard;
    expect(again!.from - answered!.until).toBeGreaterThanOrEqual(10_000);
    // The model knows what the user has answered to.
    expect(call.requests[0]!.asked).toEqual(['agent: Still there, Ada?', 'user: hello']);
  });

  it('is asked about as often as the agent wants, and ends the call after as much of it', async () => {
    const reminders = [{ after: '4s' }, { after: '9s', message: 'I will wait a little longer.' }];
    const call = new SimulatedCall({ agent: { call: { endAfterSilence: '15s', silenceReminder: { message: 'Hello?', reminders } } } });
    await ended(call);
    expect(call.transcript).toEqual(['agent: Hello?', 'agent: I will wait a little longer.']);
    const [first, second] = call.heard;
    expect(second!.from - first!.until).toBeGreaterThanOrEqual(5_000);
    expect(second!.from - first!.until).toBeLessThan(6_000);
    expect(call.ended!.at - second!.until).toBeGreaterThanOrEqual(6_000);
    expect(call.ended!.at - second!.until).toBeLessThan(7_000);
  });

  it('is asked about once more after any sound of the user', async () => {
    const call = new SimulatedCall({ agent: { call: { endAfterSilence: '20s' } } });
    await call.pass(13_000);
    call.coughs(600);
    await ended(call);
    expect(call.transcript).toEqual(['agent: Are you still there?', 'agent: Are you still there?']);
    expect(call.ended!.at).toBeGreaterThan(33_000);
  });

  it('begins anew with whatever the user says, also where it is not understood', async () => {
    const call = aSilentCall();
    await call.pass(7_000);
    const over = call.coughs(600);
    const { reason, at } = await ended(call);
    expect(reason).toBe('inactivity_timeout');
    expect(at - over).toBeGreaterThanOrEqual(20_000);
    expect(at - over).toBeLessThan(21_500);
    // The call ends without a word where nothing is asked.
    expect(call.heard).toEqual([]);
  });

  it('is none while the agent speaks or the model thinks', async () => {
    const call = aSilentCall({ model: () => ({ text: 'Well.', delayMs: 15_000 }), voice: () => ({ msPerCharacter: 3_000 }) });
    await call.says('what does it cost');
    const { at } = await ended(call);
    expect(at - call.heard[0]!.until).toBeGreaterThanOrEqual(20_000);
    expect(call.heard[0]!.ms).toBe(15_000);
  });

  it('is none while a tool runs', async () => {
    const lookUp = aTool('look_up');
    const call = aSilentCall({
      tools: [lookUp.definition],
      model: ({ asked }) => (asked.at(-1)!.startsWith('result') ? 'It costs nine hundred.' : { calls: ['look_up'] }),
    });
    await call.says('what does it cost');
    await call.pass(40_000);
    expect(call.ended).toBeUndefined();
    lookUp.gives('900');
    await call.pass(10_000);
    expect(call.transcript.at(-1)).toBe('agent: It costs nine hundred.');
  });

  it('is none before the welcome message is heard', async () => {
    const agent = { welcomeMessage: 'Hello.', call: { endAfterSilence: '10s' } };
    const call = new SimulatedCall({ agent, voice: (sentence) => ({ delayMs: sentence === 'Hello.' ? 6_500 : 100 }) });
    await ended(call);
    const [welcomed, asked] = call.heard;
    expect(welcomed!.from).toBeGreaterThanOrEqual(6_500);
    expect(asked!.from - welcomed!.until).toBeGreaterThanOrEqual(5_000);
  });
});

it('the longest call ends in the middle of a word', async () => {
  const agent = { welcomeMessage: 'And so on.', call: { maxDuration: '30s', endAfterSilence: '600s' } };
  const call = new SimulatedCall({ agent, voice: () => ({ msPerCharacter: 6_000 }) });
  expect(await ended(call)).toEqual({ reason: 'maximum_duration_exceeded', at: 30_000 });
  await call.pass(1_000);
  expect(call.transcript).toEqual(['agent: And …']);
});
