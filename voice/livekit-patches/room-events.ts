/**
 * Keeps rooms from the events of sound. The media library hands each event of the process to every room, some hundred a second for each call, and a
 * room waits for a lock before it looks whether the event is one of its own.
 */
import type { Room } from '@livekit/rtc-node';

/** What a room looks at, of all there is. */
const OF_ROOMS: ReadonlySet<string | undefined> = new Set(['roomEvent', 'rpcMethodInvocation']);

const IGNORED = Promise.resolve();

/** Its type hides it. */
interface RoomListener {
  onFfiEvent: (event: { readonly message: { readonly case: string | undefined } }) => Promise<void>;
}

/** Before it connects. */
export function ignoreSound(room: Room): void {
  const listener = room as unknown as RoomListener;
  const { onFfiEvent } = listener;
  listener.onFfiEvent = (event) => (OF_ROOMS.has(event.message.case) ? onFfiEvent(event) : IGNORED);
}
