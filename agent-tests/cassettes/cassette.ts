/**
 * The model answers of one test with one agent, keyed by their requests: a file that people read and compare. It holds the messages and
 * answers, never a header, an address or a key.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { Document } from 'yaml';

import { canonicalJson, sha256 } from '../../platform/canonical-json.ts';
import { isObject } from '../../platform/json.ts';
import { readYaml, YamlError } from '../../platform/yaml.ts';
import type { RecordedAnswer } from './recorded-answer.ts';

/** The part of a request that decides the answer: the provider, and the body without transport settings. */
export interface RecordedRequest {
  readonly provider: string;
  readonly model: string;
  readonly [setting: string]: unknown;
}

export interface Recording {
  readonly request: RecordedRequest;
  readonly answer: RecordedAnswer;
}

export class CassetteError extends Error {
  override readonly name = 'CassetteError';
}

const FORMAT = 2;
/** Largest file, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Most characters that YAML aliases may add: hundreds of requests repeat the prompt and the conversation so far. */
const MAX_EXPANSION = 500_000_000;

export class Cassette {
  /** Milliseconds since the epoch; a replay uses this time in prompts that say what time it is. */
  readonly recordedAt: number;
  readonly #answers = new Map<string, Recording>();

  constructor({ recordedAt, recordings = [] }: { readonly recordedAt: number; readonly recordings?: readonly Recording[] }) {
    this.recordedAt = recordedAt;
    for (const recording of recordings) this.add(recording);
  }

  answerTo(request: RecordedRequest): RecordedAnswer | undefined {
    return this.#answers.get(requestHash(request))?.answer;
  }

  /** Adds a recording; the newest answer to a request counts. */
  add(recording: Recording): void {
    this.#answers.set(requestHash(recording.request), recording);
  }

  get recordings(): readonly Recording[] {
    return [...this.#answers.values()];
  }

  /** Writes the recordings in their order; repeated parts, such as the prompt, are written once. */
  toYaml(comment: string): string {
    const parts = new Map<string, unknown>();
    const once = <T>(value: T): T => {
      if (typeof value !== 'object' || value === null) return value;
      const key = canonicalJson(value);
      if (!parts.has(key)) parts.set(key, value);
      return parts.get(key) as T;
    };
    const answers = this.recordings.map(({ request, answer }) => {
      const { messages, tools, ...settings } = request;
      return {
        request: {
          ...settings,
          ...(tools !== undefined && { tools: once(tools) }),
          ...(messages !== undefined && { messages: Array.isArray(messages) ? messages.map(once) : messages }),
        },
        answer,
      };
    });
    const document = new Document({ format: FORMAT, recordedAt: new Date(this.recordedAt).toISOString(), answers });
    document.commentBefore = ` ${comment}`;
    return document.toString({ lineWidth: 0 });
  }
}

const requestHash = (request: RecordedRequest): string => sha256(canonicalJson(request));

/** @returns undefined where there is no such file. @throws CassetteError for one that can't be read */
export async function readCassette(file: string): Promise<Cassette | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CassetteError(`${file} can't be read: ${(error as Error).message}`, { cause: error });
  }
  if (Buffer.byteLength(text) > MAX_BYTES) throw new CassetteError(`${file} is larger than 64 MiB: record it again with fewer attempts`);
  const { format, recordedAt, answers } = (parseContent(file, text) ?? {}) as Readonly<Record<string, unknown>>;
  const time = Date.parse(String(recordedAt));
  if (format !== FORMAT || !Array.isArray(answers) || Number.isNaN(time))
    throw new CassetteError(`${file} is no recording of this version: run the test with --record`);
  const broken = answers.findIndex((answer) => !isRecording(answer));
  if (broken >= 0) throw new CassetteError(`${file}: answers[${broken}] has no readable request or answer: run the test with --record`);
  return new Cassette({ recordedAt: time, recordings: answers });
}

function parseContent(file: string, text: string): unknown {
  try {
    return readYaml(text, { maxExpansion: MAX_EXPANSION })[0]?.value;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new CassetteError(`${file} can't be used: ${error.message}`, { cause: error });
  }
}

/** The fields of which every answer has at least one. */
const ANSWER_FIELDS = ['stream', 'body', 'failed'] satisfies readonly (keyof RecordedAnswer)[];

/** Checks the shape, because people edit and merge these files. */
function isRecording(value: unknown): value is Recording {
  const { request, answer } = isObject(value) ? value : {};
  if (!isObject(request) || !isObject(answer)) return false;
  const { stream = [], body = '' } = answer;
  if (!ANSWER_FIELDS.some((name) => name in answer)) return false;
  return Array.isArray(stream) && [...(stream as readonly unknown[]), body].every((data) => typeof data === 'string');
}

/** Replaces the file as a whole or not at all: people committed the one that is there. */
export async function writeCassette(file: string, cassette: Cassette, comment: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, cassette.toYaml(comment));
  await rename(`${file}.new`, file);
}
