/** Completes the pin of a request. A resource names a revision by its whole digest: a part of one could come to mean another. */
import type { Store } from '../../store/index.ts';
import { issues, type ValidationIssue } from '../validation/issue.ts';
import type { AgentUpdate } from './fields.ts';

const WHOLE_DIGEST = 64;

/** @returns the body with a whole digest as its pin; a pin that means no revision, or several, is added to `found` */
export async function withWholePin(
  body: AgentUpdate,
  agent: { readonly org: string; readonly agentName: string },
  releases: Pick<Store['agentReleases'], 'served'>,
  found: ValidationIssue[],
): Promise<AgentUpdate> {
  const { release } = body;
  if (release?.pin == null || release.pin.length === WHOLE_DIGEST) return body;
  const { pin, ...others } = release;
  const served = await releases.served({ ...agent, prefix: pin });
  if (served !== undefined) return { ...body, release: { ...others, pin: served.revision } };
  found.push(issues.value(['body', 'release', 'pin'], `no revision ${pin} of the AI agent has served, or several begin with it`));
  return { ...body, release: others };
}
