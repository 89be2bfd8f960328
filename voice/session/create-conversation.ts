/** A conversation as its agent's revision says: of a call, and of a test in text. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { DynamicData } from '../calls/template.ts';
import { TextNormalizer } from '../text-normalization/index.ts';
import { afterGrace, createTools, type CreateToolsOptions } from '../tools/create-tools.ts';
import { toFunctionTool } from '../tools/function-tool.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { instructionsOf, silenceReminderOf, welcomeOf } from '../conversation/prompt.ts';
import { conversationSettingsOf } from './settings.ts';

export interface CreateConversationOptions extends Pick<
  ConversationOptions,
  'sound' | 'llm' | 'transfer' | 'log' | 'turns' | 'clock' | 'logger' | 'onEnd' | 'onFailure'
> {
  readonly org: string;
  readonly config: AgentRevisionConfig;
  readonly data: DynamicData;
  /** What the values mean, as the lookups say. */
  readonly contexts: readonly string[];
  /** What the tools need of the process and of the call. */
  readonly tools: Omit<CreateToolsOptions, 'org' | 'agent' | 'data' | 'host' | 'clock' | 'logger' | 'stop'>;
}

export function createConversation({ org, config, data, contexts, tools, ...options }: CreateConversationOptions): Conversation {
  const { agent } = config;
  const { clock, logger } = options;
  const stop = afterGrace(tools.over, clock);
  return new Conversation({
    ...options,
    language: agent.language,
    normalizer: new TextNormalizer({ language: agent.language, ...agent.speech }),
    settings: conversationSettingsOf(agent),
    instructions: instructionsOf({ config, data, contexts, now: clock.now() }),
    welcome: welcomeOf(config, data),
    silenceReminder: silenceReminderOf(config, data),
    tools: (host) =>
      createTools({ ...tools, stop, org, agent: config, data, host, clock, logger }).map((tool) =>
        toFunctionTool(tool, { host, data, clock, logger, signal: stop, record: (call) => host.recordToolCall(call) }),
      ),
  });
}
