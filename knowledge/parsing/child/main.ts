/** A process that reads files, one after the other, until its parent closes the stream. Started and watched by ParserProcess. */
import { readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

import { FrameReader } from '../framing.ts';
import { type ChildMessage, PARSER_INPUT, PARSER_OUTPUT, type ParserTask, type ProcessReport } from '../messages.ts';
import { LineWriter } from './line-writer.ts';
import { asFailure, loadParser, parse } from './parse.ts';
import { rememberState } from './remains.ts';
import { sealNetwork } from './seal-network.ts';

const output = new LineWriter(PARSER_OUTPUT);
let extension = 'file';
const loaded = new Set<string>();
let remains: () => string | undefined = () => undefined;

function failed(error: unknown, report?: ProcessReport): void {
  const { code, message, cause } = asFailure(error, extension);
  output.write({
    type: 'failure',
    code,
    message,
    isUnexpected: cause !== undefined,
    ...(cause instanceof Error && { detail: `${cause.name}: ${cause.message}`.slice(0, 300) }),
    ...(report && { process: report }),
  });
  output.flush();
}

/** Nobody waited for it: a file before may have left it behind. */
function stray(error: unknown): never {
  failed(error);
  // Timers and streams of a library must not keep a broken process.
  process.exit(0);
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

async function readFile(task: ParserTask, content: Buffer): Promise<void> {
  ({ extension } = task);
  let isOpen = true;
  // What a library still does after its file has ended must not reach the next one.
  const send = (message: ChildMessage): void => void (isOpen && output.write(message));
  const parser = await loadParser(task.extension);
  // The libraries may change what they want while they are loaded. What a file changes ends the process, so the state stays the same.
  if (!loaded.has(task.extension)) remains = rememberState();
  loaded.add(task.extension);
  const report = (): ProcessReport => {
    isOpen = false;
    const { user, system } = process.cpuUsage();
    const left = remains();
    return {
      residentBytes: process.memoryUsage.rss(),
      processorMs: (user + system) / 1000,
      ...(left === undefined ? {} : { remains: left }),
    };
  };
  try {
    const document = await parse(parser, { ...task, content }, send);
    // Errors that nobody waited for come up here, and belong to this file.
    await setImmediate();
    output.write({ type: 'document', document, process: report() });
    output.flush();
  } catch (error) {
    await setImmediate();
    failed(error, report());
  }
}

sealNetwork();
// A Ctrl-C reaches the whole group: the parent decides what becomes of its children.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('uncaughtException', stray);
process.on('unhandledRejection', stray);

const files = new FrameReader(readInput);
for (let file = files.file(); file !== undefined; file = files.file())
  await readFile(JSON.parse(file.first.toString()) as ParserTask, file.content);
process.exit(0);
