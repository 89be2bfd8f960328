import { expect, it } from 'vitest';

import { toCallFailure, type ProviderErrorKind } from '../../../../calls/provider-access/index.ts';
import { streamingSupport } from './streaming-support.ts';

const failure = (kind: ProviderErrorKind, status?: number) =>
  toCallFailure({ part: 'stt', provider: 'openai_compatible' }, kind, 'fails', status === undefined ? {} : { status });

it.each([
  ['a session that is confirmed', 'ready', true, true],
  ['one that is not', 'unconfirmed', false, true],
  ['an address that does not exist', failure('refused', 404), false, true],
  ['a method that is not allowed', failure('refused', 405), false, true],
  ['a framework without a WebSocket there', failure('refused', 403), false, true],
  ['a page instead of a WebSocket', failure('refused', 200), false, true],
  ['a session that is refused', failure('refused'), false, true],
  ['a wrong key', failure('refused', 401), true, false],
  ['a limit that is reached', failure('runtime', 429), true, false],
  ['a server that fails at the moment', failure('runtime', 503), false, false],
  ['a session that fails', failure('runtime'), false, false],
  ['a connection that breaks off', failure('connection_lost'), false, false],
  ['a server that cannot be reached', failure('unreachable'), false, false],
] as const)('of %s', (_what, attempt, streams, lasts) => {
  expect(streamingSupport(attempt)).toEqual({ streams, lasts });
});
