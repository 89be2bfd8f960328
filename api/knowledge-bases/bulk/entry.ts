/** Defines one entry of a bulk upload: a file, or the reason why it can't be stored. */
import type { Readable } from 'node:stream';

import type { Scalar } from '../../../knowledge/vector-stores/vector-store.ts';
import type { ErrorCode } from '../../http/api-error.ts';
import { judgeFileName, type FileExtension } from '../file-name.ts';
import { fileExtensions, MAX_FILE_BYTES } from '../schema.ts';

export interface EntryFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

export interface SoundEntry {
  readonly filename: string;
  readonly extension: FileExtension;
  readonly metadata: Readonly<Record<string, Scalar>>;
  /** The client's key for the file, which is stored once; where absent, the content is the key. */
  readonly idempotencyKey: string | undefined;
  /** In memory for a small file. A stream may throw {@link EntryError}. */
  readonly content: Buffer | (() => Promise<Readable>);
}

export type BulkEntry = {
  /** Position among the entries of the request, from 0. */
  readonly index: number;
  /** Name as it was sent, for people; null where it could not be read. */
  readonly name: string | null;
  /** Warnings about fields that nothing reads. */
  readonly warnings?: readonly string[];
} & ({ readonly file: SoundEntry } | { readonly failure: EntryFailure });

/** Reports an entry that cannot be stored; the others can. */
export class EntryError extends Error {
  override readonly name = 'EntryError';
  readonly code: ErrorCode;

  constructor({ code, message }: EntryFailure, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  get failure(): EntryFailure {
    return { code: this.code, message: this.message };
  }
}

/** @throws EntryError for a name that a single upload would refuse, too */
export function requireFileName(name: string): Pick<SoundEntry, 'filename' | 'extension'> {
  const judged = judgeFileName(name);
  switch (judged.verdict) {
    case 'sound':
      return { filename: judged.name, extension: judged.extension };
    case 'missing':
      throw new EntryError({ code: 'bad_request', message: 'the name is empty: give the file a name with its extension' });
    case 'unusable':
      throw new EntryError({ code: 'bad_request', message: judged.reason });
    default:
      throw new EntryError({
        code: 'unsupported_media_type',
        message: `files of this kind are not read: send one of ${fileExtensions.map((each) => `.${each}`).join(', ')}`,
      });
  }
}

export function tooLargeFile(): EntryError {
  return new EntryError({
    code: 'payload_too_large',
    message: `the file is too large: at most ${MAX_FILE_BYTES / 1024 / 1024} MB are taken`,
  });
}
