/** Clients of `/mcp` from the official SDK, in each protocol version. */
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';

export const protocolVersions = ['2025-11-25', '2026-07-28'] as const;
export type ProtocolVersion = (typeof protocolVersions)[number];

export interface ClientOptions {
  readonly url: string;
  readonly key: string;
  readonly version?: ProtocolVersion;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends with the test. */
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

/** The texts of a result, the hints before the answer. */
export function textsOf({ content }: CallToolResult): readonly string[] {
  return content.map((block) => (block.type === 'text' ? block.text : ''));
}
