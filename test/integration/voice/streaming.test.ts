/** Tests a call whose speech to text streams, and who reads along. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it } from 'vitest';

import { followTranscript, type SpokenLine } from '../../../calls/live-transcript.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import type { StagedCall } from './stage.ts';
import { openStreamingStage } from './streaming-stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStreamingStage);

async function calling(): Promise<StagedCall & { readonly spoken: SpokenLine[] }> {
  const speechToText = { ...stage.streamingSpeechToText, keywords: ['Harbour Bikes', '{{customer.name}}', '{{nobody}}'] };
  const call = await stage.call({ spec: { speechToText }, dynamicData: { customer: { name: 'Aude Müller' } } });
  const spoken: SpokenLine[] = [];
  followTranscript(call.caller.room, { userIdentity: `user-${call.id}`, onLine: (line) => spoken.push(line) });
  return Object.assign(call, { spoken });
}

it('a turn is heard while it is said, and answered once it is over', async () => {
  const call = await calling();
  call.provider.streamed.hear('I would like to order a bicycle');
  await call.join();
  await call.becomes({ status: 'ongoing' });
  await call.caller.speak(1_500);
  await call.caller.hears('I heard: I would like to order a bicycle');
  expect(call.provider.requests('transcriptions')).toEqual([]);
  expect(call.spoken.filter(({ role, final }) => role === 'user' && !final).map(({ text }) => text)).toContain('I would like');
  expect(call.spoken.findLast(({ role }) => role === 'user')).toMatchObject({ text: 'I would like to order a bicycle', final: true });
  expect(call.provider.streamed.connections.map(({ query }) => query.getAll('keyterm'))).toEqual([['Harbour Bikes', 'Aude Müller']]);
  await call.caller.leave();
  await call.becomes({ finishReason: 'user_ended_call' });
});
