/** Parsers whose files leave something behind in the process: their first line says what. They read everything as one paragraph. */
import { setTimeout as delay } from 'node:timers/promises';

import { IngestionError } from '../../ingestion-failure.ts';
import { serveFiles } from '../child/serve-files.ts';
import type { Block } from '../block.ts';

/** Delays by a file's text; `hold` is read until the process is ended. */
const DELAYS_MS: Readonly<Record<string, number>> = { wait: 2_000, hold: 2 ** 31 - 1 };
let files = 0;
const block = (text: string): Block => ({ kind: 'paragraph', text, headingPath: [] });
/** Runs a file's remains while the next file is read. */
let left = (): void => undefined;

await serveFiles(async () => async ({ content }, sink) => {
  const text = content.toString();
  const [first] = text.split('\n');
  files += 1;
  sink.add(block(text));
  setTimeout(left, 0).unref();
  left = () => undefined;
  if (first === 'pollute') Object.assign(Object.prototype, { polluted: 'by a file before' });
  else if (first === 'work') setInterval(() => undefined, 1000);
  else if (first === 'throw later')
    left = () => {
      throw new Error('of a file before');
    };
  else if (first === 'add later')
    left = () => {
      sink.add(block('of a file before'));
      sink.progress(1, 1);
    };
  else if (first === 'draw and hold') {
    sink.addPicture({ kind: 'picture', page: 1, reason: 'empty', png: '', total: 1, headingPath: [] });
    // Collected lines are sent after a while.
    setInterval(() => sink.progress(1, 1), 20);
    await new Promise(() => undefined);
  } else if (first === 'crash') process.abort();
  else if (first === 'damaged') throw new TypeError('no such part');
  else if (first === 'refused') throw new IngestionError('too_large', 'a check of its own');
  else if (first === 'hold unless new') {
    if (files === 1) return {};
    // Collected lines are sent after a while.
    setInterval(() => sink.progress(1, 1), 20);
    await new Promise(() => undefined);
  } else await delay(DELAYS_MS[first ?? ''] ?? 30);
  return { title: String(Reflect.get({}, 'polluted')) };
});
