/** Shows a call as a list of messages, with their sources and latencies, and of tool calls. */
import { clockText, resultText, secondsText, sourceFiles, toolText } from '../../session/texts.ts';
import type { SpokenEntry, TimelineEntry, ToolEntry } from '../../session/timeline.ts';
import { make, showList } from './dom.ts';
import { makeLatency } from './latency-view.ts';

export interface TimelineOptions {
  /** The name that the page gives the user. */
  readonly user: string;
  /** Makes times buttons that play the recording from there, where it is given. */
  readonly seek?: (second: number) => void;
}

export function showTimeline(list: HTMLElement, entries: readonly TimelineEntry[], options: TimelineOptions): void {
  // A time that becomes a button changes the key, so that its entry is made anew.
  const isHeard = options.seek !== undefined;
  showList(
    list,
    entries.map((entry) => ({ ...entry, isHeard })),
    (entry) => (entry.kind === 'tool' ? toolItem(entry, options) : spokenItem(entry, options)),
  );
}

function spokenItem({ role, text, final, interrupted, second, sources, turn }: SpokenEntry, options: TimelineOptions): HTMLElement {
  const body = make('div', { class: 'body' }, make('p', { class: 'words' }, text));
  // The text ends where the user cut in.
  if (interrupted) body.firstElementChild?.append(make('span', { class: 'interrupted' }, ' — interrupted'));
  const tags = sourceFiles(sources).map(({ filename, score }) =>
    make(
      'li',
      { class: 'tag source', title: 'How well it fits, from 0 to 1' },
      `${filename} `,
      make('span', { class: 'quiet' }, score.toFixed(2)),
    ),
  );
  if (tags.length > 0) body.append(make('ul', { class: 'tags' }, ...tags));
  if (turn !== undefined) body.append(makeLatency(turn));
  const head = make(
    'div',
    { class: 'head' },
    make('span', { class: 'who' }, role === 'user' ? options.user : 'Agent'),
    timeOf(second, options),
  );
  return make('li', { class: final ? role : `${role} interim` }, head, body);
}

function toolItem({ call, second }: ToolEntry, options: TimelineOptions): HTMLElement {
  const summary = make(
    'summary',
    {},
    make('code', {}, toolText(call)),
    make('span', { class: call.is_error ? 'tag failed' : 'tag' }, `${call.is_error ? 'failed, ' : ''}${secondsText(call.duration_ms)}`),
  );
  const body = make('details', { class: 'body' }, summary, make('pre', {}, resultText(call.result)));
  const head = make('div', { class: 'head' }, make('span', { class: 'who' }, 'Tool'), timeOf(second, options));
  return make('li', { class: 'tool' }, head, body);
}

function timeOf(second: number | undefined, { seek }: TimelineOptions): HTMLElement {
  if (second === undefined) return make('span', { class: 'time' });
  const text = clockText(second);
  if (seek === undefined) return make('span', { class: 'time' }, text);
  const button = make('button', { type: 'button', class: 'time', 'aria-label': `Play from ${text}` }, text);
  button.addEventListener('click', () => seek(second));
  return button;
}
