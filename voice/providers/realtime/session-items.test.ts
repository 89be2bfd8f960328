import fc from 'fast-check';
import { expect, it } from 'vitest';

import type { HistoryItem } from '../llm/history.ts';
import { changesFor, type SessionItem } from './session-items.ts';

let made = 0;
const newId = (): string => `new-${(made += 1)}`;
const message = (role: 'user' | 'agent', text: string, id = newId()): HistoryItem => ({ type: 'message', id, role, text });
const sound = (id: string, words: string | undefined): SessionItem => ({ id, kind: 'user', words, isSound: true });

/** Carries the changes out as a server does. */
function changed(present: readonly SessionItem[], { deleted, created }: ReturnType<typeof changesFor>): readonly string[] {
  const ids = present.map(({ id }) => id).filter((id) => !deleted.includes(id));
  for (const { after, item } of created) {
    expect(after === 'root' || ids.includes(after)).toBe(true);
    ids.splice(after === 'root' ? 0 : ids.indexOf(after) + 1, 0, item['id'] as string);
  }
  return ids;
}

it('keeps sound whose words are those of a message, also where a turn has several', () => {
  const present = [sound('a', 'I am'), sound('noise', ''), sound('b', ' Ann '), sound('c', 'hello')];
  const history = [message('user', 'I am Ann'), message('user', 'hello')];
  expect(changesFor(present, history, newId)).toMatchObject({
    deleted: ['noise'],
    created: [],
    items: present.filter(({ words }) => words !== ''),
  });
});

it('writes an answer anew as far as it was heard, where it stood', () => {
  const present: SessionItem[] = [sound('a', 'go on'), { id: 'b', kind: 'agent', words: 'One two three' }, sound('c', 'stop')];
  const changes = changesFor(present, [message('user', 'go on'), message('agent', 'One'), message('user', 'stop')], newId);
  expect(changes).toMatchObject({
    deleted: ['b'],
    created: [{ after: 'a', item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'One' }] } }],
  });
});

it('leaves sound alone whose words are still to come', () => {
  const present = [sound('a', 'go on'), sound('b', undefined)];
  expect(changesFor(present, [message('user', 'go on')], newId)).toEqual({ deleted: [], created: [], items: present });
});

it('creates calls with their results, and knows the calls of the model by their ids', () => {
  const call: HistoryItem = { type: 'call', id: '1', answer: 'x', callId: 'c1', name: 'find', args: '{}' };
  const result: HistoryItem = { type: 'result', id: '2', callId: 'c1', name: 'find', output: '9', isError: false };
  const present: SessionItem[] = [{ id: 'a', kind: 'call', words: 'c1 find' }];
  expect(changesFor(present, [call, result], newId)).toMatchObject({
    deleted: [],
    created: [{ after: 'a', item: { type: 'function_call_output', call_id: 'c1', output: '9' } }],
  });
  expect(changesFor([], [call, result], newId).created).toMatchObject([
    { after: 'root', item: { type: 'function_call', call_id: 'c1', name: 'find', arguments: '{}' } },
    { item: { type: 'function_call_output' } },
  ]);
});

it('brings any session to any history, and changes nothing afterwards', () => {
  // Words that are said alone and as a part of others could stand for either; what is kept of them may change.
  const words = fc.constantFrom('', 'a', 'b', 'c', 'd', 'c d');
  const item = fc.oneof(
    words.map((text) => ({ kind: 'user' as const, words: text, isSound: true as const })),
    words.map((text) => ({ kind: 'agent' as const, words: text })),
  );
  const said = fc.tuple(fc.constantFrom('user' as const, 'agent' as const), fc.constantFrom('a', 'b', 'c d'));
  fc.assert(
    fc.property(fc.array(item, { maxLength: 8 }), fc.array(said, { maxLength: 8 }), (items, history) => {
      const present = items.map((each, index) => ({ id: `i${index}`, ...each }));
      const wanted = history.map(([role, text]) => message(role, text));
      const changes = changesFor(present, wanted, newId);
      expect(changed(present, changes)).toEqual(changes.items.map(({ id }) => id));
      const text = (of: readonly (readonly [string, string])[]) =>
        of
          .map(([who, what]) => (who === 'user' ? what : `${who} ${what}`))
          .join(' ')
          .replace(/\s+/g, ' ')
          .trim();
      expect(text(changes.items.map(({ kind, words: what }) => [kind, what!.trim()]))).toBe(text(history));
      expect(changesFor(changes.items, wanted, newId)).toMatchObject({ deleted: [], created: [] });
    }),
  );
});
