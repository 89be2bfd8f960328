/** Calls that several agents hold, as a caller hears them. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import type { ProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { registerCall, someUsage } from '../store/calls-support.ts';
import { openStage } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

/** Words behind a hole still belong to the same turn, and what comes later has no words and stops no answer. */
const patient = { turnDetection: { endOfSpeechDelay: '3s' }, interruptions: { minWords: 1 } };

/** Two agents, each of which hands over when the caller names the other one. */
function answer(provider: ProviderServer): void {
  provider.chat(({ system, messages }) => {
    const said = messages.findLast(({ role, content }) => role === 'user' && !content.startsWith('('))?.content ?? '';
    const own = system.includes('desk') ? 'desk' : 'billing';
    const other = own === 'desk' ? 'billing' : 'receptionist';
    const handsOver = said.includes(own === 'desk' ? 'invoice' : 'appointment');
    return handsOver ? { toolCalls: [{ name: `hand_over_to_${other}` }] } : `The ${own} heard ${said}.`;
  });
  // The speech is long enough to be heard between holes.
  provider.speech(() => ({ msPerCharacter: 120 }));
}

it('hands over and back, each agent with its own voice and ears, and writes down whose everything is', async () => {
  const speech = { textToSpeech: { model: 'billing-voice' }, speechToText: { model: 'billing-ears' } };
  const call = await stage.call({
    systemPrompt: 'You are the desk.',
    spec: {
      ...patient,
      welcomeMessage: 'Desk here.',
      handoffs: [{ agentRef: { name: 'billing' }, when: 'it is about an invoice', say: 'One moment please.' }],
    },
    others: [
      {
        name: 'billing',
        systemPrompt: 'You do the billing.',
        spec: {
          ...patient,
          ...speech,
          welcomeMessage: 'Never said.',
          handoffs: [{ agentRef: { name: 'receptionist' }, when: 'it is not' }],
        },
      },
    ],
  });
  answer(call.provider);
  await call.join();
  const welcomed = await call.caller.hears('Desk here.');
  await call.says('an invoice', 2_000);
  const handed = await call.caller.hears('One moment please.', { since: welcomed });
  const billing = await call.caller.hears('The billing heard an invoice.', { since: handed });
  // The caller hears it a moment before it counts as heard, and would cut in.
  const isWritten = (content: string) =>
    eventually(async () => expect((await call.messages()).map((message) => message.content)).toContain(content));
  await isWritten('The billing heard an invoice.');
  await call.says('an appointment', 2_000);
  await call.caller.hears('The desk heard an appointment.', { since: billing });
  await isWritten('The desk heard an appointment.');
  await call.caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
  expect((await call.messages()).map(({ agent, content }) => [agent, content])).toEqual([
    ['receptionist', 'Desk here.'],
    [null, 'an invoice'],
    ['receptionist', 'One moment please.'],
    ['billing', 'The billing heard an invoice.'],
    [null, 'an appointment'],
    ['receptionist', 'The desk heard an appointment.'],
  ]);
  expect((await call.toolCalls()).map(({ agent, name, result }) => [agent, name, result])).toEqual([
    ['receptionist', 'hand_over_to_billing', '{"handed_over_to":"billing"}'],
    ['billing', 'hand_over_to_receptionist', '{"handed_over_to":"receptionist"}'],
  ]);
  expect((await call.turns()).map(({ agent }) => agent)).toEqual(['receptionist', 'receptionist']);
  const spoken = call.provider.requests('speech').map(({ model, input }) => [model, input]);
  expect(spoken).toContainEqual(['billing-voice', 'The billing heard an invoice.']);
  expect(spoken.filter(([model]) => model === 'test-voice').map(([, input]) => input)).toEqual(
    expect.arrayContaining(['One moment please.', 'The desk heard an appointment.']),
  );
  const used = await stage.store.calls.usage.ofCall({ org: stage.org, id: call.id });
  for (const agent of ['receptionist', 'billing'])
    expect(new Set(used.filter((line) => line.agent === agent).map(({ kind }) => kind))).toEqual(new Set(['llm', 'stt', 'tts']));
  expect(used.find(({ model }) => model === 'billing-voice')?.agent).toBe('billing');
  const taken = call.lines().filter(({ msg }) => msg === 'another agent has taken the call over');
  expect(taken.map(({ agent }) => agent)).toEqual(['billing', 'receptionist']);
  await expect
    .poll(() => call.lines().find(({ msg }) => msg === 'the call is over'))
    .toMatchObject({ takeovers: ['billing', 'receptionist'] });
});

it('keeps the voice where the agent says so, and goes on where another agent can not be reached', async () => {
  const call = await stage.call({
    systemPrompt: 'You are the desk.',
    spec: {
      ...patient,
      handoffs: [
        { agentRef: { name: 'billing' }, when: 'it is about an invoice', voice: 'Keep' },
        { agentRef: { name: 'gone' }, when: 'never' },
      ],
    },
    others: [{ name: 'billing', systemPrompt: 'You do the billing.', spec: { ...patient, textToSpeech: { model: 'billing-voice' } } }],
  });
  answer(call.provider);
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.says('an invoice', 2_000);
  await call.caller.hears('The billing heard an invoice.');
  expect(call.provider.requests('speech').map(({ model }) => model)).toEqual(['test-voice']);
});

it('does not hand over to an agent that has spent its budget', async () => {
  const { org, store } = stage;
  const billing = { name: 'billing', systemPrompt: 'You do the billing.', spec: patient };
  const call = await stage.call({
    systemPrompt: 'You are the desk.',
    spec: { ...patient, handoffs: [{ agentRef: { name: 'billing' }, when: 'it is about an invoice', say: 'One moment please.' }] },
    others: [billing],
  });
  const { revision } = await stage.agent(billing, call.provider);
  await store.agentReleases.serve({ org, agentName: 'billing', revision, configHash: revision });
  await store.agentReleases.setBudget({ org, agentName: 'billing', budget: { daily: '0.01', currency: 'USD', timeZone: 'UTC' } });
  const spent = await registerCall(store, org, { agentName: 'billing', revision });
  await store.calls.log.add(spent, { usage: { ...someUsage(), agent: 'billing' } });
  call.provider.chat(({ toolResults: [result] }) =>
    result === undefined ? { toolCalls: [{ name: 'hand_over_to_billing' }] } : 'Then I help you.',
  );
  call.provider.speech(() => ({ msPerCharacter: 120 }));
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.says('an invoice', 2_000);
  await call.caller.hears('Then I help you.');
  expect(await call.toolCalls()).toMatchObject([
    { name: 'hand_over_to_billing', failed: true, result: expect.stringContaining('billing takes no more calls today') },
  ]);
});
