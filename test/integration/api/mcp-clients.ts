/** Makes clients of `/mcp` from the official SDK, in each protocol version. */
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';

import type { Facade } from './facade.ts';

export const protocolVersions = ['2025-11-25', '2026-07-28'] as const;
export type ProtocolVersion = (typeof protocolVersions)[number];

export interface ClientOptions {
  readonly url: string;
  readonly key: string;
  readonly version?: ProtocolVersion;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The client ends with the test. */
export async function mcpClient({ url, key, version = '2026-07-28', headers }: ClientOptions): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: version === '2025-11-25' ? 'legacy' : { pin: version } } },
  );
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

/** Returns the texts of a result, the hints before the answer. */
export function textsOf({ content }: CallToolResult): readonly string[] {
  return content.map((block) => (block.type === 'text' ? block.text : ''));
}

/** Registers a call that is longer than one answer of a tool. @returns its id */
export async function registerLongCall({ store }: Pick<Facade, 'store'>, org: string, id: string, messages: number): Promise<string> {
  const agent = { agentName: 'receptionist', agentDisplayName: 'Receptionist', revision: 'a'.repeat(64) };
  await store.calls.calls.register({ org, id, callType: 'web_call', ...agent, maxDurationMs: 1000, room: `room-${id}` });
  await store.calls.log.add(
    { org, id },
    {
      messages: Array.from({ length: messages }, (_, seq) => ({
        seq,
        role: seq % 2 === 0 ? ('agent' as const) : ('user' as const),
        content: `message ${seq} ${'x'.repeat(200)}`,
        spokenAt: new Date(seq * 1000),
        interrupted: false,
        sources: null,
      })),
    },
  );
  return id;
}
