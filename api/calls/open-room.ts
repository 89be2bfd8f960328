import type { CallLifecycle } from '../../voice/calls/lifecycle.ts';
import type { Rooms } from '../../voice/calls/rooms.ts';
import type { CallRef } from '../../store/index.ts';
import { ApiError } from '../http/api-error.ts';

/** Retry-After where the media server did not answer, in seconds. */
const RETRY_SECONDS = 5;

/**
 * Opens the room of a call that was just registered: rooms come from here and not from joining, so that the limits hold.
 * @throws ApiError `unavailable` when the media server doesn't answer; the call has ended then
 */
export async function openRoom(
  { rooms, lifecycle }: { readonly rooms: Pick<Rooms, 'open'>; readonly lifecycle: Pick<CallLifecycle, 'end'> },
  { org, id }: CallRef,
): Promise<void> {
  try {
    await rooms.open(id);
  } catch (cause) {
    // No user can join a room that does not exist.
    await lifecycle.end({ org, id, reason: 'native_platform_internal_error' });
    throw new ApiError('unavailable', 'the media server does not answer, and there is no call; try again', {
      cause,
      retryAfterSeconds: RETRY_SECONDS,
    });
  }
}
