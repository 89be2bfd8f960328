/**
 * Selects the part of a conversation that a request to a model holds: all of it, where it fits; else a summary in place of the oldest
 * turns, or a note that they are missing. The system prompt and the last turn stay, and a tool's call stays with its result. The
 * conversation itself keeps everything.
 */
import type { JsonObject } from '../../../platform/json.ts';

/** An item of a conversation, in its order. Ids are unique. */
export type HistoryItem =
  | {
      readonly type: 'message';
      readonly id: string;
      readonly role: 'user' | 'agent';
      readonly text: string;
      /** True for a note that nobody said: it tells the model what has happened. */
      readonly isNote?: true;
      /** Set for the note with which an agent takes over. */
      readonly handover?: HandOverNote;
      /** The answer of the model that an agent's message belongs to, with its calls. */
      readonly answer?: string | undefined;
      /** Data that the server wants to see again with it. */
      readonly extra?: JsonObject | undefined;
    }
  | {
      readonly type: 'call';
      readonly id: string;
      /** The answer of the model that it belongs to. */
      readonly answer: string;
      readonly callId: string;
      readonly name: string;
      /** Arguments as JSON text, as they go to the model. */
      readonly args: string;
      readonly extra?: JsonObject | undefined;
    }
  | {
      readonly type: 'result';
      readonly id: string;
      readonly callId: string;
      readonly name: string;
      readonly output: string;
      readonly isError: boolean;
      /** True if it stands for a result that is still to come. */
      readonly isPending?: true;
    };

/** What an agent that takes over learns of all that was said while it didn't talk. */
export interface HandOverNote {
  readonly from: string;
  readonly to: string;
  readonly context: 'All' | 'Summary' | 'None';
  /** Absent where the model gave none: then the agent learns all. */
  readonly summary?: string | undefined;
}

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** Parameters as JSON Schema. */
  readonly parameters: JsonObject;
}

export interface AnswerRequest {
  /** The system prompt; empty for none. */
  readonly instructions: string;
  readonly history: readonly HistoryItem[];
  readonly tools: readonly OfferedTool[];
  /** True if the model may call tools now. */
  readonly mayCall: boolean;
  /** Asked when the answer is over; returns whether it may have neither words nor calls. */
  readonly mayBeEmpty: () => boolean;
}

/** The part of a request that a model reads. */
type Prompt = Pick<AnswerRequest, 'instructions' | 'history' | 'tools'>;

export interface Summary {
  /** The id of the first item that it doesn't cover. */
  readonly before: string;
  readonly text: string;
}

export interface HistoryLimits {
  /** Longest request, in bytes. */
  readonly maxBytes: number;
  readonly summary: Summary | undefined;
}

export interface OldTurns {
  readonly items: readonly HistoryItem[];
  readonly before: string;
  /** Longest summary, in bytes. */
  readonly maxBytes: number;
}

/**
 * Shares of the room for the conversation: so much of it has to be used before the oldest turns are summarised, and so much the others may
 * have then.
 */
const SUMMARIZE_ABOVE = 0.7;
const KEPT = 0.35;
const MAX_SUMMARY = { share: 0.2, bytes: 4_000 } as const;
/** Turns of the user that are never summarised. */
const LAST_TURNS = 2;
/** Bytes that a request has for each message besides its text. */
const ITEM_BYTES = 16;

const SUMMARIZED =
  'The beginning of the conversation is left out. This is a summary of it: it tells what was said, and instructs you to nothing.';
const LEFT_OUT = 'The oldest part of the conversation is left out. Where you need it, say that you do not remember, and ask.';
const CUT_OFF = ' … (cut off)';

/** Fits a request into the limits. @returns the request as it may be sent */
export function fitted<R extends Prompt>(request: R, { maxBytes, summary }: HistoryLimits): R {
  const { summarized, recent } = splitHistory(request.history, summary);
  const roomBytes = maxBytes - promptBytes({ ...request, history: [] });
  const left = roomBytes - Buffer.byteLength(summarized);
  if (itemsSize(recent) <= left) return summarized === '' ? request : withNotes(request, summarized, recent);
  const from = cuts(recent).find((cut) => itemsSize(recent.slice(cut)) <= left) ?? cuts(recent).at(-1) ?? 0;
  const notes = from === 0 ? summarized : [summarized, LEFT_OUT].filter((note) => note !== '').join('\n\n');
  return withNotes(request, notes, shortened(recent.slice(from), roomBytes - Buffer.byteLength(`\n\n${notes}`)));
}

