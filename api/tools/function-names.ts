import type { Tool } from '../../crds/index.ts';
import { ApiError } from '../http/api-error.ts';
import type { KindContext } from '../kinds/context.ts';
import type { NameClaim } from '../resources/unique-names.ts';
import { functionNameOf } from './fields.ts';

/**
 * Claims the function name at every agent that the tool attaches itself to.
 * @param except tools that are no rivals: the tool itself, and those that change along with it
 */
export function functionNameClaims(
  { views }: Pick<KindContext, 'views'>,
  org: string,
  agents: readonly string[],
  functionName: string | undefined,
  except: ReadonlySet<string | null | undefined>,
): readonly NameClaim<Tool>[] {
  if (functionName === undefined) return [];
  return agents.map((agentName) => ({
    view: views.tools,
    index: 'agent',
    value: `${org}/${agentName}`,
    listed: { namespace: org },
    isRival: ({ metadata, spec }) =>
      !except.has(metadata.name) && functionNameOf(spec) === functionName && (spec.agentRefs ?? []).some(({ name }) => name === agentName),
    refusal: () =>
      new ApiError(
        'conflict',
        `the agent ${JSON.stringify(agentName)} has a tool with this function name already; use another name, or change that tool`,
      ),
  }));
}
