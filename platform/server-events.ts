/** Reads Server-Sent Events whose data are JSON. Source: https://html.spec.whatwg.org/multipage/server-sent-events.html */
import { linesOf } from './lines-of.ts';

export interface ServerEvent {
  readonly event: string;
  /** Where to go on behind this event; undefined for one that has no place. */
  readonly id: string | undefined;
  readonly data: unknown;
}

/** Yields the events of an answer as they come, without its comments. */
export async function* serverEventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  let fields = new Map<string, string>();
  for await (const line of linesOf(body)) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart());
    if (line !== '') continue;
    const [event, id, data] = ['event', 'id', 'data'].map((name) => fields.get(name));
    if (event !== undefined && data !== undefined) yield { event, id, data: JSON.parse(data) };
    fields = new Map();
  }
}
