import { pino } from 'pino';
import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { toCallFailure, type ProviderErrorKind } from '../provider-access/index.ts';
import { AgentModels } from './agent-models.ts';
import type { ModelEndpoint } from './model.ts';

function modelsOf(failures: Readonly<Record<string, ProviderErrorKind>>) {
  const asked: string[] = [];
  const llm = (model: string) => ({ provider: 'openai' as const, model });
  const models = new AgentModels({
    llm: { ...llm('a'), fallbacks: [llm('b'), llm('c')] },
    endpointOf: async ({ provider, model }) => ({ part: 'llm', provider, model, protocol: 'openai', guarded: false, baseURL: 'http://x' }),
    model: {
      async ask({ endpoint: { model, ...endpoint } }: { readonly endpoint: ModelEndpoint }) {
        asked.push(model);
        const kind = failures[model];
        if (kind !== undefined) throw toCallFailure(endpoint, kind, `${model} fails`);
        return `answer of ${model}`;
      },
    },
    clock: new FakeClock(),
    logger: pino({ level: 'silent' }),
  });
  return { asked, ask: () => models.ask({ messages: [], schema: {}, signal: new AbortController().signal }) };
}

it('asks the next model where one fails, and stays with who has answered', async () => {
  const { ask, asked } = modelsOf({ a: 'refused' });
  expect([await ask(), await ask()]).toEqual(['answer of b', 'answer of b']);
  expect(asked).toEqual(['a', 'b', 'b']);
});

it('fails as the preferred model does where all fail, but not for good where another may answer later', async () => {
  await expect(modelsOf({ a: 'refused', b: 'refused', c: 'refused' }).ask()).rejects.toThrow('a fails');
  await expect(modelsOf({ a: 'refused', b: 'runtime', c: 'refused' }).ask()).rejects.toThrow('b fails');
});
