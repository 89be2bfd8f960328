/** Sends recordings, wholly or in parts, and signs the addresses that open them. */
import { Readable } from 'node:stream';

import type { FastifyReply, FastifyRequest } from 'fastify';

import { type FileStorage, StorageError } from '../../knowledge/storage/file-storage.ts';
import type { Clock } from '../../platform/clock.ts';
import { type CallRecord, type CallRef, type CallStore, isTerminal } from '../../store/index.ts';
import { ApiError } from '../http/api-error.ts';
import { requestState } from '../http/request-state.ts';
import type { SigningKeys } from '../signing/signing-keys.ts';
import { readRange } from './byte-range.ts';
import { SignedLinks } from './signed-links.ts';

/** Life of the recording's address in an answer about a call, in minutes. */
export const ADDRESS_MINUTES = 10;

export class RecordingLinks {
  readonly #calls: Pick<CallStore['calls'], 'get'>;
  readonly #files: Pick<FileStorage, 'read'>;
  readonly #links: SignedLinks;
  readonly #publicUrl: () => string;
  readonly #clock: Clock;

  constructor(options: {
    readonly calls: Pick<CallStore['calls'], 'get'>;
    readonly files: Pick<FileStorage, 'read'>;
    readonly signing: SigningKeys;
    /** Returns the address of this API for clients; a request's own claim about it is never used. */
    readonly publicUrl: () => string;
    readonly clock: Clock;
  }) {
    this.#calls = options.calls;
    this.#files = options.files;
    this.#links = new SignedLinks(options.signing);
    this.#publicUrl = options.publicUrl;
    this.#clock = options.clock;
  }

  /**
   * Finds a call that has a recording.
   * @param visible whether the caller may know of the call
   * @throws ApiError `recording_not_found`, also for a call that isn't there, and `recording_not_ready` for one that isn't over
   */
  async find(ref: CallRef, visible: (call: CallRecord) => boolean = () => true): Promise<CallRecord> {
    const found = await this.#calls.get(ref);
    const call = found !== undefined && visible(found) ? found : undefined;
    if (call !== undefined && !isTerminal(call.status)) throw new ApiError('recording_not_ready', 'the call is not over yet');
    if (call?.recording == null) throw recordingNotFound();
    return call;
  }

  /** @throws ApiError `recording_not_found` for an address that is forged, or past its time */
  async findByToken(token: string): Promise<CallRecord> {
    const link = await this.#links.read(token, this.#clock.now());
    if (link === undefined)
      throw new ApiError('recording_not_found', 'this address does not open a recording, or does so no more: ask for a new one');
    return this.find({ org: link.org, id: link.callId });
  }

  /** Makes an address that opens the recording of a call for so many minutes. */
  sign({ org, id }: CallRef, minutes: number): { readonly url: string; readonly expiresAt: Date } {
    const expiresAt = this.#clock.now() + minutes * 60_000;
    const token = this.#links.write({ org, callId: id, expiresAt });
    return { url: `${this.#publicUrl().replace(/\/+$/, '')}/v1/call-recording/signed/${token}`, expiresAt: new Date(expiresAt) };
  }

  /** Answers with the recording, or the part of it that the request asks for. */
  async send(request: FastifyRequest, reply: FastifyReply, { id, recording }: CallRecord): Promise<FastifyReply> {
    if (recording === null) throw recordingNotFound();
    const { key, bytes } = recording;
    const range = readRange(request.headers.range, bytes);
    if (range === 'unsatisfiable')
      throw new ApiError('range_not_satisfiable', `the recording has ${bytes} bytes`, { headers: { 'content-range': `bytes */${bytes}` } });
    const content = request.method === 'HEAD' ? Readable.from([]) : await this.#open(key, request, range);
    void reply
      .code(range === undefined ? 200 : 206)
      .type('audio/ogg')
      .header('accept-ranges', 'bytes')
      .header('cache-control', 'private, no-store')
      .header('content-disposition', `attachment; filename="${fileNameOf(id)}"`)
      .header('content-length', String(range === undefined ? bytes : range.end - range.start + 1));
    if (range !== undefined) void reply.header('content-range', `bytes ${range.start}-${range.end}/${bytes}`);
    return reply.send(content);
  }

  async #open(
    key: string,
    request: FastifyRequest,
    range: { readonly start: number; readonly end: number } | undefined,
  ): Promise<Readable> {
    try {
      return await this.#files.read(key, { signal: requestState(request).signal, ...(range !== undefined && { range }) });
    } catch (error) {
      // The file was deleted in the storage, perhaps by a rule about old files.
      if (error instanceof StorageError && error.kind === 'not_found') throw recordingNotFound(error);
      throw error;
    }
  }
}

export function fileNameOf(callId: string): string {
  return `${callId}.ogg`;
}

/** Makes the same failure for a call without a recording, an unknown one and one of another organisation. */
function recordingNotFound(cause?: unknown): ApiError {
  return new ApiError('recording_not_found', 'Recording not found', cause === undefined ? {} : { cause });
}
