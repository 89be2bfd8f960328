/** Reads and checks files for a knowledge base, and puts them together into requests. */
import { createHash, randomUUID } from 'node:crypto';

import { causeOf, UserError } from '../../platform/user-error.ts';
import { judgeFileName } from '../knowledge-bases/file-name.ts';
import { fileExtensions, MAX_FILE_BYTES } from '../knowledge-bases/schema.ts';

export interface DocumentUpload {
  /** The person's own name for the file. */
  readonly file: string;
  readonly filename: string;
  /** @throws UserError when it cannot be read */
  readonly open: () => Promise<Blob>;
}

export interface PreparedUpload {
  readonly upload: DocumentUpload;
  readonly content: Blob;
  readonly sha256: string;
  /** Idempotency key: the upload is accepted once, however often it is sent. */
  readonly key: string;
}

/** Files up to this size share requests, in bytes. */
const SMALL_BYTES = 256 * 1024;
/** Most files in a request: as many count as one request against the rate limits. */
const FILES_IN_REQUEST = 100;
/** Most bytes in a request, before their encoding. */
const BYTES_IN_REQUEST = 4 * 1024 * 1024;

/** @throws UserError that says what is wrong with the file */
export async function prepare(upload: DocumentUpload): Promise<PreparedUpload> {
  const content = await openChecked(upload);
  return { upload, content, sha256: await sha256Of(content), key: randomUUID() };
}

/** Puts small files together, as many as a request takes, and leaves large ones alone. */
export async function* inRequests(prepared: AsyncIterable<PreparedUpload>): AsyncGenerator<readonly PreparedUpload[]> {
  let together: PreparedUpload[] = [];
  let bytes = 0;
  for await (const each of prepared) {
    if (each.content.size > SMALL_BYTES) {
      yield [each];
      continue;
    }
    together.push(each);
    bytes += each.content.size;
    if (together.length < FILES_IN_REQUEST && bytes < BYTES_IN_REQUEST) continue;
    yield together;
    [together, bytes] = [[], 0];
  }
  if (together.length > 0) yield together;
}

export function isSmall({ content }: PreparedUpload): boolean {
  return content.size <= SMALL_BYTES;
}

/** @throws UserError for a file that has changed since it was opened */
export async function base64Of({ content }: PreparedUpload): Promise<string> {
  try {
    return Buffer.from(await content.arrayBuffer()).toString('base64');
  } catch (error) {
    throw new UserError(`it cannot be read: ${causeOf(error)}`, { cause: error });
  }
}

/** Checks the size here, too: clients don't always hear a server that ends a large upload early. */
async function openChecked({ filename, open }: DocumentUpload): Promise<Blob> {
  const content = await open();
  const judged = judgeFileName(filename);
  if (judged.verdict === 'unusable') throw new UserError(judged.reason);
  if (judged.verdict !== 'sound') {
    throw new UserError(`files of this kind are not read: only ${fileExtensions.map((each) => `.${each}`).join(', ')}`);
  }
  if (content.size > MAX_FILE_BYTES) {
    throw new UserError(`it has ${Math.ceil(content.size / 1024 / 1024)} MB, and at most ${MAX_FILE_BYTES / 1024 / 1024} MB are taken`);
  }
  return content;
}

/** @throws UserError for a file that has changed since it was opened */
async function sha256Of(content: Blob): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of content.stream()) hash.update(chunk);
  } catch (error) {
    throw new UserError(`it cannot be read: ${causeOf(error)}`, { cause: error });
  }
  return hash.digest('hex');
}