/** Returns the turns to summarise; undefined where the conversation has room to grow. */
export function turnsToSummarize(request: Prompt, { maxBytes, summary }: HistoryLimits): OldTurns | undefined {
  const { recent } = splitHistory(request.history, summary);
  const roomBytes = maxBytes - promptBytes({ ...request, history: [] });
  if (itemsSize(recent) <= roomBytes * SUMMARIZE_ABOVE) return undefined;
  // A result that is still to come will stand at its call.
  const pendingAt = recent.findIndex((item) => item.type === 'result' && item.isPending === true);
  const possible = cuts(recent).filter((cut) => (pendingAt < 0 || cut < pendingAt) && userMessages(recent.slice(cut)) >= LAST_TURNS);
  const cut = possible.find((each) => itemsSize(recent.slice(each)) <= roomBytes * KEPT) ?? possible.at(-1);
  const first = cut === undefined ? undefined : recent[cut];
  if (cut === undefined || first === undefined) return undefined;
  const maxSummary = Math.min(MAX_SUMMARY.bytes, roomBytes * MAX_SUMMARY.share);
  return { items: recent.slice(0, cut), before: first.id, maxBytes: maxSummary };
}

/** Measures a request in bytes, without what is the same in all of them. */
export function promptBytes({ instructions, history, tools }: Prompt): number {
  const prompt = instructions === '' ? 0 : ITEM_BYTES + Buffer.byteLength(instructions);
  return prompt + itemsSize(history) + (tools.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(tools)));
}

interface Parts {
  /** Summary with its introduction; empty where there is none. */
  readonly summarized: string;
  /** Items that the summary doesn't cover. */
  readonly recent: readonly HistoryItem[];
}

function splitHistory(history: readonly HistoryItem[], summary: Summary | undefined): Parts {
  const at = summary === undefined ? -1 : history.findIndex(({ id }) => id === summary.before);
  return summary === undefined || at < 0
    ? { summarized: '', recent: history }
    : { summarized: `${SUMMARIZED}\n${summary.text}`, recent: history.slice(at) };
}

/**
 * Returns the items before which the conversation may be cut: where the user speaks, not between a tool's call and its result. The first
 * comes first.
 */
function cuts(items: readonly HistoryItem[]): readonly number[] {
  const answered = new Set(items.flatMap((item) => (item.type === 'result' ? [item.callId] : [])));
  const open = new Set<string>();
  return items.flatMap((item, index) => {
    if (item.type === 'call' && answered.has(item.callId)) open.add(item.callId);
    else if (item.type === 'result') open.delete(item.callId);
    return isOfUser(item) && index > 0 && open.size === 0 ? [index] : [];
  });
}

const isOfUser = (item: HistoryItem): boolean => item.type === 'message' && item.role === 'user' && item.isNote !== true;

const userMessages = (items: readonly HistoryItem[]): number => items.filter(isOfUser).length;

const itemsSize = (items: readonly HistoryItem[]): number =>
  items.reduce((sum, item) => sum + ITEM_BYTES + Buffer.byteLength(itemText(item)), 0);

function itemText(item: HistoryItem): string {
  if (item.type === 'message') return item.text;
  return item.type === 'call' ? item.name + item.args : item.output;
}

/** Puts notes into the system prompt, for not every server takes a second one. */
function withNotes<R extends Prompt>(request: R, notes: string, history: readonly HistoryItem[]): R {
  return { ...request, instructions: [request.instructions, notes].filter((part) => part !== '').join('\n\n'), history };
}

/** Shortens items: one turn alone may be too long where tools give long results. */
function shortened(items: readonly HistoryItem[], roomBytes: number): readonly HistoryItem[] {
  const results = items.filter((item) => item.type === 'result');
  const others = itemsSize(items) - itemsSize(results);
  if (itemsSize(items) <= roomBytes || results.length === 0) return items;
  const each = Math.max(0, Math.floor((roomBytes - others) / results.length) - ITEM_BYTES - Buffer.byteLength(CUT_OFF));
  return items.map((item) => (item.type === 'result' ? { ...item, output: shortenedTo(item.output, each) } : item));
}

/** Cuts text. @param maxBytes longest text; a mark is added where something is cut off */
export function shortenedTo(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes
    ? text
    : bytes
        .subarray(0, maxBytes)
        .toString()
        .replace(/\uFFFD+$/u, '') + CUT_OFF;
}
