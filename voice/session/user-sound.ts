/**
 * How the sound of the user comes out of the room: in the very pieces that the detector of speech looks at.
 *
 * LiveKit's default, 10 ms at 24 kHz, has to be resampled and cut for the detector, twice for each call: that was a quarter of what a call costs.
 */
import type { voice } from '@livekit/agents';
import { AudioStream, type Track } from '@livekit/rtc-node';

/** Of Silero, in Hz: what is said lies below half of it. */
export const userSampleRate = 16_000;
/** Silero's window of 512 samples, in milliseconds. */
export const userFrameMs = 32;

/** Of `@livekit/agents` 1.9.0, `voice/room_io/_input`; its type keeps this to itself. */
interface RoomInput {
  createStream: (track: Track) => ReadableStream;
}

/** Before the first track is subscribed to. */
export function hearInWindows(roomIO: voice.RoomIO): void {
  const { audioInput } = roomIO as unknown as { readonly audioInput: RoomInput };
  audioInput.createStream = (track) => new AudioStream(track, { sampleRate: userSampleRate, numChannels: 1, frameSizeMs: userFrameMs });
}
