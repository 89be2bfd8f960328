/** Makes, changes and deletes AgentTests. */
import { agentTestProblems } from '../../crds/agent-test-problems.ts';
import { agentTestKind, type AgentTest, type AgentTestSpec } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/draft.ts';
import { ApiError, requireNoIssues, ValidationError } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import type { KindContext } from '../kinds/context.ts';
import { unknownReferences } from '../references/unknown-references.ts';
import { agentTestAddressProblems } from '../../calls/address-problems.ts';
import { specIssues } from '../resources/kube-failures.ts';
import { isObjectName, randomId } from '../resources/names.ts';
import { ResourceWriter, type ResourceKind, type WriteMode } from '../resources/resource-writer.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { sameJson } from '../../platform/json.ts';
import {
  agentTestBringsSecrets,
  agentTestFieldNames,
  agentTestFromRest,
  agentTestSecretRefs,
  agentTestToRest,
  type AgentTestCreate,
  type AgentTestUpdate,
} from './fields.ts';

export const agentTestResource: ResourceKind<AgentTest> = {
  definition: agentTestKind,
  fieldNames: agentTestFieldNames,
  companionRefs: (spec) => ({ Secret: agentTestSecretRefs(spec) }),
};

const NAME_RULE =
  'a test_id is a Kubernetes name: at most 253 lower-case letters, digits, "-" and ".", with a letter or digit at both ends';

export class AgentTestService {
  readonly #context: KindContext;
  readonly #writer: ResourceWriter<AgentTest>;

  constructor(context: KindContext) {
    this.#context = context;
    this.#writer = new ResourceWriter(context, agentTestResource, context.views.agentTests);
  }

  /** @throws ApiError `conflict` when the name is taken */
  async create(caller: Caller, body: AgentTestCreate, mode: Pick<WriteMode, 'dryRun'>): Promise<Stored<AgentTest>> {
    const { org } = caller;
    const wanted = body.test_id ?? undefined;
    if (wanted !== undefined && !isObjectName(wanted)) throw new ValidationError([issues.value(['body', 'test_id'], NAME_RULE)]);
    const name = wanted ?? `test-${randomId()}`;
    const secrets = await this.#writer.secretWriter(caller, name, undefined);
    const found: ValidationIssue[] = [];
    const spec = agentTestFromRest(body, undefined, { secrets, loc: ['body'], found });
    await this.#requireSound(org, body, spec, undefined, found);
    return this.#writer.exclusively(org, name, async () => {
      if ((await this.#writer.find(org, name)) !== undefined)
        throw new ApiError('conflict', `there is an agent test ${JSON.stringify(name)} already: leave test_id out or use another one`);
      const onlyNew = wanted !== undefined;
      return (await this.#writer.create(caller, name, { spec, companions: { Secret: secrets } }, { ...mode, onlyNew })).object;
    });
  }

  async update(caller: Caller, name: string, body: AgentTestUpdate, mode: WriteMode): Promise<Stored<AgentTest> | undefined> {
    const change = async (stored: Stored<AgentTest>) => {
      const secrets = await this.#writer.secretWriter(caller, name, agentTestBringsSecrets(body) ? stored : undefined);
      const found: ValidationIssue[] = [];
      const spec = agentTestFromRest(body, stored.spec, { secrets, loc: ['body'], found });
      await this.#requireSound(caller.org, body, spec, stored.spec, found);
      return { spec, companions: { Secret: secrets } };
    };
    return (await this.#writer.update(caller.org, name, change, mode))?.object;
  }

  /** @returns false when there is no such test */
  delete(org: string, name: string, mode: Pick<WriteMode, 'dryRun' | 'requireState'>): Promise<boolean> {
    return this.#writer.delete(org, name, mode);
  }

  async view(caller: Caller, test: Stored<AgentTest>): Promise<Readonly<Record<string, unknown>>> {
    const secrets = await this.#context.companions.secretsToShow(caller, agentTestSecretRefs(test.spec));
    return agentTestToRest(test, { secrets, state: this.#context.states.agentTest(test) });
  }

  /** @throws ValidationError with the issues in `found`, and with every problem that only the whole spec shows */
  async #requireSound(
    org: string,
    { ai_agent_ids: ids }: AgentTestCreate | AgentTestUpdate,
    spec: Draft<AgentTestSpec>,
    previous: AgentTestSpec | undefined,
    found: readonly ValidationIssue[],
  ): Promise<void> {
    const check = (test: AgentTestSpec) => [...agentTestProblems(test), ...agentTestAddressProblems(test, this.#context.addresses)];
    const problems = specIssues(agentTestResource, check, spec, previous);
    const further = problems.filter(({ loc }) => !found.some((other) => sameJson(other.loc, loc)));
    const before = (previous?.agentRefs ?? []).map(({ name }) => name);
    const named = (ids ?? []).map((id, index) => ({ loc: ['body', 'ai_agent_ids', index], id, before }));
    requireNoIssues([...found, ...further, ...(await unknownReferences(this.#context.views.agents, org, 'AI agent', named))]);
  }
}
