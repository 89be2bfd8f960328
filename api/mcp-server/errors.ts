/** Describes REST's failures for the result of a tool. Pure. */
import { isObject } from '../../platform/json.ts';

export interface Failure {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter: string | undefined;
}

/** Describes the code and message of the failure, the faults of each argument, and when to try again. */
export function describeFailure({ status, body, retryAfter }: Failure): string {
  const { error, message, detail, conflicts } = isObject(body) ? body : {};
  const code = typeof error === 'string' ? error : status === 422 ? 'validation_failed' : 'failed';
  const said =
    typeof message === 'string' ? inArguments(message) : status === 422 ? 'some arguments can not be used' : 'the request failed';
  const items = (Array.isArray(detail) ? detail : []) as { readonly loc: readonly (string | number)[]; readonly msg: string }[];
  const issues = items.map(({ loc, msg }) => `- ${loc.slice(1).join('.') || 'arguments'}: ${msg}`);
  const owned = (Array.isArray(conflicts) ? conflicts : []) as { readonly field: string; readonly manager: string }[];
  return [
    `${code} (HTTP ${status}): ${said}`,
    ...issues,
    ...owned.map(({ field, manager }) => `- ${field} is owned by ${manager}`),
    ...(retryAfter === undefined ? [] : [`Try again in ${retryAfter} ${retryAfter === '1' ? 'second' : 'seconds'}.`]),
  ].join('\n');
}

/** A cure that names a parameter of a query (`?force=true`) names the tool's argument. */
const inArguments = (message: string): string => message.replaceAll(/\?(\w+)=(\w+)/g, '`$1: $2`');
