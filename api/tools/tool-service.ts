/** The tools of one agent, as their own routes see them: what a request means, carried out so that nothing is left half. */
import { toolKind, type Tool, type ToolSpec } from '../../crds/index.ts';
import { toolProblems } from '../../crds/limits.ts';
import { isSip } from '../../voice/calls/sip/termination.ts';
import type { Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/present.ts';
import { masked, type SecretReader, type SecretWriter } from '../codec/secrets.ts';
import { ApiError, ValidationFailed } from '../http/api-error.ts';
import { mayReadSecrets, type Caller } from '../http/caller.ts';
import { restLoc } from '../partial/field-names.ts';
import { sameJson } from '../partial/json.ts';
import { cameFirst, isTaken, type FirstCome } from '../resources/first-come.ts';
import type { Foundation } from '../resources/foundation.ts';
import { inRestWords, schemaIssues } from '../resources/kube-failures.ts';
import { isObjectName, randomId } from '../resources/names.ts';
import type { WriteMode } from '../resources/resource-writer.ts';
import { writtenAt } from '../resources/written-at.ts';
import { requireCallable } from '../validation/address-issues.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import { functionNameOf, toolSecretRefs, type ToolEncoding } from './codec.ts';
import { toolFieldNames } from './field-names.ts';
import { isLastAgent, toolNameRule, ToolWriter } from './tool-writer.ts';

/** What a request makes of a stored tool. */
export interface ToolChange {
  readonly encode: Encode;
  /** Whether it may hold a secret that is stored already. */
  readonly bringsSecrets: boolean;
  /** As it wants it to be; absent where it stays. */
  readonly functionName?: string | undefined;
}

/** What tells custom and built-in tools apart. */
export interface ToolFamily {
  readonly includes: (spec: ToolSpec) => boolean;
  readonly toRest: (spec: ToolSpec, secrets: SecretReader) => Readonly<Record<string, unknown>>;
}

export type Encode = (previous: ToolSpec | undefined, encoding: ToolEncoding) => Draft<ToolSpec>;

export interface UpdateOptions extends WriteMode {
  /** @throws ApiError `precondition_failed` when the request was made for another state. */
  readonly requireState: (resourceVersion: string) => void;
}

export class ToolService {
  readonly #foundation: Foundation;
  readonly #writer: ToolWriter;
  readonly #family: ToolFamily;

  constructor(foundation: Foundation, family: ToolFamily) {
    this.#foundation = foundation;
    this.#writer = new ToolWriter(foundation);
    this.#family = family;
  }

  /** @returns undefined when there is no such agent */
  async list(org: string, agentName: string): Promise<readonly Stored<Tool>[] | undefined> {
    const { agents, tools } = this.#foundation.views;
    if (!isObjectName(agentName) || (await agents.get(org, agentName)) === undefined) return undefined;
    const attached = await tools.find('agent', `${org}/${agentName}`);
    return attached.filter(({ spec }) => this.#family.includes(spec));
  }

  /** For an answer. @returns undefined when there is no such tool of no such agent */
  find(org: string, agentName: string, name: string): Promise<Stored<Tool> | undefined> {
    return this.#find(org, agentName, name, 'get');
  }

  /**
   * @param wanted the name of the tool; one is made up where it is absent
   * @returns undefined when there is no such agent
   * @throws ApiError `conflict` when the name or the function name is taken
   */
  async create(
    caller: Caller,
    agentName: string,
    { encode, wanted }: { readonly encode: Encode; readonly wanted: string | undefined },
    mode: WriteMode,
  ): Promise<Stored<Tool> | undefined> {
    const { org } = caller;
    const agent = isObjectName(agentName) ? await this.#foundation.views.agents.stored(org, agentName) : undefined;
    if (agent === undefined) return undefined;
    if (wanted !== undefined && !isObjectName(wanted)) throw new ValidationFailed([issues.value(['body', 'tool_id'], toolNameRule)]);
    const name = wanted ?? `tool-${randomId()}`;
    const secrets = await this.#writer.secretWriter(caller, name, undefined);
    const spec = { ...this.#encode(encode, undefined, secrets), agentRefs: [{ name: agentName }] };
    const claims = this.#claims(org, [agentName], functionNameOf(spec));
    await requireFree(claims);
    return inRestWords(toolFieldNames, async () => {
      const created = await this.#writer.exclusively(org, name, async () => {
        if (wanted !== undefined && (await this.#writer.find(org, name)) !== undefined) throw toolNameTaken(name);
        return this.#writer.make({ org, name, spec, secrets: secrets.pending, caller, madeWith: { agentName, agent } }, mode);
      });
      if (!mode.dryRun) {
        try {
          await requireFirst(created, claims);
        } catch (error) {
          await this.#writer.takeBack(created);
          throw error;
        }
      }
      return created;
    });
  }

  /**
   * Changes a tool that {@link find} found.
   * @returns undefined when it is gone meanwhile, or the agent's no more
   */
  async update(
    caller: Caller,
    agentName: string,
    name: string,
    change: ToolChange,
    options: UpdateOptions,
  ): Promise<Stored<Tool> | undefined> {
    const { org } = caller;
    const { functionName } = change;
    const renames =
      functionName !== undefined &&
      (await this.#find(org, agentName, name, 'stored').then((stored) => stored && functionNameOf(stored.spec) !== functionName));
    return inRestWords(toolFieldNames, async () => {
      if (!renames || options.dryRun) return this.#updateOnce(caller, agentName, name, change, options);
      // Whatever may be refused is, before the name is taken.
      if ((await this.#updateOnce(caller, agentName, name, change, { ...options, dryRun: true })) === undefined) return undefined;
      await this.#rename(org, name, functionName, options);
      return this.#updateOnce(caller, agentName, name, change, { ...options, requireState: () => undefined });
    });
  }

  async #updateOnce(
    caller: Caller,
    agentName: string,
    name: string,
    { encode, bringsSecrets }: ToolChange,
    options: UpdateOptions,
  ): Promise<Stored<Tool> | undefined> {
    const { org } = caller;
    let foreign = false;
    const updated = await this.#writer.update(
      org,
      name,
      async (stored) => {
        foreign = !this.#belongs(stored, agentName);
        if (foreign) return { spec: stored.spec };
        options.requireState(stored.metadata.resourceVersion);
        const secrets = await this.#writer.secretWriter(caller, name, bringsSecrets ? stored : undefined);
        const spec = this.#encode(encode, stored.spec, secrets);
        if (functionNameOf(spec) !== functionNameOf(stored.spec)) await requireFree(this.#claimsOf(org, stored, functionNameOf(spec)));
        return { spec, secrets: secrets.pending };
      },
      options,
    );
    return foreign ? undefined : updated;
  }

  /** In a write of its own, which can be taken back whole: of those who want a name at the same moment one gets it. */
  async #rename(org: string, name: string, to: string, options: UpdateOptions): Promise<void> {
    let before: string | undefined;
    let claims: readonly FirstCome<Tool>[] = [];
    const renamed = await this.#writer.update(
      org,
      name,
      async (stored) => {
        options.requireState(stored.metadata.resourceVersion);
        before = functionNameOf(stored.spec);
        claims = this.#claimsOf(org, stored, to);
        await requireFree(claims);
        return { spec: withFunctionName(stored.spec, to) };
      },
      options,
    );
    if (renamed === undefined) return;
    try {
      await requireFirst(renamed, claims);
    } catch (error) {
      const back = async ({ spec }: Stored<Tool>) => ({
        spec: functionNameOf(spec) === to && before !== undefined ? withFunctionName(spec, before) : spec,
      });
      await this.#writer.update(org, name, back, options);
      throw error;
    }
  }

  /**
   * Takes the tool from this agent; it goes altogether when no other agent uses it.
   * @returns false when there is no such tool of no such agent
   */
  async delete(org: string, agentName: string, name: string, options: UpdateOptions): Promise<boolean> {
    if ((await this.#find(org, agentName, name, 'stored')) === undefined) return false;
    let foreign = false;
    const mine = (tool: Stored<Tool>): boolean => {
      foreign = !this.#belongs(tool, agentName);
      if (!foreign) options.requireState(tool.metadata.resourceVersion);
      return !foreign;
    };
    const goes = (tool: Stored<Tool>): boolean => mine(tool) && isLastAgent(tool, agentName);
    return inRestWords(toolFieldNames, async () => {
      if (await this.#writer.delete(org, name, goes, options)) return true;
      return !foreign && (await this.#writer.letGo(org, name, agentName, options, mine)) !== undefined && !foreign;
    });
  }

  /** @param agentName of the agent that it is looked at from */
  async view(caller: Caller, agentName: string, tool: Stored<Tool>): Promise<Readonly<Record<string, unknown>>> {
    const secrets = mayReadSecrets(caller)
      ? await this.#foundation.companions.secretsToShow(caller.org, toolSecretRefs(tool.spec))
      : masked;
    return {
      tool_id: tool.metadata.name,
      ...this.#family.toRest(tool.spec, secrets),
      created_at: tool.metadata.creationTimestamp,
      updated_at: writtenAt(tool),
      state: await this.#foundation.states.tool(tool, agentName),
    };
  }

  #belongs({ spec }: Stored<Tool>, agentName: string): boolean {
    return this.#family.includes(spec) && (spec.agentRefs ?? []).some((ref) => ref.name === agentName);
  }

  async #find(org: string, agentName: string, name: string, from: 'get' | 'stored'): Promise<Stored<Tool> | undefined> {
    const { agents, tools } = this.#foundation.views;
    if (!isObjectName(agentName) || !isObjectName(name)) return undefined;
    const [agent, tool] = await Promise.all([agents[from](org, agentName), tools[from](org, name)]);
    return agent !== undefined && tool !== undefined && this.#belongs(tool, agentName) ? tool : undefined;
  }

  /** @throws ValidationFailed with everything that only shows against what is stored */
  #encode(encode: Encode, previous: ToolSpec | undefined, secrets: SecretWriter): Draft<ToolSpec> {
    const found: ValidationIssue[] = [];
    const spec = encode(previous, { secrets, loc: ['body'], found });
    // What is missing because it was refused is refused once.
    const known = found.map(({ loc }) => loc);
    found.push(...problemsOf(spec, previous).filter(({ loc }) => !known.some((other) => sameJson(other, loc))));
    const [to, before] = [spec.transferCall?.to, previous?.transferCall?.to];
    const { sip } = this.#foundation.addresses;
    requireCallable(
      { loc: ['body', 'transfer_to'], value: to, before, check: (address) => (isSip(address) ? sip(address) : undefined) },
      found,
    );
    if (found.length > 0) throw new ValidationFailed(found);
    return spec;
  }

  #claimsOf(org: string, { metadata, spec }: Stored<Tool>, functionName: string | undefined): readonly FirstCome<Tool>[] {
    return this.#claims(
      org,
      (spec.agentRefs ?? []).map((ref) => ref.name),
      functionName,
      metadata.name,
    );
  }

  /** The function name is claimed at every agent that the tool attaches itself to. */
  #claims(org: string, agents: readonly string[], functionName: string | undefined, except?: string): readonly FirstCome<Tool>[] {
    return agents.map((agentName) => ({
      view: this.#foundation.views.tools,
      client: this.#foundation.clients.tools,
      index: 'agent',
      value: `${org}/${agentName}`,
      listed: { namespace: org },
      isRival: ({ metadata, spec }) =>
        metadata.name !== except && functionNameOf(spec) === functionName && (spec.agentRefs ?? []).some((ref) => ref.name === agentName),
    }));
  }
}

async function requireFree(claims: readonly FirstCome<Tool>[]): Promise<void> {
  for (const claim of claims) if (await isTaken(claim)) throw duplicate();
}

async function requireFirst(created: Stored<Tool>, claims: readonly FirstCome<Tool>[]): Promise<void> {
  for (const claim of claims) if (!(await cameFirst(created, claim))) throw duplicate();
}

function withFunctionName(spec: ToolSpec, name: string): ToolSpec {
  return spec.custom === undefined ? spec : { ...spec, custom: { ...spec.custom, function: { ...spec.custom.function, name } } };
}

function toolNameTaken(name: string): ApiError {
  return new ApiError(
    'conflict',
    `there is a tool ${JSON.stringify(name)} already: leave tool_id out or use another one; to attach that tool, list it in the agent's llm.tools`,
  );
}

function duplicate(): ApiError {
  return new ApiError('conflict', 'the agent has a tool with this function name already; use another name, or change that tool');
}

/** Pure checks that the request's schema can't say. Problems that were there before are not this request's. */
function problemsOf(spec: Draft<ToolSpec>, previous: ToolSpec | undefined): readonly ValidationIssue[] {
  const parsed = toolKind.spec.safeParse(spec);
  if (!parsed.success) return schemaIssues(parsed.error, toolFieldNames);
  const known = previous === undefined ? [] : toolProblems(previous);
  return toolProblems(parsed.data)
    .filter((problem) => !known.some((other) => sameJson(other, problem)))
    .map(({ path, message }) => issues.value(restLoc(toolFieldNames, path) ?? ['body'], message));
}
