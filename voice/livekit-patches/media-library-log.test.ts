import type { EventEmitter } from 'node:events';

import { Room } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { keepMediaLibraryQuiet } from './media-library-log.ts';

it('answers of the media library come, and none of its log', async () => {
  const cases: string[] = [];
  const connect = async (): Promise<void> => {
    const room = new Room();
    const client = (globalThis as { _ffiClientInstance?: EventEmitter })._ffiClientInstance;
    client?.on('ffi_event', ({ message }: { readonly message: { readonly case: string } }) => cases.push(message.case));
    // Nothing listens at this address.
    await expect(room.connect('ws://127.0.0.1:1', 'token', { autoSubscribe: false, dynacast: false })).rejects.toThrow('signal failure');
    client?.removeAllListeners();
  };
  keepMediaLibraryQuiet();
  // Lines of the beginning may come until then.
  await connect();
  cases.length = 0;
  await connect();
  expect(cases).toContain('connect');
  expect(cases).not.toContain('logs');
});
