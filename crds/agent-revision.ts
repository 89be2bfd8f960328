/** The operator compiles an agent and everything it refers to into a revision, from which calls start. */
import type { AgentSpec } from './agent.ts';
import type { McpSpec, McpTools } from './mcp-tools.ts';
import type { ToolSpec } from './tool.ts';

/** The stored form of a revision. Secrets appear by name, key and the digest of their version, never by value. */
export interface AgentRevisionConfig {
  /** Shape of this document. */
  readonly format: 1;
  readonly name: string;
  readonly displayName: string;
  /** The spec without what only steers the operator, or is of all revisions (the budget); the prompt stands apart. */
  readonly agent: Omit<AgentSpec, 'suspend' | 'displayName' | 'llm' | 'knowledgeBaseRef' | 'release' | 'budget' | 'deletionPolicy'> & {
    readonly llm: Omit<AgentSpec['llm'], 'systemPrompt' | 'systemPromptFrom'>;
  };
  /** The resolved text; `null` where the agent has none, or the ConfigMap is missing. */
  readonly systemPrompt: string | null;
  /** Tools sorted by function name. */
  readonly tools: readonly RevisionTool[];
  readonly knowledgeBase: string | null;
  readonly versions: RevisionVersions;
}

export interface RevisionTool {
  readonly name: string;
  /** Empty for an MCP server, whose tools have names of their own. */
  readonly functionName: string;
  readonly spec: Omit<ToolSpec, 'suspend' | 'agentRefs' | 'mcp'> & { readonly mcp?: McpServer | undefined };
  readonly mcp?: McpTools;
}

/** Says how the server of a Tool is called. */
export type McpServer = Omit<McpSpec, 'include' | 'exclude' | 'prefix' | 'updatePolicy' | 'digest'>;

/** Versions change without any configuration changing: a rotated Secret, a knowledge base deleted and created again. */
interface RevisionVersions {
  /** A digest of the values that are referred to, by name of the Secret; `null` while it is missing. */
  readonly secrets: Readonly<Record<string, string | null>>;
  readonly knowledgeBaseUid: string | null;
}

/** Shortens a revision's id for tables and messages: enough to name it. */
export const shortRevision = (revision: string): string => revision.slice(0, 12);
