/** Opens a stage whose calls are recorded into a folder of the test, and reads the recordings there. */
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

import { openFileStorage } from '../../../knowledge/storage/open-file-storage.ts';
import type { CallRecord } from '../../../store/index.ts';
import { decodeOgg, type DecodedStereo } from '../../support/ogg.ts';
import { heardTones } from '../../support/tones.ts';
import { openStage, type StagedCall, type VoiceStage } from './stage.ts';

export const WELCOME = 'Good morning.';
export const ANSWER = 'It costs nine hundred.';

export interface RecordingStage extends VoiceStage {
  /** Lists the files of calls that are not saved yet. */
  spooled(): Promise<readonly string[]>;
  /** Makes a call whose agent answers. */
  recordedCall(spec?: Readonly<Record<string, unknown>>): Promise<StagedCall>;
  fileOf(call: CallRecord): Promise<Buffer>;
  soundOf(call: CallRecord): Promise<DecodedStereo>;
}

export async function openRecordingStage(folder: string, change: NodeJS.ProcessEnv = {}): Promise<RecordingStage> {
  await mkdir(join(folder, 'tmp'));
  const spool = join(folder, 'spool');
  const storage = openFileStorage({ url: `file://${folder}/files` });
  const stage = await openStage({
    // One of two calls at once is killed with its process.
    PARLEY_VOICE_IDLE_PROCESSES: '2',
    // The process of one call is killed while another call goes on.
    PARLEY_VOICE_CALLS_PER_PROCESS: '1',
    TMPDIR: join(folder, 'tmp'),
    PARLEY_VOICE_SPOOL: spool,
    STORAGE_URL: `file://${folder}/files`,
    ...change,
  });
  const fileOf = async ({ recording }: CallRecord): Promise<Buffer> => buffer(await storage.read(recording!.key));
  return Object.assign(stage, {
    spooled: async () => (await readdir(spool).catch(() => [])).filter((name) => name.startsWith('call_')),
    async recordedCall(spec: Readonly<Record<string, unknown>> = { welcomeMessage: WELCOME }) {
      const call = await stage.call({ spec });
      call.provider.chat(() => ANSWER);
      return call;
    },
    fileOf,
    soundOf: async (call: CallRecord) => decodeOgg(await fileOf(call)),
  });
}

export const heardIn = (samples: Int16Array) => heardTones(samples, 48_000);
