import { readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import { FrameReader } from '../framing.ts';
import type { ParserTask } from '../block.ts';
import { type ChildMessage, PARSER_INPUT, PARSER_OUTPUT, type ProcessReport } from '../messages.ts';
import { LineWriter } from './line-writer.ts';
import { asFailure, type LoadParser, parse } from './parse.ts';
import { rememberState } from './remains.ts';
import { sealNetwork } from './seal-network.ts';

/** Reads files one after the other, until the parent closes the stream. */
export async function serveFiles(load: LoadParser): Promise<void> {
  sealNetwork();
  // A Ctrl-C reaches the whole group: the parent decides what becomes of its children.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const server = new FileServer(load);
  process.on('uncaughtException', (error) => server.stray(error));
  process.on('unhandledRejection', (error) => server.stray(error));
  const files = new FrameReader(readInput);
  for (let file = files.file(); file !== undefined; file = files.file())
    await server.read(JSON.parse(file.first.toString()) as ParserTask, file.content);
}

class FileServer {
  readonly #load: LoadParser;
  readonly #output = new LineWriter(PARSER_OUTPUT);
  readonly #loaded = new Set<string>();
  #extension = 'file';
  #remains: () => string | undefined = () => undefined;

  constructor(load: LoadParser) {
    this.#load = load;
  }

  async read(task: ParserTask, content: Buffer): Promise<void> {
    this.#extension = task.extension;
    let isOpen = true;
    // Messages of a library after its file has ended must not reach the next one.
    const send = (message: ChildMessage): void => void (isOpen && this.#output.write(message));
    const end = async (): Promise<ProcessReport> => {
      // Unhandled errors come up here, and belong to this file.
      await setImmediate();
      isOpen = false;
      const { user, system } = process.cpuUsage();
      const remains = this.#remains();
      return { residentBytes: process.memoryUsage.rss(), processorMs: (user + system) / 1000, ...(remains !== undefined && { remains }) };
    };
    try {
      const document = await parse({ ...task, content }, { load: (extension) => this.#loadOnce(extension), send });
      this.#output.write({ type: 'document', document, process: await end() });
      this.#output.flush();
    } catch (error) {
      this.#fail(error, await end());
    }
  }

  /** Reports an unhandled error, which an earlier file may have left behind. */
  stray(error: unknown): never {
    this.#fail(error);
    // Timers and streams of a library must not keep a broken process.
    process.exit(0);
  }

  /**
   * Loads each parser once. Libraries may change objects of the language while they load. A change by a file ends the process, so it is not
   * there by then.
   */
  async #loadOnce(extension: ParserTask['extension']): ReturnType<LoadParser> {
    const parser = await this.#load(extension);
    if (!this.#loaded.has(extension)) this.#remains = rememberState();
    this.#loaded.add(extension);
    return parser;
  }

  #fail(error: unknown, report?: ProcessReport): void {
    const { code, message, cause } = asFailure(error, this.#extension);
    this.#output.write({
      type: 'failure',
      code,
      message,
      isUnexpected: cause !== undefined,
      ...(cause instanceof Error && { detail: `${cause.name}: ${cause.message}`.slice(0, 300) }),
      ...(report && { process: report }),
    });
    this.#output.flush();
  }
}

function readInput(buffer: Buffer, at: number, length: number): number {
  for (;;) {
    try {
      return readSync(PARSER_INPUT, buffer, at, length, null);
    } catch (error) {
      // A signal came in between.
      if ((error as NodeJS.ErrnoException).code !== 'EINTR') throw error;
    }
  }
}
