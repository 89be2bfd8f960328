/** Reads pages by Tesseract, where it is installed next to the worker. */
import { spawn } from 'node:child_process';

import { readBytes } from '../../platform/read-bytes.ts';
import { tesseractBlocks } from './tesseract-blocks.ts';
import { OcrError, type OcrProfile, type PageReader } from './page-reader.ts';

type TesseractProfile = Extract<OcrProfile, { provider: 'tesseract' }>;

export interface TesseractOptions {
  readonly profile: TesseractProfile;
  /** The worker's environment; Tesseract gets `PATH` and `TESSDATA_PREFIX` of it, and nothing else. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the program; `tesseract` on `PATH` by default. */
  readonly program?: string;
}

const MOST_BYTES = 4 * 1024 * 1024;

/** Reads each page in a process of its own, which ends with the page. Parley drew the picture, whatever the document is. */
export function tesseractReader({ profile, env, program = 'tesseract' }: TesseractOptions): PageReader['read'] {
  return async (png, signal) => {
    const { PATH = '/usr/bin:/bin', TESSDATA_PREFIX } = env;
    const child = spawn(program, ['stdin', 'stdout', '-l', profile.languages.join('+'), 'tsv'], {
      env: { PATH, ...(TESSDATA_PREFIX !== undefined && { TESSDATA_PREFIX }), OMP_THREAD_LIMIT: '1', LC_ALL: 'C.UTF-8' },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: profile.timeoutMs,
      killSignal: 'SIGKILL',
      ...(signal && { signal }),
    });
    const ended = new Promise<{ readonly code: number | null; readonly error?: NodeJS.ErrnoException }>((resolve) => {
      child.once('error', (error) => resolve({ code: null, error }));
      child.once('close', (code) => resolve({ code }));
    });
    // The process may end before it has read the picture; its exit says why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(png);
    const [words, complaint, { code, error }] = await Promise.all([
      readBytes(child.stdout, MOST_BYTES),
      readBytes(child.stderr, MOST_BYTES),
      ended,
    ]);
    signal?.throwIfAborted();
    if (error?.code === 'ENOENT')
      throw new OcrError('misconfigured', 'Tesseract is not installed where documents are read: install it, or remove PARLEY_OCR');
    if (code === 0) return { blocks: tesseractBlocks(words?.toString('utf8') ?? '') };
    if (child.killed) throw new OcrError('timeout', `Tesseract did not end within ${profile.timeoutMs} ms`);
    const missing = /Failed loading language '([\w/]+)'/u.exec(complaint?.toString() ?? '')?.[1];
    if (missing !== undefined)
      throw new OcrError('misconfigured', `Tesseract has no data for the language "${missing}": install it, or change PARLEY_OCR`);
    throw new OcrError('refused', `Tesseract ended with code ${code}`);
  };
}
