import { EventEmitter } from 'node:events';

import { AudioFrame } from '@livekit/rtc-node';
import { expect, it, vi } from 'vitest';

import { SessionStt, type SessionSttOptions } from './session-stt.ts';

const speech = new AudioFrame(new Int16Array(160), 16_000, 1, 160);

/** @param recognize of a provider that takes whole turns */
function sttWith(recognize: () => Promise<never>) {
  const inner = Object.assign(new EventEmitter(), { capabilities: { streaming: false }, label: 'inner', recognize });
  const onFailure = vi.fn<SessionSttOptions['onFailure']>();
  return { onFailure, stt: new SessionStt({ inner: inner as never, vad: undefined as never, onFailure }) };
}

it('reports what fails, and owes words until then', async () => {
  const failed = Promise.withResolvers<never>();
  const { stt, onFailure } = sttWith(() => failed.promise);
  expect(stt.owesWords).toBe(false);
  const recognition = stt.recognize([speech]);
  expect(stt.owesWords).toBe(true);
  failed.reject(new Error('no answer'));
  await expect(recognition).rejects.toThrow('no answer');
  expect(onFailure).toHaveBeenCalledOnce();
  expect(stt.owesWords).toBe(false);
});

it('hears nothing in a recognition that the end of the call aborts', async () => {
  const { stt, onFailure } = sttWith(() => Promise.reject(new DOMException('This operation was aborted', 'AbortError')));
  const event = await stt.recognize([speech], AbortSignal.abort());
  expect(event.alternatives?.[0].text).toBe('');
  expect(onFailure).not.toHaveBeenCalled();
});
