import type { FastifyInstance } from 'fastify';

import { ApiError } from './api-error.ts';

/** Distinguishes an unknown path (404) from one that exists for other methods (405). */
export function registerUnknownRoutes(app: FastifyInstance): void {
  const methodsByPattern = new Map<string, { readonly matcher: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = url.replace(/\/$/, '');
    const known = methodsByPattern.get(pattern) ?? { matcher: matcherOf(pattern), methods: new Set() };
    for (const each of [method].flat()) known.methods.add(each);
    methodsByPattern.set(pattern, known);
  });
  // This runs before the body is read, which no route takes here.
  app.addHook('onRequest', async (request) => {
    if (!request.is404) return;
    const path = request.url.split('?')[0] ?? '';
    const matching = [...methodsByPattern].filter(([, { matcher }]) => matcher.test(path));
    // The router prefers names to parameters, too.
    const [closest] = matching.toSorted(([a], [b]) => parametersOf(a) - parametersOf(b));
    if (closest === undefined) throw new ApiError('not_found', 'there is nothing at this address');
    const [, known] = closest;
    const allowed = [...known.methods].toSorted().join(', ');
    throw new ApiError('method_not_allowed', `${request.method} is not possible here: use ${allowed}`, { headers: { allow: allowed } });
  });
}

const parametersOf = (pattern: string): number => pattern.split('/:').length;

function matcherOf(pattern: string): RegExp {
  const segments = pattern.split('/').map((segment) => (segment.startsWith(':') ? '[^/]+' : segment.replaceAll(/[^\w-]/g, '\\$&')));
  return new RegExp(`^${segments.join('/')}/?$`);
}
