/** The encoder thread of a job process: one for the recordings of all its calls. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

import type { FromEncoder, ToEncoder } from './messages.ts';
import { OpusFile } from './opus-file.ts';

/** Niceness of the thread: a tenth of the processor that the threads get that speak and listen. */
const NICE = 10;
// On other systems the priority would be the process's.
if (process.platform === 'linux') setPriority(NICE);

const files = new Map<number, OpusFile>();
const answer = (message: FromEncoder): void => parentPort?.postMessage(message);

async function handle(message: ToEncoder): Promise<void> {
  const { id } = message;
  try {
    if (message.case === 'open') files.set(id, await OpusFile.open(message.file));
    else if (message.case === 'sound') files.get(id)?.write(message.pcm);
    else {
      files.get(id)?.end();
      files.delete(id);
      answer({ id });
    }
  } catch (error) {
    files.get(id)?.close();
    files.delete(id);
    answer({ id, error: error as Error });
  }
}

let last = Promise.resolve();
parentPort?.on('message', (message: ToEncoder) => {
  // Messages are handled in their order: the first encoder takes a moment to load.
  last = last.then(() => handle(message));
});
