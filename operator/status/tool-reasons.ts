/** The reasons of a Tool that is an MCP server. */
import { stalled, type ReasonDefinition } from './reason-definition.ts';

export const toolReasons = {
  ToolsListed: { condition: 'Synced', status: 'True', meaning: 'The MCP server has said which tools it has, and agents can use them.' },
  ToolsPending: {
    condition: 'Synced',
    status: 'False',
    meaning: 'The tools of the MCP server have not been listed yet. A worker does that within seconds.',
    cure: 'Wait; if nothing changes, check that a worker runs.',
    blocks: 'retry',
  },
  ToolsNotListed: {
    condition: 'Synced',
    status: 'False',
    meaning: 'The tools of the MCP server have never been listed, because it could not be asked. A worker retries every minute at least.',
    cure: 'Correct what the message names: the address, the credentials, or the server.',
    blocks: 'retry',
  },
  DigestUnknown: stalled('Synced', {
    meaning:
      '`spec.mcp.digest` names neither the list of tools that agents use nor the one that the server has. Agents use the former one.',
    cure: 'Set it to `status.mcp.digest` or `status.mcp.latestDigest`, or remove it.',
  }),
  NoTools: stalled('Synced', {
    meaning: 'The MCP server has no tool that `spec.mcp.include` and `spec.mcp.exclude` leave.',
    cure: 'Correct these fields, or let the server offer tools.',
  }),
  ToolsUpToDate: { condition: 'UpToDate', status: 'True', meaning: 'Agents use the list of tools that the MCP server has.' },
  ToolsChanged: {
    condition: 'UpToDate',
    status: 'False',
    meaning: 'The MCP server has changed its list of tools. Agents use the former one until you accept the new one. Does not affect Ready.',
    cure: 'Read the differences in `status.mcp.changes`, then set `spec.mcp.digest` to `status.mcp.latestDigest`.',
  },
  ToolsMissing: {
    condition: 'UpToDate',
    status: 'False',
    meaning: '`spec.mcp.include` names tools that the MCP server does not have. Does not affect Ready.',
    cure: 'Correct the names that the message lists.',
  },
  ToolsTooMany: {
    condition: 'UpToDate',
    status: 'False',
    meaning: 'The MCP server has more tools than one Tool can offer: agents get the first 128 by name. Does not affect Ready.',
    cure: 'Name those that are wanted in `spec.mcp.include`.',
  },
  ToolsUnusable: {
    condition: 'UpToDate',
    status: 'False',
    meaning:
      'Some tools of the MCP server can not be given to a model; the message says which and why. Agents get the others. Does not affect Ready.',
    cure: 'Correct the server, or name the tools in `spec.mcp.exclude`.',
  },
  FunctionNamesReserved: {
    condition: 'UpToDate',
    status: 'True',
    meaning:
      'The MCP server has tools with the names of built-in functions, as `end_call`: the model calls them by another name, as `end_call_2`. Does not affect Ready.',
    cure: 'Check what the server does with them, then set `spec.mcp.prefix`, or leave them out with `spec.mcp.exclude`.',
  },
  ToolsNotChecked: {
    condition: 'UpToDate',
    status: 'Unknown',
    meaning: 'The MCP server could not be asked again. Agents use the list of tools that is known. Does not affect Ready.',
    cure: 'Correct what the message names: the address, the credentials, or the server.',
  },
} as const satisfies Record<string, ReasonDefinition>;
