/** Makes events that can't be wrong: name and payload belong together, and the body is made once. */
import { traceFor } from '../platform/telemetry/tracing.ts';
import { uuidv7At } from '../platform/uuid.ts';
import type { NewEvent } from '../store/index.ts';
import { eventCatalogue, type EventName, type EventPayload } from './catalogue.ts';
import { envelopeBytes } from './envelope.ts';

interface EventFacts {
  readonly org: string;
  /** Name of the Agent it is about: subscriptions of single agents and an agent's own address match it. */
  readonly agent?: string | undefined;
  /** Label `parley.dev/workspace` of what it is about. */
  readonly workspace?: string | undefined;
  /** Uid of the one subscription that is to get it. */
  readonly onlySubscription?: string | undefined;
  /** Uid of the one subscription that is not to get it. */
  readonly exceptSubscription?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** When it happened, in milliseconds since the epoch; `now` by default. */
  readonly at?: number | undefined;
  /** Trace of what the event is about, where that has one of its own. */
  readonly traceparent?: string | null | undefined;
  /** UUIDv7; a new one by default. */
  readonly id?: string | undefined;
}

export interface EventToBuild<N extends EventName> extends EventFacts {
  readonly name: N;
  readonly payload: EventPayload<N>;
}

/**
 * Builds an event for `insertEvents`, in the transaction of the change that it reports.
 *
 * @throws ZodError for a payload that isn't the event's: a defect of the caller
 */
export function buildEvent<N extends EventName>(event: EventToBuild<N>): NewEvent {
  const payload = eventCatalogue[event.name].payload.parse(event.payload);
  return { ...composeEvent({ ...event, payload }), ...('call_id' in payload && { callId: payload.call_id }) };
}

/** Composes an event with a given payload, to try receivers with. */
export function composeEvent(event: EventFacts & { readonly name: EventName; readonly payload: object }): NewEvent {
  const { name, org, agent, workspace, onlySubscription, exceptSubscription, payload, now, at = now } = event;
  const id = event.id ?? uuidv7At(now);
  return {
    id,
    org,
    name,
    agent,
    workspace,
    onlySubscription,
    exceptSubscription,
    body: envelopeBytes({ id, org, name, at, payload }),
    traceparent: traceFor(event.traceparent)?.traceparent,
  };
}
