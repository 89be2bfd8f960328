/** Follows a call as clients do: reads its Server-Sent Events. */
export interface SentEvent {
  readonly event: string;
  readonly id?: string;
  // Tests look freely into what is sent.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

export interface FollowedCall {
  readonly status: number;
  /** What has come so far. */
  readonly events: readonly SentEvent[];
  /** Resolves when the server has ended the stream, or the client has left. */
  readonly ended: Promise<void>;
  leave(): void;
}

/** Opens the events of a call. */
export async function followCall(options: {
  readonly url: string;
  readonly key: string;
  readonly id: string;
  readonly lastEventId?: string | undefined;
}): Promise<FollowedCall> {
  const { url, key, id, lastEventId } = options;
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${key}`, ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
  const response = await fetch(`${url}/v1/calls/${id}/events`, { headers, signal: leaving.signal });
  const events: SentEvent[] = [];
  const read = async (): Promise<void> => {
    let text = '';
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      text += Buffer.from(part).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      events.push(...blocks.flatMap(readEvent));
    }
  };
  return { status: response.status, events, ended: read().catch(() => undefined), leave: () => leaving.abort() };
}

function readEvent(block: string): readonly SentEvent[] {
  const fields = new Map(block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]));
  const [event, id] = [fields.get('event'), fields.get('id')];
  if (event === undefined) return [];
  return [{ event, ...(id !== undefined && { id }), data: JSON.parse(fields.get('data') ?? 'null') }];
}
