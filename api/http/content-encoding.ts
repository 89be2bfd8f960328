import type { IncomingHttpHeaders } from 'node:http';

import { ApiError } from './api-error.ts';

export const isEncoded = (headers: IncomingHttpHeaders): boolean =>
  (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';

export const encodedBody = (): ApiError =>
  new ApiError('unsupported_media_type', 'send the body without Content-Encoding', { headers: { 'accept-encoding': 'identity' } });
