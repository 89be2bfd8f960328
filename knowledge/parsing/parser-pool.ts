import { createReadStream } from 'node:fs';

import type { Registry } from 'prom-client';

import { type Clock, systemClock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import { IngestionError } from '../ingestion-failure.ts';
import type { Block, ParsedDocument } from './block.ts';
import { DEFAULT_LIMITS, type ParserLimits, processorTimeMs, SHARED_PARSER_BYTES } from './limits.ts';
import { MemoryBudget } from './memory-budget.ts';
import type { ParsedExtension, ParseProgress } from './messages.ts';
import { parserMetrics } from './parser-metrics.ts';
import { failureOf, ParserProcess } from './parser-process.ts';

export interface ParserPoolOptions {
  /** Files that are read at the same time; others wait their turn, first come first served. */
  readonly size: number;
  readonly logger?: Logger;
  /** Receives `parley_parse_seconds` and `parley_parsers_running`. */
  readonly registry?: Registry;
  readonly clock?: Clock;
  /** Each has a default: see limits.ts. */
  readonly limits?: Partial<ParserLimits>;
  /** Memory of all children together, in bytes; 2 GB by default. */
  readonly sharedBytes?: number;
}

export interface ParseRequest {
  /** The file as a stream of its bytes, or the path of one on this machine. Read once, and only when a child is free. */
  readonly content: AsyncIterable<Uint8Array> | { readonly path: string };
  /** Which parser reads it. The content must fit: nothing is guessed. */
  readonly extension: ParsedExtension;
  /** Web pages: the response's header, for its charset. */
  readonly contentType?: string | undefined;
  /** Web pages: their address, which the blocks get as their place. */
  readonly url?: string | undefined;
  /** Kills the child. */
  readonly signal?: AbortSignal;
  /** Pages, sheets or bytes done; at least at the start and the end of each. */
  readonly onProgress?: (progress: ParseProgress) => void;
}

/** One file being read. Nothing happens before {@link Parsing.blocks} is iterated. */
export interface Parsing {
  /**
   * The blocks in the order of the document, in batches of about 64 KB. May be iterated once. The child waits while nothing reads,
   * and that time does not count; leaving the loop ends the child.
   * @throws IngestionError when the document is at fault: another attempt would end the same
   * @throws the signal's reason when it aborts; any other Error (a child that could not be started, a stream that broke) may be tried again
   */
  blocks(): AsyncIterable<readonly Block[]>;
  /** Resolves when the blocks have been read to their end; rejects with what {@link Parsing.blocks} throws. */
  readonly document: Promise<ParsedDocument>;
}

/**
 * Reads files, each in a child process of its own, so that a hostile one takes nothing else down with it: bounded memory, time and output,
 * an empty environment, no files, no network.
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
  readonly #permits: Semaphore;
  readonly #running = new Set<ParserProcess>();
  readonly #memory: MemoryBudget;
  /** One that has started already and waits for its file. */
  #spare: ParserProcess | undefined;
  #closed = false;

  constructor(options: ParserPoolOptions) {
    this.#clock = options.clock ?? systemClock;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#logger = options.logger;
    this.#metrics = parserMetrics(options.registry);
    this.#permits = new Semaphore(options.size);
    this.#memory = new MemoryBudget(options.sharedBytes ?? SHARED_PARSER_BYTES);
    this.#spare = new ParserProcess({ clock: this.#clock });
  }

  parse(request: ParseRequest): Parsing {
    const { promise, resolve, reject } = Promise.withResolvers<ParsedDocument>();
    // The failure reaches who reads the blocks; it must not be an unhandled rejection here.
    promise.catch(() => undefined);
    return { blocks: () => this.#measured(request, resolve, reject), document: promise };
  }

  /** Kills what runs; what was being read ends with an Error that may be tried again. */
  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#running, ...(this.#spare === undefined ? [] : [this.#spare])];
    for (const child of all) child.kill('no_more_use');
    await Promise.all(all.map((child) => child.ended));
  }

  async *#measured(
    request: ParseRequest,
    resolve: (document: ParsedDocument) => void,
    reject: (error: unknown) => void,
  ): AsyncGenerator<readonly Block[]> {
    let outcome = 'left';
    const release = await this.#permits.acquire(request.signal);
    const started = this.#clock.monotonic();
    this.#metrics.running(1);
    try {
      resolve(yield* this.#read(request));
      outcome = 'completed';
    } catch (error) {
      outcome = error instanceof IngestionError ? error.code : 'error';
      reject(error);
      throw error;
    } finally {
      release();
      this.#metrics.running(-1);
      this.#metrics.finished(request.extension, outcome, (this.#clock.monotonic() - started) / 1000);
      if (outcome === 'left') reject(new Error('the blocks were not read to their end'));
    }
  }

  async *#read(request: ParseRequest): AsyncGenerator<readonly Block[], ParsedDocument> {
    request.signal?.throwIfAborted();
    const { extension, contentType, url } = request;
    const child = this.#take();
    const stop = (): void => child.kill('no_more_use');
    request.signal?.addEventListener('abort', stop, { once: true });
    try {
      let broken: unknown;
      const size = { bytes: 0 };
      this.#memory.join(child);
      child.watchMemory(this.#limits.residentBytes, (bytes) => this.#memory.holds(child, bytes));
      child.watchProcessor(() => processorTimeMs(request.extension, size.bytes, this.#limits));
      const limit = child.timeLimit(this.#limits.baseMs);
      const fed = child.feed({ extension, contentType, url, limits: this.#limits }, this.#counted(request.content, size)).then(
        // The size is known only once the file has been read.
        () => limit.extend((size.bytes / 1e6) * this.#limits.msPerMegabyte),
        (error: unknown) => {
          broken = error;
          child.kill('no_more_use');
        },
      );
      for (;;) {
        limit.run();
        const message = await child.next().finally(() => limit.pause());
        if (message === undefined) break;
        if (message.type === 'progress') request.onProgress?.({ done: message.done, total: message.total });
        else if (message.type === 'blocks') yield message.blocks;
        else if (message.type === 'document') return message.document;
        else if (message.type === 'failure') {
          this.#logger?.info({ code: message.code, detail: message.detail, extension: request.extension }, 'failed to read a file');
          throw new IngestionError(message.code, message.message);
        }
      }
      await Promise.race([fed, child.ended]);
      request.signal?.throwIfAborted();
      if (broken !== undefined) throw broken;
      const end = await child.ended;
      this.#logger?.warn({ ...end, extension: request.extension, bytes: size.bytes }, 'a parser ended before it had read its file');
      throw failureOf(end);
    } finally {
      request.signal?.removeEventListener('abort', stop);
      child.dispose();
      this.#memory.leave(child);
      this.#running.delete(child);
    }
  }

  async *#counted(content: ParseRequest['content'], size: { bytes: number }): AsyncGenerator<Uint8Array> {
    const parts: AsyncIterable<Uint8Array> = Symbol.asyncIterator in content ? content : createReadStream(content.path);
    for await (const part of parts) {
      size.bytes += part.length;
      if (size.bytes > this.#limits.fileBytes)
        throw new IngestionError('too_large', `The file is larger than ${this.#limits.fileBytes / 1e6} MB. Split it into several files.`);
      yield part;
    }
  }

  /** The one that waits, if it still lives; another starts in its place. */
  #take(): ParserProcess {
    if (this.#closed) throw new Error('the pool of parsers is closed');
    const spare = this.#spare;
    const child = spare === undefined || spare.isOver ? new ParserProcess({ clock: this.#clock }) : spare;
    this.#spare = new ParserProcess({ clock: this.#clock });
    this.#running.add(child);
    return child;
  }
}
