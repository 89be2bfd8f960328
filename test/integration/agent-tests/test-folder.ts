/** Runs the command on a folder of YAML files with an agent whose model is scripted. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { stringifyYaml } from '../../../cli/yaml.ts';
import type { ShownUsage } from '../../../events/call-usage.ts';
import { API_VERSION } from '../../../crds/kind.ts';
import { anAgent, aTool, type TestManifest } from '../../support/builders.ts';
import { startProviderServer, type ChatHandler, type ProviderServer } from '../../support/provider-server.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { run, type Finished } from '../../support/run.ts';
import { parleyEntry } from '../../support/stack.ts';

type Spec = Readonly<Record<string, unknown>>;

/** No file and no output may show this key. */
export const KEY = 'sk-the-key-of-the-model';

export interface TestFolder extends AsyncDisposable {
  readonly path: string;
  readonly provider: ProviderServer;
  write(file: string, ...objects: readonly (TestManifest | string)[]): Promise<void>;
  parley(
    args: readonly string[],
    options?: { readonly env?: Readonly<Record<string, string | undefined>>; readonly input?: string },
  ): Promise<Finished>;
  env(): Readonly<Record<string, string | undefined>>;
}

export async function aTestFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'parley-agent-tests-'));
  const provider = await startProviderServer();
  provider.chat(shop);
  // The environment has nothing of the machine's own configuration: no cluster, no key but this.
  const env = () => ({
    PARLEY_PROVIDERS: JSON.stringify([{ name: 'openai', baseURL: provider.url }]),
    OPENAI_API_KEY: KEY,
    PARLEY_TEST_JUDGE: undefined,
    KUBECONFIG: join(path, 'no-kubeconfig'),
    DATABASE_URL: undefined,
    NO_COLOR: '1',
  });
  const write: TestFolder['write'] = async (file, ...objects) => {
    const target = join(path, file);
    await mkdir(dirname(target), { recursive: true });
    // The file appears at once: a watch never sees it while it is empty.
    await writeFile(`${target}.new`, objects.map((one) => (typeof one === 'string' ? one : stringifyYaml(one))).join('---\n'));
    await rename(`${target}.new`, target);
  };
  await write('agents/receptionist.yaml', receptionist());
  await write('tools/look-up-order.yaml', lookUpOrder());
  return {
    path,
    provider,
    write,
    env,
    parley: (args, options = {}) =>
      options.input === undefined
        ? parleyHere(args, { ...env(), ...options.env }, path)
        : run(process.execPath, [parleyEntry, ...args], { cwd: path, env: { ...env(), ...options.env }, input: options.input }),
    async [Symbol.asyncDispose]() {
      await provider.close();
      await rm(path, { recursive: true, force: true });
    },
  };
}

export const receptionist = (spec: Spec = {}): TestManifest =>
  anAgent('receptionist', undefined, {
    llm: {
      provider: 'openai',
      model: 'gpt-4o-mini',
      temperature: '0',
      apiKeySecretRef: { name: 'model', key: 'api-key' },
      systemPrompt: 'You answer for {{shop}}.\nBe brief.',
    },
    welcomeMessage: 'Hello, this is {{shop}}.',
    postCallAnalysis: [{ name: 'topic', type: 'Enum', choices: ['order', 'other'] }],
    ...spec,
  });

/** Returns an agent whose calls have to bring all that its texts want. */
export const demandingReceptionist = (spec: Spec = {}): TestManifest => receptionist({ requiredDynamicData: ['shop'], ...spec });

export const lookUpOrder = (): TestManifest =>
  aTool('look-up-order', undefined, {
    agentRefs: [{ name: 'receptionist' }],
    messages: { start: 'One moment.' },
    custom: {
      function: {
        name: 'look_up_order',
        parameters: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'] },
      },
      http: { url: 'https://orders.example.com/{order_id}' },
    },
  });

export const anAgentTest = (name: string, spec: Spec): TestManifest => ({
  apiVersion: API_VERSION,
  kind: 'AgentTest',
  metadata: { name },
  spec: {
    agentRefs: [{ name: 'receptionist' }],
    dynamicData: { shop: 'Harbour Bikes' },
    tools: [{ name: 'look_up_order', type: 'Returns', returns: { state: 'shipped' } }],
    type: 'Conversation',
    ...spec,
  },
});

/** Returns a test that passes. */
export const orderStatus = (name = 'order-status', spec: Spec = {}): TestManifest =>
  anAgentTest(name, {
    conversation: [
      {
        type: 'User',
        user: 'Where is my order 42?',
        expect: [
          { type: 'Tool', tool: { name: 'look_up_order', times: 1, arguments: { order_id: '42' } } },
          { type: 'Answer', answer: { contains: ['shipped'], notContains: ['lost'], matches: 'ship', maxWords: 12, language: 'en' } },
          { type: 'Within', within: '10m' },
        ],
      },
      { type: 'User', user: 'Thanks, bye!', expect: [{ type: 'Ends', ends: 'agent_ended_call' }] },
    ],
    atEnd: [
      { type: 'Called', called: { name: 'look_up_order' } },
      { type: 'NeverCalled', neverCalled: 'send_digits' },
      { type: 'Ends', ends: 'agent_ended_call' },
    ],
    ...spec,
  });

/** Answers like a model that follows its prompt; a judge says yes, a simulated user asks for order 42 and is then content. */
export const shop: ChatHandler = ({ system, lastUser, toolResults, messages }) => {
  if (system.startsWith('You check')) return JSON.stringify({ reason: 'it says so', met: true });
  if (system.startsWith('You play')) {
    const done = lastUser.includes('shipped');
    return JSON.stringify({ goal_reached: done, says: done ? 'Bye.' : 'Where is my order 42?' });
  }
  if (system.startsWith('You are given the transcript'))
    return JSON.stringify({ topic: messages.at(-1)?.content.includes('order 42') ? 'order' : 'other' });
  const [result] = toolResults;
  if (result !== undefined) return `Your order: ${(JSON.parse(result.content) as { state?: string }).state ?? 'I cannot say'}.`;
  if (/bye/i.test(lastUser)) return { text: 'Goodbye!', toolCalls: [{ name: 'end_call' }] };
  const [, order] = /order (\d+)/.exec(lastUser) ?? [];
  return order === undefined ? `You said: ${lastUser}` : { toolCalls: [{ name: 'look_up_order', arguments: { order_id: order } }] };
};

export interface JsonReport {
  readonly passed: number;
  readonly failed: number;
  readonly errors: number;
  readonly results: readonly {
    readonly test: string;
    readonly agent: string;
    readonly verdict: string;
    readonly passed: number;
    readonly usage?: ShownUsage;
    readonly attempts: readonly {
      readonly verdict: string;
      readonly finishReason?: string;
      readonly error?: { readonly path?: string; readonly message: string };
      readonly transcript: readonly { readonly role: string; readonly text: string; readonly atMs: number }[];
      readonly checks: readonly {
        readonly path: string;
        readonly kind: string;
        readonly verdict: string;
        readonly expected: string;
        readonly actual: string;
        readonly reason?: string;
      }[];
    }[];
  }[];
}

export const reportIn = ({ stdout }: Finished): JsonReport => JSON.parse(stdout) as JsonReport;
