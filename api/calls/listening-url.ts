import type { FastifyInstance } from 'fastify';

/** Where the API listens, for those on this machine: the address of an installation that says no other. */
export function listeningUrl({ server }: Pick<FastifyInstance, 'server'>): string {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return `http://127.0.0.1${port === undefined ? '' : `:${port}`}`;
}
