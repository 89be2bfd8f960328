import type { Room } from '@livekit/rtc-node';

/**
 * Leaves a room, and lets go of the sounds that were published in it. Call it before the room is closed: of one that the server has
 * closed, the media library keeps a thread for each published sound, with what that costs, as long as the process lives
 * (livekit/rust-sdks#1443).
 */
export async function leaveRoom(room: Room): Promise<void> {
  const published = [...(room.localParticipant?.trackPublications.values() ?? [])];
  const tracks = published.map(({ track }) => track).filter((track) => track !== undefined);
  await room.disconnect();
  await Promise.all(tracks.map((track) => track.close()));
}
