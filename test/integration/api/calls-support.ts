/** Puts agents into service without an operator, for the facade's calls. */
import type { MediaServer } from '../../../calls/media-server.ts';
import { agentKind } from '../../../crds/agent.ts';
import type { AgentRevisionConfig } from '../../../crds/agent-revision.ts';
import type { CallRef, Store } from '../../../store/index.ts';
import { mediaServer } from '../../support/media-server.ts';
import { revisionOf } from '../store/support.ts';

/** The address for browsers; no test connects to it. */
export const mediaUrl = 'wss://media.example.com';

/** Web calls need this server, because they have a room from the beginning. */
export async function realMediaServer(): Promise<MediaServer> {
  return { ...(await mediaServer()), publicUrl: mediaUrl };
}

/** This server answers nothing. */
export const someMediaServer: MediaServer = {
  url: 'ws://127.0.0.1:1',
  publicUrl: mediaUrl,
  apiKey: 'devkey',
  agentName: 'parley-voice',
  joinSeconds: 300,
  apiSecret: 'a secret of at least thirty-two characters',
};

/** Puts an agent into service, as the operator does. @returns its revision */
export async function serveAgent(
  store: Store,
  org: string,
  name: string,
  options: {
    readonly displayName?: string;
    readonly required?: readonly string[];
    readonly maxDuration?: string;
    readonly prompt?: string;
    readonly tools?: AgentRevisionConfig['tools'];
    readonly knowledgeBase?: string;
    /** Fields that replace those of the default agent. */
    readonly agent?: Partial<AgentRevisionConfig['agent']>;
  } = {},
): Promise<string> {
  const {
    displayName = name,
    required,
    maxDuration = '30m',
    prompt = 'Be kind.',
    tools = [],
    knowledgeBase = null,
    agent: change,
  } = options;
  const config = {
    format: 1,
    name,
    displayName,
    agent: {
      ...agentKind.spec.parse({
        llm: { model: 'm' },
        ...(required && { requiredDynamicData: required }),
        speechToText: { provider: 'openai' },
        textToSpeech: { provider: 'openai' },
        turnDetection: { mode: 'Silence' },
        call: { maxDuration },
      }),
      ...change,
    },
    systemPrompt: prompt,
    tools,
    knowledgeBase,
    versions: { secrets: {}, knowledgeBaseUid: knowledgeBase === null ? null : `uid-${knowledgeBase}` },
  } satisfies AgentRevisionConfig;
  const { revision } = revisionOf(config);
  const served = { org, agentName: name, revision };
  await store.agentRevisions.put({ ...served, config });
  await store.agentReleases.serve(served);
  return revision;
}

export interface ServedCommands {
  /** What was taken: kind and body of each. */
  readonly taken: readonly unknown[];
  readonly stop: () => void;
}

/** Takes commands of a call as its job does, until it is stopped. @param reason why none is carried out; all are where absent */
export function serveCommands(store: Store, call: CallRef, reason?: string): ServedCommands {
  const { commands } = store.calls;
  const taken: unknown[] = [];
  let open = true;
  const look = async (): Promise<void> => {
    while (open) {
      const command = await commands.take(call);
      if (command === undefined) await new Promise((resolve) => setImmediate(resolve));
      else {
        taken.push([command.kind, command.body]);
        await commands.finish(command, reason);
      }
    }
  };
  void look();
  return { taken, stop: () => void (open = false) };
}
