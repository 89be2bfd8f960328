/** What an error that reaches the session says of a provider. */
import { isAPIError } from '@livekit/agents';

import { partNames, ProviderFailure, type ProviderFailureKind, type ProviderPart } from '../calls/providers/index.ts';
import { ProviderApiError } from './provider-api-error.ts';

/**
 * @param error an error event of LiveKit's, the error that it carries, or what was thrown
 * @returns nothing of the words of a client library: they quote what was asked and answered
 */
export function providerFailureOf(error: unknown, part: ProviderPart): ProviderFailure {
  for (let at = error; typeof at === 'object' && at !== null; at = inner(at)) {
    if (at instanceof ProviderFailure) return at;
    if (at instanceof ProviderApiError) return at.failure;
    if (isAPIError(at)) return fromLiveKit(at, part);
  }
  return new ProviderFailure({ part, kind: 'runtime', provider: 'unknown', message: `the ${partNames[part]} failed (${nameOf(error)})` });
}

const inner = (at: object): unknown => ('error' in at ? at.error : 'cause' in at ? at.cause : undefined);

/** Of a plugin that connects by itself. */
function fromLiveKit(error: Error, part: ProviderPart): ProviderFailure {
  const status = 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode >= 100 ? error.statusCode : undefined;
  const kind: ProviderFailureKind = status === undefined || status >= 1000 ? 'unreachable' : isRefusal(status) ? 'refused' : 'runtime';
  const message = `the ${partNames[part]} failed (${status === undefined ? error.name : `status ${status}`})`;
  return new ProviderFailure({ part, kind, provider: 'unknown', ...(status !== undefined && { status }), message });
}

const isRefusal = (status: number): boolean => status >= 400 && status < 500 && ![408, 409, 425, 429, 499].includes(status);

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
