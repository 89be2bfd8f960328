/**
 * Connects a session's audio and subtitles to a room, with the user's audio in exactly the windows that the VAD reads.
 * LiveKit's default, 10 ms at 24 kHz, is resampled and cut for the VAD, twice for each call: a quarter of the CPU of a call (docs/adr/0028).
 */
import { voice } from '@livekit/agents';
import { AudioStream, type Room, type Track } from '@livekit/rtc-node';

/** Of Silero, in Hz. */
export const USER_SAMPLE_RATE = 16_000;
/** Silero's window of 512 samples, in milliseconds. */
export const USER_FRAME_MS = 32;

/** The part of a `RoomIO` in use; its type hides it. */
interface RoomInput {
  readonly audioInput: { createStream: (track: Track) => ReadableStream };
}

/**
 * Before `session.start`. Given the room itself, a session would also publish its tools with their arguments and results to every participant,
 * and its prompt on request.
 */
export function joinRoom(session: voice.AgentSession, room: Room, participantIdentity: string): void {
  const roomIO = new voice.RoomIO({
    agentSession: session,
    room,
    inputOptions: { participantIdentity, audioSampleRate: USER_SAMPLE_RATE, closeOnDisconnect: false, textEnabled: false },
    outputOptions: {},
  });
  session._roomIO = roomIO;
  roomIO.start();
  (roomIO as unknown as RoomInput).audioInput.createStream = (track) =>
    new AudioStream(track, { sampleRate: USER_SAMPLE_RATE, numChannels: 1, frameSizeMs: USER_FRAME_MS });
}
