import { availableParallelism } from 'node:os';

import type { Registry } from 'prom-client';

import { type Clock, systemClock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { IngestionError } from '../ingestion-failure.ts';
import type { ParserTask, ParsedBlock, ParsedDocument } from './block.ts';
import { type FileContent, openContent } from './file-content.ts';
import { END_OF_FILE, framed } from './framing.ts';
import { DEFAULT_LIMITS, IDLE_MS, MS_PER_PICTURE, type ParserLimits, processorTimeMs, SHARED_PARSER_BYTES } from './limits.ts';
import { MemoryBudget } from './memory-budget.ts';
import { kindOf, type ParsedExtension, type ParserKind } from './extension.ts';
import type { ParseProgress } from './messages.ts';
import { parserMetrics } from './parser-metrics.ts';
import { failureOfEnd, isInconclusive, ParserProcess } from './parser-process.ts';
import { ParserProcesses, type ProcessLease } from './parser-processes.ts';
import { RECYCLE_LIMITS, type RecycleLimits } from './recycling.ts';

export interface ParserPoolOptions {
  /** Most processes of each kind (plain and binary). Files beyond wait, and an owner of whom fewer are being read goes first. */
  readonly size: number;
  readonly logger?: Logger;
  /** Registry of `parley_parse_seconds`, `parley_parsers_running` and `parley_parser_processes_*`. */
  readonly registry?: Registry;
  readonly clock?: Clock;
  /** Limits for a file; each has a default: see limits.ts. */
  readonly limits?: Partial<ParserLimits>;
  /** Memory of all processes together, in bytes; 2 GB by default. No file gets more, whatever its limit. */
  readonly sharedBytes?: number;
  /** How long a process waits for files before it ends, in milliseconds; a minute by default. */
  readonly idleMs?: number;
  /** Limits after which healthy processes are replaced; see recycling.ts. */
  readonly recycle?: Partial<RecycleLimits>;
  /** Processes of each kind that work through a queue of files side by side; by default one for each processor but one, at least one. */
  readonly forBacklog?: number;
  /** Path of the module that runs in the processes; the parsers' by default. */
  readonly entry?: string;
}

export interface ParseRequest {
  /**
   * The file as a stream of its bytes, or the path of one on this machine. It is read once; of a large file only the first MB before a
   * process is free.
   */
  readonly content: AsyncIterable<Uint8Array> | { readonly path: string };
  /** The organisation whose file it is: no owner keeps the others waiting. */
  readonly owner?: string | undefined;
  /** Selects the parser. The content must fit: nothing is guessed. */
  readonly extension: ParsedExtension;
  /** Content-Type of a web page's response, for its charset. */
  readonly contentType?: string | undefined;
  /** Address of a web page, which becomes the place of its blocks. */
  readonly url?: string | undefined;
  /** Number of pages of a PDF without readable text that come as pictures among the blocks; none by default. */
  readonly pictures?: number | undefined;
  /** Kills the process that reads the file when it aborts. */
  readonly signal?: AbortSignal;
  /** Receives the pages, sheets or bytes that are done; at least at the start and the end of each. */
  readonly onProgress?: (progress: ParseProgress) => void;
}

/** One file being read. Nothing happens before {@link Parsing.blocks} is iterated. */
export interface Parsing {
  /**
   * Yields the blocks in the order of the document, in batches of about 64 KB. May be iterated once. The process waits while nothing reads,
   * and that time does not count; a small document is finished by then. Leaving the loop before the end ends the process.
   * @throws IngestionError when the document is at fault: another attempt would end the same
   * @throws the signal's reason when it aborts; any other Error (a process that could not be started, a stream that broke) may be retried
   */
  blocks(): AsyncIterable<readonly ParsedBlock[]>;
  /** Resolves when the blocks have been read to their end; rejects with the error of {@link Parsing.blocks}. */
  readonly document: Promise<ParsedDocument>;
}

/** Batches of blocks that are kept until a document has ended, so that its process is free whatever becomes of them. */
const KEPT_BATCHES = 16;

/**
 * Reads files in processes of their own, so that a hostile one takes nothing else down with it: bounded memory, time and output, an empty
 * environment, no files, no network. A process that behaves reads the next file. A document fails for a crash or an unexpected error only
 * in a process that has read nothing else: in any other it is read again, in a new one.
 *
 * ```ts
 * const pool = new ParserPool({ size: 2 });
 * const parsing = pool.parse({ content: { path }, extension: 'pdf', signal });
 * for await (const blocks of parsing.blocks()) pack(blocks);
 * const { title, pages, warnings } = await parsing.document;
 * ```
 */
export class ParserPool {
  readonly #clock: Clock;
  readonly #limits: ParserLimits;
  readonly #logger: Logger | undefined;
  readonly #metrics: ReturnType<typeof parserMetrics>;
  readonly #processes: Readonly<Record<ParserKind, ParserProcesses>>;

  constructor(options: ParserPoolOptions) {
    const {
      size,
      clock = systemClock,
      sharedBytes = SHARED_PARSER_BYTES,
      idleMs = IDLE_MS,
      recycle,
      entry,
      forBacklog = availableParallelism() - 1,
    } = options;
    this.#clock = clock;
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#limits = { ...limits, residentBytes: Math.min(limits.residentBytes, sharedBytes) };
    this.#logger = options.logger;
    const metrics = parserMetrics(options.registry);
    this.#metrics = metrics;
    const memory = new MemoryBudget(sharedBytes);
    const processes = (kind: ParserKind): ParserProcesses =>
      new ParserProcesses({
        kind,
        most: size,
        forBacklog,
        start: () => new ParserProcess({ clock, kind, ...(entry !== undefined && { entry }) }),
        recycle: { ...RECYCLE_LIMITS[kind], ...recycle },
        idleMs,
        memory,
        metrics,
        clock,
      });
    this.#processes = { plain: processes('plain'), binary: processes('binary') };
    this.#processes.plain.warm();
  }

  parse(request: ParseRequest): Parsing {
    const { promise, resolve, reject } = Promise.withResolvers<ParsedDocument>();
    // The failure reaches who reads the blocks; it must not be an unhandled rejection here.
    promise.catch(() => undefined);
    return { blocks: () => this.#settled(request, resolve, reject), document: promise };
  }

  /** Kills running processes; their files end with an Error that may be retried. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#processes).map((processes) => processes.close()));
  }

  async *#settled(
    request: ParseRequest,
    resolve: (document: ParsedDocument) => void,
    reject: (error: unknown) => void,
  ): AsyncGenerator<readonly ParsedBlock[]> {
    try {
      resolve(yield* this.#read(request));
    } catch (error) {
      reject(error);
      throw error;
    } finally {
      reject(new Error('the blocks were not read to their end'));
    }
  }

  async *#read(request: ParseRequest): AsyncGenerator<readonly ParsedBlock[], ParsedDocument> {
    const { owner, signal, extension } = request;
    const content = await openContent(request.content, { mostBytes: this.#limits.fileBytes, signal });
    try {
      const given = { batches: 0 };
      for (let needsNew = !content.isWhole; ; needsNew = true) {
        const lease = await this.#processes[kindOf(extension)].take({ owner, needsNew, signal });
        const document = yield* this.#readIn(lease, request, content, given);
        if (document !== undefined) return document;
        this.#logger?.info({ extension }, 'a used parser process failed on a file; reading it again in a new one');
      }
    } finally {
      content.close();
    }
  }

  /** @param given batches that the reader has got from an attempt before. @returns nothing if a new process has to decide */
  async *#readIn(
    lease: ProcessLease,
    request: ParseRequest,
    content: FileContent,
    given: { batches: number },
  ): AsyncGenerator<readonly ParsedBlock[], ParsedDocument | undefined> {
    const { extension, signal, onProgress } = request;
    const { process, isNew } = lease;
    const done = this.#measure(extension);
    const stop = (): void => process.kill('no_more_use');
    signal?.addEventListener('abort', stop, { once: true });
    const endWatch = process.watch({
      residentBytes: this.#limits.residentBytes,
      processorMs: () => processorTimeMs(extension, content.bytes, this.#limits),
      onLook: (bytes) => lease.holds(bytes),
    });
    const letGo = (): void => {
      signal?.removeEventListener('abort', stop);
      endWatch();
    };
    try {
      signal?.throwIfAborted();
      let broken: unknown;
      const limit = process.timeLimit(this.#limits.baseMs);
      const fed = this.#feed(process, request, content).then(
        // The size of a large file is known only once it has been read.
        () => limit.extend((content.bytes / 1e6) * this.#limits.msPerMegabyte),
        (error: unknown) => {
          broken = error;
          process.kill('no_more_use');
        },
      );
      let kept: (readonly ParsedBlock[])[] | undefined = [];
      let seen = 0;
      for (;;) {
        limit.run();
        const message = await process.next().finally(() => limit.pause());
        if (message === undefined) break;
        if (message.type === 'progress') onProgress?.({ done: message.done, total: message.total });
        else if (message.type === 'blocks') {
          if (message.blocks.some(({ kind }) => kind === 'picture')) limit.extend(MS_PER_PICTURE);
          seen += 1;
          if (seen <= given.batches) continue;
          kept?.push(message.blocks);
          if (kept !== undefined && kept.length <= KEPT_BATCHES) continue;
          given.batches = seen;
          yield* kept ?? [message.blocks];
          kept = undefined;
        } else if (message.type === 'document') {
          letGo();
          lease.finished('read', message.process);
          done('completed');
          yield* kept ?? [];
          return message.document;
        } else {
          const { code, detail, isUnexpected } = message;
          letGo();
          if (message.process === undefined) lease.end('crashed');
          else lease.finished(isUnexpected ? 'failed' : 'refused', message.process);
          // Memory and depth are the file's own doing; any other error of a library could come from a file before.
          if (((code === 'corrupt_file' && isUnexpected) || message.process === undefined) && !isNew && content.isWhole) return undefined;
          this.#logger?.info({ code, detail, extension }, 'failed to read a file');
          throw new IngestionError(code, message.message);
        }
      }
      await Promise.race([fed, process.ended]);
      signal?.throwIfAborted();
      if (broken !== undefined) throw broken;
      const end = await process.ended;
      this.#logger?.warn({ ...end, extension, bytes: content.bytes }, 'a parser process ended before it had read its file');
      lease.end(isInconclusive(end) ? 'crashed' : 'limit');
      if (isInconclusive(end) && !isNew && content.isWhole) return undefined;
      throw failureOfEnd(end);
    } catch (error) {
      done(error instanceof IngestionError ? error.code : 'error');
      throw error;
    } finally {
      letGo();
      lease.end('cancelled');
      done('left');
    }
  }

  async #feed(process: ParserProcess, { extension, contentType, url, pictures }: ParseRequest, content: FileContent): Promise<void> {
    const task = Buffer.from(JSON.stringify({ extension, contentType, url, pictures, limits: this.#limits } satisfies ParserTask));
    if (content.isWhole) return process.write(framed([task, ...content.head, END_OF_FILE]));
    await process.write(framed([task, ...content.head]));
    for await (const part of content.rest()) await process.write(framed([part]));
    return process.write(framed([END_OF_FILE]));
  }

  /** @returns a function that counts the file with its outcome; the first one holds */
  #measure(extension: ParsedExtension): (outcome: string) => void {
    const startedAt = this.#clock.monotonic();
    let isDone = false;
    this.#metrics.running(1);
    return (outcome) => {
      if (isDone) return;
      isDone = true;
      this.#metrics.running(-1);
      this.#metrics.finished(extension, outcome, (this.#clock.monotonic() - startedAt) / 1000);
    };
  }
}
