/** Redacts the events of a call that is deleted: they still say that they happened, but nothing of what was said or with whom. */
import type { EventName, EventPayload } from './catalogue.ts';
import type { Envelope } from './envelope.ts';

type CallEventName = Extract<EventName, `Call${string}`>;

/** Undefined for an event that says nothing of a call's content. */
const redactions: { readonly [N in CallEventName]: ((payload: EventPayload<N>) => EventPayload<N>) | undefined } = {
  'CallHandler.CallStarted': undefined,
  'CallHandler.CallEnded': undefined,
  'CallHandler.CallHandedOver': undefined,
  'CallHandler.RecordingReady': undefined,
  'CallHandler.CallTransferred': (payload) => ({ ...payload, transfer_to: 'deleted' }),
  'CallAnalysis.Completed': (payload) => ({ ...payload, items: payload.items.map(({ name }) => ({ name, result: null })) }),
};

/** @returns the body to send from now on; undefined where the event says nothing of a call's content */
export function redact({ name, body }: { readonly name: string; readonly body: Uint8Array }): Uint8Array | undefined {
  const redaction = redactions[name as CallEventName] as ((payload: unknown) => unknown) | undefined;
  if (redaction === undefined) return undefined;
  const envelope = JSON.parse(Buffer.from(body).toString()) as Envelope;
  return Buffer.from(JSON.stringify({ ...envelope, payload: redaction(envelope.payload) }));
}
