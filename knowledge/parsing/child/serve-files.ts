import { readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import { FrameReader } from '../framing.ts';
import type { ParserTask } from '../block.ts';
import { PARSER_INPUT, PARSER_OUTPUT, type ChildMessage, type ProcessReport } from '../messages.ts';
import { LineWriter } from './line-writer.ts';
import { asFailure, parse, type LoadParser } from './parse.ts';
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

/** Detects what a file leaves behind in the process that read it: changed objects of the language, and work that goes on. */

/** Returns prototypes and functions through which one file could reach the next. */
function languageObjects(): readonly object[] {
  const named = Object.getOwnPropertyNames(globalThis)
    .filter((name) => /^[A-Z]/u.test(name) || name === 'globalThis')
    .map((name) => Reflect.getOwnPropertyDescriptor(globalThis, name)?.value as unknown)
    .filter((value): value is object => typeof value === 'function' || (typeof value === 'object' && value !== null));
  const prototypes = named.map((value) => (value as { prototype?: unknown }).prototype).filter((value) => typeof value === 'object');
  const hidden = [
    Object.getPrototypeOf([][Symbol.iterator]()),
    Object.getPrototypeOf(async () => undefined),
    Object.getPrototypeOf(function* () {}),
    Object.getPrototypeOf(Uint8Array),
    Object.getPrototypeOf(Uint8Array.prototype),
  ];
  return [...new Set([...named, ...prototypes, ...hidden].filter((value): value is object => value !== null))];
}

type Described = ReadonlyMap<PropertyKey, unknown>;

function describe(object: object): Described {
  const properties = new Map<PropertyKey, unknown>();
  for (const key of Reflect.ownKeys(object)) {
    const { value, get } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
    properties.set(key, get ?? value);
  }
  return properties;
}

/** Remembers the language's objects and running work. @returns a function that names a difference, if there is one */
function rememberState(): () => string | undefined {
  const objects = languageObjects().map((object) => [object, describe(object)] as const);
  const running = process.getActiveResourcesInfo().length;
  return () => {
    if (process.getActiveResourcesInfo().length > running) return 'work';
    return objects.every(([object, before]) => same(before, object)) ? undefined : 'language';
  };
}

function same(before: Described, object: object): boolean {
  const keys = Reflect.ownKeys(object);
  if (keys.length !== before.size) return false;
  return keys.every((key) => {
    const { value, get } = Reflect.getOwnPropertyDescriptor(object, key) ?? {};
    return before.has(key) && Object.is(before.get(key), get ?? value);
  });
}
