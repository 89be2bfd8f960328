/**
 * Redacts the records of a call on their way to the database: before anything of a message, of arguments or of a result is stored.
 *
 * Records keep their order. A number that is dictated over several messages is known with its last digits: records wait for them in memory,
 * {@link HELD_MS} at most.
 */
import { findInDictation, isDictation } from '../../calls/redaction/dictation.ts';
import type { Finding } from '../../calls/redaction/kinds.ts';
import type { ModelFinder } from '../../calls/redaction/model-finder.ts';
import type { Redactor } from '../../calls/redaction/redactor.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import type { Entry } from '../conversation/entry.ts';

/** Longest wait for the rest of a dictated number, in milliseconds. */
const HELD_MS = 30_000;
/** Most messages of one dictated number. */
const MOST_PARTS = 12;

/** Stands in the place of a text that the model could not be asked about. */
export const NOT_CHECKED = '[not checked]';

export interface RedactingLogOptions {
  readonly redactor: Redactor;
  /** Asks the model what is personal; absent where it isn't asked. */
  readonly model?: Pick<ModelFinder, 'find'> | undefined;
  /** Values that the redactor has taken out, by kind. */
  readonly counts?: ReadonlyMap<string, number> | undefined;
  readonly clock: Clock;
}

interface Checked {
  readonly entry: Entry;
  /** What its message is a part of, with the messages around it. */
  readonly dictated: readonly Finding[];
}

export class RedactingLog {
  readonly #options: RedactingLogOptions;
  #waiting: readonly Entry[] = [];
  /** Number of records that are being redacted. */
  #underway = 0;
  #working: Promise<void> | undefined;
  #timer: Timer | undefined;
  #waitsNoMore = false;
  #closed = false;
  #to: (entries: readonly Entry[]) => void = () => undefined;

  constructor(options: RedactingLogOptions) {
    this.#options = options;
  }

  /** Values that were taken out so far, by kind; undefined while there are none. */
  get counts(): Readonly<Record<string, number>> | undefined {
    const { counts } = this.#options;
    return counts === undefined || counts.size === 0 ? undefined : Object.fromEntries(counts);
  }

  /** Number of records that are not handed on. */
  get waiting(): number {
    return this.#waiting.length + this.#underway;
  }

  /** @param to takes the redacted records */
  forward(to: (entries: readonly Entry[]) => void): void {
    this.#to = to;
  }

  add(entries: readonly Entry[]): void {
    this.#waiting = [...this.#waiting, ...entries];
    this.#working ??= this.#work();
  }

  /** Waits for nothing more. Resolves when all records are handed on. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    this.#working ??= this.#work();
    await this.#working;
  }

  async #work(): Promise<void> {
    // Records of one moment go together.
    await Promise.resolve();
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      this.#underway = batch.length;
      const checked = await this.#askModel(batch);
      this.#underway = 0;
      this.#to(batch.map((each) => this.#redacted(each, checked)));
    }
    // Ends in the same turn as the last look at what waits.
    this.#working = undefined;
  }

  /** Takes the records that wait for no other one. */
  #take(): readonly Checked[] {
    const { redactor, clock } = this.#options;
    const dictated = new Map<Entry, readonly Finding[]>();
    let open: Entry[] = [];
    const end = (): boolean => {
      const texts = open.map(({ message }) => message?.content ?? '');
      const { findings, complete } = findInDictation(texts, redactor.language, (text) => redactor.find(text));
      for (const [index, entry] of open.entries()) dictated.set(entry, findings[index] ?? []);
      return complete;
    };
    for (const entry of this.#waiting) {
      if (entry.message?.role !== 'user') continue;
      if (redactor.findsNumbers && isDictation(entry.message.content, redactor.language)) open.push(entry);
      else {
        end();
        open = [];
      }
    }
    const over = end() || this.#closed || this.#waitsNoMore || open.length >= MOST_PARTS;
    const from = over || open[0] === undefined ? this.#waiting.length : this.#waiting.indexOf(open[0]);
    const taken = this.#waiting.slice(0, from);
    this.#waiting = this.#waiting.slice(from);
    this.#waitsNoMore = false;
    this.#timer?.cancel();
    this.#timer = this.#waiting.length === 0 ? undefined : clock.after(HELD_MS, () => this.#late());
    return taken.map((entry) => ({ entry, dictated: dictated.get(entry) ?? [] }));
  }

  #late(): void {
    this.#waitsNoMore = true;
    this.#working ??= this.#work();
  }

  /** @returns false where the model could not be asked */
  async #askModel(batch: readonly Checked[]): Promise<boolean> {
    const { model, redactor } = this.#options;
    const texts = batch.flatMap(({ entry }) => textsOf(entry));
    if (model === undefined || texts.length === 0) return true;
    const found = await model.find(texts);
    if (found !== undefined) redactor.remember(found);
    return found !== undefined;
  }

  #redacted({ entry, dictated }: Checked, checked: boolean): Entry {
    const { redactor } = this.#options;
    const { message, toolCall } = entry;
    const text = (content: string, more: readonly Finding[] = []): string => (checked ? redactor.redact(content, more) : NOT_CHECKED);
    return {
      ...entry,
      ...(message && { message: { ...message, content: text(message.content, dictated) } }),
      ...(toolCall && {
        toolCall: {
          ...toolCall,
          arguments: checked && toolCall.arguments !== null ? (redactor.redactValue(toolCall.arguments) as JsonObject) : null,
          result: checked ? redactor.redactText(toolCall.result) : NOT_CHECKED,
        },
      }),
    };
  }
}

const textsOf = ({ message, toolCall }: Entry): readonly string[] => [
  ...(message === undefined ? [] : [message.content]),
  ...(toolCall === undefined ? [] : [JSON.stringify(toolCall.arguments), toolCall.result]),
];
