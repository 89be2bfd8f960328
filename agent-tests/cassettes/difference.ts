/** Describes what has changed in a request since the most similar one was recorded: the prompt, a tool, a message. */
import { canonicalJson } from '../../platform/canonical-json.ts';
import { cutText } from '../../platform/cut-text.ts';
import type { RecordedRequest, Recording } from './cassette.ts';

interface Message {
  readonly role?: string;
  readonly content?: unknown;
}

const MAX_SHOWN = 200;

export function differenceFromNearest(request: RecordedRequest, recordings: readonly Recording[]): string {
  const nearest = recordings
    .map((recording) => ({ recorded: recording.request, common: likeness(request, recording.request) }))
    .reduce<{ readonly recorded: RecordedRequest; readonly common: number } | undefined>(
      (best, one) => (best === undefined || one.common > best.common ? one : best),
      undefined,
    );
  if (nearest === undefined) return 'nothing is recorded';
  return `compared with the most similar recorded request, ${changesOf(nearest.recorded, request).join('; ') || 'nothing has changed'}`;
}

const messagesOf = ({ messages }: RecordedRequest): readonly Message[] => (Array.isArray(messages) ? (messages as readonly Message[]) : []);

/** Scores how alike two requests are: equal messages at equal places count most, then a close length. */
function likeness(a: RecordedRequest, b: RecordedRequest): number {
  const [first, second] = [messagesOf(a), messagesOf(b)];
  const equal = first.filter((message, index) => canonicalJson(message) === canonicalJson(second[index] ?? null)).length;
  const equalSettings = a.model === b.model && canonicalJson(a['response_format'] ?? null) === canonicalJson(b['response_format'] ?? null);
  return equal * 10 - Math.abs(first.length - second.length) + (equalSettings ? 5 : 0);
}

function changesOf(before: RecordedRequest, now: RecordedRequest): readonly string[] {
  const settings = [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((name) => name !== 'messages' && name !== 'tools' && canonicalJson(before[name] ?? null) !== canonicalJson(now[name] ?? null))
    .map((name) => `${name} was ${brief(before[name])} and is ${brief(now[name])}`);
  return [...settings, ...toolChanges(before['tools'], now['tools']), ...messageChanges(messagesOf(before), messagesOf(now))];
}

function toolChanges(before: unknown, now: unknown): readonly string[] {
  const [old, current] = [toolsByName(before), toolsByName(now)];
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((name) => {
    if (!old.has(name)) return [`the tool ${name} is new`];
    if (!current.has(name)) return [`the tool ${name} is gone`];
    return old.get(name) === current.get(name) ? [] : [`the tool ${name} has changed`];
  });
}

function toolsByName(tools: unknown): ReadonlyMap<string, string> {
  const list = Array.isArray(tools) ? (tools as readonly { readonly function?: { readonly name?: string } }[]) : [];
  return new Map(list.map((tool) => [tool.function?.name ?? '', canonicalJson(tool)]));
}

/** Describes the first message that differs: the later ones follow from it. */
function messageChanges(before: readonly Message[], now: readonly Message[]): readonly string[] {
  const at = now.findIndex((message, index) => canonicalJson(message) !== canonicalJson(before[index] ?? null));
  if (at < 0) return before.length === now.length ? [] : [`the conversation has ${now.length} messages and not ${before.length}`];
  const [old, current] = [before[at], now[at]];
  const who =
    current?.role === 'system' || current?.role === 'developer' ? 'the system prompt' : `message ${at + 1} (${current?.role ?? 'no role'})`;
  if (old === undefined) return [`${who} is new: ${brief(current?.content)}`];
  const [was, is] = firstChange(formatContent(old.content), formatContent(current?.content));
  return was === is ? [`${who} has changed`] : [`${who} has changed: it was ${brief(was)} and is ${brief(is)}`];
}

const formatContent = (content: unknown): string => (typeof content === 'string' ? content : canonicalJson(content ?? null));

function firstChange(before: string, now: string): readonly [string, string] {
  const [old, current] = [before.split('\n'), now.split('\n')];
  const at = current.findIndex((line, index) => line !== old[index]);
  return at < 0 ? [old[current.length] ?? '', ''] : [old[at] ?? '', current[at] ?? ''];
}

function brief(value: unknown): string {
  const text = value === undefined ? 'absent' : typeof value === 'string' ? JSON.stringify(value) : canonicalJson(value);
  return cutText(text, MAX_SHOWN);
}
