/** A call whose provider doesn't do what it should ends with a reason that names it: quickly, and never in silence. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import type { FinishReason } from '../../../store/index.ts';
import type { ProviderServer } from '../../support/provider-server.ts';
import { apologyIn } from '../../../voice/conversation/fixed-phrases.ts';
import { eventually } from '../../support/eventually.ts';
import { events, finish, says } from '../../support/model-answers.ts';
import { mediaServer } from '../../support/media-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startProxyOf } from '../../support/tcp-proxy.ts';
import { openStage } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

/** Speech is made sentence by sentence: this is the first of them. */
const apology = apologyIn('en-US').split(/(?<=\.) /)[0]!;
/** Speech is short, so that a test hears it quickly. */
const briefly = { msPerCharacter: 10 };

interface Broken {
  readonly what: string;
  readonly part: 'llm' | 'stt';
  readonly reason: FinishReason;
  readonly first?: string;
  readonly breaks: (provider: ProviderServer) => void;
}

const broken: readonly Broken[] = [
  {
    what: 'a model that refuses the key',
    part: 'llm',
    reason: 'llm_websocket_initialization_error',
    breaks: (p) => p.chat(() => ({ status: 401 })),
  },
  {
    what: 'an unknown model',
    part: 'llm',
    reason: 'llm_websocket_initialization_error',
    breaks: (p) => p.chat(() => ({ status: 404 })),
  },
  {
    what: 'a model that breaks off in an answer',
    part: 'llm',
    reason: 'llm_websocket_connection_lost',
    breaks: (p) => p.chat(() => ({ text: 'It is a long story that', breakAfter: 3 })),
  },
  {
    what: 'a model that fails again and again',
    part: 'llm',
    reason: 'llm_websocket_runtime_error',
    breaks: (p) => p.chat(() => ({ status: 503 })),
  },
  {
    what: 'a model that has too much to do',
    part: 'llm',
    reason: 'llm_websocket_runtime_error',
    breaks: (p) => p.chat(() => ({ status: 429 })),
  },
  {
    what: 'a model that answers nonsense',
    part: 'llm',
    reason: 'llm_websocket_payload_corruption',
    breaks: (p) => p.chat(() => ({ raw: 'data: {"choices": [{"del\n\n', headers: { 'content-type': 'text/event-stream' } })),
  },
  {
    what: 'a model that answers nothing',
    part: 'llm',
    reason: 'llm_websocket_payload_corruption',
    breaks: (p) => p.chat(() => ({ raw: events(says('<think>hm</think>'), finish('stop')) })),
  },
  {
    what: 'a model that refuses the key later',
    part: 'llm',
    reason: 'llm_websocket_runtime_error',
    first: 'Yes.',
    breaks: (p) => p.chat(() => ({ status: 401 })),
  },
  {
    what: 'ears that fail again and again',
    part: 'stt',
    reason: 'speech_recognition_error',
    breaks: (p) => p.heard(() => ({ status: 500 })),
  },
  { what: 'ears that refuse the key', part: 'stt', reason: 'speech_recognition_error', breaks: (p) => p.heard(() => ({ status: 401 })) },
];

describe.concurrent('a provider that is broken', () => {
  it.each(broken)('$what: $reason', async ({ part, reason, first, breaks }) => {
    const call = await stage.call({ spec: { welcomeMessage: 'Good morning.' } });
    call.provider.speech(() => briefly);
    if (first === undefined) breaks(call.provider);
    else call.provider.chat(() => first);
    await call.join();
    await call.caller.hears('Good morning.');
    await call.caller.speak(800);
    if (first !== undefined) {
      await call.caller.hears(first);
      breaks(call.provider);
      await call.caller.speak(800);
    }
    await call.caller.hears(apology);
    const over = await call.becomes({ status: 'error', finishReason: reason });
    expect(over.recording).not.toBeNull();
    const line = call.lines().find(({ msg }) => msg === 'a provider has failed');
    expect(line).toMatchObject({ part, provider: 'openai_compatible', reason });
    expect(stage.role.output()).not.toContain('leaked-by-the-provider');
  });

  it('a voice that fails: the caller hears tones', async () => {
    const call = await stage.call({ spec: { welcomeMessage: 'Good morning.' } });
    call.provider.speech(() => ({ status: 500 }));
    await call.join();
    await call.becomes({ status: 'error', finishReason: 'native_platform_internal_error' });
    expect(call.caller.tones().length).toBeGreaterThan(1);
    expect(call.lines().find(({ msg }) => msg === 'a provider has failed')).toMatchObject({ part: 'tts', status: 500 });
    // Nothing of the welcome message was heard.
    expect(await call.messages()).toEqual([]);
  });

  it('a key that is not there: the call ends at once', async () => {
    const call = await stage.joined({ spec: { llm: { apiKeySecretRef: { name: 'none', key: 'key' } } } });
    await call.becomes({ status: 'error', finishReason: 'llm_websocket_initialization_error' });
    await eventually(() => expect(call.caller.room.isConnected).toBe(false));
  });
});

it('of a call whose room the agent can not enter comes without waiting for its user', async () => {
  const server = await mediaServer();
  const proxy = await startProxyOf(server.url);
  const outside = await openStage({ LIVEKIT_URL: `ws://127.0.0.1:${proxy.port}` }, { server });
  try {
    const call = await outside.call();
    proxy.refuse();
    await call.open();
    const over = await call.becomes({ status: 'error', finishReason: 'native_platform_internal_error' });
    expect(over.startedAt).toBeNull();
  } finally {
    proxy.restore();
    await outside.close();
    await proxy.close();
  }
});

describe.concurrent('an end', () => {
  it('that the agent wants comes when it has said what it says', async () => {
    const call = await stage.call();
    call.provider.chat(() => ({ text: 'Good bye then.', toolCalls: [{ name: 'end_call' }] }));
    await call.join();
    await call.becomes({ status: 'ongoing' });
    await call.says('that was all');
    await call.becomes({ status: 'ended', finishReason: 'agent_ended_call' });
    await call.caller.hears('Good bye then.');
    expect((await call.messages()).at(-1)).toMatchObject({ role: 'agent', content: 'Good bye then.', interrupted: false });
    // Nothing is said to the result of a tool after which there is no call.
    expect(call.provider.requests('chat').filter(({ toolResults }) => toolResults.length > 0)).toEqual([]);
  });

  it('of a revision that is gone', async () => {
    const call = await stage.joined({ revision: 'b'.repeat(64) });
    const over = await call.becomes({ status: 'error', finishReason: 'native_platform_internal_error' });
    expect(over.startedAt).toBeNull();
  });
});
