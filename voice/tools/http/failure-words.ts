/** Words a failed request for a caller: the model says them. Hosts, addresses and stacks are for the log. */
import type { EgressError } from '../../../platform/egress/egress-error.ts';
import type { JsonValue } from '../tool-result.ts';
import { escaped } from './redaction.ts';

export const MISCONFIGURED = 'The service is not set up correctly: nothing was done.';
const AWAY = "The service can't be reached at the moment: nothing was done.";
const UNKNOWN = 'The service does not answer at the moment: it is not known whether it has done anything.';

/** Returns the words. After the request was sent, its effects are unknown. */
export function wordsOfFailure({ kind, phase }: Pick<EgressError, 'kind' | 'phase'>): string {
  if (kind.startsWith('forbidden') || kind === 'redirect') return MISCONFIGURED;
  return phase === 'head' || phase === 'body' ? UNKNOWN : AWAY;
}

const STACK_MEMBER = /^(stack|stack_?trace|trace|trace_?back|exception)$/i;
const STACK_LINES = /(\r?\n\s*(at |File ")[^\n]*)+/g;
const ADDRESS =
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+|\b(localhost|\d{1,3}(\.\d{1,3}){3}|[a-z0-9-]+(\.[a-z0-9-]+)*\.(svc|local|localdomain|internal|intranet|lan|corp))\b(\.[a-z0-9-]+)*(:\d+)?/gi;

/** Removes from a service's error where it runs and how it is built. @param host of the request, with its port */
export function withoutInternals<T extends JsonValue>(said: T, host: string): T {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  const clean = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return withoutName(value.replaceAll(STACK_LINES, '').replaceAll(ADDRESS, 'the service'), name);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: JsonValue) => clean(item));
    const members = Object.entries(value).filter(([member]) => !STACK_MEMBER.test(member));
    return Object.fromEntries(members.map(([member, item]) => [member, clean(item)]));
  };
  return clean(said) as T;
}

function withoutName(text: string, name: string): string {
  if (name === '' || !text.toLowerCase().includes(name)) return text;
  return text.replaceAll(new RegExp(`${escaped(name)}(:\\d+)?`, 'gi'), 'the service');
}
