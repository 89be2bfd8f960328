import { microTime } from './timestamps.ts';
import type { KubeObject } from './types.ts';
import { present } from '../platform/present.ts';

export type EventType = 'Normal' | 'Warning';

export interface EventInput {
  readonly type: EventType;
  /** CamelCase, part of the API; at most 128 characters. */
  readonly reason: string;
  /** Text for people; beyond 1,024 bytes it is cut. Must hold no secret. */
  readonly message: string;
  /** The action that was done or tried: CamelCase, at most 128 characters. Default: the reason. */
  readonly action?: string;
}

/** `events.k8s.io/v1` Event, as far as it is written here. */
export interface KubeEvent extends KubeObject {
  readonly eventTime: string;
  readonly type: EventType;
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly regarding: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly series?: EventSeries;
}

export interface EventSeries {
  /** Times it happened, the first included; at least 2. */
  readonly count: number;
  readonly lastObservedTime: string;
}

/** The server's limits, in bytes and characters. */
const MAX_NOTE = 1024;
const MAX_WORD = 128;
const MAX_NAME = 253;

export interface EventContext {
  readonly controller: string;
  readonly instance: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Makes the name unique among events of the object. */
  readonly suffix: string;
}

export function eventOf(object: KubeObject, input: EventInput, context: EventContext): KubeEvent {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    // Events of cluster-scoped objects live in `default`, as those of all other components do.
    metadata: { namespace: namespace ?? 'default', name: `${name.slice(0, MAX_NAME - context.suffix.length - 1)}.${context.suffix}` },
    eventTime: microTime(context.now),
    type: input.type,
    reason: cut(input.reason, MAX_WORD),
    action: cut(input.action ?? input.reason, MAX_WORD),
    note: cut(input.message, MAX_NOTE),
    reportingController: context.controller,
    reportingInstance: cut(context.instance, MAX_WORD),
    regarding: present({ apiVersion: object.apiVersion, kind: object.kind, name, namespace, uid, resourceVersion }),
  };
}

/** Returns one key for events of one series: the same thing said of the same object. */
export function seriesKey(object: KubeObject, input: EventInput): string {
  const { name, namespace, uid } = object.metadata;
  return JSON.stringify([object.kind, namespace, name, uid, input.type, input.reason, input.action, input.message]);
}

/** `text` in at most `limit` UTF-8 bytes, never ending inside a character, with an ellipsis where something is missing. */
export function cut(text: string, limit: number): string {
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const ellipsis = '…';
  // No character needs less than a byte, so nothing past `limit` characters can fit: a huge text is not encoded whole.
  const bytes = new TextEncoder().encodeInto(text.slice(0, limit), new Uint8Array(limit - Buffer.byteLength(ellipsis)));
  return text.slice(0, bytes.read) + ellipsis;
}
