/** Brings recordings of calls from the files that the jobs write in the spool to the storage. */
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';

import type { CallLifecycle } from '../../calls/lifecycle.ts';
import { recordingKey } from '../../calls/names.ts';
import { type FileStorage, StorageError } from '../../knowledge/storage/file-storage.ts';
import { withTimeout, type Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { DAY_MS } from '../../platform/time.ts';
import { type CallRef, type CallStore, isTerminal } from '../../store/index.ts';
import { cutOpus, EmptyRecordingError } from './ogg/cut-opus.ts';
import { processIdentity } from './process-identity.ts';
import { type RecordingFacts, Spool, type SpooledRecording } from './spool.ts';
import { every } from '../../platform/every.ts';

/** Outcome of saving. `kept`: it is in the spool, and the role uploads it. `none`: nothing was recorded. */
export type Saved = 'saved' | 'kept' | 'none';

/** The recording of a call that this process serves. */
export interface OpenRecording {
  /** Path of its sound, as Ogg Opus. */
  readonly file: string;
  /** Notes that the recorder starts: the file begins here. The first time counts. */
  started(): void;
  /** Begins the recording here: earlier sound is cut off, missing sound becomes silence. The first time counts. */
  begin(): void;
  /** Ends the recording here: later sound is cut off. The first time counts. */
  end(): void;
  /**
   * Saves the recording, once the conversation is closed. Takes ten seconds at most, and never fails: a recording that can't be saved now
   * is saved later.
   */
  save(): Promise<Saved>;
  /** Leaves the recording, when the job is over: one that it could not save is the role's. */
  leave(): void;
}

export interface RecordingsOptions {
  readonly storage: Pick<FileStorage, 'put' | 'delete'>;
  readonly calls: Pick<CallStore['calls'], 'get'>;
  readonly deletions: Pick<CallStore['deletions'], 'has'>;
  readonly lifecycle: Pick<CallLifecycle, 'addRecording'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly spool: string;
  /**
   * Longest time that a call waits for its recording, in milliseconds; 10,000 by default. The end of a call must not depend on the
   * storage.
   */
  readonly timeoutMs?: number;
}

/** Largest recording, in bytes; two hours are some 60 MB. */
const MAX_BYTES = 1024 ** 3;
/** Time for which a recording of an unknown call is kept, in milliseconds: the role may be connected to another database for a while. */
const KEEP_UNKNOWN_MS = 7 * DAY_MS;

export class Recordings {
  readonly #options: RecordingsOptions;
  readonly #spool: Spool;
  #waiting = 0;

  constructor(options: RecordingsOptions) {
    this.#options = options;
    this.#spool = new Spool(options.spool);
  }

  /** Number of recordings that the last {@link recover} found and could not save. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Creates the folder of a call, into which its recorder writes. */
  async open({ org, id, jobId }: CallRef & { readonly jobId: string }): Promise<OpenRecording> {
    const { clock, logger } = this.#options;
    const identity = (await processIdentity(process.pid)) ?? `${process.pid}`;
    let facts: RecordingFacts = { org, id, jobId, process: identity };
    const recording = await this.#spool.open(facts);
    const note = (time: 'recordingFrom' | 'from' | 'to' | 'left'): void => {
      if (facts[time] !== undefined) return;
      facts = { ...facts, [time]: clock.now() };
      try {
        this.#spool.note(recording, facts);
      } catch (err) {
        logger.warn({ err, callId: id }, 'failed to store the facts of a recording next to it');
      }
    };
    return {
      file: recording.sound,
      started: () => note('recordingFrom'),
      begin: () => note('from'),
      end: () => note('to'),
      save: () => this.#saveNow({ ...recording, facts }),
      leave: () => {
        if (existsSync(recording.folder)) note('left');
      },
    };
  }

  async #saveNow(recording: SpooledRecording): Promise<Saved> {
    const { clock, logger, timeoutMs = 10_000 } = this.#options;
    const { org, id } = recording.facts;
    const late = new AbortController();
    try {
      // A signal does not end everything; work that goes on after it does no harm.
      const saved = await withTimeout(clock, timeoutMs, this.#save(recording, late.signal));
      if (saved === undefined) {
        late.abort(new Error(`not saved within ${timeoutMs} ms`));
        throw late.signal.reason;
      }
      logger.info({ org, callId: id, saved }, 'the recording of the call');
      return saved;
    } catch (err) {
      logger.warn({ err, org, callId: id, folder: recording.folder }, 'failed to upload a recording; it stays in the spool and is retried');
      return 'kept';
    }
  }

  /**
   * Saves the recordings of ended calls whose jobs are over or gone.
   * @returns how many recordings reached the storage
   * @throws StorageError and StoreError where the storage or the database is away, or takes none
   */
  async recover(signal?: AbortSignal): Promise<number> {
    const { logger } = this.#options;
    let saved = 0;
    const abandoned = await this.#spool.abandoned();
    this.#waiting = abandoned.length;
    let refused: StorageError | undefined;
    for (const recording of abandoned) {
      if (signal?.aborted === true) break;
      const { org, id } = recording.facts;
      try {
        const outcome = await this.#settle(recording, signal);
        if (outcome === 'waits') continue;
        this.#waiting -= 1;
        if (outcome === 'saved') saved += 1;
        logger.info({ org, callId: id, outcome }, 'handled the recording of a job that is gone');
      } catch (err) {
        if (!(err instanceof StorageError) || err.retryable) throw err;
        // The storage may refuse only this one: the others go on.
        logger.error({ err, org, callId: id, folder: recording.folder }, 'the storage refused the recording of a call; retrying');
        refused = err;
      }
    }
    if (refused !== undefined && saved === 0) throw refused;
    return saved;
  }

  async #settle(recording: SpooledRecording, signal: AbortSignal | undefined): Promise<'saved' | 'none' | 'deleted' | 'waits'> {
    const { calls, deletions, storage } = this.#options;
    const { org, id } = recording.facts;
    const call = await calls.get({ org, id });
    if (call !== undefined) {
      if (!isTerminal(call.status)) return 'waits';
      if (call.recording === null) return this.#save(recording, signal);
      await this.#spool.remove(recording);
      return 'none';
    }
    if (!(await deletions.has({ org, id }))) {
      await this.#forgetOld(recording);
      return 'waits';
    }
    // Its job may have stopped between the upload and the discovery that there is no such call any more.
    await storage.delete(recordingKey(org, id));
    await this.#spool.remove(recording);
    return 'deleted';
  }

  async #save(recording: SpooledRecording, signal: AbortSignal | undefined): Promise<Exclude<Saved, 'kept'>> {
    const { storage, calls, lifecycle } = this.#options;
    const { org, id, recordingFrom, from, to } = recording.facts;
    // Without media there was no conversation; without a recorder there is no sound.
    const written = recordingFrom === undefined || from === undefined ? undefined : await stat(recording.sound).catch(notThere);
    if (written === undefined || recordingFrom === undefined || from === undefined) {
      await this.#spool.remove(recording);
      return 'none';
    }
    let durationMs = 0;
    const sound = cutOpus(createReadStream(recording.sound), {
      fromMs: from - recordingFrom,
      ...(to !== undefined && { toMs: to - recordingFrom }),
      onLength: (ms) => (durationMs = ms),
    });
    const key = recordingKey(org, id);
    let outcome: 'saved' | 'none' = 'saved';
    try {
      const { bytes } = await storage.put(key, Readable.from(sound, { objectMode: false }), {
        maxBytes: MAX_BYTES,
        ...(signal && { signal }),
      });
      const added = await lifecycle.addRecording({ org, id, key, bytes, durationMs });
      if (!added && (await calls.get({ org, id })) === undefined) {
        // The call was deleted meanwhile.
        await storage.delete(key);
        outcome = 'none';
      }
    } catch (error) {
      if (!(error instanceof EmptyRecordingError)) throw error;
      outcome = 'none';
    }
    await this.#spool.remove(recording);
    return outcome;
  }

  async #forgetOld(recording: SpooledRecording): Promise<void> {
    const { clock, logger } = this.#options;
    const { mtimeMs } = await stat(recording.folder);
    if (clock.now() - mtimeMs < KEEP_UNKNOWN_MS) return;
    logger.warn({ callId: recording.facts.id, folder: recording.folder }, 'deleted a recording of an unknown call');
    await this.#spool.remove(recording);
  }
}

function notThere(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

const INTERVAL_MS = 10_000;
/** Longest pause while the storage is away, in milliseconds. */
const LONGEST_INTERVAL_MS = 60_000;

export interface RecordingUploader {
  /** Stops after one more upload that takes `withinMs` at most: the next start uploads what is left. */
  close(options: { readonly withinMs: number }): Promise<void>;
}

export interface UploaderOptions {
  readonly recordings: Pick<Recordings, 'recover'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Uploads, in the role, the recordings that its jobs could not upload. */
export function uploadRecordings({ recordings, clock, logger }: UploaderOptions): RecordingUploader {
  const stopping = new AbortController();
  const { signal } = stopping;
  const failure = 'failed to upload recordings from the spool; retrying';
  const uploading = every(
    { intervalMs: INTERVAL_MS, longestIntervalMs: LONGEST_INTERVAL_MS, clock, logger, failure, signal },
    async () => void (await recordings.recover(signal)),
  );
  return {
    async close({ withinMs }) {
      stopping.abort();
      await uploading;
      const last = AbortSignal.timeout(withinMs);
      await recordings.recover(last).catch((err: unknown) => {
        if (!last.aborted) logger.warn({ err }, 'failed to upload recordings from the spool; the next start retries');
      });
    },
  };
}
