import { expect, it } from 'vitest';

import { ConfigError } from '../platform/config/config.ts';
import { mediaServerOf } from './media-server.ts';

const settings = {
  LIVEKIT_PUBLIC_URL: undefined,
  LIVEKIT_API_KEY: 'key',
  LIVEKIT_API_SECRET: 'x'.repeat(32),
  LIVEKIT_AGENT_NAME: 'here',
  PARLEY_CALL_JOIN_SECONDS: 60,
};

it('a media server is reached by web sockets, by browsers at an address of its own where it has one', () => {
  const { LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = settings;
  const inside = mediaServerOf({ ...settings, LIVEKIT_URL: 'http://livekit:7880/' });
  expect(inside).toEqual({
    url: 'ws://livekit:7880',
    publicUrl: 'ws://livekit:7880',
    apiKey,
    apiSecret,
    agentName: 'here',
    joinSeconds: 60,
  });
  const both = mediaServerOf({ ...settings, LIVEKIT_URL: 'ws://livekit:7880', LIVEKIT_PUBLIC_URL: 'https://media.example.com' });
  expect(both?.publicUrl).toBe('wss://media.example.com');
});

it('none is configured, or one with its key', () => {
  expect(mediaServerOf({ ...settings, LIVEKIT_URL: undefined })).toBeUndefined();
  for (const absent of ['LIVEKIT_API_KEY', 'LIVEKIT_API_SECRET'] as const)
    expect(() => mediaServerOf({ ...settings, LIVEKIT_URL: 'ws://livekit:7880', [absent]: undefined })).toThrow(ConfigError);
});
