/** Turns texts into sound with any server that speaks OpenAI's `/audio/speech`. */
import { readFile } from 'node:fs/promises';

import { errorMessageOf } from '../../../platform/caught.ts';
import { readWav, type Sound } from '../../../platform/wav.ts';
import { causeOf, UserError } from '../../../platform/user-error.ts';

export interface SpeechServer {
  /** Address up to and without `/audio/speech`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
  readonly voice: string;
}

/** Longest time for one sentence, in milliseconds. */
const TIMEOUT_MS = 60_000;
/** Largest answer, in bytes: no sentence is longer. */
const MOST_BYTES = 64 * 1024 * 1024;

/** @throws UserError when the server is unavailable, refuses, or answers with something else */
export async function speak(text: string, server: SpeechServer, ask: typeof fetch = fetch): Promise<Sound> {
  const address = `${server.url.replace(/\/+$/, '')}/audio/speech`;
  const response = await ask(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(server.apiKey !== undefined && { authorization: `Bearer ${server.apiKey}` }),
    },
    body: JSON.stringify({ model: server.model, voice: server.voice, input: text, response_format: 'wav' }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new UserError(`the speech server at ${server.url} does not answer: ${causeOf(error)}`, {
      cure: 'is `parley dev` running, or is --speech-url right? With --audio <file.wav> none is needed',
      cause: error,
    });
  });
  if (!response.ok) {
    const said = (await response.text().catch(() => '')).slice(0, 200);
    throw new UserError(`the speech server at ${server.url} answered ${response.status}: ${said}`, {
      cure: response.status === 401 ? 'set PARLEY_SPEECH_API_KEY to its key' : 'are --speech-url, --speech-model and --speech-voice right?',
    });
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes.length > MOST_BYTES) throw new UserError(`the speech server at ${server.url} sent ${bytes.length} bytes for one sentence`);
  return soundIn(bytes, `what the speech server at ${server.url} sent`);
}

/** @throws UserError for a file that isn't there, or is no WAV file */
export async function readSound(file: string): Promise<Sound> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UserError(`${file} can't be read: ${errorMessageOf(error)}`, { cause: error });
  });
  return soundIn(bytes, file);
}

function soundIn(bytes: Uint8Array, name: string): Sound {
  try {
    return readWav(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UserError(`${name} can't be read as a WAV file: ${error.message}`, {
      cure: 'make one with `ffmpeg -i <file> -ar 48000 -ac 1 <file>.wav` or `sox <file> <file>.wav`',
      cause: error,
    });
  }
}
