/** What a test run is requested with: the revision without its versions, and each test as it is now. */
import { canonicalJson, sha256 } from '../platform/canonical-json.ts';
import type { AgentRevisionConfig } from './agent-revision.ts';
import type { AgentTest, AgentTestSpec } from './agent-test.ts';

/** Of a revision without `versions` and names: what tests say of one revision holds for all with the same hash. Unchanged by a rotated Secret. */
export function configHashOf(config: AgentRevisionConfig): string {
  const { versions: _versions, displayName: _displayName, ...rest } = config;
  return sha256(canonicalJson(rest));
}

/** What decides about the outcome. Which agents are tested, when, and whether they have to pass does not. */
type TestContent = Omit<AgentTestSpec, 'suspend' | 'agentRefs' | 'required' | 'schedule'>;

const digests = new WeakMap<AgentTestSpec, string>();

/** SHA-256 of what the test says: with another digest it is another test, of which nothing is known. A spec is never changed in place. */
export function testDigest(spec: AgentTestSpec): string {
  const { suspend: _suspend, agentRefs: _agentRefs, required: _required, schedule: _schedule, ...content } = spec;
  const digest = digests.get(spec) ?? sha256(canonicalJson(content satisfies TestContent));
  digests.set(spec, digest);
  return digest;
}

/** An AgentTest as a run is requested with it. */
export function requestedTest({ metadata, spec }: AgentTest) {
  const { required, mode } = spec;
  return { name: metadata.name, digest: testDigest(spec), required, mode, spec };
}
