import { beforeEach, describe, expect, it } from 'vitest';

import { Redactor, type KnownValue } from '../../calls/redaction/redactor.ts';
import { createLogger } from '../../platform/logging.ts';
import type { CallLogRows } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { Entry } from '../conversation/entry.ts';
import { LogWriter } from './log-writer.ts';
import { RedactingLog, type RedactingLogOptions } from './redacting-log.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

let clock: FakeClock;
let stored: string[];
let seq: number;

beforeEach(() => {
  clock = new FakeClock();
  stored = [];
  seq = 0;
});

function writerWith(model?: RedactingLogOptions['model']): LogWriter {
  const writer = new LogWriter({
    log: {
      async add(_call, { messages = [], toolCalls = [] }: Partial<CallLogRows>) {
        const lines = [
          ...messages.map((each) => [each.seq, each.content] as const),
          ...toolCalls.map((each) => [each.seq, `${JSON.stringify(each.arguments)} ${each.result}`] as const),
        ];
        stored.push(...lines.toSorted(([a], [b]) => a - b).map(([, line]) => line));
      },
    },
    call: { org: 'o', id: 'c' },
    clock,
    logger: createLogger({ role: 'voice', level: 'silent' }),
  });
  const redactor = new Redactor({ spec: { kinds: ['Card', 'Phone', 'Name'] }, language: 'en', thisYear: 2026 });
  writer.redact(new RedactingLog({ redactor, model, clock }));
  return writer;
}

const said = (role: 'user' | 'agent', content: string): Entry => ({
  message: { seq: (seq += 1), role, content, spokenAt: new Date(0), interrupted: false, sources: null },
});
const user = (content: string): Entry => said('user', content);
const agent = (content: string): Entry => said('agent', content);
const tool = (args: Readonly<Record<string, unknown>>, result: string): Entry => ({
  toolCall: { seq: (seq += 1), name: 't', arguments: args, result, failed: false, beganAt: new Date(0), durationMs: 1 },
});

describe('a log that redacts', () => {
  it('stores messages, arguments and results without what is personal', async () => {
    const writer = writerWith();
    writer.add([user('Call me at +49 30 901820.'), tool({ phone: '+4930901820' }, '{"ok":true,"number":"+4930901820"}'), agent('Done.')]);
    await settled();
    expect(stored).toEqual(['Call me at [phone].', '{"phone":"[phone]"} {"ok":true,"number":"[phone]"}', 'Done.']);
    expect(await writer.close({ withinMs: 1_000 })).toBe(0);
  });

  it('finds a number that is dictated over several messages, and what is said of it in between', async () => {
    const writer = writerWith();
    for (const entry of [user("It's 4242"), agent('4242, go on.'), user('forty-two forty-two'), agent('Yes?'), user('4242, then')]) {
      writer.add([entry]);
      await settled();
    }
    expect(stored).toEqual([]);
    writer.add([user('four two'), agent('And?'), user('four two')]);
    await settled();
    expect(stored).toEqual(["It's [card]", '[card], go on.', '[card]', 'Yes?', '[card], then', '[card]', 'And?', '[card]']);
  });

  it('stores digits that were no such number, once something else is said', async () => {
    const writer = writerWith();
    writer.add([user('42 please')]);
    await settled();
    expect(stored).toEqual([]);
    writer.add([user('That was the number of the room.')]);
    await settled();
    expect(stored).toEqual(['42 please', 'That was the number of the room.']);
  });

  it('waits half a minute for the rest of a number, and no longer than the call', async () => {
    const writer = writerWith();
    writer.add([user('4242')]);
    await settled();
    expect(clock.nextIn).toBe(30_000);
    clock.tick(30_000);
    await settled();
    expect(stored).toEqual(['4242']);
    writer.add([user('4242')]);
    expect(await writer.close({ withinMs: 1_000 })).toBe(0);
    expect(stored).toEqual(['4242', '4242']);
  });
});

describe('a log that asks the model', () => {
  it('asks before anything is stored, and takes out what it names from then on', async () => {
    const asked: (readonly string[])[] = [];
    const { promise, resolve } = Promise.withResolvers<readonly KnownValue[]>();
    const writer = writerWith({
      find: async (texts) => {
        asked.push(texts);
        return asked.length === 1 ? promise : [];
      },
    });
    writer.add([user('I am Ada Lovelace.'), tool({ name: 'Ada Lovelace' }, 'found')]);
    await settled();
    expect(stored).toEqual([]);
    resolve([{ kind: 'Name', value: 'Ada Lovelace' }]);
    await settled();
    writer.add([agent('Thank you, Ada Lovelace.')]);
    await settled();
    expect(stored).toEqual(['I am [name].', '{"name":"[name]"} found', 'Thank you, [name].']);
    expect(asked[0]).toEqual(['I am Ada Lovelace.', '{"name":"Ada Lovelace"}', 'found']);
  });

  it('stores no text that the model could not be asked about', async () => {
    const writer = writerWith({ find: async () => undefined });
    writer.add([user('I am Ada.'), tool({ name: 'Ada' }, 'Ada')]);
    await writer.close({ withinMs: 1_000 });
    expect(stored).toEqual(['[not checked]', 'null [not checked]']);
  });

  it('loses what the model has not been asked about when the call is long over', async () => {
    const writer = writerWith({ find: () => new Promise(() => undefined) });
    writer.add([user('I am Ada.')]);
    await settled();
    const closed = writer.close({ withinMs: 1_000 });
    await settled();
    clock.tick(1_000);
    expect(await closed).toBe(1);
    expect(stored).toEqual([]);
  });
});
