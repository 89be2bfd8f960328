/** Tests when `parley call` publishes its microphone. */
import { expect, it } from 'vitest';

import { AGENT_HEARD_WITHIN_MS } from '../../../calls/microphone.ts';
import { eventually } from '../../support/eventually.ts';
import { joined } from './joined-call.ts';

it('publishes the microphone once it hears the agent, and not before', async () => {
  const { agent, call, clock } = await joined('heard');
  await clock.advance(AGENT_HEARD_WITHIN_MS - 1_000);
  expect(agent.microphone()).toBeUndefined();
  await agent.publishVoice();
  await call.audible;
  await eventually(() => expect(agent.microphone()).toBeDefined());
});

it('publishes it although no agent is heard, after a while', async () => {
  const { agent, call, clock } = await joined('unheard');
  await clock.advance(AGENT_HEARD_WITHIN_MS);
  await call.audible;
  await eventually(() => expect(agent.microphone()).toBeDefined());
});

it('waits no longer than the call', async () => {
  const { call, clock } = await joined('short');
  await call.hangUp();
  await call.audible;
  expect(clock.timers).toBe(0);
});
