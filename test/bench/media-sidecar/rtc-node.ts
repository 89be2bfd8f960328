/** The media of all rooms in this process, as Parley's job processes have it, without a session. */
import { createWriteStream, type WriteStream } from 'node:fs';

import {
  AudioFrame,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  Room,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
  type RemoteTrack,
} from '@livekit/rtc-node';

import { ignoreSound } from '../../../voice/livekit-patches/room-events.ts';
import { HEAR_RATE, SAY_RATE, type AgentsPlan } from './plan.ts';
import { UtteranceCutter } from './utterances.ts';

const FRAME = SAY_RATE / 50;

export async function answerInProcess({ rooms }: AgentsPlan, answer: () => Int16Array): Promise<void> {
  await Promise.all(
    rooms.map(async ({ url, token, tap }) => {
      const room = new Room();
      ignoreSound(room);
      const file = createWriteStream(tap);
      const source = new AudioSource(SAY_RATE, 1);
      let spoken = Promise.resolve();
      room.on(RoomEvent.TrackSubscribed, (track: RemoteTrack) => {
        // One answer after the other, as the sidecar's queue has them.
        const onUtterance = (): void => {
          const sound = answer();
          spoken = spoken.then(() => speak(source, sound, file));
        };
        if (track.kind === TrackKind.KIND_AUDIO) void listen(track, file, onUtterance);
      });
      await room.connect(url, token, { autoSubscribe: true, dynacast: false });
      const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
      await room.localParticipant!.publishTrack(LocalAudioTrack.createAudioTrack('agent', source), options);
    }),
  );
}

async function listen(track: RemoteTrack, tap: WriteStream, onUtterance: () => void): Promise<void> {
  const utterances = new UtteranceCutter(HEAR_RATE);
  for await (const { data } of new AudioStream(track, { sampleRate: HEAR_RATE, numChannels: 1, frameSizeMs: 32 })) {
    tap.write(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    if (utterances.add(data) !== undefined) onUtterance();
  }
}

async function speak(source: AudioSource, sound: Int16Array, tap: WriteStream): Promise<void> {
  for (let at = 0; at < sound.length; at += FRAME) {
    const data = sound.slice(at, at + FRAME);
    await source.captureFrame(new AudioFrame(data, SAY_RATE, 1, data.length));
    tap.write(Buffer.from(data.buffer));
  }
}
