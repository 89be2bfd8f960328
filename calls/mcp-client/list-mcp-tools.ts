/** Asks an MCP server for its tools, outside of calls. */
import { millisecondsOf } from '../../crds/duration.ts';
import type { McpSpec, ServerTool } from '../../crds/mcp-tools.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { ProviderKeyReader } from '../provider-access/index.ts';
import { fillTemplate } from '../../crds/template.ts';
import { connectMcp } from './connect.ts';
import type { OAuthTokens } from './oauth-tokens.ts';

export interface ListMcpToolsOptions {
  readonly org: string;
  readonly server: Pick<McpSpec, 'url' | 'headers' | 'oauth' | 'timeout'>;
  readonly egress: Pick<Egress, 'dispatcher' | 'request'>;
  readonly keys: Pick<ProviderKeyReader, 'read'>;
  readonly tokens: OAuthTokens;
  readonly signal: AbortSignal;
}

/**
 * Headers are sent without the data of a call, because there is no call.
 *
 * @throws McpError, ProviderKeyError, or the signal's own reason
 */
export async function listMcpTools({ org, server, egress, keys, tokens, signal }: ListMcpToolsOptions): Promise<readonly ServerTool[]> {
  const { url, headers = [], oauth } = server;
  const timeoutMs = millisecondsOf(server.timeout);
  const token = oauth && { org, tokenURL: oauth.tokenURL, clientID: oauth.clientID, scope: oauth.scope, resource: url };
  const connection = await connectMcp({
    url,
    egress,
    headers: async () =>
      Object.fromEntries(
        await Promise.all(
          headers.map(async ({ name, value = '', valueFrom }) => [
            name,
            valueFrom === undefined ? fillTemplate(value, {}) : await keys.read(org, valueFrom.secretKeyRef),
          ]),
        ),
      ) as Record<string, string>,
    token: token && tokens.of(token, egress, () => keys.read(org, oauth.clientSecretRef)),
    timeoutMs,
    signal,
  });
  try {
    return await connection.listTools({ timeoutMs, signal });
  } finally {
    await connection.close();
  }
}
