/**
 * Keeps rooms from the events of sound. The media library hands each event of the process to every room, some hundred a second for each call, and a
 * room waits for a lock before it looks whether the event is one of its own.
 */
import type { Room } from '@livekit/rtc-node';

/** The only events that a room looks at. */
const OF_ROOMS: ReadonlySet<string | undefined> = new Set(['roomEvent', 'rpcMethodInvocation']);

const IGNORED = Promise.resolve();

/** The listener of a room, which its type hides. */
interface RoomListener {
  onFfiEvent: (event: { readonly message: { readonly case: string | undefined } }) => Promise<void>;
}

/** Makes a room ignore the events of sound. Call it before the room connects. */
export function ignoreSound(room: Room): void {
  const listener = room as unknown as RoomListener;
  const { onFfiEvent } = listener;
  listener.onFfiEvent = (event) => (OF_ROOMS.has(event.message.case) ? onFfiEvent(event) : IGNORED);
}
