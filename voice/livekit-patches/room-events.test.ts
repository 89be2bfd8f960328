import { Room } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { ignoreSound } from './room-events.ts';

it('a room gets the events of rooms and calls of methods, and none of sound', async () => {
  // A room that is not connected keeps the events that it looks at.
  const room = new Room() as unknown as { onFfiEvent: (event: unknown) => Promise<void>; preConnectEvents: readonly unknown[] };
  ignoreSound(room as never);
  const events = ['audioStreamEvent', 'roomEvent', 'captureAudioFrame', 'rpcMethodInvocation', undefined].map((name) => ({
    message: { case: name },
  }));
  for (const event of events) await room.onFfiEvent(event);
  expect(room.preConnectEvents).toEqual([events[1], events[3]]);
});
