/** Receives a file and its metadata as they arrive, in either order. */
import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';

import { type FileStorage, StorageError, type StoredFile } from '../../knowledge/storage/file-storage.ts';
import type { Scalar } from '../../knowledge/vector-stores/vector-store.ts';
import { ApiError, ValidationError } from '../http/api-error.ts';
import { BrokenJsonFieldError, type FormPart, readForm } from '../http/forms.ts';
import { requestState } from '../http/request-state.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { unknownFields } from '../validation/unknown-fields.ts';
import { unknownFieldWarnings } from '../validation/warning.ts';
import { type FileExtension, judgeFileName } from './file-name.ts';
import { brokenMetadata, readMetadata } from './metadata.ts';
import { fileExtensions, fileForm, MAX_FILE_BYTES } from './schema.ts';

/** Most bytes of a form beside the file. */
const ENVELOPE_BYTES = 1024 * 1024;

export interface Upload extends StoredFile {
  readonly name: string;
  readonly extension: FileExtension;
  readonly metadata: Readonly<Record<string, Scalar>>;
}

interface ReceivedFile extends StoredFile {
  readonly name: string;
  readonly extension: FileExtension;
}

/**
 * Stores the file of the request's form under `key`. Whatever is thrown, no file is left under it.
 * @throws ValidationError, or ApiError `payload_too_large`, `unsupported_media_type` or `bad_request`
 */
export async function receiveUpload(
  request: FastifyRequest,
  target: { readonly key: string; readonly files: UploadStorage },
): Promise<Upload> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_FILE_BYTES + ENVELOPE_BYTES) throw tooLarge();
  const { signal, warnings } = requestState(request);
  const form = new UploadForm(target, signal);
  try {
    try {
      for await (const part of readForm(request, { fileBytes: MAX_FILE_BYTES })) {
        warnings.push(...warningsOf(part));
        await form.take(part);
      }
    } catch (error) {
      if (!(error instanceof BrokenJsonFieldError)) throw error;
      form.metadataIssues = [brokenMetadata];
    }
    return form.result();
  } catch (error) {
    await form.discard();
    throw error;
  }
}

function warningsOf({ name }: FormPart): readonly string[] {
  return unknownFieldWarnings(unknownFields(fileForm, { [name]: '' }, [], 1), 1);
}

export type UploadStorage = Pick<FileStorage, 'put' | 'delete'>;

class UploadForm {
  readonly #target: { readonly key: string; readonly files: UploadStorage };
  readonly #signal: AbortSignal;
  #file: ReceivedFile | undefined;
  #fileIssues: readonly ValidationIssue[] = [issues.missing(['body', 'file'])];
  #files = 0;
  #metadata: Readonly<Record<string, Scalar>> = {};
  metadataIssues: readonly ValidationIssue[] = [];

  constructor(target: { readonly key: string; readonly files: UploadStorage }, signal: AbortSignal) {
    this.#target = target;
    this.#signal = signal;
  }

  async take(part: FormPart): Promise<void> {
    if (part.kind === 'file') {
      if (part.name === 'file') return this.#takeFile(part);
      if (part.name === 'metadata') this.metadataIssues = [issues.notAString(['body', 'metadata'])];
      return skip(part.content);
    }
    if (part.name === 'file') {
      if (this.#files === 0) this.#fileIssues = [issues.value(['body', 'file'], 'this is a text and no file: send it with a filename')];
    } else if (part.name === 'metadata') {
      const read = readMetadata(part.value);
      this.#metadata = read.ok ? read.metadata : {};
      // A later part can't make up for this one: the file may have been passed over already.
      if (!read.ok) this.metadataIssues = [read.issue];
    }
  }

  async #takeFile({ filename, content, fault }: Extract<FormPart, { kind: 'file' }>): Promise<void> {
    this.#files += 1;
    const judged = judgeFileName(filename);
    if (judged.verdict === 'unsupported')
      throw new ApiError(
        'unsupported_media_type',
        `files of this kind are not read: send one of ${fileExtensions.map((each) => `.${each}`).join(', ')}`,
      );
    if (judged.verdict === 'missing') this.#fileIssues = [issues.missing(['body', 'file'])];
    else if (judged.verdict === 'unusable') this.#fileIssues = [issues.value(['body', 'file'], judged.reason)];
    else if (this.#files > 1) this.#fileIssues = [issues.value(['body', 'file'], 'one request makes one document: send one file')];
    else this.#fileIssues = [];
    if (judged.verdict !== 'sound' || this.#fileIssues.length + this.metadataIssues.length > 0) return skip(content);
    try {
      const stored = await this.#target.files.put(this.#target.key, content, { maxBytes: MAX_FILE_BYTES, signal: this.#signal });
      this.#file = { name: judged.name, extension: judged.extension, ...stored };
    } catch (error) {
      if (error instanceof StorageError) throw error.kind === 'too_large' ? tooLarge() : error;
      // The storage rethrows the form's failure, and the reason of the signal.
      throw error instanceof ApiError ? error : (fault() ?? error);
    }
  }

  result(): Upload {
    const found = [...this.#fileIssues, ...this.metadataIssues];
    if (found.length > 0) throw new ValidationError(found);
    if (this.#file === undefined) throw new Error('a form without faults has a file');
    return { ...this.#file, metadata: this.#metadata };
  }

  /** Removes the file; the sweep of orphaned files removes it where this fails. */
  async discard(): Promise<void> {
    if (this.#file !== undefined) await this.#target.files.delete(this.#target.key).catch(() => undefined);
  }
}

async function skip(content: Readable): Promise<void> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > MAX_FILE_BYTES) throw tooLarge();
  }
}

function tooLarge(): ApiError {
  return new ApiError('payload_too_large', `the file is too large: at most ${MAX_FILE_BYTES / 1024 / 1024} MB are taken`);
}
