/**
 * The items of a realtime session, compared with the history that a request has. What fits stays, sound above all: the rest is deleted, or
 * created as text where it belongs. Pure.
 */
import type { JsonObject } from '../../../platform/json.ts';
import { chatMessagesOf } from '../llm/chat-messages.ts';
import type { HistoryItem } from '../llm/history.ts';

/** An item that the session has. */
export interface SessionItem {
  readonly id: string;
  readonly kind: 'user' | 'agent' | 'call' | 'result';
  /** What it says, in words; undefined for sound whose words are not known yet. */
  readonly words: string | undefined;
  /** True for sound of the user. Several may be one turn. */
  readonly isSound?: true;
}

/** An item that the history wants. */
interface WantedItem {
  readonly kind: SessionItem['kind'];
  readonly words: string;
  /** The item as it is created. */
  readonly item: JsonObject;
}

export interface CreatedItem {
  /** Id of the item before it; `root` for the first. */
  readonly after: string;
  readonly item: JsonObject;
}

export interface ItemChanges {
  readonly deleted: readonly string[];
  readonly created: readonly CreatedItem[];
  /** The items of the session afterwards. */
  readonly items: readonly SessionItem[];
}

/** An item whose words are known. */
type KnownItem = SessionItem & { readonly words: string };

/** Items that stand for one item of the history. */
interface Unit {
  readonly items: readonly SessionItem[];
  readonly key: string;
}

/** @param newId makes the id of an item that is created */
export function changesFor(present: readonly SessionItem[], history: readonly HistoryItem[], newId: () => string): ItemChanges {
  const wanted = wantedItems(history);
  // Words of sound that are still to come are not of this history.
  const pending = present.filter(({ words }) => words === undefined);
  const known = present.filter((item): item is KnownItem => item.words !== undefined);
  const units = unitsOf(
    known.filter((item) => !isNoise(item)),
    new Set(wanted.map(keyOf)),
  );
  const kept = longestCommon(
    units.map(({ key }) => key),
    wanted.map(keyOf),
  );
  const items: SessionItem[] = [];
  const created: CreatedItem[] = [];
  for (const [index, { kind, words, item }] of wanted.entries()) {
    const unit = kept.get(index);
    if (unit !== undefined) {
      items.push(...units[unit]!.items);
      continue;
    }
    const id = newId();
    created.push({ after: items.at(-1)?.id ?? 'root', item: { id, ...item } });
    items.push({ id, kind, words });
  }
  const stays = new Set(kept.values());
  const others = units.flatMap((unit, index) => (stays.has(index) ? [] : unit.items));
  const deleted = [...known.filter(isNoise), ...others].map(({ id }) => id);
  return { deleted, created, items: [...items, ...pending] };
}

/** Words of a call: it is the same one whatever spaces its arguments have. */
export const callWords = (callId: string, name: string): string => `${callId} ${name}`;

const isNoise = ({ isSound, words }: SessionItem): boolean => isSound === true && words?.trim() === '';

const keyOf = ({ kind, words }: Pick<WantedItem, 'kind' | 'words'>): string => `${kind} ${words.replace(/\s+/g, ' ').trim()}`;

/** Joins the sounds of one turn: the longest run of them whose words are those of a message. */
function unitsOf(items: readonly KnownItem[], wanted: ReadonlySet<string>): readonly Unit[] {
  const units: Unit[] = [];
  for (let from = 0; from < items.length;) {
    let to = from + 1;
    let key = keyOf(items[from]!);
    let words = items[from]!.words;
    for (let end = from + 1; items[from]!.isSound && items[end]?.isSound; end += 1) {
      words += ` ${items[end]!.words}`;
      const joined = keyOf({ kind: 'user', words });
      if (wanted.has(joined)) [to, key] = [end + 1, joined];
    }
    units.push({ items: items.slice(from, to), key });
    from = to;
  }
  return units;
}

/** Returns for places in the second list those of the first that stand for them: as many as can stay in their order. */
function longestCommon(present: readonly string[], wanted: readonly string[]): ReadonlyMap<number, number> {
  const kept = new Map<number, number>();
  let start = 0;
  for (; start < present.length && present[start] === wanted[start]; start += 1) kept.set(start, start);
  const [rows, columns] = [present.length - start, wanted.length - start];
  const lengths = Array.from({ length: rows + 1 }, () => Array.from({ length: columns + 1 }, () => 0));
  for (let row = rows - 1; row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1)
      lengths[row]![column] =
        present[start + row] === wanted[start + column]
          ? lengths[row + 1]![column + 1]! + 1
          : Math.max(lengths[row + 1]![column]!, lengths[row]![column + 1]!);
  for (let row = 0, column = 0; row < rows && column < columns;)
    if (present[start + row] === wanted[start + column]) kept.set(start + column++, start + row++);
    else if (lengths[row + 1]![column]! >= lengths[row]![column + 1]!) row += 1;
    else column += 1;
  return kept;
}

interface ChatMessage {
  readonly role?: unknown;
  readonly content?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[];
}

/** Goes by the messages that other models get, so that all of them know the same. */
const wantedItems = (history: readonly HistoryItem[]): readonly WantedItem[] =>
  (chatMessagesOf({ instructions: '', history }) as readonly ChatMessage[]).flatMap((message) =>
    [wordsOf(message), callsOf(message)].flat(),
  );

function wordsOf({ role, content = '', tool_call_id: answers }: ChatMessage): readonly WantedItem[] {
  if (answers !== undefined)
    return [{ kind: 'result', words: `${answers} ${content}`, item: { type: 'function_call_output', call_id: answers, output: content } }];
  if (content === '') return [];
  const [kind, by, type] = role === 'user' ? (['user', 'user', 'input_text'] as const) : (['agent', 'assistant', 'output_text'] as const);
  return [{ kind, words: content, item: { type: 'message', role: by, content: [{ type, text: content }] } }];
}

const callsOf = ({ tool_calls: calls = [] }: ChatMessage): readonly WantedItem[] =>
  calls.map(({ id, function: { name, arguments: args } }) => ({
    kind: 'call',
    words: callWords(id, name),
    item: { type: 'function_call', call_id: id, name, arguments: args },
  }));
