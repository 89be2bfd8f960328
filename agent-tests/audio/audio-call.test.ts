import { expect, it } from 'vitest';

import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { createLogger } from '../../platform/logging.ts';
import type { CallRecord } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { AudioCall, type AudioServices } from './audio-call.ts';
import type { UserSpeech } from './user-speech.ts';

const config = {
  format: 1,
  name: 'desk',
  displayName: 'Desk',
  agent: { language: 'en-US', llm: {}, call: { maxDuration: '5m' }, recording: { mode: 'Always' } },
  systemPrompt: null,
  tools: [],
  knowledgeBase: null,
  versions: { secrets: {}, knowledgeBaseUid: null },
} as unknown as AgentRevisionConfig;

it('ends a call that is given up while it is being registered', async () => {
  const happened: string[] = [];
  const registered = Promise.withResolvers<{ readonly outcome: 'registered'; readonly call: CallRecord }>();
  const services = {
    mediaServer: { url: 'ws://127.0.0.1:1' },
    rooms: {
      open: async () => void happened.push('opened'),
      close: async () => void happened.push('closed'),
    },
    lifecycle: {
      register: () => registered.promise,
      end: async ({ reason }: { readonly reason: string }) => void happened.push(reason),
    },
    calls: { calls: {}, log: {} },
    clock: new FakeClock(),
    logger: createLogger({ role: 'test', level: 'silent' }),
  } as unknown as AudioServices;
  const attempt = new AbortController();
  const call = new AudioCall({
    services,
    org: 'acme',
    revision: 'r1',
    config,
    test: { runId: 'run', testName: 'hours', tools: [] },
    dynamicData: {},
    speech: {} as UserSpeech,
    signal: attempt.signal,
  });
  const started = call.start();
  attempt.abort(new Error('the run was cancelled'));
  const closed = call.close();
  registered.resolve({ outcome: 'registered', call: { id: call.callId } as CallRecord });
  await expect(started).rejects.toThrow('the run was cancelled');
  await closed;
  expect(happened).toEqual(['user_ended_call', 'closed']);
});
