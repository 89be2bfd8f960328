/** Puts the events of a call into one order: from its record, and from the live transcript, which is ahead of the record. */
import type { SpokenLine } from '../../../calls/live-transcript.ts';
import { startOf, type ShownCall, type Message, type Source, type ToolCall, type Turn } from './record.ts';

export interface SpokenEntry {
  readonly kind: 'spoken';
  /** Stays the same for the same entry as long as the page shows the call. */
  readonly key: string;
  readonly role: 'agent' | 'user';
  readonly text: string;
  readonly final: boolean;
  readonly interrupted: boolean;
  /** Seconds since the start of the call; undefined until it is recorded. */
  readonly second: number | undefined;
  readonly sources: readonly Source[];
  /** Latencies of the answer. */
  readonly turn: Turn | undefined;
}

export interface ToolEntry {
  readonly kind: 'tool';
  readonly key: string;
  readonly second: number;
  readonly call: ToolCall;
}

export type TimelineEntry = SpokenEntry | ToolEntry;

export function recordedTimeline(call: ShownCall): readonly TimelineEntry[] {
  const start = startOf(call);
  const secondOf = (timestamp: string): number => Math.max(0, (Date.parse(timestamp) - start) / 1_000);
  const spoken = call.messages.map(({ role, content, timestamp, interrupted, sources = [] }, index): SpokenEntry => ({
    kind: 'spoken',
    key: `message ${index}`,
    role,
    text: content,
    final: true,
    interrupted,
    second: secondOf(timestamp),
    sources,
    turn: role === 'agent' ? call.turns.find((turn) => turn.timestamp === timestamp) : undefined,
  }));
  const tools = call.tool_calls.map((tool, index): ToolEntry => ({
    kind: 'tool',
    key: `tool ${index}`,
    second: secondOf(tool.timestamp),
    call: tool,
  }));
  return [...spoken, ...tools].toSorted((left, right) => (left.second ?? 0) - (right.second ?? 0));
}

/**
 * Places lines that the record doesn't have yet behind the recorded message that they follow, and behind the entries that belong to it.
 * @param options.before how many messages the record had before the first line came
 */
export function liveTimeline(
  call: ShownCall | undefined,
  lines: readonly SpokenLine[],
  { before = 0 }: { readonly before?: number } = {},
): readonly TimelineEntry[] {
  const recorded = call === undefined ? [] : recordedTimeline(call);
  const ahead = linesAhead(call?.messages ?? [], lines, before);
  const timeline: TimelineEntry[] = [];
  let message = -1;
  const addAhead = (): void => {
    for (const { line, after } of ahead) if (after === message) timeline.push(liveEntry(line));
  };
  for (const entry of recorded) {
    if (entry.kind === 'spoken') {
      addAhead();
      message += 1;
    }
    timeline.push(entry);
  }
  addAhead();
  return timeline;
}

function liveEntry({ id, role, text, final }: SpokenLine): SpokenEntry {
  return { kind: 'spoken', key: `line ${id}`, role, text, final, interrupted: false, second: undefined, sources: [], turn: undefined };
}

/** @returns the lines that no message has, each with the index of the message that it follows; -1 before the first one */
function linesAhead(
  messages: readonly Message[],
  lines: readonly SpokenLine[],
  before: number,
): readonly { readonly line: SpokenLine; readonly after: number }[] {
  // A message may consist of several lines: this holds, for each message, the words that no line has claimed.
  const unclaimed = messages.map(({ content }, index) => (index < before ? '' : normalizedWords(content)));
  let after = before - 1;
  return lines.flatMap((line) => {
    const words = normalizedWords(line.text);
    const found = line.final
      ? unclaimed.findIndex((rest, index) => messages[index]?.role === line.role && rest !== '' && agree(rest, words))
      : -1;
    if (found < 0) return [{ line, after }];
    const rest = unclaimed[found] ?? '';
    unclaimed[found] = words.startsWith(rest) ? '' : rest.slice(rest.indexOf(words) + words.length).trim();
    after = Math.max(after, found);
    return [];
  });
}

/** Compares a live line with the record, which has only the heard part of an interrupted answer. */
function agree(rest: string, words: string): boolean {
  return words !== '' && (` ${rest} `.includes(` ${words} `) || words.startsWith(rest));
}

function normalizedWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
